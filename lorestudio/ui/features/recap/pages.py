"""Pages of recaps: what became of each message, which version goes into the prompt, and what a reply is given.

Recaps can be written. For the reply that is looked at there is the walk over them with its running total.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable
from operator import attrgetter
from typing import TYPE_CHECKING, Any, ClassVar, Final

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QCheckBox, QWidget

from lorestudio.domain.texts import shorten
from lorestudio.systems.recap.records import RecapState, Record
from lorestudio.trace.explain import explain
from lorestudio.trace.model import Trace, Verdict
from lorestudio.trace.wording import time_words
from lorestudio.ui.shell.theme import Theme
from lorestudio.ui.shell.words import count, number, tr
from lorestudio.ui.widgets import dialogs
from lorestudio.ui.widgets.cells import Column, state_column
from lorestudio.ui.widgets.layouts import ProgressBar, able, label, named, show_words
from lorestudio.ui.widgets.work_pane import KeyedText, RowsPage, SmallText

if TYPE_CHECKING:
    from lorestudio.systems.recap.overview import MessageRow, PromptAt, RecapPicture, WalkRow
    from lorestudio.systems.recap.running import RunningVersion
    from lorestudio.systems.recap.session import RecapEdits, RecapSession

_STATES: Final = {
    RecapState.NONE: ("No recap", "dash", "text_faint", ""),
    RecapState.INCLUDED: ("Recap", "check", "good", ""),
    RecapState.KEPT: ("Recap, left out", "check", "warning", "text_muted"),
    RecapState.EXCLUDED: ("Excluded", "slash", "text_muted", "text_muted"),
    RecapState.FAILED: ("Failed", "error", "error", "error"),
}
"""Words, glyph, its colour, and the colour of the words ("" for that of all text)."""


class RecapPage(RowsPage):
    """`edited` carries what a person wants done with `RecapEdits`, `queued` what with a `RecapSession`."""

    edited = Signal(object)
    queued = Signal(object)

    def editing(self, how: Callable[[RecapEdits, Any], Awaitable[object]]) -> Callable[[Any], None]:
        """What changes recaps of the row that it is given."""
        return lambda row: self.edited.emit(lambda edits: how(edits, row))

    def queueing(self, how: Callable[[RecapSession, Any], Awaitable[object]]) -> Callable[[Any], None]:
        """What queues something about the row that it is given."""
        return lambda row: self.queued.emit(lambda session: how(session, row))

    def ask_delete(self, title: str, text: str, delete: Callable[[RecapEdits], Awaitable[object]], more: str) -> None:
        """Delete something once the person has agreed."""
        dialogs.confirm(self.window(), title, text, tr("Delete"), lambda: self.edited.emit(delete), more)


class FollowedPage(RecapPage):
    """Has a row for each message or scene, of which the text can be written."""

    rows_of: ClassVar[attrgetter[Any]]
    text: KeyedText
    _picture: RecapPicture | None = None

    def show_picture(self, picture: RecapPicture | None) -> None:
        """Show a chat. A text that is being written goes with its message to where that stands in the file now.

        That of a message which is deleted is known by what that says, and is there again where the deletion is undone.
        """
        text, (before, self._picture) = self.text, (self._picture, picture)
        self.forget_others(picture.path if picture is not None else None, text)
        row, where = self.table.current, None
        if before is not None and picture is not None and before.file is not picture.file and text.begun:
            from lorestudio.systems.recap.chat_file import known_again

            where = known_again(before.file, picture.file)
            there = set(where.values())
            gone = {index: key for index, key in enumerate(map(_said, before.file.chat.messages)) if index not in where}
            back = {_said(each): index for index, each in enumerate(picture.file.chat.messages) if index not in there}
            text.follow({**where, **gone, **back})
        self.model.set_rows(self.rows_of(picture) if picture is not None else ())
        if row is not None and where is not None and where.get(row.index) != row.index:
            self.view.choose(where.get(row.index))


def _said(message: Record) -> tuple[object, ...]:
    """What a message is known by that stands in no file."""
    return tuple(message.get(name) for name in ("name", "send_date", "mes"))


class MessagePage(FollowedPage):
    """A row for each message, with its recap."""

    rows_of = attrgetter("messages")

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        columns = (
            Column("#", lambda row: str(row.index), numeric=True, width=44),
            state_column("Recap", lambda row: _STATES[row.state], 112),
            Column("Also", self._also, width=92),
            Column("Message", lambda row: shorten(f"{row.speaker}: {row.text}", 160)),
        )
        super().__init__(theme, columns, lambda row: row.index, _tip, tr("Messages and their recaps"), parent)
        self.text = self.add_text(tr("Recap of the message"))
        exclude_tip = tr("Its recap stays in the file, and takes no part")
        self.exclude = named(QCheckBox(tr("Leave its recap out"), self.detail), "", exclude_tip)
        pin_tip = tr("Hidden from the prompt, whatever hiding by scenes does")
        self.pin = named(QCheckBox(tr("Keep it hidden"), self.detail), "", pin_tip)
        self.again = self.row_button(
            tr("Make its recap"), tr("Ask for the recap of this message, also again"),
            self.queueing(lambda session, row: session.enqueue_recap(row.index)),
        )  # fmt: skip
        self.add_row(self.exclude, self.pin, self.again)
        self.table.offered += [self.exclude, self.pin]
        edit = self.edited.emit
        self.text.written.connect(lambda key, text: edit(lambda edits: edits.edit_message(int(key), text)))
        self.exclude.clicked.connect(lambda on: self._tick(lambda edits, row: edits.exclude(row.index, wanted=on)))
        self.pin.clicked.connect(lambda on: self._tick(lambda edits, row: edits.keep_hidden(row.index, wanted=on)))
        self.table.chosen.connect(self._show)
        self._show(None)

    def _tick(self, how: Callable[[RecapEdits, MessageRow], Awaitable[object]]) -> None:
        self.with_row(self.editing(how))

    def _show(self, row: MessageRow | None) -> None:
        for widget in (self.exclude, self.pin, self.again):
            able(widget, row is not None, tr("Choose a message first."))
        self.exclude.setChecked(row is not None and row.state is RecapState.EXCLUDED)
        self.pin.setChecked(row is not None and row.pinned)
        if row is None:
            self.say(tr("Choose a message to read its recap, and to write it."))
            self.text.show_text(None, "", editable=False)
            return
        self.say(" ".join(self._sentences(row)))
        placeholder = tr("No recap yet. Write one, or have it made.")
        self.text.show_text(row.index, row.recap, editable=True, placeholder=placeholder)

    def _sentences(self, row: MessageRow) -> list[str]:
        """All that there is to say about a message."""
        told = [tr("#{number}, {name}.", number=row.index, name=row.speaker or tr("nobody"))]
        picture = self._picture
        if row.error:
            told.append(tr("The last attempt failed: {error}", error=row.error))
        if picture is not None and picture.trace is not None and row.index in picture.verdicts:
            why = explain(picture.verdicts[row.index], picture.trace)
            told += [part for part in (why.sentence, why.fix) if part]
        if row.stale:
            told.append(tr("The message was changed after its recap was made."))
        if row.edited:
            told.append(tr("The recap was written by hand."))
        if picture is not None and row.index in picture.in_running:
            told.append(tr("Its scene is part of the running recap."))
        if row.hidden:
            told.append(tr("It is hidden from the prompt."))
        return told

    def _also(self, row: MessageRow) -> str:
        told = []
        if row.stale:
            told.append(tr("changed since"))
        if self._picture is not None and row.index in self._picture.in_running:
            told.append(tr("in running"))
        if row.hidden:
            told.append(tr("kept hidden") if row.pinned else tr("hidden"))
        if row.ends_scene:
            told.append(tr("ends scene"))
        if row.edited:
            told.append(tr("by hand"))
        return ", ".join(told)


def _tip(row: MessageRow) -> str:
    return shorten(row.recap or row.text, 400)


class RunningPage(RecapPage):
    """A row for each version of the running recap."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        self._current = -1
        self._scenes: list[int] = []
        columns = (
            Column("Version", lambda row: str(row.number), numeric=True, width=56),
            Column("", lambda row: tr("in use") if self._is_used(row) else "", width=96,
                   icon=lambda row: ("check", "good") if self._is_used(row) else None),
            Column("Up to", lambda row: tr("#{number}", number=row.reaches), numeric=True, width=52),
            Column("Made", lambda row: time_words(row.timestamp, "%Y-%m-%d %H:%M"), width=112),
            Column("Text", lambda row: shorten(row.content, 160)),
        )  # fmt: skip
        super().__init__(
            theme, columns, lambda row: row.number, lambda row: shorten(row.content, 400),
            tr("Versions of the running recap"), parent,
        )  # fmt: skip
        self.empty.say(
            tr("No running recap yet"),
            tr("It is made of the recaps of scenes, and it alone goes into the prompt. Have scenes recapped first."),
            (("recap.run", tr("Make what is due")),),
        )
        self.text = self.add_text(tr("Running recap"))
        self.text.keep.setText(tr("Keep as a new version"))
        self.text.gone = lambda key: self.model.place_of(key) < 0
        self.use = self.row_button(
            tr("Use this version"), tr("Let this version go into the prompt"),
            self.editing(lambda edits, row: edits.use_running(row.number)),
        )  # fmt: skip
        self.delete = self.row_button(tr("Delete version…"), tr("Delete this version"), self._ask_delete)
        self.add_row(self.use, self.delete)
        self.text.written.connect(lambda _key, text: self.edited.emit(lambda edits: edits.edit_running(text)))
        self.table.chosen.connect(lambda _row: self._show())
        self._show()

    def show_picture(self, picture: RecapPicture | None) -> None:
        """Show the versions of a chat; without a choice, the one in force is looked at."""
        before = self._current
        self._scenes = [row.index for row in picture.scenes if not row.is_bookmark] if picture is not None else []
        self._current = picture.running.current if picture is not None else -1
        self.forget_others(picture.path if picture is not None else None, self.text)
        if before != self._current:
            self.text.taken()  # it is a version of its own
        self.model.set_rows(picture.running.versions if picture is not None else ())
        if self.model.rows and (self.table.current is None or before != self._current):
            self.view.choose(self._current)

    def _ask_delete(self, row: RunningVersion) -> None:
        text = tr("Version {number} of the running recap will be gone.", number=row.number)
        self.ask_delete(tr("Delete version"), text, lambda edits: edits.delete_running(row.number), "")

    def _show(self) -> None:
        row = self.table.current
        current = row is not None and self._is_used(row)
        first = tr("Choose a version first.")
        able(self.use, row is not None and not current, tr("It is in use.") if current else first)
        able(self.delete, row is not None, first)
        if row is None:
            self.say("")
            self.text.show_text(None, "", editable=False)
            return
        scenes = count(row.scene_count, "scene", "scenes")
        told = tr("Version {number} is made of {scenes} and reaches to #{last}.", number=row.number, scenes=scenes,
                  last=row.reaches)  # fmt: skip
        if newer := sum(index > row.reaches for index in self._scenes):
            told += tr(" {scenes} not in it.", scenes=count(newer, "newer scene is", "newer scenes are"))
        more = tr("It goes into the prompt.") if current else tr("Only the version in use can be written.")
        self.say(f"{told} {more}")
        self.text.show_text(row.number, row.content, editable=current)

    def _is_used(self, row: RunningVersion) -> bool:
        return row.number == self._current


