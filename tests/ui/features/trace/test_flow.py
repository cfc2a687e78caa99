"""The funnel and the flow: how many candidates each stage had and left, as rows, as a picture and as a table."""

from __future__ import annotations

from pathlib import Path
from typing import Any, get_args

import pytest
from PySide6.QtCore import QPoint, QPointF, QRectF, Qt
from PySide6.QtGui import QFont, QFontMetricsF, QImage
from PySide6.QtWidgets import QListView, QMenu
from pytestqt.qtbot import QtBot

from lorestudio.domain.records import replace
from lorestudio.settings.declaration import DeepLoreStage
from lorestudio.studio.report.pictures import lay_out, ribbon_words
from lorestudio.trace.flow import Measure, flow
from lorestudio.trace.model import Outcome, Phase, StageRecord, StageStatus, Trace, Verdict
from lorestudio.ui.features.trace.flow import FlowPage, FlowView, FunnelList, FunnelStep, steps
from lorestudio.ui.shell.qt import ACCESSIBLE_TEXT, DISPLAY
from lorestudio.ui.shell.theme import Theme, scaled
from lorestudio.ui.widgets import dialogs
from lorestudio.ui.widgets.cells import CellDelegate
from lorestudio.ui.widgets.paint import glyph
from tests.ui.conftest import check, drain
from tests.ui.drawing import Drawn, PaintWatch, at_the_right, drawn, drawn_by, image_of, words_drawn
from tests.ui.worlds import BELL, CROWN, DAWNKEEP, RULES, SKARN, make_trace

pytestmark = pytest.mark.usefixtures("qapp")


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


STEP = FunnelStep("budget", Phase.BUDGET, 3, 0, 0, 0.75, 0.25, "", "")


@pytest.mark.parametrize(
    ("step", "words"),
    [
        (STEP, "budget: 3 candidates"),
        (replace(STEP, left=1, measure=Measure.TOKENS), "budget: 1 token"),
        (replace(STEP, added=2, removed=1, why="Cut × 1"), "budget: 3 candidates, 2 added, 1 removed (Cut × 1)"),
        (replace(STEP, error="it broke"), "budget: 3 candidates, failed: it broke"),
        (replace(STEP, running=True), "budget: 3 candidates, running"),
    ],
)
def test_a_step_in_words(step: FunnelStep, words: str) -> None:
    assert step.describe() == words


@pytest.mark.parametrize("letters", [1.0, 1.5], indirect=True)
def test_the_names_of_stages_are_whole_in_the_funnel(letters: float, theme: Theme, qtbot: QtBot) -> None:
    """“requires and excl…” stood beside a bar with room to spare."""
    view, model = QListView(), FunnelList()
    qtbot.addWidget(view)
    names = {*get_args(DeepLoreStage)} - {"contextual gating (selection)"}
    model.set_rows([replace(STEP, stage=name) for name in names])
    view.setModel(model)
    view.setItemDelegate(CellDelegate(theme, view))
    view.resize(round(420 * letters), round(1600 * letters))
    assert names - {*words_drawn(view)} == set()


@pytest.mark.parametrize("letters", [1.0, 1.5], indirect=True)
def test_stages_and_numbers_of_five_figures_are_whole_in_the_funnel(letters: float, theme: Theme, qtbot: QtBot) -> None:
    view, model = QListView(), FunnelList()
    qtbot.addWidget(view)
    model.set_rows((replace(STEP, stage="contextual gating", left=12_345, measure=Measure.TOKENS),))
    view.setModel(model)
    view.setItemDelegate(CellDelegate(theme, view))
    view.resize(round(420 * letters), 100)
    assert {"contextual gating", "12,345"} <= {*words_drawn(view)}
    assert view.sizeHintForRow(0) >= 2 * view.fontMetrics().height()


def test_a_stage_that_runs_or_failed_is_a_step_even_where_it_changed_nothing() -> None:
    trace = make_trace()
    running = steps(trace, running="placement")[-1]
    assert (running.stage, running.running, running.why) == ("placement", True, "Running…")
    failed = StageRecord("recursion", Phase.MATCH, StageStatus.FAILED, error="it broke")
    last = steps(replace(trace, stages=(*trace.stages, failed)))[-1]
    assert (last.stage, last.error, last.running) == ("recursion", "it broke", False)
    model = FunnelList()
    model.set_rows(steps(trace))
    model.set_elapsed("1.5 s")
    assert "1.5 s" not in model.rows[-1].why
    model.set_rows(steps(trace, running="placement"))
    model.set_elapsed("1.5 s")
    assert [step.why for step in model.rows if "1.5 s" in step.why] == ["Running, 1.5 s"]


