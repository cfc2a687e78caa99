"""The rows of the links pane as data, and what the pane alone says where it has none."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from lorestudio.domain.entry import Entry, VaultIndex
from lorestudio.domain.lifecycle import CancelToken
from lorestudio.settings.deeplore import DeepLoreSettings
from lorestudio.studio.notes.vault_notes import read_vault_notes
from lorestudio.studio.project.project import open_project
from lorestudio.systems.deeplore.matching.key_search import DeepLoreWakes
from lorestudio.ui.features.notes.links import MOST_WAKES, LinkSection, LinksPane, link_rows, wake_rows
from lorestudio.ui.state.drafts import Drafts
from lorestudio.ui.state.note_changes import NoteWork
from lorestudio.ui.state.selection import Selection
from tests.ui.vaults import write_vault

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytestqt.qtbot import QtBot

    from lorestudio.ui.shell.theme import Theme
    from lorestudio.ui.state.session import Session

LINKED = {
    "Hub.md": "---\ntags: [lorebook]\nkeys: [hub]\nrequires: [Leaf]\nexcludes: [Gone]\nrelated: '[[Leaf]]'\n---\n"
    "# Hub\n\nSee [[Leaf]] and ![[Leaf]].\n",
    "Leaf.md": "---\ntags: [lorebook]\nkeys: [leaf]\n---\n# Leaf\n\nPlain.\n",
}
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


def test_what_is_woken_names_the_keys_and_what_is_in_the_way() -> None:
    finder = DeepLoreWakes(VaultIndex(WAKING, vaults=("v", "w")), DeepLoreSettings())
    (wakes,) = wake_rows(finder, WAKING[0], [Path("home"), None], CancelToken())
    assert (wakes.key, wakes.after) == (LinkSection.WAKES, "3")
    assert [(row.title, row.path, row.after) for row in wakes.children] == [
        ("B", Path("home/b.md"), "“bell” + “fog”"),
        ("C", Path("home/c.md"), "“bell”, but its probability is 0"),
        ("D", None, "“bell”, too rarely for its warmup"),
    ]
    (woken,) = wake_rows(finder, WAKING[1], [Path("home"), None], CancelToken())
    assert (woken.key, [row.title for row in woken.children]) == (LinkSection.WOKEN_BY, ["A"])


@pytest.mark.parametrize(("amount", "told"), [(MOST_WAKES, "300"), (MOST_WAKES + 1, "300 of 301")])
def test_very_many_wakes_are_counted(amount: int, told: str) -> None:
    woken = tuple(Entry(place, f"{place}.md", "v", f"E{place}", "", ("bell",)) for place in range(1, amount + 1))
    finder = DeepLoreWakes(VaultIndex((WAKING[0], *woken), vaults=("v",)), DeepLoreSettings())
    (wakes,) = wake_rows(finder, WAKING[0], [None], CancelToken())
    assert (len(wakes.children), wakes.after) == (MOST_WAKES, told)


def test_the_pane_says_what_is_missing_and_why_it_failed(
    theme: Theme, make_session: Callable[..., Session], qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session, selection = make_session(replay=False), Selection()
    work = NoteWork(session, Drafts(), lambda then: then([]))
    work.use(tmp_path / "kept")
    pane = LinksPane(theme, session, selection, work)
    qtbot.addWidget(pane)
    assert pane.empty.title.text() == "No vault"
    session.set_project(open_project([write_vault(tmp_path / "vault", LINKED)]))
    pane.look()
    assert pane.empty.title.text() == "No note chosen"
    assert pane.focus_target() is pane
    selection.choose_entry(session.project.index.entries[0].id)
    pane.look()
    assert pane.state.text() == "Looking at Hub…"
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
