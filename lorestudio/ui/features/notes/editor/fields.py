"""The fields of the form: which one a property gets, and what is offered while typing in it.

Each shows a value as DeepLore reads it and says by `changed` what a person made of it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from functools import partial
from typing import Final, TypeVar

from msgspec import Struct, field
from PySide6.QtCore import QEvent, QMimeData, QObject, QSize, Qt, Signal
from PySide6.QtGui import QFontMetricsF, QKeyEvent, QResizeEvent, QWheelEvent
from PySide6.QtWidgets import QCheckBox, QComboBox, QCompleter, QLineEdit, QPlainTextEdit, QSizePolicy, QWidget

from lorestudio.domain.javascript import Json, number_text, to_number, to_string
from lorestudio.domain.texts import comparable
from lorestudio.settings.deeplore import DeepLoreSettings
from lorestudio.ui.features.notes.editor import schema as reading
from lorestudio.ui.features.notes.editor.chips_field import ChipsField
from lorestudio.ui.features.notes.editor.names import OffersCompleter, TitleBook
from lorestudio.ui.features.notes.editor.schema import FIRES_WORDS, FieldKind, FieldSpec, Fires, TagNames, general_value
from lorestudio.ui.shell.theme import Theme, fixed_font
from lorestudio.ui.shell.words import count, number, tr
from lorestudio.ui.widgets.layouts import column, label, named, row, small_button, tight
from lorestudio.vault.entries import ParseRules

_Widget = TypeVar("_Widget", bound=QWidget)


def _about(widget: _Widget, spec: FieldSpec, more: str = "", general: str = "", kind: str = "quiet") -> _Widget:
    """The widget with what the property is called and what it means."""
    named(widget, tr(spec.title), f"{tr(spec.help)} {more}".strip(), kind=kind)
    widget.setAccessibleDescription(" ".join(filter(None, (tr(spec.help), more, general))))
    return widget


class Field(QWidget):
    """A field. `changed` carries the new value, None to remove the property; `left` follows Escape."""

    changed = Signal(object)
    left = Signal()

    def show_value(self, value: Json) -> None:
        """Show a value of the note, None where it has none; what is being typed and means the same stays."""

    def problem(self) -> str:
        """What is wrong with the value that is shown, "" for nothing."""
        return ""

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Qt: Escape leaves the field and changes nothing."""
        if event.type() is QEvent.Type.KeyPress and isinstance(event, QKeyEvent) and event.key() == Qt.Key.Key_Escape:
            self.left.emit()
            return True
        return super().eventFilter(watched, event)

    def _hold(self, widget: QWidget, *below: QWidget) -> None:
        tight(widget, *below, of=self)
        self.setFocusProxy(widget)
        widget.installEventFilter(self)


