"""Pages of rows with what is said about one of them: how they share the room."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible
from PySide6.QtWidgets import QMessageBox
from pytestqt.qtbot import QtBot

from lorestudio.ui.shell.theme import Theme
from lorestudio.ui.widgets.cells import Column
from lorestudio.ui.widgets.work_pane import KeyedText, ProgressStrip, RowsPage, WorkPane
from tests.ui.conftest import drain


@pytest.mark.parametrize("halved", [None, True, False])
def test_rows_and_what_is_below_share_the_room_unless_the_rows_have_more(
    qtbot: QtBot, theme: Theme, halved: bool | None
) -> None:
    how = {} if halved is None else {"halved": halved}
    page = RowsPage(theme, [Column("Word", str)], str, str, "Words", **how)
    page.add_text("Text")
    page.model.set_rows(["a", "b"])
    qtbot.addWidget(page)
    page.resize(500, 300)
    page.show()
    drain()
    page.resize(500, 700)  # as a layout does with what it has just shown
    drain()
    rows, detail = page.splitter.sizes()
    assert (abs(rows - detail) <= 10) is (halved is not False)  # a handle lies between them
    assert page.detail.y() > page.table.parentWidget().y() == 0
    page.splitter.moveSplitter(500, 1)
    divided = page.splitter.sizes()[1]
    page.resize(500, 710)
    drain()
    assert abs(page.splitter.sizes()[1] - divided) <= 10, "as somebody divided it"


def test_what_was_written_and_not_kept_waits_for_its_own(qtbot: QtBot) -> None:
    text = KeyedText("Recap")
    qtbot.addWidget(text)
    text.show()
    told: list[object] = []
    text.written.connect(lambda key, words: told.append((key, words)))
    text.left.connect(lambda: told.append("left"))
    text.show_text(1, "One.", editable=True)
    assert (text.changed, text.keep.isVisible()) == (False, False)
    qtbot.keyClick(text.lines, Qt.Key.Key_Escape)
    assert told == ["left"]
    qtbot.keyClicks(text.lines, "Now ")
    assert (text.changed, text.keep.isVisible(), text.back.isVisible()) == (True, True, True)
    text.show_text(2, "Two.", editable=True)
    assert text.lines.toPlainText() == "Two."
    text.show_text(1, "One.", editable=True)
    assert text.lines.toPlainText() == "Now One."
    qtbot.keyClick(text.lines, Qt.Key.Key_Escape)
    assert (text.lines.toPlainText(), told) == ("One.", ["left"])
    qtbot.keyClicks(text.lines, "So ")
    qtbot.keyClick(text.lines, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    assert told[-1] == (1, "So One.")
    text.show_text(1, "So one.", editable=True)  # what was made of it in the file
    assert (text.lines.toPlainText(), text.changed) == ("So one.", False)
    text.show_text(1, "So one.", editable=False)
    qtbot.keyClicks(text.lines, "x")
    text.keep.click()
    assert (text.changed, len(told)) == (False, 2)


def test_other_things_begin_without_what_was_written(qtbot: QtBot) -> None:
    text = KeyedText("Recap")
    qtbot.addWidget(text)
    text.show_text(1, "One.", editable=True, placeholder="Nothing yet")
    assert text.lines.placeholderText() == "Nothing yet"
    text.lines.setPlainText("Mine")
    text.show_text(2, "Two.", editable=True)
    text.forget()
    text.show_text(1, "One.", editable=True)
    assert text.lines.toPlainText() == "One."
    text.lines.setPlainText("Kept")
    text.keep.click()
    text.taken()
    assert not text.changed


def test_how_far_it_is_in_one_line(qtbot: QtBot) -> None:
    strip = ProgressStrip()
    qtbot.addWidget(strip)
    stopped: list[bool] = []
    strip.cancelled.connect(lambda: stopped.append(True))
    assert strip.isHidden()
    strip.start("Replaying…", stoppable=True)
    assert (strip.isHidden(), strip.stop.isHidden(), strip.bar.maximum()) == (False, False, 0)
    strip.set_progress(0, 0)
    assert (strip.bar.value(), strip.bar.maximum()) == (0, 1)
    strip.set_progress(1200, 3000)
    assert (strip.label.text(), strip.bar.value(), strip.bar.maximum()) == ("Reply 1,200 of 3,000", 1200, 3000)
    assert strip.accessibleDescription() == "Reply 1,200 of 3,000"
    strip.set_outlook("2 min left", 5)
    strip.set_progress(3, 9)
    assert strip.label.text() == "3 done, replies before the range first · 2 min left"
    strip.set_outlook("", 0)
    strip.set_progress(4, 9)
    strip.show_stage("AI selection", 6.6)
    assert strip.label.text() == "Reply 4 of 9 · AI selection 7 s"
    strip.show_stage("", 9)
    assert strip.label.text().endswith("7 s")
    strip.stop.click()
    assert stopped == [True]
    strip.stopping()
    strip.show_stage("AI selection", 9)
    assert (strip.label.text(), strip.stop.isEnabled()) == ("Stopping…", False)
    strip.finish()
    assert strip.isHidden()
    strip.start("Checking…", stoppable=False, told="Note {done} of {total}")
    assert (strip.stop.isHidden(), strip.stop.isEnabled(), strip.label.text()) == (True, True, "Checking…")
    strip.set_progress(1, 2)
    assert strip.label.text() == "Note 1 of 2"


def test_buttons_follow_what_is_shown_at_once(qtbot: QtBot) -> None:
    text = KeyedText("Recap", tip="Ctrl+Enter keeps it")
    qtbot.addWidget(text)
    text.show_text(1, "One.", editable=True)
    text.lines.setPlainText("Mine")
    assert (text.keep.isHidden(), text.back.isHidden()) == (False, False)
    text.show_text(2, "Two.", editable=True)
    assert (text.keep.isHidden(), text.back.isHidden()) == (True, True)
    text.show_text(1, "One.", editable=True)
    assert (text.keep.isHidden(), text.back.isHidden()) == (False, False)
    text.back.click()
    assert (text.lines.toPlainText(), text.keep.isHidden()) == ("One.", True)
    text.lines.setPlainText("Mine")
    text.forget()
    assert (text.lines.toPlainText(), text.keep.isHidden(), text.changed) == ("", True, False)


def test_enter_alone_makes_a_line_and_tab_goes_on(qtbot: QtBot) -> None:
    text = KeyedText("Recap")
    qtbot.addWidget(text)
    told: list[object] = []
    text.written.connect(lambda *news: told.append(news))
    text.show_text(1, "One.", editable=True)
    text.show()
    text.activateWindow()
    text.lines.setFocus()
    qtbot.waitUntil(text.lines.hasFocus)
    qtbot.keyClick(text.lines, Qt.Key.Key_Return)
    assert (text.lines.toPlainText(), told) == ("\nOne.", [])
    qtbot.keyClick(text.lines, Qt.Key.Key_Tab)
    assert text.lines.toPlainText() == "\nOne."
    assert not text.lines.hasFocus()
    high = text.fontMetrics().lineSpacing()
    assert (text.lines.sizeHint().height(), text.lines.minimumSizeHint().height()) == (3 * high + 16, 2 * high + 16)


@pytest.fixture
def page(qtbot: QtBot, theme: Theme) -> RowsPage:
    made = RowsPage(theme, [Column("Word", str)], str, lambda row: f"tip of {row}", "Words")
    qtbot.addWidget(made)
    made.resize(500, 400)
    made.show()
    return made


def test_without_rows_a_page_says_why_in_their_place(page: RowsPage) -> None:
    assert [part.isVisible() for part in (page.view, page.detail, page.empty)] == [False, False, True]
    page.model.set_rows(["a"])
    assert [part.isVisible() for part in (page.view, page.detail, page.empty)] == [True, True, False]
    assert page.model.index(0, 0).data(Qt.ItemDataRole.ToolTipRole) == "tip of a"
    page.say("About a")
    assert (page.words.text(), page.words.isHidden()) == ("About a", False)
    page.say("")
    assert page.words.isHidden()


def test_a_button_does_something_with_the_chosen_row_only(page: RowsPage) -> None:
    told: list[str] = []
    button = page.row_button("Take", "Take it", told.append)
    page.add_row(button)
    page.model.set_rows(["a", "b"])
    page.view.clearSelection()
    page.view.setCurrentIndex(page.model.index(-1, 0))
    button.click()
    assert told == []
    page.view.choose("b")
    button.click()
    assert told == ["b"]
    assert button.isVisible()


def test_what_was_written_about_others_is_given_up(page: RowsPage, qtbot: QtBot) -> None:
    text = page.add_text("Text")
    page.model.set_rows(["a"])
    page.forget_others("chat", text)
    text.show_text(1, "One.", editable=True)
    text.lines.setPlainText("Mine")
    page.forget_others("chat", text)
    assert text.lines.toPlainText() == "Mine"
    page.forget_others("other", text)
    assert text.lines.toPlainText() == ""
    page.activateWindow()
    text.lines.setFocus()
    qtbot.keyClick(text.lines, Qt.Key.Key_Escape)
    qtbot.waitUntil(page.view.hasFocus)


def test_screen_readers_hear_of_progress_once_a_second(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    strip = ProgressStrip()
    qtbot.addWidget(strip)
    told: list[str] = []
    monkeypatch.setattr(
        QAccessible, "updateAccessibility", lambda event: told.append(event.object().accessibleDescription())
    )
    now = [100.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    strip.start("Replaying…", stoppable=True)
    for done, at in ((1, 100.0), (2, 100.9), (3, 101.0), (4, 101.5)):
        now[0] = at
        strip.set_progress(done, 9)
    assert told == ["Reply 1 of 9", "Reply 3 of 9"]


def test_what_became_of_a_text_elsewhere_is_shown_where_nobody_wrote(qtbot: QtBot) -> None:
    text = KeyedText("Recap")
    qtbot.addWidget(text)
    text.show_text(1, "One.", editable=True)
    text.show_text(2, "Two.", editable=True)
    text.show_text(1, "Another one.", editable=True)
    assert text.lines.toPlainText() == "Another one."
    text.lines.setPlainText("Mine")
    text.show_text(1, "Mine", editable=True)  # somebody else has written the same
    assert (text.changed, text.keep.isHidden()) == (False, True)


def test_what_was_written_follows_what_it_is_about_and_waits_for_what_is_gone(qtbot: QtBot) -> None:
    text = KeyedText("Recap")
    qtbot.addWidget(text)
    text.show_text(1, "One.", editable=True)
    text.lines.setPlainText("Mine")
    text.follow({1: 2})
    assert (text.lines.toPlainText(), text.unkept) == ("Mine", 1)
    text.follow({2: ("gone", 2)})
    assert (text.lines.toPlainText(), text.changed, text.unkept, text.begun) == ("One.", False, 0, True)
    text.show_text(3, "Three.", editable=True)
    text.lines.setPlainText("Other")
    text.follow({("gone", 2): 2, 3: 3})
    assert text.unkept == 2
    text.show_text(2, "One.", editable=True)
    assert text.lines.toPlainText() == "Mine"
    text.show_text(3, "Three.", editable=True)
    assert text.lines.toPlainText() == "Other"
    text.give_up()
    assert (text.lines.toPlainText(), text.begun) == ("Three.", False)


def test_texts_that_are_not_kept_are_counted_before_they_are_given_up(qtbot: QtBot, theme: Theme) -> None:
    pane = WorkPane("recap", "Recap", theme, "note")
    qtbot.addWidget(pane)
    texts = [KeyedText(name, pane) for name in ("One", "Two")]
    left: list[str] = []
    assert not pane.ask_before_leaving(lambda: left.append("nothing was written"))
    for each, said in ((texts[0], "1 text has"), (texts[1], "2 texts have")):
        each.show_text(1, "Text.", editable=True)
        each.lines.setPlainText("Mine")
        assert pane.ask_before_leaving(lambda: left.append("given up"))
        (box,) = pane.findChildren(QMessageBox)
        assert said in box.text()
        assert "“Recap”" in box.text()
        box.reject()
        drain()
        assert (left, each.lines.toPlainText()) == ([], "Mine")
    pane.ask_before_leaving(lambda: left.append("given up"))
    (box,) = pane.findChildren(QMessageBox)
    (button,) = (each for each in box.buttons() if each.text() == "Throw away")
    button.click()
    drain()
    assert (left, [each.lines.toPlainText() for each in texts]) == (["given up"], ["Text.", "Text."])
