"""What sort of entry a note is, as a mark."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QRectF
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from lorestudio.domain.records import replace
from lorestudio.trace.found_keys import FoundKey
from lorestudio.trace.held_run import WouldCell, WouldState
from lorestudio.trace.journey import CellState, Fate, FateState, JourneyCell
from lorestudio.trace.model import Outcome, Phase, Verdict
from lorestudio.ui.shell.theme import Theme
from lorestudio.ui.widgets.paint import KeyMark, KeyQuery, cell_mark, draw_key_mark, entry_kind, fate_mark, would_mark
from tests.ui.drawing import drawn
from tests.ui.worlds import ENTRIES, RULES, SKARN


def test_kinds() -> None:
    assert entry_kind(ENTRIES[RULES]).icon == "constant"
    assert entry_kind(replace(ENTRIES[RULES], guide=True)).icon == "guide"
    assert entry_kind(replace(ENTRIES[SKARN], seed=True)).icon == "seed"
    assert entry_kind(replace(ENTRIES[SKARN], bootstrap=True)).icon == "bootstrap"
    assert entry_kind(ENTRIES[SKARN]).icon == "normal"


@pytest.mark.parametrize(
    ("state", "phase", "reason", "word"),
    [
        (CellState.REMOVED, Phase.BUDGET, "over_budget", "cut"),
        (CellState.REMOVED, Phase.MATCH, "x", "not selected"),
        (CellState.REMOVED, Phase.GATE, "x", "gated out"),
        (CellState.REMOVED, Phase.GATE, "cooling_down", "cooling down"),
        (CellState.KEPT, Phase.INJECT, "x", "injected"),
        (CellState.KEPT, Phase.INJECT, "", "kept"),
        (CellState.KEPT, Phase.BUDGET, "x", "kept"),
        (CellState.ADDED, Phase.SELECT, "ai_pick", "chosen by AI"),
        (CellState.ADDED, Phase.MATCH, "x", "candidate"),
        (CellState.NOT_REACHED, Phase.MATCH, "", "not reached"),
    ],
)
def test_what_a_stage_did(state: CellState, phase: Phase, reason: str, word: str) -> None:
    verdict = Verdict(1, Outcome.KEPT, reason) if reason else None
    assert cell_mark(JourneyCell("stage", state, verdict), phase).word == word


@pytest.mark.parametrize(
    ("state", "reason", "word"),
    [
        (WouldState.NOT_ASKED, "", "not offered to AI"),
        (WouldState.STOP, "over_budget", "would be cut"),
        (WouldState.STOP, "cooling_down", "would be cooling down"),
        (WouldState.STOP, "", "would pass"),
        (WouldState.CHANGE, "truncated", "would be trimmed"),
        (WouldState.CHANGE, "x", "would pass"),
        (WouldState.CHANGE, "", "would pass"),
        (WouldState.GO_ON, "truncated", "would pass"),
    ],
)
def test_what_a_stage_would_have_done(state: WouldState, reason: str, word: str) -> None:
    verdict = Verdict(1, Outcome.REMOVED, reason) if reason else None
    mark = would_mark(WouldCell("budget", Phase.BUDGET, state, verdict))
    assert (mark.word, mark.hollow) == (word, True)


@pytest.mark.parametrize(
    ("state", "phase", "reason", "word"),
    [
        (FateState.INJECTED, None, "", "injected"),
        (FateState.TRUNCATED, None, "", "trimmed"),
        (FateState.REMOVED, Phase.BUDGET, "over_budget", "cut"),
        (FateState.REMOVED, None, "x", "gated out"),
        (FateState.REMOVED, Phase.GATE, "reinjection_pause", "cooling down"),
        (FateState.REFUSED, None, "x", "refused"),
        (FateState.REFUSED, None, "not_offered", "not offered to AI"),
        (FateState.UNDECIDED, None, "", "candidate"),
        (FateState.NEVER, None, "", "not a candidate"),
    ],
)
def test_what_became_of_an_entry(state: FateState, phase: Phase | None, reason: str, word: str) -> None:
    assert fate_mark(Fate(1, state, "stage", phase, reason)).word == word


def test_found_keys_lie_in_order_and_none_over_another() -> None:
    keys = (
        FoundKey(SKARN, "bell", 0, 4, 8, refine=True), FoundKey(SKARN, "the bell", 0, 0, 8),
        FoundKey(SKARN, "rings", 0, 9, 14), FoundKey(SKARN, "Wren", 0, in_name=True), FoundKey(SKARN, "sea", 1, 0, 3),
    )  # fmt: skip
    found = KeyQuery(keys, 2, "Skarn").marks(0, "the bell rings")
    assert [(mark.key, mark.in_name) for mark in found] == [("Wren", True), ("the bell", False), ("rings", False)]
    assert [mark.key for mark in KeyQuery(keys, 2, "Skarn").marks(1, "sea")] == ["sea"]
    assert KeyQuery(keys, 1, "Skarn").marks(1, "sea") == ()
    lacking = KeyQuery((replace(keys[2], missing="Not all of them."),), 1, "Skarn").marks(0, "the bell rings")[0]
    assert lacking.describe() == "the key “rings” was found here, its refine keys were not"


@pytest.mark.parametrize(
    ("mark", "words"),
    [
        (KeyMark(0, 4, "bell", "tip"), "the key “bell” was found here"),
        (KeyMark(0, 4, "bell", "tip", refine=True), "the refine key “bell” was found here"),
        (KeyMark(0, 4, "bell", "tip", lacking=True), "the key “bell” was found here, its refine keys were not"),
    ],
)
def test_a_found_key_is_filled_a_refine_key_has_an_edge_only_and_what_lacks_one_a_line_below(
    theme: Theme, qtbot: QtBot, mark: KeyMark, words: str
) -> None:
    class Marked(QWidget):
        def paintEvent(self, _event: QPaintEvent) -> None:  # noqa: N802 (Qt)
            draw_key_mark(QPainter(self), QRectF(20, 10, 60, 20), mark, theme)

    assert mark.describe() == words
    widget = Marked()
    qtbot.addWidget(widget)
    widget.resize(120, 40)
    box, *below = drawn(widget)[1:]  # after the ground
    assert box.edge == theme.color("text" if mark.refine else "border_strong").name()
    assert (box.dashes not in {"", "none"}) == mark.refine
    assert box.fill == ("none" if mark.refine else theme.color("mark").name())
    assert (box.box.left(), box.box.top()) == ((19, 11) if mark.refine else (18.5, 10.5))
    assert [each.edge for each in below] == ([theme.color("on_mark").name()] if mark.lacking else [])
    for line in below:
        assert (line.box.left(), line.box.right(), line.box.top()) == (19.5, 80.5, 28.5)
