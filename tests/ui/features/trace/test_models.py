from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtCore import QAbstractItemModel, QModelIndex
from PySide6.QtTest import QAbstractItemModelTester

from lorestudio.domain.entry import VaultIndex
from lorestudio.trace.budget import AI, ALWAYS, KEYWORD, budget_view, origins
from lorestudio.trace.journey import Journeys
from lorestudio.trace.matching.found_keys import FoundKey
from lorestudio.trace.model import Outcome, Phase, StageRecord, Verdict
from lorestudio.ui.features.chat.model import ChatList, Speaker
from lorestudio.ui.features.trace.flow import FunnelList, steps
from lorestudio.ui.features.vault.tree import Branch, VaultTree
from lorestudio.ui.shell.qt import ACCESSIBLE_TEXT, DISPLAY, TOOLTIP
from lorestudio.ui.widgets.marks import KeyQuery, entry_kind, fate_mark
from tests.ui.worlds import BELL, CROWN, DAWNKEEP, ENTRIES, LEFT_OUT, RULES, SKARN, empty_trace, make_chat, make_trace

pytestmark = pytest.mark.usefixtures("qapp")
INDEX = VaultIndex(ENTRIES, LEFT_OUT, vaults=("vault",))


def check(model: QAbstractItemModel) -> None:
    """Qt's own test of a model."""
    QAbstractItemModelTester(model, QAbstractItemModelTester.FailureReportingMode.Fatal)


def picture(model: VaultTree, parent: QModelIndex | None = None, depth: int = 0) -> list[str]:
    above = parent or QModelIndex()
    lines = []
    for row in range(model.rowCount(above)):
        index = model.index(row, 0, above)
        lines.append("  " * depth + f"{model.node(index).icon} {index.data(DISPLAY)}")
        lines += picture(model, index, depth + 1)
    return lines


# ---- vault ----------------------------------------------------------------------------------------------------------


def test_the_tree_shows_folders_first_and_problems_last() -> None:
    model = VaultTree()
    check(model)
    model.set_index(INDEX)
    assert picture(model) == [
        "folder items",
        "  normal Crown",
        "folder places",
        "  normal Dawnkeep",
        "normal Bell",
        "constant Rules",
        "normal Skarn",
        "broken Broken notes",
        "  broken bad.md",
        "left-out Left out",
        "  left-out README.md",
    ]


def test_two_vaults_get_a_branch_each() -> None:
    entries = (ENTRIES[SKARN], replace(ENTRIES[RULES], vault="other"))
    model = VaultTree()
    model.set_index(VaultIndex(entries, vaults=("vault", "other")))
    assert picture(model) == ["folder other", "  constant Rules", "folder vault", "  normal Skarn"]


@pytest.mark.parametrize(
    ("text", "matches", "shown"),
    [
        ("skarn", 1, [SKARN]),
        ("FORTRESS", 1, [DAWNKEEP]),  # a key
        ("places", 1, [DAWNKEEP]),  # a folder
        ("r  o", 4, [CROWN, DAWNKEEP]),  # every word, and README.md and bad.md by their problems
        ("nothing like it", 0, []),
        ("", 7, [CROWN, DAWNKEEP, BELL, RULES, SKARN]),
    ],
)
def test_the_filter_wants_every_word(text: str, matches: int, shown: list[int]) -> None:
    model = VaultTree()
    model.set_index(INDEX)
    model.set_filter("x")
    model.set_filter(text)
    assert model.entries() == shown
    assert model.matches == matches
    assert model.filtered == bool(text)


def test_a_row_says_what_it_is_and_what_became_of_it() -> None:
    trace = make_trace()
    ends = Journeys(trace).fates
    model = VaultTree()
    model.set_index(INDEX)
    marks = {entry: fate_mark(end) for entry, end in ends.items()}
    model.set_marks(marks.get, lambda note: note is ENTRIES[CROWN])
    crown = model.index_of_note(ENTRIES[CROWN])
    assert crown.data(ACCESSIBLE_TEXT) == "Crown, normal, 1 warning, unsaved changes, this turn: cut"
    rules = model.index_of_note(ENTRIES[RULES])
    assert rules.data(ACCESSIBLE_TEXT) == "Rules, constant, always in, this turn: injected"
    assert "priority is no number" in crown.data(TOOLTIP)
    assert model.is_dirty(model.node(crown))
    broken = model.index(0, 0, model.index(5, 0))
    assert broken.data(ACCESSIBLE_TEXT) == "bad.md: not UTF-8: byte 0xFF in line 3"
    assert model.node(broken).kind is Branch.LEFT_OUT


def test_five_thousand_entries_are_arranged_and_filtered(qtbot) -> None:
    entries = tuple(
        replace(ENTRIES[SKARN], id=number, title=f"Note {number}", filename=f"folder {number % 50}/n{number}.md")
        for number in range(5000)
    )
    model = VaultTree()
    model.set_index(VaultIndex(entries, vaults=("vault",)))
    model.set_filter("folder 49/")
    assert model.matches == 100
    assert len(model.entries()) == 100


