"""Pages of a vault: which note is where, what each page may use, locks and passthrough, and what the trace says."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lorestudio.domain.chat import Message
from lorestudio.domain.entry import Entry, VaultIndex
from lorestudio.domain.state import ChatControls, EntryRule
from lorestudio.domain.tokens import CHARS_4
from lorestudio.settings.contextwindow import ContextWindowSettings
from lorestudio.systems.base import Moment
from lorestudio.systems.contextwindow.pages import budget_of, weights_of
from lorestudio.systems.contextwindow.system import ContextWindowSystem
from lorestudio.trace.explain import explain, explain_reason
from lorestudio.trace.journey import Journeys
from lorestudio.trace.model import RunOutcome, StageStatus, Trace, Turn, Verdict


def note(place: int, filename: str, content: str, vault: str = "v", **fields: Any) -> Entry:
    title = filename.rpartition("/")[2].removesuffix(".md")
    system = {key: fields.pop(key) for key in list(fields) if key.startswith("cw_")}
    return Entry(place, filename, vault, title, content, (title.lower(),), system_fields=system, **fields)


# By chars/4, rounded up: 9, 9, 9 and 4 tokens.
WORLD = (
    note(0, "people/Ann.md", "Ann keeps the lamp alight. Always.", priority=10),
    note(1, "people/Bob.md", "Bob went off to sea, and is lost.", priority=20),
    note(2, "places/Harbour.md", "The harbour freezes every winter.", vault="w"),
    note(3, "Rules.md", "Be kind always.", constant=True),
)


def decide(
    text: str,
    entries: tuple[Entry, ...] = WORLD,
    controls: ChatControls | None = None,
    context: int = 0,
    **settings: Any,
) -> Trace:
    chat = (Message("Wren", text, is_user=True),)
    index = VaultIndex(entries, vaults=("v", "w"))
    moment = Moment(index, chat, Turn(1, 0, 0), controls or ChatControls(), timer=lambda: 0.0, context_size=context)
    made = ContextWindowSettings(**{"with_conversation": False, **settings})
    trace = asyncio.run(ContextWindowSystem(made).decide(moment)).trace
    assert trace.outcome is not RunOutcome.FAILED, [record.error for record in trace.stages]
    return trace


def titles(trace: Trace) -> list[str]:
    return [injection.title for injection in trace.injections]


def pages(trace: Trace) -> dict[str, int]:
    record = trace.stage("page budgets")
    assert record is not None
    found = record.details["pages"]
    assert isinstance(found, list)
    return {each["page"]: each["budget"] for each in found}


def verdicts(trace: Trace, stage: str) -> tuple[Verdict, ...]:
    record = trace.stage(stage)
    assert record is not None
    return record.verdicts


EVERYBODY = "Ann, Bob, the harbour."


@pytest.mark.parametrize(
    ("by", "expected"), [("folders", ["main", "people", "places"]), ("vaults", ["main", "v", "w"])]
)
def test_folders_and_vaults_are_pages(by: str, expected: list[str]) -> None:
    assert list(pages(decide(EVERYBODY, pages_by=by))) == expected


def test_a_notes_own_page_wins_and_without_one_it_is_on_the_main_page() -> None:
    entries = (*WORLD[:3], note(3, "people/Old.md", "An old man.", cw_page="places"))
    own = decide("ann old", entries, pages_by="folders", multi_page_budget_strategy="EQUAL_SPLIT", page_order="people")
    assert list(pages(own)) == ["people", "main", "places"]
    assert {verdict.entry: verdict.details["page"] for verdict in verdicts(own, "text match")} == {
        0: "people",
        3: "places",
    }
    by_property = decide("ann old", entries, pages_by="properties")
    assert list(pages(by_property)) == ["main", "places"]


def test_one_page_is_told_as_before() -> None:
    trace = decide(EVERYBODY)
    assert trace.stage("page budgets") is None
    assert [limit.name for limit in trace.limits] == ["token budget", "elements", "lore"]
    assert "page" not in verdicts(trace, "lore budget")[0].details


def test_each_page_has_its_own_budget_and_running_totals() -> None:
    """30 over three pages is 10 each: on `people` there is room for one note of two, on `places` for its only one."""
    trace = decide(EVERYBODY, pages_by="folders", total_token_budget=30, multi_page_budget_strategy="EQUAL_SPLIT")
    assert pages(trace) == {"main": 10, "people": 10, "places": 10}
    assert titles(trace) == ["Rules", "Ann", "Harbour"]
    fate = Journeys(trace).fate(1)
    assert (fate.reason, fate.details["page"], fate.details["needs"]) == ("cw_no_room", "people", 8)
    taken = {v.entry: v for v in verdicts(trace, "lore budget") if v.reason == "cw_taken"}
    assert (taken[0].details["used"], taken[0].details["total"]) == (9, 9)
    assert (taken[2].details["used"], taken[2].details["total"]) == (9, 18)
    assert "on the page “places”, 18 on all pages so far" in explain(taken[2], trace).sentence
    names = {limit.name: (limit.used, limit.maximum) for limit in trace.limits}
    assert names["token budget"] == (22, 30)
    assert names["people: lore"] == (9, 10)
    assert names["main: elements"] == (4, 5)


def test_the_record_of_the_pages_is_a_sentence() -> None:
    trace = decide(EVERYBODY, pages_by="folders", total_token_budget=30, multi_page_budget_strategy="EQUAL_SPLIT")
    record = trace.stage("page budgets")
    assert record is not None
    words = explain_reason(record.note, record.details, trace).sentence
    assert words == "The pages share 30 tokens: main 10, people 10, places 10."
    alone = decide("ann", WORLD[3:], pages_by="folders").stage("page budgets")
    assert alone is not None
    assert (alone.status, alone.note) == (StageStatus.SKIPPED, "cw_one_page")


def test_weights_of_pages() -> None:
    shared = decide(
        EVERYBODY, pages_by="folders", total_token_budget=30, multi_page_budget_strategy="WEIGHTED_SPLIT",
        page_weights="people=2, places=1",
    )  # fmt: skip
    assert pages(shared) == {"main": 0, "people": 20, "places": 10}
    assert titles(shared) == ["Rules", "Ann", "Bob", "Harbour"]
    whole = Journeys(shared).fate(3)
    assert whole.state.value == "injected"
    left = verdicts(shared, "context elements")[0]
    assert left.reason == "cw_whole"
    assert "“main” has no budget" in explain(left, shared).sentence
    assert "1 token more than its budget of 30" in shared.warnings[1]  # 31 in all
    over = decide(
        EVERYBODY, pages_by="folders", total_token_budget=10, multi_page_budget_strategy="WEIGHTED_SPLIT",
        page_weights="places=1",
    )  # fmt: skip
    assert "No budget was left for “main” and “people”" in over.warnings[0]
    assert "21 tokens more than its budget of 10" in over.warnings[1]
    assert dict(weights_of("a=1, b = 2.5,")) == {"a": 1, "b": 2.5}
    for wrong in ("places", "=3", "places=many", "places=nan", "places=inf"):
        with pytest.raises(ValueError, match="no weight of a page"):
            weights_of(wrong)


def test_empty_pages_that_are_named_keep_a_share() -> None:
    kept = decide(
        EVERYBODY, pages_by="folders", total_token_budget=40, multi_page_budget_strategy="EQUAL_SPLIT",
        page_order="main, later",
    )  # fmt: skip
    assert pages(kept) == {"main": 10, "later": 10, "people": 10, "places": 10}
    without = decide(
        EVERYBODY, pages_by="folders", total_token_budget=40, multi_page_budget_strategy="EQUAL_SPLIT",
        page_order="main, later", reserve_empty_page_budget=False,
    )  # fmt: skip
    assert pages(without) == {"main": 14, "later": 0, "people": 13, "places": 13}


def test_a_locked_page_comes_out_empty() -> None:
    trace = decide(EVERYBODY, pages_by="folders", locked_pages="people")
    assert titles(trace) == ["Rules", "Harbour"]
    fate = Journeys(trace).fate(0)
    assert (fate.reason, fate.explain(trace).fix) == (
        "cw_page_locked", "Take the page from “Locked pages”, or give the note another cw_page.",
    )  # fmt: skip


def test_links_stay_on_their_page() -> None:
    entries = (
        note(0, "people/Ann.md", "Ann.", cascade_links=("Bob", "Harbour")),
        note(1, "people/Bob.md", "Bob."),
        note(2, "places/Harbour.md", "It freezes."),
    )
    assert titles(decide("ann", entries)) == ["Ann", "Bob", "Harbour"]
    assert titles(decide("ann", entries, pages_by="folders")) == ["Ann", "Bob"]


LOCKED = (
    note(0, "A.md", "Ann.", cw_lock=True),
    note(1, "B.md", "Bob.", cw_lock=True, cw_passthrough=("open", "sesame")),
    note(2, "C.md", "Cid.", cw_passthrough="noon"),
    note(3, "D.md", "Dan."),
)


def test_locks_and_passthrough_of_notes() -> None:
    """A passthrough decides alone, also where nothing is locked (rules: context-window 15)."""
    closed = decide("a b c d", LOCKED)
    assert titles(closed) == ["D"]
    assert [Journeys(closed).fate(place).reason for place in range(3)] == [
        "cw_note_locked", "cw_passthrough", "cw_passthrough",
    ]  # fmt: skip
    assert "“open” and “sesame”" in Journeys(closed).fate(1).explain(closed).sentence.replace(",", " and")
    assert titles(decide("a b c d, OPEN at noon", LOCKED)) == ["B", "C", "D"]


def test_what_is_blocked_in_the_chat_is_not_let_through() -> None:
    trace = decide("open b", LOCKED, ChatControls(blocks=(EntryRule("B"),)))
    assert titles(trace) == []
    assert Journeys(trace).fate(1).reason == "cw_locked"


def test_as_in_the_original_the_last_lock_of_a_page_decides_for_all() -> None:
    """Adding a lock that is open opens the whole page (rules: context-window 15, 17 row 14)."""
    assert titles(decide("a c noon", LOCKED, source_compatible=True)) == ["A", "C"]
    assert titles(decide("a c noon", LOCKED)) == ["C"]


def test_the_conversation_is_on_the_main_page() -> None:
    trace = decide(
        EVERYBODY, pages_by="folders", with_conversation=True, main_page="people", total_token_budget=40,
        multi_page_budget_strategy="EQUAL_SPLIT",
    )  # fmt: skip
    record = trace.stage("conversation")
    assert record is not None
    assert (record.details["page"], record.details["of"], record.details["limit"]) == ("people", 1, 6)


def test_the_budget_of_a_request() -> None:
    """What the context leaves after reply, thinking and prompt; the prompt is counted where its size is not given."""
    settings = ContextWindowSettings(budget_from_context=True, max_tokens=300, reasoning_budget=100)
    assert budget_of(settings, 1000, "x" * 40, CHARS_4) == 1000 - 300 - 100 - 10
    given = settings.model_copy(update={"user_prompt_size": 50})
    assert budget_of(given, 1000, "x" * 40, CHARS_4) == 550
    assert budget_of(given, 0, "", CHARS_4) == 8000 - 450
    assert budget_of(given, 200, "", CHARS_4) == 0
    assert budget_of(ContextWindowSettings(), 1000, "x", CHARS_4) == 8000
    trace = decide(EVERYBODY, context=1000, budget_from_context=True, max_tokens=900, user_prompt_size=90)
    assert trace.limits[0].maximum == 10


@given(
    st.sampled_from(["one", "folders", "vaults", "properties"]),
    st.sampled_from(["EQUAL_SPLIT", "WEIGHTED_SPLIT", "PRIORITY_FILL", "DYNAMIC_FILL", "DYNAMIC_SIZE_FILL"]),
    st.integers(0, 300),
    st.booleans(),
    st.booleans(),
    st.booleans(),
)
def test_stages_add_up_on_pages(by: str, strategy: str, budget: int, fill: bool, split: bool, original: bool) -> None:
    trace = decide(
        EVERYBODY, pages_by=by, multi_page_budget_strategy=strategy, total_token_budget=budget, fill_mode=fill,
        fill_and_split_mode=split, source_compatible=original, page_weights="people=1, v=2", with_conversation=True,
    )  # fmt: skip
    candidates: tuple[int, ...] = ()
    for record in trace.stages:
        assert set(record.entered) == set(candidates)
        assert len(record.entered) + record.added == len(record.left) + record.removed
        candidates = record.left
    assert {injection.entry for injection in trace.injections} == set(candidates)
    assert trace.limits[0].used >= sum(injection.tokens for injection in trace.injections)