def test_a_step_is_drawn_with_its_bar_its_numbers_and_its_reason(theme: Theme, qtbot: QtBot) -> None:
    view, model = QListView(), FunnelList()
    qtbot.addWidget(view)
    view.setModel(model)
    view.setItemDelegate(CellDelegate(theme, view))
    view.resize(600, 200)
    model.set_rows([
        replace(STEP, left=3, added=2, removed=1, why="Cut × 1"),
        replace(STEP, stage="placement", phase=Phase.INJECT, error="it broke"),
        replace(STEP, stage="keywords", phase=Phase.MATCH, running=True),
    ])  # fmt: skip
    shown = drawn(view)
    words = [(each.words, each.fill) for each in shown if each.kind == "text"]
    faint, red, text = (theme.color(name).name() for name in ("text_muted", "error", "text"))
    assert {
        ("budget", text),
        ("3", text),
        ("+2  −1", faint),
        ("budget", faint),
        ("Cut × 1", faint),
        ("it broke", red),
    } <= set(words)
    bold = [each.words for each in shown if each.weight >= QFont.Weight.DemiBold]
    assert sorted(bold) == ["3", "3", "3", "budget", "keywords", "placement"]
    fills = {theme.fill(name)[0].name() for name in ("purple", "green", "yellow")}
    assert fills <= {each.fill for each in shown}
    kept = next(each.box for each in shown if each.fill == theme.fill("purple")[0].name())
    removed = next(each.box for each in shown if each.fill.startswith("url(#fillpattern"))
    assert (removed.left(), removed.width()) == pytest.approx((kept.right(), kept.width() / 3), abs=2)
    live, failed = (
        image_of(glyph(icon, theme.color(tone).name(), 13)) for icon, tone in (("live", "accent"), ("error", "error"))
    )
    assert [each.image for each in shown if each.image] == [failed, live]
    view.setCurrentIndex(model.index(2, 0))
    assert live in {each.image for each in drawn(view)}  # also on a chosen row


# ---- the picture ---------------------------------------------------------------------------------------------------

REASONS = ("gated_field", "blocked", "excluded_by", "over_budget")
EVERYONE = (RULES, SKARN, DAWNKEEP, CROWN, BELL)


def leaky_trace() -> Trace:
    """Four stages, each of which drops an entry."""
    stages = tuple(
        StageRecord(
            f"stage {place}", Phase.GATE, entered=EVERYONE[place:], left=EVERYONE[place + 1 :],
            verdicts=(Verdict(EVERYONE[place], Outcome.REMOVED, reason),),
        )
        for place, reason in enumerate(REASONS)
    )  # fmt: skip
    return replace(make_trace(), stages=stages, injections=())


@pytest.fixture
def view(theme: Theme, qtbot: QtBot) -> FlowView:
    made = FlowView(theme)
    qtbot.addWidget(made)
    made.resize(600, 300)
    made.set_flow(flow(leaky_trace()), Measure.ENTRIES)
    made.show()
    return made


def word(view: FlowView, text: str) -> Drawn:
    return next(each for each in drawn(view) if text in each.words)


def place_of(view: FlowView, text: str) -> QPoint:
    return QPointF(word(view, text).box.topLeft() + QPointF(4, -3)).toPoint()


def test_every_stage_is_drawn_with_what_went_on_and_what_left(view: FlowView) -> None:
    words = words_drawn(view)
    assert words[:3] == ["stage 0", "4 entries on", next(each for each in words if "Filtered by context" in each)]
    assert [each for each in words if each.endswith("on")] == [
        "4 entries on", "3 entries on", "2 entries on", "1 entry on",
    ]  # fmt: skip
    assert view.height() == view.sizeHint().height() > word(view, "stage 3").box.top()
    view.set_flow(flow(leaky_trace()), Measure.TOKENS)
    assert [each for each in words_drawn(view) if each.endswith("on")][-1] == "5 tokens on"


