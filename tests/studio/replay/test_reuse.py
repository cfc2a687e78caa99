"""Incremental replay against full replay, in random worlds and in plain cases."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lorestudio.domain.chat import Chat, Generation, Message
from lorestudio.domain.entry import VaultIndex
from lorestudio.domain.records import replace
from lorestudio.domain.state import ChatControls, EngineState, EntryRule
from lorestudio.domain.tokens import CHARS_4
from lorestudio.llm.errors import ErrorKind, LlmError
from lorestudio.settings.behaviour import fixed
from lorestudio.settings.deeplore import DeepLoreSettings
from lorestudio.studio.project.project import Project
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.trace.model import Trace
from lorestudio.trace.storage.serialize import to_json
from lorestudio.vault.files import NoteFile, VaultFiles
from lorestudio.vault.index import build_index
from tests.examples import examples
from tests.simulators import answered, reused

WORDS = ("lamp", "tide", "dice", "gull", "rope")
BASE = DeepLoreSettings(enabled=True, scan_depth=2, new_chat_threshold=1)


def note(front: str, body: str = "Text.") -> str:
    return f"---\ntags: [lorebook]\n{front}\n---\n{body}\n"


def vault(notes: dict[str, str]) -> VaultIndex:
    files = tuple(NoteFile(f"{name}.md", text) for name, text in notes.items())
    return build_index([VaultFiles("v", files)], BASE, CHARS_4)


def user(text: str) -> Message:
    return Message("Wren", text, is_user=True)


def reply(text: str, *swipes: str, active: int = 0) -> Message:
    return Message("Ottoline", text, swipe_id=active if swipes else None, swipes=swipes)


def project(notes: dict[str, str], messages: Sequence[Message], **changes: Any) -> Project:
    return Project((), vault(notes), **{"settings": BASE, "chat": Chat(tuple(messages), "Wren", "Gull")} | changes)


def comparable(simulator: Simulator) -> tuple[list[dict[str, Any]], list[EngineState]]:
    """Traces without the time that stages took, and the states."""

    def still(trace: Trace) -> Trace:
        calls = tuple(replace(call, duration_ms=0.0) for call in trace.ai_calls)
        return replace(trace, stages=tuple(replace(one, duration_ms=0.0) for one in trace.stages), ai_calls=calls)

    traces = [to_json(still(simulator.traces[one])) for one in simulator.generations]
    return traces, list(simulator.states)


def replayed(there: Project, *earlier: Simulator) -> Simulator:
    simulator = Simulator(there, earlier=earlier)
    asyncio.run(simulator.replay())
    return simulator


def again(before: Project, after: Project) -> Simulator:
    """`after` replayed from what is known of `before`; the outcome is that of a full replay."""
    simulator = replayed(after, replayed(before))
    assert comparable(simulator) == comparable(replayed(after))
    return simulator


NOTES = {
    "Always": note("constant: true", "There is a sea."),
    "Lamp": note("keys: [lamp]", "It burns. The rope is near."),
    "Tide": note("keys: [tide]"),
    "Rope": note("keys: [rope]\nsummary: A rope."),
    "Gull": note("keys: [gull]"),
}
CHAT = [
    reply("Early."),
    user("A lamp."),
    reply("It is dark."),
    user("The tide."),
    reply("Cold."),
    user("The sea."),
    reply("Far."),
    user("We go."),
    reply("Home."),
]
"""Replies 2, 4, 6 and 8, and the one to come."""


def test_nothing_is_run_where_nothing_changed() -> None:
    there = project(NOTES, CHAT)
    assert again(there, there).ran == 0


def test_an_edited_message_leaves_what_was_before_it_and_what_no_longer_sees_it() -> None:
    other = [*CHAT[:3], user("The gull."), *CHAT[4:]]
    simulator = again(project(NOTES, CHAT), project(NOTES, other))
    # Of replies 4, 6, 8 and the next one only 4 scans message 3 (depth 2). What it injected is in the state before 6:
    # the prompts, and the streaks of what was injected in a row. 6 injects the same either way, so 8 begins as before.
    assert (simulator.ran, reused(simulator)) == (2, 3)


def test_what_differs_only_in_counts_and_comes_out_the_same_is_kept_with_its_counts_renewed() -> None:
    other = [*CHAT[:3], user("The gull."), *CHAT[4:]]
    simulator = again(project(NOTES, CHAT), project(NOTES, other))
    counts = simulator.states[-1].chat_counts
    assert counts["v:Gull"] == 1
    assert "v:Tide" not in counts


def test_an_edit_of_what_no_run_reads_runs_nothing() -> None:
    notes = NOTES | {"Rope": note("keys: [rope]\nsummary: Another summary.")}
    assert again(project(NOTES, CHAT), project(notes, CHAT)).ran == 0


def test_an_edited_text_runs_only_the_generations_that_looked_at_the_note() -> None:
    notes = NOTES | {"Tide": note("keys: [tide]", "Another text.")}
    simulator = again(project(NOTES, CHAT), project(notes, CHAT))
    assert (simulator.ran, reused(simulator)) == (2, 3)  # reply 4, and 6 because the prompts before it differ


def test_a_new_key_runs_only_the_generations_whose_window_holds_it() -> None:
    notes = NOTES | {"Gull": note("keys: [gull, home]")}
    simulator = again(project(NOTES, CHAT), project(notes, CHAT))
    assert (simulator.ran, reused(simulator)) == (1, 4)  # only the reply to come sees message 8


def test_a_new_key_that_only_a_recursed_text_holds() -> None:
    recursive = BASE.model_copy(update={"recursive_scan": True})
    notes = NOTES | {"Gull": note("keys: [gull, burns]")}
    simulator = again(project(NOTES, CHAT, settings=recursive), project(notes, CHAT, settings=recursive))
    assert [i.title for i in simulator.traces[Generation(2)].injections] == ["Always", "Gull", "Lamp", "Rope"]
    assert reused(simulator) == 3  # reply 2, and 4 because the state before it differs, were run


@pytest.mark.parametrize(
    "change",
    [
        {"ai_search_max_tokens": 512},
        {"cache_ttl": 7},
        {"ai_notepad_max_tokens": 999},
        {"ai_confidence_threshold": "high"},
    ],
)
def test_a_setting_that_no_stage_of_the_mode_reads_runs_nothing(change: dict[str, Any]) -> None:
    other = BASE.model_copy(update=change)
    assert again(project(NOTES, CHAT), project(NOTES, CHAT, settings=other)).ran == 0


def test_a_setting_that_a_stage_reads_runs_everything() -> None:
    other = BASE.model_copy(update={"max_entries": 1})
    assert again(project(NOTES, CHAT), project(NOTES, CHAT, settings=other)).ran == 5


def test_without_rolls_the_random_numbers_do_not_matter_and_with_rolls_they_do() -> None:
    dice = NOTES | {"Dice": note("keys: [sea]\nprobability: 0.5")}
    other = [reply("Early."), user("The sea."), *CHAT[2:]]  # one roll more at the beginning
    simulator = again(project(dice, CHAT), project(dice, other))
    run = {Generation(2), Generation(4), Generation(6)}
    assert simulator.ran >= len(run)


def test_undoing_an_edit_takes_all_from_before_it() -> None:
    first, second = project(NOTES, CHAT), project(NOTES, [*CHAT[:3], user("The gull."), *CHAT[4:]])
    original = replayed(first)
    edited = replayed(second, original)
    undone = replayed(first, edited, original)
    assert undone.ran == 0
    assert comparable(undone) == comparable(original)


def test_a_stopped_replay_leaves_the_older_one_to_take_from() -> None:
    there = project(NOTES, CHAT)
    original = replayed(there)
    stopped = Simulator(there, earlier=(original,))
    asyncio.run(stopped.generate(Generation(2)))
    assert replayed(there, stopped, original).ran == 0


def test_progress_counts_what_is_kept_as_done() -> None:
    other = project(NOTES, [*CHAT[:-1], reply("Gone.")])
    simulator = Simulator(other, earlier=(replayed(project(NOTES, CHAT)),))
    seen: list[tuple[int, int]] = []
    asyncio.run(simulator.run_missing(lambda progress: seen.append((progress.done, reused(simulator)))))
    assert seen == [(1, 1), (2, 2), (3, 3), (4, 4), (5, 4)]


def test_after_release_everything_is_run() -> None:
    there = project(NOTES, CHAT)
    simulator = Simulator(there, earlier=(replayed(there),))
    simulator.release()
    asyncio.run(simulator.replay())
    assert simulator.ran == 5


class Failing:
    """A model that is not there."""

    name = label = "failing"
    waits = False

    async def answer(self, _request: object) -> Any:
        raise LlmError(ErrorKind.CONNECTION, "no line", who="failing")


def test_a_failed_question_is_asked_again() -> None:
    asking = BASE.model_copy(update={"ai_search_enabled": True})
    there = project(NOTES, CHAT[:3], settings=asking)
    first = answered(there, Failing())
    asyncio.run(first.replay())
    failed = [trace for trace in first.traces.values() if trace.facts.get("ai_error")]
    second = answered(there, Failing(), earlier=(first,))
    asyncio.run(second.replay())
    assert failed
    assert second.ran >= len(failed)


# ---- random worlds --------------------------------------------------------------------------------------------------

word = st.sampled_from(WORDS)
sentence = st.lists(word, max_size=3).map(lambda words: f"So {' and '.join(words)}.")
FRONTS = """
cooldown: 2|probability: 0.5|constant: true|bootstrap: true|warmup: 2|scanDepth: 1|scanDepth: 4|priority: 5
excludeRecursion: true|summary: Words.|position: before|requires: [Note0]|excludes: [Note1]|cascade_links: [Note2]
era: night|refine_keys: [rope]|||||
"""
fronts = st.sampled_from(FRONTS.strip().replace("\n", "|").split("|"))


@st.composite
def notes(draw: st.DrawFn) -> dict[str, str]:
    found = {}
    for number in range(draw(st.integers(1, 5))):
        keys = draw(st.lists(word, min_size=1, max_size=2, unique=True))
        found[f"Note{number}"] = note(f"keys: [{', '.join(keys)}]\n{draw(fronts)}", draw(sentence))
    return found


@st.composite
def swiped(draw: st.DrawFn) -> Message:
    texts = draw(st.lists(sentence, min_size=2, max_size=2))
    active = draw(st.integers(0, 1))
    return reply(texts[active], *texts, active=active)


said = st.one_of(
    sentence.map(user),
    sentence.map(reply),
    swiped(),
    sentence.map(lambda text: Message("Wren", text, is_user=True, is_system=True)),
    sentence.map(lambda text: Message("Narrator", text, extra={"type": "narrator"})),
)


@st.composite
def messages(draw: st.DrawFn) -> list[Message]:
    return [reply("Early."), *draw(st.lists(said, max_size=5))]


chosen = st.fixed_dictionaries(
    {},
    optional={
        "scan_depth": st.sampled_from([0, 1, 2, 100]),
        "recursive_scan": st.booleans(),
        "match_whole_words": st.booleans(),
        "case_sensitive": st.booleans(),
        "fuzzy_search_enabled": st.booleans(),
        "character_context_scan": st.booleans(),
        "keyword_occurrence_weighting": st.booleans(),
        "reinjection_cooldown": st.integers(0, 2),
        "decay_enabled": st.booleans(),
        "strip_duplicate_injections": st.booleans(),
        "max_entries": st.integers(1, 3),
        "injection_mode": st.sampled_from(["extension", "prompt_list"]),
        "new_chat_threshold": st.integers(1, 4),
        "ai_search_enabled": st.sampled_from([False, False, True]),
        "ai_search_mode": st.sampled_from(["two-stage", "ai-only"]),
        "ai_search_scan_depth": st.integers(1, 3),
        "notebook_enabled": st.booleans(),
    },
)
controls = st.builds(
    ChatControls,
    pins=st.sampled_from([(), (), (EntryRule("Note1"),)]),
    blocks=st.sampled_from([(), (), (EntryRule("Note0"),)]),
    context=st.sampled_from([{}, {}, {"era": "day"}]),
    notebook=st.sampled_from(["", "A plan."]),
)
behaviours = st.sampled_from([fixed(()), fixed(()), fixed(["window_filter"]), fixed(["all"])])


@st.composite
def worlds(draw: st.DrawFn) -> dict[str, Any]:
    return {
        "notes": draw(notes()),
        "messages": draw(messages()),
        "settings": draw(chosen),
        "controls": draw(controls),
        "behaviour": draw(behaviours),
    }


@st.composite
def edited(draw: st.DrawFn, world: dict[str, Any]) -> dict[str, Any]:
    """The world with one thing changed."""
    what = draw(st.sampled_from(["message", "message", "insert", "remove", "note", "note", "body", "settings", "rest"]))
    texts, said_so_far = dict(world["notes"]), list(world["messages"])
    name = draw(st.sampled_from(sorted(texts)))
    place = draw(st.integers(0, len(said_so_far) - 1))
    if what == "message":
        said_so_far[place] = draw(said)
    elif what == "insert":
        said_so_far.insert(place, draw(said))
    elif what == "remove" and len(said_so_far) > 1:
        del said_so_far[place]
    elif what == "note":
        keys = draw(st.lists(word, min_size=1, max_size=2, unique=True))
        texts[name] = note(f"keys: [{', '.join(keys)}]\n{draw(fronts)}", draw(sentence))
    elif what == "body":
        texts[name] = texts[name] + draw(sentence)
    elif what == "settings":
        return world | {"settings": world["settings"] | draw(chosen)}
    else:
        return world | {"controls": draw(controls), "behaviour": draw(behaviours)}
    return world | {"notes": texts, "messages": said_so_far}


def made(world: dict[str, Any]) -> Project:
    return project(
        world["notes"],
        world["messages"],
        settings=BASE.model_copy(update=world["settings"]),
        controls=world["controls"],
        behaviour=world["behaviour"],
        context_size=300,
    )


@given(st.data())
@settings(deadline=None, max_examples=examples(120))
def test_any_two_edits_in_a_row_come_to_what_full_replays_come_to(data: st.DataObject) -> None:
    world = data.draw(worlds())
    simulators: list[Simulator] = [replayed(made(world))]
    for _ in range(2):
        world = data.draw(edited(world))
        there = made(world)
        simulator = replayed(there, *reversed(simulators))
        assert comparable(simulator) == comparable(replayed(there))
        simulators.append(simulator)
