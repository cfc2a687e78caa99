"""The rows of the links pane as data, and what the pane alone says where it has none."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from PySide6.QtWidgets import QPushButton

from lorestudio.domain.entry import Entry, VaultIndex
from lorestudio.domain.lifecycle import CancelToken
from lorestudio.domain.records import replace
from lorestudio.exchange.lorebooks.entry import NEW_ENTRY
from lorestudio.settings.deeplore import DeepLoreSettings
from lorestudio.studio.notes.vault_notes import read_vault_notes
from lorestudio.studio.project.project import open_project
from lorestudio.systems.base import Wake
from lorestudio.systems.deeplore.matching.key_search import DeepLoreWakes
from lorestudio.ui.features.notes import links as notes_links
from lorestudio.ui.features.notes.links import MOST_WAKES, LinkSection, LinksPane, link_rows, wake_rows
from lorestudio.ui.state.drafts import Draft, Drafts
from lorestudio.ui.state.note_changes import NoteWork
from lorestudio.ui.state.selection import Selection
from tests.digests import digest
from tests.ui.vaults import NOTES, contents, write_vault

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytestqt.qtbot import QtBot

    from lorestudio.ui.shell.theme import Theme
    from lorestudio.ui.state.session import Session
    from tests.ui.features.notes.conftest import Desk

LINKED = {
    "Hub.md": "---\ntags: [lorebook]\nkeys: [hub]\nrequires: [Leaf]\nexcludes: [Gone]\nrelated: '[[Leaf]]'\n---\n"
    "# Hub\n\nSee [[Leaf]] and ![[Leaf]].\n",
    "Leaf.md": "---\ntags: [lorebook]\nkeys: [leaf]\n---\n# Leaf\n\nPlain.\n",
}
RECURSIVE = DeepLoreSettings(recursive_scan=True)
WAKING = (
    Entry(0, "a.md", "v", "A", "The bell in the fog.", ("a",)),
    Entry(1, "b.md", "v", "B", "", ("bell",), refine_keys=("fog",)),
    Entry(2, "c.md", "v", "C", "", ("bell",), probability=0),
    Entry(3, "d.md", "w", "D", "", ("bell",), warmup=2),
)


def test_references_say_what_reads_them(tmp_path: Path) -> None:
    vault = read_vault_notes(write_vault(tmp_path / "vault", LINKED))
    hub = {row.key: row for row in link_rows([vault], vault.path("Hub.md"))}
    assert list(hub) == [LinkSection.OUTGOING, LinkSection.MISSING]
    outgoing = hub[LinkSection.OUTGOING].children
    assert {(row.title, row.path) for row in outgoing} == {("Leaf", vault.path("Leaf.md"))}
    assert [row.after for row in outgoing] == [
        "requires", "property · not for DeepLore", "", "embedded · not for DeepLore",
    ]  # fmt: skip
    (missing,) = hub[LinkSection.MISSING].children
    assert (missing.title, missing.path, missing.line) == ("Gone", vault.path("Hub.md"), 5)
    leaf = {row.key: row.children for row in link_rows([vault], vault.path("Leaf.md"))}
    assert list(leaf) == [LinkSection.BACKLINKS]
    assert {(row.title, row.path) for row in leaf[LinkSection.BACKLINKS]} == {("Hub", vault.path("Hub.md"))}
    assert link_rows([vault], tmp_path / "elsewhere.md") == ()


def in_home(vault: str, filename: str) -> Path | None:
    return Path("home", filename) if vault == "v" else None


def test_what_is_woken_names_the_keys_and_what_is_in_the_way() -> None:
    finder = DeepLoreWakes(VaultIndex(WAKING, vaults=("v", "w")), RECURSIVE)
    (wakes,) = wake_rows(finder, WAKING[0], in_home, CancelToken())
    assert (wakes.key, wakes.after) == (LinkSection.WAKES, "3")
    assert [(row.title, row.path, row.after) for row in wakes.children] == [
        ("B", Path("home/b.md"), "“bell” + “fog”"),
        ("C", Path("home/c.md"), "“bell”, but its probability is 0"),
        ("D", None, "“bell”, too rarely for its warmup"),
    ]
    (woken,) = wake_rows(finder, WAKING[1], in_home, CancelToken())
    assert (woken.key, [row.title for row in woken.children]) == (LinkSection.WOKEN_BY, ["A"])


@pytest.mark.parametrize(("amount", "told"), [(MOST_WAKES, "300"), (MOST_WAKES + 1, "300 of 301")])
def test_very_many_wakes_are_counted(amount: int, told: str) -> None:
    woken = tuple(Entry(place, f"{place}.md", "v", f"E{place}", "", ("bell",)) for place in range(1, amount + 1))
    finder = DeepLoreWakes(VaultIndex((WAKING[0], *woken), vaults=("v",)), RECURSIVE)
    (wakes,) = wake_rows(finder, WAKING[0], lambda _vault, _file: None, CancelToken())
    assert (len(wakes.children), wakes.after) == (MOST_WAKES, told)


def test_the_pane_says_what_is_missing_and_why_it_failed(
    theme: Theme, make_session: Callable[..., Session], qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session, selection = make_session(replay=False), Selection()
    work = NoteWork(session, Drafts(), lambda _paths, then: then([]))
    work.use(tmp_path / "kept")
    pane = LinksPane(theme, session, selection, work)
    qtbot.addWidget(pane)
    assert pane.empty.title.text() == "No vault"
    session.set_project(open_project([write_vault(tmp_path / "vault", LINKED)]).with_settings(RECURSIVE))
    pane.look()
    assert pane.empty.title.text() == "No note chosen"
    wanted: list[str] = []
    pane.wanted.connect(wanted.append)
    pane.empty.page.findChild(QPushButton).click()
    assert wanted == ["go.entry"]
    assert pane.focus_target() is pane
    selection.choose_entry(session.project.index.entries[0].id)
    pane.look()
    assert pane.state.text() == "Looking at the links…"
    qtbot.waitUntil(lambda: session.jobs.idle)
    assert pane.state.text() == ""
    assert pane.focus_target() is pane.tree
    assert [pane.tree.isExpanded(pane.model.index(row, 0)) for row in range(2)] == [True, True]
    missing = next(group for group in pane.model.groups if group.key is LinkSection.MISSING)
    pane.tree.setCurrentIndex(pane.model.index_of(missing.children[0]))
    assert (pane.make.isHidden(), pane.link.isHidden(), pane.link_all.isHidden()) == (False, True, True)
    wanted: list[str] = []
    pane.create_wanted.connect(wanted.append)
    pane.create_chosen()
    pane.tree.setCurrentIndex(pane.model.index(0, 0))
    pane.create_chosen()
    assert wanted == ["Gone"]
    assert pane.make.isHidden()
    monkeypatch.setattr(work, "ask", lambda _question, _answered, failed, **_more: failed("The notes are locked."))
    pane.look()
    assert pane.state.text() == "The notes are locked."
    pane._failed(0, "Of an earlier look.")
    assert pane.state.text() == "The notes are locked."
    qtbot.waitUntil(lambda: session.jobs.idle)
    work.deleteLater()


# ---- the pane alone -------------------------------------------------------------------------------------------------


@pytest.fixture
def make_pane(make_desk: Callable[..., Desk], theme: Theme, qtbot: QtBot) -> Callable[..., tuple[LinksPane, Desk]]:
    def make(notes: dict[str, str] = NOTES, *, ready: bool = True, shown: bool = True) -> tuple[LinksPane, Desk]:
        desk = make_desk(notes, ready=ready)
        desk.session.set_project(desk.session.project.with_settings(RECURSIVE))
        pane = LinksPane(theme, desk.session, desk.selection, desk.work)
        qtbot.addWidget(pane)
        pane.resize(400, 500)
        if shown:
            pane.show()
            qtbot.waitExposed(pane)
        desk.settle()
        return pane, desk

    return make


def look(pane: LinksPane, desk: Desk, filename: str) -> None:
    desk.choose(filename)
    pane.look()
    desk.settle()


def sections(pane: LinksPane) -> list[object]:
    return [group.key for group in pane.model.groups]


def test_groups_stand_in_their_order_and_say_what_they_are(make_pane) -> None:
    pane, desk = make_pane()
    told: list[str] = []
    pane.note_changed.connect(told.append)
    look(pane, desk, "Skarn.md")
    order = list(LinkSection)
    assert sections(pane) == sorted(sections(pane), key=order.index)
    assert {LinkSection.BACKLINKS, LinkSection.MENTIONS, LinkSection.WOKEN_BY} <= set(sections(pane))
    assert [(group.title, bool(group.tip)) for group in pane.model.groups][:2] == [
        ("Linked from", True), ("Mentioned without a link", True),
    ]  # fmt: skip
    mention = pane.model.groups[1].children[0]
    assert mention.tip == f"Its {mention.after} stands here as plain text."
    assert pane.tree.currentIndex() == pane.model.index(0, 0)
    assert told[-1] == "2 backlinks"
    look(pane, desk, "items/Crown.md")
    outgoing = next(group for group in pane.model.groups if group.key is LinkSection.OUTGOING)
    linked = next(row for row in outgoing.children if row.title == "Dawnkeep" and row.tip.startswith("It lies"))
    assert linked.tip == "It lies in [[Dawnkeep|the keep]]."
    assert told[-1] == "0 backlinks"


def test_a_note_that_is_no_entry_wakes_nothing(make_pane) -> None:
    plain = {**NOTES, "draft.md": "See [[Skarn]] and the bell.\n"}
    pane, desk = make_pane(plain)
    look(pane, desk, "draft.md")
    assert sections(pane) == [LinkSection.OUTGOING]
    assert pane.state.text() == ""


def test_long_groups_start_closed_but_for_the_first(make_pane, monkeypatch: pytest.MonkeyPatch) -> None:
    pane, desk = make_pane()
    monkeypatch.setattr(notes_links, "OPEN_UP_TO", 1)
    look(pane, desk, "Skarn.md")
    opened = {group.key: pane.tree.isExpanded(pane.model.index_of(group)) for group in pane.model.groups}
    assert opened[LinkSection.BACKLINKS]  # two, but it is the first
    assert not opened[LinkSection.MENTIONS]
    group = pane.model.index(1, 0)
    pane.tree.entered.emit(group)
    assert pane.tree.isExpanded(group)
    pane.tree.entered.emit(group)
    assert not pane.tree.isExpanded(group)


def test_the_buttons_are_those_of_the_chosen_row(make_pane) -> None:
    pane, desk = make_pane()
    look(pane, desk, "Skarn.md")

    def shown() -> tuple[bool, bool, bool]:
        return pane.link.isVisible(), pane.link_all.isVisible(), pane.make.isVisible()

    group = next(each for each in pane.model.groups if each.key is LinkSection.MENTIONS)
    assert shown() == (False, True, False)  # a group is chosen
    pane.tree.setCurrentIndex(pane.model.index_of(group.children[0]))
    assert shown() == (True, True, False)
    assert pane.link_all.text() == "Link all 2"
    pane.tree.setCurrentIndex(pane.model.index_of(pane.model.groups[0].children[0]))
    pane.link_chosen()  # that one is a link already
    pane.create_chosen()
    desk.settle()
    assert contents(desk.folder) == NOTES
    look(pane, desk, "Bell.md")
    assert shown() == (False, False, False)
    pane.link_everything()
    desk.settle()
    assert contents(desk.folder) == NOTES
    unready, desk = make_pane(ready=False)
    look(unready, desk, "Skarn.md")
    assert not unready.link_all.isVisible()


def test_an_unsaved_text_is_looked_at_too(make_pane) -> None:
    pane, desk = make_pane()
    path = desk.folder / "draft.md"
    desk.drafts.keep(path, Draft("See [[Bell]].\n", digest(path)))
    look(pane, desk, "draft.md")
    (group,) = pane.model.groups
    assert (group.key, [row.title for row in group.children]) == (LinkSection.OUTGOING, ["Bell"])


def test_rows_lead_to_their_lines_and_links_to_their_notes(make_pane) -> None:
    pane, desk = make_pane()
    went: list[tuple[object, ...]] = []
    pane.jump.connect(lambda *place: went.append(place))
    look(pane, desk, "items/Crown.md")
    rows = {(row.title, row.line): row for row in pane.model.lines()}
    pane.tree.entered.emit(pane.model.index_of(rows[("Skarn", 0)]))
    pane.tree.entered.emit(pane.model.index_of(rows[("Nobody", 8)]))
    start = len("Skarn took it. See ")
    assert went == [
        (desk.folder / "Skarn.md", 0, 0, 0),
        (desk.folder / "items/Crown.md", 8, start, start + len("[[Nobody]]")),
    ]
    assert pane.focus_target() is pane.tree


def test_only_the_note_that_is_looked_at_last_is_shown(make_pane) -> None:
    pane, desk = make_pane()
    look(pane, desk, "Skarn.md")
    before = sections(pane)
    desk.choose("Bell.md")
    pane.look()
    assert pane.model.groups == []  # of another note nothing is left
    desk.selection.choose_note(desk.session.note_at(desk.folder / "Skarn.md"))
    pane.look()
    assert pane.state.text() == "Looking at the links…"
    desk.settle()
    assert sections(pane) == before
    assert pane.state.text() == ""
    pane.look()  # of the same note what is known stays meanwhile
    assert sections(pane) == before
    desk.settle()
    desk.selection.clear()
    pane.look()
    assert (pane.model.groups, pane.empty.title.text()) == ([], "No note chosen")


def test_it_looks_only_while_it_is_in_sight(make_pane, qtbot: QtBot) -> None:
    pane, desk = make_pane(shown=False)
    pane._delay.setInterval(1)
    desk.choose("Skarn.md")
    assert not pane._delay.isActive()
    pane.show()
    assert pane._delay.isActive()
    qtbot.waitUntil(lambda: LinkSection.BACKLINKS in sections(pane))
    desk.selection.choose_note(desk.session.note_at(desk.folder / "draft.md"))
    assert pane._delay.isActive()
    pane.hide()
    assert not pane._delay.isActive()
    desk.session.project_changed.emit()
    assert not pane._delay.isActive()
    pane.show()
    qtbot.waitUntil(lambda: pane.empty.title.text() == "No links")
    desk.settle()
    assert not pane._delay.isActive()
    desk.session.project_changed.emit()
    assert pane._delay.isActive()
    pane.hide()


def test_a_note_that_is_linked_from_nowhere_says_so(make_pane) -> None:
    pane, desk = make_pane()
    told: list[str] = []
    pane.note_changed.connect(told.append)
    look(pane, desk, "draft.md")
    assert (pane.empty.title.text(), pane.empty.isVisible(), told[-1]) == ("No links", True, "")
    assert pane.focus_target() is pane


def test_what_could_not_be_looked_at_is_said_with_its_tip(make_pane, monkeypatch: pytest.MonkeyPatch) -> None:
    pane, desk = make_pane()

    def broken(*_args: object) -> None:
        raise ValueError("The keys are broken.")

    monkeypatch.setattr(notes_links, "wake_rows", broken)
    look(pane, desk, "Skarn.md")
    assert pane.state.text() == pane.state.toolTip() == "The keys are broken."
    assert LinkSection.BACKLINKS in sections(pane)  # the rest is there


WAKE = Wake(0, 1, "bell")


@pytest.mark.parametrize(
    ("wake", "words"),
    [
        (replace(WAKE, obstacle="warmup_short"), "“bell”, too rarely for its warmup"),
        (replace(WAKE, obstacle="same_group"), "“bell”, but both are of one group"),
        (replace(WAKE, refine_key="fog"), "“bell” + “fog”"),
        (replace(WAKE, obstacle="something else"), "“bell”, something else"),
        (WAKE, "“bell”"),
    ],
)
def test_what_is_in_the_way_of_a_wake_is_said(wake: Wake, words: str) -> None:
    row = notes_links._wake(WAKING[3], wake, in_home)
    assert (row.title, row.path, row.after) == ("D", None, words)  # its vault is not open
    assert notes_links._wake(WAKING[1], wake, in_home).path == Path("home/b.md")


def test_what_was_looked_at_is_saved_before_it_is_linked_and_nothing_else(
    make_pane, monkeypatch: pytest.MonkeyPatch
) -> None:
    pane, desk = make_pane()
    asked: list[set[Path]] = []
    monkeypatch.setattr(desk.work, "carry_out", lambda _plan, _done, *, about: asked.append(set(about)))
    look(pane, desk, "Skarn.md")
    backlinks, mentions = pane.model.groups[:2]
    pane.tree.setCurrentIndex(pane.model.index_of(backlinks.children[0]))
    pane.link_chosen()
    assert asked == []
    pane.tree.setCurrentIndex(pane.model.index_of(mentions.children[1]))
    pane.link_chosen()
    pane.link_all.click()
    crown, bell = desk.folder / "items/Crown.md", desk.folder / "Bell.md"
    assert asked == [{crown}, {crown, bell}]


def test_other_keys_of_the_vault_wake_others(make_pane) -> None:
    pane, desk = make_pane()

    def woken() -> list[str]:
        group = next(each for each in pane.model.groups if each.key is LinkSection.WAKES)
        return sorted(row.title for row in group.children)

    look(pane, desk, "Bell.md")
    assert woken() == ["Dawnkeep", "Skarn"]
    look(pane, desk, "Bell.md")
    assert woken() == ["Dawnkeep", "Skarn"]
    path = desk.folder / "Skarn.md"
    path.write_text(path.read_text(encoding="utf-8").replace("[skarn]", "[wyrm]"), encoding="utf-8", newline="")
    desk.session.set_project(open_project([desk.folder]).with_settings(RECURSIVE))
    desk.settle()
    look(pane, desk, "Bell.md")
    assert woken() == ["Dawnkeep"]
    assert not pane._delay.isActive()  # it was looked at just now


def test_where_recursion_is_off_nothing_is_woken_and_that_is_said(make_pane) -> None:
    pane, desk = make_pane({**NOTES, "Moth.md": "---\ntags: [lorebook]\nkeys: [moth]\n---\n# Moth\n\nGrey.\n"})
    desk.session.set_project(desk.session.project.with_settings(DeepLoreSettings()))
    look(pane, desk, "Bell.md")
    assert LinkSection.WAKES not in sections(pane)
    assert pane.state.text() == "Recursion is off in the settings, so no text wakes an entry."
    look(pane, desk, "Moth.md")
    assert "Traces tell what wakes it" not in pane.empty.text.text(), "nothing does"


def test_entries_of_a_lorebook_are_woken_by_their_own_rules(make_pane, tmp_path: Path) -> None:
    raws = (
        {"comment": "Bell", "key": ["bell"], "content": "The tower hums in the fog."},
        {"comment": "Tower", "key": ["tower"], "keysecondary": ["fog"], "content": "A bell.", "group": "places"},
        {"comment": "Fog", "key": ["fog"], "content": "Bell after bell.", "excludeRecursion": True, "group": "places"},
        {"comment": "Sea", "key": ["FOG"], "caseSensitive": True},
    )
    book = tmp_path / "Book.json"
    listed = {str(uid): {**NEW_ENTRY, "uid": uid, **raw} for uid, raw in enumerate(raws)}
    book.write_text(json.dumps({"entries": listed}), encoding="utf-8")
    pane, desk = make_pane()
    desk.session.set_project(open_project([book]))
    desk.settle()

    def told(title: str) -> dict[object, list[tuple[str, str]]]:
        chosen = next(each for each in desk.session.project.index.entries if each.title == title)
        desk.selection.choose_entry(chosen.id)
        pane.look()
        desk.settle()
        keyed = (group for group in pane.model.groups if group.key in {LinkSection.WAKES, LinkSection.WOKEN_BY})
        return {group.key: [(row.title, row.after) for row in group.children] for group in keyed}

    assert told("Bell") == {
        LinkSection.WAKES: [("Tower", "“tower” + “fog”")],
        LinkSection.WOKEN_BY: [("Tower", "“bell”"), ("Fog", "“bell”")],
    }
    assert told("Fog") == {LinkSection.WAKES: [("Bell", "“bell”")]}
    assert told("Sea") == {}
    assert pane.empty.text.text().endswith("names it or wakes it, and it links to nothing and wakes nothing.")
