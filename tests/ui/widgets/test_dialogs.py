"""Questions to a person: what each button does, which one Enter takes, and what is answered where it is closed."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

import pytest
from PySide6.QtCore import QSettings, QSize, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QApplication,
    QDialog,
    QDialogButtonBox,
    QFileDialog,
    QLabel,
    QLineEdit,
    QMessageBox,
    QPlainTextEdit,
    QPushButton,
    QTextBrowser,
    QWidget,
)
from pytestqt.qtbot import QtBot
from shiboken6 import isValid

from lorestudio.domain.resources import VERSION
from lorestudio.ui.widgets import dialogs, layouts
from lorestudio.ui.widgets.layouts import button, column, label, named, row
from tests.ui.conftest import drain


@pytest.fixture
def parent(qtbot: QtBot) -> Iterable[QWidget]:
    made = QWidget()
    qtbot.addWidget(made)
    made.show()
    yield made
    drain()


def buttons(box: QDialog) -> dict[str, QPushButton]:
    return {each.text().replace("&", ""): each for each in box.findChildren(QPushButton) if each.text()}


def default(box: QMessageBox) -> str:
    return box.defaultButton().text().replace("&", "")


def each_way(open_box: Callable[[list[object]], QDialog]) -> dict[str, list[object]]:
    """What is answered by each button, and by Escape."""
    found: dict[str, list[object]] = {}
    first = open_box([])
    assert first.isVisible()
    for name in [*buttons(first), ""]:
        told: list[object] = []
        box = open_box(told)
        if name:
            buttons(box)[name].click()
        else:
            box.reject()
        found[name or "Escape"] = told
    first.reject()
    return found


def test_tab_goes_as_the_parts_lie_whichever_was_made_first(parent: QWidget) -> None:
    dialog = dialogs.Dialog(parent, "Profiles", (600, 400))
    answers = dialog.answers("Use")
    below, above, left = (
        named(QPlainTextEdit(dialog, tabChangesFocus=True), name) for name in ("below", "above", "left")
    )
    right = column(row(label(dialog, "Compare with"), above), below)
    column(row((left, 1), (right, 1)), answers, of=dialog)
    dialog.open()
    drain()
    ends = sorted(buttons(dialog).values(), key=lambda each: each.x())
    order = [left, above, below, *ends]
    for key, next_ones in ((Qt.Key.Key_Tab, [*order, left]), (Qt.Key.Key_Backtab, [left, *reversed(order)])):
        for expected in next_ones:
            assert QApplication.focusWidget() is expected
            QTest.keyClick(expected, key)
        left.setFocus()
    dialog.reject()


def test_before_something_that_cannot_be_undone(parent: QWidget) -> None:
    def ask(told: list[object]) -> QMessageBox:
        return dialogs.confirm(parent, "Delete", "Really?", "Delete it", lambda: told.append(True), "It is gone then.")

    assert each_way(ask) == {"Delete it": [True], "Cancel": [], "Escape": []}
    box = ask([])
    assert (default(box), box.text(), box.informativeText(), box.windowTitle()) == (
        "Cancel", "Really?", "It is gone then.", "Delete",
    )  # fmt: skip
    box.reject()


def test_which_of_two(parent: QWidget) -> None:
    def ask(told: list[object]) -> QMessageBox:
        ways = ("Keep", lambda: told.append("kept")), ("Throw away", lambda: told.append("lost"))
        return dialogs.ask_either(parent, "Chat", "Unsaved.", "", *ways)

    assert each_way(ask) == {"Keep": ["kept"], "Throw away": ["lost"], "Cancel": [], "Escape": []}
    box = ask([])
    assert default(box) == "Keep"
    box.reject()


def test_leave_to_do_something_is_answered_however_it_ends(parent: QWidget) -> None:
    def ask(told: list[object]) -> QMessageBox:
        return dialogs.ModelCost("Mine", "3 calls.", "They cost.", told.append).ask(parent)

    assert each_way(ask) == {"Ask Mine": [True], "Cancel": [False], "Escape": [False]}
    box = ask([])
    assert (default(box), box.text(), box.windowTitle()) == ("Ask Mine", "3 calls.", "Ask Mine?")
    box.reject()


def test_unsaved_notes(parent: QWidget) -> None:
    names = [f"{place}.md" for place in range(11)]

    def ask(told: list[object]) -> QMessageBox:
        return dialogs.ask_unsaved(parent, names, told.append)

    assert sorted(map(str, each_way(ask).values())) == ["['cancel']", "['cancel']", "['discard']", "['save']"]
    box = ask([])
    assert box.informativeText().splitlines() == [*names[:10], "…"]
    assert box.text() == "11 notes have not been saved."
    box.defaultButton().click()
    one = dialogs.ask_unsaved(parent, names[:1], lambda _word: None)
    assert (one.text(), one.informativeText()) == ("1 note has not been saved.", "0.md")
    one.reject()


def test_a_dialog_grows_with_its_letters_and_is_gone_once_closed(
    parent: QWidget, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(layouts, "letters", lambda _widget: 1.5)
    dialog = dialogs.Dialog(parent, "Books", (300, 200))
    assert (dialog.size(), dialog.windowTitle()) == (QSize(450, 300), "Books")
    dialog.open()
    QTest.keyClick(dialog, Qt.Key.Key_Escape)
    drain()
    assert not isValid(dialog)


def test_a_dialog_that_writes_stays_until_it_is_told(parent: QWidget) -> None:
    dialog = dialogs.Dialog(parent, "Books")
    column(dialog.answers(), of=dialog)
    dialog.open()
    dialog.writing = True
    dialog.close()
    QTest.keyClick(dialog, Qt.Key.Key_Escape)
    assert dialog.isVisible()
    dialog.writing = False
    dialog.findChild(QDialogButtonBox).button(QDialogButtonBox.StandardButton.Close).click()
    drain()
    assert not isValid(dialog)


def test_enter_elsewhere_in_a_dialog_presses_the_answer_and_no_other_button(parent: QWidget) -> None:
    dialog = dialogs.Dialog(parent, "Books")
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose, False)
    told: list[str] = []
    field = QLineEdit()
    other = button(dialog, "Other", lambda: told.append("other"), tip="Something", name="Another")
    box = dialog.answers("Use")
    column(other, field, box, of=dialog)
    dialog.accepted.connect(lambda: told.append("accepted"))
    dialog.rejected.connect(lambda: told.append("rejected"))
    dialog.show()
    field.setFocus()
    (use,) = [each for each in box.buttons() if box.buttonRole(each) is QDialogButtonBox.ButtonRole.AcceptRole]
    assert (use.text(), use.property("kind"), other.accessibleName()) == ("Use", "primary", "Another")
    QTest.keyClick(field, Qt.Key.Key_Return)
    assert told == ["accepted"]
    other.click()
    assert told == ["accepted", "other"]
    dialog.show()
    box.button(QDialogButtonBox.StandardButton.Cancel).click()
    assert told[2:] == ["rejected"]
    mine = QPushButton("Mine", dialog)
    assert mine in dialog.answers(mine).buttons()


def test_enter_presses_the_button_that_has_the_keyboard(parent: QWidget) -> None:
    for answered in (True, False):
        dialog = dialogs.Dialog(parent, "Books")
        told: list[str] = []
        other = button(dialog, "Other", partial(told.append, "other"))
        column(other, *([dialog.answers("Use")] if answered else []), of=dialog)
        dialog.accepted.connect(partial(told.append, "accepted"))
        dialog.open()
        other.setFocus()
        drain()
        QTest.keyClick(dialog.focusWidget(), Qt.Key.Key_A)
        QTest.keyClick(dialog.focusWidget(), Qt.Key.Key_Return)
        assert (told, dialog.isVisible()) == (["other"], True)


def test_a_name_is_asked_for(parent: QWidget, qtbot: QtBot) -> None:
    told: list[str] = []
    for typed in (" Skarn ", "  "):
        box = dialogs.ask_name(parent, "Rename", "Title", "Old", told.append)
        line = box.findChild(QLineEdit)
        assert box.isVisible()
        assert (line.text(), line.selectedText(), line.accessibleName()) == ("Old", "Old", "Title")
        line.clear()
        qtbot.keyClicks(line, typed)
        qtbot.keyClick(line, Qt.Key.Key_Return)
    assert box.isVisible()  # a name of blanks is none, so that nothing was answered yet
    qtbot.keyClick(line, Qt.Key.Key_Escape)
    for more, says in (({}, "New"), ({"accept": "Begin"}, "Begin")):  # the button says what it does
        new = dialogs.ask_name(parent, "New", "Title", "", told.append, **more)
        assert {text: each.isEnabled() for text, each in buttons(new).items()} == {says: False, "Cancel": True}
        new.reject()
    dialogs.ask_name(parent, "Rename", "Title", "Old", told.append).reject()
    assert told == ["Skarn"]


def test_the_address_of_a_vault_is_asked_for(parent: QWidget, qtbot: QtBot) -> None:
    told: list[tuple[str, str]] = []
    box = dialogs.ask_obsidian(parent, lambda address, key: told.append((address, key)))
    address, key = box.findChildren(QLineEdit)
    assert box.isVisible()
    assert key.echoMode() is QLineEdit.EchoMode.Password
    address.setText(" http://127.0.0.1:27123/Brume ")
    key.setText("secret")
    buttons(box)["Open"].click()
    dialogs.ask_obsidian(parent, lambda *news: told.append(news)).reject()
    assert told == [("http://127.0.0.1:27123/Brume", "secret")]


def test_files_and_folders(parent: QWidget, tmp_path: Path) -> None:
    told: list[Path] = []
    (tmp_path / "a.json").write_text("{}", encoding="utf-8")
    kinds, start = QFileDialog.FileMode, str(tmp_path)
    folder = dialogs.choose_file(parent, "Vault", start, "", told.append)
    file = dialogs.choose_file(parent, "Settings", start, "JSON (*.json)", told.append)
    new = dialogs.choose_new_file(parent, "Save", start, "JSON (*.json)", "json", told.append)
    assert [each.fileMode() for each in (folder, file, new)] == [kinds.Directory, kinds.ExistingFile, kinds.AnyFile]
    modes = [each.acceptMode() is QFileDialog.AcceptMode.AcceptSave for each in (folder, file, new)]
    assert (modes, new.defaultSuffix()) == ([False, False, True], "json")
    for each in (folder, file, new):
        each.fileSelected.emit(str(tmp_path / "a.json"))
        each.reject()
    assert told == [tmp_path / "a.json"] * 3


@pytest.mark.parametrize(("filters", "mode"), [("", "Directory"), ("JSON (*.json)", "ExistingFile")])
def test_a_button_beside_a_line_chooses_what_stands_in_it(
    parent: QWidget, tmp_path: Path, filters: str, mode: str
) -> None:
    line = QLineEdit(parent)
    for begins in ("", str(tmp_path / "old" / "a.json")):
        (tmp_path / "old").mkdir(exist_ok=True)
        line.setText(begins)
        dialogs.chooser(line, "Choose", filters).click()
        (asked,) = (each for each in parent.findChildren(QFileDialog) if each.isVisible())
        assert asked.fileMode() is QFileDialog.FileMode[mode]
        assert not begins or Path(asked.directory().path()) == tmp_path / "old", "where the last one is"
        asked.fileSelected.emit(str(tmp_path / "a.json"))
        asked.reject()
        drain()
        assert line.text() == str(tmp_path / "a.json")


def test_a_name_to_save_under_is_offered_where_a_file_was_chosen_last(parent: QWidget, tmp_path: Path) -> None:
    here = tmp_path / "here"
    here.mkdir()
    first = dialogs.choose_new_file(parent, "Save", str(here / "Ada.jsonl"), "", "jsonl", id)
    assert first.selectedFiles() == [str(here / "Ada.jsonl")]
    first.accept()
    second = dialogs.choose_new_file(parent, "Save", "usage.csv", "Tables (*.csv)", "csv", id)
    assert second.selectedFiles() == [str(here / "usage.csv")]
    second.reject()


def test_what_is_chosen_again_is_looked_for_where_the_last_of_its_kind_was(parent: QWidget, tmp_path: Path) -> None:
    remembered, told = QSettings(str(tmp_path / "window.ini"), QSettings.Format.IniFormat), list[Path]()
    (tmp_path / "far").mkdir()
    for begins_there in (False, True):
        asked = dialogs.choose_again(parent, remembered, "settings", "Compare", "JSON (*.json)", told.append)
        assert (asked.directory().dirName() == "far") is begins_there
        asked.fileSelected.emit(str(tmp_path / "far" / "a.json"))
        asked.reject()
    assert told == [tmp_path / "far" / "a.json"] * 2
    folder = dialogs.choose_again(parent, remembered, "vault", "Open", "", told.append)
    assert folder.fileMode() is QFileDialog.FileMode.Directory
    folder.fileSelected.emit(str(tmp_path / "far"))
    folder.reject()
    assert [remembered.value(f"folders/{kind}") for kind in ("settings", "vault")] == [str(tmp_path / "far")] * 2


def test_a_text_to_read_is_copied_and_closed(parent: QWidget) -> None:
    box = dialogs.show_text(parent, "Details", "It broke.")
    text, below = box.findChild(QPlainTextEdit).geometry(), buttons(box)["Close"].parentWidget().geometry()
    assert box.rect().contains(text.united(below))
    assert below.top() >= text.bottom() > box.height() / 2
    assert set(buttons(box)) == {"Close", "Copy"}
    buttons(box)["Copy"].click()
    assert QGuiApplication.clipboard().text() == "It broke."
    buttons(box)["Close"].click()
    assert not box.isVisible()


def test_links_of_a_page_open_there_and_lead_back(
    parent: QWidget, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "one.md").write_text("The whole of one.", "utf-8")
    (tmp_path / "two.md").write_text("# Two\n\nBack to [one](one.md).", "utf-8")
    opened: list[str] = []
    monkeypatch.setattr(dialogs.QDesktopServices, "openUrl", lambda url: opened.append(url.toString()))
    text = "See [two](two.md), [none](none.md) or [a site](https://example.org)."
    box = dialogs.show_markdown(parent, "Help", text, tmp_path / "one.md")
    page, back = box.findChild(QTextBrowser), buttons(box)["Back"]
    page.setFocus()

    def shown() -> str:
        return page.toPlainText().split()[0]

    def follow(link: int) -> None:
        for _ in range(link):
            QTest.keyClick(page, Qt.Key.Key_Tab)
        QTest.keyClick(page, Qt.Key.Key_Return)

    assert (shown(), back.isEnabled()) == ("See", False)
    follow(1)
    assert (shown(), back.isEnabled()) == ("Two", True)
    follow(1)
    assert shown() == "The"
    QTest.keyClick(page, Qt.Key.Key_Left, Qt.KeyboardModifier.AltModifier)
    assert shown() == "Two"
    back.click()
    assert (shown(), back.isEnabled(), opened) == ("See", False, [])
    follow(2)  # from the first link on, which was followed
    follow(3)
    assert (shown(), opened) == ("See", ["https://example.org", (tmp_path / "none.md").as_uri()])
    box.reject()


def test_several_files(parent: QWidget, tmp_path: Path) -> None:
    told: list[list[str]] = []
    box = dialogs.choose_files(parent, "Open", str(tmp_path), "All (*)", told.append)
    assert (box.fileMode(), box.isVisible(), box.windowTitle()) == (QFileDialog.FileMode.ExistingFiles, True, "Open")
    box.filesSelected.emit(["a", "b"])
    box.reject()
    assert told == [["a", "b"]]


def test_a_dialog_is_gone_once_it_is_closed(parent: QWidget, tmp_path: Path) -> None:
    gone: list[int] = []
    start = str(tmp_path)
    made = (
        dialogs.choose_file(parent, "Vault", start, "", lambda _path: None),
        dialogs.choose_files(parent, "Open", start, "All (*)", lambda _paths: None),
        dialogs.ask_name(parent, "Rename", "Title", "Old", lambda _name: None),
        dialogs.confirm(parent, "Delete", "Really?", "Delete it", lambda: None),
        dialogs.show_text(parent, "Details", "It broke."),
        dialogs.show_about(parent),
    )
    for place, box in enumerate(made):
        assert box.isVisible()
        box.destroyed.connect(lambda _gone=None, place=place: gone.append(place))
        box.close()
    drain()
    assert sorted(gone) == [*range(len(made))]


def test_words_of_a_question_are_shown_as_they_are(parent: QWidget) -> None:
    box = dialogs.confirm(parent, "Delete", "<b>Bell</b>", "Delete it", lambda: None)
    assert (box.textFormat(), box.icon()) == (Qt.TextFormat.PlainText, QMessageBox.Icon.NoIcon)
    box.reject()


def test_the_first_field_has_the_keyboard(parent: QWidget, qtbot: QtBot) -> None:
    for open_box in (
        lambda: dialogs.ask_name(parent, "Rename", "Title", "Old", lambda _name: None),
        lambda: dialogs.ask_obsidian(parent, lambda _address, _key: None),
    ):
        box = open_box()
        first = box.findChildren(QLineEdit)[0]
        assert box.focusWidget() is first
        box.reject()


def test_what_this_is_and_the_size_of_what_is_read(parent: QWidget) -> None:
    about = dialogs.show_about(parent)
    (said,) = about.findChildren(QLabel)
    assert said.text().startswith(f"lorestudio {VERSION}")
    assert (about.width(), about.height(), said.margin()) == (420, 200, 12)
    about.reject()
    read = dialogs.show_text(parent, "Details", "It broke.")
    field = read.findChild(QPlainTextEdit)
    assert (field.toPlainText(), read.windowTitle(), field.accessibleName()) == ("It broke.", "Details", "Details")
    assert (read.width(), read.height()) == (720, 420)
    read.reject()
    page = dialogs.show_markdown(parent, "Help", "# Help", Path("panes.md"))
    assert page.findChild(QTextBrowser).toPlainText() == "Help"
    page.reject()


class Written(dialogs.Dialog):
    """A dialog with a field."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent, "Notebook")
        self.field = QLineEdit(self)
        column(self.field, of=self)

    def lost(self) -> str:
        return "The text would be lost." if self.field.text() else ""


@pytest.mark.parametrize("answer", ["Cancel", "Close"])
def test_escape_asks_before_what_was_written_is_lost(parent: QWidget, answer: str) -> None:
    dialog = Written(parent)
    dialog.open()
    QTest.keyClicks(dialog.field, "Fog")
    QTest.keyClick(dialog, Qt.Key.Key_Escape)
    (box,) = dialog.findChildren(QMessageBox)
    assert (dialog.isVisible(), box.text(), default(box)) == (True, "The text would be lost.", "Cancel")
    buttons(box)[answer].click()
    drain()
    assert isValid(dialog) is (answer == "Cancel")
    if answer == "Cancel":
        assert (dialog.isVisible(), dialog.field.text()) == (True, "Fog")
        dialog.field.clear()
        QTest.keyClick(dialog, Qt.Key.Key_Escape)
        drain()
        assert not isValid(dialog)
