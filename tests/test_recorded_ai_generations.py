"""Fifty recorded chats of seven generations with a model choosing (rules: deeplore 7.1, 13)."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from typing import Any

import pytest

from lorestudio.domain.entry import Entry, VaultIndex
from lorestudio.exchange.chats.document import read_message
from lorestudio.exchange.chats.metadata import read_controls, read_state
from lorestudio.settings.deeplore import sanitise
from lorestudio.systems.deeplore.matching.index import DeepLoreIndex
from lorestudio.systems.deeplore.run import run
from lorestudio.trace.model import Outcome, StageRecord, Trace, Turn
from tests.golden.ai_files import GENERATIONS_AI
from tests.golden.files import read_json
from tests.scripted_answers import ScriptedAnswers
from tests.systems.deeplore.answers import ERROR
from tests.systems.deeplore.recorded import entries_of
from tests.systems.worlds import Scripted, inputs
from tests.test_recorded_generations import cut_form, folder_form, published, removed, sources, titles

CHATS: list[dict[str, Any]] = read_json(GENERATIONS_AI)


def keyword_form(records: dict[str, StageRecord], entries: Sequence[Entry], labels: dict[str, str]) -> list[Any]:
    """The matches with their labels as they were then, and behind them what they link to.

    In AI-only mode there are none, unless a failed selection fell back on them.
    """
    order, selected = records.get("match order"), records["AI selection"]
    if order is None or (selected.note == "ai_empty" and "whole vault" in records):
        return []
    rows: Any = order.details["labels"]
    then = dict(rows)
    found = [{"title": entries[one].title, "matchedBy": then.get(entries[one].title, "?")} for one in order.left]
    linked = records.get("wiki links")
    for verdict in linked.with_outcome(Outcome.ADDED) if linked else ():
        source = f"(wiki-linked from: {verdict.details['source']})"
        found.append({"title": entries[verdict.entry].title, "matchedBy": source})
    return found


def selected_form(records: dict[str, StageRecord]) -> list[dict[str, Any]]:
    """The model's choice, where it was taken."""
    record = records["AI selection"]
    results: Any = record.details.get("results", ())
    return [{"title": one["title"], "reason": one["reason"], "confidence": one["confidence"]} for one in results]


def gating_form(record: StageRecord) -> dict[str, int]:
    """The original gates before every selection, without a context too."""
    return {"before": len(record.entered), "after": len(record.left), "removed": record.removed}


def trace_form(trace: Trace, index: DeepLoreIndex) -> dict[str, Any] | None:
    """Our trace in the fields that were recorded."""
    if not published(trace):
        return None
    records = {record.name: record for record in trace.stages}
    entries = index.vault.entries
    return {
        "kw": keyword_form(records, entries, dict(trace.labels)),
        "ai": selected_form(records),
        "cached": trace.facts["ai_cached"],
        "fb": trace.facts.get("ai_fallback", False),
        "inj": [
            {"title": one.title, "tokens": one.tokens, "truncated": one.truncated,
             "originalTokens": one.original_tokens if one.truncated else one.tokens}
            for one in trace.injections
        ],
        "ctx": titles(removed(trace, index, "contextual gating")),
        "strip": titles(removed(trace, index, "duplicate stripping")),
        "pre": gating_form(records["pre-gating"]),
        "gen": trace.turn.number,
        "ff": folder_form(records["folder filter"]),
        "budget": cut_form(trace, records, entries),
    }  # fmt: skip


def wanted_form(recorded: dict[str, Any] | None) -> dict[str, Any] | None:
    """The recorded trace without the fixed sentences that stand beside removed titles."""
    if recorded is None:
        return None
    gone = {key: [row["title"] for row in recorded[key]] for key in ("ctx", "strip")}
    return {**recorded, **gone}


def contents(user: str) -> str:
    """A user message without what is everybody's own wording: its last paragraph and the words of the story heading."""
    return re.sub(r"^\[STORY CONTEXT[^]\n]*]$", "[STORY CONTEXT]", user.rpartition("\n\n")[0], flags=re.MULTILINE)


def test_there_are_fifty_chats_of_seven_generations() -> None:
    assert [len(chat["steps"]) for chat in CHATS] == [7] * 50
    modes = [chat["settings"]["aiSearchMode"] for chat in CHATS]
    assert (modes.count("ai-only"), modes.count("two-stage")) == (35, 15)
    asked = [step["o"]["called"] for chat in CHATS for step in chat["steps"]]
    assert (asked.count(1), asked.count(0)) == (216, 134)


@pytest.mark.parametrize("number", range(50))
def test_recorded_chat(number: int) -> None:
    chat = CHATS[number]
    index = DeepLoreIndex(VaultIndex(entries=entries_of(chat["idx"]), digest="index"))
    settings = sanitise(chat["settings"]).settings
    controls, state = read_controls(chat["meta"]), read_state(chat["meta"])
    last_sources = None
    for place, step in enumerate(chat["steps"]):
        messages = tuple(read_message(one) for one in step["chat"])
        rolls = Scripted(step["rolls"][1:])  # the first number makes the generation's log id
        reply = ERROR if step["reply"] == "__ERR" else {"text": step["reply"]}
        context = inputs(
            index,
            chat=messages,
            settings=settings,
            turn=Turn(len(messages), 0, 0),
            controls=controls,
            state=state,
            character="Eris",
            clock_ms=step["now"],
            answers=ScriptedAnswers({"search": [reply]}),
            random=lambda _, one=rolls: one,
        )
        result = asyncio.run(run(context))
        trace, state = result.trace, result.state
        observed = step["o"]
        where = f"generation {place}"
        assert trace_form(trace, index) == wanted_form(observed["trace"]), where
        assert len(trace.draws) == observed["draws"] - 1, where
        assert state.counters.generation_count == observed["gc"], where
        assert len(trace.ai_calls) == observed["called"], where
        if trace.ai_calls:
            assert contents(trace.ai_calls[0].user) == contents(observed["user"]), where
        if published(trace):
            last_sources = sources(trace, index) if trace.prompt else None
        assert last_sources == observed["src"], where
        prompts = [[one.tag, one.text, one.position, one.depth, one.role] for one in state.prompts]
        assert prompts == observed["prompts"], where
