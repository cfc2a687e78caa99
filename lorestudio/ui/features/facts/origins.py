"""Where memories come from: the chat's passages, what became of a memory since its first fact, and one memory to edit.

Of passages it is told which are kept, which wait, and why one failed. A memory has text, tags and a pin.
"""

from __future__ import annotations

from operator import attrgetter, itemgetter
from typing import Final

from msgspec import Struct
from PySide6.QtCore import Signal
from PySide6.QtWidgets import QCheckBox, QLineEdit, QTabWidget, QWidget

from lorestudio.domain.texts import shorten
from lorestudio.systems.facts.picture import FactsPicture, MemoryRow, PassageRow, Provenance
from lorestudio.systems.facts.records import ExtractionRun, FactAction, FactDecision, Memory, counts_words
from lorestudio.ui.features.facts.table import day_words
from lorestudio.ui.shell.theme import Theme
from lorestudio.ui.shell.words import count, tr, with_full_stop
from lorestudio.ui.widgets.cells import Column, state_column
from lorestudio.ui.widgets.layouts import able, column, holding, label, named, row, show_words, small_button
from lorestudio.ui.widgets.record_table import RecordTable, RecordView
from lorestudio.ui.widgets.work_pane import KeyedText, RowsPage

STATES: Final = {
    "active": "active: it is being read, or reading it was broken off",
    "cooling": "cooling: it is silent, and its facts are not drawn out yet",
    "dormant": "dormant: its facts are kept",
    "closed": "closed: its facts are kept, and it is over for good",
}
"""What the states of a passage mean."""

_ACTIONS: Final = {
    FactAction.SAVE: ("New", "plus", "good"),
    FactAction.SUPERSEDE: ("Newer words", "pencil", "accent"),
    FactAction.SKIP: ("Known already", "dash", "text_muted"),
}


class _Row(Struct, frozen=True):
    decision: FactDecision
    own: bool
    run: ExtractionRun | None = None


class HistoryPage(QWidget):
    """Shows a memory's past. `messages_wanted` and `run_wanted` follow its buttons, `picked` carries another's id."""

    messages_wanted = Signal()
    run_wanted = Signal()
    picked = Signal(str)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.words = label(self, kind="small", selectable=True)
        self.messages = small_button(
            self, tr("Its messages"), tr("Go to the messages in the chat (M)"), self.messages_wanted
        )
        run_tip = tr("What fact memory did with it before the reply that you look at (T)")
        self.in_run = small_button(self, tr("In the run"), run_tip, self.run_wanted)
        columns = (
            state_column("Fact", _what, 112),
            Column("Similarity", _similarity, numeric=True, spoken=_spoken, width=68),
            Column("Text", lambda row: shorten(row.decision.fact, 200), tone=_tone),
        )
        self.model = RecordTable(columns, theme=theme, tip=lambda row, _column: _tip(row), parent=self)
        self.view = RecordView(theme, self.model, tr("Facts that were compared"), self)
        self.view.setMinimumHeight(50)
        buttons = row(self.messages, self.in_run, 1, spacing=6)
        column(self.words, buttons, (self.view, 1), of=self, spacing=4, margins=(8, 6, 8, 6))
        self.view.pressed.connect(self._press)
        self.show_past(None)

    def show_memory(self, memory: Memory | None, *, own: bool, in_run: bool) -> None:
        """Say which messages it came from; `own` says that they are of the open chat."""
        first = "" if memory is not None else tr("Choose a memory first.")
        able(self.messages, own, first or tr("It came from another chat."))
        able(self.in_run, in_run, first or tr("Choose a reply that fact memory was run for."))
        where = _where(memory) if memory is not None else ""
        self.messages.setText(tr("Messages {where}", where=where) if where else tr("Its messages"))

    def show_past(self, past: Provenance | None, *, loading: bool = False) -> None:
        """Show what is known, or that it is being looked up."""
        self.model.set_rows(_rows(past) if past is not None else ())
        self.view.setVisible(bool(self.model.rows))
        if past is None:
            self.words.setText(tr("Looking it up…") if loading else tr("Choose a memory to see where it came from."))
        else:
            self.words.setText(" ".join(_sentences(past)))

    def _press(self, pressed: _Row) -> None:
        if pressed.decision.memory:
            self.picked.emit(pressed.decision.memory)


