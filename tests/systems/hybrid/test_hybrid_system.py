"""Hybrid retrieval on a vault and a chat: what becomes of each note, and why."""

import asyncio

import numpy as np
import pytest

from lorestudio.domain.chat import Message
from lorestudio.domain.entry import Entry, VaultIndex
from lorestudio.domain.state import ChatControls, EntryRule
from lorestudio.llm.errors import ErrorKind, LlmError
from lorestudio.settings.hybrid import HybridSettings
from lorestudio.systems.base import Hold, Moment
from lorestudio.systems.hybrid.retrieval import WorldEntry, embedded_text, query_text, texts_of
from lorestudio.systems.hybrid.system import HybridSystem, rendered_entry
from lorestudio.trace.explain import explain
from lorestudio.trace.held_run import would_also
from lorestudio.trace.journey import Journeys
from lorestudio.trace.model import RunOutcome, StageStatus, Turn
from lorestudio.trace.storage.serialize import gist_of
from lorestudio.trace.summary import summary

WORLD = (
    Entry(0, "Skarn.md", "v", "Skarn", "A dragon.", ("dragon",), priority=10),
    Entry(1, "Dawnkeep.md", "v", "Dawnkeep", "A fortress.", ("fortress",), priority=20),
    Entry(2, "Crown.md", "v", "Crown", "It is lost.", ("crown",), priority=30),
    Entry(3, "Rules.md", "v", "Rules", "Be kind.", constant=True),
    Entry(4, "Guide.md", "v", "Guide", "Write well.", guide=True),
    Entry(5, "Bell.md", "v", "Bell", "It rings.", ("bell",), priority=5),
)


class Vectors:
    """Vectors by the first word of a text that is known; zero for others."""

    label = "by hand"
    known = {"Skarn": (1, 0), "Dawnkeep": (4, 3), "Crown": (0, 1), "Bell": (3, 4)}  # noqa: RUF012

    async def of(self, texts):
        return {text: np.array(self.known.get(text.partition(" ")[0], (1, 0)), float) for text in texts}


class Failing:
    """Nobody answers."""

    label = "down"

    async def of(self, _texts):
        raise LlmError(ErrorKind.CONNECTION, "no connection")


def decide(text, settings=None, vectors=None, controls=None, entries=WORLD):
    chat = (Message("Wren", text, is_user=True),)
    moment = Moment(VaultIndex(entries), chat, Turn(1, 0, 0), controls or ChatControls(), timer=lambda: 0.0)
    return asyncio.run(HybridSystem(settings or HybridSettings(), vectors).decide(moment)).trace


def titles(trace):
    return [injection.title for injection in trace.injections]


def reason(trace, entry):
    return Journeys(trace).fate(entry).reason


ALL = "the dragon, the fortress, the crown and the bell"


def test_keys_choose_and_vectors_rank():
    trace = decide(ALL, HybridSettings(limit=2), Vectors())
    assert titles(trace) == ["Skarn", "Dawnkeep", "Rules"]
    assert trace.mode == "hybrid"
    assert [reason(trace, entry) for entry in (2, 5, 4)] == ["hy_below", "hy_beyond", "guide_hidden"]
    beyond = Journeys(trace).fate(5)
    assert (beyond.details["rank"], beyond.details["score"], beyond.details["limit"]) == (3, 0.6, 2)
    assert trace.ai_calls[0].source == "by hand"
    assert summary(trace).startswith("5 entries matched, 2 were not selected, 3 were injected (")


def test_what_has_no_key_is_not_ranked_unless_vectors_come_first():
    assert titles(decide("the dragon", vectors=Vectors())) == ["Skarn", "Rules"]
    first = decide("the bell", HybridSettings(mode="semantic_first"), Vectors())
    assert titles(first) == ["Bell", "Skarn", "Dawnkeep", "Rules"]
    assert reason(first, 2) == "hy_below"
    verdict = next(verdict for verdict in first.stage("semantic rank").verdicts if verdict.entry == 5)
    assert verdict.details["boost"] == 0.1
    assert verdict.details["score"] == 0.7


@pytest.mark.parametrize(
    ("settings", "vectors", "note", "status"),
    [
        (HybridSettings(use_semantic_search=False), Vectors(), "hy_off", StageStatus.SKIPPED),
        (HybridSettings(), None, "hy_no_vectors", StageStatus.SKIPPED),
        (HybridSettings(), Failing(), "hy_query_failed", StageStatus.SKIPPED),
    ],
)
def test_without_vectors_keys_alone_decide(settings, vectors, note, status):
    trace = decide(ALL, settings, vectors)
    assert titles(trace) == ["Bell", "Skarn", "Dawnkeep", "Crown", "Rules"]
    record = trace.stage("semantic rank")
    assert (record.note, record.status) == (note, status)
    assert trace.outcome is RunOutcome.INJECTED
    assert bool(trace.warnings) == (vectors is not None and vectors.label == "down")


def test_where_no_key_occurs_that_is_why_nothing_came_in():
    told = summary(decide("A quiet day.", entries=tuple(entry for entry in WORLD if entry.keys)))
    assert told == "Nothing matched: none of the keys of 4 entries is in the last message."


def test_notes_without_vectors_are_a_question_that_failed_so_that_a_replay_asks_again():
    trace = decide(ALL, vectors=Failing())
    (call,) = trace.ai_calls
    assert (call.kind, call.source, call.user) == ("embedding", "down", "the texts of 4 notes")
    assert "no connection" in call.error
    assert gist_of(trace).failed


