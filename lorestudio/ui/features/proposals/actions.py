"""What the window can do with proposals: the handlers of the actions, and the locks they respect.

For a new note a dialog asks which messages it is drafted from, and its subject.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFormLayout, QLineEdit, QPushButton, QWidget

from lorestudio.domain.chat import Chat
from lorestudio.domain.entry import Entry
from lorestudio.domain.lifecycle import CancelToken
from lorestudio.domain.texts import shorten
from lorestudio.studio.notes.changes.change_set import ChangeSet
from lorestudio.studio.notes.changes.log import ChangeLog
from lorestudio.studio.project.project import Project
from lorestudio.studio.proposals.model import NoteLocks, ProposalKind, ProposalPlan, default_locks, is_locked, locked_by
from lorestudio.studio.proposals.planning import MOST_MESSAGES, default_records, plan_draft, plan_keys, plan_summaries
from lorestudio.ui.features.notes.pane import EntryPane
from lorestudio.ui.shell.actions import Action
from lorestudio.ui.shell.feature import Context, Feature
from lorestudio.ui.shell.words import count, tr
from lorestudio.ui.widgets.dialogs import Dialog
from lorestudio.ui.widgets.layouts import able, column, label, named, number_field, row, text_view

if TYPE_CHECKING:
    from lorestudio.studio.proposals.planning import Guard
    from lorestudio.ui.features.proposals.dialog import ProposalsDialog
    from lorestudio.ui.features.proposals.worker import ProposalWish

USUAL: Final = 8
"""So many messages are chosen to begin with: the chosen one and those before it."""
_SHOWN: Final = 160


class PassageDialog(Dialog):
    """`chosen` carries the indices of the messages and the subject, "" for any."""

    chosen = Signal(object, str)

    def __init__(self, chat: Chat, message: int, parent: QWidget | None = None) -> None:
        super().__init__(parent, tr("Draft a note from messages"), (620, 440))
        self._chat = chat
        last = len(chat.messages) - 1
        message = max(0, min(message, last))
        intro = tr(
            "The messages are read for something that has no note yet. Nothing is written before you accept the draft."
        )
        self.first, self.last = (
            number_field(self, name, 0, max(0, last), value, before="#")
            for name, value in ((tr("First message"), message - USUAL + 1), (tr("Last message"), message))
        )
        for box in (self.first, self.last):
            box.setMinimumWidth(72)
        self.amount = label(self, kind="small", wrap=False)
        placeholder = tr("whatever is worth a note")
        self.focus = named(QLineEdit(self, placeholderText=placeholder), tr("What the note should be about"))
        form = QFormLayout(horizontalSpacing=12)
        to = label(self, tr("to"), wrap=False)
        form.addRow(tr("Messages"), row(self.first, to, self.last, (self.amount, 1), spacing=8))
        form.addRow(tr("About"), self.focus)
        self.passage = text_view(self, tr("The messages"))
        self.go_on = QPushButton(tr("Draft a note"), self)
        column(label(self, intro), form, (self.passage, 1), self.answers(self.go_on), of=self)
        self.first.valueChanged.connect(self._show)
        self.last.valueChanged.connect(self._show)
        self.accepted.connect(lambda: self.chosen.emit(self.numbers, self.focus.text().strip()))
        self._show()

    @property
    def numbers(self) -> tuple[int, ...]:
        """The chosen messages; hidden ones are left out when the draft is asked for."""
        return tuple(range(self.first.value(), self.last.value() + 1))

    def _show(self) -> None:
        numbers = self.numbers
        messages = [(number, self._chat.messages[number]) for number in numbers[:MOST_MESSAGES] if self._chat.messages]
        visible = [(number, message) for number, message in messages if message.scannable and message.text.strip()]
        self.passage.setPlainText(
            "\n".join(
                f"#{number}  {message.name or tr('Unknown')}: {shorten(message.text, _SHOWN)}"
                for number, message in visible
            )
        )
        problem = ""
        if not numbers:
            problem = tr("The first message comes after the last one.")
        elif len(numbers) > MOST_MESSAGES:
            problem = tr("These are too many; choose at most {most}.", most=MOST_MESSAGES)
        elif not visible:
            problem = tr("These are all hidden or empty.")
        hidden = len(messages) - len(visible)
        words = count(len(visible), "message", "messages")
        if hidden:
            words = tr("{visible}, {hidden} hidden or empty left out", visible=words, hidden=hidden)
        self.amount.setText(problem or words)
        able(self.go_on, not problem, problem)


MakeLog = Callable[[Sequence[Path]], ChangeLog]


class ProposalsFeature(Feature):
    """Opens the dialogs, and knows the notes that are locked.

    `make_log` opens the change log of these vaults, in a worker; `locks` and `records` are where the studio's list and
    the recorded answers lie.
    """

    def __init__(self, context: Context, entry: EntryPane, make_log: MakeLog, message_menu: list[str]) -> None:
        super().__init__(context)
        message_menu.append("propose.draft")
        self._entry = entry
        self.make_log = make_log
        self.locks = NoteLocks(default_locks())
        self.records = default_records()
        self._locked: frozenset[str] = frozenset()
        context.session.project_changed.connect(self.load_locks)

    def actions(self) -> Iterable[Action]:
        """What can be done."""
        now = self.context
        has_notes = now.has_project.also(self._has_notes, "Open a vault first: proposals are for notes.")
        return (
            Action(
                "propose.summaries", "Propose summaries…", "Entry/Proposals", 500, self.summaries, when=has_notes,
                icon="ai",
                tip="Have summaries proposed for notes that have none; nothing is written unless you accept it",
            ),
            Action(
                "propose.keys", "Propose keys…", "Entry/Proposals", 505, self.keys, when=now.has_entry,
                tip="Have better keys proposed for the chosen entry, with what each finds in the chat",
            ),
            Action(
                "propose.draft", "Draft a note from these messages…", "Entry/Proposals", 510, self.draft,
                when=has_notes.also(now.has_chat.met, now.has_chat.why),
                tip="Have a new note drafted from messages of the chat",
            ),
            Action(
                "entry.lock", "Lock against proposals", "Entry/Proposals", 515, self.toggle_lock,
                when=now.has_entry.also(
                    lambda: self._path(now.selection.entry) is not None, "Only a note in a folder can be locked."
                ),
                tip="Never propose anything for the chosen note", ticked=lambda: self.is_locked(now.selection.entry),
            ),
        )  # fmt: skip

    def _has_notes(self) -> bool:
        """Whether there is a vault, and not lorebooks in its place."""
        project = self.context.session.project
        return project is not None and not project.of_books

    def is_locked(self, entry: int | None) -> bool:
        """Whether the entry's note is on the studio's list."""
        path = self._path(entry)
        return path is not None and is_locked(path, self._locked)

    # ---- the dialogs ------------------------------------------------------------------------------------------------

    def summaries(self, entries: Sequence[int] | None = None) -> ProposalsDialog | None:
        """Propose summaries, for the whole vault or for these entries."""
        from lorestudio.ui.features.proposals.dialog import AGAIN
        from lorestudio.ui.features.proposals.worker import ProposalWish

        def plan(project: Project, guard: Guard, model: str, choice: str, cancel: CancelToken) -> ProposalPlan:
            chosen = None if entries is None else _entries(project, entries)
            return plan_summaries(project, chosen, guard, model=model, again=choice == AGAIN, cancel=cancel)

        return self._open(ProposalWish(ProposalKind.SUMMARY, tr("Propose summaries"), plan))

    def keys(self, entries: Sequence[int] | None = None) -> ProposalsDialog | None:
        """Propose keys for the chosen entry, or for these."""
        from lorestudio.ui.features.proposals.worker import ProposalWish

        chosen = self.context.selection.entry
        wanted = tuple(entries) if entries is not None else () if chosen is None else (chosen,)
        if not wanted:
            return None

        def plan(project: Project, guard: Guard, model: str, choice: str, cancel: CancelToken) -> ProposalPlan:
            return plan_keys(project, _entries(project, wanted), guard, mode=choice, model=model, cancel=cancel)

        return self._open(ProposalWish(ProposalKind.KEYS, tr("Propose keys"), plan))

    def draft(self) -> PassageDialog | None:
        """Ask for messages, then propose a note from them."""
        chat = self.context.session.chat
        if chat is None or not chat.messages:
            return None
        message = self.context.selection.message
        dialog = PassageDialog(chat, len(chat.messages) - 1 if message is None else message, self.context.window)
        dialog.chosen.connect(self._draft_from)
        dialog.open()
        return dialog

    def _draft_from(self, numbers: tuple[int, ...], focus: str) -> None:
        from lorestudio.ui.features.proposals.worker import ProposalWish

        def plan(project: Project, _guard: Guard, model: str, _choice: str, _cancel: CancelToken) -> ProposalPlan:
            return plan_draft(project, numbers, focus, model=model)

        self._open(ProposalWish(ProposalKind.DRAFT, tr("Draft a note"), plan))

    def _open(self, wish: ProposalWish) -> ProposalsDialog | None:
        from lorestudio.ui.features.proposals.dialog import ProposalsDialog
        from lorestudio.ui.features.proposals.worker import Tools

        project = self.context.session.project
        if project is None:
            return None
        tools = Tools(
            lambda: self.make_log(project.changed_in), self.locks, self.records, lambda: self.context.drafts.all
        )
        dialog = ProposalsDialog(self.context.session, project, wish, tools, self.context.theme, self.context.window)
        dialog.applied.connect(self._was_applied)
        dialog.finished.connect(self.load_locks)
        dialog.open()
        return dialog

    def _was_applied(self, changes: ChangeSet) -> None:
        if changes.changes:
            made = (change.place for change in changes.changes if change.before is None)
            if (draft := next(made, None)) is not None:
                self.context.place.want(draft)
            self.context.session.reading.notes_written([change.place for change in changes.changes])
            self.context.flash(changes.title)
            if not self._entry.unsaved:
                self._entry.revert()  # reads the shown note again

    # ---- locks ------------------------------------------------------------------------------------------------------

    def load_locks(self) -> None:
        """Read the list again."""
        title = tr("Reading the list of locked notes")
        failed = self.context.failing("locks", "warning")
        self.context.session.jobs.start(title, lambda _report: self.locks.load(), done=self._take_locks, failed=failed)

    def toggle_lock(self) -> None:
        """Put the chosen note on the list, or take it off; where its folder is, that."""
        entry = self.context.session.entry(self.context.selection.entry)
        path = self.context.session.note_path(entry) if entry is not None else None
        if entry is None or path is None:
            return
        holder = locked_by(path, self._locked)
        now, place = holder is None, holder or path
        name = entry.title if place.name == path.name else place.name

        def work(_job: object) -> frozenset[str]:
            self.locks.set([place], locked_now=now)
            return self.locks.load()

        def done(locked: frozenset[str]) -> None:
            self._take_locks(locked)
            told = "Nothing is proposed for {name} from now on." if now else "{name} gets proposals again."
            self.context.flash(tr(told, name=name))

        self.context.session.jobs.start(
            tr("Locking a note"), work, done=done, failed=self.context.failing("locks", "warning")
        )

    def _take_locks(self, locked: frozenset[str]) -> None:
        if locked != self._locked:
            self._locked = locked
            self.context.actions_changed()

    def _path(self, entry: int | None) -> Path | None:
        found = self.context.session.entry(entry)
        return self.context.session.note_path(found) if found is not None else None


def _entries(project: Project, ids: Sequence[int]) -> list[Entry]:
    known = project.index.entries
    return [known[entry] for entry in ids if 0 <= entry < len(known)]
