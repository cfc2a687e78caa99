"""Keeping what was run: traces and states survive a restart, an edit and a kill, and nothing stale is reused."""

from __future__ import annotations

import asyncio
import gzip
import json
import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from lorestudio.domain.chat import Chat, Generation, Message
from lorestudio.domain.entry import VaultIndex
from lorestudio.domain.records import replace
from lorestudio.domain.state import ChatControls, EngineState, EntryRule
from lorestudio.domain.tokens import CHARS_3_35, CHARS_4
from lorestudio.llm.messages import AnswerSource
from lorestudio.llm.stand_in import StandInAnswers
from lorestudio.settings.behaviour import fixed
from lorestudio.settings.deeplore import DeepLoreSettings
from lorestudio.studio.project.project import Project, demo_project
from lorestudio.studio.replay import run_store
from lorestudio.studio.replay.run_store import RunStore, chat_id
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.trace.model import Trace
from lorestudio.trace.storage.serialize import PackedTrace
from lorestudio.trace.storage.store import KEPT_RUNS
from lorestudio.vault.files import NoteFile, VaultFiles
from lorestudio.vault.index import build_index
from tests.scripted_answers import ScriptedAnswers
from tests.simulators import answered, reused
from tests.trace.examples import stored_run

SETTINGS = DeepLoreSettings(enabled=True, ai_search_enabled=True, ai_search_mode="ai-only")


def note(front: str, body: str = "Text.") -> str:
    return f"---\ntags: [lorebook]\n{front}\n---\n{body}\n"


def vault(**notes: str) -> VaultIndex:
    files = tuple(NoteFile(f"{name}.md", text) for name, text in notes.items())
    return build_index([VaultFiles("v", files)], SETTINGS, CHARS_4)


LAMP = vault(Lamp=note("keys: [lamp]\ncooldown: 2"), Tide=note("keys: [tide]"), Dice=note("probability: 0.5"))


def story(turns: int) -> tuple[Message, ...]:
    """A question and its reply, so many times."""
    return tuple(
        message
        for turn in range(turns)
        for message in (Message("Wren", f"A lamp {turn}.", is_user=True), Message("Ann", f"Reply {turn}."))
    )


def project(turns: int = 4, path: Path = Path("/chats/one.jsonl"), **changes: Any) -> Project:
    base = Project((), LAMP, SETTINGS, chat=Chat(story(turns), "Wren", "Ann"), chat_path=path, seed=7)
    return replace(base, **changes)


class Telling:
    """Answers in turn with these titles, and counts how often it was asked."""

    def __init__(self, *titles: str, name: str = "telling") -> None:
        self.titles, self.name, self.label, self.asked = titles or ("Lamp",), name, name, 0

    async def answer(self, request: Any) -> Any:
        title = self.titles[self.asked % len(self.titles)]
        self.asked += 1
        script = ScriptedAnswers({request.kind: [{"text": json.dumps([title])}]})
        return await script.answer(request)


def replayed(there: Project, answers: AnswerSource | None = None) -> Simulator:
    simulator = answered(there, answers)
    asyncio.run(simulator.replay())
    return simulator


def kept(folder: Path, there: Project, answers: AnswerSource | None = None) -> Simulator:
    """Replay a project and keep it."""
    simulator = replayed(there, answers)
    with RunStore(folder) as store:
        store.keep(simulator)
        assert store.problems == []
    return simulator


def restored(folder: Path, there: Project, answers: AnswerSource | None = None) -> tuple[Simulator, int, list[str]]:
    """A new start of the program: the simulator, how many generations it got back, and what there was to say."""
    simulator = answered(there, answers)
    with RunStore(folder) as store:
        count = store.restore(simulator)
        return simulator, count, store.problems


def in_order(simulator: Simulator) -> list[Trace]:
    return [simulator.traces[one] for one in simulator.generations if one in simulator.traces]


def states_file(folder: Path, there: Project) -> Path:
    return folder / f"{chat_id(there)}.states.json.gz"


def test_traces_and_states_survive_a_restart(tmp_path: Path) -> None:
    first = kept(tmp_path, project(), Telling())
    second, count, problems = restored(tmp_path, project(), Telling())
    assert (count, problems) == (5, [])
    assert in_order(second) == in_order(first)
    assert second.states == first.states


