from __future__ import annotations

import pytest
from PySide6.QtCore import QSettings

from lorestudio.domain.records import replace
from lorestudio.settings.behaviour import FIXED, switches
from lorestudio.studio.project.answering import AnswerKind, Source
from lorestudio.studio.project.settings import Mode
from lorestudio.systems.registry import words_of
from lorestudio.trace.budget import AI, KEYWORD, origins
from lorestudio.trace.model import (
    AiCall,
    AiRecord,
    Breaker,
    BreakerState,
    ItemResult,
    Outcome,
    Phase,
    ReplyItem,
    RunOutcome,
    StageRecord,
    StageStatus,
    TitleMatch,
    Verdict,
)
from lorestudio.trace.storage.serialize import gist_of
from lorestudio.ui.state.ai_calls import (
    ChosenItem,
    call_facts,
    call_title,
    choices,
    dropped_categories,
    duration_words,
    failures,
    stage_facts,
    switch_lines,
    why_no_call,
)
from lorestudio.ui.state.choices import ChoiceStore, RunChoice, source_title
from tests.ui.worlds import BELL, CROWN, DAWNKEEP, SKARN, make_project, make_trace

CALL = AiCall(
    "search", "sys", "user", 1024, True, "tiny", "[]", source="Local", duration_ms=1500,
    details={"input_tokens": 1200, "output_tokens": 30, "notes": ("cut off",), "merged_into_user": True},
)  # fmt: skip


def selection(**details) -> StageRecord:
    return StageRecord("AI selection", Phase.SELECT, details=details)


def facts(*args, **more) -> dict[str, str]:
    return {fact.name: fact.value for fact in args[0](*args[1:], **more)}


def test_the_facts_of_a_call() -> None:
    found = facts(call_facts, CALL, replace(selection(cached=False, why="nothing is cached yet"), ai=AiRecord()), 0)
    assert found == {
        "Answered by": "Local",
        "Model": "tiny",
        "Took": "1.5 s",
        "Tokens": "1,200 sent, 30 received",
        "Reply limit": "1,024 tokens",
        "Asked for JSON": "with a schema",
        "Sent as": "one user message, instructions first",
        "Note": "cut off",
        "Cache": "miss: nothing is cached yet",
        "Circuit breaker": "closed",
    }


def test_a_question_for_vectors_asks_for_no_reply() -> None:
    call = replace(CALL, kind="embedding", max_tokens=0, json_schema=False)
    assert call_title(call) == "Vectors to compare by"
    found = facts(call_facts, call, None, 0)
    assert found["Answered by"] == "Local"
    assert not found.keys() & {"Reply limit", "Asked for JSON"}


def test_a_stand_in_has_no_model() -> None:
    found = facts(call_facts, replace(CALL, source="offline stand-in", model="", details={}), None, 0)
    assert found["Model"] == "none: words are compared on this computer"
    assert found["Tokens"] == "not reported"
    found = facts(call_facts, replace(CALL, source="Local", model="", details={}), None, 0)
    assert found["Model"] == "not named"


@pytest.mark.parametrize(
    ("given", "taken", "words"),
    [
        (1200, 0, "1,200 sent, 0 received"),
        (0, 30, "0 sent, 30 received"),
        (0, 0, "not reported"),
        (1200, None, "not reported"),
        (None, 30, "not reported"),
    ],
)
def test_tokens_are_told_where_both_numbers_are_known(given: int | None, taken: int | None, words: str) -> None:
    call = replace(CALL, details={"input_tokens": given, "output_tokens": taken})
    assert facts(call_facts, call, None, 0)["Tokens"] == words


def test_a_cache_hit_names_tier_and_reason() -> None:
    found = facts(stage_facts, selection(cached=True, tier=2, why="the same candidates"), 0)
    assert found["Cache"] == "hit in tier 2: the same candidates"


def test_an_error_is_said_once_and_the_fallback_in_words() -> None:
    record = selection(cached=False, error="Request timed out (20s)", fallback="constants_only")
    found = call_facts(replace(CALL, error="Request timed out (20s)"), record, 0)
    assert [fact.value for fact in found if fact.tone == "error"] == ["Request timed out (20s)"]
    assert [fact.value for fact in found if fact.name == "Taken instead"] == ["the constants"]


FUZZY = ReplyItem("Skarns", TitleMatch.FUZZY, ItemResult.CHOSEN, (SKARN,), "Skarn", 8 / 9, "medium", "It circles.")