# ---- funnel, budget, origins ----------------------------------------------------------------------------------------


def test_the_funnel_counts() -> None:
    found = {step.stage: (step.left, step.added, step.removed) for step in steps(make_trace())}
    assert found == {"constants": (1, 1, 0), "keywords": (4, 3, 0), "budget": (3, 0, 1)}
    assert len(steps(make_trace(), everything=True)) == 6
    budget = steps(make_trace())[-1]
    assert (budget.share, budget.removed_share) == (0.75, 0.25)
    assert budget.why == "Cut by the budget × 1"


def test_funnel_rows_are_words_too() -> None:
    model = FunnelList()
    check(model)
    model.set_rows(steps(make_trace()))
    assert model.index(1, 0).data(ACCESSIBLE_TEXT) == "keywords: 4 candidates, 3 added (Key found × 3)"


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


def test_where_entries_came_from() -> None:
    trace = make_trace()
    assert origins(trace)[RULES] is ALWAYS
    assert origins(trace)[SKARN] is KEYWORD
    picks = tuple(Verdict(entry, Outcome.KEPT, "ai_pick") for entry in (RULES, SKARN))
    chosen = StageRecord("AI selection", Phase.SELECT, verdicts=picks)
    found = origins(replace(trace, stages=(*trace.stages, chosen)))
    assert (found[RULES], found[SKARN]) == (ALWAYS, AI)


# ---- chat -----------------------------------------------------------------------------------------------------------


def test_one_row_per_message_and_the_reply_to_come() -> None:
    model = ChatList()
    check(model)
    model.set_chat(make_chat())
    kinds = [model.row(row).speaker for row in range(model.rowCount())]
    assert kinds == [
        Speaker.CHARACTER,
        Speaker.USER,
        Speaker.CHARACTER,
        Speaker.HIDDEN,
        Speaker.USER,
        Speaker.CHARACTER,
        Speaker.USER,
        Speaker.NEXT,
    ]
    model.set_chat(None)
    assert model.rowCount() == 0


def test_chips_and_swipes() -> None:
    model = ChatList()
    model.set_chat(make_chat())
    model.set_traces(lambda message, swipe: make_trace() if (message, swipe) == (2, 0) else None)
    assert (model.row(2).text, model.row(2).swipe, model.row(2).swipes) == ("Dawnkeep stands.", 1, 2)
    assert model.row(2).chip == ""
    model.view_swipe(2, 0)
    assert model.row(2).text == "It fell."
    assert model.row(2).chip == "3 entries · 100 tokens"
    assert "swipe 1 of 2" in model.index(2).data(ACCESSIBLE_TEXT)


def test_keys_are_marked_where_the_run_looked() -> None:
    model = ChatList()
    model.set_chat(make_chat())
    model.highlight(KeyQuery((FoundKey(SKARN, "skarn"),), 5))
    assert [(mark.start, mark.end) for mark in model.row(4).marks] == [(4, 9)]
    assert not model.row(5).marks  # the reply itself was not searched
    model.highlight(KeyQuery((FoundKey(SKARN, "skarn", 1),), 5))
    assert not model.row(4).marks


def test_a_refine_key_is_marked_apart_from_the_key_and_says_whose_it_is() -> None:
    model = ChatList()
    model.set_chat(make_chat())
    keys = (FoundKey(SKARN, "skarn", 4, 4, 9), FoundKey(SKARN, "crown", 4, 19, 24, refine=True))
    model.highlight(KeyQuery(keys, 5, "Skarn"))
    first, second = model.row(4).marks
    assert (first.start, first.refine, second.start, second.refine) == (4, False, 19, True)
    assert second.words == "“crown” is a refine key of “Skarn”. Its key “skarn” is in #4."
    assert "the key “skarn” was found here, the refine key “crown” was found here" in model.row(4).describe()


def test_a_key_that_is_its_own_refine_key_is_marked_once() -> None:
    query = KeyQuery((FoundKey(SKARN, "ebb", 0, 0, 3), FoundKey(SKARN, "ebb", 0, 0, 3, refine=True)), 1, "Skarn")
    assert [mark.refine for mark in query.marks(0, "ebb tide")] == [False]


def test_a_key_without_its_refine_keys_says_what_is_missing() -> None:
    query = KeyQuery((FoundKey(SKARN, "ebb", 0, 0, 3, missing="None of its refine keys is there."),), 1, "Skarn")
    (mark,) = query.marks(0, "ebb tide")
    assert mark.lacking
    assert mark.words.endswith("None of its refine keys is there.")


# ---- kinds ----------------------------------------------------------------------------------------------------------


def test_kinds() -> None:
    assert entry_kind(ENTRIES[RULES]).icon == "constant"
    assert entry_kind(replace(ENTRIES[RULES], guide=True)).icon == "guide"
    assert entry_kind(replace(ENTRIES[SKARN], seed=True)).icon == "seed"
    assert entry_kind(replace(ENTRIES[SKARN], bootstrap=True)).icon == "bootstrap"