class ListField(Field):
    """A list of words as chips."""

    def __init__(self, theme: Theme, spec: FieldSpec, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.chips = ChipsField(theme, tr(spec.title), self)
        tight(self.chips, of=self)
        self.setFocusProxy(self.chips.input)
        self.chips.changed.connect(self.changed)
        self.chips.left.connect(self.left)
        self.chips.input.setToolTip(tr(spec.help))

    def show_value(self, value: Json) -> None:
        """Show the items."""
        self.chips.set_items([to_string(item) for item in value] if isinstance(value, list | tuple) else [])


class NumberField(Field):
    """A number with a range. Empty means that the general one holds, which is said in its place.

    `doubted` follows what was typed and is not taken, so that the note keeps another number.
    """

    doubted = Signal()

    def __init__(self, spec: FieldSpec, general: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._spec, self._kept = spec, ""
        self.line = _about(QLineEdit(self, placeholderText=general), spec, self._range(), general)
        self._hold(self.line)
        self.line.textEdited.connect(self._typed)

    def show_value(self, value: Json) -> None:
        """Show a number, or a text that stands in its place."""
        if value is None or value == []:
            text = ""
        else:
            text = number_text(value) if isinstance(value, int | float) and not isinstance(value, bool) else str(value)
        self._kept = text
        if self._number(self.line.text()) != self._number(text) or not self.line.hasFocus():
            self.line.setText(text)

    def problem(self) -> str:
        """Why the number does not count as it is."""
        text = self.line.text().strip()
        if not text:
            return ""
        value, spec = self._number(text), self._spec
        keeps = self._kept and self._kept != text
        low, high = spec.low, spec.high
        if value is None:
            words = "“{written}” is no number." if keeps else "“{written}” is no number, so the general value holds."
            said = tr(words, written=text)
        elif (low is not None and value < low) or (high is not None and value > high):
            said = tr("{value} lies outside {range}.", value=number(value), range=self._range())
        else:
            return ""
        return f"{said} {tr('The note has {kept} still.', kept=self._kept)}" if keeps else said

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Qt: the up and down keys count."""
        if event.type() is QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
            steps = {Qt.Key.Key_Up: 1, Qt.Key.Key_Down: -1}.get(Qt.Key(event.key()))
            if steps is not None and not event.modifiers() & Qt.KeyboardModifier.AltModifier:
                self._step(steps)
                return True
        return super().eventFilter(watched, event)

    def _step(self, steps: int) -> None:
        spec = self._spec
        now = self._number(self.line.text())
        value = (now if now is not None else (spec.low or 0)) + steps * spec.step
        value = max(value, spec.low) if spec.low is not None else value
        value = min(value, spec.high) if spec.high is not None else value
        self.line.setText(number_text(round(value, 6)))
        self._typed(self.line.text())

    def _typed(self, text: str) -> None:
        value = self._number(text)
        if not text.strip():
            self.changed.emit(None)
        elif value is not None and not self.problem():
            self.changed.emit(int(value) if value.is_integer() else value)
        else:
            self.doubted.emit()

    def _number(self, text: str) -> float | None:
        value = to_number(text.strip()) if text.strip() else math.nan
        return float(value) if math.isfinite(value) else None

    def _range(self) -> str:
        low, high = self._spec.low, self._spec.high
        if low is None and high is None:
            return ""
        if high is None:
            return tr("{low} or more", low=number(low or 0))
        return tr("{low} to {high}", low=number(low or 0), high=number(high))


class _Combo(QComboBox):
    """A choice that the mouse wheel changes only while it has the keyboard, so that scrolling changes nothing."""

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Qt: see the class."""
        if self.hasFocus():
            super().wheelEvent(event)
        else:
            event.ignore()


class ChoiceField(Field):
    """One of a few values; the first choice is that the general one holds."""

    def __init__(self, spec: FieldSpec, general: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.combo = _about(_Combo(self), spec)
        self.combo.view().setAccessibleName(tr(spec.title))
        self.combo.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.combo.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self._values: list[str | None] = [None, *(value for value, _title in spec.choices)]
        self._names = [general or tr("general one"), *(tr(title) for _value, title in spec.choices)]
        self.combo.addItems(self._names)
        self._hold(self.combo)
        self.combo.activated.connect(self._chosen)

    def show_value(self, value: Json) -> None:
        """Show a choice; a value that is none of them gets a line of its own."""
        lower = None if value is None else to_string(value).lower()
        place = self._values.index(lower) if lower in self._values else len(self._names)
        while self.combo.count() > len(self._names):
            self.combo.removeItem(self.combo.count() - 1)
        if value is None or value == []:
            place = 0
        elif place == len(self._names):
            self.combo.addItem(tr("“{value}” (not known)", value=to_string(value)))
        self.combo.setCurrentIndex(place)

    def problem(self) -> str:
        """A value that means nothing."""
        unknown = self.combo.currentIndex() >= len(self._names)
        return tr("This value means nothing, so the general one holds.") if unknown else ""

    def _chosen(self, place: int) -> None:
        if place < len(self._values):
            self.changed.emit(self._values[place])


class FlagField(Field):
    """Yes or no. DeepLore counts only the plain words true and false."""

    def __init__(self, spec: FieldSpec, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._spec = spec
        self._given: Json = None
        self.box = _about(QCheckBox(self), spec, kind="")
        self._hold(self.box)
        self.box.clicked.connect(lambda checked: self.changed.emit(bool(checked)))

    def show_value(self, value: Json) -> None:
        """Show what DeepLore makes of the value: everything that is not the other word is the default."""
        self._given = value
        on = value is not False if self._spec.flag_default else value is True or value == "true"
        self.box.setChecked(on)
        self.box.setText(tr("yes") if on else tr("no"))

    def problem(self) -> str:
        """A text where only true and false count."""
        if self._given is None or isinstance(self._given, bool):
            return ""
        return tr("“{value}” is not read as true or false here.", value=to_string(self._given))


class LineField(Field):
    """A text of one line."""

    def __init__(self, spec: FieldSpec, general: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.line = _about(QLineEdit(self, placeholderText=general or tr("empty")), spec)
        self._hold(self.line)
        self.line.textEdited.connect(self.changed.emit)

    def set_completer(self, completer: QCompleter) -> None:
        """What is offered while typing; an offer in the line counts as typed."""
        self.line.setCompleter(completer)
        completer.highlighted.connect(self.changed.emit)

    def show_value(self, value: Json) -> None:
        """Show a text."""
        text = "" if value is None or value == [] else to_string(value)
        if text.strip() != self.line.text().strip() or not self.line.hasFocus():
            self.line.setText(text)


_BREAK: Final = re.compile(r"\s*[\n\r\u2028\u2029]\s*")


class _Growing(QPlainTextEdit):
    """As high as its text, within limits. It stays one line, unless the note has several."""

    LEAST, MOST = 2, 7
    lines = False
    """Whether the note has several lines; a property of one cannot get them."""

    def sizeHint(self) -> QSize:
        """Qt: see the class."""
        line = QFontMetricsF(self.font()).lineSpacing()
        lines = max(self.LEAST, min(self.MOST, round(self.document().size().height())))
        return QSize(160, round(line * lines + 2 * self.document().documentMargin() + 6))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Qt: another width breaks the lines elsewhere."""
        super().resizeEvent(event)
        self.grow()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Qt: see the class."""
        if event.key() in {Qt.Key.Key_Return, Qt.Key.Key_Enter}:
            if not self.lines:
                return
            event.setModifiers(event.modifiers() & ~Qt.KeyboardModifier.ShiftModifier)  # else Qt would write U+2028
        super().keyPressEvent(event)

    def insertFromMimeData(self, source: QMimeData) -> None:
        """Qt: see the class."""
        if self.lines:
            super().insertFromMimeData(source)
        else:
            self.insertPlainText(_BREAK.sub(" ", source.text()))

    def grow(self) -> None:
        """Take the height that the text needs now."""
        wanted = self.sizeHint().height()
        if wanted != self.height():
            self.setFixedHeight(wanted)


class SummaryField(Field):
    """A text of several lines with a count of its characters."""

    def __init__(self, spec: FieldSpec, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        placeholder = tr("What it is, and when to take it")
        self.edit = _about(_Growing(self, placeholderText=placeholder, tabChangesFocus=True), spec, kind="")
        self.edit.setObjectName("Summary")
        self.edit.setUndoRedoEnabled(False)
        self.count = label(self, kind="small", wrap=False)
        self.count.setAlignment(Qt.AlignmentFlag.AlignRight)
        self._hold(self.edit, self.count)
        self.edit.textChanged.connect(self._typed)
        self._showing = False

    def show_value(self, value: Json) -> None:
        """Show a text."""
        text = "" if value is None or value == [] else to_string(value)
        self.edit.lines = "\n" in text.strip()
        if text.strip() != self._text().strip():
            self._showing = True
            self.edit.setPlainText(text)
            self._showing = False
        self._recount()

    def _text(self) -> str:
        return self.edit.document().toRawText().replace("\u2029", "\n")

    def _typed(self) -> None:
        self._recount()
        if not self._showing:
            self.changed.emit(self._text().strip())

    def _recount(self) -> None:
        self.count.setText(count(len(self._text().strip()), "character", "characters"))
        self.edit.grow()


class RawField(Field):
    """What the form cannot edit: shown as it is written, with the reason and the way to it."""

    source_wanted = Signal()

    def __init__(self, raw: str, reason: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        lines = raw.rstrip().splitlines()
        shown = "\n".join([*lines[:6], "…"] if len(lines) > 6 else lines)
        text = label(self, shown, wrap=False, selectable=True, yields=True)
        text.setFont(fixed_font(self.font().pointSizeF() * 0.95))
        text.setObjectName("Raw")
        button = small_button(self, tr("Edit in source"), clicked=self.source_wanted)
        button.setAccessibleDescription(reason)
        button.installEventFilter(self)
        column(text, row((label(self, reason, "small"), 1), button), of=self, spacing=2, margins=0)
        self.setFocusProxy(button)


FIRES: Final = "fires"
"""The row that says when the entry goes in; it stands for tags and has no property of its own."""

FIRES_SPEC: Final = FieldSpec("", "fires", FieldKind.CHOICE, "When the entry goes in. It is written as a tag.", "bolt")


class FieldContext(Struct, frozen=True):
    """What the form has to know besides the note: settings, reading rules and the vault's names."""

    settings: DeepLoreSettings = field(default_factory=DeepLoreSettings)
    rules: ParseRules = field(default_factory=ParseRules)
    book: TitleBook = field(default_factory=TitleBook)


class FieldMaker:
    """Makes the fields of one form; they go by its `context` as it is then."""

    def __init__(self, theme: Theme, context: FieldContext, parent: QWidget) -> None:
        self._theme, self.context, self._parent = theme, context, parent

    def make(self, key: str, spec: FieldSpec, raw_reason: str = "", raw: str = "") -> Field:
        """The field of a row; with `raw_reason` one that shows `raw`, the lines as they are written."""
        if raw_reason:
            return RawField(raw, raw_reason, self._parent)
        if key == FIRES:
            return self._fires(spec)
        if reading.is_list(spec):
            return self._list(spec)
        general = tr(spec.general) if spec.general else general_value(spec.name, self.context.settings)
        makers: dict[FieldKind, Callable[[], Field]] = {
            FieldKind.NUMBER: lambda: NumberField(spec, general, self._parent),
            FieldKind.CHOICE: lambda: ChoiceField(spec, general, self._parent),
            FieldKind.FLAG: lambda: FlagField(spec, self._parent),
            FieldKind.SUMMARY: lambda: SummaryField(spec, self._parent),
        }
        maker = makers.get(spec.kind)
        made = maker() if maker is not None else LineField(spec, general, self._parent)
        if spec.values and isinstance(made, LineField):
            made.set_completer(OffersCompleter(made.line, partial(_fitting, spec.values), made))
        return made

    def _fires(self, spec: FieldSpec) -> Field:
        named = {said for said, _tag in TagNames.of(self.context.rules).special} | {Fires.KEYS}
        choices = tuple((said.value, tr(words)) for said, words in FIRES_WORDS.items() if said in named)
        chosen = FieldSpec("", spec.title, FieldKind.CHOICE, spec.help, choices=choices[1:])
        return ChoiceField(chosen, choices[0][1], self._parent)

    def _list(self, spec: FieldSpec) -> ListField:
        made = ListField(self._theme, spec, self._parent)
        chips = made.chips
        if spec.kind is FieldKind.TITLES:
            chips.set_mark(self._unknown_title)
            chips.set_completer(OffersCompleter(chips.input, self._titles, made))
        elif spec.kind is FieldKind.TAGS:
            chips.set_completer(OffersCompleter(chips.input, self._tags, made))
        elif spec.values:
            chips.set_completer(OffersCompleter(chips.input, partial(_fitting, spec.values), made))
        return made

    def _unknown_title(self, name: str) -> str:
        if self.context.book.is_title(name):
            return ""
        return tr("No entry has this title, so it counts for nothing.")

    def _titles(self, typed: str) -> list[str]:
        return list(dict.fromkeys(name.text for name in self.context.book.offers(typed, titles_only=True)))

    def _tags(self, typed: str) -> list[str]:
        names = TagNames.of(self.context.rules)
        special = [tag for _fires, tag in names.special]
        return _fitting((names.entry, *special, *self.context.book.tags), typed)


def _fitting(values: tuple[str, ...], typed: str) -> list[str]:
    wanted = comparable(typed.strip())
    found = [value for value in dict.fromkeys(values) if value and wanted in comparable(value)]
    return sorted(found, key=lambda value: not comparable(value).startswith(wanted))[:40]
