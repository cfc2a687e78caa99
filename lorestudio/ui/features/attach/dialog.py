"""Live capture: the provider's address, the two addresses for SillyTavern, what to do there, and what was kept."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QApplication,
    QCheckBox,
    QDialog,
    QLabel,
    QLineEdit,
    QPushButton,
    QSpinBox,
    QTabWidget,
    QWidget,
)

from lorestudio.domain.chat import Generation
from lorestudio.exchange.problems import InputError
from lorestudio.studio.attach.attaching import arrived, steps
from lorestudio.studio.attach.captures import Capture, capture_words, time_words
from lorestudio.studio.attach.comparing import ComparedCapture
from lorestudio.ui.features.attach.live import LiveCapture
from lorestudio.ui.shell.theme import Theme
from lorestudio.ui.shell.words import count, number, sentence_of, tr
from lorestudio.ui.state.session import Session
from lorestudio.ui.widgets import dialogs
from lorestudio.ui.widgets.bars import MessageBar
from lorestudio.ui.widgets.cells import FIT, Column
from lorestudio.ui.widgets.layouts import (
    button,
    column,
    holding,
    label,
    named,
    resize_for_letters,
    row,
    scrolled,
    text_view,
)
from lorestudio.ui.widgets.pane import drop_all
from lorestudio.ui.widgets.record_table import RecordTable, RecordView


class LiveCaptureDialog(QDialog):
    """Listening goes on when it is closed. `wanted` carries the reply that a capture made."""

    wanted = Signal(object)

    def __init__(self, theme: Theme, live: LiveCapture, session: Session, parent: QWidget) -> None:
        super().__init__(parent)
        self._session, self._found = session, dict[str, ComparedCapture]()
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(tr("Live capture"))
        self._theme, self._live, self._shown_steps = theme, live, tuple[str, ...]()
        self._typed = False
        self.bar = MessageBar(theme, self)
        self.bar.closed.connect(self.bar.hide)
        self.tabs = named(QTabWidget(self), tr("Listening and captures"))
        self.tabs.addTab(self._listen_page(), tr("Listen"))
        self.tabs.addTab(self._captures_page(), tr("Captures"))
        column(self.bar, (self.tabs, 1), row(1, button(self, tr("Close"), self.reject)), of=self)
        live.changed.connect(self._show)
        live.failed.connect(self._refuse)
        resize_for_letters(self, 760, 520)
        self._show()
        live.read()
        self.provider.setFocus()

    # ---- building ---------------------------------------------------------------------------------------------------

    def _listen_page(self) -> QWidget:
        intro = tr(
            "The studio stands between SillyTavern and its provider: every byte goes on unchanged, and the real "
            "prompts are kept, on this computer and for you alone. Keys pass through and are never kept. Nothing "
            "listens unless you switch it on here."
        )
        self.provider = named(QLineEdit(self, placeholderText="https://openrouter.ai/api/v1"), tr("Provider's address"))
        self.provider.textEdited.connect(self._type)
        self.provider.returnPressed.connect(self._switch)
        self.switch = named(QPushButton(tr("Listen"), self, autoDefault=False), "", kind="primary")
        self.switch.clicked.connect(self._switch)
        tip = tr("Another port and another word in the path: the addresses from before lead nowhere")
        self.renew = button(self, tr("New addresses"), partial(self._begin, renew=True), tip=tip)
        self.state = named(label(self, kind="strong"), tr("State"))
        self.address, self.auxiliary = self._line(tr("Main address")), self._line(tr("Second address"))
        self._steps = column(spacing=6)
        self.addresses = holding(
            column(
                row(self._name(tr("For the chat")), (self.address, 1), self._copy(self.address)),
                row(self._name(tr("For AI search")), (self.auxiliary, 1), self._copy(self.auxiliary)),
                label(self, tr("In SillyTavern"), "title"),
                self._steps,
                1,
                margins=(0, 4, 6, 0),
            )
        )
        return holding(
            column(
                label(self, intro, "muted"),
                row(self._name(tr("Provider")), (self.provider, 1), self.switch, self.renew),
                self.state,
                (scrolled(self.addresses), 1),
                margins=(12, 10, 12, 8),
            )
        )

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
        self.days, self.room = QSpinBox(self, minimum=1, maximum=3650), QSpinBox(self, minimum=1, maximum=100_000)
        for field, name in (
            (self.days, tr("Days that captures are kept")),
            (self.room, tr("Room for captures in MiB")),
        ):
            named(field, name).editingFinished.connect(self._limit)
        keep = row(
            label(self, tr("Keep"), wrap=False), self.days, label(self, tr("days, up to"), wrap=False), self.room,
            label(self, tr("MiB"), wrap=False), 1,
        )  # fmt: skip
        return holding(
            column(
                (self.list, 1),
                self.total,
                row(self.compare, self.keep_answers, 1, self.go, self.open_button),
                row(self.redact, self.delete, 1, keep),
                margins=(12, 10, 12, 8),
            )
        )

    def _columns(self) -> tuple[Column, ...]:
        """What is told of a capture: also the reply that it made and its lore, once that is known."""
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
                   tip=lambda each: "\n".join(found[each.id].lore) if each.id in found else ""),
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
        if not self._typed and not self.provider.hasFocus():
            self.provider.setText(endpoint.provider if endpoint is not None else settings.provider)
        if not self.provider.text() and not self._typed:
            self.provider.setText(settings.provider)
        self.provider.setReadOnly(live.listens)
        self.switch.setText(tr("Stop") if live.listens else tr("Listen"))
        self.switch.setEnabled(live.ready and not live.busy)
        self.renew.setVisible(not live.listens)
        self.renew.setEnabled(live.ready and not live.busy)
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
        self.tabs.setTabText(1, tr("Captures · {amount}", amount=number(amount)) if amount else tr("Captures"))
        held = count(amount, "capture", "captures")
        self.total.setText(tr("{held}, {size} MiB.", held=held, size=f"{live.kept.size / 2**20:.1f}"))
        if live.kept.problems:
            self.bar.say("\n".join(live.kept.problems), "warning")
        self._settle()

    def _show_steps(self, wanted: tuple[str, ...]) -> None:
        if wanted != self._shown_steps:
            self._shown_steps = wanted
            drop_all(self._steps)
            for place, step in enumerate(wanted, 1):
                self._steps.addWidget(label(self, f"{place}. {step}", selectable=True))

    def _settle(self) -> None:
        chosen, project = self._chosen(), self._session.project
        has_chat = project is not None and project.chat is not None
        self.compare.setEnabled(has_chat and bool(self.model.rows) and not self._live.busy)
        self.keep_answers.setEnabled(self.compare.isEnabled())
        self.go.setEnabled(len(chosen) == 1 and self._reply_of(chosen[0]) is not None)
        self.open_button.setEnabled(len(chosen) == 1)
        self.redact.setEnabled(any(not each.redacted for each in chosen) and not self._live.busy)
        self.delete.setEnabled(bool(chosen) and not self._live.busy)

    def _refuse(self, error: Exception) -> None:
        text = error.message if isinstance(error, InputError) else sentence_of(error)
        self.bar.say(text[:1].upper() + text[1:], "error")
        self._settle()

    # ---- what can be done -------------------------------------------------------------------------------------------

    def _type(self) -> None:
        self._typed = True

    def _switch(self) -> None:
        if self._live.listens:
            self.bar.hide()
            self._live.end()
        else:
            self._begin()

    def _begin(self, *, renew: bool = False) -> None:
        self.bar.hide()
        self._typed = False
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
            self.compare.setEnabled(False)
            self._live.compare(project, choice, self._compared, keep=self.keep_answers.isChecked())

    def _compared(self, found: Sequence[ComparedCapture]) -> None:
        self._found = {each.matched.capture.id: each for each in found}
        self.model.set_rows(self._live.kept.captures, self._columns())
        turns = [each.turn for each in found if each.turn is not None]
        text = tr(
            "{captures}: {replies} of replies in this chat, {same} with the same lore as the run.",
            captures=count(len(found), "capture", "captures"),
            replies=number(len(turns)),
            same=number(sum(each.agrees for each in turns)),
        )
        self.bar.say(text, "good")
        self._settle()

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

    def _ask_delete(self) -> None:
        self._ask(tr("Delete"), tr("They cannot be brought back."), self._live.delete)

    def _ask(self, what: str, more: str, do: Callable[[list[str]], None]) -> None:
        ids = [each.id for each in self._chosen()]
        title = tr("{what} {captures}?", what=what, captures=count(len(ids), "capture", "captures"))
        dialogs.confirm(self, what, title, what, partial(do, ids), more)


def _came(capture: Capture) -> str:
    return f"{tr('redacted')} · {capture_words(capture)}" if capture.redacted else capture_words(capture)


class CaptureDialog(QDialog):
    """A captured prompt message by message, and the answer."""

    def __init__(self, capture: Capture, found: ComparedCapture | None, parent: QWidget) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(tr("Capture of {when}", when=time_words(capture.started_ms)))
        self.text = text_view(self, tr("The prompt and the answer"))
        self.text.setPlainText("\n\n".join(filter(None, (_comparison_text(found), capture_text(capture)))))
        head = label(self, f"{capture.path} · {_came(capture)}", "muted")
        column(head, (self.text, 1), row(1, button(self, tr("Close"), self.reject)), of=self)
        resize_for_letters(self, 720, 520)


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


def capture_text(capture: Capture) -> str:
    """The messages and the answers, each under a line that says whose it is."""
    try:
        messages = capture.prompt.messages
    except ValueError as error:
        return tr("The request cannot be read as a prompt ({error}).", error=error)
    parts = [f"--- {place} / {len(messages)}: {each.role}\n{each.text}" for place, each in enumerate(messages, 1)]
    return "\n\n".join([*parts, *(f"--- {tr('answer')}\n{text}" for text in capture.replies)])
