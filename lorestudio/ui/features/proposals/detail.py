"""One proposal: what would change, what speaks against it, the text to edit, and the buttons that decide.

Its row in the list has entry, what, state. Proposed keys stand beside those of now, each with the messages of the open
chat that it is found in.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import attrgetter
from typing import Final

from PySide6.QtCore import QObject, QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QPlainTextEdit, QTabWidget, QWidget

from lorestudio.studio.proposals.model import KeyCount, Proposal, ProposalKind, Value
from lorestudio.studio.proposals.reading import SUMMARY_LENGTH
from lorestudio.ui.features.proposals.worker import Row, RowState
from lorestudio.ui.shell.qt import plain
from lorestudio.ui.shell.theme import Theme, fixed_font, html_paragraph
from lorestudio.ui.shell.words import count, number, tr
from lorestudio.ui.widgets.cells import FIT, Column
from lorestudio.ui.widgets.diff_view import DiffView
from lorestudio.ui.widgets.layouts import (
    able,
    button,
    column,
    holding,
    label,
    named,
    row,
    scrolled,
    split,
    stack,
    text_view,
)
from lorestudio.ui.widgets.pane import ElidedLabel, EmptyState
from lorestudio.ui.widgets.record_table import RecordTable, RecordView

_LOOKS: Final[Mapping[RowState, tuple[str, str, str]]] = {
    RowState.WAITING: ("pause", "text_faint", "waiting"),
    RowState.ASKING: ("live", "accent", "being asked"),
    RowState.PROPOSED: ("question", "accent", "to decide"),
    RowState.FAILED: ("error", "error", "no proposal"),
    RowState.ACCEPTED: ("check", "good", "accepted"),
    RowState.SKIPPED: ("dash", "text_muted", "skipped by you"),
    RowState.LEFT_OUT: ("slash", "text_muted", "left out"),
}
"""Icon, colour and word of each state."""

_BLOCKED: Final = ("warning", "warning", "cannot be accepted yet")
_DOUBTFUL: Final = ("warning", "warning", "look at it")


def proposal_table(theme: Theme, parent: QObject) -> RecordTable:
    """The rows of a wish, which somebody else changes: entry, what, state."""
    columns = (
        Column("Entry", attrgetter("title")),
        Column("What", what, width=110),
        Column("State", lambda row: tr(look_of(row)[2]), width=FIT, icon=lambda row: look_of(row)[:2]),
    )
    return RecordTable(columns, theme=theme, spoken=_spoken, tip=_tip, parent=parent)


def _tip(row: Row, _column: Column) -> str:
    return "\n".join(filter(None, (row.filename, row.note)))


def _spoken(row: Row, _column: Column) -> str:
    return ", ".join(filter(None, (row.title, what(row), tr(look_of(row)[2]), row.note)))


def look_of(row: Row) -> tuple[str, str, str]:
    """Icon, colour and word of a row's state."""
    proposal = row.proposal
    if row.state is RowState.PROPOSED and proposal is not None:
        if proposal.problem:
            return _BLOCKED
        if proposal.doubtful:
            return _DOUBTFUL
    return _LOOKS[row.state]


def what(row: Row) -> str:
    """What would change, in a few words."""
    proposal = row.proposal
    if proposal is None or not proposal.after:
        return row.note if row.state is RowState.LEFT_OUT else ""
    if isinstance(proposal.after, tuple):
        return _keys(proposal)
    if proposal.kind is ProposalKind.DRAFT:
        return tr("new note “{title}”", title=proposal.title)
    size = count(len(proposal.after), "character", "characters")
    return tr("{size}, {before} before", size=size, before=len(proposal.before)) if proposal.before else size


def _keys(proposal: Proposal) -> str:
    before, after = set(proposal.before), set(proposal.after)
    parts = [count(len(after), "key", "keys")]
    if after - before:
        parts.append(f"+{len(after - before)}")
    if before - after:
        parts.append(f"−{len(before - after)}")
    return " ".join(parts)


_MOST_NUMBERS: Final = 8


