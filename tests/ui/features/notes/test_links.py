"""What the chosen note hangs together with, and making links of mentions."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QDialog

from lorestudio.settings.deeplore import DeepLoreSettings
from lorestudio.ui.features.notes.links import LinkSection
from tests.ui.conftest import menu_of_row, settle, titles_of, turned_round
from tests.ui.vaults import NOTES, choose, chosen_file, contents, open_vault, write_vault


@pytest.fixture
def vault(tmp_path):
    return write_vault(tmp_path / "vault")


@pytest.fixture
def window(make_window, vault, tmp_path):
    made = make_window()
    open_vault(made, vault, tmp_path / "kept")
    made.session.set_project(made.session.project.with_settings(DeepLoreSettings(recursive_scan=True)))
    made.show_pane("links")
    return made


def look(window, filename):
    choose(window, filename)
    pane = window.features.vault.links
    pane.look()
    settle(window)
    return pane


def rows(pane, section) -> list[tuple[str, int, str]]:
    """Title, line and what is marked, of one group."""
    group = next((one for one in pane.model.groups if one.key is section), None)
    return [(row.title, row.line, row.text[row.start : row.end]) for row in group.children] if group else []


def test_references_and_mentions_stand_with_their_lines(window) -> None:
    pane = look(window, "Skarn.md")
    assert rows(pane, LinkSection.BACKLINKS) == [("Crown", 4, "Skarn"), ("Dawnkeep", 8, "[[Skarn]]")]
    assert rows(pane, LinkSection.MENTIONS) == [("Bell", 8, "Skarn"), ("Crown", 8, "Skarn")]
    assert rows(pane, LinkSection.OUTGOING) == []
    assert window.docks["links"].bar._note.text() == "2 backlinks"


def test_links_that_lead_nowhere_stand_apart(window) -> None:
    pane = look(window, "items/Crown.md")
    assert [title for title, _, _ in rows(pane, LinkSection.MISSING)] == ["Nobody"]
    assert {title for title, _, _ in rows(pane, LinkSection.OUTGOING)} == {"Skarn", "Dawnkeep"}


def test_what_wakes_and_is_woken_names_the_key(window) -> None:
    pane = look(window, "Bell.md")
    woken = {
        row.title: row.after for group in pane.model.groups if group.key is LinkSection.WAKES for row in group.children
    }
    assert woken == {"Dawnkeep": "“fortress”", "Skarn": "“skarn”"}
    pane = look(window, "Skarn.md")
    sources = {title for title, _, _ in rows(pane, LinkSection.WOKEN_BY)}
    assert {"Bell", "Crown"} <= sources


@pytest.mark.always
def test_one_mention_is_linked_with_a_click(window, vault) -> None:
    pane = look(window, "Skarn.md")
    group = next(one for one in pane.model.groups if one.key is LinkSection.MENTIONS)
    pane.tree.setCurrentIndex(pane.model.index_of(group.children[0]))
    assert pane.link.isVisible()
    pane.link.click()
    settle(window)
    assert contents(vault) == {**NOTES, "Bell.md": NOTES["Bell.md"].replace("for Skarn", "for [[Skarn]]")}
    pane.look()
    settle(window)
    assert [title for title, _, _ in rows(pane, LinkSection.MENTIONS)] == ["Crown"]


def test_the_list_stays_where_it_was_when_a_mention_was_linked(window, vault) -> None:
    for number in range(30):
        (vault / f"Tale {number:02}.md").write_text("They spoke of Skarn.\n", encoding="utf-8")
    window.run("vault.reload")
    settle(window)
    pane = look(window, "Skarn.md")
    group = next(one for one in pane.model.groups if one.key is LinkSection.MENTIONS)
    row = group.children[20]
    following = group.children[21].title
    pane.tree.setCurrentIndex(pane.model.index_of(row))
    pane.tree.scrollTo(pane.tree.currentIndex(), pane.tree.ScrollHint.PositionAtCenter)
    scrolled = pane.tree.verticalScrollBar().value()
    assert scrolled > 0
    pane.link.click()
    settle(window)
    pane.look()
    settle(window)
    assert pane.model.place(pane.tree.currentIndex()).title == following
    assert abs(pane.tree.verticalScrollBar().value() - scrolled) <= 1, "a backlink more stands above"
    look(window, "Bell.md")
    assert (pane.tree.currentIndex().row(), pane.tree.currentIndex().parent().isValid()) == (0, False)


def test_a_group_stays_closed_when_the_vault_is_read_again_and_opens_for_another_note(window) -> None:
    pane = look(window, "Skarn.md")

    def opened() -> dict[object, bool]:
        return {group.key: pane.tree.isExpanded(pane.model.index_of(group)) for group in pane.model.groups}

    assert all(opened().values())
    group = next(one for one in pane.model.groups if one.key is LinkSection.MENTIONS)
    pane.tree.setCurrentIndex(pane.model.index_of(group))
    QTest.keyClick(pane.tree, Qt.Key.Key_Left)
    pane.look()
    settle(window)
    assert [key for key, shown in opened().items() if not shown] == [LinkSection.MENTIONS]
    look(window, "Bell.md")
    assert all(opened().values())


def test_all_mentions_are_linked_as_one_step(window, vault) -> None:
    pane = look(window, "Skarn.md")
    assert pane.link_all.text() == "Link all 2"
    pane.link_all.click()
    settle(window)
    after = contents(vault)
    assert "for [[Skarn]]." in after["Bell.md"]
    assert after["items/Crown.md"] == NOTES["items/Crown.md"].replace("Skarn took", "[[Skarn]] took")
    window.run("vault.undo")
    settle(window)
    assert contents(vault) == NOTES


def test_a_note_that_does_not_exist_can_be_made(window) -> None:
    pane = look(window, "items/Crown.md")
    group = next(one for one in pane.model.groups if one.key is LinkSection.MISSING)
    pane.tree.setCurrentIndex(pane.model.index_of(group.children[0]))
    pane.make.click()
    settle(window)
    dialog = next(one for one in QApplication.topLevelWidgets() if isinstance(one, QDialog) and one.isVisible())
    assert (dialog.title.text(), dialog.folder.text()) == ("Nobody", "items")
    dialog.reject()


def test_no_note_is_made_of_a_picture_that_does_not_exist(window, vault) -> None:
    (vault / "items/Crown.md").write_text(NOTES["items/Crown.md"] + "\n![[lost.png]]\n", encoding="utf-8")
    pane = look(window, "items/Crown.md")
    group = next(one for one in pane.model.groups if one.key is LinkSection.MISSING)
    offered = {}
    for one in group.children:
        pane.tree.setCurrentIndex(pane.model.index_of(one))
        offered[one.title] = not pane.make.isHidden()
    assert offered == {"Nobody": True, "lost.png": False}


def test_enter_goes_to_the_line_of_a_backlink(window) -> None:
    pane = look(window, "Skarn.md")
    group = next(one for one in pane.model.groups if one.key is LinkSection.BACKLINKS)
    pane.tree.setCurrentIndex(pane.model.index_of(group.children[1]))
    QTest.keyClick(pane.tree, Qt.Key.Key_Return)
    settle(window)
    assert chosen_file(window) == "places/Dawnkeep.md"
    assert window.entry.editor.body.textCursor().selectedText() == "[[Skarn]]"


def test_a_note_without_any_links_says_so(window) -> None:
    pane = look(window, "draft.md")
    assert pane.empty.title.text() == "No links"


def test_nothing_is_looked_at_while_the_pane_is_hidden(window) -> None:
    window.docks["links"].close()
    pane = window.features.vault.links
    before = pane._cancel
    choose(window, "Bell.md")
    settle(window)
    assert pane._cancel is before


def woken(pane) -> set[str]:
    return {title for title, _, _ in rows(pane, LinkSection.WAKES)}


def test_what_a_note_of_before_hangs_together_with_is_not_shown(window) -> None:
    with turned_round(lambda: settle(window)):
        for filename in ("Skarn.md", "Bell.md"):
            pane = look(window, filename)
    assert (rows(pane, LinkSection.BACKLINKS), woken(pane)) == ([], {"Dawnkeep", "Skarn"})
    assert pane.state.text() == ""


def test_why_nothing_is_woken_is_told_whole_in_a_narrow_pane(window) -> None:
    window.session.set_project(window.session.project.with_settings(DeepLoreSettings(recursive_scan=False)))
    pane = look(window, "Bell.md")
    assert pane.state.text() == "Recursion is off in the settings, so no text wakes an entry."
    pane.setFixedWidth(260)
    settle(window)
    words = pane.state.fontMetrics().boundingRect(pane.state.rect(), Qt.TextFlag.TextWordWrap, pane.state.text())
    assert pane.state.rect().contains(words)


def test_while_a_note_is_looked_at_that_is_told_in_one_line_however_long_its_title_is(window, vault) -> None:
    (vault / "Long.md").write_text(f"---\ntags: [lorebook]\n---\n# {'The grey towers ' * 20}\n", encoding="utf-8")
    window.run("vault.reload")
    settle(window)
    pane = look(window, "Long.md")
    pane.setFixedWidth(260)
    pane.look()
    assert pane.state.text()
    assert pane.state.fontMetrics().horizontalAdvance(pane.state.text()) < 240
    settle(window)


def test_what_wakes_follows_the_settings_and_the_system(window, qtbot) -> None:
    pane, session = look(window, "Bell.md"), window.session
    assert woken(pane) == {"Dawnkeep", "Skarn"}
    before = session.project.settings
    session.parts.adjust("Case", settings=before.model_copy(update={"case_sensitive": True}))
    qtbot.waitUntil(lambda: woken(pane) == {"Dawnkeep"})
    session.parts.adjust("Case", settings=before)
    qtbot.waitUntil(lambda: woken(pane) == {"Dawnkeep", "Skarn"})
    session.replays.choose(system="facts")
    qtbot.waitUntil(lambda: woken(pane) == set())


def test_the_menu_of_a_row_has_what_its_buttons_do(window, vault) -> None:
    pane = look(window, "Skarn.md")
    groups = {group.key: group for group in pane.model.groups}
    mention = groups[LinkSection.MENTIONS].children[0]
    menu = menu_of_row(pane.tree, pane.model.index_of(mention))
    assert titles_of(menu) == ["Go to the place", "Link", "Link all 2", "Copy", "Choose all"]
    menu.actions()[1].trigger()
    menu.close()
    settle(window)
    assert "[[Skarn]]" in (vault / "Bell.md").read_text("utf-8")
    menu = menu_of_row(pane.tree, pane.model.index(0, 0))
    assert "Go to the place" not in titles_of(menu, enabled=True)
    menu.close()
    pane = look(window, "items/Crown.md")
    missing = next(group for group in pane.model.groups if group.key is LinkSection.MISSING).children[0]
    menu = menu_of_row(pane.tree, pane.model.index_of(missing))
    assert "Create" in titles_of(menu, enabled=True)
    menu.close()
