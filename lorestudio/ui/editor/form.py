"""The properties of a note as a form. It never changes anything itself: it says which edits of the text are wanted."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QKeyEvent, QKeySequence
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QScrollArea,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from lorestudio.domain.entry import Entry, LeftOutNote, NoteProblem, ParserWarning
from lorestudio.domain.javascript import Json, number, to_number, to_string
from lorestudio.settings.deeplore import DeepLoreSettings
from lorestudio.ui.dialogs import ask_name
from lorestudio.ui.editor import reading
from lorestudio.ui.editor.completion import offering
from lorestudio.ui.editor.fields import (
    ChoiceField,
    Field,
    FlagField,
    LineField,
    ListField,
    NumberField,
    RawField,
    SummaryField,
)
from lorestudio.ui.editor.reading import Fires, TagNames
from lorestudio.ui.editor.row import FieldRow, Remark
from lorestudio.ui.editor.schema import ALWAYS, FieldKind, FieldSpec, general_value, specs
from lorestudio.ui.editor.titles import TitleBook
from lorestudio.ui.theme import Theme
from lorestudio.ui.widgets.picker import Choice, Picker
from lorestudio.ui.words import count, shorten, tr
from lorestudio.vault.entries import ParseRules
from lorestudio.vault.note_document import NoteDocument, NoteProperty, PropertyKind, TextEdit, apply_edits

FIRES: Final = "fires"
"""The row that says when the entry goes in; it stands for tags and has no property of its own."""

_FIRES_WORDS: Final = {
    Fires.KEYS: "when its keys match",
    Fires.CONSTANT: "always (constant)",
    Fires.SEED: "as background of a new chat (seed)",
    Fires.BOOTSTRAP: "always while the chat is short (bootstrap)",
    Fires.GUIDE: "never: it guides the Librarian (guide)",
    Fires.NEVER: "never (never-insert)",
}
_UNREADABLE: Final = {
    PropertyKind.NESTED: "DeepLore does not read nested properties, so the form leaves this one as it is.",
    PropertyKind.INVALID: "This is no property that YAML or DeepLore can read.",
}


@dataclass(frozen=True, slots=True)
class Context:
    """What the form has to know besides the note: settings, reading rules and the vault's names."""

    settings: DeepLoreSettings = field(default_factory=DeepLoreSettings)
    rules: ParseRules = field(default_factory=ParseRules)
    book: TitleBook = field(default_factory=TitleBook)


