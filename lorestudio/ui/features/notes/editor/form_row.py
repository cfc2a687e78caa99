"""One row of the form: the property's name, its field, and below what there is to say, with buttons that mend it.

Source of the warnings: rules: deeplore 1.3 to 1.5.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from enum import StrEnum
from functools import partial
from typing import Final

from msgspec import Struct
from PySide6.QtCore import QEvent, QPoint, QRect, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QGridLayout, QLabel, QMenu, QToolButton, QWidget

from lorestudio.domain.entry import Entry, LeftOutNote, ParserWarning
from lorestudio.domain.javascript import Json, number, to_number, to_string
from lorestudio.domain.texts import shorten
from lorestudio.ui.features.notes.editor import schema as reading
from lorestudio.ui.features.notes.editor.fields import Field
from lorestudio.ui.features.notes.editor.schema import FIRES_WORDS, FieldKind, FieldSpec, Fires, TagNames
from lorestudio.ui.shell.qt import takes_f2
from lorestudio.ui.shell.theme import Theme, glyph
from lorestudio.ui.shell.words import count, tr
from lorestudio.ui.widgets.layouts import Wrapping, column, iconed, in_lines, label, named, small_button
from lorestudio.ui.widgets.pane import drop_all
from lorestudio.ui.widgets.rows import passing_menu
from lorestudio.vault.entries import ParseRules
from lorestudio.vault.note.document import NoteDocument
from lorestudio.vault.note.properties import NoteProperty
from lorestudio.vault.note.text_edits import TextEdit, apply_edits
from lorestudio.vault.note.yaml_reading import YamlReading


class FieldRemark(Struct, frozen=True):
    """Something to say about a value. `tone` is good, neutral, warning or error; `ways` are its buttons."""

    text: str
    tone: str = "warning"
    ways: tuple[tuple[str, Callable[[], object]], ...] = ()

    @property
    def words(self) -> tuple[str, ...]:
        """What a person sees of it."""
        return (self.tone, self.text, *(title for title, _do in self.ways))


class Mend(StrEnum):
    """What a button does to a property."""

    ALIKE = "alike"
    AS_YAML = "as yaml"
    SPELL = "spell"
    LIST = "list"
    NUMBER = "number"
    REMOVE = "remove"
    ADMIT = "admit"


class Facts(Struct, frozen=True):
    """A note and what the pipeline makes of it."""

    note: NoteDocument
    parsed: Entry | LeftOutNote | None
    rules: ParseRules


_MENDS: Final = {
    "W_ALIAS_USED": (Mend.SPELL, "Write it so"),
    "W_COMMA_SPLIT": (Mend.LIST, "Make it a list"),
    "W_COERCED_NUM": (Mend.NUMBER, "Write the number"),
    "W_NOT_IMPLEMENTED": (Mend.REMOVE, "Remove it"),
}


def remarks_on(
    key: str, spec: FieldSpec, found: NoteProperty | None, facts: Facts, mend: Callable[[Mend, str], object]
) -> Iterator[FieldRemark]:
    """The remarks on one row; their buttons call `mend` with what to do and the property's name."""
    if key == "fires":
        yield from _on_fires(facts)
    elif key == "tags":
        yield from _on_tags(facts, mend)
    elif key == "keys" and _is_asleep(facts):
        yield FieldRemark(tr("Without a key, only a link or fuzzy search finds this entry."), "neutral")
    if found is None:
        return
    if isinstance(facts.parsed, Entry):
        for warning in facts.parsed.warnings:
            if warning.field == found.name:
                yield _on_warning(warning, found, mend)
    if found.reading is not None:
        yield _on_reading(found.reading, found.name, mend)
    elif spec.kind is FieldKind.TITLES and isinstance(found.value, str) and "," in found.value:
        text = tr("Commas do not separate titles here: this is one title.")
        yield FieldRemark(text, "warning", ((tr("Make it a list"), partial(mend, Mend.LIST, found.name)),))


def mended(what: Mend, name: str, facts: Facts, known: Sequence[str]) -> tuple[TextEdit, ...]:
    """The edits that a button stands for. `known` are the properties' names as DeepLore spells them.

    Raises ValueError with the reason where the note cannot be changed so.
    """
    note = facts.note
    if what is Mend.ADMIT:
        return (reading.set_items(note, "tags", [*reading.tags(note), facts.rules.lorebook_tag]),)
    found = note.find(name)
    if found is None:
        return ()
    canonical = next((other for other in known if other.lower() == name.lower()), name)
    makers: dict[Mend, Callable[[], TextEdit | None]] = {
        Mend.ALIKE: lambda: note.alike(name),
        Mend.AS_YAML: lambda: note.alike(name, as_yaml=True),
        Mend.SPELL: lambda: note.rename(name, canonical),
        Mend.REMOVE: lambda: note.remove(name),
        Mend.NUMBER: lambda: note.set(name, number(to_number(found.value))),
        Mend.LIST: lambda: _as_list(found, note),
    }
    edit = makers[what]()
    return (edit,) if edit is not None else ()


