"""What is looked at: the one selection that all panes share, back and forward through it, and finding it again."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final, TypeAlias

from PySide6.QtCore import QObject, QSettings, Signal

from lorestudio.domain.chat import Generation
from lorestudio.domain.entry import Entry, LeftOutNote, NoteKey, VaultIndex
from lorestudio.domain.javascript import Json
from lorestudio.domain.json_text import json_or_none
from lorestudio.domain.texts import text_digest
from lorestudio.studio.project.project import Project, is_demo
from lorestudio.ui.state.session_state import SessionState
from lorestudio.vault.index import changes_between


class Selection(QObject):
    """What is looked at. Panes write it through the `choose_` methods and follow its signals, nothing else.

    `message` is a row of the chat, `generation` the run that belongs to it, `left_out` a note that gave no entry (then
    `entry` is None), `stage` the name of a stage. `entry` is an id of the index, or one of the run's own behind those
    (`trace.journey.FOREIGN_IDS`). Each may be None. `stage_changed` comes after `entry_changed`, too.
    """

    generation_changed = Signal()
    entry_changed = Signal()
    stage_changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.message: int | None = None
        self.generation: Generation | None = None
        self.entry: int | None = None
        self.left_out: LeftOutNote | None = None
        self.stage: str | None = None

    def choose_message(self, message: int | None, generation: Generation | None) -> None:
        """Look at a message and the generation that belongs to it; the entry and the stage stay."""
        if (message, generation) != (self.message, self.generation):
            self.message, self.generation = message, generation
            self.generation_changed.emit()

    def choose_entry(self, entry: int | None, stage: str | None = None) -> None:
        """Look at an entry, and at what one stage did with it where `stage` is given."""
        entry_is_new = entry != self.entry or self.left_out is not None
        stage_is_new = stage != self.stage
        self.entry, self.left_out, self.stage = entry, None, stage
        if entry_is_new:
            self.entry_changed.emit()
        if stage_is_new or entry_is_new:
            self.stage_changed.emit()

    def choose_left_out(self, note: LeftOutNote) -> None:
        """Look at a note that gave no entry."""
        if note is not self.left_out:
            self.entry, self.left_out, self.stage = None, note, None
            self.entry_changed.emit()
            self.stage_changed.emit()

    def choose_note(self, note: Entry | LeftOutNote, stage: str | None = None) -> None:
        """Look at a note of either kind, and at a stage that an entry came to."""
        if isinstance(note, Entry):
            self.choose_entry(note.id, stage)
        else:
            self.choose_left_out(note)

    def note_of(self, session: SessionState) -> Entry | LeftOutNote | None:
        """The note that is looked at."""
        return session.entry(self.entry) or self.left_out

    def find_again(self, before: VaultIndex, after: VaultIndex) -> None:
        """Look at the same note in a newer index, where its number may be another one; at none where it is gone.

        A note that became an entry, or is none any more, is the same note.
        """
        chosen: Entry | LeftOutNote | None = self.left_out
        if self.entry is not None:
            if self.entry >= len(before.entries):  # what another system than DeepLore chose from; its number stays
                return
            chosen = before.entries[self.entry]
        if chosen is None:
            return
        note = after.note(chosen.note_key)
        if note is None:
            self.choose_entry(None)
        elif not isinstance(note, Entry) or note.id != self.entry:
            self.choose_note(note)

    def clear(self) -> None:
        """Look at nothing, as when another vault is opened."""
        self.choose_message(None, None)
        self.choose_entry(None)


def same_numbers(before: VaultIndex, after: VaultIndex) -> bool:
    """Whether every entry has the number that it had, so that older traces and choices mean the same ones."""
    one, other = before.entries, after.entries
    return one is other or [each.note_key for each in one] == [each.note_key for each in other]


def moved_files(project: Project, before: VaultIndex) -> dict[Path, Path]:
    """The files of entries that have another name in the project than they had in its index before."""
    if same_numbers(before, project.index):  # as nearly always; what became of thousands is looked at for longer
        return {}
    moves = changes_between(before, project.index).moves.items()
    paths = ((project.note_path(vault, old), project.note_path(vault, new)) for (vault, old), new in moves)
    return {old: new for old, new in paths if old is not None and new is not None}


LONGEST: Final = 200


_Seen: TypeAlias = NoteKey | int
"""A note by its vault and its file's name there; by its number, an entry that only a run knows."""