def test_the_arrows_go_through_stages_and_ribbons(view: FlowView, qtbot: QtBot) -> None:
    key, seen, told = Qt.Key, [], []
    view.moved.connect(lambda box: seen.append(round(box.top())))
    view.ribbon_chosen.connect(lambda entries, words: told.append((entries, words)))
    walk = [(key.Key_Up, 0), (key.Key_Down, 1), (key.Key_Down, 2), (key.Key_Up, 1), (key.Key_End, 3),
            (key.Key_Down, 3), (key.Key_Right, 3), (key.Key_Left, 3), (key.Key_Home, 0)]  # fmt: skip
    drain()
    painted = PaintWatch(view)
    for pressed, row in walk:
        painted.seen = 0
        qtbot.keyClick(view, pressed)
        drain()
        assert painted.seen  # the mark is where the keyboard is
        assert view.stage == f"stage {row}"
        assert view.accessibleDescription().startswith(f"stage {row}: ")
        assert f"{4 - row} entr" in view.accessibleDescription()
    assert seen == [seen[0] + row * (seen[1] - seen[0]) for _pressed, row in walk]
    for pressed in (key.Key_Return, key.Key_Enter, key.Key_A):
        qtbot.keyClick(view, pressed)
    assert [entries for entries, _words in told] == [(RULES,)] * 2
    assert told[0][1] == "stage 0: −1 Filtered by context"


def test_the_mouse_moves_to_a_stage_and_lists_a_ribbon(view: FlowView, qtbot: QtBot) -> None:
    told: list[tuple[int, ...]] = []
    view.ribbon_chosen.connect(lambda entries, _words: told.append(entries))
    qtbot.mouseClick(view, Qt.MouseButton.LeftButton, pos=place_of(view, "stage 2"))
    assert (view.stage, told) == ("stage 2", [])
    assert view.words_at(place_of(view, "stage 2")) == ""
    blocked = place_of(view, "Blocked")
    assert view.words_at(blocked) == "−1 Blocked"
    qtbot.mouseClick(view, Qt.MouseButton.LeftButton, pos=blocked)
    assert (view.stage, told) == ("stage 1", [(SKARN,)])
    qtbot.mouseClick(view, Qt.MouseButton.LeftButton, pos=QPoint(10, view.height() - 1))
    assert told == [(SKARN,)]


def test_another_width_and_another_run_are_other_pictures(view: FlowView, qtbot: QtBot) -> None:
    before = word(view, "Blocked").box.left()
    view.resize(900, 300)
    assert word(view, "Blocked").box.left() > before
    qtbot.keyClick(view, Qt.Key.Key_End)
    view.set_flow(flow(make_trace()), Measure.ENTRIES)
    assert view.stage == "budget"  # the last one of that run
    view.set_flow(None, Measure.ENTRIES)
    assert (view.stage, view.current) == ("", None)
    assert view.accessibleDescription() == "No stage changed anything."
    qtbot.keyClick(view, Qt.Key.Key_Down)
    assert view.stage == ""


def test_a_stage_without_a_ribbon_says_what_went_on(view: FlowView, qtbot: QtBot) -> None:
    told: list[object] = []
    view.ribbon_chosen.connect(lambda *news: told.append(news))
    view.set_flow(flow(make_trace()), Measure.ENTRIES, everything=True)
    assert (view.stage, view.current) == ("snapshot", None)
    assert view.accessibleDescription() == "snapshot: 0 entries on"
    for pressed in (Qt.Key.Key_Right, Qt.Key.Key_Return):
        qtbot.keyClick(view, pressed)
    assert (view.current, told) == (None, [])
    view.setFocus()
    alone = len(drawn(view))
    view.clearFocus()
    assert len(drawn(view)) == alone - 2  # the ground and the ring of where the keyboard is


def test_rows_lie_below_each_other_with_their_trunk_names_and_amounts(view: FlowView, theme: Theme) -> None:
    picture = lay_out(flow(leaky_trace()), Measure.ENTRIES, 600)
    shown = drawn(view)
    trunk = [each for each in shown if each.fill == theme.color("border_strong").name()]
    wanted = [piece for row in picture.rows for piece in row.trunk if piece.width > 0 and piece.height > 0]
    boxes = [QRectF(piece.left, piece.top, piece.width, piece.height) for piece in wanted]
    assert len(trunk) >= len(boxes)
    for box in boxes:
        assert any(each.box.topLeft() == box.topLeft() and abs(each.box.width() - box.width()) < 0.01 for each in trunk)
    for row in picture.rows:
        name = next(each for each in shown if each.words == row.stage.name)
        amount = next(each for each in shown if each.words == view._amount(row))
        assert name.box.left() == amount.box.left() == 8
        assert amount.box.top() - name.box.top() == pytest.approx(17, abs=2)
        assert row.box.top < name.box.top() < row.box.top + 22
        assert (name.weight, amount.weight) == (600, 400)
        assert amount.points == pytest.approx(0.88 * name.points, abs=0.01)
        assert (name.fill, amount.fill) == (theme.color("text").name(), theme.color("text_muted").name())