class PropertyForm(QWidget):
    """Shows a note's properties. `edited` carries text edits, `source_wanted` a line of the file."""

    edited = Signal(object)
    source_wanted = Signal(int)
    left = Signal()
    undo_wanted = Signal()
    redo_wanted = Signal()
    height_changed = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._context = Context()
        self._specs: dict[str, FieldSpec] = {}
        self._note: NoteDocument | None = None
        self._parsed: Entry | LeftOutNote | None = None
        self._pinned: dict[str, None] = {}
        self._read_only = False
        self._rows: dict[str, FieldRow] = {}
        self._shapes: dict[str, str] = {}
        self._match = ("", "neutral")
        self._refusals: dict[str, str] = {}
        self.setAccessibleName(tr("Properties"))
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        self.area = QScrollArea(self)
        self.area.setWidgetResizable(True)
        self.area.setFrameShape(QFrame.Shape.NoFrame)
        self.area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        outer.addWidget(self.area)
        self._page = QWidget(self.area)
        self._page.setObjectName("FormPage")
        self._column = QVBoxLayout(self._page)
        self._column.setContentsMargins(8, 4, 10, 6)
        self._column.setSpacing(0)
        self._problems = QLabel(self._page)
        self._problems.setWordWrap(True)
        self._problems.setObjectName("FormProblems")
        self._problems.hide()
        self._column.addWidget(self._problems)
        self._list = QVBoxLayout()
        self._list.setSpacing(0)
        self._column.addLayout(self._list)
        self.add_button = QToolButton(self._page)
        self.add_button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.add_button.setText(tr("Add property…"))
        self.add_button.setToolTip(tr("Add a property to the note (Ctrl+;)"))
        self.add_button.clicked.connect(self.open_choice)
        line = QHBoxLayout()
        line.addWidget(self.add_button)
        line.addStretch(1)
        self._column.addLayout(line)
        self._column.addStretch(1)
        self.area.setWidget(self._page)
        theme.changed.connect(self._paint)
        self._paint()

    # ---- showing ----------------------------------------------------------------------------------------------------

    def set_context(self, context: Context) -> None:
        """Other settings, fields or titles."""
        self._context = context
        self._specs = specs(context.rules.fields)
        self._forget_rows()
        if self._note is not None:
            self.show_note(self._note, self._parsed, self._pinned, read_only=self._read_only)

    def show_note(
        self,
        note: NoteDocument,
        parsed: Entry | LeftOutNote | None,
        pinned: dict[str, None],
        *,
        read_only: bool = False,
    ) -> None:
        """Show a note; `parsed` is what the pipeline makes of the same text, `pinned` are rows to show though empty."""
        if read_only != self._read_only:
            self._forget_rows()
        self._note, self._parsed, self._pinned, self._read_only = note, parsed, pinned, read_only
        self.add_button.setEnabled(not read_only)
        wanted = self._wanted()
        shapes = {key: self._shape(key, item) for key, item in wanted.items()}
        if list(shapes.items()) != list(self._shapes.items()):
            self._lay_out(wanted, shapes)
        for key, row in self._rows.items():
            found = wanted[key][1]
            self._fill(key, row, found)
        self._say_problems()
        self.height_changed.emit()

    def row(self, name: str) -> FieldRow | None:
        """The row of a property, None where it is not shown."""
        return self._rows.get(name)

    @property
    def names(self) -> list[str]:
        """The rows that are shown, from top to bottom."""
        return list(self._rows)

    def focus_first(self) -> None:
        """Give the keyboard to the first field."""
        first = next(iter(self._rows.values()), None)
        (first.field if first is not None else self.add_button).setFocus(Qt.FocusReason.TabFocusReason)

    def say_match(self, text: str, tone: str = "neutral") -> None:
        """What the keys would do in the chat that is shown; "" where nothing is known."""
        self._match = (text, tone)
        row = self._rows.get("keys")
        if row is not None and self._note is not None:
            row.say(self._remarks("keys", row, self._note.find("keys")))
            self.height_changed.emit()

    def content_height(self) -> int:
        """How high the form would be without scrolling, in device-independent pixels."""
        self._column.activate()
        return self._page.sizeHint().height() + 2

    # ---- adding -----------------------------------------------------------------------------------------------------

    def choices(self) -> list[Choice]:
        """The properties that the note does not have."""
        found = [
            Choice(tr(spec.title), tr(spec.help), "", name)
            for name, spec in self._specs.items()
            if name not in self._rows
        ]
        return [*found, Choice(tr("another property"), tr("A property that DeepLore does not read."), "", "")]

    def open_choice(self) -> Picker | None:
        """Let a person choose a property to add."""
        if self._read_only or self._note is None:
            return None
        picker = Picker(
            self._theme, tr("Add property"), tr("Type a few letters of a property"), self.choices(), self.window()
        )
        picker.picked.connect(self._picked)
        picker.open_over(self.window())
        return picker

    def add(self, name: str) -> None:
        """Show an empty row for a property and go there; it is written once it has a value."""
        self._pinned[name] = None
        if self._note is not None:
            self.show_note(self._note, self._parsed, self._pinned)
        row = self._rows.get(name)
        if row is not None:
            self._column.activate()
            self.area.ensureWidgetVisible(row)
            row.field.setFocus(Qt.FocusReason.OtherFocusReason)

    def _picked(self, name: object) -> None:
        if name:
            self.add(str(name))
        else:
            ask_name(self, tr("Add property"), tr("Name of the property"), "", self.add)

    # ---- rows -------------------------------------------------------------------------------------------------------

    def _wanted(self) -> dict[str, tuple[FieldSpec, NoteProperty | None]]:
        note = self._note
        if note is None:
            return {}
        everything = {name: note.find(name) for name in self._specs}
        here = {name: found for name, found in everything.items() if found is not None and self._is_found(found, name)}
        known = {id(found) for found in here.values()}
        wanted: dict[str, tuple[FieldSpec, NoteProperty | None]] = {}
        for name, spec in self._specs.items():
            if name == "tags":
                wanted[FIRES] = (_fires_spec(), None)
            if name in here or name in ALWAYS or name in self._pinned:
                wanted[name] = (spec, here.get(name))
        for place, found in enumerate(note.properties):
            if id(found) not in known:
                key = found.name if found.name and found.name not in wanted else f"{found.name}#{place}"
                wanted[key] = (_plain_spec(found.name, found), found)
        for name in self._pinned:
            if name not in wanted and name not in self._specs:
                wanted[name] = (_plain_spec(name, None), None)
        return wanted

    def _is_found(self, found: NoteProperty, name: str) -> bool:
        return found.name == name or self._context.rules.lenient

    def _shape(self, key: str, item: tuple[FieldSpec, NoteProperty | None]) -> str:
        """What decides which sort of field a row has; a raw one shows its text, which is part of it."""
        spec, found = item
        if found is not None and found.kind in _UNREADABLE:
            return f"raw {found.raw}"
        return f"{spec.kind} {spec.title}"

    def _lay_out(self, wanted: dict[str, tuple[FieldSpec, NoteProperty | None]], shapes: dict[str, str]) -> None:
        for key in list(self._rows):
            if self._shapes.get(key) != shapes.get(key):
                self._drop(key)
        rows = {}
        for place, (key, (spec, found)) in enumerate(wanted.items()):
            row = self._rows.get(key)
            if row is None:
                row = self._make_row(key, spec, found)
            if self._list.indexOf(row) != place:
                self._list.removeWidget(row)
                self._list.insertWidget(place, row)
            rows[key] = row
        self._rows, self._shapes = rows, shapes
        before: QWidget = self.area
        for row in rows.values():
            for widget in (row.name, row.field.focusProxy() or row.field):
                QWidget.setTabOrder(before, widget)
                before = widget
        QWidget.setTabOrder(before, self.add_button)

    def _forget_rows(self) -> None:
        for key in list(self._rows):
            self._drop(key)
        self._shapes = {}

    def _drop(self, key: str) -> None:
        row = self._rows.pop(key)
        self._list.removeWidget(row)
        row.hide()
        row.deleteLater()

    def _make_row(self, key: str, spec: FieldSpec, found: NoteProperty | None) -> FieldRow:
        made = self._make_field(key, spec, found)
        made.setEnabled(not self._read_only or isinstance(made, RawField))
        made.changed.connect(partial(self._changed, key))
        made.left.connect(self.left)
        row = FieldRow(self._theme, spec, made, self._page)
        row.name.asked.connect(partial(self._asked, key))
        for child in (*made.findChildren(QLineEdit), *made.findChildren(QPlainTextEdit)):
            child.installEventFilter(self)
        return row

    def _make_field(self, key: str, spec: FieldSpec, found: NoteProperty | None) -> Field:
        if found is not None and found.kind in _UNREADABLE:
            raw = RawField(self._theme, found.raw, tr(_UNREADABLE[found.kind]), self._page)
            raw.source_wanted.connect(partial(self._asked, key, "source"))
            return raw
        general = general_value(spec.name, self._context.settings)
        if reading.is_list(spec):
            return self._make_list(spec)
        if key == FIRES:
            named = {said for said, _tag in TagNames.of(self._context.rules).special} | {Fires.KEYS}
            choices = tuple((said.value, tr(words)) for said, words in _FIRES_WORDS.items() if said in named)
            chosen = FieldSpec("", spec.title, FieldKind.CHOICE, spec.help, choices=choices[1:])
            return ChoiceField(chosen, choices[0][1], self._page)
        makers: dict[FieldKind, Callable[[], Field]] = {
            FieldKind.NUMBER: lambda: NumberField(spec, general, self._page),
            FieldKind.CHOICE: lambda: ChoiceField(spec, general, self._page),
            FieldKind.FLAG: lambda: FlagField(spec, self._page),
            FieldKind.SUMMARY: lambda: SummaryField(spec, self._page),
        }
        maker = makers.get(spec.kind)
        made = maker() if maker is not None else LineField(spec, general, self._page)
        if spec.values and isinstance(made, LineField):
            made.line.setCompleter(offering(made.line, partial(_fitting, spec.values), made))
        return made

    def _make_list(self, spec: FieldSpec) -> ListField:
        made = ListField(self._theme, spec, self._page)
        made.chips.read_only = self._read_only
        if spec.kind is FieldKind.TITLES:
            made.chips.set_mark(self._unknown_title)
            made.chips.set_completer(offering(made.chips.input, self._titles, made))
        elif spec.kind is FieldKind.TAGS:
            made.chips.set_completer(offering(made.chips.input, self._tags, made))
        elif spec.values:
            made.chips.set_completer(offering(made.chips.input, partial(_fitting, spec.values), made))
        return made

    def _fill(self, key: str, row: FieldRow, found: NoteProperty | None) -> None:
        spec, note = row.spec, self._note
        if note is None:
            return
        row.name.written = found is not None
        row.name.renamable = found is not None and spec.name not in self._specs
        if key == FIRES:
            said = reading.fires(note, TagNames.of(self._context.rules))
            value: Json = None if said == (Fires.KEYS,) else said[0].value
            if len(said) > 1:
                value = tr("{several} (the first wins)", several=", ".join(item.value for item in said))
            row.field.show_value(value)
        elif reading.is_list(spec):
            value = found.value if found is not None else None
            row.field.show_value(reading.items(spec, value, lenient=self._context.rules.lenient))
        elif not isinstance(row.field, RawField):
            row.field.show_value(found.value if found is not None else None)
        row.say(self._remarks(key, row, found))

    # ---- remarks ----------------------------------------------------------------------------------------------------

    def _remarks(self, key: str, row: FieldRow, found: NoteProperty | None) -> tuple[Remark, ...]:
        remarks: list[Remark] = []
        if key == FIRES and self._note is not None:
            remarks += self._fires_remarks(self._note)
        if key == "tags":
            remarks += self._tag_remarks()
        if found is not None:
            remarks += [self._warning_remark(item, found) for item in self._warnings(found)]
            differs = self._reading_remarks(found)
            remarks += differs
            if (
                not differs
                and key in {"requires", "excludes", "cascade_links"}
                and isinstance(found.value, str)
                and "," in found.value
            ):
                text = tr("Commas do not separate titles here: this is one title.")
                remarks.append(Remark(text, "warning", tr("Make it a list"), partial(self._split, key)))
            problem = row.field.problem()
            if problem and key != FIRES and not differs:
                remarks.append(Remark(problem))
        if key == "keys" and not self._match[0] and self._is_asleep():
            remarks.append(Remark(tr("Without a key, only a link or fuzzy search finds this entry."), "neutral"))
        if key in self._refusals:
            remarks.append(Remark(self._refusals[key], "error"))
        if key == "keys" and self._match[0]:
            remarks.append(Remark(*self._match))
        return tuple(remarks)

    def _is_asleep(self) -> bool:
        """Whether the note is an entry that needs keys and has none."""
        parsed, note = self._parsed, self._note
        if note is None or not isinstance(parsed, Entry) or any(parsed.keys):
            return False
        return reading.fires(note, TagNames.of(self._context.rules)) == (Fires.KEYS,)

    def _fires_remarks(self, note: NoteDocument) -> list[Remark]:
        said = reading.fires(note, TagNames.of(self._context.rules))
        if len(said) > 1:
            names = ", ".join(tr(_FIRES_WORDS[item]) for item in said)
            return [Remark(tr("The tags say several things at once: {names}.", names=names))]
        return []

    def _tag_remarks(self) -> list[Remark]:
        parsed = self._parsed
        ordinary = {NoteProblem.NO_LOREBOOK_TAG, NoteProblem.NO_FRONT_MATTER}
        if isinstance(parsed, LeftOutNote) and parsed.problem in ordinary:
            text = tr("Without the tag “{tag}” this is an ordinary note.", tag=self._context.rules.lorebook_tag)
            return [Remark(text, "neutral", tr("Make it an entry"), self._make_entry)]
        return []

    def _warnings(self, found: NoteProperty) -> list[ParserWarning]:
        parsed = self._parsed
        return [item for item in parsed.warnings if item.field == found.name] if isinstance(parsed, Entry) else []

    def _warning_remark(self, warning: ParserWarning, found: NoteProperty) -> Remark:
        buttons = {
            "W_ALIAS_USED": tr("Write it so"),
            "W_COMMA_SPLIT": tr("Make it a list"),
            "W_COERCED_NUM": tr("Write the number"),
            "W_NOT_IMPLEMENTED": tr("Remove it"),
        }
        text = f"{warning.message} {warning.suggested_fix}"
        button = buttons.get(warning.code, "")
        return Remark(text, "warning", button, partial(self._mend, warning.code, found.name) if button else None)

    def _reading_remarks(self, found: NoteProperty) -> list[Remark]:
        differs = found.reading
        if differs is None:
            return []
        keep = partial(self._mend, "alike", found.name) if differs.spelling is not None else None
        take = partial(self._mend, "as yaml", found.name) if differs.yaml_spelling is not None else None
        if take is None:
            return [Remark(differs.message, "warning", tr("Spell it so that both agree") if keep else "", keep)]
        meant = tr("Take {value}", value=shorten(_shown(differs.yaml), 40))
        kept = tr("Keep {value}", value=shorten(_shown(differs.deeplore), 40)) if keep else ""
        return [Remark(differs.message, "warning", meant, take, kept, keep)]

    def _say_problems(self) -> None:
        problems = self._note.problems if self._note is not None else ()
        sentences = [tr("Line {line}: {message}", line=problem.line, message=problem.message) for problem in problems]
        self._problems.setText("\n".join(sentences))
        self._problems.setVisible(bool(sentences))

    # ---- changes ----------------------------------------------------------------------------------------------------

    def _changed(self, key: str, value: object) -> None:
        note = self._note
        if note is None or self._read_only:
            return
        if key == FIRES:
            said = Fires(value) if isinstance(value, str) else Fires.KEYS
            self._emit(lambda: reading.set_fires(note, TagNames.of(self._context.rules), said), key)
            return
        row = self._rows[key]
        found = self._property(key)
        written = found.name if found is not None else row.spec.name
        self._pinned[key] = None  # the row stays while it is looked at, whatever becomes of the property
        if value is None or value == "" or (value == [] and found is None):
            if found is not None:
                self._emit(lambda: (note.remove(written),), key)
            return
        if isinstance(value, str) and found is not None and found.kind is PropertyKind.NUMBER:
            as_number = to_number(value.strip())
            value = number(as_number) if not math.isnan(as_number) else value
        if isinstance(value, str | int | float | bool | list):
            wanted: Json = value
            self._emit(lambda: (note.set(written, wanted),), key)

    def _property(self, key: str) -> NoteProperty | None:
        wanted = self._wanted().get(key)
        return wanted[1] if wanted is not None else None

    def _emit(self, make: Callable[[], tuple[TextEdit, ...]], key: str = "") -> None:
        """Ask for edits, or say below the row why there are none."""
        try:
            edits = make()
        except ValueError as error:
            self._refusals[key] = str(error)
            if self._note is not None:
                self.show_note(self._note, self._parsed, self._pinned)
            return
        self._refusals.clear()
        if edits:
            self.edited.emit(edits)

    def _asked(self, key: str, what: str) -> None:
        found, note = self._property(key), self._note
        if note is None or (self._read_only and what != "source"):
            return
        if what == "source":
            self.source_wanted.emit(found.line if found is not None else 1)
        elif what == "rename" and found is not None:
            ask_name(self, tr("Rename property"), tr("New name"), found.name, partial(self._rename, found.name))
        elif what == "remove" and key != FIRES:
            self._pinned.pop(key, None)
            if found is not None:
                gone = found.name
                self._emit(lambda: (note.remove(gone),), key)
            else:
                self.show_note(note, self._parsed, self._pinned)

    def _rename(self, before: str, after: str) -> None:
        note = self._note
        if note is not None and note.find(before) is not None and after != before:
            self._emit(lambda: (note.rename(before, after),), before)

    def _mend(self, code: str, name: str) -> None:
        """Do what a remark's button says, with the text as it is now."""
        note, parsed = self._note, self._parsed
        found = note.find(name) if note is not None else None
        if note is None or found is None or self._read_only:
            return
        canonical = next((known for known in self._specs if known.lower() == name.lower()), name)
        if code == "W_NOT_IMPLEMENTED":
            self._pinned.pop(name, None)
        keys = list(parsed.keys) if isinstance(parsed, Entry) else []
        makers: dict[str, Callable[[], TextEdit | None]] = {
            "alike": lambda: note.alike(name),
            "as yaml": lambda: note.alike(name, as_yaml=True),
            "W_ALIAS_USED": lambda: note.rename(name, canonical),
            "W_NOT_IMPLEMENTED": lambda: note.remove(name),
            "W_COERCED_NUM": lambda: note.set(name, number(to_number(found.value))),
            "W_COMMA_SPLIT": lambda: _as_list(found, keys, note),
        }
        self._emit(lambda: tuple(edit for edit in (makers[code](),) if edit is not None), name)

    def _split(self, key: str) -> None:
        found, note = self._property(key), self._note
        if found is not None and note is not None and isinstance(found.value, str):
            pieces = [piece.strip() for piece in found.value.split(",") if piece.strip()]
            self._emit(lambda: (_as_list(found, pieces, note),), key)

    def _make_entry(self) -> None:
        note = self._note
        if note is not None:
            now = [*reading.tags(note), self._context.rules.lorebook_tag]
            self._emit(lambda: (reading.set_items(note, "tags", now),), "tags")

    # ---- offers -----------------------------------------------------------------------------------------------------

    def _unknown_title(self, name: str) -> str:
        if self._context.book.is_title(name):
            return ""
        return tr("No entry has this title, so it counts for nothing.")

    def _titles(self, typed: str) -> list[str]:
        return [name.text for name in self._context.book.offers(typed, titles_only=True)]

    def _tags(self, typed: str) -> list[str]:
        names = TagNames.of(self._context.rules)
        special = [tag for _fires, tag in names.special]
        return _fitting((names.entry, *special, *self._context.book.tags), typed)

    # ---- Qt ---------------------------------------------------------------------------------------------------------

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Qt: a field has no undo of its own; the note has."""
        kinds = (QEvent.Type.KeyPress, QEvent.Type.ShortcutOverride)
        if event.type() in kinds and isinstance(event, QKeyEvent):
            if isinstance(watched, QLineEdit) and watched.isUndoAvailable() and watched.isModified():
                row = next((row for row in self._rows.values() if row.isAncestorOf(watched)), None)
                if row is not None and isinstance(row.field, ListField) and watched.text():
                    return False  # a half-typed item is no part of the note yet
            if self._is_undo(event):
                return self._take_undo(event)
        return super().eventFilter(watched, event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Qt: undo works on chips and choices too; Escape leaves the form."""
        if self._is_undo(event):
            self._take_undo(event)
        elif event.key() == Qt.Key.Key_Escape:
            self.left.emit()
        else:
            super().keyPressEvent(event)

    def _is_undo(self, event: QKeyEvent) -> bool:
        keys = QKeySequence.StandardKey
        return event.matches(keys.Undo) or event.matches(keys.Redo)

    def _take_undo(self, event: QKeyEvent) -> bool:
        event.accept()
        if event.type() is QEvent.Type.KeyPress:
            undo = event.matches(QKeySequence.StandardKey.Undo)
            (self.undo_wanted if undo else self.redo_wanted).emit()
        return True

    def _paint(self) -> None:
        self.add_button.setIcon(self._theme.icon("plus", "text_faint"))