def test_a_blocked_note_and_a_second_one_of_a_title():
    twin = Entry(6, "b/Skarn.md", "v", "Skarn", "Another.", ("dragon",), priority=99)
    controls = ChatControls(blocks=(EntryRule("Dawnkeep"),))
    trace = decide(ALL, vectors=Vectors(), controls=controls, entries=(*WORLD, twin))
    assert reason(trace, 1) == "hy_blocked"
    assert reason(trace, 6) == "hy_duplicate"
    assert "Skarn.md" in Journeys(trace).fate(6).explain(trace).sentence


def held(text, entry, stopped_by="", settings=None, vectors=None, controls=None, entries=WORLD):
    chat = (Message("Wren", text, is_user=True),)
    moment = Moment(VaultIndex(entries), chat, Turn(1, 0, 0), controls or ChatControls(), held=Hold(entry, stopped_by))
    trace = asyncio.run(HybridSystem(settings or HybridSettings(), vectors).decide(moment)).trace
    assert WORLD[entry].title in titles(trace) if entry < len(WORLD) else True
    return {cell.stage: (cell.state.value, cell.verdict and cell.verdict.reason) for cell in would_also(trace).cells}


ON = {
    "duplicate titles": ("go_on", None),
    "insertion order": ("go_on", "hy_order"),
    "placement": ("go_on", "hy_placed"),
}


def test_an_entry_that_is_held_in_is_ranked_with_the_others():
    """What no key brought in is compared all the same; the stages behind tell of it, wherever it was stopped."""
    assert held("the dragon", 1, vectors=Vectors()) == {"semantic rank": ("go_on", "hy_ranked"), **ON}
    assert held("the dragon", 2, vectors=Vectors()) == {"semantic rank": ("stop", "hy_below"), **ON}
    one = HybridSettings(limit=1)
    assert held("the dragon", 1, settings=one, vectors=Vectors()) == {"semantic rank": ("stop", "hy_beyond"), **ON}
    assert held(ALL, 2, "semantic rank", vectors=Vectors()) == ON
    assert held("nothing", 1) == ON


def test_what_is_blocked_or_a_guide_is_held_in_too():
    blocked = ChatControls(blocks=(EntryRule("Dawnkeep"),))
    assert held("the dragon", 1, vectors=Vectors(), controls=blocked)["semantic rank"] == ("go_on", "hy_ranked")
    assert held("the dragon", 4, vectors=Vectors()) == {"semantic rank": ("go_on", "hy_ranked"), **ON}


def test_a_second_one_of_a_title_that_is_held_in_says_so():
    twin = Entry(6, "b/Skarn.md", "v", "Skarn", "Another.", ("lizard",), priority=99)
    found = held("the dragon", 6, vectors=Vectors(), entries=(*WORLD, twin))
    assert found["duplicate titles"] == ("stop", "hy_duplicate")
    assert found["insertion order"] == ("go_on", "hy_order")


def test_stages_add_up_and_every_verdict_has_a_sentence():
    for text in ("", "the dragon", ALL):
        for settings in (HybridSettings(), HybridSettings(mode="semantic_first", limit=1)):
            trace = decide(text, settings, Vectors())
            candidates = ()
            for record in trace.stages:
                assert set(record.entered) == set(candidates)
                assert len(record.entered) + record.added == len(record.left) + record.removed
                candidates = record.left
                assert all(explain(verdict, trace).sentence.endswith(".") for verdict in record.verdicts)
            assert {injection.entry for injection in trace.injections} == set(candidates)
            assert trace == decide(text, settings, Vectors())


def test_the_newest_exchanges_and_the_last_message_are_looked_at():
    chat = tuple(
        Message("x", text, is_user=user)
        for text, user in (("hello", False), ("a", True), ("b", False), ("c", True), ("d", False), ("e", True))
    )
    assert texts_of(chat, 2) == type(texts_of(chat, 2))("User: a\nAI: b\nUser: c\nAI: d", "e", (1, 2, 3, 4, 5))
    assert texts_of(chat, 1).history == "User: c\nAI: d"
    assert texts_of(chat, 0).history == ""
    assert texts_of(chat, 9).history.startswith("AI: hello")
    assert texts_of((), 3).messages == ()


class Noting(list):
    """A list that notes from which places it is read."""

    def __init__(self, items):
        super().__init__(items)
        self.read = set()

    def __getitem__(self, place):
        self.read.add(place)
        return super().__getitem__(place)


@pytest.mark.parametrize("exchanges", [0, 1, 2])
def test_older_messages_than_those_are_not_read(exchanges):
    chat = Noting(Message("x", str(place), is_user=place % 2 == 0) for place in range(101))
    assert texts_of(chat, exchanges).messages == tuple(range(100 - 2 * exchanges, 101))
    assert chat.read == set(range(100 - 2 * exchanges, 101))


def test_the_query_is_the_end_of_the_history_and_the_input():
    assert query_text("🔥" * 600, "ash") == "🔥" * 500 + "\nash"
    assert query_text("🔥" * 600, "ash", strict=True) == "🔥" * 250 + "\nash"


def test_an_entry_as_it_is_embedded_and_printed():
    entry = WorldEntry("1", ("a", "b"), "One<br>{{user}} and {char}", "Title")
    assert embedded_text(entry) == "Title One<br>{{user}} and {char} a b"
    assert rendered_entry(entry, "Wren", "Skarn") == (
        '<world_information tag="Title">\nOne\nWren and Skarn\n</world_information>'
    )