def test_ribbons_have_the_colour_of_their_phase_and_their_words_behind_them(view: FlowView, theme: Theme) -> None:
    picture = lay_out(flow(leaky_trace()), Measure.ENTRIES, 600)
    shown = drawn(view)
    ribbons = [each for each in shown if each.fill == theme.fill("orange")[0].name() and each.kind == "path"]
    shapes = [shape for row in picture.rows for shape in row.ribbons]
    assert len(ribbons) == len(shapes) == 4
    for ribbon, shape in zip(ribbons, shapes, strict=True):
        assert ribbon.edge == theme.color("fill_edge").name()
        assert ribbon.box.right() == pytest.approx(shape.end, abs=0.01)
        (word,) = (each for each in shown if each.words == ribbon_words(shape.ribbon, Measure.ENTRIES))
        assert word.box.left() == pytest.approx(shape.end + 6, abs=0.01)
        assert shape.middle < word.box.top() < shape.middle + 10
        assert word.fill == theme.color("text").name()


def test_the_keyboard_shows_the_row_and_the_ribbon_that_it_is_on(view: FlowView, theme: Theme, qtbot: QtBot) -> None:
    picture = lay_out(flow(leaky_trace()), Measure.ENTRIES, 600)
    hover, ink = theme.color("hover").name(), theme.color("focus").name()
    view.clearFocus()
    assert not {hover, ink} & {mark for each in drawn(view) for mark in (each.fill, each.edge)}
    view.setFocus()
    qtbot.waitUntil(view.hasFocus)
    qtbot.keyClick(view, Qt.Key.Key_Down)
    row = picture.rows[1]
    box = QRectF(row.box.left, row.box.top, row.box.width, row.box.height)
    assert [each.box for each in drawn(view) if each.fill == hover] == [box]
    shape = row.ribbons[0]
    label = QRectF(shape.end, shape.middle - 10, 600 - shape.end - 4, 20)
    (ring,) = (each.box for each in drawn(view) if each.edge == ink)
    assert (ring.left(), ring.top()) == (pytest.approx(label.left() + 1, abs=0.01), pytest.approx(label.top() + 1))
    assert (ring.right(), ring.bottom()) == (pytest.approx(label.right() - 1), pytest.approx(label.bottom() - 1))
    view.set_flow(flow(make_trace()), Measure.ENTRIES, everything=True)
    everything = lay_out(flow(make_trace()), Measure.ENTRIES, 600, everything=True)
    first = everything.rows[0].box
    qtbot.keyClick(view, Qt.Key.Key_Home)
    (ring,) = (each.box for each in drawn(view) if each.edge == ink)  # it has no ribbon: the ring is around the row
    assert ring == QRectF(first.left, first.top, first.width, first.height).adjusted(3, 2, -3, -2)


def test_only_rows_in_sight_are_drawn(view: FlowView) -> None:
    picture = lay_out(flow(leaky_trace()), Measure.ENTRIES, 600)
    second = picture.rows[1].box
    seen = QRectF(0, second.top + 1, 600, second.height - 2)
    words = [each.words for each in drawn_by(lambda painter: view.draw(painter, seen)) if each.words]
    assert [word for word in words if word.startswith("stage")] == ["stage 1"]


# ---- list, picture and table ---------------------------------------------------------------------------------------


@pytest.fixture
def page(theme: Theme, qtbot: QtBot) -> FlowPage:
    model, funnel = FunnelList(), QListView()
    funnel.setModel(model)
    made = FlowPage(theme, funnel, model)
    qtbot.addWidget(made)
    made.resize(700, 400)
    made.show()
    return made


def rows_of(page: FlowPage) -> list[list[str]]:
    model = page.table_model
    return [[model.index(row, column).data(DISPLAY) for column in range(7)] for row in range(model.rowCount())]


def test_a_page_shows_a_list_a_flow_or_the_table_of_either(page: FlowPage, qtbot: QtBot) -> None:
    assert not page.is_flow
    assert page.content("csv") == page.content("png") == b""
    page.set_trace(make_trace())
    assert (page.is_flow, type(page.focus_target())) == (False, QListView)
    page.set_trace(leaky_trace())
    assert (page.is_flow, page.focus_target()) == (True, page.view)
    assert rows_of(page) == []  # nobody looks at it
    qtbot.mouseClick(page.table_button, Qt.MouseButton.LeftButton)
    assert page.focus_target() is page.table
    assert [row[0] for row in rows_of(page) if row[2] == "leaves"] == [f"stage {place}" for place in range(4)]
    page.toggle_table()
    assert page.focus_target() is page.view
    page.set_trace(None)
    assert (page.is_flow, rows_of(page), page.content("svg")) == (False, [], b"")