def _on_fires(facts: Facts) -> Iterator[FieldRemark]:
    said = reading.fires(facts.note, TagNames.of(facts.rules))
    if len(said) > 1:
        names = ", ".join(tr(FIRES_WORDS[item]) for item in said)
        yield FieldRemark(tr("The tags say several things at once: {names}.", names=names))


def _on_tags(facts: Facts, mend: Callable[[Mend, str], object]) -> Iterator[FieldRemark]:
    parsed = facts.parsed
    if isinstance(parsed, LeftOutNote) and parsed.problem.untagged:
        text = tr("Without the tag “{tag}” this is an ordinary note.", tag=facts.rules.lorebook_tag)
        yield FieldRemark(text, "neutral", ((tr("Make it an entry"), partial(mend, Mend.ADMIT, "tags")),))


def _is_asleep(facts: Facts) -> bool:
    """Whether the note is an entry that needs keys and has none."""
    if not isinstance(facts.parsed, Entry) or any(facts.parsed.keys):
        return False
    return reading.fires(facts.note, TagNames.of(facts.rules)) == (Fires.KEYS,)


def _on_warning(warning: ParserWarning, found: NoteProperty, mend: Callable[[Mend, str], object]) -> FieldRemark:
    text = f"{warning.message} {warning.suggested_fix}"
    if warning.code not in _MENDS:
        return FieldRemark(text)
    what, button = _MENDS[warning.code]
    return FieldRemark(text, "warning", ((tr(button), partial(mend, what, found.name)),))


_SHOWN: Final = 30
"""A button shows so many letters of a value."""


def _on_reading(differs: YamlReading, name: str, mend: Callable[[Mend, str], object]) -> FieldRemark:
    ways: list[tuple[str, Callable[[], object]]] = []
    if differs.yaml_spelling is not None:
        meant = tr("Take {value}", value=shorten(_shown(differs.yaml), _SHOWN))
        ways.append((meant, partial(mend, Mend.AS_YAML, name)))
    if differs.spelling is not None:
        kept = tr("Keep {value}", value=shorten(_shown(differs.deeplore), _SHOWN))
        ways.append((kept if ways else tr("Spell it so that both agree"), partial(mend, Mend.ALIKE, name)))
    return FieldRemark(differs.message, "warning", tuple(ways))


def _shown(value: Json) -> str:
    if isinstance(value, list | tuple):
        return count(len(value), "item", "items") + ": " + ", ".join(f"“{to_string(item)}”" for item in value)
    if value is None:
        return tr("nothing")
    return f"“{value}”" if isinstance(value, str) else to_string(value)


def _as_list(found: NoteProperty, note: NoteDocument) -> TextEdit:
    """A text with commas written as a list, in the style of the note's other lists; `set` would keep the text."""
    pieces = [piece for part in to_string(found.value).split(",") if (piece := part.strip())]
    without = NoteDocument(apply_edits(note.text, [note.remove(found.name)]))
    if not without.properties:
        without = NoteDocument(f"---{note.newline}x: 1{note.newline}---{note.newline}")
    return TextEdit(found.start, found.end, without.set(found.name, pieces).text)


NAME_WIDTH: Final = 148
NAME_LETTERS: Final = 13
"""Width of the names' column in device-independent pixels."""