class KeyCounts(RecordView):
    """A list to read; `show_counts` fills it."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        self._searched = 0
        columns = (
            Column("Key", attrgetter("key"), tone=lambda item: "" if item.proposed else "text_faint"),
            Column("Change", lambda item: _change(item)[0], width=FIT, icon=lambda item: _change(item)[1:]),
            Column("Found in this chat", self._found, width=FIT, tip=_numbers),
        )
        model = self.counted = RecordTable(columns, theme=theme, spoken=self._spoken)
        super().__init__(theme, model, tr("Keys and what they find"), parent)
        model.setParent(self)

    def show_counts(self, counts: Sequence[KeyCount], searched: int) -> None:
        """Show these keys; `searched` is how many messages were looked through."""
        self._searched = searched
        self.counted.set_rows(counts)

    def _spoken(self, item: KeyCount, _column: Column) -> str:
        return f"{item.key}, {_change(item)[0]}, {self._found(item)}"

    def _found(self, item: KeyCount) -> str:
        if not self._searched:
            return tr("no chat is open")
        if not item.messages:
            return tr("in no message")
        return tr(
            "in {found} of {all}", found=number(len(item.messages)), all=count(self._searched, "message", "messages")
        )


def _numbers(item: KeyCount) -> str:
    more = "…" if len(item.messages) > _MOST_NUMBERS else ""
    return ", ".join(f"#{place}" for place in item.messages[:_MOST_NUMBERS]) + more


def _change(item: KeyCount) -> tuple[str, str, str]:
    """Word, icon and colour."""
    if item.now and item.proposed:
        return tr("stays"), "dot", "text_faint"
    return (tr("new"), "plus", "good") if item.proposed else (tr("goes"), "cross", "error")


_FIELD_NAMES: Final = {
    ProposalKind.SUMMARY: "What the note will say (you may change it)",
    ProposalKind.KEYS: "Keys, one a line (you may change them)",
    ProposalKind.DRAFT: "The new note (you may change it)",
}


class ProposalDetail(QWidget):
    """Shows a row. The signals say what the person wants; `edited` follows typing."""

    accepted = Signal()
    skipped = Signal()
    again = Signal()
    locked = Signal()
    edited = Signal()

    def __init__(self, theme: Theme, kind: ProposalKind, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme, self._kind = theme, kind
        self._row: Row | None = None
        self._shown: Proposal | None = None
        self._busy, self._can_ask_again = False, False
        self.empty = EmptyState(theme, "ai", self)
        self._pages = stack(self.empty, self._make_page())
        column(self._pages, of=self, margins=(8, 0, 0, 0))
        theme.changed.connect(self._show_words)

    def _make_page(self) -> QWidget:
        self.title = named(ElidedLabel(self), "", kind="title")
        self.words = label(self, selectable=True, rich=True)
        self._words_area = scrolled(self.words, tr("About the proposal"), framed=True)
        self._words_area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._words_area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.tabs = named(QTabWidget(self, documentMode=True), tr("Views of the proposal"))
        self.tabs.addTab(self._make_change(), tr("Change"))
        self.request, self.reply = (text_view(self, name, fixed=True) for name in (tr("Request"), tr("Answer")))
        for text in (self.request, self.reply):
            self.tabs.addTab(text, text.accessibleName())
        parts = (self.title, self._words_area, (self.tabs, 1), self._make_buttons())
        return holding(column(*parts, spacing=4, margins=0), self)

    def _make_change(self) -> QWidget:
        self.diff = DiffView(self._theme, (tr("now"), tr("proposed")), self)
        self.diff.view.setMinimumHeight(48)
        self.diff.view.setLineWrapMode(QPlainTextEdit.LineWrapMode.WidgetWidth)
        self.diff.setVisible(self._kind is ProposalKind.SUMMARY)
        self.counts = KeyCounts(self._theme, self)
        self.counts.setMinimumHeight(60)
        self.counts.setVisible(self._kind is ProposalKind.KEYS)
        name = tr(_FIELD_NAMES[self._kind])
        head = label(self, name, "section", wrap=False)
        self.extent = label(self, kind="small", wrap=False)
        self.field = named(QPlainTextEdit(self, tabChangesFocus=True), name)
        self.field.setMinimumHeight(54)
        self.field.setObjectName("ProposalField")
        self.field.setFrameShape(QPlainTextEdit.Shape.NoFrame)
        if self._kind is ProposalKind.DRAFT:
            self.field.setFont(fixed_font(self.font().pointSizeF()))
        head.setBuddy(self.field)
        self.field.textChanged.connect(self._typed)
        below = holding(column(row((head, 1), self.extent), (self.field, 1), spacing=2, margins=(0, 4, 0, 0)))
        return split(self.diff, self.counts, below, stretch=(3, 3, 2))

    def _make_buttons(self) -> QHBoxLayout:
        self.ask_again = button(self, tr("Ask again"), self.again)
        tip = tr("Leave the note as it is, and never propose anything for it again")
        self.lock = button(self, tr("Lock this note"), self.locked, tip=tip)
        self.lock.setVisible(self._kind is not ProposalKind.DRAFT)
        self.skip = button(self, tr("Skip"), self.skipped, tip=tr("Leave the note as it is (Ctrl+Shift+Return)"))
        self.skip.setShortcut("Ctrl+Shift+Return")
        self.accept = button(self, tr("Accept"), self.accepted, kind="primary")
        self.accept.setShortcut("Ctrl+Return")
        return row(self.ask_again, self.lock, 1, self.skip, self.accept)

    # ---- showing ----------------------------------------------------------------------------------------------------

    @property
    def value(self) -> Value:
        """What stands in the field."""
        text = self.field.toPlainText()
        return tuple(text.split("\n")) if self._kind is ProposalKind.KEYS else text

    @property
    def is_edited(self) -> bool:
        """Whether the field says something else than the proposal."""
        proposal = self._shown
        return proposal is not None and self.field.toPlainText() != _as_text(proposal.after)

    def show_row(self, row: Row | None, nothing: tuple[str, str]) -> None:
        """Show a row; `nothing` are title and sentence for when there is none."""
        same = row is self._row and row is not None
        self._row = row
        proposal = row.proposal if row is not None else None
        if row is None or proposal is None:
            self._shown = None
            self.empty.say(*(nothing if row is None else _waiting(row)))
            self._pages.setCurrentIndex(0)
            return
        # What the person types stays under the cursor: only another proposal fills the field.
        typed = same and self._shown is not None and (row.edited or (proposal is self._shown and self.is_edited))
        self._shown = proposal
        self._pages.setCurrentIndex(1)
        self.title.setText(proposal.title)
        self.title.setToolTip(plain(f"{proposal.title}\n{proposal.path}"))
        if not typed or self.field.toPlainText().strip() == "":
            text = _as_text(proposal.after)
            with QSignalBlocker(self.field):
                self.field.setPlainText(text)
        if self._kind is ProposalKind.SUMMARY:
            self.diff.show_texts(_as_text(proposal.before), _as_text(proposal.after))
        elif self._kind is ProposalKind.KEYS:
            self.counts.show_counts(proposal.counts, proposal.searched)
        request = proposal.task.request
        self.request.setPlainText(f"{request.user}\n\n{'-' * 40}\n{request.system}")
        answer = dict.fromkeys(filter(str.strip, (proposal.said, proposal.reply)))  # the words first
        self.reply.setPlainText(f"\n\n{'-' * 40}\n".join(answer) or tr("There is no answer."))
        self._show_words()
        self._show_size()
        self._update()

    def set_busy(self, busy: bool, *, can_ask_again: bool, source: str) -> None:
        """Whether decisions have to wait; whether asking again can give another answer."""
        self._busy, self._can_ask_again = busy, can_ask_again
        self.ask_again.setToolTip(
            tr("Have another proposal made") if can_ask_again else tr("{source} would say the same.", source=source)
        )
        self._update()

    def _typed(self) -> None:
        self._show_size()
        self._update()
        if self.is_edited:
            self.edited.emit()

    def _show_size(self) -> None:
        text = self.field.toPlainText()
        if self._kind is ProposalKind.SUMMARY:
            self.extent.setText(tr("{size} of {most}", size=len(text), most=SUMMARY_LENGTH))
        elif self._kind is ProposalKind.KEYS:
            self.extent.setText(count(sum(bool(line.strip()) for line in text.split("\n")), "key", "keys"))
        else:
            self.extent.setText(self._shown.path.name if self._shown is not None and text else "")

    def _show_words(self) -> None:
        """Problem, remarks and reasoning, the weightiest first."""
        proposal, palette = self._shown, self._theme.palette
        if proposal is None:
            return
        row = self._row
        parts: list[str] = []
        if row is not None and row.state is RowState.ACCEPTED:
            parts.append(html_paragraph(tr("Accepted and written."), color=palette.good, bold=True))
        elif proposal.problem:
            parts.append(html_paragraph(proposal.problem, color=palette.error))
        parts += [
            html_paragraph(tr("Look: {remark}", remark=remark.text), color=palette.warning)
            for remark in proposal.remarks
            if remark.serious
        ]
        if proposal.reasoning:
            parts.append(html_paragraph(proposal.reasoning))
        quiet = [remark.text for remark in proposal.remarks if not remark.serious]
        told = " ".join([*quiet, tr("Answered by: {who}.", who=proposal.answered_by) if proposal.answered_by else ""])
        parts.append(html_paragraph(told.strip(), color=palette.text_muted))
        self.words.setText("".join(parts))
        width = max(120, self._words_area.viewport().width())
        self._words_area.setFixedHeight(min(110, self.words.heightForWidth(width) + 4))  # more than a few lines scroll

    def _update(self) -> None:
        proposal, row = self._shown, self._row
        decided = row is not None and row.state is RowState.ACCEPTED
        can = proposal is not None and row is not None and not self._busy and not decided
        waits = self.is_edited
        self.accept.setEnabled(can and proposal is not None and (proposal.acceptable or waits))
        tip = tr("Write it into the note (Ctrl+Return)")
        if self._kind is ProposalKind.DRAFT:
            tip = tr("Make the note (Ctrl+Return)")
        self.accept.setToolTip(proposal.problem if proposal is not None and proposal.problem and not waits else tip)
        none = tr("It was accepted.") if decided else tr("Choose a proposal, and wait for the work under way.")
        able(self.skip, can, none)
        able(self.lock, can, none)
        may = can and self._can_ask_again and row is not None and row.task is not None
        able(self.ask_again, may, "" if can else none)  # else its tooltip says it already
        self.field.setReadOnly(decided or self._busy)


def _waiting(row: Row) -> tuple[str, str]:
    """Title and sentence for a row without a proposal."""
    if row.state is RowState.ASKING:
        return row.title, tr("The answer is awaited.")
    if row.state is RowState.LEFT_OUT:
        return tr("Nothing is proposed for {title}", title=row.title), row.note
    if row.state is RowState.SKIPPED:
        return row.title, tr("You left this note as it is.")
    return row.title, tr("Nobody was asked about it yet. Begin above, on the right.")


def _as_text(value: Value) -> str:
    return value if isinstance(value, str) else "\n".join(value)