def _rows(past: Provenance) -> list[_Row]:
    own = [_Row(each.decision, True, each.run) for each in past.happenings]
    return own + [_Row(decision, False, past.run) for decision in past.others]


def _sentences(past: Provenance) -> list[str]:
    told = [_origin(past.memory)]
    thread = past.thread
    if thread is not None:
        state = tr(STATES.get(str(thread.state), str(thread.state)))
        told.append(tr("Its passage is {state}.", state=state))
    run = past.run
    if run is not None:
        told.append(tr("Run of {day} by {who}: {counts}.", day=day_words(run.at) or tr("an unknown day"),
                       who=run.model or tr("somebody"), counts=counts_words(run.counters)))  # fmt: skip
    if past.edited:
        told.append(tr("Its text was written by hand since."))
    if run is not None and not past.happenings:
        told.append(tr("It is from before it was kept what became of each fact."))
    return told


def _origin(memory: Memory) -> str:
    source = tr("Somebody said it") if memory.source == "confirmed" else tr("It was inferred")
    where = _where(memory)
    if not where:
        return tr("{source}.", source=source)
    return tr("{source} in messages {where} of {chat}.", source=source, where=where, chat=memory.origin.chat)


def _where(memory: Memory) -> str:
    origin = memory.origin
    if origin.first is None or origin.last is None:
        return ""
    return tr("#{first} to #{last}", first=origin.first, last=origin.last)


def _what(row: _Row) -> tuple[str, str, str, str]:
    words, icon, ink = _ACTIONS[row.decision.action]
    return words if row.own else tr("{what} (same run)", what=tr(words)), icon, ink, _tone(row)


def _tone(row: _Row) -> str:
    return "" if row.own else "text_muted"


def _similarity(row: _Row) -> str:
    return "" if row.decision.similarity is None else f"{row.decision.similarity:.3f}"


def _spoken(row: _Row) -> str:
    near = row.decision
    if near.similarity is None:
        return tr("nothing to compare with")
    return tr("similarity {score} to: {near}", score=f"{near.similarity:.3f}", near=near.neighbour_text)


def _tip(row: _Row) -> str:
    told = [row.decision.fact]
    if row.decision.similarity is not None:
        near = tr("Nearest, similarity {score}: {near}", score=f"{row.decision.similarity:.3f}",
                  near=row.decision.neighbour_text)  # fmt: skip
        told.append(near)
    if row.run is not None:
        told.append(tr("Run of {day}, {who}", day=day_words(row.run.at), who=row.run.model))
    if not row.own and row.decision.memory:
        told.append(tr("Enter shows that memory."))
    return "\n\n".join(told)


_KEPT: Final = {"dormant": "Kept", "closed": "Kept, closed"}


