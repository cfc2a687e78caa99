"""What the window can do with proposals: the handlers of the actions, and the locks they respect."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from lorestudio.domain.entry import Entry
from lorestudio.studio.changes import ChangeLog, ChangeSet, default_folder
from lorestudio.studio.jobs import CancelToken
from lorestudio.studio.note_locks import NoteLocks, default_locks, is_locked
from lorestudio.studio.project import Project
from lorestudio.studio.proposals import (
    Guard,
    Plan,
    ProposalKind,
    default_records,
    plan_draft,
    plan_keys,
    plan_summaries,
)
from lorestudio.ui.notices import Notice
from lorestudio.ui.passage_dialog import PassageDialog
from lorestudio.ui.proposals_dialog import AGAIN, ProposalsDialog
from lorestudio.ui.proposing import Tools, Wish
from lorestudio.ui.selection import Selection
from lorestudio.ui.session import Session
from lorestudio.ui.theme import Theme
from lorestudio.ui.words import sentence_of, tr

MakeLog = Callable[[Sequence[Path]], ChangeLog]


class ProposalCommands(QObject):
    """Opens the dialogs. `applied` carries every change set that was written; `locks_changed` follows the list.

    `unsaved` gives the notes with unsaved text. `make_log` opens the change log of these vaults, in a worker; `locks`
    and `records` are where the studio's list and the recorded answers lie. By default they are the person's own.
    """

    applied = Signal(object)  # ChangeSet
    locks_changed = Signal()

    def __init__(
        self,
        window: QWidget,
        session: Session,
        selection: Selection,
        theme: Theme,
        unsaved: Callable[[], Collection[Path]],
        *,
        make_log: MakeLog | None = None,
        locks: NoteLocks | None = None,
        records: Path | None = None,
    ) -> None:
        super().__init__(window)
        self._window, self._session, self._selection, self._theme = window, session, selection, theme
        self._unsaved = unsaved
        self.make_log: MakeLog = make_log or (lambda roots: ChangeLog(default_folder(), roots))
        self.locks = locks or NoteLocks(default_locks())
        self.records = records or default_records()
        self._locked: frozenset[str] = frozenset()
        session.project_changed.connect(self.load_locks)

    def handlers(self) -> Mapping[str, Callable[[], object]]:
        """What the actions do, by id."""
        return {
            "propose.summaries": self.summaries,
            "propose.keys": self.keys,
            "propose.draft": self.draft,
            "entry.lock": self.toggle_lock,
        }

    def is_locked(self, entry: int | None) -> bool:
        """Whether the entry's note is on the studio's list."""
        path = self._path(entry)
        return path is not None and is_locked(path, self._locked)

    # ---- the dialogs ------------------------------------------------------------------------------------------------

    def summaries(self, entries: Sequence[int] | None = None) -> ProposalsDialog | None:
        """Propose summaries, for the whole vault or for these entries."""

        def plan(project: Project, guard: Guard, model: str, choice: str, cancel: CancelToken) -> Plan:
            chosen = None if entries is None else _entries(project, entries)
            return plan_summaries(project, chosen, guard, model=model, again=choice == AGAIN, cancel=cancel)

        return self._open(Wish(ProposalKind.SUMMARY, tr("Propose summaries"), plan))

    def keys(self, entries: Sequence[int] | None = None) -> ProposalsDialog | None:
        """Propose keys for the chosen entry, or for these."""
        chosen = entries
        if chosen is None:
            chosen = () if self._selection.entry is None else (self._selection.entry,)
        wanted = tuple(chosen)
        if not wanted:
            return None

        def plan(project: Project, guard: Guard, model: str, choice: str, cancel: CancelToken) -> Plan:
            return plan_keys(project, _entries(project, wanted), guard, mode=choice, model=model, cancel=cancel)

        return self._open(Wish(ProposalKind.KEYS, tr("Propose keys"), plan))

    def draft(self) -> PassageDialog | None:
        """Ask for messages, then propose a note from them."""
        project = self._session.project
        chat = project.chat if project is not None else None
        if chat is None or not chat.messages:
            return None
        message = self._selection.message
        dialog = PassageDialog(chat, len(chat.messages) - 1 if message is None else message, self._window)
        dialog.chosen.connect(self._draft_from)
        dialog.open()
        return dialog

    def _draft_from(self, numbers: object, focus: str) -> None:
        if not isinstance(numbers, tuple):
            return
        wanted = tuple(int(number) for number in numbers)

        def plan(project: Project, _guard: Guard, model: str, _choice: str, _cancel: CancelToken) -> Plan:
            return plan_draft(project, wanted, focus, model=model)

        self._open(Wish(ProposalKind.DRAFT, tr("Draft a note"), plan))

    def _open(self, wish: Wish) -> ProposalsDialog | None:
        project = self._session.project
        if project is None:
            return None
        roots = [folder for folder in project.vault_folders if folder is not None]
        tools = Tools(lambda: self.make_log(roots), self.locks, self.records, self._unsaved)
        dialog = ProposalsDialog(self._session, project, wish, tools, self._theme, self._window)
        dialog.applied.connect(self._was_applied)
        dialog.finished.connect(self.load_locks)
        dialog.open()
        return dialog

    def _was_applied(self, changes: object) -> None:
        if isinstance(changes, ChangeSet):
            self.applied.emit(changes)

    # ---- locks ------------------------------------------------------------------------------------------------------

    def load_locks(self) -> None:
        """Read the list again."""
        self._session.jobs.start(
            tr("Reading the list of locked notes"),
            lambda _report: self.locks.load(),
            done=self._take_locks,
            failed=self._say,
        )

    def toggle_lock(self) -> None:
        """Put the chosen note on the list, or take it off."""
        path = self._path(self._selection.entry)
        if path is None:
            return
        now = not is_locked(path, self._locked)

        def work() -> frozenset[str]:
            self.locks.set([path], locked_now=now)
            return self.locks.load()

        self._session.jobs.start(tr("Locking a note"), lambda _report: work(), done=self._take_locks, failed=self._say)

    def _take_locks(self, locked: frozenset[str]) -> None:
        self._locked = locked
        self.locks_changed.emit()

    def _say(self, error: Exception) -> None:
        self._session.notice.emit(Notice(sentence_of(error), "warning", key="locks"))

    def _path(self, entry: int | None) -> Path | None:
        found = self._session.entry(entry)
        return self._session.note_path(found) if found is not None else None


def _entries(project: Project, ids: Sequence[int]) -> list[Entry]:
    known = project.index.entries
    return [known[entry] for entry in ids if 0 <= entry < len(known)]
