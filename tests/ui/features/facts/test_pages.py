"""The pages of the memories alone: the list with its filters and orders, passages, the profile, and one memory."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from lorestudio.domain.records import replace
from lorestudio.systems.facts.picture import FactHappening, FactsPicture, MemoryRow, PassageRow, Provenance, memory_row
from lorestudio.systems.facts.records import ExtractionRun, FactAction, FactDecision, Memory, MemoryOrigin, counts_words
from lorestudio.ui.features.facts.extraction import FACTS, Under
from lorestudio.ui.features.facts.origins import HistoryPage, MemoryDetail, PassagePage, ProfilePage
from lorestudio.ui.features.facts.pane import FilterBar, MemoriesPane, MemoryPage
from lorestudio.ui.features.facts.store import Hits
from lorestudio.ui.features.facts.table import SIMILARITY, STATE, TAGS, TEXT, USES, WHEN, as_markdown, day_words
from lorestudio.ui.shell.qt import ACCESSIBLE_TEXT, TOOLTIP
from lorestudio.ui.shell.theme import Theme
from lorestudio.ui.widgets.rows import action
from tests.ui.conftest import menu_of_row
from tests.ui.drawing import at_the_right

DAY = 86_400_000
NOON = DAY // 2
"""Added to a day, so that it is the same one in every time zone."""

ORIGIN = MemoryOrigin(chat="Tale", first=2, last=3)


def row(name: str, at: int, **more: object) -> MemoryRow:
    made = Memory(name, "u", "t", f"Wren {name}.", "confirmed", created_at=at * DAY + NOON, vector_model="m", **more)
    return memory_row(made, has_vector=True, model="m", chat="Tale")


LAMP = row("has a lamp", 10, pinned=True, tags=["gear"])
ROPE = row("wants rope", 12, tags=["gear", "rope"])
ROAD = replace(row("takes the road", 11, origin=ORIGIN), stale=True)
PICTURE = FactsPicture((LAMP, ROPE, ROAD), total=3, tags=("gear", "rope"), vector_model="m", chat="Tale", owner="u")


@pytest.fixture
def page(theme: Theme, qtbot: QtBot) -> Iterable[MemoryPage]:
    made = MemoryPage(theme)
    qtbot.addWidget(made)
    made.resize(700, 500)
    made.show()
    made.show_picture(PICTURE, chat=True)
    return made


def listed(page: MemoryPage) -> list[MemoryRow]:
    return list(page.model.rows)


# ---- the list -------------------------------------------------------------------------------------------------------


def test_each_order_has_its_direction_and_turns_round(page: MemoryPage) -> None:
    assert listed(page) == [ROPE, ROAD, LAMP]  # the newest first
    page.show_uses({ROPE.id: 3})
    orders = {
        TEXT: [LAMP, ROAD, ROPE], STATE: [LAMP, ROAD, ROPE], USES: [ROPE], WHEN: [ROPE, ROAD, LAMP],
        TAGS: [ROAD, LAMP, ROPE],
    }  # fmt: skip
    for column, rows in orders.items():
        page.order_by(column)
        assert listed(page)[: len(rows)] == rows
        assert [act.data() for act in page.bar.orders.actions() if act.isChecked()] == [column]
    page.view.horizontalHeader().sectionClicked.emit(TAGS)
    assert listed(page) == [ROPE, LAMP, ROAD]
    page.view.horizontalHeader().sectionClicked.emit(WHEN)
    assert listed(page) == [ROPE, ROAD, LAMP]
    next(act for act in page.bar.orders.actions() if act.data() == TEXT).trigger()
    assert listed(page) == [LAMP, ROAD, ROPE]


def test_words_tags_and_pins_filter_together(page: MemoryPage, qtbot: QtBot) -> None:
    qtbot.keyClicks(page.bar.field, "wren")
    assert len(listed(page)) == 3
    page.bar.tag.setCurrentIndex(1)
    page.bar.tag.activated.emit(1)
    assert page.bar.chosen_tag == "gear"
    assert listed(page) == [ROPE, LAMP]
    assert page.note() == "2 of 3 memories"
    page.bar.only_pinned.click()
    assert listed(page) == [LAMP]
    qtbot.keyClicks(page.bar.field, " rope")
    assert (listed(page), page.empty.isVisible(), page.view.isVisible()) == ([], True, False)
    assert page.empty.title.text() == "Nothing fits"
    page.empty.pressed.emit("all")
    assert (len(listed(page)), page.bar.field.text(), page.bar.only_pinned.isChecked()) == (3, "", False)
    assert page.bar.chosen_tag == ""
    assert page.note() == "3 memories"


def test_the_chosen_tag_stays_where_it_is_among_others(page: MemoryPage) -> None:
    page.bar.tag.setCurrentIndex(2)
    page.show_picture(replace(PICTURE, tags=("rope", "sea", "gear")), chat=False)
    assert page.bar.chosen_tag == "rope"
    assert [page.bar.tag.itemText(place) for place in range(page.bar.tag.count())] == [
        "All tags",
        "rope",
        "sea",
        "gear",
    ]
    assert not page.bar.scope.isEnabled()
    page.show_picture(replace(PICTURE, tags=("sea",)), chat=True)
    assert (page.bar.chosen_tag, page.bar.scope.isEnabled()) == ("", True)


def test_a_search_lists_what_it_found_by_similarity_until_it_is_left(page: MemoryPage, qtbot: QtBot) -> None:
    told: list[str] = []
    page.bar.searched.connect(told.append)
    page.cleared.connect(lambda: told.append("cleared"))
    page.order_by(TEXT)
    qtbot.keyClicks(page.bar.field, "cord")
    qtbot.keyClick(page.bar.field, Qt.Key.Key_Return)
    page.bar.find_button.click()
    assert told == ["cord", "cord"]
    page.show_hits(None, "cord")
    assert "searching for “cord”" in page.strip.label.text()
    page.show_hits(Hits("cord", {ROAD.id: 0.25, ROPE.id: 0.75}), "")
    assert listed(page) == [ROPE, ROAD]
    assert not page.view.isColumnHidden(SIMILARITY)
    assert [page.model.index(place, SIMILARITY).data() for place in range(2)] == ["0.750", "0.250"]
    similar = next(act for act in page.bar.orders.actions() if act.data() == SIMILARITY)
    assert similar.isVisible()
    page.bar.field.clear()
    assert told == ["cord", "cord", "cleared"]
    page.show_hits(None, "")
    assert listed(page) == [LAMP, ROAD, ROPE]  # in the order of before
    assert page.view.isColumnHidden(SIMILARITY)
    assert (similar.isVisible(), page.strip.isVisible()) == (False, False)
    page.show_hits(Hits("cord", {}), "")
    assert page.empty.title.text() == "Nothing found"
    assert page.empty.text.text() == "No memory has a vector to compare."
    page.empty.pressed.emit("all")
    assert told[3:] == ["cleared"]


def test_keys_of_the_field(page: MemoryPage, qtbot: QtBot) -> None:
    page.bar.field.setFocus()
    qtbot.keyClicks(page.bar.field, "rope")
    qtbot.keyClick(page.bar.field, Qt.Key.Key_Escape)
    assert (page.bar.field.text(), page.bar.field.hasFocus()) == ("", True)
    qtbot.keyClick(page.bar.field, Qt.Key.Key_Escape)
    assert page.view.hasFocus()


def test_a_memory_is_chosen_past_any_filter(page: MemoryPage, qtbot: QtBot) -> None:
    told: list[object] = []
    page.chosen.connect(told.append)
    assert not page.detail.isVisible()
    qtbot.keyClicks(page.bar.field, "lamp")
    assert page.choose(ROPE.id)
    assert (page.current, told[-1], page.bar.field.text()) == (ROPE, ROPE, "")
    assert page.detail.isVisible()
    assert not page.choose("gone")


@pytest.mark.parametrize(
    ("picture", "title", "offers"),
    [
        (None, "Reading the memories…", []),
        (FactsPicture(waiting=2, total=2), "No memories of this chat yet", ["memories.extract"]),
        (FactsPicture(everything=True), "No memories yet", ["chat.open"]),
        (FactsPicture(), "No memories of this chat", ["memories.again"]),
        (FactsPicture(total=4), "No memories of this chat", ["scope"]),
    ],
)
def test_an_empty_list_says_why_and_what_to_do(
    page: MemoryPage, picture: FactsPicture | None, title: str, offers: list[str]
) -> None:
    told: list[object] = []
    page.wanted.connect(told.append)
    page.bar.scoped.connect(lambda on: told.append("scope" if on else ""))
    page.show_picture(picture, chat=True)
    assert (page.empty.isVisible(), page.empty.title.text()) == (True, title)
    for name in offers:
        page.empty.pressed.emit(name)
    assert told == offers
    if picture is not None and picture.waiting:
        assert "2 passages of it wait" in page.empty.text.text()
        page.use_rules(True)
        assert "Without one, plain rules take sentences" in page.empty.text.text()


def test_how_often_memories_were_used_is_told_where_a_run_says_it(page: MemoryPage) -> None:
    def offered() -> bool:
        return next(act for act in page.bar.orders.actions() if act.data() == USES).isVisible()

    assert (page.view.isColumnHidden(USES), offered()) == (True, False)
    page.show_uses({})
    assert (page.view.isColumnHidden(USES), offered()) == (False, True)
    page.order_by(USES)
    page.show_uses({LAMP.id: 1, ROAD.id: 2})
    assert listed(page) == [ROAD, LAMP, ROPE]
    spoken = [page.model.index(place, USES).data(ACCESSIBLE_TEXT) for place in range(3)]
    assert [text.rpartition("used in ")[2] for text in spoken] == ["2 replies", "1 reply", "0 replies"]
    page.show_uses(None)
    assert (page.view.isColumnHidden(USES), offered()) == (True, False)
    assert listed(page) == [ROPE, ROAD, LAMP]  # the newest first


def test_narrow_lists_leave_lesser_columns_out(page: MemoryPage) -> None:
    page.show_uses({})

    def hidden() -> list[int]:
        return [column for column in (STATE, WHEN, USES, TAGS) if page.view.isColumnHidden(column)]

    seen = []
    for width in (700, 500, 380, 300, 200):
        page.view.resize(width, 200)
        seen.append(hidden())
    assert seen == [[], [TAGS], [USES, TAGS], [STATE, USES, TAGS], [STATE, WHEN, USES, TAGS]]


def test_a_row_says_its_state(page: MemoryPage) -> None:
    page.show_uses({ROPE.id: 3})
    page.order_by(TEXT)
    cells = [[page.model.index(place, column).data() for column in (STATE, WHEN, USES, TAGS)] for place in range(3)]
    assert [line[0] for line in cells] == ["pinned", "stale", ""]
    assert [line[2:] for line in cells] == [["0", "gear"], ["0", ""], ["3", "gear, rope"]]
    assert cells[0][1] == day_words(10 * DAY + NOON) == "1970-01-11"
    spoken = [page.model.index(place, TEXT).data(ACCESSIBLE_TEXT) for place in range(3)]
    assert spoken == ["Wren has a lamp. (pinned)", "Wren takes the road. (stale)", "Wren wants rope."]
    assert page.model.index(2, USES).data(ACCESSIBLE_TEXT).endswith("used in 3 replies")
    assert "takes no part in searches" in page.model.index(1, TEXT).data(TOOLTIP)
    assert "takes no part" not in page.model.index(0, TEXT).data(TOOLTIP)
    assert at_the_right(page.model) == [SIMILARITY, USES]
    lines = as_markdown([LAMP, ROAD]).splitlines()
    assert "yes" in lines[2]
    assert r"\#2 to \#3" in lines[3]
    assert "yes" not in lines[3]
    assert day_words(None) == day_words(10**20) == ""


# ---- one memory -----------------------------------------------------------------------------------------------------


@pytest.fixture
def detail(theme: Theme, qtbot: QtBot) -> MemoryDetail:
    made = MemoryDetail(theme)
    qtbot.addWidget(made)
    made.show()
    return made


def test_a_memory_is_written_tagged_and_pinned(detail: MemoryDetail, qtbot: QtBot) -> None:
    told: list[tuple[object, ...]] = []
    for signal in (detail.written, detail.tagged, detail.pinned):
        signal.connect(lambda *news: told.append(news))
    parts = (detail.tags, detail.pin, detail.delete)
    assert not any(part.isEnabled() for part in parts)
    detail.show_row(ROPE, in_run=False)
    assert all(part.isEnabled() for part in parts)
    assert (detail.tags.text(), detail.pin.isChecked()) == ("gear, rope", False)
    assert detail.words.text() == "Somebody said it. Of 1970-01-13."
    detail.tags.setFocus()
    qtbot.keyClick(detail.tags, Qt.Key.Key_Return)  # nothing was typed
    detail.tags.selectAll()
    qtbot.keyClicks(detail.tags, " gear,rope, ")
    qtbot.keyClick(detail.tags, Qt.Key.Key_Return)  # the same ones
    assert told == []
    detail.tags.selectAll()
    qtbot.keyClicks(detail.tags, "sea, ,sea, rope")
    detail.show_row(ROPE, in_run=False)  # news of it, while somebody writes
    assert detail.tags.text() == "sea, ,sea, rope"
    qtbot.keyClick(detail.tags, Qt.Key.Key_Return)
    detail.pin.click()
    detail.text.lines.setPlainText("Wren has rope.")
    detail.text.keep.click()
    assert told == [(ROPE.memory, ["sea", "rope"]), (ROPE.memory, True), (ROPE.memory, "Wren has rope.")]
    detail.show_row(ROAD, in_run=False)
    assert detail.words.text().endswith("It takes no part in searches.")
    detail.show_row(None, in_run=False)
    assert (detail.tags.text(), detail.words.isVisible()) == ("", False)


def test_without_a_memory_there_is_nothing_to_write(detail: MemoryDetail, qtbot: QtBot) -> None:
    told: list[tuple[object, ...]] = []
    for signal in (detail.written, detail.tagged, detail.pinned, detail.past_wanted):
        signal.connect(lambda *news: told.append(news))
    for row in (ROPE, None):
        detail.show_row(row, in_run=False)
        assert detail.text.lines.toPlainText() == (ROPE.memory.content if row is not None else "")
        assert detail.text.lines.isReadOnly() == (row is None)
    assert detail.text.lines.placeholderText() == "Choose a memory to read and to write it."
    detail.show_origin()
    assert detail.currentWidget() is detail.history
    assert told == []
    detail.show_row(ROPE, in_run=False)
    assert len(told) == 1
    detail.activateWindow()
    detail.edit()
    qtbot.waitUntil(detail.text.lines.hasFocus)
    assert (detail.currentIndex(), detail.documentMode()) == (0, True)
    assert [detail.tabText(place) for place in range(2)] == ["Text", "Where it came from"]


def test_buttons_of_a_memory_delete_it_and_take_a_pin_away(detail: MemoryDetail) -> None:
    told: list[object] = []
    detail.deleted.connect(lambda: told.append("deleted"))
    detail.pinned.connect(lambda memory, on: told.append((memory, on)))
    detail.show_row(LAMP, in_run=False)
    assert detail.pin.isChecked()
    detail.pin.click()
    detail.delete.click()
    assert told == [(LAMP.memory, False), "deleted"]


def test_where_a_memory_came_from_is_asked_for_once_and_only_when_looked_at(detail: MemoryDetail) -> None:
    asked: list[Memory] = []
    detail.past_wanted.connect(asked.append)
    detail.show_row(ROPE, in_run=False)
    assert asked == []
    detail.show_origin()
    detail.show_row(ROPE, in_run=False)
    assert asked == [ROPE.memory]
    assert detail.history.words.text() == "Looking it up…"
    detail.show_past(Provenance(ROAD.memory))  # of one that was looked at before
    assert detail.history.words.text() == "Looking it up…"
    detail.show_past(Provenance(ROPE.memory))
    assert detail.history.words.text() == "Somebody said it."
    detail.show_row(replace(ROPE, at=4), in_run=False)  # the same one, changed
    assert (len(asked), detail.history.words.text()) == (2, "Somebody said it.")
    detail.show_row(None, in_run=False)
    assert detail.history.words.text().startswith("Choose a memory")
    detail.edit()
    assert detail.currentIndex() == 0


def test_a_past_in_words(theme: Theme, qtbot: QtBot) -> None:
    page = HistoryPage(theme)
    qtbot.addWidget(page)
    page.show_memory(ROAD.memory, own=True, in_run=False)
    assert (page.messages.text(), page.messages.isEnabled(), page.in_run.isEnabled()) == (
        "Messages #2 to #3",
        True,
        False,
    )
    page.show_memory(LAMP.memory, own=False, in_run=True)
    assert (page.messages.text(), page.messages.isEnabled(), page.in_run.isEnabled()) == ("Its messages", False, True)
    run = ExtractionRun("r", "u", "t", 10 * DAY + NOON, "tiny", {"totalExtracted": 2, "memoriesSaved": 1})
    inferred = replace(ROAD.memory, source="inferred")
    page.show_past(Provenance(inferred, run=run))
    assert page.words.text() == (
        "It was inferred in messages #2 to #3 of Tale. Run of 1970-01-11 by tiny: 2 drawn out, 1 new. "
        "It is from before it was kept what became of each fact."
    )
    near = FactDecision("Wren leaves.", FactAction.SUPERSEDE, 0.5, "a", "Wren goes.", memory="a")
    other = FactDecision("Ada stays.", FactAction.SAVE, memory="b")
    page.show_past(Provenance(inferred, happenings=(FactHappening(near, run),), others=(other,), run=run, edited=True))
    assert page.words.text().endswith("Its text was written by hand since.")
    first, second = (page.model.index(place, 1) for place in range(2))
    assert (first.data(ACCESSIBLE_TEXT).endswith("similarity 0.500 to: Wren goes."), first.data(TOOLTIP)) == (
        True, "Wren leaves.\n\nNearest, similarity 0.500: Wren goes.\n\nRun of 1970-01-11, tiny",
    )  # fmt: skip
    assert second.data(ACCESSIBLE_TEXT).endswith("nothing to compare with")
    assert second.data(TOOLTIP).endswith("Enter shows that memory.")
    assert at_the_right(page.model) == [1]
    assert counts_words({"memoriesSaved": 0}) == "nothing to keep"


# ---- passages and the profile ---------------------------------------------------------------------------------------

FAILED = (
    "2 attempts failed: too slow. Nothing of it is kept. Look at the provider, or choose another one; then draw it out "
    "again."
)
EDITED = (
    "Its messages, or their swipes, are others since its facts were kept; it will be read again. 3 memories came from "
    "it as it was; reading it again takes none away."
)
PASSAGES = (
    PassageRow(0, 1, "dormant", memories=2, ended=10 * DAY + NOON),
    PassageRow(2, 3, waiting=True),
    PassageRow(4, 5, "active", waiting=True),
    PassageRow(6, 7, "dormant", changed=True, waiting=True, memories=3),
    PassageRow(8, 9, waiting=True, failures=2, problem="too slow"),
    PassageRow(10, 11, "closed"),
    PassageRow(12, 13, "dormant", problem="the reply is no JSON"),
)


def test_passages_say_how_they_stand_and_which_can_be_read(theme: Theme, qtbot: QtBot) -> None:
    page = PassagePage(theme)
    qtbot.addWidget(page)
    wanted: list[object] = []
    page.wanted.connect(lambda *which: wanted.append(which))
    page.jump.connect(wanted.append)
    page.show_picture(FactsPicture(passages=PASSAGES), chat_known=True, chat=True)
    states = [page.model.index(place, 1).data() for place in range(7)]
    assert states == ["Kept", "Waiting", "Waiting", "Edited since", "Failed", "Kept, closed", "Without facts"]
    assert [page.model.index(place, 2).data() for place in range(3)] == ["2", "", "0"]
    assert at_the_right(page.model) == [2]
    said = []
    for each in PASSAGES:
        page.view.choose(each.key)
        said.append(
            (page.words.text().removeprefix(f"Messages #{each.first} to #{each.last}. "), page.read.isEnabled())
        )
    assert said == [
        ("It is dormant: its facts are kept. 2 memories came from it.", False),
        ("Its facts are not drawn out yet.", True),
        ("Reading it was broken off; it will be read again.", True),
        (EDITED, True),
        (FAILED, True),
        ("It is closed: its facts are kept, and it is over for good. 0 memories came from it.", False),
        ("No facts came of it: the reply is no JSON. It counts as read, and can be read again.", True),
    ]  # fmt: skip
    page.read.click()
    page.view.choose("2-3")
    page.read.click()
    page.show_messages.click()
    page.view.pressed.emit(PASSAGES[2])
    assert wanted == [("12-13", True), ("2-3", False), 2, 4]
    page.show_work("4-5", busy=True)
    assert page.model.index(2, 1).data() == "Reading…"
    assert not page.read.isEnabled()
    for known, chat, title, told in (
        (True, True, "Nothing to read", "The chat has no messages that are read."),
        (
            False,
            True,
            "The chat is in no file yet",
            "Memories are known by the name of their chat's file. Save the chat first.",
        ),
        (False, False, "No chat open", "Open a chat: it is read in passages, each up to a long silence."),
    ):
        page.show_picture(FactsPicture(), chat_known=known, chat=chat)
        assert (page.empty.title.text(), page.empty.text.text()) == (title, told)
    assert not page.show_messages.isEnabled()


def test_a_profile_is_told_in_full(theme: Theme, qtbot: QtBot) -> None:
    page = ProfilePage(theme)
    qtbot.addWidget(page)
    page.show_picture(FactsPicture(profile=(("name", "Wren"), ("gear", "rope, lamp"))))
    page.view.choose("gear")
    assert page.words.text() == "gear: rope, lamp"
    page.show_picture(None)
    assert page.words.text() == ""


def test_the_bar_of_progress_is_as_far_as_the_work_and_moves_where_nobody_knows(theme: Theme, qtbot: QtBot) -> None:
    pane = MemoriesPane(theme)
    qtbot.addWidget(pane)
    for under in (Under(FACTS, 1, 4), Under(FACTS, 3, 4), Under(FACTS)):
        pane.show_work(under, "", "", "", quotes=False)
        bar = pane.progress
        assert (bar.minimum(), bar.maximum(), bar.value()) == (0, under.of, under.done)
        assert not bar.isHidden()
    pane.show_work(Under(), "", "", "", quotes=False)
    assert pane.progress.isHidden()


def test_the_pane_says_that_it_reads_or_why_it_cannot(theme: Theme, qtbot: QtBot) -> None:
    pane = MemoriesPane(theme)
    qtbot.addWidget(pane)
    tabs = pane.tabs
    assert all(tabs.widget(place).accessibleName() == tabs.tabText(place) for place in range(tabs.count()))
    said = []
    for problem in ("", "It is torn.", ""):
        pane.show_picture(None, problem, chat=True, chat_known=True)
        said.append((pane.empty.title.text(), pane.empty.text.text(), pane.empty.isVisibleTo(pane)))
    reads = ("Reading the memories…", "", True)
    assert said == [reads, ("The memories cannot be read", "It is torn.", True), reads]
    pane.show_picture(PICTURE, "", chat=True, chat_known=True)
    assert not pane.empty.isVisibleTo(pane)


# ---- the bar above the list -----------------------------------------------------------------------------------------


def told_by(bar: FilterBar) -> list[tuple[object, ...]]:
    told: list[tuple[object, ...]] = []
    for name in ("changed", "searched", "scoped", "ordered"):
        getattr(bar, name).connect(lambda *news, name=name: told.append((name, *news)))
    return told


def test_each_part_of_the_bar_says_what_is_wanted(page: MemoryPage, qtbot: QtBot) -> None:
    told = told_by(page.bar)
    page.bar.only_pinned.click()
    page.bar.tag.setCurrentIndex(1)
    page.bar.tag.activated.emit(1)
    for key, whose in ((Qt.Key.Key_Down, "All chats"), (Qt.Key.Key_Up, "This chat")):
        qtbot.keyClick(page.bar.scope, key)
        assert page.bar.scope.currentText() == whose
    page.bar.write("lamp")
    page.bar.find_button.click()
    for each in page.bar.orders.actions():
        each.trigger()
    assert told[:2] == [("changed",)] * 2
    assert told[2:5] == [("scoped", True), ("scoped", False), ("searched", "lamp")]
    assert [place for _name, place in told[5:]] == [action.data() for action in page.bar.orders.actions()]
    assert all(action.isCheckable() for action in page.bar.orders.actions())
    assert page.bar.field.text() == "lamp"
    page.bar.clear()
    assert (page.bar.field.text(), page.bar.only_pinned.isChecked(), page.bar.chosen_tag) == ("", False, "")


def test_words_that_are_written_by_the_program_filter_nothing(page: MemoryPage) -> None:
    page.bar.write("nothing like it")
    assert len(listed(page)) == 3
    page.bar.field.setText("lamp")
    assert listed(page) == [LAMP]


def test_orders_by_similarity_are_offered_only_of_hits(page: MemoryPage) -> None:
    def offered() -> list[int]:
        return [action.data() for action in page.bar.orders.actions() if action.isVisible()]

    assert SIMILARITY not in offered()
    page.show_hits(Hits("lamp", {LAMP.id: 0.9}), "")
    assert SIMILARITY in offered()
    assert [action.data() for action in page.bar.orders.actions() if action.isChecked()] == [SIMILARITY]
    assert page.bar.order.accessibleName() == page.bar.order.toolTip()
    page.show_hits(None, "")
    assert SIMILARITY not in offered()


def test_a_chosen_memory_shares_the_room_with_the_list(page: MemoryPage) -> None:
    assert page.detail.isHidden()
    page.choose(ROPE.id)
    assert page.detail.isVisible()
    high, low = page.splitter.sizes()
    assert high / (high + low) == pytest.approx(11 / 20, abs=0.04)
    for (width, height), across in (((520, 329), True), ((520, 330), False), ((640, 559), True), ((640, 560), False)):
        page.resize(width, height)
        assert (page.splitter.orientation() is Qt.Orientation.Horizontal) == across, (width, height)
    page.resize(640, 500)
    wide, narrow = page.splitter.sizes()
    assert wide / (wide + narrow) == pytest.approx(11 / 20, abs=0.04)


def test_doors_of_an_empty_list_lead_on(page: MemoryPage) -> None:
    wanted: list[str] = []
    scoped: list[bool] = []
    page.wanted.connect(wanted.append)
    page.bar.scoped.connect(scoped.append)
    page.bar.field.setText("nothing like it")
    assert (page.view.isHidden(), page.empty.isHidden()) == (True, False)
    page.empty.pressed.emit("all")
    assert (len(listed(page)), page.view.isHidden(), page.empty.isHidden()) == (3, False, True)
    page.empty.pressed.emit("scope")
    page.empty.pressed.emit("memories.extract")
    assert (wanted, scoped) == (["memories.extract"], [True])


def test_the_menu_of_a_memory_asks_what_makes_sense_before_it_opens(page: MemoryPage) -> None:
    told: list[str] = []
    page.view.look = lambda index: told.append(index.data())
    page.view.offered = [action("Like it", lambda: told.append("done"), page)]
    page.show()
    menu = menu_of_row(page.view, page.model.index(1, 0))
    menu.actions()[0].trigger()
    menu.close()
    assert told == [page.model.index(1, 0).data(), "done"]
