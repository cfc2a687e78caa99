"""A lorebook in the place of a vault: its entries are edited, made, copied, switched and deleted, and all is undone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QDialog, QLabel, QLineEdit

from lorestudio.settings.deeplore import DeepLoreSettings
from lorestudio.studio.project.project import open_project
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.ui.features.vault.table import note_kind
from lorestudio.ui.shell.qt import DISPLAY, TOOLTIP
from lorestudio.ui.state.drafts import tried
from tests.ui.conftest import settle

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from lorestudio.ui.shell.main_window import MainWindow
    from lorestudio.ui.widgets.pane import PaneDock

TEXT = """{
  "entries": {
    "0": {"uid": 0, "key": ["bell"], "keysecondary": [], "comment": "Bell", "content": "It rings.", "order": 1e2,
          "position": 0, "scanDepth": null},
    "1": {"uid": 1, "key": ["gate"], "keysecondary": [], "comment": "Gate", "content": "It opens.", "order": 90,
          "position": 4, "depth": 2, "role": 1}
  }
}"""


@pytest.fixture
def window(make_window: Any, tmp_path: Path) -> MainWindow:
    book, chat = tmp_path / "Book.json", tmp_path / "chat.txt"
    book.write_text(TEXT, "utf-8")
    chat.write_text("Ann: Who rings the bell?\nBea: The wind.\n", "utf-8")
    made: MainWindow = make_window(open_project([book], chat), make_simulator=Simulator)
    made.keep_notes_safe(tmp_path / "notes")
    settle(made)
    choose(made, "Bell")
    return made


@pytest.mark.always
def test_the_pane_is_called_after_what_it_holds(window: MainWindow, tmp_path: Path) -> None:
    """“Vault” stood above the entries of a lorebook."""
    dock = window.docks["vault"]
    assert (dock.windowTitle(), dock.accessibleName(), shown_name(dock)) == ("Lorebook",) * 3
    (tmp_path / "lore").mkdir()
    window.session.set_project(open_project([tmp_path / "lore"]))
    settle(window)
    assert (dock.windowTitle(), dock.accessibleName(), shown_name(dock)) == ("Vault",) * 3


def shown_name(dock: PaneDock) -> str:
    return dock.bar.findChild(QLabel, "PaneName").text()


def choose(window: MainWindow, title: str) -> None:
    session = window.session
    note = next(each for each in session.project.index.entries if each.title == title)
    window.selection.choose_note(note)
    settle(window)


def entries(window: MainWindow) -> dict[str, Any]:
    return json.loads(window.session.project.book_paths[0].read_text("utf-8"))["entries"]


def orders(window: MainWindow) -> list[tuple[str, float]]:
    return [(each["comment"], each["order"]) for each in entries(window).values()]


def titles(window: MainWindow) -> list[str]:
    return [entry.title for entry in window.session.project.index.entries]


def went_in(window: MainWindow) -> list[str]:
    trace = window.session.runs.trace(window.session.generations[-1])
    return [each.title for each in trace.injections]


@pytest.mark.long
def test_the_form_has_world_infos_fields_and_saves_only_what_was_changed(window: MainWindow) -> None:
    pane = window.features.notes.pane
    form = pane.editor.form
    assert form.names == ["comment", "key", "position", "order"]
    form.row("key").field.changed.emit(["gong"])
    form.row("position").field.combo.activated.emit(5)
    settle(window)
    preview = window.session.runs.preview_of(window.selection.generation)
    assert [each.title for each in preview.trace.injections] == []
    assert went_in(window) == ["Bell"]
    assert tried(preview) == "the unsaved text of Bell"
    pane.save()
    settle(window)
    assert window.statusBar().currentMessage() == "Bell was saved."
    path = window.session.project.book_paths[0]
    wanted = TEXT.replace('["bell"]', '["gong"]').replace('"position": 0', '"position": 4')
    assert path.read_text("utf-8") == wanted
    assert went_in(window) == []


@pytest.mark.long
def test_a_value_of_another_kind_is_said_and_not_written(window: MainWindow) -> None:
    pane = window.features.notes.pane
    pane.editor.buffer.replace_all(pane.editor.buffer.text.replace("order: 100", "order: first"))
    pane.editor.settle()
    settle(window)
    assert "“order” takes a number" in pane.bar.label.text()
    pane.save()
    settle(window)
    assert window.session.project.book_paths[0].read_text("utf-8") == TEXT
    pane.revert()
    settle(window)


@pytest.mark.long
def test_entries_are_copied_switched_deleted_renamed_and_all_is_undone(window: MainWindow) -> None:
    window.run("note.duplicate")
    settle(window)
    assert entries(window)["2"]["comment"] == "Bell"
    assert titles(window).count("Bell") == 2
    window.run("vault.undo")
    settle(window)
    window.run("note.enable")
    settle(window)
    assert entries(window)["0"]["disable"] is True
    assert went_in(window) == []
    window.run("note.delete")
    settle(window)
    assert titles(window) == ["Gate"]
    for _ in range(2):
        window.run("vault.undo")
        settle(window)
    window.show_pane("entry")
    window.run("note.rename")
    dialog = next(each for each in QApplication.topLevelWidgets() if isinstance(each, QDialog) and each.isVisible())
    line = dialog.findChild(QLineEdit)
    assert (line.text(), line.selectedText()) == ("Bell", "Bell")
    line.setText("Great Bell")
    dialog.accept()
    settle(window)
    assert (entries(window)["0"]["comment"], titles(window)) == ("Great Bell", ["Great Bell", "Gate"])
    window.run("vault.undo")
    settle(window)
    assert window.session.project.book_paths[0].read_text("utf-8") == TEXT
    assert went_in(window) == ["Bell"]
    assert not window.commands.actions["note.move"].isEnabled()


@pytest.mark.always
def test_a_new_entry_is_made_in_the_book_and_shown(window: MainWindow) -> None:
    window.run("note.new")
    dialog = next(each for each in QApplication.topLevelWidgets() if isinstance(each, QDialog) and each.isVisible())
    dialog.findChild(QLineEdit).setText("Oak")
    window.docks["entry"].hide()
    dialog.accept()
    settle(window)
    assert not window.docks["entry"].isHidden()
    assert entries(window)["2"]["comment"] == "Oak"
    assert window.features.notes.pane.heading.text() == "Oak"
    assert titles(window) == ["Bell", "Oak", "Gate"]


@pytest.mark.long
def test_entries_of_other_programs_are_edited_in_their_files(make_window: Any, tmp_path: Path) -> None:
    book = tmp_path / "Other.lorebook"
    entry = {"text": "Fog is grey.", "displayName": "Fog", "keys": ["fog"], "enabled": True, "id": "a"}
    book.write_text(json.dumps({"lorebookVersion": 5, "entries": [entry]}), "utf-8")
    window = make_window(open_project([book]), make_simulator=Simulator)
    window.keep_notes_safe(tmp_path / "notes")
    settle(window)
    choose(window, "Fog")
    pane = window.features.notes.pane
    assert "comment" in pane.editor.form.names
    pane.editor.form.row("key").field.changed.emit(["mist"])
    pane.save()
    settle(window)
    assert json.loads(book.read_text("utf-8"))["entries"] == [{**entry, "keys": ["mist"]}]
    pane.editor.form.row("comment").field.changed.emit("Mist")
    pane.save()
    settle(window)
    assert json.loads(book.read_text("utf-8"))["entries"][0]["displayName"] == "Mist"


def test_a_card_that_would_lose_a_part_is_shown_and_says_why(make_window: Any, tmp_path: Path) -> None:
    card = tmp_path / "Card.charx"
    card.write_bytes((Path(__file__).parents[3] / "exchange/lorebooks/data/21-card-risu.charx").read_bytes())
    window = make_window(open_project([card]), make_simulator=Simulator)
    settle(window)
    entry = window.session.project.index.entries[0]
    choose(window, entry.title)
    pane = window.features.notes.pane
    assert pane.text.toPlainText() == entry.content
    assert "module.risum" in pane.bar.label.text()


@pytest.mark.long
def test_what_another_program_writes_into_the_book_is_shown_and_run(
    make_window: Any, tmp_path: Path, qtbot: Any
) -> None:
    book, chat = tmp_path / "Book.json", tmp_path / "chat.txt"
    book.write_text(TEXT, "utf-8")
    chat.write_text("Ann: Who rings the bell?\nBea: The wind.\n", "utf-8")
    window = make_window(make_simulator=Simulator, cache_file=tmp_path / "vaults.sqlite")
    window.session.reading.open([book], chat)
    settle(window)
    choose(window, "Gate")
    book.write_text(TEXT[:40], "utf-8")
    book.write_text(TEXT.replace('["gate"]', '["wind"]'), "utf-8")
    qtbot.waitUntil(lambda: window.session.project.index.entries[1].keys == ("wind",))
    settle(window)
    assert went_in(window) == ["Bell", "Gate"]
    assert window.features.notes.pane.heading.text() == "Gate"


def test_the_order_of_a_lorebooks_entries_is_their_own(window: MainWindow) -> None:
    window.run("note.later")
    settle(window)
    assert dict(orders(window)) == {"Bell": 80, "Gate": 90}
    window.run("vault.undo")
    settle(window)
    window.run("note.steps")
    settle(window)
    assert orders(window) == [("Bell", 100), ("Gate", 90)]
    window.run("note.fill_gaps")
    settle(window)
    assert orders(window) == [("Bell", 91), ("Gate", 90)]
    path = window.session.project.book_paths[0]
    path.write_text(TEXT.replace("1e2", "0").replace("90", "-3"), "utf-8")
    window.session.set_project(open_project([path]))
    settle(window)
    window.run("note.steps")
    settle(window)
    assert orders(window) == [("Bell", 7), ("Gate", -3)]
    choose(window, "Bell")
    before = entries(window)
    note = window.session.entry(window.selection.entry)
    window.vault.dropped.emit((note,), note.vault, "somewhere")
    settle(window)
    assert entries(window) == before


def test_read_as_notes_the_entries_keep_their_own_orders(window: MainWindow) -> None:
    """DeepLore reads orders as priorities, the highest as the lowest; what is written is an order."""
    table = window.vault.table_model

    def heading() -> object:
        return table.headerData(table.column_of("priority"), Qt.Orientation.Horizontal, DISPLAY)

    window.vault.show_table(True)
    settle(window)
    assert heading() == "Order"
    told = list[object]()
    table.headerDataChanged.connect(lambda *_where: told.append(heading()))
    window.run("system.deeplore")
    settle(window)
    assert [entry.priority for entry in window.session.project.index.entries] == [900, 910]
    assert told[-1:] == [heading()] == ["Priority"], "and the headings in sight are painted anew"
    window.run("note.fill_gaps")
    settle(window)
    assert orders(window) == [("Bell", 91), ("Gate", 90)]
    window.vault.show_table(True)
    window.vault.table.sortByColumn(window.vault.table_model.column_of("priority"), Qt.SortOrder.AscendingOrder)
    settle(window)
    window.vault.table_model.dropped.emit([1], 0)  # Gate stands below, and comes before Bell
    settle(window)
    assert dict(orders(window))["Gate"] > dict(orders(window))["Bell"]


def test_undo_leaves_the_other_books_of_the_folder_alone(window: MainWindow, tmp_path: Path) -> None:
    """The newest change of any book in the folder was taken back, of one that is not even open."""
    book, other = tmp_path / "Book.json", tmp_path / "Other.json"
    other.write_text(TEXT, "utf-8")
    window.vault.retitled.emit(window.session.entry(window.selection.entry), "Great Bell")
    settle(window)
    changed = book.read_bytes()
    window.session.set_project(open_project([other]))
    settle(window)
    assert not window.commands.actions["vault.undo"].isEnabled()
    window.session.set_project(open_project([book]))
    settle(window)
    assert window.commands.actions["vault.undo"].isEnabled()
    window.run("vault.undo")
    settle(window)
    assert (titles(window), book.read_bytes() != changed) == (["Bell", "Gate"], True)


def test_an_entry_is_retitled_in_the_tree_at_once(window: MainWindow) -> None:
    window.vault.retitled.emit(window.session.entry(window.selection.entry), "Great Bell")
    settle(window)
    assert [each["comment"] for each in entries(window).values()] == ["Great Bell", "Gate"]
    window.run("vault.undo")
    settle(window)
    assert titles(window) == ["Bell", "Gate"]


@pytest.mark.always
@pytest.mark.parametrize("looks_at_second", [True, False])
def test_a_new_entry_goes_into_the_book_that_is_looked_at_else_into_the_first(
    make_window: Any, tmp_path: Path, looks_at_second: bool
) -> None:
    first, second = tmp_path / "First.json", tmp_path / "Second.json"
    first.write_text(TEXT, "utf-8")
    second.write_text(TEXT.replace("Bell", "Fog").replace("Gate", "Mist"), "utf-8")
    made: MainWindow = make_window(open_project([first, second]))
    made.keep_notes_safe(tmp_path / "notes")
    settle(made)
    if looks_at_second:
        choose(made, "Fog")
    else:
        made.selection.choose_entry(None)
    made.features.vault._new_entry("Oak")
    settle(made)
    held = {path.stem: "Oak" in path.read_text("utf-8") for path in (first, second)}
    assert held == {"First": not looks_at_second, "Second": looks_at_second}


def test_the_links_of_an_entry_say_what_it_wakes_as_the_system_has_it(window: MainWindow) -> None:
    session = window.session
    path = session.project.book_paths[0]
    path.write_text(TEXT.replace("It opens.", "At the bell."), "utf-8")
    session.set_project(open_project([path]).with_settings(DeepLoreSettings(recursive_scan=True)))
    choose(window, "Gate")
    window.show_pane("links")
    pane = window.features.vault.links
    for system in ("world-info", "deeplore"):
        session.replays.choose(system=system)
        settle(window)
        pane.look()
        settle(window)
        (woken,) = (row for group in pane.model.groups for row in group.children)
        assert (woken.title, woken.path) == ("Bell", path / "uid 0")


@pytest.mark.parametrize("system", ["world-info", "deeplore"])
def test_another_budget_is_tried_on_a_book(window: MainWindow, system: str, qtbot: QtBot) -> None:
    session = window.session
    path = session.project.book_paths[0]
    path.write_text(TEXT.replace("It rings.", "It rings. " * 90), "utf-8")
    session.set_project(open_project([path], path.with_name("chat.txt")))
    settle(window)
    session.replays.choose(system=system)
    settle(window)
    window.chat.show_generation(session.generations[0])
    window.show_pane("budget")
    settle(window)
    pane = window.features.budget.pane
    assert pane.slider.isVisible()
    pane.slider.slider.setValue(pane.slider.slider.minimum())
    qtbot.waitUntil(lambda: all(each in pane.slider.told.text() for each in ("Bell", "Whole chat: 2 of 2")))


def test_what_would_bring_an_entry_in_is_written_into_the_book(window: MainWindow) -> None:
    path = window.session.project.book_paths[0]
    text = TEXT.replace('"gate"', '"door"')
    path.write_text(text, "utf-8")
    path.with_name("chat.txt").write_text("Ann: Who rings the bell at the gate?\nBea: The wind.\n", "utf-8")
    window.session.set_project(open_project([path], path.with_name("chat.txt")))
    settle(window)
    window.chat.show_generation(window.session.generations[0])
    choose(window, "Gate")
    window.run("trace.why_not")
    settle(window)
    page = window.features.why_not.page
    (row,) = (each for each in page.rows if "Add the key" in each.answer.change.title)
    assert row.answer.change.title == "Add the key “Gate” to “Gate”"
    assert row.button.accessibleDescription().startswith("In the lorebook. ")
    QTest.mouseClick(row.button, Qt.MouseButton.LeftButton)
    settle(window)
    assert entries(window)["1"]["key"] == ["door", "Gate"]
    assert [each.title for each in window.session.runs.trace(window.session.generations[0]).injections] == [
        "Bell", "Gate",
    ]  # fmt: skip
    window.run("vault.undo")
    settle(window)
    assert path.read_text("utf-8") == text


def test_an_entry_that_is_switched_off_looks_so_and_blocks_are_off(window: MainWindow) -> None:
    session = window.session
    path = session.project.book_paths[0]
    path.write_text(TEXT.replace('"comment": "Gate"', '"comment": "Gate", "disable": true'), "utf-8")
    session.set_project(open_project([path], path.with_name("chat.txt")))
    choose(window, "Gate")
    gate, bell = (each for title in ("Gate", "Bell") for each in session.project.index.entries if each.title == title)
    assert [(note_kind(each).icon, note_kind(each).word) for each in (gate, bell)] == [
        ("slash", "disabled"), ("normal", "normal"),
    ]  # fmt: skip
    tree = window.features.vault.pane.tree
    tips = [tree.model().index(row, 0).data(TOOLTIP) for row in range(tree.model().rowCount())]
    assert [tip.splitlines()[1] for tip in tips] == ["normal · order 100", "disabled, left out · order 90"]
    block = window.commands.actions["controls.block"]
    assert (block.isEnabled(), block.text()) == (False, "World Info: blocks count for nothing here")
