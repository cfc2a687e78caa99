"""Recorded and replayed: what a chat recorded of its replies beside the runs, what differs, and what may explain it."""

from __future__ import annotations

from operator import attrgetter
from typing import Final

from PySide6.QtWidgets import QWidget

from lorestudio.domain.lifecycle import Progress
from lorestudio.studio.verify.agreement import COUNTED, Agreement, ComparedReply
from lorestudio.studio.verify.causes import Cause, Verified
from lorestudio.ui.shell.theme import Theme
from lorestudio.ui.shell.words import count, number, tr
from lorestudio.ui.widgets.cells import Column
from lorestudio.ui.widgets.layouts import able, holding, label, row, split, story_label, tight, tool
from lorestudio.ui.widgets.pane import Pane
from lorestudio.ui.widgets.record_table import RecordTable, RecordView

SIGNS: Final = {
    Agreement.AGREES: ("check", "good"),
    Agreement.MAY_BE: ("tilde", "text_muted"),
    Agreement.DIFFERS: ("cross", "error"),
    Agreement.NO_RECORD: ("dash", "text_faint"),
    Agreement.NOT_TRUSTED: ("warning", "warning"),
}
"""The glyph and colour of what became of a reply."""


def difference_words(reply: ComparedReply) -> str:
    """What differs, entry by entry, in a line; nothing where there is no record to differ from."""
    if reply.verdict not in COUNTED:
        return ""
    told = [f"{each.title} {tr(each.where.value)}" for each in reply.differing]
    return "; ".join([*told, *([tr("another order")] if reply.reordered else [])])


def reply_story(reply: ComparedReply) -> str:
    """All that is to be said of a reply: the verdict, why, and every entry that went in anywhere."""
    head = tr("{reply}: {verdict}.", reply=reply.generation.name, verdict=tr(reply.verdict.value))
    entries = [f"{each.title}: {tr(each.where.value)}, {each.words}" for each in reply.entries]
    order = [tr("The order in the prompt is another one.")] if reply.reordered else []
    return "\n".join([" ".join((head, *reply.because)), *order, *entries])


def cause_story(cause: Cause) -> str:
    """What a cause explains, and what it would break."""
    told = [cause.title]
    if cause.explains:
        names = ", ".join(f"#{each.message}" for each in cause.explains)
        told.append(tr("With it these replies come out as recorded: {replies}.", replies=names))
    elif cause.closer:
        names = ", ".join(f"#{each.message}" for each in cause.closer)
        told.append(tr("It is a part of what differs in {replies}.", replies=names))
    if cause.broken:
        told.append(tr("{broken} of {checked} replies that agree would not.", broken=number(cause.broken),
                       checked=number(cause.checked)))  # fmt: skip
    if cause.unknowable:
        told.append(tr("No file keeps that, so it may be and may not."))
    return "\n".join(told)


def _explained(cause: Cause) -> str:
    if cause.explains:
        return number(len(cause.explains))
    return tr("{amount} in part", amount=number(len(cause.closer)))


class VerifyPane(Pane):
    """What may explain the differences above, the replies below."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__("verify", tr("Recorded and replayed"), theme, parent)
        causes = (
            Column("May explain it", lambda cause: cause.title, tip=cause_story),
            Column("Replies", _explained, width=80),
        )
        replies = (
            Column("Reply", attrgetter("generation.name"), width=70),
            Column("Result", lambda each: tr(each.verdict.value), icon=lambda each: SIGNS[each.verdict], width=140),
            Column("What differs", difference_words),
        )
        self.causes = RecordTable(causes, theme=theme, key=lambda each: each.title, parent=self)
        self.replies = RecordTable(
            replies, theme=theme, key=lambda each: each.generation, tip=lambda each, _column: reply_story(each),
            parent=self,
        )  # fmt: skip
        self.cause_view = RecordView(theme, self.causes, tr("What may explain the differences"), self)
        self.reply_view = RecordView(theme, self.replies, tr("Replies, recorded and replayed"), self)
        self.state = label(self, kind="small")
        self.again = self._tool("verify.compare", tr("Compare again"), tr("Run the chat again beside its records"))
        self.take = self._tool("verify.take", tr("Apply"), tr("Make the chosen cause hold here, as one step"))
        self.story = story_label(self)
        head = row((self.state, 1), self.again, self.take, spacing=4, margins=(10, 4, 8, 4))
        self.column.addWidget(holding(tight(head)))
        self.column.addWidget(self.or_empty("columns", split(self.cause_view, self.reply_view, self.story)), 1)
        self.cause_view.chosen.connect(self._explain_cause)
        self.reply_view.chosen.connect(
            lambda chosen: self.story.setText(reply_story(chosen) if chosen is not None else "")
        )

    def _tool(self, action: str, text: str, tip: str) -> QWidget:
        return tool(self, "", lambda: self.wanted.emit(action), text=text, tip=tip, kind="text")

    def focus_target(self) -> QWidget:
        """The replies."""
        return self.reply_view if self.replies.rows else self.empty

    @property
    def cause(self) -> Cause | None:
        """The cause that is looked at."""
        found: Cause | None = self.cause_view.current
        return found

    def show_nothing(self, title: str, text: str, buttons: tuple[tuple[str, str], ...] = ()) -> None:
        """There is nothing to compare, for this reason."""
        self.causes.set_rows(())
        self.replies.set_rows(())
        self.say_empty(title, text, buttons)
        self.state.setText("")
        self.again.hide()
        self.take.hide()
        self.note_changed.emit("")

    def show_progress(self, progress: Progress) -> None:
        """Say how far a comparison is."""
        share = progress.done / progress.total if progress.total else 0
        self.state.setText(tr("Comparing… {share} %", share=number(round(100 * share))))

    def show_verified(self, found: Verified) -> None:
        """Show what was found; in place of rows that all say that nothing was recorded, that once, and what helps."""
        if found.replies and found.count(Agreement.NO_RECORD) == len(found.replies):
            text = " ".join((*dict.fromkeys(one for each in found.replies for one in each.because), *found.remarks))
            helps = tr("Live capture keeps the real prompts from now on.")
            doors = (("attach.open", tr("Live capture…")), ("verify.compare", tr("Compare again")))
            self.show_nothing(tr("The chat recorded nothing"), f"{text} {helps}", doors)
            return
        self.causes.set_rows(found.causes)
        self.replies.set_rows(found.replies)
        self.state.setText(" ".join((found.sentence, *found.remarks)))
        self.again.show()
        self.take.setVisible(bool(found.causes))
        differing = found.count(Agreement.DIFFERS)
        well = tr("all agree") if found.judged else ""
        self.note_changed.emit(count(differing, "reply differs", "replies differ") if differing else well)
        self.pages.setCurrentIndex(0)
        self.cause_view.setVisible(bool(found.causes))
        if found.causes:
            self.cause_view.choose(found.causes[0].title)
            self._explain_cause(found.causes[0])
        else:
            self.story.setText("")

    def _explain_cause(self, cause: Cause | None) -> None:
        self.story.setText(cause_story(cause) if cause is not None else "")
        first = tr("Choose a cause first.") if cause is None else tr("This cause cannot be made to hold here.")
        able(self.take, cause is not None and cause.can_be_taken_over, first)