def _fires_spec() -> FieldSpec:
    return FieldSpec("", "fires", FieldKind.CHOICE, "When the entry goes in. It is written as a tag.", "bolt")


def _plain_spec(name: str, found: NoteProperty | None) -> FieldSpec:
    kinds = {PropertyKind.LIST: FieldKind.WORDS, PropertyKind.FLAG: FieldKind.FLAG}
    kind = kinds.get(found.kind, FieldKind.LINE) if found is not None else FieldKind.LINE
    icon = {FieldKind.WORDS: "list", FieldKind.FLAG: "check"}.get(kind, "lines")
    if found is not None and found.kind in _UNREADABLE:
        icon = "code"
    return FieldSpec(name, name or "?", kind, "DeepLore does not read this property.", icon)


def _fitting(values: tuple[str, ...], typed: str) -> list[str]:
    wanted = typed.strip().casefold()
    found = [value for value in dict.fromkeys(values) if value and wanted in value.casefold()]
    return sorted(found, key=lambda value: not value.casefold().startswith(wanted))[:40]


def _shown(value: Json) -> str:
    if isinstance(value, list | tuple):
        return count(len(value), "item", "items") + ": " + ", ".join(f"“{to_string(item)}”" for item in value)
    if value is None:
        return tr("nothing")
    return f"“{value}”" if isinstance(value, str) else to_string(value)


def _as_list(found: NoteProperty, items: list[str], note: NoteDocument) -> TextEdit:
    """The property written as a list, where `set` would keep one text with commas."""
    without = NoteDocument(apply_edits(note.text, [note.remove(found.name)]))
    if not without.properties:
        without = NoteDocument(f"---{note.newline}x: 1{note.newline}---{note.newline}")
    return TextEdit(found.start, found.end, without.set(found.name, items).text)
