"""The budget of a run: what took it, what was cut, and where the entries came from."""

from __future__ import annotations

from lorestudio.domain.records import replace
from lorestudio.trace.budget import AI, ALWAYS, KEYWORD, budget_view, origins
from lorestudio.trace.model import Limit, Outcome, Phase, StageRecord, Verdict
from lorestudio.trace.summary import summary
from lorestudio.trace.timeline import summarise
from tests.ui.worlds import CROWN, RULES, SKARN, empty_trace, make_trace


def test_the_budget_in_injection_order_with_what_was_cut() -> None:
    view = budget_view(make_trace())
    assert [segment.title for segment in view.inside] == ["Rules", "Skarn", "Dawnkeep"]
    assert (view.used, view.maximum, view.free) == (100, 100, 0)
    assert (view.entries_used, view.entries_maximum) == (3, 8)
    assert [(segment.title, segment.tokens, segment.needs) for segment in view.cut] == [("Crown", 158, 158)]
    assert view.cut[0].describe(100) == "Crown: 158 tokens, needs 158 more tokens than were free"
    assert view.inside[1].describe(100) == "Skarn: 60 tokens (60% of the budget), keyword"
    assert "trimmed from 40" in view.inside[2].describe(100)
    assert view.headline() == "100 of 100 tokens"


def test_what_was_over_the_limit_of_entries_was_not_cut_by_the_budget() -> None:
    trace = make_trace()
    budget = next(record for record in trace.stages if record.name == "budget")
    over = Verdict(CROWN, Outcome.REMOVED, "over_entry_cap", {"cap": 3, "tokens": 158})
    others = tuple(verdict for verdict in budget.verdicts if verdict.entry != CROWN)
    stages = tuple(replace(each, verdicts=(*others, over)) if each is budget else each for each in trace.stages)
    (crown,) = budget_view(replace(trace, stages=stages)).cut
    assert (crown.over_count, crown.needs) == (True, None)
    assert crown.describe(100) == "Crown: the limit of 3 entries was reached"
    assert not budget_view(trace).cut[0].over_count


def test_outlets_do_not_count_and_no_limit_is_no_limit() -> None:
    trace = make_trace()
    outlet = replace(trace.injections[0], position=-1, tag="customWIOutlet_style")
    view = budget_view(replace(trace, injections=(outlet, *trace.injections[1:]), limits=()))
    assert view.used == 90
    assert view.free is None
    assert view.headline() == "90 tokens, no limit"
    assert budget_view(empty_trace(2)).segments == ()


def test_outlets_count_where_the_system_counts_them() -> None:
    trace = make_trace()
    outlet = replace(trace.injections[0], position=-1, tag="customWIOutlet_style")
    within = replace(trace, injections=(outlet, *trace.injections[1:]), words=replace(trace.words, counts_outlets=True))
    view = budget_view(within)
    assert view.used == 100
    assert view.inside[0].describe(100) == "Rules: 10 tokens (10% of the budget), constant"
    assert "(100 of 100 tokens; 1 shortened)" in summary(within)
    assert within.queue.keys() == trace.queue.keys()


def test_what_the_limit_counts_besides_the_entries_is_used_too() -> None:
    trace = make_trace()
    limit = Limit("tokens", 130, 200, "tokens", 30, "conversation")
    shared = replace(trace, limits=(limit, *trace.limits[1:]))
    view = budget_view(shared)
    assert (view.used, view.free, view.headline()) == (130, 70, "130 of 200 tokens")
    assert [segment.title for segment in view.inside] == ["Rules", "Skarn", "Dawnkeep"]
    assert view.counted[-1].describe(200) == "Conversation: 30 tokens (15% of the budget), no entry"
    assert "(100 tokens, with the conversation 130 of 200; 1 shortened)" in summary(shared)
    assert (summarise(shared).used, summarise(shared).tokens) == (130, 100)


def test_texts_that_are_counted_as_one_take_what_the_limit_says() -> None:
    trace = make_trace()
    joined = replace(trace, limits=(Limit("token budget", 98, 200, "tokens"), *trace.limits[1:]))
    view = budget_view(joined)
    assert (sum(segment.tokens for segment in view.inside), view.used, view.free) == (100, 98, 102)
    assert "(100 tokens; the budget counts 98 of 200; 1 shortened)" in summary(joined)
    assert summarise(joined).used == 98


def test_where_entries_came_from() -> None:
    trace = make_trace()
    assert origins(trace)[RULES] is ALWAYS
    assert origins(trace)[SKARN] is KEYWORD
    picks = tuple(Verdict(entry, Outcome.KEPT, "ai_pick") for entry in (RULES, SKARN))
    chosen = StageRecord("AI selection", Phase.SELECT, verdicts=picks)
    found = origins(replace(trace, stages=(*trace.stages, chosen)))
    assert (found[RULES], found[SKARN]) == (ALWAYS, AI)
