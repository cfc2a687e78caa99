"""How the answers of a run look, and what clicks and keys do there."""

from __future__ import annotations

import math

import pytest
from PySide6.QtCore import QPoint, QRectF, Qt
from PySide6.QtGui import QFontMetricsF
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from lorestudio.domain.entry import VaultIndex
from lorestudio.domain.records import replace
from lorestudio.systems.ideas import Change
from lorestudio.trace.diff import compare
from lorestudio.trace.journey import PHASES
from lorestudio.trace.model import Phase, StageRecord, StageStatus
from lorestudio.ui.features.trace.answer_view import AnswerView
from lorestudio.ui.features.trace.answers import TOKENS, WHY, AnswerTable, row_changes
from lorestudio.ui.shell.main_window import MainWindow
from lorestudio.ui.shell.qt import ACCESSIBLE_TEXT, HORIZONTAL, NO_INDEX, TOOLTIP, VERTICAL
from lorestudio.ui.shell.theme import Theme, glyph, scaled
from lorestudio.ui.state.expected import ExpectedMark
from tests.ui.drawing import Drawn, drawn, image_of, words_drawn
from tests.ui.worlds import BELL, CROWN, DAWNKEEP, ENTRIES, LEFT_OUT, RULES, SKARN, make_trace

INDEX = VaultIndex(ENTRIES, LEFT_OUT, vaults=("vault",))


@pytest.mark.dressed
@pytest.mark.parametrize("height", [120, 160, 600])
def test_a_low_table_shows_rows_under_its_phases(window: MainWindow, height: int) -> None:
    view = window.trace.answers
    view.resize(600, height)
    assert view.phases.height() == view.phases.sizeHint().height()  # the names of the phases are whole
    assert view.viewport().height() >= view.rowHeight(0) - view.horizontalScrollBar().height()


def test_everything_grows_with_the_font(window: MainWindow) -> None:
    view = window.trace.answers
    view.resize(600, 600)
    before = view.rowHeight(0), view.phases.height(), view.columnWidth(2)
    font = view.font()
    font.setPointSizeF(font.pointSizeF() * 1.5)
    for part in (view, view.phases, view.verticalHeader()):
        part.setFont(font)
    after = view.rowHeight(0), view.phases.height(), view.columnWidth(2)
    assert all(now > was for now, was in zip(after, before, strict=True))
    assert view.phases.height() == view.phases.sizeHint().height()


def test_a_phase_unfolds_by_mouse_and_by_keyboard(window: MainWindow) -> None:
    view, model = window.trace.answers, window.trace.model
    place = QPoint(view.phases.sectionViewportPosition(2) + 5, 5)
    QTest.mouseClick(view.phases.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert model.unfolded == {Phase.MATCH}
    view.setCurrentIndex(model.index(model.place_of(BELL), model.stage_column("keywords")))
    assert window.selection.stage == "keywords"
    QTest.keyClick(view, Qt.Key.Key_Space)
    assert model.unfolded == frozenset()
    assert model.phase(view.currentIndex().column()) is Phase.MATCH  # the chosen stage's phase


def test_the_button_of_a_row_asks_for_its_change(window: MainWindow) -> None:
    view, model, wanted = window.trace.answers, window.trace.model, []
    view.fix_wanted.disconnect()
    view.fix_wanted.connect(wanted.append)
    row = model.place_of(CROWN)
    assert view.button(row).isEmpty()
    model.set_fix(CROWN, Change("pin", "Pin “Crown” in this chat", brief="Pin in this chat"))
    assert model.index(row, WHY).data(ACCESSIBLE_TEXT).endswith("Enter: Pin in this chat")
    QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=view.button(row).center())
    view.setCurrentIndex(model.index(row, WHY))
    QTest.keyClick(view, Qt.Key.Key_Return)
    view.setCurrentIndex(model.index(model.place_of(DAWNKEEP), WHY))
    QTest.keyClick(view, Qt.Key.Key_Return)
    assert wanted == [CROWN, CROWN]


# ---- the table's other words -----------------------------------------------------------------------------------------


