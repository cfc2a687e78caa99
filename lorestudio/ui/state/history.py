"""Back and forward through the entries that were looked at.

What was looked at, by its file, so that it is found again after the vault was read anew.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from PySide6.QtCore import QObject, Signal

from lorestudio.domain.chat import Generation
from lorestudio.domain.entry import Entry, LeftOutNote
from lorestudio.ui.state.selection import Selection
from lorestudio.ui.state.session import Session

LONGEST: Final = 200


class History(QObject):
    """Follows a selection; `changed` says that `can_go_back` or `can_go_forward` may differ."""

    changed = Signal()

    def __init__(self, selection: Selection, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._selection = selection
        self._entries: list[int] = []
        self._place = -1
        selection.entry_changed.connect(self._remember)

    @property
    def can_go_back(self) -> bool:
        """Whether there is an earlier entry."""
        return self._place > 0

    @property
    def can_go_forward(self) -> bool:
        """Whether there is a later entry."""
        return self._place < len(self._entries) - 1

    def back(self) -> None:
        """Look at the entry before."""
        self._move(-1)

    def forward(self) -> None:
        """Look at the entry after."""
        self._move(1)

    def clear(self) -> None:
        """Forget everything, as when another vault is opened."""
        self._entries, self._place = [], -1
        self.changed.emit()

    def _move(self, steps: int) -> None:
        place = self._place + steps
        if 0 <= place < len(self._entries):
            self._place = place
            self._selection.choose_entry(self._entries[place])
            self.changed.emit()

    def _remember(self) -> None:
        entry = self._selection.entry
        if entry is None or (self._place >= 0 and self._entries[self._place] == entry):
            return
        self._entries = [*self._entries[: self._place + 1], entry][-LONGEST:]
        self._place = len(self._entries) - 1
        self.changed.emit()


MOST_RECENT: Final = 30


class KeptPlace(QObject):
    """Follows a selection. After the same vaults and chat were read again, `restore` chooses what was chosen before.

    `moved` and `want` are told of files that have another name now, and of one to go to. `recent` are the files that
    were looked at, the last one first. `leaving` says that the same vaults and chat are about to be shown anew,
    `restored` whether they are shown now.
    """

    leaving = Signal()
    restored = Signal(bool)

    def __init__(self, session: Session, selection: Selection, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session, self._selection = session, selection
        self._project: tuple[tuple[str, ...], Path | None] | None = None
        self._path: Path | None = None
        self._stage: str | None = None
        self._seen: tuple[int | None, Generation | None] = (None, None)
        self._moves: dict[Path, Path] = {}
        self._held = False
        self.recent: list[Path] = []
        selection.entry_changed.connect(self._follow_entry)
        selection.stage_changed.connect(self._follow_entry)
        selection.generation_changed.connect(self._follow_message)

    def moved(self, moves: Mapping[Path, Path]) -> None:
        """These files have other names from now on."""
        self._moves = {old: moves.get(new, new) for old, new in self._moves.items()} | dict(moves)
        self.recent = [moves.get(path, path) for path in self.recent]
        self._path = moves.get(self._path, self._path) if self._path is not None else None

    def now(self, path: Path) -> Path:
        """What a file is called now."""
        return self._moves.get(path, path)

    def want(self, path: Path) -> None:
        """Go to this file as soon as it is known."""
        self._path, self._stage = path, None

    @contextmanager
    def held(self) -> Iterator[None]:
        """The panes are about to show a newer reading: what happens to the selection is no choice of a person."""
        if self.is_same:
            self.leaving.emit()
        before, self._held = self._held, True
        try:
            yield
        finally:
            self._held = before

    @property
    def is_same(self) -> bool:
        """Whether the project that is shown now has the vaults and the chat of the one before."""
        return self._project is not None and self._project == self._identity()

    def restore(self) -> bool:
        """Look at what was looked at before; False where another project is shown now."""
        same = self.is_same
        self._project = self._identity()
        if same:
            self._choose_again()
        else:
            self._path, self._stage, self._seen, self._moves = None, None, (None, None), {}
            self.recent = []
        self.restored.emit(same)
        self._moves = {}  # everybody has found by its old name what they looked for
        return same

    def _choose_again(self) -> None:
        message, generation = self._seen
        chat = self._session.project.chat if self._session.project is not None else None
        if chat is not None and message is not None and message <= len(chat.messages):
            known = generation if generation in self._session.generations else self._session.generation_for(message)
            self._selection.choose_message(message, known)
        note = self._session.note_at(self._path) if self._path is not None else None
        if isinstance(note, Entry):
            self._selection.choose_entry(note.id, self._stage)
        elif isinstance(note, LeftOutNote):
            self._selection.choose_left_out(note)

    def _identity(self) -> tuple[tuple[str, ...], Path | None] | None:
        project = self._session.project
        if project is None:
            return None
        places = project.places or tuple(str(folder) for folder in project.vault_folders)
        return places, project.chat_path

    def _follow_entry(self) -> None:
        if self._held:
            return
        note = self._session.entry(self._selection.entry) or self._selection.left_out
        self._path = self._session.note_path(note) if note is not None else None
        self._stage = self._selection.stage
        if self._path is not None:
            self.recent = [self._path, *(path for path in self.recent if path != self._path)][:MOST_RECENT]

    def _follow_message(self) -> None:
        if not self._held:
            self._seen = (self._selection.message, self._selection.generation)
