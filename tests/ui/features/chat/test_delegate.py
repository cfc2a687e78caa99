"""A row of the chat: the picture of who speaks, what can be clicked, and which found words lie under the pointer."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QEvent, QModelIndex, QPoint, QPointF, QRectF, Qt
from PySide6.QtGui import (
    QFontMetricsF,
    QHelpEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QStandardItem,
    QStandardItemModel,
)
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QListView, QStyle, QStyleOptionViewItem, QToolTip, QWidget
from pytestqt.qtbot import QtBot

from lorestudio.ui.features.chat.composer import MessageField
from lorestudio.ui.features.chat.delegate import (
    _AVATAR,
    _EDGE,
    _TOP,
    LEAST_HEIGHT,
    MOST_LINES,
    ChatDelegate,
    MessageDelegate,
)
from lorestudio.ui.features.chat.model import ChatRow, Speaker
from lorestudio.ui.shell.qt import ITEM
from lorestudio.ui.shell.theme import Theme, scaled
from lorestudio.ui.widgets.paint import KeyMark, Wrapper
from tests.ui.drawing import drawn, words_drawn

LONG = "a word\n" * 60


def show(qtbot: QtBot, theme: Theme, *rows: ChatRow) -> tuple[QListView, ChatDelegate]:
    view = QListView(uniformItemSizes=False)
    qtbot.addWidget(view)
    model = QStandardItemModel(view)
    for row in rows:
        item = QStandardItem()
        item.setData(row, ITEM)
        model.appendRow(item)
    view.setModel(model)
    delegate = ChatDelegate(theme, view)
    view.setItemDelegate(delegate)
    view.resize(420, 600)
    view.show()
    return view, delegate


def test_a_reply_that_is_being_written_has_the_lines_it_has_in_the_end(
    theme: Theme, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a reply as long as a book only the paragraph that grows is broken into lines anew."""
    pieces = ("The bell", " of the tower rings and", "\n\nrings over the water, until nobody is left ",
              "to hear it.", "\n", "Then", " silence.\n", "", "An\nend " + 30 * "without an end ")  # fmt: skip
    broken: list[int] = []
    whole = Wrapper.lines

    def counted(wrapper: Wrapper, text: str, width: float, most: int | None = None) -> list[tuple[int, int]]:
        broken.append(len(text))
        return whole(wrapper, text, width, most)

    monkeypatch.setattr(Wrapper, "lines", counted)

    def row(text: str, writing: str = "writing…") -> ChatRow:
        return ChatRow(0, "Ada", Speaker.CHARACTER, text, expanded=True, writing=writing)

    view, _delegate = show(qtbot, theme, row(pieces[0]))
    for place in range(2, len(pieces) + 1):
        text = "".join(pieces[:place])
        view.model().item(0).setData(row(text), ITEM)
        other, _other = show(qtbot, theme, row(text))
        assert [*words_drawn(view)] == [*words_drawn(other)]
        assert rect_of(view, 0) == rect_of(other, 0)
    broken.clear()
    view.model().item(0).setData(row(text + "in sight"), ITEM)
    words_drawn(view)
    assert broken == [len(text + "in sight") - text.rindex("\n") - 1]
    for changed in ("Another " + text, text[:20], text + "\n" + text):
        for size in (420, 300):
            view.resize(size, 600)
            view.model().item(0).setData(row(changed), ITEM)
            other, _other = show(qtbot, theme, row(changed, writing=""))
            other.resize(size, 600)
            told = [*words_drawn(view)]
            assert [each for each in words_drawn(other) if not each.startswith("#")] == [
                each for each in told if not each.startswith("#")
            ]


def rect_of(view: QListView, row: int) -> QRectF:
    return QRectF(view.visualRect(view.model().index(row, 0)))


def release(view: QListView, delegate: ChatDelegate, row: int, place: QPointF) -> bool:
    """Let a mouse button go there; whether that meant something to the delegate, and so nothing to the list."""
    left, index = Qt.MouseButton.LeftButton, view.model().index(row, 0)
    event = QMouseEvent(QEvent.Type.MouseButtonRelease, place, place, left, left, Qt.KeyboardModifier.NoModifier)
    option = QStyleOptionViewItem()
    option.rect = rect_of(view, row).toRect()
    return delegate.editorEvent(event, view.model(), option, index)


