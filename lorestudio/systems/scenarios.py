"""Scenarios: how a system decides the generations of a scenario file, and how a turn of a replay becomes one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import Any, Final

from lorestudio.domain.chat import Chat, Generation, Message
from lorestudio.domain.entry import VaultIndex
from lorestudio.domain.javascript import Json
from lorestudio.domain.records import Terse, picked, replace
from lorestudio.domain.tokens import TokenCounter
from lorestudio.exchange.chats.document import read_message
from lorestudio.exchange.chats.metadata import read_controls
from lorestudio.exchange.lorebooks.reading import edited
from lorestudio.exchange.problems import InputError
from lorestudio.exchange.scenario_file import Scenario, ScenarioGeneration, controls_metadata, message_record
from lorestudio.settings.declaration import Section
from lorestudio.settings.deeplore import sanitise
from lorestudio.settings.sections import dump_section, section_of
from lorestudio.systems.base import Moment, Scene, State, System, SystemKind
from lorestudio.trace.journey import Journeys
from lorestudio.trace.model import SeenChat, Trace, Turn

_NOTE: Final = ("note_prompt", "note_interval", "note_position", "note_depth", "note_role", "variables")
"""Metadata of the author's note and the chat's variables, which a system can look at."""


class ScenarioTurn(Terse, frozen=True):
    """A generation that was run: its moment, its trace, and the state after it."""

    unprinted = ("trace", "state")

    moment: Moment
    trace: Trace
    state: State = None


class ScenarioFormat:
    """How generations stand in scenario files and their reports, for systems without a format of their own."""

    def settings(self, kind: SystemKind, scenario: Scenario) -> Section:
        """The settings that a scenario has for the system. Raises InputError or SettingsError."""
        return section_of(scenario.system_settings, kind.settings, "system_settings")

    async def decided(
        self, kind: SystemKind, scenario: Scenario, indexes: Sequence[VaultIndex], counter: TokenCounter
    ) -> dict[str, Any]:
        """All generations, each from the state that the one before it left, under `generations`.

        `indexes` are the vaults as each generation finds them, behind the index that the chat was opened with.
        Raises InputError and SettingsError.
        """
        settings = self.settings(kind, scenario)
        scene = scene_of(scenario, indexes[0], counter)
        chat = scene.chat or Chat()
        system = kind.make(settings, scene)
        state = system.first_state(scenario.rng_seed)
        reports: list[dict[str, Any]] = []
        for number, generation in enumerate(scenario.generations):
            if generation.metadata_patch or generation.book_patch:
                scene = _patched(scene, generation)
                system = kind.make(settings, scene)
            front = generation.chat if generation.front_chat is None else generation.front_chat
            hidden = [place for place in generation.chat if chat.messages[place].is_system]
            shown = hidden if generation.front_chat is not None else []
            positions = tuple(place for place in generation.chat if place in shown or place not in hidden)
            decided = await system.decide(
                Moment(
                    index=indexes[number + 1],
                    chat=tuple(replace(chat.messages[place], is_system=False) for place in positions),
                    turn=Turn(len(front), 0, number, generation.type),
                    controls=read_controls(scene.chat.metadata if scene.chat is not None else {}),
                    positions=positions,
                    seen=SeenChat(shown=tuple((place, place) for place in shown)),
                    character=scenario.character if generation.character is None else generation.character,
                    user=scene.user_name,
                    counter=counter,
                    context_size=scenario.size_at(generation),
                    clock_ms=generation.now_ms,
                    seed=scenario.rng_seed,
                    forced=generation.force,
                    quiet_prompt=generation.quiet_prompt,
                ),
                state,
            )
            state = decided.state
            reports.append(system_report(number, decided.trace))
        return {"generations": reports}

    def chain(self, order: Sequence[Generation], wanted: Generation, *, swipes_go_on: bool) -> list[Generation]:
        """What a generation's state comes from, and itself: of each reply before it the last generation.

        Where swipes go on from one another, all of them.
        """
        if swipes_go_on:
            return list(order[: order.index(wanted) + 1])
        earlier = {each.message: each for each in order if each.message < wanted.message}
        return [*earlier.values(), wanted]

    def fields(self, system: System, chat: Chat | None, turns: Sequence[ScenarioTurn]) -> dict[str, Any]:
        """The fields of a scenario of these turns beside vault, seed and clock."""
        whole = system.kind.remembers
        # What is hidden stands with a message, so that it is told as the last turn saw it. By the message that was
        # written then, a memory, which looks at no texts that were seen, knows that this is not the chat's end.
        last = turns[-1].moment
        seen = seen_messages(chat, turns[-1:] if whole else turns, last.turn.message + 1 if whole else 0)
        gone = {place for place, was in enumerate(chat.messages if chat is not None else ()) if was.is_system}
        gone -= set(last.positions)
        messages = [
            replace(message, is_system=True) if place in gone else message for place, message in enumerate(seen)
        ]
        metadata = chat.metadata if chat is not None else {}
        character = turns[0].moment.character
        kept = dict(metadata) if whole else {key: metadata[key] for key in _NOTE if key in metadata}
        return {
            "character": character,
            "messages": [_record(message, whole=whole) for message in messages],
            "metadata": {**kept, **controls_metadata(last.controls)},
            **system.scenario_fields(),
            "system": system.name,
            "system_settings": {
                key: value
                for key, value in dump_section(system.settings).items()
                if key not in system.kind.of_one_computer
            },
            "generations": [
                {
                    "now_ms": each.moment.clock_ms,
                    "type": each.moment.turn.host_kind,
                    **_seen_by(each.moment, gone),
                    "context_size": each.moment.context_size,
                    **({"character": each.moment.character} if each.moment.character != character else {}),
                }
                for each in turns
            ],
        }

    def suffix(self, system: System) -> str:
        """What the scenario's name says of the system."""
        return f" {system.name}"

    def reports(self, system: System, turns: Sequence[ScenarioTurn]) -> list[Mapping[str, Json]]:
        """The reports of turns that were run, as running their scenario gives them."""
        return [system_report(number, each.trace) for number, each in enumerate(turns)]