def test_what_a_reply_was_matched_to() -> None:
    items = (
        ReplyItem("dawnkeep", TitleMatch.EXACT, ItemResult.REPEATED, (DAWNKEEP,), "Dawnkeep", 1.0, "high"),
        FUZZY,
        replace(FUZZY, asked="Crown", match=TitleMatch.EXACT, result=ItemResult.BELOW_CONFIDENCE, entries=(CROWN, 99)),
        ReplyItem("Bells", TitleMatch.NOT_FOUND, ItemResult.DROPPED, (), "Bell", 0.5, "low"),
        ReplyItem("7", TitleMatch.UNREADABLE, ItemResult.DROPPED),
    )
    found = choices(make_trace(), replace(selection(), ai=AiRecord(items=items)))
    assert found == (
        ChosenItem("dawnkeep", (("Dawnkeep", DAWNKEEP),), "exact title", "high", "", "named again below", "neutral"),
        ChosenItem(
            "Skarns", (("Skarn", SKARN),), "similar title, 89 % alike", "medium", "It circles.",
            "chosen", "good",
        ),
        ChosenItem(
            "Crown", (("Crown (vault)", CROWN), ("Skarn", 99)), "exact title", "medium", "It circles.",
            "not confident enough", "warning",
        ),
        ChosenItem(
            "Bells", (), "not found; nearest is “Bell” (50 % alike)", "low", "", "passed over", "error"
        ),
        ChosenItem("7", (), "names no entry", "", "", "passed over", "error"),
    )  # fmt: skip


def test_what_a_reply_about_categories_was_matched_to() -> None:
    items = (
        ReplyItem("NPC", TitleMatch.EXACT, ItemResult.CHOSEN, title="npc", similarity=1.0),
        ReplyItem("nope", TitleMatch.NOT_FOUND, ItemResult.DROPPED),
    )
    record = StageRecord("category prefilter", Phase.SELECT, ai=AiRecord(items=items))
    assert [(one.asked, one.matched, one.how) for one in choices(make_trace(), record)] == [
        ("NPC", (("npc", None),), "exact title"),
        ("nope", (), "not found"),
    ]


OPENED = Breaker(BreakerState.OPEN, 2, 42_001)


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        (Breaker(), Breaker(), [("Circuit breaker", "closed", "neutral")]),
        (
            OPENED, OPENED,
            [("Circuit breaker", "open, after 2 failures in a row; one call may probe again in 30 s", "warning")],
        ),
        (
            Breaker(BreakerState.HALF_OPEN, 2), Breaker(),
            [("Breaker before", "half-open, after 2 failures in a row; the next call goes out as a probe", "warning"),
             ("Breaker after", "closed", "neutral")],
        ),
    ],
)  # fmt: skip
def test_the_breaker_on_record_in_words(before: Breaker, after: Breaker, told: list[tuple[str, str, str]]) -> None:
    record = replace(selection(cached=False), ai=AiRecord(before, after))
    found = stage_facts(record, 12_000)
    assert [(fact.name, fact.value, fact.tone) for fact in found] == told


def test_categories_that_were_left_out() -> None:
    gone = [Verdict(entry, Outcome.REMOVED, "prefilter_dropped", {"category": "beast"}) for entry in (SKARN, BELL)]
    record = StageRecord("category prefilter", Phase.SELECT, verdicts=tuple(gone))
    assert dropped_categories(record) == ("beast (2 entries)",)


def test_failures_name_the_stage_the_error_and_the_fallback() -> None:
    trace = make_trace()
    asked = replace(selection(error="529 overloaded", fallback="keyword"), note="ai_error")
    broken = StageRecord("recursion", Phase.MATCH, StageStatus.FAILED, error="it broke")
    found = dict(failures(replace(trace, stages=(*trace.stages, broken, asked))))
    assert set(found) == {"recursion", "AI selection"}
    assert "it broke" in found["recursion"]
    assert "529 overloaded" in found["AI selection"]
    assert "what the keys match" in found["AI selection"]
    assert failures(trace) == ()


def test_a_question_about_categories_that_failed_is_a_failure_too() -> None:
    record = StageRecord("category prefilter", Phase.SELECT, StageStatus.SKIPPED, note="prefilter_unchanged")
    trace = replace(make_trace(), stages=(record,), ai_calls=(replace(CALL, kind="prefilter", error="no route"),))
    assert failures(trace) == (("category prefilter", "The question failed: no route. The stage did without."),)
    assert gist_of(trace).failed
    assert not gist_of(make_trace()).failed


@pytest.mark.parametrize(
    ("trace", "words"),
    [
        (make_trace(), "In keywords-only mode no model is asked."),
        (replace(make_trace(), skip_reason="empty_vault", outcome=RunOutcome.SKIPPED), "the vault has no entries"),
        (replace(make_trace(), mode="two-stage"), "ended before the AI selection"),
        (
            replace(make_trace(), system="world-info", mode="", words=words_of("world-info")),
            "World Info has no AI selection.",
        ),
        (replace(make_trace(), mode="two-stage", stages=(selection(cached=True, why="no new lines"),)), "no new lines"),
        (
            replace(make_trace(), mode="two-stage", stages=(replace(selection(), note="nothing_to_offer"),)),
            "no entry for the AI",
        ),
        (
            replace(make_trace(), mode="two-stage", stages=(selection(why="it is paused"),)),
            "Nobody was asked: it is paused.",
        ),
        (
            replace(
                make_trace(),
                mode="two-stage",
                stages=(replace(selection(why="it is paused"), status=StageStatus.FAILED, error="it broke"),),
            ),
            "it broke",
        ),
    ],
)
def test_why_nobody_was_asked(trace, words: str) -> None:
    assert words in why_no_call(trace)