_PROMPT_STATES: Final = {
    "included": ("Fits", "check", "good", ""),
    "excluded": ("Left out", "slash", "text_muted", "text_muted"),
    "no_memory": ("No recap", "dash", "text_faint", "text_muted"),
    "over_limit": ("Does not fit", "cross", "error", "error"),
    "after_limit": ("Not tried", "dot", "text_faint", "text_muted"),
}


class RecapPromptPage(RowsPage):
    """Follows the reply that is looked at."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        self._prompt: PromptAt | None = None
        columns = (
            Column("#", lambda row: str(row.index), numeric=True, width=44),
            state_column("", _prompt_state, 108),
            Column("Total", self._total, numeric=True, tone=lambda row: _prompt_state(row)[3], width=104),
            Column("Recap", lambda row: shorten(row.recap, 160)),
        )
        super().__init__(
            theme, columns, lambda row: row.index, self._why, tr("Recaps that take part, newest message first"), parent,
        )  # fmt: skip
        self.empty.say(
            tr("No reply chosen"),
            tr("Choose a message in the chat to see what recap memory puts into the prompt of the reply."),
        )
        self.bar = named(ProgressBar(self.detail), tr("Tokens of the recaps that fit, against the limit"))
        self.why = label(self.detail, kind="small")
        self.text = named(SmallText(self.detail, readOnly=True, tabChangesFocus=True), tr("What goes into the prompt"))
        self.text.setObjectName("Boxed")
        self.text.setPlaceholderText(tr("Nothing goes into the prompt: there is no running recap for this reply yet."))
        for part in (self.bar, self.why):
            self.below.addWidget(part)
        self.below.addWidget(self.text, 1)
        self.table.chosen.connect(self._explain)
        self.show_prompt(None)

    def show_prompt(self, prompt: PromptAt | None) -> None:
        """Show what one reply is given."""
        self._prompt = prompt
        self.model.set_rows(prompt.rows if prompt is not None else ())
        self.text.setPlainText(prompt.text if prompt is not None else "")
        limit = prompt.limit if prompt is not None else None
        self.bar.setVisible(limit is not None)
        if prompt is None:
            self.say("")
            return
        if limit is not None:
            self.bar.setRange(0, max(int(limit), 1))
            self.bar.setValue(min(prompt.collected, max(int(limit), 1)))
        self.say(" ".join(_prompt_sentences(prompt)))

    def _total(self, row: WalkRow) -> str:
        if row.after is None:
            return ""
        limit = self._prompt.limit if self._prompt is not None else None
        return number(row.after) if limit is None else tr("{total} of {limit}", total=number(row.after),
                                                          limit=number(limit))  # fmt: skip

    def _explain(self, row: WalkRow | None) -> None:
        show_words(self.why, self._why(row) if row is not None else "")

    def _why(self, row: WalkRow) -> str:
        verdict = _verdict_of(self._prompt.trace, row.index) if self._prompt is not None else None
        if self._prompt is not None and verdict is not None:
            said = explain(verdict, self._prompt.trace)
            return " ".join(part for part in (f"#{row.index}:", said.sentence, said.fix) if part)
        return ""


def _prompt_sentences(prompt: PromptAt) -> list[str]:
    """The whole of it in words."""
    if prompt.version is None:
        told = [tr("Reply #{number} is given no running recap.", number=prompt.message)]
    else:
        told = [
            tr(
                "Reply #{number} is given version {version} of the running recap, {tokens}, {where}.",
                number=prompt.message, version=prompt.version, tokens=count(prompt.tokens, "token", "tokens"),
                where=prompt.where,
            )
        ]  # fmt: skip
    if prompt.hidden:
        told.append(tr("Messages before #{number} are hidden by scenes.", number=prompt.hidden))
    told += _left_out(prompt)
    total = count(prompt.collected, "token", "tokens")
    if prompt.limit is None:
        told.append(tr("Recaps that take part: {total}; nobody knows the model's room, so there is no limit. It is set "
                       "at “Card, persona and prompt”.", total=total))  # fmt: skip
    else:
        told.append(
            tr("Recaps of messages are for reading: {total} of {limit} fit.", total=total, limit=number(prompt.limit))
        )
    return told


def _left_out(prompt: PromptAt) -> list[str]:
    """How many messages take no part, and why, the most frequent reason first; [] where all do."""
    from lorestudio.systems.recap.message_recaps import WalkDecision

    left = [row for row in prompt.rows if row.decision is not WalkDecision.INCLUDED]
    if not left:
        return []
    verdicts = (_verdict_of(prompt.trace, row.index) for row in left)
    why = Counter(prompt.trace.words.label(each.reason).lower() for each in verdicts if each is not None)
    reasons = ", ".join(f"{number(often)} {word}" for word, often in why.most_common())
    amount = count(len(left), "message takes no part", "messages take no part")
    return [f"{amount}: {reasons}." if reasons else f"{amount}."]


def _verdict_of(trace: Trace, message: int) -> Verdict | None:
    """What decided about a message."""
    records = (trace.stage(name) for name in ("inclusion walk", "exclusion tree"))
    found = (each for record in records if record is not None for each in record.verdicts if each.entry == message)
    return next(found, None)


def _prompt_state(row: WalkRow) -> tuple[str, str, str, str]:
    return _PROMPT_STATES[row.decision.value]
