"""Searching all notes in the window, going to what was found, and replacing it."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest

from lorestudio.ui.state.drafts import Draft
from tests.digests import digest
from tests.ui.conftest import settle
from tests.ui.vaults import NOTES, chosen_file, contents, open_vault, write_vault


@pytest.fixture
def vault(tmp_path):
    return write_vault(tmp_path / "vault")


@pytest.fixture
def window(make_window, vault, tmp_path):
    made = make_window()
    open_vault(made, vault, tmp_path / "kept")
    made.run("find.vault")
    return made


def find(window, words):
    pane = window.features.vault.search
    pane.field.setText(words)
    pane.run()
    settle(window)
    return pane


def found(pane) -> dict[str, list[tuple[int, str]]]:
    """The lines by note: number and what was found."""
    return {
        group.title: [(row.line, row.text[row.start : row.end]) for row in group.children]
        for group in pane.model.groups
    }


def test_what_was_found_stands_by_note_and_line(window) -> None:
    pane = find(window, "fortress")
    assert found(pane) == {"Bell": [(8, "fortress")], "Dawnkeep": [(3, "fortress"), (8, "fortress")]}
    assert pane.state.text() == "3 places in 2 notes"


def test_case_and_whole_words_and_expressions(window) -> None:
    pane = find(window, "skarn")
    assert len(found(pane)["Crown"]) == 2
    pane.case.setChecked(True)
    settle(window)
    assert "Crown" not in found(pane)
    pane.case.setChecked(False)
    pane.word.setChecked(True)
    assert found(find(window, "drag")) == {}
    pane.word.setChecked(False)
    pane.regex.setChecked(True)
    assert found(find(window, r"priority: \d+")) == {"Dawnkeep": [(4, "priority: 40")], "Skarn": [(4, "priority: 20")]}


def test_a_bad_expression_is_explained(window) -> None:
    pane = window.features.vault.search
    pane.regex.setChecked(True)
    find(window, "(")
    assert "not well formed at character" in pane.state.text()
    assert pane.empty.isVisible()


def test_nothing_found_is_said(window) -> None:
    pane = find(window, "zeppelin")
    assert pane.empty.title.text() == "Nothing found"


def test_enter_goes_to_the_spot(window) -> None:
    pane = find(window, '"the keep"')
    group = pane.model.groups[0]
    pane.tree.setCurrentIndex(pane.model.index_of(group.children[0]))
    QTest.keyClick(pane.tree, Qt.Key.Key_Return)
    settle(window)
    assert chosen_file(window) == "items/Crown.md"
    assert window.entry.editor.body.textCursor().selectedText() == "the keep"
    assert window.entry.editor.body.textCursor().blockNumber() + 1 == 9


def test_unsaved_text_is_searched_too(window, vault) -> None:
    path = vault / "Bell.md"
    window.drafts.keep(path, Draft("# Bell\n\nA zeppelin.\n", digest(path)))
    pane = find(window, "zeppelin")
    assert found(pane) == {"Bell": [(3, "zeppelin")]}
    window.drafts.drop(path)


def test_what_is_ticked_is_replaced_as_one_step(window, vault) -> None:
    pane = find(window, "fortress")
    pane.more.setChecked(True)
    pane.replacement.setText("castle")
    settle(window)
    assert [row.new_text for row in pane.model.lines()] == ["castle"] * 3
    line = pane.model.index(0, 0, pane.model.index(0, 0))
    where = pane.tree.visualRect(line)
    QTest.mouseClick(pane.tree.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(where.left() + 9, where.center().y()))
    assert pane.apply.text() == "Replace 2"
    pane.replace()
    settle(window)
    assert contents(vault) == {
        **NOTES,
        "places/Dawnkeep.md": NOTES["places/Dawnkeep.md"].replace("fortress", "castle"),
    }
    assert found(pane) == {"Bell": [(8, "fortress")]}
    window.run("vault.undo")
    settle(window)
    assert contents(vault) == NOTES


def test_unsaved_text_is_saved_before_it_is_replaced(window, vault) -> None:
    path = vault / "Bell.md"
    window.drafts.keep(path, Draft(NOTES["Bell.md"] + "A zeppelin.\n", digest(path)))
    pane = find(window, "zeppelin")
    pane.more.setChecked(True)
    pane.replacement.setText("cloud")
    settle(window)
    pane.replace()
    settle(window)
    assert contents(vault)["Bell.md"] == NOTES["Bell.md"] + "A cloud.\n"
    assert not window.drafts.all


def test_another_vault_is_searched_where_somebody_looks_and_forgets_what_was_found_elsewhere(
    window, tmp_path, qtbot
) -> None:
    pane = find(window, "fortress")
    other = write_vault(tmp_path / "other", {"Keep.md": "# Keep\nA fortress, too.\n"})
    open_vault(window, other, tmp_path / "kept-too")
    qtbot.waitUntil(lambda: found(pane) == {"Keep": [(2, "fortress")]})
    window.docks["search"].hide()
    open_vault(window, write_vault(tmp_path / "third"), tmp_path / "kept-last")
    settle(window)
    assert found(pane) == {}


def test_groups_of_an_expression_are_put_into_the_replacement(window) -> None:
    pane = window.features.vault.search
    pane.regex.setChecked(True)
    find(window, r"priority: (?<ten>\d)0")
    pane.more.setChecked(True)
    pane.replacement.setText("priority: ${ten}5")
    settle(window)
    assert [row.new_text for row in pane.model.lines()] == ["priority: 25", "priority: 45"]
    pane.replacement.setText("priority: $2")
    settle(window)
    assert "no group for $2" in pane.state.text()
    assert not pane.apply.isEnabled()


def test_a_search_can_be_stopped(window) -> None:
    pane = window.features.vault.search
    pane.field.setText("fortress")
    pane.run()
    pane.cancel()
    settle(window)
    assert pane.state.text().startswith("Stopped.") or pane.state.text() == "3 places in 2 notes"
    assert not pane.stop.isVisible()


def test_several_words_cannot_be_replaced_at_once(window) -> None:
    pane = find(window, "fortress bell")
    pane.more.setChecked(True)
    pane.replacement.setText("x")
    settle(window)
    assert "only one thing can be replaced" in pane.state.text()
    assert not pane.apply.isEnabled()