def test_why_a_stage_did_without_its_cache_is_among_its_facts() -> None:
    assert facts(stage_facts, selection(why="it is paused"), 0)["Why"] == "it is paused"


def test_where_a_switch_made_a_difference_is_said_once() -> None:
    noted = {"switch": "guide_leak", "stage": "BM25", "effect": "guides were left out"}
    trace = replace(make_trace(), facts={"switches": [noted, noted]})
    titles = {switch.name: switch.title for switch in switches()}
    assert switch_lines(trace, titles) == ("BM25: guides were left out (Guides in fuzzy search).",)
    assert switch_lines(make_trace(), titles) == ()
    for torn in ("guide_leak", ["guide_leak", None], 3):  # of a trace that somebody else wrote
        assert switch_lines(replace(make_trace(), facts={"switches": torn}), titles) == ()


def test_an_error_of_a_stage_is_told_once() -> None:
    for record in (selection(error="it broke"), replace(selection(), error="it broke")):
        assert facts(stage_facts, record, 0)["Error"] == "it broke"
        assert not [each for each in stage_facts(record, 0, shown="it broke") if each.name == "Error"]


def test_durations() -> None:
    assert [duration_words(value) for value in (0.4, 12.6, 999, 1500, 61_000)] == [
        "0.4 ms", "13 ms", "999 ms", "1.5 s", "61.0 s",
    ]  # fmt: skip


def test_the_origin_of_an_entry_is_the_best_reason_known() -> None:
    offered = StageRecord(
        "whole vault", Phase.MATCH, verdicts=(Verdict(SKARN, Outcome.ADDED, "offered"),), left=(SKARN,)
    )
    later = StageRecord("keywords", Phase.MATCH, verdicts=(Verdict(SKARN, Outcome.ADDED, "key_hit"),))
    picked = StageRecord("AI selection", Phase.SELECT, verdicts=(Verdict(SKARN, Outcome.CHANGED, "ai_pick"),))
    assert origins(replace(make_trace(), stages=(offered, later)))[SKARN] == KEYWORD
    assert origins(replace(make_trace(), stages=(offered, picked)))[SKARN] == AI


# ---- choices --------------------------------------------------------------------------------------------------------


def test_choices_survive_the_window(tmp_path) -> None:
    choice = RunChoice(Mode.AI_ONLY, Source(AnswerKind.PROVIDER, "My | odd, name"), ("guide_leak", "fill_count"))
    store = ChoiceStore()
    store.keep_in(QSettings(str(tmp_path / "w.ini"), QSettings.Format.IniFormat))
    store.save("abc", choice)
    again = ChoiceStore()
    settings = QSettings(str(tmp_path / "w.ini"), QSettings.Format.IniFormat)
    again.keep_in(settings)
    assert again.load("abc") == choice
    assert again.load("other") is None
    settings.setValue("runs/odd", "telepathy|stand-in||")
    settings.setValue("runs/old", "two-stage|stand-in|no_such_switch,guide_leak|")
    assert again.load("odd") is None
    assert again.load("old") == RunChoice(Mode.TWO_STAGE, Source(), ("guide_leak",))


def test_a_choice_changes_mode_and_switches_and_nothing_else() -> None:
    project = make_project()
    assert RunChoice.of(project).applied(project) is project
    changed = RunChoice(Mode.TWO_STAGE, Source(), ("guide_leak",)).applied(project)
    assert changed.settings.ai_search_enabled
    assert changed.settings.ai_search_mode == "two-stage"
    assert changed.behaviour.guide_leak == FIXED
    assert RunChoice.of(changed) == RunChoice(Mode.TWO_STAGE, Source(), ("guide_leak",))
    back = RunChoice.of(project).applied(changed)
    assert back.settings == project.settings
    assert back.behaviour == project.behaviour


def test_where_nobody_is_asked_every_answer_source_is_the_same() -> None:
    typed = Source(AnswerKind.TYPED)
    assert RunChoice(Mode.KEYWORDS, typed).effective == RunChoice(Mode.KEYWORDS)
    assert RunChoice(Mode.AI_ONLY, typed).effective == RunChoice(Mode.AI_ONLY, typed)
    assert RunChoice(Mode.KEYWORDS, typed).title == "Keywords only"


def test_the_stand_in_is_called_what_it_is() -> None:
    assert source_title(Source()) == "Offline stand-in (no model)"