def test_the_picture_tells_who_speaks(qtbot: QtBot, theme: Theme) -> None:
    view, _delegate = show(qtbot, theme, *(ChatRow(place, "Wren", who, "Hm.") for place, who in enumerate(Speaker)))
    image = view.viewport().grab().toImage()
    grounds = {}
    for place, who in enumerate(Speaker):
        rect = rect_of(view, place)
        grounds[who] = image.pixelColor(round(rect.left()) + _EDGE + 3, round(rect.top()) + _TOP + _AVATAR // 2).name()
    assert grounds[Speaker.USER] == theme.fill("blue")[0].name()
    assert grounds[Speaker.CHARACTER] == theme.fill("green")[0].name()
    assert grounds[Speaker.NEXT] == theme.fill("sky")[0].name()
    assert grounds[Speaker.HIDDEN] == grounds[Speaker.NARRATOR] == theme.color("sunken").name()


def test_the_chosen_row_and_the_one_that_was_led_to_are_marked_at_their_left_end(qtbot: QtBot, theme: Theme) -> None:
    view, delegate = show(qtbot, theme, *(ChatRow(place, "Wren", Speaker.USER, "Hm.") for place in range(3)))
    view.setCurrentIndex(view.model().index(0, 0))
    delegate.point_at(1)
    image = view.viewport().grab().toImage()
    ends = [image.pixelColor(round(rect_of(view, row).left()) + 1, round(rect_of(view, row).top()) + 4).name()
            for row in range(3)]  # fmt: skip
    assert ends == [theme.color(name).name() for name in ("accent", "mark", "panel")]


@pytest.mark.parametrize("chip", ["", "2 entries · 40 tokens"])
def test_the_arrows_lead_to_the_swipes_beside(qtbot: QtBot, theme: Theme, chip: str) -> None:
    rows = (ChatRow(0, "Wren", Speaker.CHARACTER, "Hm.", 1, 3, chip), ChatRow(1, "Wren", Speaker.CHARACTER, "Hm."))
    view, delegate = show(qtbot, theme, *rows)
    wanted: list[tuple[int, int]] = []
    delegate.swipe_wanted.connect(lambda row, step: wanted.append((row, step)))
    header = delegate._body(rect_of(view, 0))
    header.setHeight(delegate._header_height())
    across = [round(x) for x in range(round(header.left()) + 60, round(header.right()), 4)]
    for row in (0, 1):
        for x in across:
            y = round(rect_of(view, row).top() + _TOP + delegate._header_height() / 2)
            before = len(wanted)
            assert release(view, delegate, row, QPointF(x, y)) is (len(wanted) > before)
            del wanted[before:]
            QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(x, y))
    assert {row for row, _step in wanted} == {0}  # the other has one swipe
    steps = [step for _row, step in wanted]
    assert steps == sorted(steps)  # back first, then on
    assert {-1, 1} == set(steps)
    assert len(steps) < len(across) / 2  # nothing beside the arrows does


@pytest.mark.parametrize("chip", ["", "2 entries · 40 tokens"])
@pytest.mark.parametrize("badge", [None, ("check", "good", "same")])
def test_an_arrow_is_clicked_where_it_is_drawn(
    qtbot: QtBot, theme: Theme, chip: str, badge: tuple[str, str, str] | None
) -> None:
    view, delegate = show(qtbot, theme, ChatRow(0, "Wren", Speaker.CHARACTER, "Hm.", 1, 3, chip, badge=badge))
    wanted: list[int] = []
    delegate.swipe_wanted.connect(lambda _row, step: wanted.append(step))
    signs = sorted((each.box.center() for each in drawn(view) if each.kind == "image"), key=lambda at: at.x())
    for at in signs[-2:]:
        QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=at.toPoint())
    assert wanted == [-1, 1]
    for at in signs[:-2]:
        QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=at.toPoint())
    assert len(wanted) == 2  # a badge is none