def test_a_page_counts_entries_or_tokens(page: FlowPage) -> None:
    page.set_trace(leaky_trace())
    assert page.measure is Measure.ENTRIES
    page.toggle_measure()
    assert page.measure is Measure.TOKENS
    assert "5 tokens on" in words_drawn(page.view)
    page.toggle_measure()
    assert "1 entry on" in words_drawn(page.view)


def test_a_page_as_files(page: FlowPage) -> None:
    for trace in (make_trace(), leaky_trace()):
        page.set_trace(trace)
        assert page.content("csv").decode("utf-8-sig").startswith("Stage,Phase")
        assert page.content("svg").startswith(b"<svg")
        assert page.content("png").startswith(b"\x89PNG")
    whole = len(page.content("csv").splitlines())
    page.set_trace(make_trace(), everything=True)
    everything = page.content("csv")
    page.set_trace(make_trace())
    assert len(page.content("csv").splitlines()) < len(everything.splitlines())
    assert whole > 4


def test_a_picture_of_the_page_is_twice_as_large_as_what_is_seen(page: FlowPage, theme: Theme) -> None:
    for trace in (make_trace(), leaky_trace()):
        page.set_trace(trace)
        source = page.view if page.is_flow else page._funnel.viewport()
        image = QImage.fromData(page.content("png"))
        assert (image.width(), image.height()) == (2 * source.width(), 2 * source.height())
        assert image.pixelColor(2, image.height() - 2) == theme.color("panel")
        seen = {image.pixelColor(x, y).name() for x in range(0, image.width(), 3) for y in range(0, image.height(), 3)}
        assert (theme.fill("orange")[0].name() in seen) == page.is_flow
        assert len(seen) > 1


def test_a_file_is_asked_for_and_given_away(page: FlowPage, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[object, ...]] = []
    saved: list[tuple[object, bytes]] = []
    page.saving.connect(lambda path, data: saved.append((path, data)))

    def choose(*told: Any) -> None:
        _parent, _title, name, filters, ending, then = told
        asked.append((name, filters, ending))
        then(Path(name))

    monkeypatch.setattr(dialogs, "choose_new_file", choose)
    page.save("csv")
    assert asked == []  # there is nothing yet
    page.set_trace(leaky_trace())
    (menu,) = page.save_button.findChildren(QMenu)
    assert [action.text() for action in menu.actions()] == ["Table as CSV…", "Picture as SVG…", "Picture as PNG…"]
    for action in menu.actions():
        action.trigger()
    turn = leaky_trace().turn.message
    assert asked == [(f"stages-{turn}.{end}", filters, end) for end, filters in (
        ("csv", "Table (*.csv)"), ("svg", "Picture (*.svg)"), ("png", "Picture (*.png)")
    )]  # fmt: skip
    assert [path.suffix for path, _data in saved] == [".csv", ".svg", ".png"]
    assert [data for _path, data in saved[:2]] == [page.content("csv"), page.content("svg")]


def test_where_the_keyboard_goes_in_the_flow_is_brought_into_sight(page: FlowPage, qtbot: QtBot) -> None:
    page.resize(700, 120)
    page.set_trace(leaky_trace())
    drain()
    bar = page._scroll.verticalScrollBar()
    assert (bar.value(), bar.maximum() > 0) == (0, True)
    qtbot.keyClick(page.view, Qt.Key.Key_End)
    box = page.view._picture.rows[-1].box
    assert bar.value() <= box.top
    assert box.top + box.height <= bar.value() + page._scroll.viewport().height()
    qtbot.keyClick(page.view, Qt.Key.Key_Home)
    assert bar.value() <= page.view._picture.rows[0].box.top


def test_numbers_of_the_table_stand_at_the_right(page: FlowPage, qtbot: QtBot) -> None:
    page.set_trace(leaky_trace())
    page.toggle_table()
    model = page.table_model
    heads = [model.headerData(column, Qt.Orientation.Horizontal) for column in at_the_right(model)]
    assert heads == ["Entries", "Tokens"]


def test_a_long_name_of_a_stage_ends_before_the_trunk(view: FlowView) -> None:
    trace = leaky_trace()
    first = replace(trace.stages[0], name="a stage with a name that is by far too long for its room")
    view.set_flow(flow(replace(trace, stages=(first, *trace.stages[1:]))), Measure.ENTRIES)
    word = words_drawn(view)[0]
    assert word.endswith("…")
    metrics = QFontMetricsF(scaled(view.font(), 1.0, bold=True))
    room = view._picture.trunk_at - 14
    assert metrics.horizontalAdvance(word) <= room < metrics.horizontalAdvance(word[:-1] + "mm")
