"""Changing one property in many notes: what they have now, what is to happen, and what would change."""

from __future__ import annotations

import csv
import json
import math
import re
from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Final

from PySide6.QtCore import QSignalBlocker, Qt
from PySide6.QtWidgets import QComboBox, QCompleter, QLineEdit, QWidget

from lorestudio.domain.javascript import Json, trim
from lorestudio.studio.notes.batch_edit import (
    ChangeItems,
    EmptyProperty,
    NotesSummary,
    PropertyChange,
    PropertySummary,
    RemoveProperty,
    SetValue,
    leaving,
    plan_property,
    shown_value,
    summarise,
)
from lorestudio.studio.notes.book_entries import is_book_entry
from lorestudio.studio.notes.vault_notes import Planned, VaultNotes
from lorestudio.ui.features.notes.editor import schema
from lorestudio.ui.features.notes.editor.schema import FieldKind, FieldSpec
from lorestudio.ui.features.notes.plan_dialog import PlanDialog
from lorestudio.ui.shell.theme import Theme
from lorestudio.ui.shell.words import count, tr
from lorestudio.ui.state.note_changes import NoteWork, Plan
from lorestudio.ui.widgets.cells import FIT, Column, same_words
from lorestudio.ui.widgets.layouts import combo, label
from lorestudio.ui.widgets.record_table import RecordTable, RecordView
from lorestudio.vault.note.properties import PropertyKind


class Operation(StrEnum):
    """What happens to the property."""

    SET = "set"
    ADD = "add"
    REMOVE = "remove"
    EMPTY = "empty"
    CLEAR = "clear"


class ValueKind(StrEnum):
    """How the typed value is meant."""

    TEXT = "text"
    NUMBER = "number"
    FLAG = "flag"
    LIST = "list"


_OPERATIONS: Final = {
    Operation.SET: "Set to",
    Operation.ADD: "Add to the list",
    Operation.REMOVE: "Take out of the list",
    Operation.EMPTY: "Empty it, and keep the property",
    Operation.CLEAR: "Remove the property",
}
_KINDS: Final = {
    ValueKind.TEXT: "a text",
    ValueKind.NUMBER: "a number",
    ValueKind.FLAG: "yes or no",
    ValueKind.LIST: 'a list: one, two, "three, with a comma"',
}
_BY_FIELD: Final = {FieldKind.NUMBER: ValueKind.NUMBER, FieldKind.FLAG: ValueKind.FLAG}
_BY_PROPERTY: Final = {
    PropertyKind.NUMBER: ValueKind.NUMBER,
    PropertyKind.FLAG: ValueKind.FLAG,
    PropertyKind.LIST: ValueKind.LIST,
}
_IN_TWO_WAYS: Final = re.compile(r"[+-]?[1-9]\d{0,2},\d{3}")
"""A number with a comma that stands for thousands, or for a point."""
_TRUE: Final = frozenset({"true", "yes", "on", "1"})
_FALSE: Final = frozenset({"false", "no", "off", "0"})


