"""A chat replayed with fact memory: which memories each reply would have been given, and why."""

import asyncio

import numpy as np
import pytest

from lorestudio.domain.chat import Message
from lorestudio.domain.entry import VaultIndex
from lorestudio.llm.errors import ErrorKind, LlmError
from lorestudio.settings.facts import FactsSettings
from lorestudio.systems.base import Moment
from lorestudio.systems.facts.records import Memory, MemoryOrigin
from lorestudio.systems.facts.retrieval import MemorySearch
from lorestudio.systems.facts.system import FactsSystem, KnownMemories
from lorestudio.systems.facts.words import VOCABULARY
from lorestudio.trace.model import RunOutcome, StageStatus, Turn
from lorestudio.trace.summary import summary


class Vectors:
    label = "by hand"

    def __init__(self, *, down=False, silent=False):
        self.down, self.silent = down, silent

    async def of(self, texts):
        if self.down:
            raise LlmError(ErrorKind.CONNECTION, "no connection")
        return {text: np.array([1.0, 0.0]) for text in texts if not self.silent}


def memory(name, vector, first=0, last=0, **more):
    embedding = None if vector is None else np.array(vector, float)
    return Memory(
        name, "u", "t", f"fact {name}", "confirmed", embedding, 5, origin=MemoryOrigin("r", "c", first, last), **more
    )


MEMORIES = (
    memory("near", [1, 0]),
    memory("far", [3, 4]),
    memory("pin", [0, 1], pinned=True),
    memory("later", [1, 0], 4, 9),
    memory("bare", None),
)


def decide(memories=MEMORIES, *, settings=None, profile=None, vectors=None, text="bees?", **search):
    settings = settings or FactsSettings()
    known = KnownMemories.of("c", memories, profile, "")
    system = FactsSystem(settings, known, vectors or Vectors(), search=MemorySearch(**search))
    chat = (Message("Wren", text, is_user=True),) if text else ()
    return asyncio.run(system.decide(Moment(VaultIndex(()), chat, Turn(3, 0, 0), timer=lambda: 0.0))).trace


def reasons(trace, stage):
    return {trace.entries[verdict.entry].filename: verdict.reason for verdict in trace.stage(stage).verdicts}


def injected(trace):
    return [trace.entries[injection.entry].filename for injection in trace.injections]


def test_pinned_memories_come_first_then_the_most_similar_of_what_was_known():
    trace = decide()
    assert injected(trace) == ["pin", "near", "far"]
    assert reasons(trace, "memories")["later"] == "fm_later"
    assert reasons(trace, "similarity") == {
        "near": "fm_found", "far": "fm_found", "pin": "fm_pinned", "bare": "fm_no_vector",
    }  # fmt: skip
    assert trace.outcome is RunOutcome.INJECTED
    assert [(limit.name, limit.used, limit.maximum) for limit in trace.limits][1] == ("memories", 2, 10)


def test_the_summary_counts_what_the_memories_take_as_every_view_does():
    trace = decide()
    assert trace.total_tokens > 0
    assert f"({trace.total_tokens} tokens, no limit)" in summary(trace)


def test_every_piece_of_the_prompt_says_where_it_comes_from():
    block = decide().prompt[0]
    parts = {part.entry: block.text[part.start : part.end] for part in block.parts if part.entry is not None}
    assert parts[0] == "- [IMPORTANT] fact near (mentioned 1970-01-01) (confirmed)"
    assert parts[2] == "- [CRITICAL] fact pin (confirmed, pinned)"
    assert block.text == "".join(block.text[part.start : part.end] for part in block.parts)


def test_the_threshold_and_the_limit_leave_memories_out():
    trace = decide(min_score=0.7)
    assert reasons(trace, "similarity")["far"] == "fm_below"
    verdict = next(each for each in trace.stage("similarity").verdicts if each.reason == "fm_below")
    assert (verdict.details["score"], verdict.details["threshold"]) == (0.6, 0.7)
    trace = decide(settings=FactsSettings(limit=1))
    assert reasons(trace, "similarity")["far"] == "fm_beyond"
    assert injected(trace) == ["pin", "near"]


def test_a_reading_of_the_profile_outdates_a_memory():
    profile = {"vitals": {"near": {"value": 44, "unit": ""}}}
    trace = decide(profile=profile)
    assert reasons(trace, "outdated memories") == {"near": "fm_outdated"}
    assert "near: 44" in trace.prompt[0].text
    assert injected(trace) == ["pin", "far"]


def test_variety_leaves_out_what_resembles_others():
    alike = (memory("a", [1, 0]), memory("b", [100, 1]), memory("c", [3, 4]))
    trace = decide(alike, settings=FactsSettings(limit=2, diversity_weight=0.6), diversity_weight=0.6)
    assert injected(trace) == ["a", "c"]
    assert reasons(trace, "forgetting and variety")["b"] == "fm_alike"


def test_without_a_vector_only_pins_go_in_and_the_trace_says_why():
    trace = decide(vectors=Vectors(down=True))
    assert injected(trace) == ["pin"]
    record = trace.stage("similarity")
    assert (record.status, record.note) == (StageStatus.FAILED, "fm_no_vector_made")
    assert "no connection" in trace.warnings[0]
    assert decide(text="").stage("similarity").note == "fm_no_question"
    assert decide(vectors=Vectors(silent=True)).stage("similarity").note == "fm_no_vector_made"


def test_where_all_memories_are_later_the_trace_does_not_speak_of_your_message():
    trace = decide((memory("later", [1, 0], 4, 9),))
    assert reasons(trace, "memories") == {"later": "fm_later"}
    assert (trace.stage("similarity").note, trace.ai_calls) == ("fm_none_known", ())
    assert "no memory was known at this point" in summary(trace)


def test_without_memories_the_trace_says_what_to_do():
    trace = decide(())
    assert trace.outcome is RunOutcome.NOTHING_INJECTED
    assert trace.stage("memories").note == "fm_nothing_kept"
    assert "facts extract" in VOCABULARY.reasons["fm_nothing_kept"].fix


@pytest.mark.parametrize("more", [{}, {"min_score": 0.7}, {"recency_weight": 0.5}, {"diversity_weight": 0.5}])
def test_the_books_of_every_stage_balance(more):
    trace = decide(**more)
    for record in trace.stages:
        assert len(record.entered) + record.added == len(record.left) + record.removed
        assert {verdict.reason for verdict in record.verdicts} <= VOCABULARY.reasons.keys()
    for before, after in zip(trace.stages, trace.stages[1:], strict=False):
        assert before.left == after.entered
