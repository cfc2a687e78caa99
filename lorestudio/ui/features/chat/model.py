"""The chat as a list: one row per message, and at the end the reply to come."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from itertools import pairwise

from msgspec import Struct
from PySide6.QtCore import QAbstractListModel, QObject, Qt, Signal

from lorestudio.domain.chat import Chat, Message
from lorestudio.domain.history import ranges_of
from lorestudio.domain.records import replace
from lorestudio.domain.texts import shorten
from lorestudio.trace.model import AS_STORED, SeenChat, Trace
from lorestudio.ui.shell.qt import ACCESSIBLE_DESCRIPTION, ACCESSIBLE_TEXT, DISPLAY, ITEM, NO_INDEX, Index
from lorestudio.ui.shell.words import count, tr
from lorestudio.ui.widgets.paint import KeyMark, KeyQuery


class Speaker(StrEnum):
    """Who speaks a message, as far as the pipeline cares."""

    USER = "you"
    CHARACTER = "character"
    HIDDEN = "hidden"
    NARRATOR = "narrator"
    NEXT = "next reply"


class ChatRow(Struct, frozen=True):
    """What one row shows. `marks` are the chosen entry's keys that were found in it; `chip` sums up the run.

    `remark` says what is wrong beside the message, such as a line of the file that cannot be read. `writing` says of a
    reply that is still coming what it waits for, "" for a message of the chat. `seen` says what the run that is looked
    at took the message for, where that is not what the chat says. `badge` says what became of the
    reply beside what was recorded of it: a glyph, a colour of the palette, and words.
    """

    number: int
    name: str
    speaker: Speaker
    text: str
    swipe: int = 0
    swipes: int = 1
    chip: str = ""
    marks: tuple[KeyMark, ...] = ()
    expanded: bool = False
    remark: str = ""
    writing: str = ""
    seen: str = ""
    badge: tuple[str, str, str] | None = None

    def describe(self) -> str:
        """The row in words, for screen readers."""
        parts = [tr("message {number}, {name}, {speaker}", number=self.number, name=self.name, speaker=self.speaker)]
        if self.swipes > 1:
            parts.append(tr("swipe {swipe} of {swipes}", swipe=self.swipe + 1, swipes=self.swipes))
        if self.chip:
            parts.append(self.chip)
        if self.badge is not None:
            parts.append(tr("beside what was recorded: {words}", words=self.badge[2]))
        parts += [part for part in (self.seen, self.remark, self.writing) if part]
        parts += dict.fromkeys(mark.describe() for mark in self.marks)
        return f"{', '.join(parts)}. {shorten(self.text, 400)}"


def speaker(message: Message) -> Speaker:
    """Who speaks a message."""
    if message.is_system:
        return Speaker.HIDDEN
    if message.is_user:
        return Speaker.USER
    return Speaker.CHARACTER if message.scannable else Speaker.NARRATOR


def chip_text(trace: Trace | None) -> str:
    """`4 entries · 612 tokens`: what one run injected, "" without a run."""
    if trace is None:
        return ""
    entries = count(len(trace.injections), "entry", "entries")
    return f"{entries} · {count(trace.total_tokens, 'token', 'tokens')}" if trace.injections else tr("nothing injected")


def seen_words(seen: SeenChat, message: int) -> str:
    """What a run took a message for, "" where that is what the chat says today."""
    shown, assumed = (any(first <= message <= last for first, last in part) for part in (seen.shown, seen.assumed))
    if shown:
        return tr("hidden today, in sight then (assumed)") if assumed else tr("hidden today, in sight then")
    if assumed:
        return tr("hidden, then too (assumed)")
    read = next((each for each in seen.read if each.message == message), None)
    return "" if read is None else tr("searched as changed by {what}", what=", ".join(read.changed_by))


class ChatList(QAbstractListModel):
    """`ITEM` is a `ChatRow`. The texts are never changed here; looking at another swipe is a view, not an edit.

    `marks_changed` says that chips or found keys differ. It is no `dataChanged`, because a list view answers that by
    measuring every message anew.
    """

    marks_changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._chat = Chat()
        self._viewed: dict[int, int] = {}
        self._expanded: set[int] = set()
        self._rows: dict[int, ChatRow] = {}
        self._query = KeyQuery()
        self._trace_of: Callable[[int, int], Trace | None] = lambda _message, _swipe: None
        self._has_chat = False
        self._remarks: dict[int, str] = {}
        self._reply: tuple[int, str, str] | None = None
        self._seen = AS_STORED
        self._badges: Mapping[tuple[int, int], tuple[str, str, str]] = {}

    # ---- content ----------------------------------------------------------------------------------------------------

    @property
    def chat(self) -> Chat | None:
        """The chat that is shown, None for none."""
        return self._chat if self._has_chat else None

    def set_chat(self, chat: Chat | None) -> None:
        """Show another chat, None for none."""
        self.beginResetModel()
        self._has_chat = chat is not None
        self._chat = chat or Chat()
        self._viewed, self._expanded, self._rows, self._query = {}, set(), {}, KeyQuery()
        self.endResetModel()

    def change_chat(self, chat: Chat, places: Mapping[int, int]) -> None:
        """Show what became of the chat; `places` say where its messages stand now (see `places_in`).

        Of these, what is unfolded stays so, and so does the swipe that is shown where the swipes are the same.
        """
        before = self._chat.messages
        edges = [(-1, -1), *places.items(), (len(before), len(chat.messages))]
        for (above, new_above), (below, new_below) in reversed([*pairwise(edges)]):
            self._take_rows(above + 1, below - above - 1)
            self._put_rows(above + 1, chat.messages[new_above + 1 : new_below])
        self._chat, self._query = chat, KeyQuery()
        self._rows.clear()
        changed: list[int] = []
        for was, now in places.items():
            one, other = before[was], chat.messages[now]
            if one is not other and one != other:
                changed.append(now)
                if (one.swipe_id, len(one.swipes)) != (other.swipe_id, len(other.swipes)):
                    self._viewed.pop(now, None)
        for first, last in ranges_of(changed):
            self.dataChanged.emit(self.index(first), self.index(last))

    def set_traces(self, trace_of: Callable[[int, int], Trace | None]) -> None:
        """Where the run of a message and swipe comes from."""
        self._trace_of = trace_of

    def refresh(self, messages: tuple[int, ...] | None = None) -> None:
        """The runs of these messages changed, or of all."""
        for message in [*self._rows] if messages is None else messages:
            self._rows.pop(message, None)
        self.marks_changed.emit()

    def lengths(self) -> list[int]:
        """How many characters each message has, so that its height can be guessed."""
        return [len(message.text) for message in self._chat.messages]

    def view_swipe(self, message: int, swipe: int) -> None:
        """Show another swipe of a message."""
        if 0 <= message < len(self._chat.messages):
            self._viewed[message] = swipe
            self._changed(message)

    def viewed_swipe(self, message: int) -> int:
        """The swipe that is shown."""
        if message in self._viewed or message >= len(self._chat.messages):
            return self._viewed.get(message, 0)
        return self._chat.messages[message].swipe

    def swipes(self, message: int) -> int:
        """How many swipes a message has."""
        return max(1, len(self._chat.messages[message].swipes)) if message < len(self._chat.messages) else 1

    def set_remarks(self, remarks: Mapping[int, str]) -> None:
        """What is wrong beside messages, by their index."""
        if remarks != self._remarks:
            self._remarks = dict(remarks)
            self.refresh()

    def set_badges(self, badges: Mapping[tuple[int, int], tuple[str, str, str]]) -> None:
        """What became of replies beside what was recorded, by message and swipe."""
        if badges != self._badges:
            self._badges = badges
            self.refresh()

    def write_reply(self, message: int, text: str, words: str) -> None:
        """A reply is coming: show what came of it in the place where it will stand. `words` say how it is with it."""
        self._reply = message, text, words
        if message < self.rowCount():
            self._changed(message)

    def end_reply(self) -> None:
        """No reply is coming any more."""
        if self._reply is not None:
            message, self._reply = self._reply[0], None
            if message < self.rowCount():
                self._changed(message)

    def toggle_expanded(self, message: int) -> None:
        """Show all of a long message, or its beginning again."""
        self._expanded ^= {message}
        self._changed(message)

    def highlight(self, query: KeyQuery) -> None:
        """Mark these keys where they were found."""
        if query != self._query:
            self._query = query
            self.refresh()

    def look_from(self, seen: SeenChat) -> None:
        """Say of messages what the run that is looked at took them for."""
        if seen != self._seen:
            self._seen = seen
            self.refresh()

    def flags(self, index: Index) -> Qt.ItemFlag:
        """Qt: messages can be edited in place, by those who ask the view for it."""
        flags = super().flags(index)
        return flags | Qt.ItemFlag.ItemIsEditable if 0 <= index.row() < len(self._chat.messages) else flags

    def rowCount(self, parent: Index = NO_INDEX) -> int:
        """Qt: the messages and the reply to come."""
        return 0 if parent.isValid() or not self._has_chat else len(self._chat.messages) + 1

    def data(self, index: Index, role: int = DISPLAY) -> object:
        """Qt: the row, or it in words."""
        if not 0 <= index.row() < self.rowCount():
            return None
        if role == ITEM:
            return self.row(index.row())
        if role == DISPLAY:
            return self.row(index.row()).text
        if role in {ACCESSIBLE_TEXT, ACCESSIBLE_DESCRIPTION}:
            return self.row(index.row()).describe()
        return None

    def row(self, message: int) -> ChatRow:
        """What a row shows."""
        if message not in self._rows:
            self._rows[message] = self._make(message)
        return self._rows[message]

    def _take_rows(self, first: int, count: int) -> None:
        if count:
            self.beginRemoveRows(NO_INDEX, first, first + count - 1)
            messages = self._chat.messages
            self._renumber((*messages[:first], *messages[first + count :]), first + count, -count)
            self.endRemoveRows()

    def _put_rows(self, first: int, new: Sequence[Message]) -> None:
        if new:
            self.beginInsertRows(NO_INDEX, first, first + len(new) - 1)
            messages = self._chat.messages
            self._renumber((*messages[:first], *new, *messages[first:]), first, len(new))
            self.endInsertRows()

    def _renumber(self, messages: tuple[Message, ...], since: int, more: int) -> None:
        """Take these messages; the old ones from `since` on have another number, and those just before may be gone."""
        kept = {place: place for place in {*self._viewed, *self._expanded} if place < since + min(more, 0)}
        kept |= {place: place + more for place in {*self._viewed, *self._expanded} if place >= since}
        self._viewed = {kept[place]: swipe for place, swipe in self._viewed.items() if place in kept}
        self._expanded = {kept[place] for place in self._expanded if place in kept}
        self._chat = replace(self._chat, messages=messages)
        self._rows.clear()

    def _changed(self, message: int) -> None:
        self._rows.pop(message, None)
        self.dataChanged.emit(self.index(message), self.index(message))

    def _make(self, message: int) -> ChatRow:
        swipe = self.viewed_swipe(message)
        trace = self._trace_of(message, swipe)
        coming = self._reply if self._reply is not None and self._reply[0] == message else None
        chip, remark = chip_text(trace), self._remarks.get(message, "")
        if message >= len(self._chat.messages):
            name = self._chat.character_name or tr("Character")
            if coming is not None and coming[1]:
                return ChatRow(message, name, Speaker.CHARACTER, coming[1], expanded=True, writing=coming[2])
            text = tr("The reply to come. This is what would be sent now.")
            return ChatRow(message, name, Speaker.NEXT, text, chip=chip, remark=remark)
        record = self._chat.messages[message]
        row = ChatRow(message, record.name or tr("(no name)"), speaker(record), "", swipe, self.swipes(message))
        if coming is not None:
            return replace(row, text=coming[1], expanded=True, writing=coming[2])
        text = record.swipes[swipe] if message in self._viewed and swipe < len(record.swipes) else record.text
        marks, expanded = self._query.marks(message, text), message in self._expanded
        seen, badge = seen_words(self._seen, message), self._badges.get((message, swipe))
        return replace(row, text=text, chip=chip, marks=marks, expanded=expanded, remark=remark, seen=seen, badge=badge)