def test_the_fold_line_opens_a_long_text_and_nothing_else_does(qtbot: QtBot, theme: Theme) -> None:
    rows = (ChatRow(0, "Wren", Speaker.USER, LONG), ChatRow(1, "Wren", Speaker.USER, "Short."))
    view, delegate = show(qtbot, theme, *rows)
    wanted: list[int] = []
    delegate.fold_wanted.connect(wanted.append)
    for row, above, opens in ((0, 10, True), (0, 60, False), (1, 10, False)):
        wanted.clear()
        where = rect_of(view, row)
        QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton,
                         pos=QPoint(120, round(where.bottom()) - _TOP - above))  # fmt: skip
        assert wanted == ([row] if opens else [])
        assert release(view, delegate, row, QPointF(120, where.bottom() - _TOP - above)) is opens


def test_a_found_word_lies_under_the_pointer_where_it_is_drawn(qtbot: QtBot, theme: Theme) -> None:
    text = "the ring and\nthe crown fell"
    ring, crown = (KeyMark(text.index(word), text.index(word) + len(word), word, word) for word in ("ring", "crown"))
    row = ChatRow(0, "Wren", Speaker.USER, text, marks=(ring, crown))
    view, delegate = show(qtbot, theme, row)
    rect, metrics = rect_of(view, 0), QFontMetricsF(view.font())
    body = delegate._body(rect)
    first = body.top() + delegate._header_height() + 3 + delegate._line_height() / 2

    def under(words: str, line: int) -> KeyMark | None:
        x = body.left() + metrics.horizontalAdvance(words)
        return delegate.mark_at(QPointF(x, first + line * delegate._line_height()), rect, row)

    assert under("the ri", 0) == ring
    assert under("the cro", 1) == crown
    assert under("th", 0) is None
    assert under("the ring an", 0) is None
    assert under("the ri", 2) is None

    def at(y: float) -> KeyMark | None:
        return delegate.mark_at(QPointF(body.left() + metrics.horizontalAdvance("the ri"), y), rect, row)

    assert under("the crow", 1) == crown
    assert under("the crown fe", 1) is None
    top = body.top() + delegate._header_height() + 3
    assert (at(top - 1), at(top + 1), at(top + delegate._line_height() - 1)) == (None, ring, ring)


def test_a_row_says_number_name_text_swipes_and_what_went_in(qtbot: QtBot, theme: Theme) -> None:
    rows = (
        ChatRow(0, "Ada", Speaker.CHARACTER, "Hm.", 1, 3, "2 entries · 40 tokens"),
        ChatRow(1, "Wren", Speaker.HIDDEN, "Psst.", remark="line 3"),
        ChatRow(2, "Ada", Speaker.CHARACTER, "Coming", writing="writing…", seen="hidden, then too"),
        ChatRow(3, "Ada", Speaker.CHARACTER, "Hm.", seen="hidden, then too", chip="nothing injected"),
        ChatRow(4, "wren", Speaker.NEXT, "The reply to come."),
    )
    view, _delegate = show(qtbot, theme, *rows)
    texts = [each for each in drawn(view) if each.kind == "text"]
    words = [each.words for each in texts]
    for told in ("A", "2/3", "2 entries · 40 tokens", "#0", "Psst.", "#1 · hidden, not sent · ⚠ line 3",
                 "#2 · writing…", "#3 · hidden, then too", "nothing injected", "+", "#4 · next reply"):  # fmt: skip
        assert told in words
    ink = {each.words: each.fill for each in texts}
    assert (ink["Psst."], ink["Coming"]) == (theme.color("text_muted").name(), theme.color("text").name())
    assert ink["2 entries · 40 tokens"] == theme.color("good").name()
    assert ink["nothing injected"] == theme.color("neutral").name()
    fonts = {each.words: (each.weight, each.points) for each in texts}
    assert fonts["Ada"] > fonts["Coming"] > fonts["#2 · writing…"]
    assert fonts["Ada"][0] > fonts["Coming"][0], "only names are bold"
    tops = {each.words: each.box.top() for each in texts}
    assert tops["Psst."] > tops["#1 · hidden, not sent · ⚠ line 3"] + 15  # the text stands below the name


def test_a_badge_leaves_room_and_a_narrow_row_shortens_what_went_in(qtbot: QtBot, theme: Theme) -> None:
    row = ChatRow(0, "Ada", Speaker.CHARACTER, "Hm.", 1, 3, "2 entries · 40 tokens", badge=("check", "good", "same"))
    view, _delegate = show(qtbot, theme, row)
    forms: dict[str, None] = {}
    for width in range(500, 150, -20):
        view.resize(width, 300)
        forms |= dict.fromkeys(word for word in words_drawn(view) if word.startswith("2") and "/" not in word)
    assert list(forms) == ["2 entries · 40 tokens", "2 entries", "2"]