class BatchDialog(PlanDialog):
    """The properties of the notes on top, then what to change, then the preview."""

    def __init__(self, theme: Theme, work: NoteWork, paths: Sequence[Path], parent: QWidget) -> None:
        of_books = all(map(is_book_entry, paths))
        self._said = ("entry", "entries") if of_books else ("note", "notes")
        title = tr("Change a property of {notes}", notes=count(len(paths), *self._said))
        super().__init__(theme, work, title, tr("Change"), parent, (760, 640))
        self._paths, self._rules, self._leaving = tuple(paths), work.rules, 0
        known = schema.BOOK_FIELDS if of_books else schema.KNOWN
        self.known = {spec.title if of_books else spec.name: spec for spec in known}
        """What the form knows, offered also where no note has it yet (rules: deeplore 1.5; sillytavern 5.3)."""
        self._words = {spec.name: words for words, spec in self.known.items()}
        self._summary = NotesSummary(0, ())
        columns = (
            Column("Property", lambda one: self._words.get(one.name, one.name), width=FIT),
            Column("Value", self._shown, tone=lambda one: "" if one.same else "text_muted"),
            Column("In", lambda one: tr("{present} of {total}", present=one.present, total=one.total), width=FIT),
        )
        self.properties = RecordTable(columns, theme=theme, tip=same_words, parent=self)
        self.table = RecordView(theme, self.properties, tr("Properties of the notes"), self)
        self.table.setMaximumHeight(170)
        self.state = label(self, tr("Reading the notes…"), "small", wrap=False)
        self.name = QComboBox(self, editable=True, insertPolicy=QComboBox.InsertPolicy.NoInsert)
        self.operation = combo(self, "", {each.value: tr(words) for each, words in _OPERATIONS.items()})
        self.value = QLineEdit(self)
        self.kind = combo(self, "", {each.value: tr(words) for each, words in _KINDS.items()})
        self.form.addRow(self.state)
        self.form.addRow(self.table)
        self.add_field(tr("Property"), self.name)
        self.add_field(tr("Do"), self.operation, tr("What to do"))
        self.add_field(tr("Value"), self.value)
        self.add_field(tr("It is"), self.kind, tr("How the value is meant"))
        self.table.picked.connect(self._take_property)
        self.name.currentTextChanged.connect(self._other_name)
        for signal in (self.operation.currentIndexChanged, self.kind.currentIndexChanged, self.value.textChanged):
            signal.connect(self._other)
        self.name.setFocus()
        self._read()
        self._settle()
        self.view.say(self.nothing_yet())

    # ---- what is to be done -----------------------------------------------------------------------------------------

    @property
    def chosen_operation(self) -> Operation:
        """What happens to the property."""
        return Operation(self.operation.currentData())

    def plan(self) -> Plan | None:
        """Change the property in all notes."""
        name, paths = self._name, self._paths
        change = self._change()
        if not name or change is None:
            return None

        def work(vaults: Sequence[VaultNotes]) -> Planned:
            planned = plan_property(vaults, paths, name, change)
            self._leaving = leaving(planned, self._rules)  # here, beside the window: each note is read twice
            return planned

        return work

    def nothing_yet(self) -> str:
        """Asks for what is missing."""
        if not self._name:
            return tr("Choose a property above, or type the name of a new one.")
        if self.chosen_operation is Operation.SET and self._typed() is None:
            if self._choices:
                return tr("Type one of: {words}.", words=", ".join(self._choices))
            kind, typed = ValueKind(self.kind.currentData()), self.value.text().strip()
            if kind is ValueKind.NUMBER and _IN_TWO_WAYS.fullmatch(typed):
                one, other = typed.replace(",", ""), typed.replace(",", ".")
                return tr("“{typed}” may be two numbers. Type {one} or {other}.", typed=typed, one=one, other=other)
            if kind in (ValueKind.NUMBER, ValueKind.FLAG):
                return tr("Type a number.") if kind is ValueKind.NUMBER else tr("Type yes or no.")
            ways = [tr(_OPERATIONS[way]) for way in (Operation.EMPTY, Operation.CLEAR)]
            return tr("Type a value, or choose “{empty}” or “{clear}”.", empty=ways[0], clear=ways[1])
        return tr("Type what to add or to take out; several items between commas, an item with a comma in quotes.")

    def summary(self, planned: Planned) -> str:
        """How many notes change, stay and cannot be changed."""
        changed, cannot = planned.count, len(planned.remarks)
        stay = len(self._paths) - changed - cannot
        one, many = self._said
        parts = [count(changed, f"{one} changes", f"{many} change")]
        if stay > 0:
            parts.append(tr("{notes} so already", notes=count(stay, "is", "are")))
        if cannot:
            parts.append(tr("{notes} be changed, see below", notes=count(cannot, "cannot", "cannot")))
        if self._leaving:
            notes = count(self._leaving, "note is", "notes are")
            parts.append(
                tr("{notes} no lore any more: the tag “{tag}” goes", notes=notes, tag=self._rules.lorebook_tag)
            )
        return " · ".join(parts)

    @property
    def _name(self) -> str:
        """The property that is meant: for entries of lorebooks by what the form calls it."""
        typed = trim(self.name.currentText())
        return self.known[typed].name if typed in self.known else typed

    @property
    def _choices(self) -> Mapping[str, Json]:
        """The values that a property of numbers or flags may have, by what they are called; nothing for any other."""
        spec = next((each for each in self.known.values() if each.name == self._name and each.literal), None)
        return {words: json.loads(value) for value, words in spec.choices} if spec is not None else {}

    def _shown(self, one: PropertySummary) -> str:
        spec = self.known.get(self._words.get(one.name, one.name))
        words = dict(spec.choices) if spec is not None and spec.literal else {}
        return words.get(shown_value(one.value), _value(one)) if one.same else _value(one)

    def _change(self) -> PropertyChange | None:
        operation = self.chosen_operation
        if operation is Operation.EMPTY:
            return EmptyProperty()
        if operation is Operation.CLEAR:
            return RemoveProperty()
        if operation is Operation.SET:
            value = self._typed()
            return None if value is None else SetValue(value)
        items = _items(self.value.text())
        if not items:
            return None
        return ChangeItems(add=items) if operation is Operation.ADD else ChangeItems(remove=items)

    def _typed(self) -> Json:
        """The value as it is meant, None where nothing is typed, or nothing of that kind."""
        text = self.value.text()
        if self._choices:
            return next((value for words, value in self._choices.items() if words == text.strip()), None)
        kind = ValueKind(self.kind.currentData())
        if kind is ValueKind.LIST:
            return list(_items(text)) or None
        if kind is ValueKind.NUMBER:
            if _IN_TWO_WAYS.fullmatch(text.strip()):
                return None
            try:
                found = float(text.replace(",", "."))
            except ValueError:
                return None
            if not math.isfinite(found):
                return None
            return int(found) if found.is_integer() else found
        if kind is ValueKind.FLAG:
            word = text.strip().casefold()
            return True if word in _TRUE else False if word in _FALSE else None
        return text.strip() or None

    # ---- what there is ----------------------------------------------------------------------------------------------

    def _read(self) -> None:
        paths = self._paths
        self.work.ask(lambda _vaults: summarise(paths), self._show_summary, self.state.setText)

    def _show_summary(self, found: NotesSummary) -> None:
        self._summary = found
        unread = len(found.failures)
        self.state.setText(
            tr("Choose a property of the {notes}:", notes=count(found.notes, *self._said))
            + (" " + tr("{notes} be read.", notes=count(unread, "cannot", "cannot")) if unread else "")
        )
        self.properties.set_rows(found.properties)
        names = [self._words.get(one.name, one.name) for one in found.properties]
        names += [words for words, spec in self.known.items() if found.find(spec.name) is None]
        before = self.name.currentText()
        with QSignalBlocker(self.name):
            self.name.clear()
            self.name.addItems(names)
            self.name.setCurrentText(before)
        self._settle()

    def _take_property(self, one: PropertySummary) -> None:
        self.name.setCurrentText(self._words.get(one.name, one.name))
        if one.same and not isinstance(one.value, list | tuple):
            text, flags = shown_value(one.value), {"true": tr("yes"), "false": tr("no")}
            self.value.setText(self._shown(one) if self._choices else flags.get(text, text))
        else:
            self.value.clear()

    def _other_name(self) -> None:
        one = self._summary.find(self._name)
        known = self.known.get(trim(self.name.currentText()))
        kind = (
            _kind_of(known)
            if known is not None
            else (_BY_PROPERTY.get(one.kind, ValueKind.TEXT) if one is not None else None)
        )
        if kind is not None:
            self.kind.setCurrentIndex(self.kind.findData(kind.value))
            lists = kind is ValueKind.LIST
            now = self.chosen_operation
            if lists and now is Operation.SET:
                self.operation.setCurrentIndex(self.operation.findData(Operation.ADD.value))
            elif not lists and now in {Operation.ADD, Operation.REMOVE}:
                self.operation.setCurrentIndex(self.operation.findData(Operation.SET.value))
        self._other()

    def _other(self) -> None:
        self._settle()
        self.changed()

    def _settle(self) -> None:
        operation = self.chosen_operation
        self.form.setRowVisible(self.value, operation not in (Operation.EMPTY, Operation.CLEAR))
        choices = tuple(self._choices)
        self.form.setRowVisible(self.kind, operation is Operation.SET and not choices)
        one = self._summary.find(self._name)
        completer = QCompleter(choices or (one.items if one is not None else ()), self.value)
        completer.setCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        self.value.setCompleter(completer)
        flag = operation is Operation.SET and self.kind.currentData() == ValueKind.FLAG.value
        self.value.setPlaceholderText(tr("yes or no") if flag else "")


def _kind_of(spec: FieldSpec) -> ValueKind:
    return ValueKind.LIST if schema.is_list(spec) else _BY_FIELD.get(spec.kind, ValueKind.TEXT)


def _value(one: PropertySummary) -> str:
    if one.same:
        return shown_value(one.value) or tr("(empty)")
    if one.values == 1:
        return tr("not in all")
    return tr("differs: {values}", values=count(one.values, "value", "values"))


def _items(text: str) -> tuple[str, ...]:
    pieces = next(csv.reader([text], skipinitialspace=True), [])
    return tuple(dict.fromkeys(item for piece in pieces if (item := trim(piece))))