@pytest.fixture
def view(theme: Theme, qtbot: QtBot, model: AnswerTable) -> AnswerView:
    made = AnswerView(theme, model)
    qtbot.addWidget(made)
    made.resize(760, 500)
    made.show()
    return made


def drawn_words(view: AnswerView) -> list[tuple[str, str]]:
    return [(each.words, each.fill) for each in drawn(view) if each.kind == "text"]


def test_a_row_is_drawn_with_its_entry_what_became_of_it_why_and_tokens(view: AnswerView, theme: Theme) -> None:
    shown = drawn_words(view)
    text, faint, chosen = (theme.color(name).name() for name in ("text", "text_muted", "on_accent_soft"))
    assert {("Crown", text), ("cut", faint), ("158", text), ("Match", text), ("Tokens", faint), ("Why", faint)} <= set(
        shown
    )
    assert "Needs 158 tokens" in " ".join(told for told, _ink in shown)
    view.setCurrentIndex(view.table.index(view.table.place_of(CROWN), WHY))
    shown = drawn_words(view)
    assert {("Crown", chosen), ("cut", chosen), ("158", chosen), ("Skarn", text)} <= set(shown)


def test_only_the_row_that_is_looked_at_has_a_ground(view: AnswerView, theme: Theme) -> None:
    def grounds() -> list[tuple[float, float]]:
        shown = [each for each in drawn(view) if each.fill == theme.color("accent_soft").name()]
        return sorted({(each.box.top(), each.box.bottom()) for each in shown})

    view.setCurrentIndex(NO_INDEX)
    assert grounds() == []
    rows = view.verticalHeader()
    for entry in (SKARN, CROWN):
        row = view.table.place_of(entry)
        view.setCurrentIndex(view.table.index(row, WHY))
        top = view.viewport().y() + rows.sectionViewportPosition(row)
        for above, below in (shown := grounds()):
            assert top - 1 <= above < below <= top + rows.sectionSize(row) + 1
        assert shown


def test_what_is_expected_is_drawn_beside_the_title(view: AnswerView, theme: Theme) -> None:
    def glyphs() -> list[Drawn]:
        right = view.verticalHeader().width()
        return [each for each in drawn(view) if each.kind == "image" and each.box.right() <= right]

    before = len(glyphs())
    view.table.held = lambda entry: ExpectedMark(False, "Not met") if entry == CROWN else None
    view.viewport().update()
    assert len(glyphs()) == before + 1


def test_phases_and_stages_are_written_over_their_columns(view: AnswerView, theme: Theme) -> None:
    trace = make_trace()
    failed = StageRecord("recursion", Phase.MATCH, StageStatus.FAILED, error="it broke")
    view.table.set_trace(replace(trace, stages=(*trace.stages[:3], failed)), INDEX)
    error, text, faint = (theme.color(name).name() for name in ("error", "text", "text_muted"))
    assert dict(drawn_words(view))["Match"] == error
    view.table.unfold(frozenset({Phase.MATCH}))
    shown = dict(drawn_words(view))
    assert (shown["recursion"], shown["keywords"], shown["snapshot"]) == (error, text, faint)  # that one was quiet
    band = next(each for each in drawn(view) if each.words == "Match")
    assert band.box.top() < 25
    assert view.columnWidth(2) < view.columnWidth(TOKENS) < view.columnWidth(WHY)


def test_a_change_stands_beside_the_result_or_below_it(view: AnswerView, theme: Theme) -> None:
    before = make_trace()
    after = replace(before, injections=before.injections[:1])
    view.table.set_trace(after, INDEX, changes=row_changes(compare(before, after)))
    left = next(each for each in drawn(view) if each.words == "− left")
    result = next(each for each in drawn(view) if each.words == view.words(view.table.place_of(SKARN)).result[-1])
    assert left.fill == theme.color("warning").name()
    assert view.words(view.table.place_of(SKARN)).change == ("− left",)
    assert left.box.left() >= 30
    assert result.box.left() < left.box.left() or result.box.top() < left.box.top()
    assert view.words(view.table.place_of(RULES)).change == ()
    assert view.words(99).title == ()


