"""Live capture: the endpoint on and off, the provider's address, the two for SillyTavern, what to do, what was kept.

Everything waits in jobs.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from msgspec import Struct
from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QApplication, QCheckBox, QLabel, QLineEdit, QPushButton, QTabWidget, QWidget

from lorestudio.domain.chat import Generation
from lorestudio.domain.records import replace
from lorestudio.exchange.problems import InputError
from lorestudio.settings.studio import AttachSettings
from lorestudio.studio.attach.captures import (
    Attachment,
    Capture,
    Captures,
    arrived,
    attached,
    capture_text,
    capture_words,
    keep_attachment,
    load_attachment,
    steps,
)
from lorestudio.studio.attach.comparing import ComparedCapture, answered_words, beside_replies, captured_answers
from lorestudio.studio.attach.endpoint import Endpoint, new_token
from lorestudio.studio.project.project import Project
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.systems.registry import kind_of, system_of
from lorestudio.trace.wording import time_words
from lorestudio.ui.shell.jobs import Job, Jobs, Newest, listener_of
from lorestudio.ui.shell.theme import Theme
from lorestudio.ui.shell.words import count, number, sentence_of, tr
from lorestudio.ui.state.choices import RunChoice
from lorestudio.ui.state.session import Session
from lorestudio.ui.widgets import dialogs
from lorestudio.ui.widgets.cells import FIT, Column
from lorestudio.ui.widgets.dialogs import Dialog
from lorestudio.ui.widgets.layouts import (
    able,
    button,
    column,
    holding,
    label,
    named,
    number_field,
    row,
    scrolled,
    text_view,
)
from lorestudio.ui.widgets.pane import MessageBar, drop_all
from lorestudio.ui.widgets.record_table import RecordTable, RecordView


class KeptCaptures(Struct, frozen=True):
    """What is on the disk: settings and token, the captures without their bodies, their bytes, and what is wrong.

    `damaged` are the ids of those that cannot be read.
    """

    attachment: Attachment
    captures: tuple[Capture, ...] = ()
    size: int = 0
    problems: tuple[str, ...] = ()
    damaged: tuple[str, ...] = ()


def _look(folder: Path) -> KeptCaptures:
    store = Captures(folder)
    captures = store.list()
    damaged = set(store.ids()) - {each.id for each in captures}
    return KeptCaptures(load_attachment(folder), captures, store.size(), tuple(store.problems), tuple(damaged))


class LiveCapture(QObject):
    """`changed` follows whatever there is to see: listening or not, what came, and what is kept. `failed` has an error.

    Until `use` names a folder, nothing can be kept and so nothing listens.
    """

    changed = Signal()
    failed = Signal(object)
    _told = Signal()  # from the endpoint's thread

    def __init__(self, jobs: Jobs, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._jobs, self._newest = jobs, Newest(jobs)
        self._folder: Path | None = None
        self.endpoint: Endpoint | None = None
        self._store: Captures | None = None  # what the endpoint keeps in
        self.kept = KeptCaptures(Attachment())
        self.busy = self._closed = False
        self._told.connect(self.changed)
        self._told.connect(self.read)

    @property
    def listens(self) -> bool:
        """Whether anything can come in."""
        return self.endpoint is not None

    @property
    def ready(self) -> bool:
        """Whether there is a folder to keep captures in."""
        return self._folder is not None

    def use(self, folder: Path) -> None:
        """Keep captures, port and token in this folder."""
        self._folder = folder

    def read(self) -> None:
        """Look again at what is kept; `changed` follows."""
        folder = self._folder
        if folder is not None:
            self._newest.start(
                tr("Reading captures"), lambda _job: _look(folder), done=self._take, failed=self.failed.emit
            )

    def listen(self, provider: str, *, renew: bool = False) -> None:
        """Begin to listen between SillyTavern and the provider there; `renew`, with another port and token."""
        folder = self._folder
        if folder is None or self.listens or self.busy:
            return

        def work() -> tuple[Endpoint, Captures]:
            known = load_attachment(folder)
            settings = known.settings.model_copy(update={"provider": provider} | ({"port": 0} if renew else {}))
            store = Captures(folder, settings)
            token = new_token() if renew else known.token
            endpoint = attached(folder, Attachment(settings, token), store, self._told.emit)
            if self._closed:  # nobody hears of it any more
                endpoint.stop()
            return endpoint, store

        def done(begun: tuple[Endpoint, Captures]) -> None:
            self.endpoint, self._store = begun

        self._work(tr("Beginning to listen"), work, done)

    def end(self) -> None:
        """Listen no longer; streams end first, for some seconds at most."""
        endpoint, self.endpoint = self.endpoint, None
        if endpoint is not None:
            self._work(tr("Ending live capture"), endpoint.stop)

    def limit(self, days: int, mebibytes: int) -> None:
        """Keep captures so long, and so many of them; what is older or more is deleted at once."""
        folder = self._folder
        if folder is None:
            return
        store = self._store or Captures(folder)

        def work() -> None:
            known = load_attachment(folder)
            settings: AttachSettings = known.settings.model_copy(
                update={"keep_days": days, "keep_mebibytes": mebibytes}
            )
            keep_attachment(folder, replace(known, settings=settings))
            store.settings = settings
            store.prune()

        self._work(tr("Deleting old captures"), work)

    def delete(self, ids: Sequence[str]) -> None:
        """Delete these captures for good."""
        self._with_store(tr("Deleting captures"), lambda store: store.delete(ids))

    def redact(self, ids: Sequence[str]) -> None:
        """Mask every letter and digit of their texts for good."""
        self._with_store(tr("Redacting captures"), lambda store: [store.redact(each) for each in ids])

    def whole(self, name: str, done: Callable[[Capture], object]) -> None:
        """Read a capture with its bodies."""
        folder = self._folder
        if folder is not None:
            self._jobs.start(
                tr("Reading a capture"), lambda _job: Captures(folder).read(name), done=done, failed=self.failed.emit
            )

    def compare(
        self,
        project: Project,
        choice: RunChoice,
        done: Callable[[tuple[ComparedCapture, ...], str], object],
        *,
        keep: bool,
    ) -> None:
        """Find the reply that each capture made, and hold its lore against the run of that turn by what is chosen.

        With `keep` the captures answer AI selection, and that is recorded beside the chat. Asks nobody else.
        """
        folder, path = self._folder, project.chat_path
        if folder is None:
            return

        def work(_job: Job) -> tuple[tuple[ComparedCapture, ...], str]:
            store = Captures(folder)
            kept = store.list(whole=True)
            kind = kind_of(choice.system)
            answers = captured_answers(kept, path, kind) if keep and path is not None else ()
            simulator = Simulator(
                project, system_of(project.scene(*answers), kind, choice.settings).with_made_vectors()
            )
            found = asyncio.run(beside_replies(simulator, kept, whole=keep))
            return found, " ".join((*[answered_words(simulator.traces.values())] * keep, *store.problems))

        text = tr("Comparing captures with the chat")
        owner = listener_of(done)  # a dialog, which may be closed by then
        self._jobs.start(text, work, done=lambda made: done(*made), failed=self.failed.emit, owner=owner)

    def close(self) -> None:
        """Listen no longer; waits until it is so. For the end of the window."""
        self._closed = True
        endpoint, self.endpoint = self.endpoint, None
        if endpoint is not None:
            endpoint.stop()

    def _with_store(self, title: str, work: Callable[[Captures], object]) -> None:
        folder = self._folder
        if folder is not None:
            self._work(title, lambda: work(Captures(folder)))

    def _work(self, title: str, work: Callable[[], object], done: Callable[..., object] = lambda _none: None) -> None:
        def ended() -> None:
            self.busy = False
            self.changed.emit()
            self.read()

        self.busy = True
        self.changed.emit()
        self._jobs.start(title, lambda _job: work(), done=done, failed=self.failed.emit, ended=ended, owner=self)

    def _take(self, kept: KeptCaptures) -> None:
        self.kept = kept
        self.changed.emit()


class LiveCaptureDialog(Dialog):
    """Listening goes on when it is closed. `wanted` carries the reply that a capture made."""

    wanted = Signal(object)

    def __init__(self, theme: Theme, live: LiveCapture, session: Session, parent: QWidget) -> None:
        super().__init__(parent, tr("Live capture"), (760, 520))
        self._session, self._found = session, dict[str, ComparedCapture]()
        self._theme, self._live, self._shown_steps = theme, live, tuple[str, ...]()
        self._problems = tuple[str, ...]()
        self.bar = MessageBar(theme, self)
        self.bar.pressed.connect(lambda _button: self._ask_delete(live.kept.damaged))
        self.tabs = named(QTabWidget(self), tr("Listening and captures"))
        self.tabs.addTab(self._listen_page(), tr("Listen"))
        self.tabs.addTab(self._captures_page(), tr("Captures"))
        column(self.bar, (self.tabs, 1), row(1, button(self, tr("Close"), self.reject)), of=self)
        live.changed.connect(self._show)
        live.failed.connect(self._refuse)
        self._show()
        live.read()
        self.provider.setFocus()

    def _listen_page(self) -> QWidget:
        intro = tr(
            "The studio stands between SillyTavern and its provider: every byte goes on unchanged, and the real "
            "prompts are kept, on this computer and for you alone. Keys pass through and are never kept. Nothing "
            "listens unless you switch it on here."
        )
        self.provider = named(QLineEdit(self, placeholderText="https://openrouter.ai/api/v1"), tr("Provider's address"))
        self.provider.returnPressed.connect(self._switch)
        self.switch = named(QPushButton(tr("Listen"), self, autoDefault=False), "", kind="primary")
        self.switch.clicked.connect(self._switch)
        tip = tr("Another port and another word in the path: the addresses from before lead nowhere")
        self.renew = button(self, tr("New addresses"), partial(self._begin, renew=True), tip=tip)
        self.state = named(label(self, kind="strong"), tr("State"))
        self.address, self.auxiliary = self._line(tr("Main address")), self._line(tr("Second address"))
        self._steps = column(spacing=6)
        of_chat = row(self._name(tr("For the chat")), (self.address, 1), self._copy(self.address))
        of_search = row(self._name(tr("For AI search")), (self.auxiliary, 1), self._copy(self.auxiliary))
        there = label(self, tr("In SillyTavern"), "title")
        self.addresses = holding(column(of_chat, of_search, there, self._steps, 1, margins=(0, 4, 6, 0)))
        provider = row(self._name(tr("Provider")), (self.provider, 1), self.switch, self.renew)
        below = scrolled(self.addresses, tr("Addresses"))
        head = label(self, intro, "muted")
        return holding(column(head, provider, self.state, (below, 1), margins=(12, 10, 12, 8)))

    def _captures_page(self) -> QWidget:
        self.model = RecordTable(self._columns(), key=lambda each: each.id, theme=self._theme, parent=self)
        self.list = RecordView(self._theme, self.model, tr("Captures"), self, many=True)
        self.list.pressed.connect(lambda _row: self._open())
        self.list.chosen.connect(lambda _row: self._settle())
        self.total = label(self, kind="small")
        self.open_button = button(self, tr("Show"), self._open)
        tip = tr("Find the reply that each prompt made, and hold its lore against the run of that turn")
        self.compare = button(self, tr("Compare with the chat"), self._compare, tip=tip)
        tip = tr("AI selection is answered from the captures, and that is recorded beside the chat")
        self.keep_answers = named(QCheckBox(tr("Keep the model's choices"), self), "", tip=tip)
        self.go = button(self, tr("Go to the reply"), self._go)
        self.redact = button(self, tr("Redact…"), self._ask_redact, tip=tr("Mask every letter and digit for good"))
        self.delete = button(self, tr("Delete…"), self._ask_delete)
        self.days = number_field(self, tr("Days that captures are kept"), 1, 3650)
        self.room = number_field(self, tr("Room for captures in MiB"), 1, 100_000)
        for field in (self.days, self.room):
            field.editingFinished.connect(self._limit)
        keep = row(
            label(self, tr("Keep"), wrap=False), self.days, label(self, tr("days, up to"), wrap=False), self.room,
            label(self, tr("MiB"), wrap=False), 1,
        )  # fmt: skip
        look = row(self.compare, self.keep_answers, 1, self.go, self.open_button)
        drop = row(self.redact, self.delete, 1, keep)
        return holding(column((self.list, 1), self.total, look, drop, margins=(12, 10, 12, 8)))

    def _columns(self) -> tuple[Column, ...]:
        """What is told of a capture; once it is known which reply it made, that and its lore, not where it went."""
        told = (
            Column("When", lambda each: time_words(each.started_ms), width=FIT),
            Column("Asked", lambda each: each.path, width=200, tip=lambda each: each.path),
            Column("What came", _came, tip=_came),
        )
        if not self._found:
            return told
        found = self._found
        return (
            told[0],
            Column("Made", lambda each: found[each.id].made if each.id in found else "", width=FIT,
                   tip=lambda each: found[each.id].because if each.id in found else ""),
            Column("Lore in the prompt and in the run",
                   lambda each: found[each.id].short if each.id in found else "",
                   tip=lambda each: "\n".join(found[each.id].lore) if each.id in found else "", width=240),
            told[2],
        )  # fmt: skip

    def _name(self, text: str) -> QLabel:
        made = label(self, text, wrap=False)
        made.setMinimumWidth(96)
        return made

    def _line(self, name: str) -> QLineEdit:
        return named(QLineEdit(self, readOnly=True), name)

    def _copy(self, line: QLineEdit) -> QPushButton:
        def copy() -> None:
            QApplication.clipboard().setText(line.text())

        return button(self, tr("Copy"), copy, name=tr("Copy: {what}", what=line.accessibleName()))

    # ---- showing ----------------------------------------------------------------------------------------------------

    def _show(self) -> None:
        live, endpoint = self._live, self._live.endpoint
        settings = live.kept.attachment.settings
        if endpoint is not None or not self.provider.isModified():
            self.provider.setText(endpoint.provider if endpoint is not None else settings.provider)
        self.provider.setReadOnly(live.listens)
        self.switch.setText(tr("Stop") if live.listens else tr("Listen"))
        able(self.switch, live.ready and not live.busy, tr("Wait until the work under way has ended."))
        self.renew.setVisible(not live.listens)
        able(self.renew, live.ready and not live.busy, tr("Wait until the work under way has ended."))
        self.addresses.setVisible(endpoint is not None)
        if endpoint is None:
            self.state.setText(tr("Nothing listens.") if live.ready else tr("This window keeps nothing, so it cannot."))
        else:
            self.state.setText(arrived(endpoint))
            self.address.setText(endpoint.address)
            self.auxiliary.setText(endpoint.auxiliary)
            self._show_steps(steps(endpoint))
        for field, value in ((self.days, settings.keep_days), (self.room, settings.keep_mebibytes)):
            if not field.hasFocus():
                field.setValue(value)
        if self.model.rows != live.kept.captures:
            self.model.set_rows(live.kept.captures)
        amount = len(live.kept.captures)
        self.tabs.setTabText(1, tr("Captures ({amount})", amount=number(amount)) if amount else tr("Captures"))
        held = count(amount, "capture", "captures")
        self.total.setText(tr("{held}, {size} MiB.", held=held, size=f"{live.kept.size / 2**20:.1f}"))
        if live.kept.problems != self._problems:
            self._problems = live.kept.problems
            self.bar.say("\n".join(self._problems), "warning", (("delete", tr("Delete what cannot be read")),))
            self.bar.setVisible(bool(self._problems))
        self._settle()

    def _show_steps(self, wanted: tuple[str, ...]) -> None:
        if wanted != self._shown_steps:
            self._shown_steps = wanted
            drop_all(self._steps)
            for place, step in enumerate(wanted, 1):
                self._steps.addWidget(label(self, f"{place}. {step}", selectable=True))

    def _settle(self) -> None:
        chosen, first = self._chosen(), tr("Choose one capture first.")
        busy = tr("Wait until the work under way has ended.") if self._live.busy else ""
        may = self._session.chat is not None and bool(self.model.rows) and not self._live.busy
        able(self.compare, may, busy or tr("Open a chat, and capture a request first."))
        able(self.keep_answers, self.compare.isEnabled(), busy or tr("Open a chat, and capture a request first."))
        nowhere = first if len(chosen) != 1 else tr("No reply of the open chat is known for it.")
        able(self.go, len(chosen) == 1 and self._reply_of(chosen[0]) is not None, nowhere)
        able(self.open_button, len(chosen) == 1, first)
        may = any(not each.redacted for each in chosen) and not self._live.busy
        able(self.redact, may, busy or tr("Choose a capture that is not redacted yet."))
        able(self.delete, bool(chosen) and not self._live.busy, busy or first)

    def _refuse(self, error: Exception) -> None:
        text = error.message if isinstance(error, InputError) else sentence_of(error)
        self.bar.say(text[:1].upper() + text[1:], "error")
        self._settle()

    # ---- what can be done -------------------------------------------------------------------------------------------

    def _switch(self) -> None:
        if self._live.listens:
            self.bar.hide()
            self._live.end()
        else:
            self._begin()

    def _begin(self, *, renew: bool = False) -> None:
        self.bar.hide()
        self.provider.setModified(True)  # it stays where it is no address
        self._live.listen(self.provider.text(), renew=renew)

    def _limit(self) -> None:
        settings = self._live.kept.attachment.settings
        if (self.days.value(), self.room.value()) != (settings.keep_days, settings.keep_mebibytes):
            self._live.limit(self.days.value(), self.room.value())

    def _chosen(self) -> list[Capture]:
        return [self.model.row(place) for place in self.list.selected_places()]

    def _open(self) -> None:
        chosen = self._chosen()
        if chosen:
            found = self._found.get(chosen[0].id)
            self._live.whole(chosen[0].id, lambda capture: CaptureDialog(capture, found, self).open())

    def _compare(self) -> None:
        project, choice = self._session.project, self._session.choice
        if project is not None:
            self.bar.hide()
            able(self.compare, False, tr("Wait until the work under way has ended."))
            self._live.compare(project, choice, self._compared, keep=self.keep_answers.isChecked())

    def _compared(self, found: Sequence[ComparedCapture], answered: str) -> None:
        self._found = {each.matched.capture.id: each for each in reversed(found)}  # of several replies, the first
        self.model.set_rows(self._live.kept.captures, self._columns())
        turns = [each.turn for each in found if each.turn is not None]
        same = sum(each.agrees for each in turns)
        text = tr(
            "{captures}: {replies} of replies in this chat, {same} with the same lore as the run.",
            captures=count(len(self._found), "capture", "captures"),
            replies=number(len(turns)),
            same=number(same),
        )
        text = " ".join(filter(None, (text, answered)))
        self.bar.say(text, "good" if turns and same == len(turns) else "neutral")

    def _reply_of(self, capture: Capture) -> Generation | None:
        found = self._found.get(capture.id)
        return None if found is None or found.turn is None else found.matched.generation

    def _go(self) -> None:
        [chosen] = self._chosen()
        self.wanted.emit(self._reply_of(chosen))
        self.reject()

    def _ask_redact(self) -> None:
        text = tr("Every letter and digit of their texts is masked. What was asked and how long stays.")
        self._ask(tr("Redact"), text, self._live.redact)

    def _ask_delete(self, ids: Sequence[str] = ()) -> None:
        self._ask(tr("Delete"), tr("They cannot be brought back."), self._live.delete, ids)

    def _ask(self, what: str, more: str, do: Callable[[Sequence[str]], None], ids: Sequence[str] = ()) -> None:
        ids = ids or [each.id for each in self._chosen()]
        title = tr("{what} {captures}?", what=what, captures=count(len(ids), "capture", "captures"))
        dialogs.confirm(self, what, title, what, partial(do, ids), more)


def _came(capture: Capture) -> str:
    return f"{tr('redacted')} · {capture_words(capture)}" if capture.redacted else capture_words(capture)


class CaptureDialog(Dialog):
    """A captured prompt message by message, and the answer."""

    def __init__(self, capture: Capture, found: ComparedCapture | None, parent: QWidget) -> None:
        super().__init__(parent, tr("Capture of {when}", when=time_words(capture.started_ms)), (720, 520))
        self.text = text_view(self, tr("The prompt and the answer"))
        self.text.setPlainText("\n\n".join(filter(None, (_comparison_text(found), capture_text(capture)))))
        head = label(self, f"{capture.path} · {_came(capture)}", "muted")
        column(head, (self.text, 1), row(1, button(self, tr("Close"), self.reject)), of=self)


def _comparison_text(found: ComparedCapture | None) -> str:
    """The reply that it made and why, how its lore differs from the run, and where each entry stands."""
    if found is None:
        return ""
    unknown = found.turn.unknown if found.turn is not None else ()
    blocks = (
        (tr("made"), [found.made, found.because]),
        (tr("the prompt and the run"), found.lore),
        (tr("where its entries stand"), found.places),
        (tr("lines from nowhere known"), [f"{place + 1}: {line}" for place, line in unknown]),
    )
    return "\n\n".join(f"--- {head}\n" + "\n".join(filter(None, lines)) for head, lines in blocks if any(lines))