class History(QObject):
    """Follows a selection; `changed` says that `can_go_back` or `can_go_forward` may differ."""

    changed = Signal()

    def __init__(self, session: SessionState, selection: Selection, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session, self._selection = session, selection
        self._seen: list[_Seen] = []
        self._place = -1
        selection.entry_changed.connect(self._remember)

    @property
    def can_go_back(self) -> bool:
        """Whether there is an earlier note."""
        return self._place > 0

    @property
    def can_go_forward(self) -> bool:
        """Whether there is a later note."""
        return self._place < len(self._seen) - 1

    def back(self) -> None:
        """Look at the note before."""
        self._move(-1)

    def forward(self) -> None:
        """Look at the note after."""
        self._move(1)

    def clear(self) -> None:
        """Forget everything, as when another vault is opened."""
        self._seen, self._place = [], -1
        self.changed.emit()

    def moved(self, moves: Mapping[Path, Path]) -> None:
        """These files have other names from now on."""
        project = self._session.project
        if project is not None and moves:
            places = {project.note_place(old): project.note_place(new) for old, new in moves.items()}
            self._seen = [places.get(seen) or seen if isinstance(seen, tuple) else seen for seen in self._seen]

    def keep(self, index: VaultIndex, *, numbers: bool) -> None:
        """The same vaults are shown in a newer reading: forget what is not in it; `numbers`, entries of a run stay."""
        known = index.note_keys
        before, at = self._seen, self._place
        self._seen, self._place = [], -1
        for number, seen in enumerate(before):
            stays = seen in known if isinstance(seen, tuple) else numbers
            if stays and seen not in self._seen[-1:]:  # what was between them is gone
                self._seen.append(seen)
            if number == at:
                self._place = len(self._seen) - 1
        self.changed.emit()

    def _move(self, steps: int) -> None:
        place = self._place + steps
        if not 0 <= place < len(self._seen):
            return
        self._place, seen = place, self._seen[place]
        if isinstance(seen, int):
            self._selection.choose_entry(seen)
        elif self._session.project is not None:
            note = self._session.project.index.note(seen)
            if note is not None:
                self._selection.choose_note(note)
        self.changed.emit()

    def _remember(self) -> None:
        note = self._selection.note_of(self._session)
        seen = note.note_key if note is not None else self._selection.entry
        if seen is None or (self._place >= 0 and self._seen[self._place] == seen):
            return
        self._seen = [*self._seen[: self._place + 1], seen][-LONGEST:]
        self._place = len(self._seen) - 1
        self.changed.emit()


MOST_RECENT: Final = 30
"""So many files that were looked at are known, and projects with where they were left."""


class KeptPlace(QObject):
    """Follows a selection. After the same vaults and chat were read again, `restore` chooses what was chosen before.

    With `settings` it does so when they are opened another time, too, but for the reply where the chat went on since.
    `moved` and `want` are told of files that have another name now, and of one to go to. `recent` are the files that
    were looked at, the last one first. `leaving` says that the same vaults and chat are about to be shown anew,
    `restored` whether they are shown now.
    """

    leaving = Signal()
    restored = Signal(bool)

    def __init__(
        self, session: SessionState, selection: Selection, parent: QObject | None = None,
        settings: QSettings | None = None,
    ) -> None:  # fmt: skip
        super().__init__(parent)
        self._session, self._selection, self._settings = session, selection, settings
        self._messages = 0
        self._project = ""
        self._path: Path | None = None
        self._stage: str | None = None
        self._seen: tuple[int | None, Generation | None] = (None, None)
        self._moves: dict[Path, Path] = {}
        self._held = False
        self.recent: list[Path] = []
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
        """Whether the project that is shown now is the one before: read again, changed, or saved elsewhere."""
        return bool(self._project) and (self._session.renewed or self._project == self._identity())

    def restore(self) -> bool:
        """Look at what was looked at before; False where another project is shown now."""
        same = self.is_same
        if same:
            self._choose_again()
        else:
            self._keep(self._project)
            self._path, self._stage, self._seen, self._moves = None, None, (None, None), {}
            self.recent = []
        self._project = self._identity()
        self._messages = len(self._session.chat.messages) if self._session.chat is not None else 0
        self.restored.emit(same)
        if not same:
            self._go_back()
        self._moves = {}  # everybody has found by its old name what they looked for
        return same

    def keep(self) -> None:
        """Remember where the person is, for when the project is opened another time."""
        self._keep(self._identity() or self._project)  # a chat may have been saved under another name

    def _keep(self, project: str) -> None:
        if self._settings is not None and project:
            kept = self._left_at
            kept.pop(project, None)
            kept[project] = self._messages, self._seen[0], str(self._path or "")
            self._settings.setValue("left_at", json.dumps(dict([*kept.items()][-MOST_RECENT:])))

    def _go_back(self) -> None:
        """Look at what was looked at when the project was left; the demo has a first look of its own."""
        if self._session.project is None or is_demo(self._session.project):
            return
        match self._left_at.get(self._project):
            case [messages, (int() | None) as message, str() as note]:
                self._seen = (message, None) if messages == self._messages else self._seen
                self._path = Path(note) if note else None
                self._choose_again()

    @property
    def _left_at(self) -> dict[str, Json]:
        """Where projects were left, the last one last."""
        found = json_or_none(str(self._settings.value("left_at", ""))) if self._settings is not None else None
        return found if isinstance(found, dict) else {}

    def _choose_again(self) -> None:
        message, generation = self._seen
        chat = self._session.chat
        if chat is not None and message is not None and message <= len(chat.messages):
            known = generation if generation in self._session.generations else self._session.generation_for(message)
            self._selection.choose_message(message, known)
        note = self._session.note_at(self._path) if self._path is not None else None
        if note is not None:
            self._selection.choose_note(note, self._stage)

    def _identity(self) -> str:
        """The vaults and the chat of the project that is shown, "" for none."""
        project = self._session.project
        places = () if project is None else project.places or tuple(map(str, project.vault_folders))
        return text_digest(*places, str(project.chat_path)) if project is not None else ""

    def _follow_entry(self) -> None:
        if self._held:
            return
        note = self._selection.note_of(self._session)
        self._path = self._session.note_path(note) if note is not None else None
        self._stage = self._selection.stage
        if self._path is not None:
            self.recent = [self._path, *(path for path in self.recent if path != self._path)][:MOST_RECENT]

    def _follow_message(self) -> None:
        if not self._held:
            self._seen = (self._selection.message, self._selection.generation)
