"""Searching all notes in the window, going to what was found, and replacing it."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest
from PySide6.QtCore import QModelIndex, QPoint, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest

from lorestudio.domain.lifecycle import Cancelled, CancelToken, heed
from lorestudio.domain.records import replace
from lorestudio.exchange.problems import InputError
from lorestudio.studio.notes import book_entries
from lorestudio.studio.notes.search import SearchOptions, SearchQuery, parse_query, search
from lorestudio.studio.notes.vault_notes import VaultNotes, read_vault_notes
from lorestudio.studio.project.project import open_project
from lorestudio.ui.features.notes import search as notes_search
from lorestudio.ui.features.notes.search import SearchPane, search_rows
from lorestudio.ui.state.drafts import Draft
from lorestudio.ui.widgets.tree import PlaceRow
from tests.digests import digest
from tests.ui.conftest import drain, menu_of_row, settle, titles_of, turned_round
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


@pytest.mark.always
def test_a_bad_expression_is_explained(window) -> None:
    pane = window.features.vault.search
    pane.regex.setChecked(True)
    find(window, "(")
    assert "not well formed at character" in pane.state.text()
    assert (pane.empty.title.text(), pane.empty.text.text()) == ("Not searched", pane.state.text())
    assert pane.empty.isVisible()


def test_what_a_bad_expression_took_the_place_of_cannot_be_replaced_any_more(window) -> None:
    pane = find(window, "skarn")
    pane.more.setChecked(True)
    settle(window)
    assert pane.apply.isEnabled()
    pane.regex.setChecked(True)
    find(window, "(skarn")
    assert (pane.apply.text(), pane.apply.isEnabled()) == ("Replace", False)


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
    assert contents(vault) == {**NOTES, "places/Dawnkeep.md": NOTES["places/Dawnkeep.md"].replace("fortress", "castle")}
    assert found(pane) == {"Bell": [(8, "fortress")]}
    window.run("vault.undo")
    settle(window)
    assert contents(vault) == NOTES


@pytest.mark.always
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


def test_what_was_searched_is_found_again_where_the_vault_changed_behind_another_pane(make_pane) -> None:
    pane, desk = make_pane()
    look_for(pane, desk, "fortress")
    pane.hide()
    desk.session.project_changed.emit()
    drain()
    assert pane.model.groups == []
    pane.show()
    desk.settle()
    assert (pane.state.text(), pane.tree.isVisible()) == ("3 places in 2 notes", True)


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
    assert pane.state.text().startswith("Only one thing can be replaced")
    assert not pane.apply.isEnabled()


# ---- the search alone -----------------------------------------------------------------------------------------------


def search_for(
    folder: Path, words: str, options: SearchOptions | None = None, cancel: CancelToken | None = None
) -> tuple[bool, list[tuple[PlaceRow, ...]]]:
    sent: list[tuple[PlaceRow, ...]] = []
    query = parse_query(words, options or SearchOptions())
    cut = search_rows([read_vault_notes(folder)], query, cancel or CancelToken(), sent.append)
    return cut, sent


def test_rows_are_sent_while_the_search_runs_and_all_that_is_left_at_its_end(vault, monkeypatch) -> None:
    monkeypatch.setattr(notes_search, "STREAM_SECONDS", 60.0)
    cut, sent = search_for(vault, "fortress")
    assert not cut
    assert [[row.title for row in rows] for rows in sent] == [["Bell", "Dawnkeep"]]
    monkeypatch.setattr(notes_search, "STREAM_SECONDS", -1.0)
    _, sent = search_for(vault, "fortress")
    assert [[row.title for row in rows] for rows in sent] == [["Bell"], ["Dawnkeep"], []]


@pytest.mark.parametrize(("most", "hits", "cut"), [(1, 1, True), (2, 3, True), (3, 3, True), (4, 3, False)])
def test_a_search_ends_where_nobody_reads_on(vault, monkeypatch, most: int, hits: int, cut: bool) -> None:
    monkeypatch.setattr(notes_search, "MOST_HITS", most)
    ended, sent = search_for(vault, "fortress")
    assert ended == cut
    assert sum(len(row.children) for rows in sent for row in rows) == hits


def test_a_search_that_is_stopped_or_takes_too_long_says_so_and_sends_what_it_has(vault, monkeypatch) -> None:
    token = CancelToken()
    token.cancel()
    sent: list[tuple[PlaceRow, ...]] = []
    query = parse_query("fortress", SearchOptions())
    with pytest.raises(Cancelled, match=r"The search was stopped\."):
        search_rows([read_vault_notes(vault)], query, token, sent.append)
    assert sent == [()]

    def slow(*_args: object):
        yield next(iter(search(read_vault_notes(vault), query, CancelToken())))
        raise InputError("Skarn.md", "the expression takes too long")

    monkeypatch.setattr(notes_search, "search", slow)
    with pytest.raises(InputError, match="takes too long"):
        search_rows([read_vault_notes(vault)], query, CancelToken(), sent.append)
    assert [row.title for row in sent[-1]] == ["Bell"]


def test_a_note_that_was_found_by_its_name_or_its_place_has_no_lines(vault) -> None:
    _end, ((place,),) = search_for(vault, "path:places")
    assert (place.title, place.after, place.children, place.tip) == ("Dawnkeep", "places", [], "places/Dawnkeep.md")
    _end, ((name,),) = search_for(vault, "crown path:items")
    assert name.title == "Crown"
    assert name.after.startswith("items  ")
    assert name.after == f"items  {len(name.children)}"


@pytest.fixture
def make_pane(make_desk, theme, qtbot):
    def make(notes=NOTES, *, ready: bool = True):
        desk = make_desk(notes, ready=ready)
        pane = SearchPane(theme, desk.session, desk.work)
        qtbot.addWidget(pane)
        pane.resize(400, 500)
        pane.show()
        qtbot.waitExposed(pane)
        drain()
        return pane, desk

    return make


def look_for(pane, desk, words: str) -> None:
    pane.field.setText(words)
    pane.run()
    desk.settle()


def test_the_pane_says_what_can_be_searched(make_pane) -> None:
    pane, desk = make_pane(None)
    told = "Open the folder with your notes to search them."
    assert (pane.empty.title.text(), pane.empty.text.text()) == ("No vault", told)
    look_for(pane, desk, "fortress")
    assert (pane.empty.title.text(), pane.state.text(), pane.model.groups) == ("No vault", "", [])
    assert pane.focus_target() is pane.field
    pane, desk = make_pane()
    assert pane.empty.title.text() == "Search all notes"
    told = "Type words, a “phrase”, or narrow it: path:places/ tag:npc key:bell -draft."
    assert pane.empty.text.text() == told
    assert pane.field.toolTip().startswith("Words, “phrases”, OR, -word, path:, file:, tag:, key:")
    assert pane.field.placeholderText() == "Titles, properties, texts"
    assert (pane.stop.isVisible(), pane.apply.isVisible(), pane.replacement.isVisible()) == (False, False, False)
    look_for(pane, desk, "fortress")
    assert pane.tree.isVisible()
    look_for(pane, desk, "  ")
    assert pane.empty.title.text() == "Search all notes"
    assert pane.model.groups == []


def test_entries_of_an_opened_lorebook_are_searched_shown_and_replaced_in(make_window, tmp_path) -> None:
    book = tmp_path / "Isles.json"
    entries = {
        "0": {"uid": 0, "key": ["harbour"], "comment": "Quay", "content": "The harbour.", "order": 9, "position": 0},
        "4": {
            "uid": 4,
            "key": ["sea"],
            "comment": "Ship",
            "content": "It sails to the\nharbour.",
            "order": 9,
            "position": 0,
        },
    }
    book.write_text(json.dumps({"entries": entries}), encoding="utf-8")
    window = make_window(open_project([book]))
    window.keep_notes_safe(tmp_path / "kept")
    settle(window)
    window.run("find.vault")
    assert window.features.vault.search.empty.title.text() == "Search all entries"
    pane = find(window, "harbour")
    assert pane.state.text() == "3 places in 2 entries"
    assert found(pane) == {"Quay": [(4, "harbour"), (8, "harbour")], "Ship": [(9, "harbour")]}
    assert found(find(window, "key:sea harbour")) == {"Ship": [(9, "harbour")]}
    pane.tree.entered.emit(pane.model.index(0, 0))
    settle(window)
    editor = window.features.notes.pane.editor
    assert window.features.notes.pane.heading.text() == "Ship"
    assert editor.body.textCursor().selectedText() == "harbour"
    editor.body.insertPlainText("haven")  # not saved yet
    settle(window)
    assert found(find(window, "haven")) == {"Ship": [(9, "haven")]}
    find(window, "harbour")
    pane.more.setChecked(True)
    pane.replacement.setText("port")
    settle(window)
    assert pane.apply.isEnabled()
    QTest.mouseClick(pane.apply, Qt.MouseButton.LeftButton)
    settle(window)
    written = json.loads(book.read_text("utf-8"))["entries"]
    assert (written["0"]["key"], written["0"]["content"]) == (["port"], "The port.")
    assert written["4"] == entries["4"]
    window.features.notes.pane.revert()
    settle(window)


def test_the_lorebooks_of_another_programs_folder_are_searched_too(make_window, tmp_path) -> None:
    book = tmp_path / "Isles.json"
    entry = {"uid": 0, "key": [], "comment": "", "content": "The harbour.", "order": 9, "position": 0}
    book.write_text(json.dumps({"entries": {"0": entry}}), encoding="utf-8")
    window = make_window(replace(open_project([book]), read_only=True))
    window.run("find.vault")
    assert found(find(window, "harbour")) == {"uid 0": [(7, "harbour")]}


def test_a_second_search_spells_no_entry_of_a_lorebook_again(make_window, tmp_path, monkeypatch) -> None:
    book = tmp_path / "Isles.json"
    entry = {"uid": 0, "key": [], "comment": "Quay", "content": "The harbour.", "order": 9, "position": 0}
    book.write_text(json.dumps({"entries": {"0": entry}}), encoding="utf-8")
    window = make_window(open_project([book]))
    window.run("find.vault")
    assert list(found(find(window, "harbour"))) == ["Quay"]
    monkeypatch.setattr(book_entries, "entry_text", None)
    assert found(find(window, "the")) == {"Quay": [(7, "The")]}


def test_it_begins_with_words_that_are_given_and_can_be_typed_over(make_pane) -> None:
    pane, desk = make_pane()
    pane.begin("fortress")
    assert (pane.field.text(), pane.field.selectedText(), pane.field.hasFocus()) == ("fortress", "fortress", True)
    pane.run()
    desk.settle()
    pane.tree.setFocus()
    assert pane.tree.hasFocus()
    assert pane.open_search()
    assert (pane.field.text(), pane.field.selectedText(), pane.field.hasFocus()) == ("fortress", "fortress", True)
    QTest.keyClicks(pane.field, "zeppelin")
    assert len(pane.model.groups) == 2  # it waits until somebody stops typing
    QTest.keyClick(pane.field, Qt.Key.Key_Return)  # or for Enter
    assert pane.model.groups == []
    assert pane.state.text() == "Searching…"
    assert pane.stop.isVisible()
    desk.settle()
    assert (pane.state.text(), pane.stop.isVisible()) == ("Nothing found", False)
    assert "“zeppelin”" in pane.empty.text.text()
    QTest.keyClick(pane.field, Qt.Key.Key_Return)
    assert pane.field.hasFocus()  # there is nothing to go to
    look_for(pane, desk, "fortress")
    assert pane.field.hasFocus()
    QTest.keyClick(pane.field, Qt.Key.Key_Return)
    assert pane.tree.hasFocus()


def test_what_is_found_is_open_and_the_first_is_chosen(make_pane, monkeypatch) -> None:
    pane, desk = make_pane()
    look_for(pane, desk, "fortress")
    assert [pane.tree.isExpanded(pane.model.index(row, 0)) for row in range(2)] == [True, True]
    assert pane.tree.currentIndex() == pane.model.index(0, 0)
    monkeypatch.setattr(notes_search, "OPEN_UP_TO", 2)
    look_for(pane, desk, "fortress")
    assert [pane.tree.isExpanded(pane.model.index(row, 0)) for row in range(2)] == [False, False]
    monkeypatch.setattr(notes_search, "MOST_HITS", 1)
    look_for(pane, desk, "fortress")
    assert pane.state.text() == "1 place in 1 note The search ended there; search for something rarer."


def test_a_note_leads_to_its_first_line_and_one_without_lines_to_itself(make_pane) -> None:
    pane, desk = make_pane()
    went: list[tuple[object, ...]] = []
    pane.jump.connect(lambda *place: went.append(place))
    look_for(pane, desk, "fortress")
    pane.tree.setCurrentIndex(pane.model.index(0, 0))
    QTest.keyClick(pane.tree, Qt.Key.Key_Return)
    start = len("It rings for the ")
    assert went == [(desk.folder / "Bell.md", 8, start, start + len("fortress"))]
    look_for(pane, desk, "path:places")
    pane.tree.entered.emit(pane.model.index(0, 0))
    assert went[1:] == [(desk.folder / "places/Dawnkeep.md", 0, 0, 0)]
    pane.tree.entered.emit(QModelIndex())
    assert len(went) == 2


def test_what_an_earlier_search_finds_is_not_shown(make_pane) -> None:
    pane, desk = make_pane()
    pane.field.setText("fortress")
    pane.run()
    earlier = pane._cancel
    look_for(pane, desk, "zeppelin")
    assert earlier.cancelled, "it is not searched to its end"
    assert (pane.model.groups, pane.state.text()) == ([], "Nothing found")
    pane.field.setText("fortress")
    pane.run()
    pane.cancel()
    desk.settle()
    assert pane.state.text().startswith(("Stopped. ", "3 places in 2 notes"))
    pane.run()
    pane.field.clear()
    pane.run()
    desk.settle()
    assert (pane.state.text(), pane.stop.isVisible()) == ("", False)


def test_the_end_of_an_earlier_search_is_not_that_of_the_one_under_way(make_pane) -> None:
    pane, desk = make_pane()
    pane.field.setText("zeppelin")
    pane.run()
    earlier = pane._cancel
    pane.field.setText("fortress")
    pane.run()
    pane._ended(earlier, False)  # as a job that was stopped tells it once more
    assert pane.stop.isVisible()
    assert "Nothing found" not in pane.state.text()
    desk.settle()
    assert pane.state.text().startswith("3 places in 2 notes")


def test_a_replacement_of_before_that_is_worked_out_late_is_not_shown(make_pane) -> None:
    pane, desk = make_pane()
    look_for(pane, desk, "fortress")
    pane.more.setChecked(True)
    desk.settle()
    with turned_round(desk.settle):
        for words in ("castle", "keep"):
            pane.replacement.setText(words)
    assert [row.new_text for row in pane.model.lines()] == ["keep"] * 3


def test_a_search_that_went_wrong_says_why(make_pane, monkeypatch) -> None:
    def slow(*_args: object):
        raise InputError("Skarn.md", "the expression takes too long")

    pane, desk = make_pane()
    monkeypatch.setattr(notes_search, "search", slow)
    look_for(pane, desk, "fortress")
    assert "the expression takes too long" in pane.state.text()
    assert not pane.stop.isVisible()


def test_the_button_says_how_many_are_replaced_and_where_nothing_can_be_changed_none(make_pane) -> None:
    pane, desk = make_pane()
    look_for(pane, desk, "fortress")
    assert [row.new_text for row in pane.model.lines()] == [None] * 3
    pane.more.click()
    assert pane.replacement.hasFocus()
    desk.settle()
    assert (pane.apply.text(), pane.apply.isEnabled()) == ("Replace 3", True)
    pane.model.set_checked(list(pane.model.lines())[:2], False)
    assert pane.apply.text() == "Replace 1"
    pane.replacement.setText("keep")
    desk.settle()
    assert pane.apply.text() == "Replace 1"  # what was unticked stays so
    pane.model.set_checked(list(pane.model.lines()), False)
    assert (pane.apply.text(), pane.apply.isEnabled()) == ("Replace", False)
    pane.replace()
    desk.settle()
    assert contents(desk.folder) == NOTES
    pane.model.set_checked(list(pane.model.lines()), True)
    pane.field.clear()
    pane.run()
    assert (pane.apply.text(), pane.apply.isEnabled()) == ("Replace", False)
    look_for(pane, desk, "fortress")
    pane.more.click()
    desk.settle()
    assert (pane.apply.isVisible(), pane.replacement.isVisible()) == (False, False)
    assert [row.checked for row in pane.model.lines()] == [None] * 3
    pane, desk = make_pane(ready=False)
    look_for(pane, desk, "fortress")
    pane.more.click()
    desk.settle()
    assert not pane.apply.isEnabled()


def test_only_notes_with_something_ticked_are_changed(make_pane, monkeypatch) -> None:
    pane, desk = make_pane()
    asked: list[list[Path]] = []
    monkeypatch.setattr(desk.work, "carry_out", lambda _plan, _done, _refused, paths: asked.append(paths))
    look_for(pane, desk, "fortress")
    pane.more.click()
    desk.settle()
    pane.model.set_checked(pane.model.groups[1].children, False)
    pane.replace()
    assert asked == [[desk.folder / "Bell.md"]]
    pane.model.set_checked(list(pane.model.lines()), False)
    pane.replace()
    assert len(asked) == 1


def test_a_search_that_takes_long_is_stopped_with_its_button(make_pane, monkeypatch, qtbot) -> None:
    pane, desk = make_pane()
    begun, gate = threading.Event(), threading.Event()

    def slow(vault: VaultNotes, query: SearchQuery, cancel: CancelToken):
        yield next(iter(search(vault, query, cancel)))
        begun.set()
        gate.wait(60)
        heed(cancel)

    monkeypatch.setattr(notes_search, "search", slow)
    pane.field.setText("fortress")
    pane.run()
    qtbot.waitUntil(begun.is_set)
    assert pane.stop.isVisible()
    pane.stop.click()
    gate.set()
    desk.settle()
    assert (pane.state.text(), pane.stop.isVisible()) == ("Stopped. 1 place in 1 note", False)


def test_enter_in_the_field_for_replacing_replaces(make_pane) -> None:
    pane, desk = make_pane()
    look_for(pane, desk, "zeppelin")
    pane.replace()  # nothing was found
    look_for(pane, desk, "fortress")
    pane.more.click()
    pane.replacement.setText("keep")
    desk.settle()
    QTest.keyClick(pane.replacement, Qt.Key.Key_Return)
    desk.settle()
    assert "It rings for the keep" in contents(desk.folder)["Bell.md"]
    assert pane.model.groups == []
    assert pane.state.text() == "Nothing found"


def test_a_replacement_that_cannot_be_made_is_said(make_pane, monkeypatch) -> None:
    pane, desk = make_pane()
    pane.regex.click()
    look_for(pane, desk, "fort(ress)")
    pane.more.click()
    pane.replacement.setText("$9")
    desk.settle()
    pane.state.clear()
    pane.replace()
    assert "no group for $9" in pane.state.text()
    pane.replacement.setText("keep")
    desk.settle()
    monkeypatch.setattr(desk.work, "carry_out", lambda _plan, _done, refused, _about: refused("The vault is locked."))
    pane.replace()
    assert (pane.state.text(), pane.apply.isEnabled()) == ("The vault is locked.", True)
    assert contents(desk.folder) == NOTES


def test_each_switch_searches_again(make_pane) -> None:
    pane, desk = make_pane({"a.md": "Bell bell bells b.ll\n"})
    found: list[int] = []
    look_for(pane, desk, "bell")
    found.append(pane._hits)
    for switch in (pane.case, pane.word, pane.regex):
        switch.click()
        desk.settle()
        found.append(pane._hits)
        switch.click()
        desk.settle()
    assert found == [3, 2, 2, 3]
    names = [each.accessibleName() for each in (pane.case, pane.word, pane.regex)]
    assert names == ["Capital letters matter", "Whole words only", "Regular expression"]


def test_two_quick_clicks_replace_once(make_pane) -> None:
    pane, desk = make_pane()
    look_for(pane, desk, "fortress")
    pane.more.click()
    pane.replacement.setText("fortress of old")
    desk.settle()
    pane.apply.click()
    pane.apply.click()
    desk.settle()
    assert contents(desk.folder)["Bell.md"] == NOTES["Bell.md"].replace("fortress", "fortress of old")


def test_the_menu_of_what_was_found_is_about_its_note(window) -> None:
    pane = find(window, "fortress")
    line = pane.model.groups[1].children[1]
    menu = menu_of_row(pane.tree, pane.model.index_of(line))
    settle(window)
    assert titles_of(menu) == [
        "Go to the place", "Rename…", "Switch on or off", "Copy link to the note", "Show in folder",
        "What would bring it in, or keep it out?", "Pin in this chat", "Block in this chat", "Copy", "Choose all",
    ]  # fmt: skip
    assert window.session.entry(window.selection.entry).title == "Dawnkeep"
    by_title = {each.text(): each for each in menu.actions()}
    by_title["Pin in this chat"].trigger()
    by_title["Copy link to the note"].trigger()
    by_title["Go to the place"].trigger()
    menu.close()
    settle(window)
    assert [each.title for each in window.session.project.controls.pins] == ["Dawnkeep"]
    assert QGuiApplication.clipboard().text() == "[[Dawnkeep]]"
    assert window.entry.editor.body.textCursor().selectedText() == "fortress"