def test_what_is_restored_is_not_run_again(tmp_path: Path) -> None:
    kept(tmp_path, project(), Telling())
    answers = Telling()
    second, _, _ = restored(tmp_path, project(), answers)
    asyncio.run(second.replay())
    assert answers.asked == 0


def test_a_replay_goes_on_where_it_stopped(tmp_path: Path) -> None:
    """States and random numbers go on as if there had been no restart."""
    whole = replayed(project(), StandInAnswers())
    begun = answered(project(), StandInAnswers())
    asyncio.run(begun.generate(begun.generations[2]))
    with RunStore(tmp_path) as store:
        store.keep(begun)
    second, count, _ = restored(tmp_path, project(), StandInAnswers())
    assert count == 3
    asyncio.run(second.replay())
    assert second.states == whole.states
    assert [trace.draws for trace in in_order(second)] == [trace.draws for trace in in_order(whole)]


def test_the_demo_survives(tmp_path: Path, replayed: Simulator) -> None:
    with RunStore(tmp_path) as store:
        store.keep(replayed)
    second, count, problems = restored(tmp_path, demo_project())
    assert (count, problems) == (len(replayed.generations), [])
    assert dict(second.traces) == dict(replayed.traces)
    assert second.states == replayed.states


def test_nothing_kept_is_nothing_to_say(tmp_path: Path) -> None:
    simulator, count, problems = restored(tmp_path, project())
    assert (count, problems, dict(simulator.traces)) == (0, [], {})


def test_chats_are_kept_apart(tmp_path: Path) -> None:
    kept(tmp_path, project(turns=2), Telling())
    kept(tmp_path, project(turns=3, path=Path("/chats/two.jsonl")), Telling())
    assert restored(tmp_path, project(turns=2), Telling())[1] == 3
    assert restored(tmp_path, project(turns=3, path=Path("/chats/two.jsonl")), Telling())[1] == 4
    assert restored(tmp_path, project(turns=2, path=Path("/chats/three.jsonl")), Telling())[1] == 0


# What changed, and what may be reused


def edited(place: int, **changes: Any) -> Project:
    messages = list(story(4))
    messages[place] = replace(messages[place], **changes)
    there = project()
    assert there.chat is not None
    return replace(there, chat=replace(there.chat, messages=tuple(messages)))


@pytest.mark.parametrize(
    ("there", "count"),
    [
        (project(turns=5), 4),  # the chat went on: the reply to come is another place
        (project(turns=3), 3),  # it was shortened
        (edited(7, text="Other."), 4),  # the last reply: only the generation after it
        (edited(6, text="Other."), 3),
        (edited(4, text="Other."), 2),
        (edited(0, text="Other."), 0),
        (edited(5, name="Bob"), 2),  # a group now: who speaks is the active character of that reply
        (edited(5, is_thoughts=True), 2),  # no reply any more: another list of generations
        (edited(4, is_system=True), 2),
        (edited(4, extra={"type": "narrator"}), 2),
        (edited(4, extra={"tool_invocations": []}), 2),
        (edited(4, extra={"other": 1}, send_date="today"), 5),  # what no run reads
    ],
)
def test_an_edit_keeps_what_came_before_it(tmp_path: Path, there: Project, count: int) -> None:
    first = kept(tmp_path, project(), Telling())
    second, got, _ = restored(tmp_path, there, Telling())
    assert got == count
    assert in_order(second) == in_order(first)[:count]
    asyncio.run(second.replay())
    assert second.states == replayed(there, Telling()).states


@pytest.mark.parametrize(
    "changes",
    [
        {"settings": SETTINGS.model_copy(update={"max_entries": 3})},
        {"behaviour": fixed(["guide_leak"])},
        {"seed": 8},
        {"context_size": 4096},
        {"counter": CHARS_3_35},
        {"controls": ChatControls(pins=(EntryRule("Tide"),))},
        {"controls": ChatControls(context={"era": "old"})},
        {"controls": ChatControls(notebook="N")},
        {"index": vault(Lamp=note("keys: [lamp]\ncooldown: 3"))},
        {"chat": Chat(story(4), "Wren", "Bob")},
    ],
    ids=",".join,
)
def test_with_another_input_nothing_is_reused(tmp_path: Path, changes: dict[str, Any]) -> None:
    kept(tmp_path, project(), Telling())
    assert restored(tmp_path, project(**changes), Telling())[1] == 0


