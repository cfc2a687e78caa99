"""Notes on disk that can be looked at and changed, without a window around them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import pytest
from pytestqt.qtbot import QtBot

from lorestudio.studio.project.project import open_project
from lorestudio.ui.state.drafts import Drafts
from lorestudio.ui.state.note_changes import NoteWork
from lorestudio.ui.state.selection import Selection
from lorestudio.ui.state.session import Session
from tests.ui.conftest import drain
from tests.ui.vaults import NOTES, write_vault


class Desk(NamedTuple):
    """What a pane of notes works with: an open vault in `folder`, and whoever changes it."""

    session: Session
    selection: Selection
    drafts: Drafts
    work: NoteWork
    folder: Path
    settle: Callable[[], None]

    def choose(self, filename: str) -> None:
        """Look at the note of a file."""
        note = self.session.note_at(self.folder / filename)
        assert note is not None
        self.selection.choose_note(note)
        self.settle()


@pytest.fixture
def make_desk(make_session: Callable[..., Session], qtbot: QtBot, tmp_path: Path) -> Iterator[Callable[..., Desk]]:
    made: list[NoteWork] = []

    def make(notes: Mapping[str, str] | None = NOTES, *, ready: bool = True) -> Desk:
        """With None for the notes nothing is open; unless `ready`, nothing can be changed."""
        session, drafts = make_session(replay=False), Drafts()
        work = NoteWork(session, drafts, lambda _paths, then: then([]))
        made.append(work)
        if ready:
            work.use(tmp_path / "kept")
        folder = tmp_path / "vault"
        if notes is not None:
            session.set_project(open_project([write_vault(folder, notes)]))

        def settle() -> None:
            for _ in range(3):
                qtbot.waitUntil(lambda: session.jobs.idle and not session.busy)
                drain()

        settle()
        return Desk(session, Selection(), drafts, work, folder, settle)

    yield make
    for work in made:
        work.deleteLater()
    drain()


@pytest.fixture
def desk(make_desk: Callable[..., Desk]) -> Desk:
    """A desk with the vault of `tests.ui.vaults`."""
    return make_desk()
