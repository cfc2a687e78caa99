"""Files and folders that are dropped on the window."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDragMoveEvent, QDropEvent
from PySide6.QtWidgets import QApplication, QWidget

from lorestudio.ui.shell.main_window import MainWindow
from tests.ui.conftest import settle
from tests.ui.features.projects.test_start import BOOK
from tests.ui.vaults import write_vault
from tests.ui.worlds import make_project

LINES = ({"user_name": "Wren", "character_name": "Ada", "chat_metadata": {}},
         {"name": "Ada", "mes": "Fog.", "is_user": False})  # fmt: skip
ACTION, LEFT, NONE = Qt.DropAction.CopyAction, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier


@pytest.fixture
def window(make_window: Callable[..., MainWindow], tmp_path: Path) -> MainWindow:
    return make_window(make_project(tmp_path / "vault"))


@pytest.fixture
def places(tmp_path: Path) -> dict[str, Path]:
    """A vault, a chat, a lorebook, a chat with the ending of another, and a picture."""
    folder = tmp_path / "from elsewhere"
    write_vault(folder / "Harbour", {"Bell.md": "---\ntags: [lorebook]\nkeys: [bell]\n---\nIt rings.\n"})
    made = {name: folder / name for name in ("Harbour", "Tale.jsonl", "Sea.json", "Tale.json", "View.jpg")}
    chat = "\n".join(map(json.dumps, LINES))
    made["Tale.jsonl"].write_text(chat, encoding="utf-8")
    made["Tale.json"].write_text(chat, encoding="utf-8")
    made["Sea.json"].write_text(json.dumps(BOOK), encoding="utf-8")
    made["View.jpg"].write_bytes(b"\xff\xd8")
    return made


def drop(window: MainWindow, *paths: Path, over: QWidget | None = None) -> bool:
    """Drop files as the system does, on the middle of a part of the window; whether it takes them."""
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
    data.setText("\n".join(map(str, paths)))
    part = over or window
    whole = part.window()
    place = part.mapTo(whole, part.rect().center())
    enter = QDragEnterEvent(QPoint(place), ACTION, data, LEFT, NONE)
    QApplication.sendEvent(whole.windowHandle(), enter)
    if enter.isAccepted():
        QApplication.sendEvent(whole.windowHandle(), QDropEvent(QPointF(place), ACTION, data, LEFT, NONE))
        settle(window)
    return enter.isAccepted()


def opened(window: MainWindow) -> tuple[list[str], list[str], str]:
    """The names of the vaults, lorebooks and chat that are open."""
    project = window.session.project
    chat = project.chat_path.name if project.chat_path is not None else ""
    return [Path(place).name for place in project.places], [path.name for path in project.book_paths], chat


@pytest.mark.always
def test_what_is_dropped_is_opened_as_what_it_is(window: MainWindow, places: dict[str, Path]) -> None:
    assert drop(window, places["Harbour"])
    assert opened(window) == (["Harbour"], [], "")
    assert drop(window, places["Tale.jsonl"])
    assert opened(window) == (["Harbour"], [], "Tale.jsonl")
    assert drop(window, places["Tale.json"])
    assert opened(window) == (["Harbour"], [], "Tale.json")
    assert drop(window, places["Sea.json"])
    assert opened(window) == ([], ["Sea.json"], "")
    assert drop(window, places["Harbour"], places["Sea.json"], places["Tale.jsonl"])
    assert opened(window) == (["Harbour"], ["Sea.json"], "Tale.jsonl")
    words, field = QMimeData(), window.features.chat.composer.field
    words.setText("It rings.")  # they are for the field that they are dragged over
    place = field.mapTo(window, field.rect().center())
    for kind in (QDragEnterEvent, QDropEvent):
        at = QPoint(place) if kind is QDragEnterEvent else QPointF(place)
        QApplication.sendEvent(window.windowHandle(), kind(at, ACTION, words, LEFT, NONE))
    assert field.toPlainText() == "It rings."


def test_what_cannot_be_opened_says_what_can(window: MainWindow, places: dict[str, Path]) -> None:
    before = opened(window)
    assert drop(window, places["View.jpg"])
    assert "View.jpg: this cannot be opened. Take a folder of notes, a chat" in window.bars.texts[-1]
    assert drop(window, places["Tale.jsonl"], places["Tale.json"])
    assert "One chat is open at a time" in window.bars.texts[-1]
    assert opened(window) == before


@pytest.mark.always
def test_fields_take_no_files(window: MainWindow, places: dict[str, Path]) -> None:
    field = window.vault.filter
    assert drop(window, places["Harbour"], over=field)
    assert (field.text(), opened(window)) == ("", (["Harbour"], [], ""))


def test_a_pane_in_a_window_of_its_own_takes_them_as_the_window_does(
    window: MainWindow, places: dict[str, Path]
) -> None:
    dock, field = window.docks["vault"], window.vault.filter
    for _ in range(2):  # its window is another one each time
        dock.setFloating(True)
        assert field.window() is dock
        assert drop(window, places["Harbour"], over=field)
        assert (field.text(), opened(window)) == ("", (["Harbour"], [], ""))
        dock.close()
        dock.show()
        assert drop(window, places["Tale.jsonl"], over=field)
        assert (field.text(), opened(window)[2]) == ("", "Tale.jsonl")
        dock.setFloating(False)
        assert drop(window, places["Sea.json"], over=field)
        assert opened(window) == ([], ["Sea.json"], "")


def test_an_unsaved_chat_is_asked_about_first(window: MainWindow, places: dict[str, Path], monkeypatch) -> None:
    waiting: list[Callable[[], object]] = []
    monkeypatch.setattr(window.context, "keep_chat", lambda leave: waiting.append(leave) or True)
    before = opened(window)
    assert drop(window, places["View.jpg"])  # what cannot be opened asks for nothing
    assert waiting == []
    assert drop(window, places["Harbour"])
    assert opened(window) == before
    (leave,) = waiting
    leave()
    settle(window)
    assert opened(window) == (["Harbour"], [], "")


def test_nothing_is_taken_while_something_is_read_or_asked(window: MainWindow, places: dict[str, Path]) -> None:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(places["Harbour"]))])
    move = QDragMoveEvent(QPoint(9, 9), ACTION, data, LEFT, NONE)
    move.accept()  # Qt does so where the drag was taken on coming in
    window.session.set_activity("Reading")
    assert not drop(window, places["Harbour"])
    QApplication.sendEvent(window.windowHandle(), move)
    assert not move.isAccepted()
    window.session.set_activity("")
    window.run("chat.paste")
    assert not drop(window, places["Harbour"])
    QApplication.activeModalWidget().reject()
    settle(window)


def test_the_start_takes_them_too(make_window: Callable[..., MainWindow], places: dict[str, Path]) -> None:
    window = make_window()
    assert drop(window, places["Harbour"])
    assert opened(window) == (["Harbour"], [], "")