def test_another_answer_source_or_model_does_not_reuse(tmp_path: Path) -> None:
    kept(tmp_path, project(), Telling(name="one"))
    assert restored(tmp_path, project(), Telling(name="two"))[1] == 0
    simulator = answered(project(), Telling(name="one"), model="other")
    with RunStore(tmp_path) as store:
        assert store.restore(simulator) == 0
    assert restored(tmp_path, project(), Telling(name="one"))[1] == 5


def test_notes_of_later_replies_decide_about_earlier_notepads(tmp_path: Path) -> None:
    """A generation begins with the notepad without what later replies added, so their notes are an input of it."""
    controls = ChatControls(notepad="first\nsecond")
    kept(tmp_path, project(controls=controls), Telling())
    there = edited(7, extra={"deeplore_ai_notes": "second"})
    assert restored(tmp_path, replace(there, controls=controls), Telling())[1] == 0


def test_going_back_to_what_was_before_reuses_what_is_kept(tmp_path: Path) -> None:
    kept(tmp_path, project(), Telling())
    restored(tmp_path, edited(0, text="Other."), Telling())  # looked at, but nothing was kept
    assert restored(tmp_path, project(), Telling())[1] == 5


def test_what_was_run_again_takes_the_place_of_what_was_kept(tmp_path: Path) -> None:
    kept(tmp_path, project(), Telling())
    changed = edited(4, text="Other.")
    second, _, _ = restored(tmp_path, changed, Telling())
    asyncio.run(second.replay())
    with RunStore(tmp_path) as store:
        store.keep(second)
    third, count, _ = restored(tmp_path, changed, Telling())
    assert count == 5
    assert (in_order(third), third.states) == (in_order(second), second.states)


def test_a_fresh_run_on_the_same_inputs_is_kept_with_its_own_traces(tmp_path: Path) -> None:
    """A person may ask a provider anew; states and traces must be of the same run."""
    kept(tmp_path, project(), Telling("Lamp"))
    fresh = kept(tmp_path, project(), Telling("Tide"))
    second, count, _ = restored(tmp_path, project(), Telling())
    assert count == 5
    assert (in_order(second), second.states) == (in_order(fresh), fresh.states)
    assert [one.title for one in in_order(second)[0].injections] == ["Tide"]


def test_a_run_that_got_less_far_leaves_the_rest_kept(tmp_path: Path) -> None:
    first = kept(tmp_path, project(), Telling())
    second, _, _ = restored(tmp_path, project(), Telling())
    second.rewind(2)
    with RunStore(tmp_path) as store:
        store.keep(second)
        store.keep(answered(project(), Telling()))  # one that was cancelled before its first generation
    third, count, _ = restored(tmp_path, project(), Telling())
    assert (count, third.states) == (5, first.states)


def test_after_a_generation_that_came_out_otherwise_the_rest_is_void(tmp_path: Path) -> None:
    kept(tmp_path, project(), Telling("Lamp"))
    fresh = answered(project(), Telling("Tide"))
    asyncio.run(fresh.generate(fresh.generations[1]))
    with RunStore(tmp_path) as store:
        store.keep(fresh)
    assert restored(tmp_path, project(), Telling())[1] == 2


def test_keeping_twice_stores_each_trace_once(tmp_path: Path) -> None:
    simulator = kept(tmp_path, project(), Telling())
    with RunStore(tmp_path) as store:
        store.keep(simulator)
        runs = [
            len(store._store.history(chat_id(simulator.project), one.message, one.swipe, "deeplore"))
            for one in simulator.generations
        ]
    assert runs == [1] * 5


def test_what_was_not_run_again_is_not_stored_again(tmp_path: Path) -> None:
    kept(tmp_path, project(), Telling("Lamp"))
    second, _, _ = restored(tmp_path, project(), Telling("Tide"))
    second.rewind(2)
    asyncio.run(second.replay())
    with RunStore(tmp_path) as store:
        store.keep(second)
        stored = [
            store._store.history(chat_id(project()), one.message, one.swipe, "deeplore") for one in second.generations
        ]
    assert [len(runs) for runs in stored] == [1, 1, 2, 2, 2]