@pytest.mark.parametrize("swipes", [1, 3, 12])
@pytest.mark.parametrize("badge", [None, ("check", "good", "same")])
def test_name_and_number_stay_whole_while_what_went_in_can_be_shorter(
    qtbot: QtBot, theme: Theme, swipes: int, badge: tuple[str, str, str] | None
) -> None:
    row = ChatRow(0, "Ada", Speaker.CHARACTER, "Hm.", 0, swipes, "2 entries · 40 tokens", badge=badge)
    view, _delegate = show(qtbot, theme, row)
    for width in range(150, 420, 3):
        view.resize(width, 100)
        words = words_drawn(view)
        if not {"2 entries", "2 entries · 40 tokens"}.isdisjoint(words):
            assert {"Ada", "#0"} <= set(words), width


def test_lines_are_as_long_as_there_is_room_beside_the_picture(qtbot: QtBot, theme: Theme) -> None:
    view, delegate = show(qtbot, theme, ChatRow(0, "Wren", Speaker.USER, "lantern " * 60, expanded=True))
    metrics, room = QFontMetricsF(view.font()), delegate._body(rect_of(view, 0)).width()
    lines = [each.words.strip() for each in drawn(view) if each.kind == "text" and each.words.startswith("lantern")]
    longest = max(map(metrics.horizontalAdvance, lines))
    assert room - metrics.horizontalAdvance("lantern ") < longest <= room


def test_a_folded_text_says_so_and_an_open_one_is_whole(qtbot: QtBot, theme: Theme) -> None:
    rows = (ChatRow(0, "Wren", Speaker.USER, LONG), ChatRow(1, "Wren", Speaker.USER, "a word\n" * 7 + "end"))
    view, _delegate = show(qtbot, theme, *rows)
    words = words_drawn(view)
    assert words.count("… more (X shows all)") == 1
    assert words.count("a word") == MOST_LINES + 7
    assert "end" in words  # one line more than most is no reason to fold
    weights = {each.words: each.weight for each in drawn(view) if each.kind == "text"}
    assert weights["… more (X shows all)"] == weights["Wren"] > weights["a word"]
    view, _delegate = show(qtbot, theme, ChatRow(0, "Wren", Speaker.USER, "a word\n" * 20, expanded=True))
    assert words_drawn(view).count("a word") == 20
    assert "… more (X shows all)" not in words_drawn(view)


