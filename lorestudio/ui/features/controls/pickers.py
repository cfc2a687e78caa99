"""Picking what is chosen for a chat: entries to pin or block, folders, fields and their values, the character."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Final

from msgspec import Struct

from lorestudio.domain.entry import Entry
from lorestudio.domain.javascript import to_string
from lorestudio.domain.lifecycle import CancelToken
from lorestudio.domain.records import replace
from lorestudio.domain.state import ChatControls, has_rule
from lorestudio.studio.chat.controls import (
    ContextField,
    ControlsPart,
    context_values,
    with_folder,
    with_value,
    without_folder,
    without_value,
)
from lorestudio.studio.project.project import Project
from lorestudio.studio.tryout.control_trials import Change, Effect
from lorestudio.ui.features.controls.chips import EffectWatch, Key, NotedNames
from lorestudio.ui.shell.feature import Context
from lorestudio.ui.shell.words import count, tr
from lorestudio.ui.widgets.picker import Choice, Picker

MOST_TRIED: Final = 60
"""So many values or folders are tried in the chosen reply; the rest says only how often it occurs."""

Adjust = Callable[[str, ChatControls], None]
"""Takes what a step is called and the items after it."""


class _PickerOption(Struct, frozen=True):
    """A value or folder to choose: what picking it does, and what that step is called."""

    text: str
    entries: str
    is_set: bool
    change: Change
    title: str


class ControlPickers:
    """Opens pickers over the window; what is picked goes through `adjust` as one step."""

    def __init__(self, context: Context, watch: EffectWatch, adjust: Adjust) -> None:
        self._context, self._watch, self._adjust = context, watch, adjust

    def entry(self, project: Project, part: ControlsPart, picked: Callable[[Entry], None]) -> Picker:
        """An entry to pin or block; one that is pinned or blocked already is freed."""
        pins = part is ControlsPart.PINS
        rules = project.controls.pins if pins else project.controls.blocks
        word = tr("pinned") if pins else tr("blocked")
        items = [
            Choice(
                entry.title,
                ", ".join(entry.keys) or (entry.folder or ""),
                word if has_rule(rules, entry) else entry.folder or "",
                entry.id,
            )
            for entry in project.index.entries
            if not entry.guide
        ]
        title = tr("Pin an entry") if pins else tr("Block an entry")
        hint = (
            tr("Enter pins it, or frees one that is pinned") if pins else tr("Enter blocks it, or frees a blocked one")
        )
        letters = tr("Type a few letters of a title")
        return self._context.pick(title, letters, items, lambda key: picked(project.index.entries[int(key)]), hint)

    def field(self, project: Project, facts: NotedNames) -> Picker | None:
        """A field of the context, then a value for it."""
        fields = list(facts.fields.values())
        if len(fields) == 1:
            return self.value(project, fields[0])
        items = [
            Choice(
                field.label,
                ", ".join(to_string(each) for each in context_values(project.controls.context.get(field.key)))
                or tr("not set"),
                count(field.entries, "entry has it", "entries have it"),
                field.key,
            )
            for field in fields
        ]
        letters = tr("Type a few letters of a field")
        return self._context.pick(
            tr("Set the context"), letters, items, lambda key: self.value(project, facts.fields[str(key)])
        )

    def value(self, project: Project, field: ContextField) -> Picker:
        """A value for a field, from those found in the vault or typed; one that is set is taken away."""
        now = context_values(project.controls.context.get(field.key))
        known = [_value_option(field, value.text, value.entries, now) for value in field.values]
        typed = [each for each in map(to_string, now) if field.value(each) is None]
        options = [_value_option(field, text, 0, now) for text in typed] + known
        title = tr("{field} of this chat", field=field.label)
        picker = self._options(title, tr("Type a value, or a few letters of one"), options, project)
        picker.set_hint(tr("Shift+Enter takes what you typed"))
        picker.wanted_new.connect(lambda text: self._take(_value_option(field, text, 0, now)))
        return picker

    def folder(self, project: Project) -> Picker:
        """A folder for the filter; one that is in it is taken out."""
        chosen = project.controls.folders
        options = []
        for folder in project.index.folders:
            inside, entries = folder.path in chosen, count(folder.entry_count, "entry", "entries")
            change = partial(without_folder if inside else with_folder, folder=folder.path)
            words = tr("folder filter without {folder}") if inside else tr("folder filter with {folder}")
            options.append(_PickerOption(folder.path, entries, inside, change, words.format(folder=folder.path)))
        return self._options(tr("Filter by folder"), tr("Type a few letters of a folder"), options, project)

    def character(self, project: Project) -> Picker:
        """Whose entry “Match the active character” brings in."""
        own = project.chat.character_name if project.chat is not None else ""
        names = dict.fromkeys(
            message.name
            for message in (project.chat.messages if project.chat is not None else ())
            if message.name and not message.is_user
        )
        current = project.controls.character
        items = [Choice(own or tr("Nobody"), tr("the chat's own"), tr("chosen") if current is None else "", None)]
        items += [
            Choice(name, tr("speaks in the chat"), tr("chosen") if current == name else "", name)
            for name in names
            if name != own
        ]
        if current is not None and current not in names:
            items.append(Choice(current or tr("Nobody"), "", tr("chosen"), current))
        choose = partial(self._choose_character, project)
        hint = tr("Shift+Enter takes what you typed")
        picker = self._context.pick(tr("Active character"), tr("Type a name"), items, choose, hint)
        picker.wanted_new.connect(choose)
        return picker

    def _options(self, title: str, placeholder: str, options: list[_PickerOption], project: Project) -> Picker:
        """A picker whose items say what they would do in the chosen reply, once that is known."""
        picker = self._context.pick(title, placeholder, [_item(option, None) for option in options], self._take)
        found: dict[Key, Effect] = {}
        token = CancelToken()
        picker.destroyed.connect(token.cancel)

        def heard(more: Mapping[Key, Effect]) -> None:
            found.update(more)
            if not token.cancelled:
                picker.replace([_item(option, found.get((option.text,))) for option in options])

        changes: dict[Key, Change] = {(option.text,): option.change for option in options[:MOST_TRIED]}
        self._watch.try_adding(changes, heard, token)
        return picker

    def _take(self, option: object) -> None:
        project = self._context.session.project
        if isinstance(option, _PickerOption) and project is not None:
            self._adjust(option.title, option.change(project.controls))

    def _choose_character(self, project: Project, name: object) -> None:
        controls = replace(project.controls, character=None if name is None else str(name))
        title = tr("the chat's own character") if name is None else tr("active character {name}", name=name)
        self._adjust(title, controls)


def _value_option(field: ContextField, text: str, entries: int, now: tuple[object, ...]) -> _PickerOption:
    is_set = any(to_string(each).lower() == text.lower() for each in now)
    if is_set:
        change: Change = partial(without_value, key=field.key, value=text)
        title = tr("{label} without {value}", label=field.label, value=text)
    else:
        change = partial(with_value, key=field.key, value=text, multi=field.multi)
        title = tr("{label}: {value}", label=field.label, value=text)
    having = tr("in {entries}", entries=count(entries, "entry", "entries")) if entries else tr("in no entry")
    return _PickerOption(text, having, is_set, change, title)


def _item(option: _PickerOption, found: Effect | None) -> Choice:
    parts = [option.entries]
    if found is not None:
        if option.is_set:  # what it does is the effect of taking it away
            does = _filtered("filters {entries}", found.lets_in, "lets {entries} through", found.filters)
        else:
            does = _filtered("would filter {entries}", found.filters, "would let {entries} through", found.lets_in)
        parts.append(does)
    return Choice(option.text, " · ".join(parts), tr("set, Enter takes it away") if option.is_set else "", option)


def _filtered(filters: str, out: Sequence[int], lets: str, through: Sequence[int]) -> str:
    """How many entries are filtered, unless some are only let through, and how many are."""
    told = [(filters, out)] if out or not through else []
    told += [(lets, through)] if through else []
    return ", ".join(tr(words, entries=count(len(entries), "entry", "entries")) for words, entries in told)