def test_only_a_tool_call_at_the_end_of_the_chat_is_an_input_of_a_message_that_nobody_reads(tmp_path: Path) -> None:
    """A thought is not searched either way, but with a tool call it ends the generation before it begins."""
    thought = edited(7, is_thoughts=True)
    kept(tmp_path, thought, Telling())
    tool = edited(7, is_thoughts=True, extra={"tool_invocations": [{}]})
    second, count, _ = restored(tmp_path, tool, Telling())
    assert count == len(second.generations) - 1
    asyncio.run(second.replay())
    assert in_order(second)[-1].skip_reason == "tool_or_system_tail"


# Which reply they are of


def test_runs_of_another_reply_that_had_the_number_are_left_out(tmp_path: Path) -> None:
    """After two messages were deleted, #3 answers what #4 said, and there is no #7 and no reply to come #8."""
    messages = [replace(each, send_date=f"2024-10-0{1 + place}") for place, each in enumerate(story(4))]
    whole = project(chat=Chat(tuple(messages), "Wren", "Ann"))
    before = kept(tmp_path, whole, Telling())
    shorter = project(chat=Chat(tuple(messages[2:]), "Wren", "Ann"))
    messages[2] = replace(messages[2], text="Another lamp.")
    rewritten = project(chat=Chat(tuple(messages), "Wren", "Ann"))
    with RunStore(tmp_path) as store:
        assert store.history(shorter, Generation(3)) == store.latest(shorter) == ()
        assert [run.turn.message for run in store.history(rewritten, Generation(3))] == [3], "it is the same reply"
        simulator = replayed(shorter, Telling())
        store.keep(simulator)
        assert [run.turn.message for run in store.latest(shorter)] == [1, 3, 5, 6]
        assert [run.turn.message for run in store.latest(whole)] == [1, 3, 5, 7, 8], "the deletion was taken back"
        assert store.history(whole, Generation(3)) == (before.traces[Generation(3)],)
        assert store.history(shorter, Generation(3)) == (simulator.traces[Generation(3)],)


def test_a_run_that_does_not_say_what_it_answers_is_shown_where_its_number_is(tmp_path: Path) -> None:
    made = replayed(project(), Telling())
    with RunStore(tmp_path) as store:
        store._store.add_runs(chat_id(project()), map(stored_run, in_order(made)))
        assert [run.turn.message for run in store.latest(project(turns=2))] == [1, 3]
        assert len(store.history(project(turns=2), Generation(3))) == 1


# What is deleted


def test_runs_of_chats_that_are_gone_are_deleted(tmp_path: Path) -> None:
    story_of, kept_in = [tmp_path / name for name in ("one.jsonl", "two.jsonl", "three.jsonl")], tmp_path / "runs"
    for path in story_of:
        path.touch()
        kept(kept_in, project(path=path), Telling())
    old = states_file(kept_in, project(path=story_of[2]))  # as an earlier version wrote it
    told = json.loads(gzip.decompress(old.read_bytes()))
    del told["chat"]
    old.write_bytes(gzip.compress(json.dumps(told).encode()))
    story_of[1].unlink()
    story_of[2].unlink()
    with RunStore(kept_in) as store:
        before = store.size
        done = store.prune()
        assert (done.runs, done.chats, done.unknown) == (5, 1, 1)
        assert done.size == before - store.size > 0
        assert [sum(store.counts(project(path=path)).values()) for path in story_of] == [5, 0, 5]
        assert (store.prune().chats, store.prune().size) == (0, 0)
    assert [states_file(kept_in, project(path=path)).exists() for path in story_of] == [True, False, True]
    assert restored(kept_in, project(path=story_of[0]), Telling())[1] == 5


def test_runs_of_a_chat_that_was_moved_are_not_deleted(tmp_path: Path) -> None:
    here, there = tmp_path / "here.jsonl", tmp_path / "there.jsonl"
    here.touch()
    kept(tmp_path / "runs", project(path=here), Telling())
    here.rename(there)
    with RunStore(tmp_path / "runs") as store:
        store.move(chat_id(project(path=here)), chat_id(project(path=there)))
        assert (store.prune().runs, store.prune().unknown) == (0, 1)
    assert restored(tmp_path / "runs", project(path=there), Telling())[1] == 5