def test_rows_are_as_high_as_their_words_and_lower_where_there_is_room(view: AnswerView) -> None:
    crown, rules = view.table.place_of(CROWN), view.table.place_of(RULES)
    view.resize(300, 500)
    high = view.rowHeight(crown)
    assert len(view.words(crown).reason) > len(view.words(rules).reason)
    assert high > view.rowHeight(rules)
    view.table.set_fix(CROWN, Change("pin", "Pin “Crown” in this chat", brief="Pin in this chat"))
    button = view.button(crown)
    assert view.rowHeight(crown) > high
    assert view.visualRect(view.table.index(crown, WHY)).contains(button)
    view.resize(1200, 500)
    assert view.rowHeight(crown) < high
    assert "Pin in this chat" in words_drawn(view)


def test_the_last_row_stays_whole_in_sight_when_a_button_makes_it_higher(view: AnswerView) -> None:
    view.resize(420, 200)
    view.table.set_guest(SKARN)
    last = view.table.rowCount() - 1
    entry = view.table.entry(last)
    assert entry is not None
    view.setCurrentIndex(view.table.index(last, WHY))
    high = view.rowHeight(last)
    view.table.set_fix(entry, Change("pin", "Pin it in this chat", brief="Pin in this chat"))
    assert view.rowHeight(last) > high
    seen = view.visualRect(view.currentIndex())
    assert (seen.height(), view.viewport().rect().contains(seen)) == (view.rowHeight(last), True)


def test_the_chosen_row_stays_in_sight_in_a_lower_view(view: AnswerView) -> None:
    last = view.table.index(view.table.rowCount() - 1, WHY)
    view.setCurrentIndex(last)
    view.resize(760, 170)
    assert view.verticalScrollBar().maximum() > 0
    assert view.viewport().rect().contains(view.visualRect(last))


