"""What differs between the inputs of two runs, whichever system decided; see `studio.compare.differences`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TypeAlias

from lorestudio.settings.differences import section_differences
from lorestudio.studio.compare.differences import (
    Carry,
    DifferenceKind,
    InputDifference,
    chat_differences,
    choice_differences,
    input_differences,
)
from lorestudio.studio.compare.note_differences import carried_notes, note_changes
from lorestudio.studio.compare.value_words import words_of
from lorestudio.studio.replay.system_inputs import SystemInputs
from lorestudio.systems.base import Moment, System
from lorestudio.systems.context import RunContext
from lorestudio.systems.recap.system import RecapSystem
from lorestudio.systems.worldinfo.system import WorldInfoSystem
from lorestudio.trace.diff import Key

Inputs: TypeAlias = RunContext | SystemInputs
"""What a run was made of."""


def same_system(before: Inputs | None, after: Inputs | None) -> bool:
    """Whether the inputs of both are known, and are of one kind: only these can be carried from one to the other."""
    if isinstance(before, SystemInputs) and isinstance(after, SystemInputs):
        return before.kind is after.kind
    return isinstance(before, RunContext) and isinstance(after, RunContext)


def differences_between(before: Inputs, after: Inputs) -> tuple[InputDifference, ...]:
    """All differences, those that people make on purpose first. Raises ValueError for two systems."""
    if isinstance(before, RunContext) and isinstance(after, RunContext):
        return input_differences(before, after)
    if isinstance(before, SystemInputs) and isinstance(after, SystemInputs) and before.kind is after.kind:
        return (
            *_settings(before, after),
            *_notes(before, after),
            *(replace(each, carry=_of_moment(each.carry)) for each in choice_differences(before.moment, after.moment)),
            *(replace(each, carry=_of_chat(each.carry)) for each in chat_differences(before.moment, after.moment)),
            *_others(before, after),
        )
    message = "Two systems decided, each by inputs of its own, so nothing can be carried from one to the other."
    raise ValueError(message)


def _settings(before: SystemInputs, after: SystemInputs) -> Iterator[InputDifference]:
    for change in section_differences(before.settings, after.settings):
        declaration = change.declaration

        def carry(target: SystemInputs, source: SystemInputs, name: str = declaration.name) -> SystemInputs:
            update = {name: getattr(source.settings, name)}
            return replace(target, settings=target.settings.model_copy(update=update))

        yield InputDifference(
            DifferenceKind.SETTING,
            declaration.title,
            words_of(change.before),
            words_of(change.after),
            carry,
            declaration.affects,
        )


def _notes(before: SystemInputs, after: SystemInputs) -> Iterator[InputDifference]:
    for change in note_changes(before.moment.index, after.moment.index):

        def carry(target: SystemInputs, source: SystemInputs, key: Key = change.key) -> SystemInputs:
            index = carried_notes(target.moment.index, source.moment.index, [key])
            return replace(target, moment=replace(target.moment, index=index))

        yield InputDifference(DifferenceKind.NOTE, change.title, "", change.words, carry, note=change.key)


def _of_moment(carry: Carry) -> Carry:
    """A part of the moment, carried between whole inputs."""

    def carried(target: SystemInputs, source: SystemInputs) -> SystemInputs:
        return replace(target, moment=carry(target.moment, source.moment))

    return carried


def _of_chat(carry: Carry) -> Carry:
    """The chat, with what the system itself knows of it: who wrote which message, and the recaps in it."""

    def carried(target: SystemInputs, source: SystemInputs) -> SystemInputs:
        now: Moment = carry(target.moment, source.moment)
        if now.turn.message != target.moment.turn.message:
            now = replace(now, clock_ms=source.moment.clock_ms)
        mine, theirs = target.system, source.system
        system: System = mine
        if isinstance(mine, WorldInfoSystem) and isinstance(theirs, WorldInfoSystem):
            system = replace(mine, around=replace(mine.around, by_user=theirs.around.by_user))
        elif isinstance(mine, RecapSystem) and isinstance(theirs, RecapSystem):
            system = replace(mine, chat=replace(theirs.chat, metadata=mine.chat.metadata))
        return replace(target, moment=now, project=replace(target.project, chat=source.project.chat), system=system)

    return carried


_KNOWLEDGE = {
    "world-info": ("Lorebooks, card, persona and author's note", "not those of the first run"),
    "facts": ("Memories", "not those of the first run"),
    "recap": ("The chat's recaps", "not those of the first run"),
}
"""What systems know beside their settings and the moment."""


def _others(before: SystemInputs, after: SystemInputs) -> Iterator[InputDifference]:
    known = _KNOWLEDGE.get(before.kind.name)
    if known is not None and before.settings == after.settings and _known(before) != _known(after):
        yield InputDifference(DifferenceKind.OTHER, known[0], "", known[1], _carry_knowledge)
    if before.state != after.state:
        yield InputDifference(
            DifferenceKind.TRACKERS,
            "Timed effects",
            "",
            "as earlier turns left them",
            lambda target, source: replace(target, state=source.state),
        )
    for name, title in (("context_size", "Context size"), ("seed", "Random seed")):
        one, other = getattr(before.moment, name), getattr(after.moment, name)
        if one != other:

            def carry(target: Moment, source: Moment, name: str = name) -> Moment:
                changed = getattr(source, name)
                return replace(target, seed=changed) if name == "seed" else replace(target, context_size=changed)

            yield InputDifference(DifferenceKind.OTHER, title, words_of(one), words_of(other), _of_moment(carry))


def _known(inputs: SystemInputs) -> str:
    """The digest of what the system knows; who wrote which message is part of the chat."""
    system = inputs.system
    if isinstance(system, WorldInfoSystem):
        system = replace(system, around=replace(system.around, by_user=()))
    return system.inputs


def _carry_knowledge(target: SystemInputs, source: SystemInputs) -> SystemInputs:
    mine, theirs = target.system, source.system
    system = theirs
    if isinstance(mine, WorldInfoSystem) and isinstance(theirs, WorldInfoSystem):
        system = replace(theirs, around=replace(theirs.around, by_user=mine.around.by_user))
    elif isinstance(mine, RecapSystem) and isinstance(theirs, RecapSystem):
        system = replace(mine, chat=replace(mine.chat, metadata=theirs.chat.metadata))
    return replace(target, system=system)
