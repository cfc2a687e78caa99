from __future__ import annotations

import csv
import io

from lorestudio.domain.records import replace
from lorestudio.trace.flow import SANKEY_FROM, TABLE_COLUMNS, Direction, Measure, flow, flow_rows
from lorestudio.trace.model import Phase
from lorestudio.trace.text import csv_bytes
from tests.trace.examples import (
    CROWN,
    DAWNKEEP,
    ENTRIES,
    OATH,
    REMOVED,
    RIVER,
    SKARN,
    TAVERN,
    quiet_run,
    ref,
    stage,
    story,
    trace,
    verdict,
)


def test_what_joins_and_leaves_is_grouped_by_reason() -> None:
    stages = {each.name: each for each in flow(story()).stages}
    (joined,) = stages["keywords"].going(Direction.JOINS)
    assert (joined.group, joined.entries, joined.tokens) == ("Key found", (DAWNKEEP, CROWN, OATH), 500 + 900 + 50)
    (gated,) = stages["contextual gating"].going(Direction.LEAVES)
    assert (gated.group, gated.entries) == ("Filtered by context: Era", (TAVERN,))
    (pinned,) = stages["pins and blocks"].going(Direction.JOINS)
    assert pinned.entries == (RIVER,)
    (cut,) = stages["budget"].going(Direction.LEAVES)
    assert (cut.group, cut.entries, cut.tokens) == ("Cut by the budget", (OATH,), 50)


def test_a_shortened_entry_stays_and_leaves_a_part_of_its_tokens() -> None:
    budget = next(each for each in flow(story()).stages if each.name == "budget")
    (shortened,) = budget.going(Direction.SHORTENED)
    assert (shortened.entries, shortened.tokens) == ((CROWN,), 900 - 690)
    assert shortened.amount(Measure.ENTRIES) == 0
    assert shortened.amount(Measure.TOKENS) == 210


def test_nothing_is_lost_between_the_stages() -> None:
    for measure in Measure:
        for each in flow(story()).stages:
            inflow = sum(ribbon.amount(measure) for ribbon in each.going(Direction.JOINS))
            out = sum(ribbon.amount(measure) for ribbon in each.ribbons if ribbon.direction is not Direction.JOINS)
            assert each.amount(measure, before=True) + inflow == each.amount(measure) + out


def test_two_reasons_of_the_budget_are_one_group_and_two_fields_are_two() -> None:
    everyone = (SKARN, DAWNKEEP, CROWN, TAVERN)
    run = trace(
        entries=ENTRIES,
        stages=(
            stage("contextual gating", Phase.GATE, everyone, (CROWN, TAVERN),
                  verdict(SKARN, REMOVED, "gated_field", label="Era"),
                  verdict(DAWNKEEP, REMOVED, "gated_field", label="Place")),
            stage("budget", Phase.BUDGET, (CROWN, TAVERN), (), verdict(CROWN, REMOVED, "over_budget"),
                  verdict(TAVERN, REMOVED, "behind_cut")),
        ),
    )  # fmt: skip
    gating, budget = flow(run).stages
    groups = [ribbon.group for ribbon in gating.ribbons]
    assert groups == ["Filtered by context: Era", "Filtered by context: Place"]
    assert [ribbon.entries for ribbon in budget.ribbons] == [(CROWN, TAVERN)]


def test_stages_that_drop_are_counted() -> None:
    stream = flow(story())
    assert stream.dropping == 2
    assert stream.dropping < SANKEY_FROM
    assert [each.name for each in stream.changing] == [
        "constants", "keywords", "cascade links", "pins and blocks", "contextual gating", "budget",
    ]  # fmt: skip
    assert stream.widest(Measure.ENTRIES) == 6
    assert flow(quiet_run()).widest(Measure.TOKENS) == 0


def test_a_stage_that_takes_out_without_a_word_says_so() -> None:
    run = trace(entries=ENTRIES, stages=(stage("odd", Phase.GATE, (SKARN,), ()),))
    assert [ribbon.group for ribbon in flow(run).stages[0].ribbons] == ["No reason given"]


def test_the_table_holds_every_stage_and_ribbon() -> None:
    rows = flow_rows(flow(story()), story())
    gating = [row[2:] for row in rows if row[0] == "contextual gating"]
    assert gating == [
        ("came in", "", 6, 300 + 500 + 900 + 50 + 200 + 40, ""),
        ("leaves", "Filtered by context: Era", 1, 200, "Tavern"),
        ("went on", "", 5, 300 + 500 + 900 + 50 + 40, ""),
    ]
    everything = flow_rows(flow(story()), story(), everything=True)
    assert ("bootstrap", "match", "skipped", "", 1, 300, "") in everything


def test_csv_can_be_read_back_and_holds_no_formula() -> None:
    renamed = replace(story(), entries={**ENTRIES, TAVERN: ref(TAVERN, '=cmd("x"), one', 60, 200)})
    table = csv_bytes((TABLE_COLUMNS, *flow_rows(flow(renamed), renamed)))
    lines = list(csv.reader(io.StringIO(table.decode("utf-8-sig"))))
    assert tuple(lines[0]) == TABLE_COLUMNS
    (row,) = [line for line in lines if line[3] == "Filtered by context: Era"]
    assert row[4:] == ["1", "200", '\'=cmd("x"), one']