def test_a_double_click_on_a_row_opens_it_and_on_its_button_does_not(view: AnswerView, qtbot: QtBot) -> None:
    opened: list[bool] = []
    view.opened.connect(lambda: opened.append(True))
    row = view.table.place_of(CROWN)
    view.table.set_fix(CROWN, Change("pin", "Pin “Crown” in this chat", brief="Pin in this chat"))
    view.scrollTo(view.table.index(row, WHY))
    button, why = view.button(row), view.visualRect(view.table.index(row, WHY))
    for place in (button.center(), why.topLeft() + QPoint(3, 3)):
        QTest.mouseDClick(view.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert opened == [True]
    head = view.verticalHeader()
    QTest.mouseDClick(head.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(5, head.sectionViewportPosition(row) + 5))
    assert opened == [True, True]


def test_clicks_on_a_row_a_phase_and_a_button(view: AnswerView, qtbot: QtBot) -> None:
    folded: list[object] = []
    fixed: list[int] = []
    view.fold_wanted.connect(folded.append)
    view.fix_wanted.connect(fixed.append)
    row, left = view.table.place_of(DAWNKEEP), Qt.MouseButton.LeftButton
    down = view.verticalHeader()
    qtbot.mouseClick(down.viewport(), left, pos=QPoint(20, down.sectionViewportPosition(row) + 5))
    assert (view.currentIndex().row(), view.currentIndex().column()) == (row, WHY)
    assert view.hasFocus()
    for column in (WHY, TOKENS, 3):
        qtbot.mouseClick(view.phases.viewport(), left, pos=QPoint(view.phases.sectionViewportPosition(column) + 5, 60))
    assert folded == [Phase.GATE]
    view.table.set_fix(CROWN, Change("pin", "Pin “Crown” in this chat", brief="Pin in this chat"))
    button = view.button(view.table.place_of(CROWN))
    qtbot.mouseClick(view.viewport(), Qt.MouseButton.RightButton, pos=button.center())
    qtbot.mouseClick(view.viewport(), left, pos=button.center() + QPoint(button.width(), 0))
    assert fixed == []
    qtbot.mouseClick(view.viewport(), left, pos=button.center())
    assert fixed == [CROWN]
    qtbot.mouseMove(view.viewport(), QPoint(1, 1))
    qtbot.mouseMove(view.viewport(), button.center())
    assert view.viewport().cursor().shape() is Qt.CursorShape.PointingHandCursor
    qtbot.mouseMove(view.viewport(), QPoint(1, 1))
    assert view.viewport().cursor().shape() is Qt.CursorShape.ArrowCursor


def test_home_and_end_go_to_the_ends_of_the_rows(view: AnswerView, qtbot: QtBot) -> None:
    view.setCurrentIndex(view.table.index(1, WHY))
    for key, row in ((Qt.Key.Key_End, view.table.rowCount() - 1), (Qt.Key.Key_Home, 0)):
        qtbot.keyClick(view, key)
        assert (view.currentIndex().row(), view.currentIndex().column()) == (row, WHY)


def test_space_folds_only_where_a_phase_is(view: AnswerView, qtbot: QtBot) -> None:
    folded: list[object] = []
    view.fold_wanted.connect(folded.append)
    view.setCurrentIndex(view.table.index(0, WHY))
    qtbot.keyClick(view, Qt.Key.Key_Space)
    qtbot.keyClick(view, Qt.Key.Key_Return)
    assert folded == []
    view.setCurrentIndex(view.table.index(0, view.table.stage_column("budget")))
    qtbot.keyClick(view, Qt.Key.Key_Space)
    assert folded == [Phase.BUDGET]


def test_while_a_run_goes_on_the_last_stage_stays_in_sight(view: AnswerView) -> None:
    view.resize(260, 300)
    view.table.unfold(frozenset(PHASES))
    bar = view.horizontalScrollBar()
    assert (bar.value(), bar.maximum() > 0) == (0, True)
    view.watch_last(True)
    assert bar.value() == bar.maximum()
    view.watch_last(False)
    bar.setValue(0)
    view.resize(250, 300)
    assert bar.value() == 0


def test_titles_yield_where_a_narrow_view_leaves_no_room_for_reasons(view: AnswerView) -> None:
    trace = make_trace()
    long = replace(trace.entries[CROWN], title="Rules of the house and of everything around it")
    view.table.set_trace(replace(trace, entries={**trace.entries, CROWN: long}), INDEX)
    titles, reasons = view.verticalHeader().width(), view.columnWidth(WHY)
    view.resize(300, 500)
    assert view.verticalHeader().width() < titles
    assert view.horizontalScrollBar().maximum() == 0
    assert reasons > view.columnWidth(WHY) >= 12 * view.fontMetrics().averageCharWidth()


def test_tokens_yield_before_words_would_be_broken(view: AnswerView) -> None:
    for wide, shown in ((760, True), (300, False), (300 + view.columnWidth(TOKENS), True)):
        view.resize(wide, 500)
        assert view.isColumnHidden(TOKENS) is not shown
        assert ("Tokens" in {told for told, _ink in drawn_words(view)}) is shown
        for row in range(view.table.rowCount()):
            entry = view.table.entry(row)
            assert entry is not None
            assert " ".join(view.words(row).result).split() == view.table.result(entry).word.split()
        assert view.horizontalScrollBar().maximum() == 0


@pytest.mark.parametrize("letters", [1, 1.5])
def test_no_word_of_an_entry_is_broken_in_a_narrow_view(view: AnswerView, letters: float) -> None:
    font = view.font()
    font.setPointSizeF(font.pointSizeF() * letters)
    for part in (view, view.phases, view.verticalHeader()):
        part.setFont(font)
    trace = make_trace()
    view.resize(300, 190)
    for title in ("Skarn", "Grandmother Osk"):
        named = replace(trace.entries[SKARN], title=title)
        entries = {**trace.entries, SKARN: named}
        view.table.set_trace(replace(trace, injections=trace.injections[:1], entries=entries), INDEX)
        row = view.table.place_of(SKARN)
        assert view.words(row).result == ("candidate",)
        assert " ".join(view.words(row).title).split() == title.split()
        view.setCurrentIndex(view.table.index(row, WHY))
        assert view.viewport().height() >= view.rowHeight(row)


@pytest.mark.parametrize("title", ["The seven grey towers " * 20, "TheSevenGreyTowers" * 20])
def test_a_title_of_many_lines_is_shortened_and_whole_in_the_tooltip(view: AnswerView, title: str) -> None:
    trace = make_trace()
    view.resize(300, 190)
    entries = {**trace.entries, SKARN: replace(trace.entries[SKARN], title=title.strip())}
    view.table.set_trace(replace(trace, entries=entries), INDEX)
    row = view.table.place_of(SKARN)
    *first, last = view.words(row).title
    wide = view.verticalHeader().width()
    assert (len(first), last[-1]) == (2, "…")
    assert title.startswith(" ".join(first) if " " in title else "".join(first))
    assert all(view.fonts.title.width(line) <= wide for line in (*first, last))
    assert str(view.table.headerData(row, VERTICAL, TOOLTIP)).startswith(title.strip())


def test_no_word_is_broken_of_an_entry_that_is_only_chosen(view: AnswerView) -> None:
    trace = make_trace()
    short = {number: replace(ref, title="Ox") for number, ref in trace.entries.items()}
    stages = tuple(replace(each, verdicts=(), entered=(), left=()) for each in trace.stages)
    view.resize(560, 300)
    view.table.set_trace(replace(trace, entries=short, stages=stages, injections=()), INDEX)
    assert view.table.rowCount() == 0
    view.table.set_guest(SKARN)
    words = view.words(view.table.place_of(SKARN))
    assert " ".join(words.result).split() == ["not", "a", "candidate"]


# ---- where everything is drawn --------------------------------------------------------------------------------------


def in_head(view: AnswerView) -> list[Drawn]:
    return drawn(view.phases.viewport())


def column_box(view: AnswerView, column: int) -> QRectF:
    left, wide = view.phases.sectionViewportPosition(column), view.phases.sectionSize(column)
    return QRectF(left, 0, wide, view.phases.height())


def test_names_of_phases_are_written_upwards_in_their_columns(view: AnswerView, theme: Theme) -> None:
    for column in range(TOKENS, view.table.columnCount()):
        name = view.table.headerData(column, HORIZONTAL)
        box = column_box(view, column)
        (word,) = (each for each in in_head(view) if each.words == name)
        assert box.left() < word.box.left() < box.right()
        assert word.box.top() == pytest.approx(box.bottom() - 5, abs=1)  # from there it goes up
        assert word.points == pytest.approx(0.9 * view.phases.font().pointSizeF(), abs=0.01)
    why = next(each for each in in_head(view) if each.words == "Why")
    assert why.box.left() == column_box(view, WHY).left() + 6
    assert view.phases.height() - 20 < why.box.top() < view.phases.height()


def test_a_name_that_is_longer_than_its_room_is_shortened(view: AnswerView) -> None:
    """The room ends below the sign, and below the band above that."""
    metrics = QFontMetricsF(scaled(view.phases.font(), 0.9))
    over = view.phases.BAND + view.phases.SIGN + 5
    for spare, whole in ((1, True), (-2, False)):
        view.phases.setFixedHeight(round(metrics.horizontalAdvance("Match")) + over + spare)
        assert ("Match" in [each.words for each in in_head(view)]) == whole


def test_a_low_head_says_how_its_columns_begin(view: AnswerView) -> None:
    """There were only colours and five times the same plus; nothing said that the number was of tokens."""
    view.phases.setFixedHeight(view.phases.BAND + view.phases.SIGN + 2)
    words = {each.words: each.box.left() for each in in_head(view)}
    for column, name in ((TOKENS, "Tokens"), (TOKENS + 1, "Ma"), (view.table.columnCount() - 1, "In")):
        box = column_box(view, column)
        assert box.left() <= words[name] < box.right(), name
    view.table.unfold(frozenset({Phase.MATCH}))
    assert "Ma" not in {each.words for each in in_head(view)}, "the whole name stands over its stages"


def test_each_phase_has_a_band_in_its_colour_and_a_line_before_it(view: AnswerView, theme: Theme) -> None:
    view.table.unfold(frozenset({Phase.MATCH}))
    fills = {Phase.MATCH: "yellow", Phase.GATE: "orange", Phase.BUDGET: "purple", Phase.INJECT: "green"}
    border = theme.color("border").name()
    before = None
    for column in range(2, view.table.columnCount()):
        phase, box = view.table.phase(column), column_box(view, column)
        first = phase is not before
        color = theme.fill(fills[phase])[0].name()
        bands = [each.box for each in in_head(view) if each.fill == color and each.box.top() == 0]
        assert QRectF(box.left() + first, 0, box.width() - first, view.phases.BAND - 1) in bands
        lines = [each.box for each in in_head(view) if each.edge == border and each.box.left() == box.left()]
        assert bool([each for each in lines if not each.width() and each.height() > 20]) == first
        before = phase
    below = [each.box for each in in_head(view) if each.edge == border and each.box.width() > 10]
    assert {each.top() for each in below} == {view.phases.height() - 1}


def test_a_sign_says_which_phases_can_be_unfolded_and_the_name_of_one_stands_over_its_stages(
    view: AnswerView, theme: Theme
) -> None:
    plus, minus = (image_of(glyph(name, theme.palette.text_faint, 10)) for name in ("plus", "minus"))

    def signs() -> list[tuple[int, str]]:
        kinds, found = {plus: "plus", minus: "minus"}, []
        for each in in_head(view):
            if each.image in kinds:
                found.append((view.phases.logicalIndexAt(round(each.box.center().x())), kinds[each.image]))
                assert each.box.center().y() == view.phases.BAND + view.phases.SIGN / 2
        return found

    assert signs() == [(column, "plus") for column in range(2, 6)]
    view.table.unfold(frozenset({Phase.MATCH}))
    stages = [column for column in range(2, view.table.columnCount()) if view.table.phase(column) is Phase.MATCH]
    assert len(stages) == 3
    assert signs() == [(stages[0], "minus"), *((column, "plus") for column in range(5, 8))]
    name = next(each for each in in_head(view) if each.words.startswith("Ma"))
    assert name.box.left() == column_box(view, stages[1]).left()
    assert view.phases.BAND < name.box.top() <= view.phases.BAND + view.phases.SIGN
    assert name.fill == theme.color("text_muted").name()
    room = 2 * view.phases.sectionSize(stages[1])
    wide = QFontMetricsF(scaled(view.phases.font(), 0.9)).horizontalAdvance("Match")
    assert (name.words == "Match") == (wide <= room)
    stages = make_trace().stages
    further = [StageRecord(name, Phase.GATE) for name in ("contextual gating", "blocks")]
    view.table.set_trace(replace(make_trace(), stages=(*stages[:4], *further, *stages[4:])), INDEX)
    view.table.unfold(frozenset({Phase.GATE}))
    gates = [column for column in range(2, view.table.columnCount()) if view.table.phase(column) is Phase.GATE]
    name = next(each for each in in_head(view) if each.words.startswith("Ga"))
    assert (len(gates), name.box.left()) == (3, column_box(view, gates[1]).left())


def test_a_stage_that_runs_or_failed_has_its_sign_in_its_colour(view: AnswerView, theme: Theme) -> None:
    trace = make_trace()
    failed = StageRecord("recursion", Phase.MATCH, StageStatus.FAILED, error="it broke")
    view.table.set_trace(replace(trace, stages=(*trace.stages[:3], failed)), INDEX)
    assert image_of(glyph("error", theme.palette.error, 13)) in {each.image for each in in_head(view)}
    view.table.set_trace(trace, INDEX, running="placement")
    assert image_of(glyph("live", theme.palette.accent, 13)) in {each.image for each in in_head(view)}


def row_box(view: AnswerView, row: int) -> QRectF:
    down = view.verticalHeader()
    return QRectF(0, down.sectionViewportPosition(row), down.width(), down.sectionSize(row))


def in_titles(view: AnswerView) -> list[Drawn]:
    return drawn(view.verticalHeader().viewport())


def test_an_entry_stands_over_what_became_of_it_with_its_mark_before_that(view: AnswerView, theme: Theme) -> None:
    down = view.verticalHeader()
    for entry in (SKARN, CROWN):
        row = view.table.place_of(entry)
        box = row_box(view, row)
        own = [each for each in in_titles(view) if box.top() <= each.box.center().y() < box.bottom()]
        title = next(each for each in own if each.words == view.table.title(entry))
        result = next(each for each in own if each.words == view.table.result(entry).word)
        assert (title.box.left(), result.box.left()) == (9, 9 + 20)
        assert result.box.top() - title.box.top() == pytest.approx(QFontMetricsF(down.font()).height(), abs=2)
        assert result.points == pytest.approx(0.9 * title.points, abs=0.01)
        marks = [each for each in own if each.image]
        assert len(marks) == 1
        assert marks[0].box.center().x() == pytest.approx(9 + 7.5, abs=0.6)
        assert abs(marks[0].box.center().y() - result.box.top()) < 8


def test_the_chosen_entry_is_bold_and_has_a_bar_at_its_left(view: AnswerView, theme: Theme) -> None:
    row = view.table.place_of(SKARN)
    view.setCurrentIndex(NO_INDEX)
    strong = theme.color("accent").name()
    assert strong not in {each.fill for each in in_titles(view)}
    assert {each.weight for each in in_titles(view) if each.words in {"Skarn", "Crown"}} == {400}
    view.setCurrentIndex(view.table.index(row, WHY))
    box = row_box(view, row)
    assert [each.box for each in in_titles(view) if each.fill == strong] == [QRectF(0, box.top(), 3, box.height())]
    weights = {each.words: each.weight for each in in_titles(view) if each.words in {"Skarn", "Crown"}}
    assert weights == {"Skarn": 600, "Crown": 400}
    soft = [each.box for each in in_titles(view) if each.fill == theme.color("accent_soft").name()]
    assert box in soft
    cells = [each.box for each in in_cells(view) if each.fill == theme.color("accent_soft").name()]
    columns = [column for column in range(view.table.columnCount()) if not view.isColumnHidden(column)]
    assert all(QRectF(view.visualRect(view.table.index(row, column))) in cells for column in columns)


def test_lines_part_the_rows_and_the_titles_from_the_marks(view: AnswerView, theme: Theme) -> None:
    border, down = theme.color("border").name(), view.verticalHeader()
    lines = [each.box for each in in_titles(view) if each.edge == border]
    for row in range(view.table.rowCount()):
        box = row_box(view, row)
        assert QRectF(0, box.bottom() - 1, down.width() - 1, 0) in lines
        assert QRectF(down.width() - 1, box.top(), 0, box.height() - 1) in lines
    cells = [each.box for each in drawn(view.viewport()) if each.edge == border and not each.box.height()]
    for row in range(view.table.rowCount()):
        bottom = row_box(view, row).bottom() - 1
        own = sorted((each.left(), each.right()) for each in cells if each.top() == bottom)
        assert len(own) == view.table.columnCount()
        assert own[0][0] == 0


def test_what_is_expected_stands_at_the_right_of_the_title_and_takes_its_room(view: AnswerView, theme: Theme) -> None:
    row = view.table.place_of(CROWN)
    before = view.words(row).title
    told = ExpectedMark(False, "Not met")
    view.table.held = lambda entry: told if entry == CROWN else None
    icon, tone = told.glyph
    sign = next(each for each in in_titles(view) if each.image == image_of(glyph(icon, theme.color(tone).name(), 13)))
    box = row_box(view, row)
    assert sign.box.center().x() == pytest.approx(box.right() - 4 - 8, abs=0.6)
    assert box.top() + 3 <= sign.box.top() + 3 < box.top() + 20
    assert view.words(row).title == before


def test_a_change_stands_behind_its_result_in_the_same_line_where_it_fits(view: AnswerView, theme: Theme) -> None:
    before = make_trace()
    long = replace(before.entries[SKARN], title="Skarn of the northern cliffs")
    before = replace(before, entries={**before.entries, SKARN: long})
    after = replace(before, injections=before.injections[:1])
    view.table.set_trace(after, INDEX, changes=row_changes(compare(before, after)))
    row = view.table.place_of(SKARN)
    told = view.words(row)
    assert told.beside
    left = next(each for each in in_titles(view) if each.words == "− left")
    own = [each for each in in_titles(view) if abs(each.box.top() - left.box.top()) < 1 and each.words != "− left"]
    (result,) = (each for each in own if each.words == told.result[-1])
    wide = view.fonts.small.metrics.horizontalAdvance(told.result[-1])
    assert left.box.left() == pytest.approx(result.box.left() + wide + 8, abs=0.01)
    assert (left.weight, result.weight) == (600, 400)
    high = view.fonts.height(told)
    narrow = replace(told, beside=False)
    assert view.fonts.height(narrow) >= high
    below = len(told.result) + 1
    head = view.fonts.title.metrics.height() + below * view.fonts.small.metrics.height()
    assert view.fonts.height(replace(narrow, reason=())) == math.ceil(head) + 6


def in_cells(view: AnswerView) -> list[Drawn]:
    return drawn(view.viewport())


def test_a_reason_stands_halfway_down_its_row_and_above_its_button(view: AnswerView, theme: Theme) -> None:
    row = view.table.place_of(RULES)
    box = QRectF(view.visualRect(view.table.index(row, WHY)))
    (line,) = view.words(row).reason
    reason = next(each for each in in_cells(view) if each.words == line)
    assert reason.box.left() == box.left() + 6
    assert abs(reason.box.top() - 4 - box.center().y()) < 5
    row = view.table.place_of(CROWN)
    view.table.set_fix(CROWN, Change("pin", "Pin “Crown” in this chat", brief="Pin in this chat"))
    box, button, told = QRectF(view.visualRect(view.table.index(row, WHY))), view.button(row), view.words(row)
    small = view.fonts.small.metrics
    first = next(each for each in in_cells(view) if each.words == told.reason[0])
    assert box.top() + 3 < first.box.top() < box.top() + 3 + view.fonts.reason.metrics.height()
    shape = next(each for each in in_cells(view) if each.edge == theme.color("border_strong").name())
    wide = small.horizontalAdvance("Pin in this chat") + 26
    assert shape.box.left() == box.left() + 6.5
    assert shape.box.width() == pytest.approx(wide - 1, abs=0.01)
    assert shape.box.bottom() == pytest.approx(box.bottom() - 2.5, abs=0.01)
    assert shape.box.height() == pytest.approx(small.height() + 3 - 1, abs=0.01)
    assert shape.fill == theme.color("panel").name()
    bolt = next(each for each in in_cells(view) if each.image == image_of(glyph("bolt", theme.palette.accent, 12)))
    assert bolt.box.center().x() == pytest.approx(shape.box.left() - 0.5 + 4 + 7)
    assert bolt.box.center().y() == pytest.approx(shape.box.center().y(), abs=0.6)
    word = next(each for each in in_cells(view) if each.words == "Pin in this chat")
    assert word.box.left() == shape.box.left() - 0.5 + 20
    assert word.fill == theme.color("text").name()
    assert button.height() == pytest.approx(small.height() + 3, abs=1)


def test_tokens_stand_at_the_right_and_marks_in_the_middle_of_their_cells(view: AnswerView, theme: Theme) -> None:
    row = view.table.place_of(CROWN)
    box = QRectF(view.visualRect(view.table.index(row, TOKENS)))
    number = next(each for each in in_cells(view) if each.words == "158")
    wide = view.fonts.reason.metrics.horizontalAdvance("158")
    assert box.right() - 5 - wide - 1 <= number.box.left() < box.right() - 5
    assert number.points == pytest.approx(0.95 * view.font().pointSizeF(), abs=0.01)
    cell = QRectF(view.visualRect(view.table.index(row, view.table.stage_column("budget"))))
    cut = next(each for each in in_cells(view) if each.fill == theme.fill("purple")[0].name())
    assert (cut.box.center().x(), cut.box.center().y()) == (cell.center().x(), cell.center().y())


def test_the_ring_is_on_marks_always_and_on_words_with_the_keyboard_only(view: AnswerView, theme: Theme) -> None:
    ink, row = theme.color("focus").name(), view.table.place_of(CROWN)
    view.clearFocus()

    def rings() -> list[QRectF]:
        return [each.box for each in in_cells(view) if each.edge == ink]

    budget = view.table.index(row, view.table.stage_column("budget"))
    view.setCurrentIndex(budget)
    assert rings() == [QRectF(view.visualRect(budget)).adjusted(2, 2, -2, -3)]
    for column in (WHY, TOKENS):
        view.setCurrentIndex(view.table.index(row, column))
        assert rings() == []
