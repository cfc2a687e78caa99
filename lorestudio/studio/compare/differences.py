"""What differs between the inputs of two runs, each difference able to be carried from one run's inputs to the other's.

Notes are compared as they are written: a reference that leads nowhere because another note is gone is that other note's
difference. Settings that no stage of a run reads are left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from enum import StrEnum
from operator import attrgetter
from typing import Any, Final, TypeAlias

from lorestudio.domain.chat import Message
from lorestudio.domain.state import AiState
from lorestudio.settings.behaviour import switches
from lorestudio.settings.deeplore import declarations
from lorestudio.studio.compare.note_differences import carry_notes, note_changes
from lorestudio.studio.compare.value_words import words_of
from lorestudio.systems.base import Moment
from lorestudio.systems.context import RunContext
from lorestudio.trace.diff import Key

Carry: TypeAlias = Callable[[Any, Any], Any]
"""`carry(target, source)`: the target's inputs with this one part of the source's; all three are of one system."""

WithChat: TypeAlias = RunContext | Moment
"""Inputs with a chat and a person's choices for it, of DeepLore and of the systems beside it."""

MOST_MESSAGES: Final = 12
"""So many edited messages are told one by one; more are one difference."""


class DifferenceKind(StrEnum):
    """What sort of input differs."""

    SETTING = "setting"
    SWITCH = "behaviour switch"
    NOTE = "note"
    CHOICE = "choice for the chat"
    CHAT = "chat"
    TRACKERS = "trackers"
    ROLLS = "probability rolls"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class InputDifference:
    """One difference: what it is called, and how it stands in either run, in a few words ("" where there is no word).

    `affects` names the stages that read it, where that is known; `note` is the note it is about.
    """

    kind: DifferenceKind
    title: str
    before: str
    after: str
    carry: Carry = field(repr=False, compare=False)
    affects: tuple[str, ...] = ()
    note: Key | None = None

    @property
    def sentence(self) -> str:
        """The difference in one line."""
        if self.before and self.after:
            return f"{self.title}: {self.before} → {self.after}"
        return f"{self.title}: {self.after or self.before}" if self.before or self.after else self.title


def input_differences(before: RunContext, after: RunContext) -> tuple[InputDifference, ...]:
    """All differences, those that people make on purpose first: settings, switches, notes, choices, the chat, then
    what follows from earlier turns.
    """
    return (
        *_settings(before, after),
        *_switches(before, after),
        *_notes(before, after),
        *choice_differences(before, after),
        *chat_differences(before, after),
        *_trackers(before, after),
        *_others(before, after),
    )


# ---- settings and switches ------------------------------------------------------------------------------------------


def _settings(before: RunContext, after: RunContext) -> Iterator[InputDifference]:
    for known in declarations():
        old, new = getattr(before.settings, known.name), getattr(after.settings, known.name)
        if known.affects and old != new:
            name = known.name

            def carry(target: RunContext, source: RunContext, name: str = name) -> RunContext:
                update = {name: getattr(source.settings, name)}
                return replace(target, settings=target.settings.model_copy(update=update))

            yield InputDifference(
                DifferenceKind.SETTING, known.title, words_of(old), words_of(new), carry, known.affects
            )


def _switches(before: RunContext, after: RunContext) -> Iterator[InputDifference]:
    for switch in switches():
        old, new = getattr(before.behaviour, switch.name), getattr(after.behaviour, switch.name)
        if old != new:
            name = switch.name

            def carry(target: RunContext, source: RunContext, name: str = name) -> RunContext:
                update = {name: getattr(source.behaviour, name)}
                return replace(target, behaviour=target.behaviour.model_copy(update=update))

            yield InputDifference(DifferenceKind.SWITCH, switch.title, str(old), str(new), carry, (switch.affects,))


# ---- notes ----------------------------------------------------------------------------------------------------------


def _notes(before: RunContext, after: RunContext) -> Iterator[InputDifference]:
    for change in note_changes(before.index.vault, after.index.vault):
        key = change.key

        def carry(target: RunContext, source: RunContext, key: Key = key) -> RunContext:
            return carry_notes(target, source, [key])

        yield InputDifference(DifferenceKind.NOTE, change.title, "", change.words, carry, note=key)


# ---- choices for the chat -------------------------------------------------------------------------------------------

_CHOICES: Final = {
    "pins": "Pins",
    "blocks": "Blocks",
    "folders": "Folder filter",
    "notebook": "Notebook",
    "notepad": "Notepad",
    "scribe_summary": "Session notes",
}


def choice_differences(before: WithChat, after: WithChat) -> Iterator[InputDifference]:
    """What a person chose for the chat, and who the active character is."""
    old, new = before.controls, after.controls
    for name, title in _CHOICES.items():
        one, other = getattr(old, name), getattr(new, name)
        if one != other:

            def carry(target: WithChat, source: WithChat, name: str = name) -> WithChat:
                changed: dict[str, Any] = {name: getattr(source.controls, name)}
                return replace(target, controls=replace(target.controls, **changed))

            yield InputDifference(DifferenceKind.CHOICE, title, words_of(one), words_of(other), carry)
    for name in dict.fromkeys((*old.context, *new.context)):
        if old.context.get(name) != new.context.get(name):

            def carry_field(target: WithChat, source: WithChat, name: str = name) -> WithChat:
                context = {**target.controls.context}
                context.pop(name, None)
                if name in source.controls.context:
                    context[name] = source.controls.context[name]
                return replace(target, controls=replace(target.controls, context=context))

            words = words_of(old.context.get(name)), words_of(new.context.get(name))
            yield InputDifference(DifferenceKind.CHOICE, f"Context: {name}", *words, carry_field)
    if before.character != after.character:
        yield InputDifference(
            DifferenceKind.CHOICE,
            "Active character",
            words_of(before.character),
            words_of(after.character),
            lambda target, source: replace(target, character=source.character),
        )


