"""Which field a property gets in the form, and what is offered while typing in it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from PySide6.QtWidgets import QWidget

from lorestudio.settings.deeplore import DeepLoreSettings
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
from lorestudio.ui.editor.reading import FIRES_WORDS, Fires, TagNames
from lorestudio.ui.editor.schema import FieldKind, FieldSpec, general_value
from lorestudio.ui.editor.titles import TitleBook
from lorestudio.ui.theme import Theme
from lorestudio.ui.words import tr
from lorestudio.vault.entries import ParseRules

FIRES: Final = "fires"
"""The row that says when the entry goes in; it stands for tags and has no property of its own."""

FIRES_SPEC: Final = FieldSpec("", "fires", FieldKind.CHOICE, "When the entry goes in. It is written as a tag.", "bolt")


@dataclass(frozen=True, slots=True)
class Context:
    """What the form has to know besides the note: settings, reading rules and the vault's names."""

    settings: DeepLoreSettings = field(default_factory=DeepLoreSettings)
    rules: ParseRules = field(default_factory=ParseRules)
    book: TitleBook = field(default_factory=TitleBook)


class FieldMaker:
    """Makes the fields of one form."""

    def __init__(self, theme: Theme, context: Context, parent: QWidget) -> None:
        self._theme, self._context, self._parent = theme, context, parent

    def make(self, key: str, spec: FieldSpec, raw_reason: str = "", raw: str = "") -> Field:
        """The field of a row; with `raw_reason` one that shows `raw`, the lines as they are written."""
        if raw_reason:
            return RawField(self._theme, raw, raw_reason, self._parent)
        if key == FIRES:
            return self._fires(spec)
        if reading.is_list(spec):
            return self._list(spec)
        general = general_value(spec.name, self._context.settings)
        makers: dict[FieldKind, Callable[[], Field]] = {
            FieldKind.NUMBER: lambda: NumberField(spec, general, self._parent),
            FieldKind.CHOICE: lambda: ChoiceField(spec, general, self._parent),
            FieldKind.FLAG: lambda: FlagField(spec, self._parent),
            FieldKind.SUMMARY: lambda: SummaryField(spec, self._parent),
        }
        maker = makers.get(spec.kind)
        made = maker() if maker is not None else LineField(spec, general, self._parent)
        if spec.values and isinstance(made, LineField):
            made.line.setCompleter(offering(made.line, partial(_fitting, spec.values), made))
        return made

    def _fires(self, spec: FieldSpec) -> Field:
        named = {said for said, _tag in TagNames.of(self._context.rules).special} | {Fires.KEYS}
        choices = tuple((said.value, tr(words)) for said, words in FIRES_WORDS.items() if said in named)
        chosen = FieldSpec("", spec.title, FieldKind.CHOICE, spec.help, choices=choices[1:])
        return ChoiceField(chosen, choices[0][1], self._parent)

    def _list(self, spec: FieldSpec) -> ListField:
        made = ListField(self._theme, spec, self._parent)
        chips = made.chips
        if spec.kind is FieldKind.TITLES:
            chips.set_mark(self._unknown_title)
            chips.set_completer(offering(chips.input, self._titles, made))
        elif spec.kind is FieldKind.TAGS:
            chips.set_completer(offering(chips.input, self._tags, made))
        elif spec.values:
            chips.set_completer(offering(chips.input, partial(_fitting, spec.values), made))
        return made

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


def _fitting(values: tuple[str, ...], typed: str) -> list[str]:
    wanted = typed.strip().casefold()
    found = [value for value in dict.fromkeys(values) if value and wanted in value.casefold()]
    return sorted(found, key=lambda value: not value.casefold().startswith(wanted))[:40]