class NameButton(QToolButton):
    """The name of a property. Enter opens its menu, Delete removes the property, F2 renames it where that is sensible.

    `asked` carries remove, rename or source.
    """

    asked = Signal(str)

    def __init__(self, theme: Theme, spec: FieldSpec, parent: QWidget | None = None, *, fixed: bool = False) -> None:
        super().__init__(parent, toolButtonStyle=Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self._fixed = fixed
        self.renamable = self.written = False
        self.setObjectName("PropertyName")
        self.setText(tr(spec.title))
        named(self, tr("Property {name}", name=tr(spec.title)), tr(spec.help))
        self.setAccessibleDescription(tr(spec.help))
        self.setIconSize(QSize(14, 14))
        self.setFixedWidth(max(NAME_WIDTH, self.fontMetrics().horizontalAdvance("m" * NAME_LETTERS)))
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus if fixed else Qt.FocusPolicy.StrongFocus)
        self.clicked.connect(self.open_menu)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.customContextMenuRequested.connect(self.open_menu)
        iconed(theme, self, spec.icon, "text_faint")

    def open_menu(self, _where: QPoint | bool = False) -> QMenu | None:
        """What can be done with the property."""
        if self._fixed:
            return None
        menu = passing_menu(self)
        menu.addAction(tr("Remove property"), partial(self.asked.emit, "remove")).setShortcut(Qt.Key.Key_Delete)
        if self.renamable:
            menu.addAction(tr("Rename…"), partial(self.asked.emit, "rename")).setShortcut(Qt.Key.Key_F2)
        if self.written:
            menu.addAction(tr("Show in source"), partial(self.asked.emit, "source"))
        menu.popup(self.mapToGlobal(QPoint(0, self.height())))
        return menu

    def event(self, event: QEvent) -> bool:
        """Qt: F2 is its own where it renames."""
        return (self.renamable and takes_f2(event)) or super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Qt: see the class."""
        if event.key() in {Qt.Key.Key_Delete, Qt.Key.Key_Backspace}:
            self.asked.emit("remove")
        elif event.key() == Qt.Key.Key_F2 and self.renamable:
            self.asked.emit("rename")
        elif event.key() in {Qt.Key.Key_Return, Qt.Key.Key_Enter}:
            self.open_menu()
        else:
            super().keyPressEvent(event)


LEAST_TEXT: Final = 32
"""A remark needs room for so many letters beside its buttons; where there is less, they stand below it."""

_GAP: Final = 6


class _RemarkLine(Wrapping):
    """A remark with its sign and its buttons, which stand beside it or below."""

    def __init__(self, theme: Theme, remark: FieldRemark, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        icons = {"good": "check", "neutral": "info", "warning": "warning", "error": "error"}
        self._sign = QLabel(self, pixmap=glyph(icons[remark.tone], getattr(theme.palette, remark.tone), 14))
        self._text = label(self, remark.text, "small")
        self._buttons = [small_button(self, title, clicked=lambda _on, do=do: do()) for title, do in remark.ways]
        for button in self._buttons:
            button.setAccessibleDescription(remark.text)

    def arrange(self, width: int, *, move: bool) -> int:
        """See `Wrapping`."""
        left, letters = 16 + _GAP, self._text.fontMetrics()
        sizes = [each.sizeHint() for each in self._buttons]
        high = max((size.height() for size in sizes), default=0)
        room = width - left - sum(size.width() + _GAP for size in sizes)
        if room < min(letters.horizontalAdvance("x" * LEAST_TEXT), letters.horizontalAdvance(self._text.text())):
            room = width - left
            corner = QPoint(0, self._text.heightForWidth(room) + 4)
        else:
            corner = QPoint(left + room + _GAP, 1)
        boxes = in_lines((min(size.width(), width) for size in sizes), width, corner, height=high, gap=_GAP)
        text = QRect(left, 1, room, self._text.heightForWidth(room))
        if move:
            self._sign.setGeometry(0, 1, 16, max(16, letters.height()))
            self._text.setGeometry(text)
            for button, box in zip(self._buttons, boxes, strict=True):
                button.setGeometry(box)
        return max(each.bottom() for each in (text, *boxes)) + 3


class FieldRow(QWidget):
    """A row. Its field is made by the form, which also says what there is to remark."""

    def __init__(self, theme: Theme, spec: FieldSpec, field: Field, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme, self.spec, self.field = theme, spec, field
        self.name = NameButton(theme, spec, self, fixed=spec.name == "")
        self.remarks: tuple[FieldRemark, ...] = ()
        """What is said below the field."""
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 2, 0, 2)
        grid.setHorizontalSpacing(6)
        grid.setVerticalSpacing(2)
        grid.setColumnStretch(1, 1)
        grid.addWidget(self.name, 0, 0, Qt.AlignmentFlag.AlignTop)
        grid.addWidget(field, 0, 1)
        self.below = column(spacing=0)
        grid.addLayout(self.below, 1, 1)

    def say(self, remarks: tuple[FieldRemark, ...]) -> None:
        """Say something about the value; what was said before goes."""
        if [item.words for item in remarks] == [item.words for item in self.remarks]:
            return
        self.remarks = remarks
        drop_all(self.below)
        for remark in remarks:
            self.below.addWidget(_RemarkLine(self._theme, remark, self))
        self.field.setAccessibleDescription(" ".join(remark.text for remark in remarks))