class PassagePage(RowsPage):
    """`wanted` carries the key of a passage to be read and whether it was read already, `jump` its first message."""

    wanted = Signal(str, bool)
    jump = Signal(int)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        self._reading = ""
        self._busy = False
        columns = (
            Column("Messages", lambda row: tr("#{first} to #{last}", first=row.first, last=row.last), width=104),
            state_column("State", self._state, 124),
            Column("Memories", lambda row: str(row.memories) if row.state else "", numeric=True, width=74),
            Column("Ended", lambda row: day_words(row.ended)),
        )
        super().__init__(
            theme, columns, attrgetter("key"), _passage_tip, tr("Passages of the chat"), parent, halved=False
        )
        self.setAccessibleName(tr("Passages"))
        self.read = self.row_button(
            tr("Draw out its facts"), tr("Read this passage only"),
            lambda row: self.wanted.emit(row.key, not row.waiting),
        )  # fmt: skip
        self.show_messages = self.row_button(tr("Show in the chat"), tr("Go to its first message (Enter)"), self._go)
        self.add_row(self.read, self.show_messages)
        self.table.chosen.connect(self._show)
        self.table.pressed.connect(self._go)
        self._show(None)

    def show_picture(self, picture: FactsPicture | None, *, chat_known: bool, chat: bool) -> None:
        """Show the passages of the chat."""
        self.model.set_rows(picture.passages if picture is not None else ())
        if picture is None:
            self.empty.say(tr("Reading the memories…"), "")
        elif not chat:
            text = tr("Open a chat: it is read in passages, each up to a long silence.")
            self.empty.say(tr("No chat open"), text, (("chat.open", tr("Open chat…")),))
        elif not chat_known:
            text = tr("Memories are known by the name of their chat's file. Save the chat first.")
            self.empty.say(tr("The chat is in no file yet"), text, (("chat.save", tr("Save chat")),))
        else:
            self.empty.say(tr("Nothing to read"), tr("The chat has no messages that are read."))

    def show_work(self, passage: str, *, busy: bool) -> None:
        """Show which passage is being read."""
        if (passage, busy) != (self._reading, self._busy):
            self._reading, self._busy = passage, busy
            self.model.touch_all()

    def _go(self, row: PassageRow) -> None:
        self.jump.emit(row.first)

    def _show(self, row: PassageRow | None) -> None:
        first = "" if row is not None else tr("Choose a passage first.")
        busy = tr("Facts are being drawn out already: wait for them, or stop that first.") if self._busy else ""
        waits = row is not None and (row.waiting or bool(row.problem))
        able(
            self.read, waits and not self._busy, first or busy or tr("Its facts are kept, and its messages unchanged.")
        )
        able(self.show_messages, row is not None, first)
        self.say(_passage_tip(row) if row is not None else tr("Choose a passage to read what became of it."))

    def _state(self, row: PassageRow) -> tuple[str, str, str, str]:
        if row.key == self._reading:
            return "Reading…", "play", "accent", ""
        if row.failures:
            return "Failed", "error", "error", "error"
        if row.changed:
            return "Edited since", "pencil", "warning", ""
        if row.waiting:
            return "Waiting", "dash", "text_faint", ""
        if row.problem:
            return "Without facts", "warning", "warning", ""
        return _KEPT.get(row.state, row.state), "check", "good", ""


def _passage_tip(row: PassageRow) -> str:
    told = [tr("Messages #{first} to #{last}.", first=row.first, last=row.last)]
    why = with_full_stop(shorten(row.problem, 300)) if row.problem else ""
    if row.failures:
        times = count(row.failures, "attempt", "attempts")
        told.append(tr("{times} failed: {why}", times=times, why=why or tr("it is not known why.")))
        told.append(tr("Nothing of it is kept. Look at the provider, or choose another one; then draw it out again."))
    elif row.changed:
        told.append(tr("Its messages, or their swipes, are others since its facts were kept; it will be read again."))
        if row.memories:
            memories = count(row.memories, "memory", "memories")
            told.append(tr("{memories} came from it as it was; reading it again takes none away.", memories=memories))
    elif row.waiting and row.state:
        told.append(tr("Reading it was broken off; it will be read again."))
    elif row.waiting:
        told.append(tr("Its facts are not drawn out yet."))
    elif why:
        told.append(tr("No facts came of it: {why} It counts as read, and can be read again.", why=why))
    else:
        told.append(tr("It is {state}.", state=tr(STATES.get(row.state, row.state))))
        told.append(tr("{memories} came from it.", memories=count(row.memories, "memory", "memories")))
    return " ".join(told)


class ProfilePage(RowsPage):
    """The fields that rules have filled; the chosen one is told in full."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        columns = (Column("Field", itemgetter(0), width=130), Column("Holds", itemgetter(1)))
        super().__init__(theme, columns, itemgetter(0), ": ".join, tr("Fields of the profile"), parent, halved=False)
        self.setAccessibleName(tr("Profile"))
        text = tr(
            "Rules put readings and lists into a profile: “Rules for the profile” in the settings of fact memory."
        )
        self.empty.say(tr("No profile"), text, (("memories.settings", tr("Settings of fact memory")),))
        self.table.chosen.connect(lambda field: self.say(": ".join(field or ())))

    def show_picture(self, picture: FactsPicture | None) -> None:
        """Show an owner's profile."""
        self.model.set_rows(picture.profile if picture is not None else ())