# How much is kept


def runs_of(store: RunStore, simulator: Simulator) -> list[int]:
    chat = chat_id(simulator.project)
    return [len(store._store.history(chat, one.message, one.swipe, "deeplore")) for one in simulator.generations]


def test_only_the_newest_runs_are_kept(tmp_path: Path) -> None:
    """Whoever asks a provider anew all evening gets the last runs, and a file that does not grow."""
    with RunStore(tmp_path) as store:
        for number in range(KEPT_RUNS + 3):
            simulator = replayed(project(turns=1), Telling("Lamp" if number % 2 else "Tide"))
            store.keep(simulator)
        assert runs_of(store, simulator) == [KEPT_RUNS] * 2
        assert store.problems == []
    again, count, _ = restored(tmp_path, project(turns=1), Telling())
    assert (count, in_order(again), again.states) == (2, in_order(simulator), simulator.states)


def test_what_the_states_refer_to_is_never_dropped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As long as the states cannot be written, the older run that they belong to stays, however many come after it."""
    first = kept(tmp_path, project(turns=1), Telling("Lamp"))

    def full(*_: object, **_how: object) -> None:
        raise OSError(28, "No space left on device")

    with RunStore(tmp_path) as store:
        monkeypatch.setattr(run_store, "write_atomically", full)
        for number in range(KEPT_RUNS + 3):
            with pytest.raises(OSError, match="No space"):
                store.keep(replayed(project(turns=1), Telling("Tide" if number % 2 else "Dice")))
        monkeypatch.undo()
        again = answered(project(turns=1), Telling())
        assert store.restore(again) == 2
        assert (in_order(again), again.states) == (in_order(first), first.states)
        last = replayed(project(turns=1), Telling("Tide"))
        store.keep(last)
        assert runs_of(store, last) == [KEPT_RUNS] * 2
    assert restored(tmp_path, project(turns=1), Telling())[0].states == last.states


def test_generations_that_were_not_run_again_are_left_alone(tmp_path: Path) -> None:
    kept(tmp_path, project(), Telling())
    with RunStore(tmp_path) as store:
        for _ in range(KEPT_RUNS + 2):
            simulator = answered(project(), Telling())
            store.restore(simulator)
            simulator.rewind(4)
            asyncio.run(simulator.replay())
            store.keep(simulator)
        assert runs_of(store, simulator) == [1, 1, 1, 1, KEPT_RUNS]
        assert store.restore(answered(project(), Telling())) == 5


# What is damaged


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"no gzip", "Not a gzipped file"),
        (b"", "Expecting value"),
        (gzip.compress(b"no json"), "Expecting value"),
        (gzip.compress(b"[]"), "it holds no states"),
        (gzip.compress(b'{"version": 999}'), "it was written by another version"),
        (gzip.compress(b'{"version": 6}'), "it has no 'counts'"),
        (gzip.compress(b'{"version": 6, "counts": {"random_state": ""}, "inputs": [], "marks": []}'), "counts.random"),
        (gzip.compress(b'{"version": 6, "counts": null, "inputs": ["a"], "marks": []}'), "its lists differ in length"),
        (gzip.compress(b'{"version": 6, "counts": null, "inputs": 5, "marks": []}'), "not iterable"),
        (gzip.compress(b"[" * 100_000), "recursion"),
        (gzip.compress(b'{"version": 6}')[:-6], "ended before"),
        (gzip.compress(b"x" * 999, mtime=0)[:20] + b"\xff" * 9, ""),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_damaged_file_of_states_is_reported_and_replaced(tmp_path: Path, data: bytes, reason: str) -> None:
    kept(tmp_path, project(), Telling())
    path = states_file(tmp_path, project())
    path.write_bytes(data)
    simulator, count, problems = restored(tmp_path, project(), Telling())
    assert count == 0
    (problem,) = problems
    assert str(path) in problem
    assert reason in problem
    assert problem.endswith("its chat is replayed from the beginning.")
    asyncio.run(simulator.replay())
    with RunStore(tmp_path) as store:
        store.keep(simulator)
    assert restored(tmp_path, project(), Telling())[1:] == (5, [])


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
def test_nobody_waits_for_what_a_pipe_in_place_of_the_states_would_say(tmp_path: Path) -> None:
    kept(tmp_path, project(), Telling())
    (path := states_file(tmp_path, project())).unlink()
    os.mkfifo(path)
    _, count, problems = restored(tmp_path, project())
    assert (count, [str(path) in problem for problem in problems]) == (0, [True])


def test_a_problem_is_told_once(tmp_path: Path) -> None:
    kept(tmp_path, project(), Telling())
    states_file(tmp_path, project()).write_bytes(b"x")
    with RunStore(tmp_path) as store:
        for _ in range(3):
            store.restore(answered(project(), Telling()))
        assert len(store.problems) == 1


def test_an_unreadable_file_of_states_is_reported(tmp_path: Path) -> None:
    states_file(tmp_path, project()).mkdir(parents=True)
    _, count, problems = restored(tmp_path, project())
    assert count == 0
    assert "cannot be read" in problems[0]


def test_a_lost_trace_store_is_begun_anew(tmp_path: Path) -> None:
    kept(tmp_path, project(), Telling())
    (tmp_path / "traces.sqlite").write_bytes(b"no database" * 99)
    simulator, count, problems = restored(tmp_path, project(), Telling())
    assert count == 0
    assert "was damaged" in problems[0]
    asyncio.run(simulator.replay())
    with RunStore(tmp_path) as store:
        store.keep(simulator)
    assert restored(tmp_path, project(), Telling())[1:] == (5, [])


def test_a_store_that_is_lost_while_the_program_runs_gets_everything_again(tmp_path: Path) -> None:
    simulator = kept(tmp_path, project(), Telling())
    (tmp_path / "traces.sqlite").unlink()
    with RunStore(tmp_path) as store:
        store.keep(simulator)
    assert restored(tmp_path, project(), Telling())[1:] == (5, [])


def test_a_trace_that_cannot_be_read_ends_what_is_restored(tmp_path: Path) -> None:
    first = kept(tmp_path, project(), Telling())
    with RunStore(tmp_path) as store:
        store._store._connection.execute("UPDATE traces SET trace = x'00' WHERE message = 5")
    simulator, count, problems = restored(tmp_path, project(), Telling())
    assert count == 2
    assert simulator.states == first.states[:2]
    assert "message 5" in problems[0]


def test_when_the_disk_fails_what_was_kept_before_is_still_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = kept(tmp_path, project(turns=2), Telling())
    longer = replayed(project(turns=3), Telling())

    def full(*_: Any, **_how: Any) -> None:
        raise OSError("no space left")

    with RunStore(tmp_path) as store:
        monkeypatch.setattr("lorestudio.studio.replay.run_store.write_atomically", full)
        with pytest.raises(OSError, match="no space left"):
            store.keep(longer)
    monkeypatch.undo()
    second, count, _ = restored(tmp_path, project(turns=2), Telling())
    assert count == 3
    assert (in_order(second), second.states) == (in_order(first), first.states)


KILLED = """
import asyncio, os, signal, sys
from pathlib import Path
import lorestudio.studio.replay.run_store as run_store
from lorestudio.studio.project.project import demo_project
from lorestudio.studio.replay.simulator import Simulator
folder, at = Path(sys.argv[1]), sys.argv[2]
simulator = Simulator(demo_project())
asyncio.run(simulator.replay())
first = Simulator(demo_project())
asyncio.run(first.generate(first.generations[2]))