def test_of_a_message_as_long_as_a_book_the_lines_in_sight_are_drawn(qtbot: QtBot, theme: Theme) -> None:
    text = "\n".join(f"line {place}" for place in range(5000))
    view, delegate = show(qtbot, theme, ChatRow(0, "Wren", Speaker.USER, text, expanded=True))
    view.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)
    bar = view.verticalScrollBar()
    tall, body = delegate._line_height(), delegate._body(rect_of(view, 0)).top() + delegate._header_height() + 3
    for scrolled in (0, bar.maximum() // 2, bar.maximum()):
        bar.setValue(scrolled)
        lines = [each for each in drawn(view) if each.kind == "text" and each.words.startswith("line ")]
        words = [each.words for each in lines]
        for each in lines:
            place = int(each.words.removeprefix("line "))
            assert each.box.center().y() == pytest.approx(body - scrolled + (place + 0.5) * tall, abs=tall / 2)
        first = max(0, int((scrolled - body) / tall))
        last = min(4999, int((scrolled + view.viewport().height() - body) / tall))
        assert {f"line {place}" for place in range(first, last + 1)} <= set(words)
        assert len(words) < last - first + 5


def test_found_words_are_written_again_in_their_own_ink_but_refine_keys_are_not(qtbot: QtBot, theme: Theme) -> None:
    text = "the ring and\nthe crown"
    ring = KeyMark(4, 8, "ring", "ring")
    crown = KeyMark(17, 22, "crown", "crown", refine=True)
    for name in ("light", "dark"):  # in one of them texts have the same ink
        theme.choose(name)
        view, _delegate = show(qtbot, theme, ChatRow(0, "Wren", Speaker.USER, text, marks=(ring, crown)))
        texts = [each for each in drawn(view) if each.kind == "text"]
        inks = {each.words: each.fill for each in texts}
        assert inks["ring"] == theme.color("on_mark").name()
        assert inks["the ring and"] == theme.color("text").name()
        assert "crown" not in inks
        left = {each.words: each.box.left() for each in texts}
        wide = QFontMetricsF(view.font()).horizontalAdvance("the ")
        assert left["ring"] - left["the ring and"] == pytest.approx(wide, abs=1)
    assert theme.color("on_mark") != theme.color("text")


def test_a_name_that_was_found_is_marked(qtbot: QtBot, theme: Theme) -> None:
    named = KeyMark(0, 4, "Wren", "the name", in_name=True)
    view, delegate = show(qtbot, theme, ChatRow(0, "Wren", Speaker.USER, "Hm.", marks=(named,)))
    inks = {each.words: each.fill for each in drawn(view) if each.kind == "text"}
    assert inks["Wren"] == theme.color("on_mark").name()
    rect, row = rect_of(view, 0), view.model().index(0, 0).data(ITEM)
    body = delegate._body(rect)
    assert delegate.mark_at(body.topLeft() + QPointF(5, 5), rect, row) == named
    assert delegate.mark_at(body.topLeft() + QPointF(200, 5), rect, row) is None
    wide = QFontMetricsF(scaled(view.font(), 1.0, bold=True)).horizontalAdvance("Wren")
    assert wide > QFontMetricsF(view.font()).horizontalAdvance("Wren") + 1
    assert delegate.mark_at(body.topLeft() + QPointF(wide - 0.5, 5), rect, row) == named
    assert delegate.mark_at(body.topLeft() + QPointF(5, 30), rect, row) is None


def test_the_letter_of_the_picture_is_a_large_one_and_hidden_messages_have_a_sign(qtbot: QtBot, theme: Theme) -> None:
    rows = (ChatRow(0, "wren", Speaker.USER, "Hm."), ChatRow(1, "Ada", Speaker.HIDDEN, "Psst."))
    view, _delegate = show(qtbot, theme, *rows)
    assert "W" in words_drawn(view)
    assert "A" not in words_drawn(view)
    box = rect_of(view, 1)
    signs = [each.box for each in drawn(view) if each.kind == "image"]
    assert [box.contains(each) for each in signs] == [True]
    assert signs[0].center().x() == pytest.approx(box.left() + _EDGE + _AVATAR / 2, abs=1)


def test_a_badge_stands_between_the_swipes_and_the_number(qtbot: QtBot, theme: Theme) -> None:
    plain, badge = ChatRow(0, "Ada", Speaker.CHARACTER, "Hm."), ("check", "good", "same")
    more = ChatRow(1, "Ada", Speaker.CHARACTER, "Hm.", 0, 2, "nothing injected")
    view, _delegate = show(
        qtbot, theme, plain, *(ChatRow(2, "Ada", Speaker.CHARACTER, "Hm.", badge=badge), more,
                               ChatRow(3, "Ada", Speaker.CHARACTER, "Hm.", 0, 2, "nothing injected", badge=badge)),
    )  # fmt: skip

    def signs(row: int) -> list[float]:
        return sorted(each.box.left() for each in drawn(view) if each.kind == "image"
                      and rect_of(view, row).contains(each.box.center()))  # fmt: skip

    assert signs(0) == []
    (alone,) = signs(1)
    right = rect_of(view, 1).right() - _EDGE
    assert right - 20 < alone < right
    back, on = signs(2)
    assert on - back > 20  # the count stands between the arrows
    assert signs(3)[1:] == [back, on]
    assert back - 30 < signs(3)[0] < back - 16


def test_the_chosen_row_is_written_in_the_ink_of_its_ground(qtbot: QtBot, theme: Theme) -> None:
    rows = (
        ChatRow(0, "Ada", Speaker.CHARACTER, LONG, 0, 2, "2 entries · 40 tokens"),
        ChatRow(1, "Wren", Speaker.HIDDEN, "Psst.", remark="line 3"),
    )
    view, _delegate = show(qtbot, theme, *rows)

    def inks() -> dict[str, str]:
        return {each.words: each.fill for each in drawn(view) if each.kind == "text"}

    def color(name: str) -> str:
        return theme.color(name).name()

    before = inks()
    assert before["… more (X shows all)"] == color("accent")
    assert (before["Ada"], before["a word"]) == (color("text"), color("text"))
    assert (before["#0"], before["#1 · hidden, not sent · ⚠ line 3"]) == (color("text_faint"), color("text_faint"))
    view.setCurrentIndex(view.model().index(0, 0))
    after = inks()
    for words in ("… more (X shows all)", "Ada", "a word", "#0", "1/2"):
        assert after[words] == color("on_accent_soft"), words
    assert after["Psst."] == before["Psst."]
    chips = [each.fill for each in drawn(view) if each.kind in {"path", "rect"}]
    assert color("good_soft") not in chips  # the chip is set off from the ground of the chosen row
    assert color("panel") in chips


def test_a_row_that_is_none_takes_little_room_and_nothing_is_drawn(qtbot: QtBot, theme: Theme) -> None:
    view, delegate = show(qtbot, theme)
    view.model().appendRow(QStandardItem("stray words"))
    assert words_drawn(view) == []
    assert delegate.sizeHint(QStyleOptionViewItem(), view.model().index(0, 0)).height() == 20
    assert not release(view, delegate, 0, rect_of(view, 0).center())


class OneRow(QWidget):
    """Draws a row in a state, as a list would."""

    def __init__(self, delegate: ChatDelegate, index: QModelIndex, *states: QStyle.StateFlag) -> None:
        super().__init__()
        self._delegate, self._index, self._states = delegate, index, states
        self.resize(420, 200)

    def paintEvent(self, _event: QPaintEvent) -> None:  # noqa: N802 (Qt's name)
        option = QStyleOptionViewItem()
        option.rect = self.rect()
        for state in self._states:
            option.state |= state
        painter = QPainter(self)
        self._delegate.paint(painter, option, self._index)
        painter.end()


def test_a_row_shows_the_mouse_the_choice_and_the_keyboard(qtbot: QtBot, theme: Theme) -> None:
    view, delegate = show(qtbot, theme, ChatRow(0, "Wren", Speaker.USER, "Hm."))
    over, chosen, keys = (
        QStyle.StateFlag.State_MouseOver,
        QStyle.StateFlag.State_Selected,
        QStyle.StateFlag.State_HasFocus,
    )
    grounds, edges = {}, {}
    for states in ((), (over,), (chosen,), (chosen, over), (keys,), (chosen, keys)):
        row = OneRow(delegate, view.model().index(0, 0), *states)
        qtbot.addWidget(row)
        found = drawn(row)
        grounds[states] = {each.fill for each in found if each.box.width() > 400 and each.box.height() > 190}
        edges[states] = len(found)
    hover, soft = theme.color("hover").name(), theme.color("accent_soft").name()
    assert hover in grounds[over,]
    assert hover not in grounds[()] | grounds[chosen,] | grounds[chosen, over]
    assert all(soft in grounds[states] for states in grounds if chosen in states)
    assert soft not in grounds[()] | grounds[over,] | grounds[keys,]
    assert edges[chosen, keys] > edges[chosen,]  # the ring
    assert edges[keys,] == edges[()]


def test_found_words_have_a_ground_in_the_lines_that_they_stand_in(qtbot: QtBot, theme: Theme) -> None:
    text = "the ring and\nthe crown fell"
    plain = ChatRow(0, "Wren", Speaker.USER, text)
    marks = (KeyMark(4, 8, "ring", "ring"), KeyMark(17, 22, "crown", "crown"))
    view, _delegate = show(qtbot, theme, plain, ChatRow(1, "Wren", Speaker.USER, text, marks=marks))
    shapes = {
        row: [each.box for each in drawn(view) if each.kind in {"path", "rect", "polyline"}
              and rect_of(view, row).contains(each.box) and 10 < each.box.width() < 100 and each.box.height() < 30]
        for row in (0, 1)
    }  # fmt: skip
    metrics = QFontMetricsF(view.font())
    extra = [box for box in shapes[1] if box.translated(0, -rect_of(view, 1).top()) not in
             [known.translated(0, -rect_of(view, 0).top()) for known in shapes[0]]]  # fmt: skip
    widths = sorted({round(box.width()) for box in extra})
    assert len(extra) >= 2
    assert widths[0] == pytest.approx(metrics.horizontalAdvance("ring"), abs=6)
    assert widths[-1] == pytest.approx(metrics.horizontalAdvance("crown"), abs=6)


def test_a_row_is_as_tall_as_what_it_shows(qtbot: QtBot, theme: Theme) -> None:
    texts = ("one", "one\ntwo", "a word\n" * (MOST_LINES - 1) + "end", LONG)
    view, delegate = show(qtbot, theme, *(ChatRow(at, "Wren", Speaker.USER, text) for at, text in enumerate(texts)))
    heights = [rect_of(view, row).height() for row in range(4)]
    line = delegate._line_height()
    assert heights[1] - heights[0] == pytest.approx(line, abs=1)
    assert heights[2] - heights[0] == pytest.approx((MOST_LINES - 1) * line, abs=1)
    assert heights[3] - heights[2] == pytest.approx(line, abs=1)  # of the fold
    assert heights[0] > 2 * _TOP + delegate._header_height() + line


def test_larger_words_are_measured_anew(qtbot: QtBot, theme: Theme) -> None:
    words = "It is a long story that takes more than a line. " * 4
    view, _delegate = show(qtbot, theme, ChatRow(1, "Wren", Speaker.CHARACTER, words))
    before = view.sizeHintForIndex(view.model().index(0, 0)).height()
    view.setFont(scaled(view.font(), 2.0))
    assert view.sizeHintForIndex(view.model().index(0, 0)).height() > 2 * before


def test_words_under_the_pointer_say_what_they_are(qtbot: QtBot, theme: Theme) -> None:
    ring = KeyMark(4, 8, "ring", "“ring” is a <key>")
    view, delegate = show(qtbot, theme, ChatRow(0, "Wren", Speaker.USER, "the ring", marks=(ring,)))
    option = QStyleOptionViewItem()
    option.rect = rect_of(view, 0).toRect()
    body = delegate._body(rect_of(view, 0))
    middle = body.top() + delegate._header_height() + 3 + delegate._line_height() / 2
    told = []
    for words in ("th", "the ri"):
        at = QPointF(body.left() + QFontMetricsF(view.font()).horizontalAdvance(words), middle).toPoint()
        event = QHelpEvent(QEvent.Type.ToolTip, at, view.viewport().mapToGlobal(at))
        assert delegate.helpEvent(event, view, option, view.model().index(0, 0))
        told.append(QToolTip.text())
    QToolTip.hideText()
    assert told == ["", "“ring” is a <key>"]
    asked = QHelpEvent(QEvent.Type.WhatsThis, at, view.viewport().mapToGlobal(at))
    assert not delegate.helpEvent(asked, view, option, view.model().index(0, 0))


# ---- a field over a message ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("text", "top"), [("Hm.", 0), (LONG, 0), ("Hm.", 560)])
def test_the_field_lies_over_the_text_and_has_room_to_write(qtbot: QtBot, theme: Theme, text: str, top: int) -> None:
    view, _delegate = show(qtbot, theme, ChatRow(0, "Wren", Speaker.USER, text))
    delegate = MessageDelegate(theme, view)
    option, index = QStyleOptionViewItem(), view.model().index(0, 0)
    field = delegate.createEditor(view.viewport(), option, index)
    assert isinstance(field, MessageField)
    option.rect = rect_of(view, 0).toRect().translated(0, top)
    delegate.updateEditorGeometry(field, option, index)
    where = field.geometry()
    assert view.viewport().rect().contains(where)
    assert where.height() >= LEAST_HEIGHT
    assert (where.left(), where.right()) == (option.rect.left() + 40, option.rect.right() - 8)
    if top == 0:
        assert where.top() == 26  # below the name
    if text == LONG:
        assert option.rect.contains(where)
        assert where.height() > option.rect.height() - 40
    delegate.setEditorData(field, index)
    assert field.toPlainText() == text
    told: list[tuple[int, str]] = []
    delegate.edited.connect(lambda row, words: told.append((row, words)))
    delegate.setModelData(field, view.model(), index)
    field.selectAll()
    field.insertPlainText("Other.")
    delegate.setEditorData(field, index)  # what is being written stays
    delegate.setModelData(field, view.model(), index)
    assert told == [(0, "Other.")]
    assert view.model().index(0, 0).data(ITEM).text == text
    field.deleteLater()