class MemoryDetail(QTabWidget):
    """`written` carries a memory and another text for it, `tagged` a memory and its tags, `pinned` and whether it is.

    `past_wanted` asks for where the memory came from; `left` follows Escape.
    """

    written = Signal(object, str)
    tagged = Signal(object, list)
    pinned = Signal(object, bool)
    deleted = Signal()
    past_wanted = Signal(object)
    left = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._row: MemoryRow | None = None
        self._asked: MemoryRow | None = None
        self.setDocumentMode(True)
        self.setAccessibleName(tr("The chosen memory"))
        self.text = KeyedText(tr("Text of the memory"), self, tip=tr("Keep the text and make its vector (Ctrl+Enter)"))
        self.tags = QLineEdit(self, placeholderText=tr("no tags"))
        tags_tip = tr("Tags, with commas between; Enter keeps them")
        named(self.tags, tr("Tags of the memory, with commas between"), tags_tip)
        self.pin = named(QCheckBox(tr("Pinned"), self), "", tr("Pinned memories go into every prompt (P)"))
        delete_tip = tr("Delete the memory; it can be taken back (Del)")
        self.delete = small_button(self, tr("Delete"), delete_tip, self.deleted)
        self.words = label(self, kind="small")
        self.history = HistoryPage(theme, self)
        tags = label(self, tr("Tags"), wrap=False)
        tags.setBuddy(self.tags)
        line = row(tags, (self.tags, 1), self.pin, self.delete, spacing=6)
        page = column((self.text, 1), line, self.words, spacing=4, margins=(8, 6, 8, 6))
        self.addTab(holding(page, self), tr("Text"))
        self.addTab(self.history, tr("Where it came from"))
        self.text.written.connect(self._write)
        self.text.left.connect(self.left)
        self.tags.editingFinished.connect(self._tag)
        self.pin.clicked.connect(self._pin)
        self.currentChanged.connect(lambda _tab: self._ask())
        self.show_row(None, in_run=False)

    def show_row(self, row: MemoryRow | None, *, in_run: bool) -> None:
        """Show another memory, or the same one as it is now."""
        self._row = row
        memory = row.memory if row is not None else None
        self.history.show_memory(memory, own=row is not None and row.own, in_run=in_run)
        if memory is None or row is None:
            self.text.show_text(None, "", editable=False, placeholder=tr("Choose a memory to read and to write it."))
        else:
            self.text.show_text(memory.id, memory.content, editable=True)
        tags = ", ".join(memory.tag_names) if memory is not None else ""
        if not self.tags.hasFocus() or not self.tags.isModified():
            self.tags.setText(tags)
        for widget in (self.tags, self.pin, self.delete):
            able(widget, memory is not None, tr("Choose a memory first."))
        self.pin.setChecked(memory is not None and bool(memory.pinned))
        show_words(self.words, " ".join(_told_of(row)) if row is not None else "")
        self._ask()

    def show_past(self, past: Provenance) -> None:
        """Show where a memory came from, unless another one is looked at by now."""
        if self._row is not None and past.memory.id == self._row.id:
            self.history.show_past(past)

    def show_origin(self) -> None:
        """Turn to where it came from."""
        self.setCurrentWidget(self.history)

    def edit(self) -> None:
        """Give the keyboard to the text."""
        self.setCurrentIndex(0)
        self.text.lines.setFocus()

    def _ask(self) -> None:
        if self.currentWidget() is not self.history or self._row is self._asked:
            return
        same = self._asked is not None and self._row is not None and self._asked.id == self._row.id
        self._asked = self._row
        if self._row is None:
            self.history.show_past(None)
            return
        if not same:
            self.history.show_past(None, loading=True)
        self.past_wanted.emit(self._row.memory)

    def _write(self, _key: object, text: str) -> None:
        if self._row is not None:
            self.written.emit(self._row.memory, text)

    def _pin(self, on: bool) -> None:
        if self._row is not None:
            self.pinned.emit(self._row.memory, on)

    def _tag(self) -> None:
        if self._row is None or not self.tags.isModified():
            return
        self.tags.setModified(False)
        tags = list(dict.fromkeys(tag.strip() for tag in self.tags.text().split(",") if tag.strip()))
        if tags != list(self._row.memory.tag_names):
            self.tagged.emit(self._row.memory, tags)


def _told_of(row: MemoryRow) -> list[str]:
    memory: Memory = row.memory
    told = [tr("Somebody said it.") if memory.source == "confirmed" else tr("It was inferred.")]
    if memory.created_at is not None:
        told.append(tr("Of {day}.", day=day_words(memory.created_at)))
    if row.stale:
        told.append(tr("Its vector is stale: another model made it, or none. It takes no part in searches."))
    return told