# ---- the chat -------------------------------------------------------------------------------------------------------


def chat_differences(before: WithChat, after: WithChat) -> Iterator[InputDifference]:
    """Messages that were edited, each by itself where they are few; else the chat as a whole."""
    old, new = _by_number(before), _by_number(after)
    edited = [number for number in old if number in new and not _same(old[number], new[number])]
    gone = [number for number in old if number not in new]
    added = [number for number in new if number not in old]
    if edited and not gone and not added and len(edited) <= MOST_MESSAGES:
        for number in edited:

            def carry(target: WithChat, source: WithChat, number: int = number) -> WithChat:
                theirs = _by_number(source)[number]
                mine = zip(_numbers(target), target.chat, strict=True)
                return replace(target, chat=tuple(theirs if place == number else each for place, each in mine))

            words = words_of(old[number].text), words_of(new[number].text)
            yield InputDifference(DifferenceKind.CHAT, f"Message #{number}", *words, carry)
        return
    if not (edited or gone or added):
        return
    told = [
        f"{word} {_listed(numbers)}"
        for word, numbers in (("without", gone), ("with", added), ("other words in", edited))
        if numbers
    ]
    yield InputDifference(DifferenceKind.CHAT, "Chat", "", "; ".join(told), _carry_chat)


def _carry_chat(target: WithChat, source: WithChat) -> WithChat:
    turn = replace(target.turn, message=source.turn.message, swipe=source.turn.swipe, kind=source.turn.kind)
    return replace(target, chat=source.chat, positions=source.positions, turn=turn)


def _numbers(ctx: WithChat) -> tuple[int, ...]:
    return ctx.positions or tuple(range(len(ctx.chat)))


def _by_number(ctx: WithChat) -> dict[int, Message]:
    return dict(zip(_numbers(ctx), ctx.chat, strict=True))


def _same(one: Message, other: Message) -> bool:
    told = attrgetter("name", "text", "is_user", "is_system", "scannable")
    return one is other or bool(told(one) == told(other))


def _listed(numbers: list[int]) -> str:
    """`#4`, `#4 to #7`, or `#4, #6, #9 and 3 more`."""
    if len(numbers) == 1:
        return f"message #{numbers[0]}"
    if numbers == list(range(numbers[0], numbers[-1] + 1)):
        return f"messages #{numbers[0]} to #{numbers[-1]}"
    more = f" and {len(numbers) - 4} more" if len(numbers) > 4 else ""
    return f"messages {', '.join(f'#{number}' for number in numbers[:4])}{more}"


# ---- what earlier turns left ----------------------------------------------------------------------------------------


def _trackers(before: RunContext, after: RunContext) -> Iterator[InputDifference]:
    old, new = before.state, after.state
    if replace(old, random_state=0, ai=AiState()) != replace(new, random_state=0, ai=AiState()):
        yield InputDifference(
            DifferenceKind.TRACKERS,
            "Trackers",
            "",
            "cooldowns, warmups and logs as earlier turns left them",
            lambda target, source: replace(
                target, state=replace(source.state, random_state=target.state.random_state, ai=target.state.ai)
            ),
        )
    if old.ai != new.ai:
        yield InputDifference(
            DifferenceKind.TRACKERS,
            "AI cache and circuit breaker",
            "",
            "as earlier turns left them",
            lambda target, source: replace(
                target, state=replace(target.state, ai=source.state.ai), clock_ms=source.clock_ms
            ),
        )
    if old.random_state != new.random_state:
        yield InputDifference(
            DifferenceKind.ROLLS,
            "Probability rolls",
            "",
            "other random numbers are next",
            lambda target, source: replace(
                target, state=replace(target.state, random_state=source.state.random_state), seed=source.seed
            ),
        )


def _others(before: RunContext, after: RunContext) -> Iterator[InputDifference]:
    kind = DifferenceKind.OTHER
    if before.context_size != after.context_size:
        words = words_of(before.context_size), words_of(after.context_size)
        yield InputDifference(
            kind, "Context size", *words, lambda target, source: replace(target, context_size=source.context_size)
        )
    if before.counter.name != after.counter.name:
        yield InputDifference(
            kind,
            "Token counter",
            before.counter.name,
            after.counter.name,
            lambda target, source: replace(target, counter=source.counter),
        )
    if (before.answers.name, before.model) != (after.answers.name, after.model):
        yield InputDifference(
            kind,
            "Who answers",
            f"{before.answers.name} {before.model}".strip(),
            f"{after.answers.name} {after.model}".strip(),
            lambda target, source: replace(target, answers=source.answers, model=source.model),
        )
