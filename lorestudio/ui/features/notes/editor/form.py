"""The properties of a note as a form. It never changes anything itself: it says which edits of the text are wanted."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Final

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QKeyEvent, QKeySequence
from PySide6.QtWidgets import QApplication, QLineEdit, QPlainTextEdit, QWidget

from lorestudio.domain.javascript import Json, number, to_number
from lorestudio.domain.json_text import parse_json
from lorestudio.exchange.lorebooks.entry import ALWAYS as BOOK_ALWAYS
from lorestudio.ui.features.notes.editor import schema as reading
from lorestudio.ui.features.notes.editor.chips_field import ChipsField
from lorestudio.ui.features.notes.editor.fields import (
    FIRES,
    FIRES_SPEC,
    FieldContext,
    FieldMaker,
    LineField,
    ListField,
    NumberField,
    RawField,
    SummaryField,
)
from lorestudio.ui.features.notes.editor.form_row import Facts, FieldRemark, FieldRow, Mend, mended, remarks_on
from lorestudio.ui.features.notes.editor.schema import ALWAYS, BOOK_FIELDS, FieldKind, FieldSpec, Fires, TagNames, specs
from lorestudio.ui.features.vault.table import Note
from lorestudio.ui.shell.qt import is_redo
from lorestudio.ui.shell.theme import Theme
from lorestudio.ui.shell.words import tr
from lorestudio.ui.widgets.dialogs import ask_name
from lorestudio.ui.widgets.layouts import able, column, holding, iconed, label, scrolled, show_words, tool
from lorestudio.ui.widgets.picker import Choice, Picker
from lorestudio.vault.note.document import NoteDocument
from lorestudio.vault.note.properties import NoteProperty, PropertyKind
from lorestudio.vault.note.text_edits import TextEdit

UNREADABLE: Final = {
    PropertyKind.NESTED: "DeepLore does not read nested properties, so the form leaves this one as it is.",
    PropertyKind.INVALID: "This is no property that YAML or DeepLore can read.",
}


_TYPED: Final = (LineField, NumberField, SummaryField)
"""Fields that keep what was typed though it was refused: a letter more may make it right."""

_NOT_READ: Final = "Nothing reads this property."


class PropertyForm(QWidget):
    """Shows a note's properties. `edited` carries text edits, `source_wanted` a line of the file.

    `typed` follows every letter of an item of a list, which is no part of the note until it is taken.
    """

    edited = Signal(object)
    typed = Signal()
    source_wanted = Signal(int)
    left = Signal()
    undo_wanted = Signal()
    redo_wanted = Signal()
    height_changed = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._context = FieldContext()
        self._specs: dict[str, FieldSpec] = {}
        self._of_book = False
        self._note: NoteDocument | None = None
        self._parsed: Note | None = None
        self._pinned: dict[str, None] = {}
        self._read_only = False
        self._rows: dict[str, FieldRow] = {}
        self._shapes: dict[str, str] = {}
        self._match = ("", "neutral")
        self._refusals: dict[str, str] = {}
        self.setAccessibleName(tr("Properties"))
        self._problems = label(self)
        self._problems.setObjectName("FormProblems")
        self._problems.hide()
        self._list = column(spacing=0)
        add = tool(self, "", self.open_choice, text=tr("Add property…"), beside=True)
        self.add_button = iconed(theme, add, "plus", "text_faint")
        self.add_button.setToolTip(tr("Add a property to the note (Ctrl+;)"))
        self._column = column(self._problems, self._list, self.add_button, 1, spacing=0, margins=(8, 4, 10, 6))
        self._column.setAlignment(self.add_button, Qt.AlignmentFlag.AlignLeft)
        self._page = holding(self._column)
        self._page.setObjectName("FormPage")
        self.area = scrolled(self._page, tr("Properties"))
        self.area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        column(self.area, of=self, margins=0)
        self._maker = FieldMaker(theme, self._context, self._page)

    # ---- showing ----------------------------------------------------------------------------------------------------

    def set_context(self, context: FieldContext) -> None:
        """Other settings, fields or titles. Where only titles are others, the keyboard stays where it is."""
        before, self._context, self._maker.context = self._context, context, context
        self.take_typed()
        if (before.settings, before.rules) != (context.settings, context.rules):
            self.set_fields(of_book=self._of_book)
        if self._note is not None:
            self.show_note(self._note, self._parsed, self._pinned, read_only=self._read_only)

    def set_fields(self, *, of_book: bool) -> None:
        """Show the fields of a lorebook's entries from the next note on, else those of a vault's notes, made anew."""
        self._of_book = of_book
        self._specs = {spec.name: spec for spec in BOOK_FIELDS} if of_book else specs(self._context.rules.fields)
        self._forget_rows()

    def begin_note(self, *, of_book: bool) -> None:
        """Another note comes, of a lorebook or of a vault: rows that it has too stay, without what is half typed."""
        if of_book != self._of_book or not self._specs:
            self.set_fields(of_book=of_book)
        for chips in self._lists():
            chips.give_up()

    def show_note(
        self, note: NoteDocument | None, parsed: Note | None, pinned: dict[str, None], *, read_only: bool = False
    ) -> None:
        """Show a note, or nothing.

        `parsed` is what the pipeline makes of the same text, `pinned` are rows to show though empty.
        """
        if read_only != self._read_only:
            self._forget_rows()
        if note is not self._note:
            self._refusals.clear()
        self._note, self._parsed, self._pinned, self._read_only = note, parsed, pinned, read_only
        able(self.add_button, not read_only, tr("This file is shown only."))
        wanted = self._wanted()
        shapes = {key: self._shape(key, item) for key, item in wanted.items()}
        if list(shapes.items()) != list(self._shapes.items()):
            self._lay_out(wanted, shapes)
        for key, row in self._rows.items():
            self._fill(key, row, wanted[key][1])
        problems = note.problems if note is not None else ()
        sentences = (tr("Line {line}: {message}", line=each.line, message=each.message) for each in problems)
        show_words(self._problems, "\n".join(sentences))
        self.height_changed.emit()

    def row(self, name: str) -> FieldRow | None:
        """The row of a property, None where it is not shown."""
        return self._rows.get(name)

    @property
    def focused(self) -> str:
        """The property whose row has the keyboard, "" where none has it."""
        focus = QApplication.focusWidget()
        return next((key for key, row in self._rows.items() if focus is not None and row.isAncestorOf(focus)), "")

    @property
    def half_typed(self) -> bool:
        """Whether an item of a list was begun and is not taken yet."""
        return any(chips.half_typed for chips in self._lists())

    def take_typed(self) -> None:
        """Take what is half typed into the note."""
        for chips in self._lists():
            if chips.half_typed:
                chips.take_input()

    def _lists(self) -> list[ChipsField]:
        return [row.field.chips for row in self._rows.values() if isinstance(row.field, ListField)]

    def name_of_keys(self) -> str:
        """The property that holds the keys."""
        return "key" if self._of_book else "keys"

    @property
    def names(self) -> list[str]:
        """The rows that are shown, from top to bottom."""
        return list(self._rows)

    def say_match(self, text: str, tone: str = "neutral") -> None:
        """What the keys would do in the chat that is shown; "" where nothing is known."""
        self._match = (text, tone)
        self._say_again(self.name_of_keys())

    def _say_again(self, key: str) -> None:
        row = self._rows.get(key)
        if row is not None and self._note is not None:
            row.say(self._remarks(key, row, self._property(key)))
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
        nobody = tr("A field that World Info does not know.") if self._of_book else tr(_NOT_READ)
        return [*found, Choice(tr("another property"), nobody, "", "")]

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
            self.show_note(self._note, self._parsed, self._pinned, read_only=self._read_only)
        row = self._rows.get(name)
        if row is not None:
            row.field.setFocus(Qt.FocusReason.OtherFocusReason)

    def keep_in_sight(self) -> None:
        """Scroll to the row that has the keyboard: the form got another height."""
        row = self._rows.get(self.focused)
        if row is not None:
            self._page.adjustSize()  # it has its new rows only once Qt has handled what waits
            self.area.ensureWidgetVisible(row, 0, 4)

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
        everything, lenient = {name: note.find(name) for name in self._specs}, self._context.rules.lenient
        here = {
            name: found for name, found in everything.items() if found is not None and (lenient or found.name == name)
        }
        known = {id(found) for found in here.values()}
        wanted: dict[str, tuple[FieldSpec, NoteProperty | None]] = {}
        for name, spec in self._specs.items():
            if name == "tags":
                wanted[FIRES] = (FIRES_SPEC, None)
            if name in here or name in (BOOK_ALWAYS if self._of_book else ALWAYS) or name in self._pinned:
                wanted[name] = (spec, here.get(name))
        for place, found in enumerate(note.properties):
            if id(found) not in known:
                key = found.name if found.name and found.name not in wanted else f"{found.name}#{place}"
                wanted[key] = (_plain_spec(found.name, found), found)
        for name in self._pinned:
            if name not in wanted and name not in self._specs:
                wanted[name] = (_plain_spec(name, None), None)
        return wanted

    def _shape(self, key: str, item: tuple[FieldSpec, NoteProperty | None]) -> str:
        """What decides which sort of field a row has; a raw one shows its text, which is part of it."""
        spec, found = item
        if found is not None and self._raw_reason(found):
            return f"raw {found.raw}"
        return f"{spec.kind} {spec.title}"

    def _lay_out(self, wanted: dict[str, tuple[FieldSpec, NoteProperty | None]], shapes: dict[str, str]) -> None:
        focused = self.focused
        place_of = list(self._rows).index(focused) if focused else 0
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
        if focused and rows and not self.focused:  # the row went: the one in its place has the keyboard
            (rows.get(focused) or list(rows.values())[min(place_of, len(rows) - 1)]).name.setFocus()

    def _raw_reason(self, found: NoteProperty | None) -> str:
        """Why a property is shown as it is written, "" where it can be edited."""
        if found is None or self._note is None:
            return ""
        if found.kind in UNREADABLE:
            return tr(UNREADABLE[found.kind])
        again = any(other.name == found.name and other.start > found.start for other in self._note.properties)
        return tr("It is written again further down, and only that one counts.") if again else ""

    def _forget_rows(self) -> None:
        for key in list(self._rows):
            self._drop(key)
        self._shapes = {}

    def _drop(self, key: str) -> None:
        row = self._rows.pop(key)
        row.field.blockSignals(True)  # what is half typed in it is of a note that is shown no more
        self._list.removeWidget(row)
        row.hide()
        row.deleteLater()

    def _make_row(self, key: str, spec: FieldSpec, found: NoteProperty | None) -> FieldRow:
        made = self._maker.make(key, spec, self._raw_reason(found), found.raw if found is not None else "")
        if isinstance(made, RawField):
            made.source_wanted.connect(partial(self._asked, key, "source"))
        if isinstance(made, ListField):
            made.chips.input.textChanged.connect(self.typed)
            made.chips.read_only = self._read_only
            made.chips.refresh()
        able(made, not self._read_only or isinstance(made, RawField), tr("This file is shown only."))
        made.changed.connect(partial(self._changed, key))
        if isinstance(made, NumberField):
            made.doubted.connect(partial(self._say_again, key))
        made.left.connect(self.left)
        row = FieldRow(self._theme, spec, made, self._page)
        row.name.asked.connect(partial(self._asked, key))
        for child in (*made.findChildren(QLineEdit), *made.findChildren(QPlainTextEdit)):
            child.installEventFilter(self)
        return row

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
        elif not isinstance(row.field, RawField) and not (key in self._refusals and isinstance(row.field, _TYPED)):
            row.field.show_value(found.value if found is not None else None)
        row.say(self._remarks(key, row, found))

    # ---- remarks ----------------------------------------------------------------------------------------------------

    def _remarks(self, key: str, row: FieldRow, found: NoteProperty | None) -> tuple[FieldRemark, ...]:
        note = self._note
        if note is None:
            return ()
        said = list(remarks_on(key, row.spec, found, Facts(note, self._parsed, self._context.rules), self._mend))
        problem = row.field.problem() if found is None or found.reading is None else ""
        if problem and key != FIRES:
            said.append(FieldRemark(problem))
        if key in self._refusals:
            said.append(FieldRemark(self._refusals[key], "error"))
        if key == ("key" if self._of_book else "keys") and self._match[0]:
            said.append(FieldRemark(*self._match))
        return tuple(said)

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
        if isinstance(value, str) and row.spec.literal:
            value = parse_json(value)
        elif isinstance(value, str) and found is not None and found.kind is PropertyKind.NUMBER:
            as_number = to_number(value.strip())
            value = number(as_number) if not math.isnan(as_number) else value
        if isinstance(value, str | int | float | bool | list):
            wanted: Json = value
            self._emit(lambda: (note.set(written, wanted),), key)

    def _property(self, key: str) -> NoteProperty | None:
        return self._wanted().get(key, (None, None))[1]

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

    def _mend(self, what: Mend, name: str) -> None:
        """Do what a remark's button says, with the text as it is now."""
        note = self._note
        if note is None or self._read_only:
            return
        if what is Mend.REMOVE:
            self._pinned.pop(name, None)
        facts = Facts(note, self._parsed, self._context.rules)
        self._emit(lambda: mended(what, name, facts, tuple(self._specs)), name)

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
        return event.matches(QKeySequence.StandardKey.Undo) or is_redo(event)

    def _take_undo(self, event: QKeyEvent) -> bool:
        event.accept()
        if event.type() is QEvent.Type.KeyPress:
            undo = event.matches(QKeySequence.StandardKey.Undo)
            (self.undo_wanted if undo else self.redo_wanted).emit()
        return True


def _plain_spec(name: str, found: NoteProperty | None) -> FieldSpec:
    kinds = {PropertyKind.LIST: FieldKind.WORDS, PropertyKind.FLAG: FieldKind.FLAG}
    kind = kinds.get(found.kind, FieldKind.LINE) if found is not None else FieldKind.LINE
    icon = {FieldKind.WORDS: "list", FieldKind.FLAG: "check"}.get(kind, "lines")
    if found is not None and found.kind in UNREADABLE:
        icon = "code"
    return FieldSpec(name, name or "?", kind, _NOT_READ, icon)
