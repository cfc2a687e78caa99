"""The generations of a chat, run in order by DeepLore and by systems that remember otherwise."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from lorestudio.domain.chat import Chat, Generation, Message
from lorestudio.domain.entry import Entry, VaultIndex
from lorestudio.domain.lifecycle import Cancelled, CancelToken, Progress
from lorestudio.domain.records import replace
from lorestudio.domain.state import ChatControls
from lorestudio.domain.tokens import CHARS_4
from lorestudio.settings.declaration import Section
from lorestudio.settings.deeplore import DeepLoreSettings
from lorestudio.settings.worldinfo import WorldInfoSettings
from lorestudio.studio.project.project import Project, open_project
from lorestudio.studio.replay.ranges import Superseded, generations
from lorestudio.studio.replay.simulator import Simulator, knowing_all
from lorestudio.systems.base import Decided, Moment, System, SystemKind
from lorestudio.systems.registry import KINDS
from lorestudio.trace.journey import FOREIGN_IDS, Journeys
from lorestudio.trace.model import Outcome, RunOutcome, StageRecord, Trace
from lorestudio.trace.storage.serialize import from_json, to_json
from lorestudio.trace.vocabulary import plain
from lorestudio.vault.files import NoteFile, VaultFiles
from lorestudio.vault.index import build_index

SETTINGS = DeepLoreSettings(enabled=True)


def note(front: str, body: str = "Text.") -> str:
    return f"---\ntags: [lorebook]\n{front}\n---\n{body}\n"


def vault(**notes: str) -> VaultIndex:
    files = tuple(NoteFile(f"{name}.md", text) for name, text in notes.items())
    return build_index([VaultFiles("v", files)], SETTINGS, CHARS_4)


def user(text: str) -> Message:
    return Message("Wren", text, is_user=True)


def reply(text: str, *swipes: str, active: int = 0) -> Message:
    return Message("Ottoline", text, swipe_id=active if swipes else None, swipes=swipes)


def project(index: VaultIndex, *messages: Message, **changes: Any) -> Project:
    return Project((), index, SETTINGS, chat=Chat(messages, "Wren", "Ottoline"), **changes)


LAMP = vault(
    Lamp=note("keys: [lamp]"), Tide=note("keys: [tide]\ncooldown: 2"), Dice=note("keys: [dice]\nprobability: 0.5")
)
CHAT = (reply("Early."), user("A lamp."), reply("b", "a", "b", "c", active=1), user("The tide."), reply("Yes."))


def comparable(traces: Sequence[Trace]) -> list[dict[str, Any]]:
    """Traces without what differs from run to run: the time that stages took."""
    still = [replace(trace, stages=tuple(replace(r, duration_ms=0.0) for r in trace.stages)) for trace in traces]
    return [to_json(trace) for trace in still]


def titles(trace: Trace) -> list[str]:
    return [injection.title for injection in trace.injections]


def test_generations_are_every_reply_with_its_swipes_and_the_reply_to_come() -> None:
    assert generations(Chat(CHAT)) == (
        Generation(2, 0),
        Generation(2, 2),
        Generation(2, 1),  # active, so the chat went on from it
        Generation(4, 0),
        Generation(5, 0),
    )


@pytest.mark.parametrize("chat", [None, Chat()])
def test_without_messages_there_is_only_the_reply_to_come(chat: Chat | None) -> None:
    assert generations(chat) == (Generation(0),)


def test_what_no_generation_wrote_is_no_generation() -> None:
    chat = Chat(
        (
            reply("greeting"),
            user("x"),
            Message("SillyTavern System", "Welcome.", is_system=True),
            Message("Note", "later", is_system=True, extra={"type": "comment"}),
            Message("Ottoline", "", is_system=True, extra={"tool_invocations": [{}]}),
            Message("Narrator", "Rain.", extra={"type": "narrator"}),
            Message("Ottoline", "thinking", is_thoughts=True),
            Message("Ottoline", "tool", extra={"tool_invocations": []}),
        )
    )
    assert generations(chat) == (Generation(8),)


def test_a_reply_that_was_hidden_later_is_a_generation() -> None:
    chat = Chat((reply("greeting"), user("x"), Message("Ottoline", "Well.", is_system=True), user("y")))
    assert generations(chat) == (Generation(2), Generation(4))


def test_shown_is_the_active_swipe() -> None:
    simulator = Simulator(project(LAMP, *CHAT))
    shown = [simulator.shown(message) for message in range(7)]
    assert shown == [None, None, Generation(2, 1), None, Generation(4), Generation(5), None]


def test_in_a_group_whoever_speaks_is_the_active_character() -> None:
    """Members with a note each; replies by Wren, Jun and Jun bring in Wren, Jun and Jun (rules: deeplore 3.6)."""
    members = vault(Wren=note("keys: [nobody]"), Jun=note("keys: [no one]"))
    said = (Message(name, "Well.") for name in ("Wren", "Jun", "Jun"))
    chat = (reply("Early."), *(each for reply_of in said for each in (user("And?"), reply_of)))
    settings = DeepLoreSettings(enabled=True, character_context_scan=True)
    asked = replace(project(members, *chat), settings=settings)
    traces = asyncio.run(Simulator(asked).replay())
    assert [titles(trace) for trace in traces] == [["Wren"], ["Jun"], ["Jun"], ["Jun"]]
    changed = replace(asked, chat=Chat((*chat[:-1], Message("Wren", "Well.")), "Wren", "Ottoline"))
    assert Simulator(asked).inputs[1] == Simulator(changed).inputs[1]
    assert Simulator(asked).inputs[2] != Simulator(changed).inputs[2]
    of_one = replace(asked, chat=replace(asked.chat, header={"character_name": "Jun"}, character_name="Jun"))
    assert [titles(trace) for trace in asyncio.run(Simulator(of_one).replay())] == [["Jun"]] * 4


def test_a_late_generation_runs_the_missing_ones_first() -> None:
    async def story() -> None:
        simulator = Simulator(project(LAMP, *CHAT))
        trace = await simulator.generate(Generation(4))
        assert list(simulator.traces) == [Generation(2, 0), Generation(2, 2), Generation(2, 1), Generation(4)]
        assert trace is simulator.traces[Generation(4)]
        assert titles(trace) == ["Lamp", "Tide"]

    asyncio.run(story())


def test_a_generation_that_was_run_is_not_run_again() -> None:
    async def story() -> None:
        simulator = Simulator(project(LAMP, *CHAT))
        first = await simulator.generate(Generation(2, 1))
        assert await simulator.generate(Generation(2, 1)) is first
        assert (await simulator.replay())[2] is first

    asyncio.run(story())


@pytest.mark.parametrize("unknown", [Generation(1), Generation(2, 7), Generation(9)])
def test_a_generation_that_the_chat_does_not_have(unknown: Generation) -> None:
    async def story() -> None:
        simulator = Simulator(project(LAMP, *CHAT))
        with pytest.raises(ValueError, match=f"no reply #{unknown.message} with swipe {unknown.swipe + 1}"):
            await simulator.generate(unknown)
        assert not simulator.traces

    asyncio.run(story())


def test_progress_is_reported_after_each_generation() -> None:
    async def story() -> None:
        simulator = Simulator(project(LAMP, *CHAT))
        seen: list[Progress] = []
        await simulator.run_missing(seen.append)
        assert seen == [Progress(done, 5, generation) for done, generation in enumerate(simulator.generations, start=1)]

    asyncio.run(story())


def test_cancel_keeps_what_is_done_and_a_later_replay_goes_on() -> None:
    async def story() -> None:
        simulator, token, seen = Simulator(project(LAMP, *CHAT)), CancelToken(), []

        def stop_after_two(progress: Progress) -> None:
            seen.append(progress.done)
            if progress.done == 2:
                token.cancel()

        with pytest.raises(Cancelled):
            await simulator.run_missing(stop_after_two, token)
        assert seen == [1, 2]
        assert len(simulator.traces) == 2
        kept = dict(simulator.traces)
        await simulator.run_missing(lambda progress: seen.append(progress.done))
        traces = tuple(simulator.traces.values())
        assert seen == [1, 2, 3, 4, 5]
        assert traces[:2] == tuple(kept.values())
        assert comparable(traces) == comparable(await Simulator(project(LAMP, *CHAT)).replay())

    asyncio.run(story())


def test_a_token_that_was_cancelled_before_stops_at_once() -> None:
    async def story() -> None:
        token = CancelToken()
        token.cancel()
        simulator = Simulator(project(LAMP, *CHAT))
        with pytest.raises(Cancelled):
            await simulator.run_missing(cancel=token)
        assert not simulator.traces

    asyncio.run(story())


def test_cancelling_the_task_stops_it_between_generations() -> None:
    async def story() -> None:
        simulator = Simulator(project(LAMP, *CHAT))
        task = asyncio.create_task(simulator.replay())
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert 0 < len(simulator.traces) < 5
        assert len(await simulator.replay()) == 5

    asyncio.run(story())


def test_two_replays_at_once_make_one_set_of_traces() -> None:
    async def story() -> None:
        simulator = Simulator(project(LAMP, *CHAT))
        one, two = await asyncio.gather(simulator.replay(), simulator.replay())
        assert one == two
        assert all(first is second for first, second in zip(one, two, strict=True))
        assert comparable(one) == comparable(await Simulator(project(LAMP, *CHAT)).replay())

    asyncio.run(story())


def test_the_same_seed_gives_the_same_traces_and_another_one_other_rolls() -> None:
    async def story() -> None:
        chat = [message for _ in range(6) for message in (user("Roll the dice."), reply("So be it."))]
        once, again, other = [await Simulator(project(LAMP, *chat, seed=seed)).replay() for seed in (11, 11, 12)]
        assert comparable(once) == comparable(again)
        assert [trace.draws for trace in once] != [trace.draws for trace in other]
        assert all(len(trace.draws) == 1 for trace in once)
        assert len({trace.draws for trace in once}) == len(once)  # the stream goes on from generation to generation

    asyncio.run(story())


def test_a_generation_begins_where_the_one_before_ended() -> None:
    async def story() -> None:
        chat = (
            user("The tide."),
            reply("1"),
            user("The tide."),
            reply("2"),
            user("The tide."),
            reply("3"),
            user("tide"),
        )
        traces = await Simulator(project(LAMP, *chat)).replay()
        assert [titles(trace) for trace in traces] == [["Tide"], [], [], ["Tide"]]

    asyncio.run(story())


def test_swipes_of_one_reply_begin_from_the_same_trackers() -> None:
    async def story() -> None:
        chat = (user("The tide."), reply("b", "a", "b", active=0), user("The tide."), reply("2"))
        traces = await Simulator(project(LAMP, *chat)).replay()
        assert [trace.turn.kind for trace in traces] == ["normal", "swipe", "normal", "normal"]
        assert [titles(trace) for trace in traces[:3]] == [["Tide"], ["Tide"], []]

    asyncio.run(story())


def test_the_reply_being_made_and_what_comes_after_it_are_not_seen() -> None:
    async def story() -> None:
        chat = (user("Hello."), reply("The lamp!"), user("And?"))
        first, second = await Simulator(project(LAMP, *chat)).replay()
        assert titles(first) == []
        assert titles(second) == ["Lamp"]

    asyncio.run(story())


def test_hidden_messages_are_not_seen_and_positions_are_those_of_the_file() -> None:
    async def story() -> None:
        chat = (Message("Wren", "A tide.", is_user=True, is_system=True), user("A lamp."))
        (trace,) = await Simulator(project(LAMP, *chat)).replay()
        assert titles(trace) == ["Lamp"]
        keywords = trace.stage("keywords")
        assert isinstance(keywords, StageRecord)
        (hit,) = keywords.with_outcome(Outcome.ADDED)
        assert hit.details["message"] == 1

    asyncio.run(story())


def test_a_project_without_a_chat_has_one_generation() -> None:
    async def story() -> None:
        index = vault(Sky=note("constant: true"))
        (trace,) = await Simulator(Project((), index, SETTINGS)).replay()
        assert titles(trace) == ["Sky"]

    asyncio.run(story())


def test_an_empty_vault_is_said_and_not_run() -> None:
    async def story() -> None:
        (trace,) = await Simulator(project(VaultIndex(), user("x"))).replay()
        assert (trace.outcome, trace.skip_reason) == (RunOutcome.SKIPPED, "empty_vault")

    asyncio.run(story())


def test_the_trackers_stored_with_a_chat_are_those_of_its_end_and_do_not_count() -> None:
    async def story() -> None:
        lamp = next(entry for entry in LAMP.entries if entry.title == "Lamp")
        logged = {"title": "Lamp", "pos": 1, "depth": 4, "role": 0, "contentHash": lamp.content_hash}
        metadata = {"deeplore_injection_log": [{"gen": 1, "entries": [logged]}]}
        plain = project(LAMP, user("A lamp."))
        assert plain.chat is not None
        stored = replace(plain, chat=replace(plain.chat, metadata=metadata), controls=ChatControls())
        assert comparable(await Simulator(stored).replay()) == comparable(await Simulator(plain).replay())

    asyncio.run(story())


def test_traces_cannot_be_changed_from_outside() -> None:
    simulator = Simulator(project(LAMP, *CHAT))
    with pytest.raises(TypeError):
        simulator.traces[Generation(0)] = None  # type: ignore[index]  # that is the point


def test_a_trace_survives_json(replayed: Simulator) -> None:
    for trace in replayed.traces.values():
        assert from_json(json.loads(json.dumps(to_json(trace)))) == trace


def test_lore_that_takes_much_of_the_context_is_warned_of_once() -> None:
    """Without a context size nobody can tell (rules: deeplore 6.8)."""
    index = vault(Lamp=note("constant: true", "Word " * 200))
    chat = (user("One."), reply("Two."), user("Three."))
    warned = asyncio.run(Simulator(project(index, *chat, context_size=1000)).replay())
    assert [len(trace.warnings) for trace in warned] == [1, 0]
    assert warned[0].warnings[0].startswith("Lore takes ")
    silent = asyncio.run(Simulator(project(index, *chat)).replay())
    assert [trace.warnings for trace in silent] == [(), ()]


# ---- other systems --------------------------------------------------------------------------------------------------


def swiped() -> Project:
    """Two replies, the first with three swipes of which the second is active; one note."""
    chat = Chat(
        (
            Message("Wren", "The lamp?", is_user=True),
            Message("Ada", "Lit.", swipe_id=1, swipes=("Out.", "Lit.", "Broken.")),
            Message("Wren", "Go on.", is_user=True),
            Message("Ada", "It burns."),
        ),
        "Wren",
        "Ada",
    )
    entries = (Entry(0, "Lamp.md", "vault", "Lamp", "It is of brass.", ("lamp",)),)
    return Project((), VaultIndex(entries, vaults=("vault",)), DeepLoreSettings(), chat)


@dataclass(frozen=True, slots=True)
class Remembering(System):
    """Its state is the list of the generations that it came through."""

    settings: Section = field(default_factory=Section)

    async def decide(self, moment: Moment, state: object = None) -> Decided:
        seen = (*(state if isinstance(state, tuple) else ()), (moment.turn.message, moment.turn.swipe))
        trace = Trace(self.name, "", RunOutcome.NOTHING_INJECTED, moment.turn, {}, 1, (), facts={"seen": repr(seen)})
        return Decided(trace, seen)


Remembering.kind = SystemKind(
    "remembering", "Remembering", "", Section, lambda settings, _scene: Remembering(settings), plain("remembering")
)


def test_a_swipe_begins_where_the_reply_began_and_the_chat_goes_on_from_the_active_one() -> None:
    traces = asyncio.run(Simulator(swiped(), Remembering()).replay())
    assert [trace.facts["seen"] for trace in traces] == [
        "((1, 0),)",
        "((1, 2),)",
        "((1, 1),)",
        "((1, 1), (3, 0))",
        "((1, 1), (3, 0), (4, 0))",
    ]


def test_a_part_is_run_and_the_rest_later() -> None:
    simulator = Simulator(swiped(), Remembering())
    told: list[Progress] = []
    trace = asyncio.run(simulator.generate(Generation(1, 1)))
    assert trace.turn.swipe == 1
    assert simulator.ran == 3
    asyncio.run(simulator.run_missing(told.append))
    assert [(each.done, each.total) for each in told] == [(4, 5), (5, 5)]
    assert list(simulator.traces) == list(simulator.generations)
    assert asyncio.run(simulator.generate(Generation(1, 1))) is trace
    with pytest.raises(ValueError, match="no reply #2"):
        asyncio.run(simulator.generate(Generation(2)))


def test_stopping_keeps_what_was_run() -> None:
    simulator, token = Simulator(swiped(), Remembering()), CancelToken()

    def stop(progress: Progress) -> None:
        if progress.done == 2:
            token.cancel()

    with pytest.raises(Cancelled):
        asyncio.run(simulator.run_missing(stop, token))
    assert simulator.ran == 2


def test_what_was_given_up_writes_nothing() -> None:
    simulator = Simulator(swiped(), Remembering())

    class GivingUp(Remembering):
        async def decide(self, moment: Moment, state: object = None) -> Decided:
            simulator.abandon()
            return await Remembering.decide(self, moment, state)

    simulator.system = GivingUp()
    with pytest.raises(Superseded):
        asyncio.run(simulator.replay())
    assert not simulator.traces


def test_entries_of_a_lorebook_are_not_taken_for_notes_of_the_vault(tmp_path: Path) -> None:
    book = tmp_path / "book.json"
    book.write_text(
        json.dumps({"entries": {"0": {"uid": 0, "key": ["lamp"], "position": 0, "content": "Old.", "comment": "Oil"}}})
    )
    kind = KINDS["world-info"]
    system = kind.make(WorldInfoSettings(book=str(book)), swiped().scene())
    first = asyncio.run(Simulator(swiped(), system).replay())[0]
    assert [injection.entry for injection in first.injections] == [FOREIGN_IDS]
    assert first.entries[FOREIGN_IDS].title == "Oil"


def test_entries_of_an_opened_lorebook_keep_their_numbers_beside_others(tmp_path: Path) -> None:
    """Also in the replies that name none of the other book, so that one entry has one number in a chat."""

    def book(name: str, **keys: str) -> Path:
        plain = {"position": 0, "content": "Old."}
        entries = {
            str(uid): {**plain, "uid": uid, "key": [keys[title]], "comment": title} for uid, title in enumerate(keys)
        }
        path = tmp_path / f"{name}.json"
        path.write_text(json.dumps({"entries": entries}))
        return path

    opened = open_project([str(book("Opened", Oil="lamp", Sea="tide", Dry="dust"))], None)
    project = replace(opened, chat=Chat(CHAT))
    kind = KINDS["world-info"]
    system = kind.make(WorldInfoSettings(book=str(book("Beside", Wick="lamp", Rope="knot"))), project.scene())
    simulator = Simulator(project, system)
    first, *_, last = asyncio.run(simulator.replay())
    assert {ref.title: ref.id for ref in first.entries.values() if ref.vault == "Opened"} == {"Oil": 0}
    assert {ref.title: ref.id for ref in last.entries.values()} == {"Sea": 1}
    assert {each.title: each.entry < FOREIGN_IDS for each in first.injections} == {"Oil": True, "Wick": False}
    assert Journeys(first).fate(2).reason == "wi_no_key"
    known = knowing_all(first, system, simulator.moment(simulator.generations[0]))
    numbers = {ref.title: ref.id for ref in known.entries.values()}
    assert [numbers.pop(title) for title in ("Oil", "Sea", "Dry")] == [0, 1, 2]
    assert min(numbers.values()) >= FOREIGN_IDS


def test_notes_of_the_vault_keep_their_numbers() -> None:
    kind = KINDS["world-info"]
    first = asyncio.run(Simulator(swiped(), kind.make(kind.settings(), swiped().scene())).replay())[0]
    assert [injection.entry for injection in first.injections] == [0]