def _seen_by(moment: Moment, hidden: AbstractSet[int]) -> dict[str, list[int]]:
    """The messages before a turn, of which hidden ones are left out when it is run; else those that it saw."""
    front, seen = list(range(moment.turn.message)), list(moment.positions)
    alike = seen == [place for place in front if place not in hidden]
    return {"chat": front} if alike else {"chat": seen, "front_chat": front}


def seen_messages(chat: Chat | None, turns: Sequence[ScenarioTurn], size: int = 0) -> Sequence[Message]:
    """The messages before the last turn as the turns saw them: visible where one did, with the texts that it searched.

    At least `size` messages, where the chat has them.

    Raises InputError where two turns saw different texts of one message, since a scenario has one.
    """
    if chat is None:
        return ()
    seen: dict[int, Message] = {}
    for each in turns:
        for place, message in zip(each.moment.positions, each.moment.chat, strict=True):
            if seen.setdefault(place, message).text != message.text:
                raise InputError(
                    f"#{place}",
                    "regex scripts change this message by how far back it stands, and a scenario has one text of it. "
                    "Search texts as they are stored: under “What answers rest on…”, or with --scan-text stored.",
                )
    before = chat.messages[: max(turns[-1].moment.turn.message, size)]
    return [seen.get(place, message) for place, message in enumerate(before)]


def scene_of(scenario: Scenario, index: VaultIndex, counter: TokenCounter) -> Scene:
    """What a system is made for in a scenario. Raises InputError for a card that cannot be used."""
    messages = tuple(read_message(raw) for raw in scenario.messages)
    user = scenario.user or next((message.name for message in messages if message.is_user and message.name), "User")
    return Scene(
        index,
        sanitise(scenario.settings).settings,
        chat=Chat(messages, user, scenario.character, metadata=scenario.chat_metadata),
        chat_path=Path(f"{scenario.chat_name or scenario.id}.jsonl"),
        counter=counter,
        seed=scenario.rng_seed,
        card=scenario.character_card(),
        persona=scenario.persona,
        names=scenario.names or None,
        tags=None if scenario.tags is None else tuple(scenario.tags),
        books=tuple(book.lorebook for book in scenario.books),
        user_name=user,
        character_name=scenario.character,
        reply_tokens=scenario.reply_tokens,
        cast=scenario.members(),
    )


def _patched(scene: Scene, generation: ScenarioGeneration) -> Scene:
    """The scene as it is before a generation."""
    chat = scene.chat or Chat()
    metadata = {**chat.metadata, **generation.metadata_patch}
    metadata = {key: value for key, value in metadata.items() if value is not None}
    patch = generation.book_patch
    books = tuple(edited(book, patch[book.name]) if book.name in patch else book for book in scene.books)
    return replace(scene, chat=replace(chat, metadata=metadata), books=books)


def _record(message: Message, *, whole: bool) -> dict[str, Any]:
    """A message; `whole` with everything that is stored with it, which a memory of the chat reads."""
    record = message_record(message)
    return record | {"extra": dict(message.extra)} if whole and message.extra else record


def system_report(number: int, trace: Trace) -> dict[str, Any]:
    """One generation: what went in, with tokens and place, the texts handed over, and why each other one stayed out."""
    journeys = Journeys(trace)
    inside = {injection.entry for injection in trace.injections}
    outside = [journeys.fate(entry) for entry in journeys.rows if entry not in inside]
    return {
        "generation": number,
        **picked(trace, "system", "mode"),
        "outcome": trace.outcome.value,
        "injected": [
            picked(trace.entries[each.entry], "vault", "filename")
            | picked(each, "title", "tokens", "position", "depth", "role")
            for each in trace.injections
        ],
        "left_out": [
            {"filename": trace.entries[each.entry].filename, "state": str(each.state)} | picked(each, "stage", "reason")
            for each in outside
        ],
        "prompt": [picked(each, "tag", "position", "depth", "role", "text") for each in trace.prompt],
        "limits": [picked(each, "name", "used", "maximum") for each in trace.limits],
        "warnings": list(trace.warnings),
    }