def die(*_, **_how):
    os.kill(os.getpid(), signal.SIGKILL)

with run_store.RunStore(folder) as store:
    store.keep(first)
    if at == "before the traces":
        store._store.add_runs = die
    elif at == "between":
        run_store.write_atomically = die
    elif at == "while the states are written":
        from lorestudio.settings import files
        files.os.fsync = die
    store.keep(simulator)
    die()
"""


@pytest.mark.long
@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
@pytest.mark.parametrize(
    ("at", "count"),
    [("before the traces", 3), ("between", 3), ("while the states are written", 3), ("afterwards", None)],
)
def test_a_kill_in_the_middle_of_keeping(tmp_path: Path, replayed: Simulator, at: str, count: int | None) -> None:
    """Whatever the moment, what is restored is whole, and the replay goes on from there."""
    script = tmp_path / "killed.py"
    script.write_text(textwrap.dedent(KILLED), "utf-8")
    folder = tmp_path / "runs"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    ended = subprocess.run(  # noqa: S603  # our own script
        [sys.executable, str(script), str(folder), at], capture_output=True, text=True, env=environment, check=False
    )
    assert ended.returncode == -signal.SIGKILL, ended.stderr
    second, got, problems = restored(folder, demo_project())
    assert (got, problems) == (len(replayed.generations) if count is None else count, [])
    assert second.states == replayed.states[:got]
    asyncio.run(second.replay())
    assert second.states == replayed.states
    with RunStore(folder) as store:
        store.keep(second)
    assert restored(folder, demo_project())[1] == len(replayed.generations)


# Names


def test_a_chat_is_kept_by_its_file_or_by_its_vaults(tmp_path: Path) -> None:
    bare = replace(project(), chat=None, chat_path=None, places=("/a", "/b"))
    names = [chat_id(one) for one in (project(), project(path=Path("/x.jsonl")), bare)]
    names += [chat_id(replace(bare, places=("/b", "/a"))), chat_id(replace(bare, places=()))]
    assert len(set(names)) == 5
    assert chat_id(project(turns=1)) == names[0]
    assert all(len(name) == 24 for name in names)


def rows(states: Sequence[EngineState]) -> list[int]:
    return [state.counters.generation_count for state in states]


def test_titles_with_halves_of_characters_are_kept_too(tmp_path: Path) -> None:
    """A model may name a title that no text file could hold; keeping must not fail over it."""
    simulator = kept(tmp_path, project(turns=1), Telling("\ud800", "Lamp"))
    second, count, _ = restored(tmp_path, project(turns=1), Telling())
    assert count == 2
    assert in_order(second) == in_order(simulator)
    assert rows(second.states) == [1, 2]


def test_a_chat_whose_name_is_no_text_has_runs_too() -> None:
    odd = replace(demo_project(), chat_path=Path(os.fsdecode(b"/bad\xff.jsonl")))
    assert len(chat_id(odd)) == 24


# What is not looked at


def test_restoring_and_going_on_after_an_edit_unpacks_no_trace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept(tmp_path, project(), Telling())
    opened: list[PackedTrace] = []
    really = PackedTrace.opened
    monkeypatch.setattr(PackedTrace, "opened", lambda packed: opened.append(packed) or really(packed))
    second, count, _ = restored(tmp_path, project(), Telling())
    assert (count, opened) == (5, [])
    third = answered(edited(7, text="Other."), Telling(), earlier=(second,))
    asyncio.run(third.run_missing())
    assert (third.ran, reused(third), opened) == (1, 4, [])
    with RunStore(tmp_path) as store:
        store.keep(third)
    assert opened == []
    assert third.states == replayed(edited(7, text="Other."), Telling()).states


def test_what_was_taken_over_is_kept_under_the_names_of_its_own_inputs(tmp_path: Path) -> None:
    first = replayed(project(), StandInAnswers())
    there = project(settings=SETTINGS.model_copy(update={"scribe_folder": "Elsewhere"}))
    second = answered(there, StandInAnswers(), earlier=(first,))
    asyncio.run(second.run_missing())
    assert reused(second) == 5
    with RunStore(tmp_path) as store:
        store.keep(first)
        store.keep(second)
        last = store.latest(there)
    assert [trace.digests["inputs"] for trace in last] == list(second.inputs)
    assert list(second.inputs) != list(first.inputs)
    third, count, _ = restored(tmp_path, there, StandInAnswers())
    assert (count, in_order(third), third.states) == (5, in_order(second), second.states)


def test_a_damaged_state_ends_what_is_restored(tmp_path: Path) -> None:
    first = kept(tmp_path, project(), Telling())
    with RunStore(tmp_path) as store:
        store._store._connection.execute("UPDATE traces SET after = x'00' WHERE message = 5")
    simulator, count, problems = restored(tmp_path, project(), Telling())
    assert (count, simulator.states) == (2, first.states[:2])
    assert "message 5" in problems[0]
