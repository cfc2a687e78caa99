"""What happens after a reply: the AI notepad takes its notes, and the session scribe writes a summary when one is due.

The notes of a chat are in a `NotesDesk`, which always holds a whole `ChatNotes`: a tool reads it, asks its question, and
puts its finished result in one step onto whatever is there then, or leaves everything alone. So what a person changes
while a model is thinking stays, and an answer for a chat or a swipe that is no longer there is dropped.
Source: spec: deeplore-ai-and-tools 2.2 to 2.4.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Final

from lorestudio.domain.chat import Chat, Message
from lorestudio.domain.javascript import Json, trim
from lorestudio.domain.state import AiState, ChatControls
from lorestudio.engine.deeplore.ai import breaker
from lorestudio.engine.deeplore.ai.asking import merged_message
from lorestudio.engine.deeplore.ai.conversation import lines
from lorestudio.llm import AnswerSource, ChatReply, ChatRequest, ErrorKind, LlmError
from lorestudio.memory import message_notes, notepad, scribe
from lorestudio.settings.behaviour import FIXED, Behaviour
from lorestudio.settings.deeplore import DeepLoreSettings
from lorestudio.studio.jobs import Cancelled, CancelToken
from lorestudio.studio.scribe_notes import save_session_note
from lorestudio.trace.model import AiCall
from lorestudio.vault import VaultError

NOTEPAD: Final = "AI notepad"
SCRIBE: Final = "session scribe"
NOTEBOOK_KEY: Final = "deeplore_notebook"

_POLL_S: Final = 0.05
"""How often a waiting tool looks whether somebody asked it to stop."""

_REFUSED: Final = frozenset({ErrorKind.AUTHENTICATION, ErrorKind.RATE_LIMITED})
"""What counts against the breaker when the scribe is told so, though not in AI selection (spec 1.8)."""


@dataclass(frozen=True, slots=True)
class ChatNotes:
    """One chat with everything that notepad and scribe read and write; a change makes a new one.

    `key` tells chats apart (such as the path). `controls` has the notes, `chat.metadata` the same under the names of the
    chat file. `ai` is the breaker and throttle that the scribe shares with AI selection.
    """

    key: str
    chat: Chat
    controls: ChatControls = field(default_factory=ChatControls)
    ai: AiState = field(default_factory=AiState)

    def with_metadata(self, **values: Json) -> ChatNotes:
        """The same with these values in the chat's metadata."""
        return replace(self, chat=replace(self.chat, metadata={**self.chat.metadata, **values}))

    def with_notebook(self, text: str) -> ChatNotes:
        """The person's own notebook, as they saved it."""
        changed = replace(self, controls=replace(self.controls, notebook=text))
        return changed.with_metadata(**{NOTEBOOK_KEY: text})

    def with_notepad(self, text: str) -> ChatNotes:
        """The AI notepad with this text; an empty one clears it. What is too long loses its oldest lines."""
        kept = notepad.capped(text)
        changed = replace(self, controls=replace(self.controls, notepad=kept))
        return changed.with_metadata(**{notepad.NOTEPAD_KEY: kept})

    def with_message(self, place: int, message: Message) -> ChatNotes:
        """The chat with another message at index `place`."""
        messages = (*self.chat.messages[:place], message, *self.chat.messages[place + 1 :])
        return replace(self, chat=replace(self.chat, messages=messages))

    def turned(self, place: int, swipe: int) -> ChatNotes:
        """Another swipe of the message is shown: the notes of the one before go, those of this one come back.

        DeepLore only takes them away. Raises IndexError for a swipe that the message does not have.
        """
        message = self.chat.messages[place]
        shown = message_notes.turned(message, swipe)
        rest = notepad.withdrawn(self.controls.notepad, message_notes.notes_of(message))
        return self.with_message(place, shown).with_notepad(notepad.added(rest, message_notes.notes_of(shown)))

    def without_notes_of(self, place: int) -> ChatNotes:
        """Take back what the message contributed: before it is written anew, edited or deleted."""
        message = self.chat.messages[place]
        rest = notepad.withdrawn(self.controls.notepad, message_notes.notes_of(message))
        return self.with_message(place, message_notes.with_notes(message, message.text, "")).with_notepad(rest)


@dataclass(slots=True)
class NotesDesk:
    """Where the notes of the open chat lie. Whoever changes or switches the chat puts the new state here."""

    notes: ChatNotes


class NotesOutcome(StrEnum):
    """How a tool's run ended; only after `STORED` anything is different."""

    STORED = "stored"
    NOTHING = "nothing"
    FAILED = "failed"
    PAUSED = "paused"
    CANCELLED = "cancelled"
    DROPPED = "dropped"


@dataclass(frozen=True, slots=True)
class NotesRecord:
    """What one tool did, for the person to see.

    `text` says it in a sentence or two. `notes` is what was noted, `removed` what was taken out of the visible reply.
    `call` is the request with its answer or error. `note` is the finished session note, there even where it could not be
    saved; `path` is its file. `metadata` are the values of the chat's metadata that changed.
    """

    tool: str
    outcome: NotesOutcome
    text: str
    notes: str = field(default="", repr=False)
    removed: tuple[str, ...] = field(default=(), repr=False)
    call: AiCall | None = field(default=None, repr=False)
    note: scribe.SessionNote | None = field(default=None, repr=False)
    path: Path | None = None
    metadata: Mapping[str, Json] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True)
class NotesResult:
    """The chat's notes afterwards, and a record of every tool that had something to do."""

    notes: ChatNotes
    records: tuple[NotesRecord, ...] = ()

    @property
    def metadata(self) -> dict[str, Json]:
        """All values of the chat's metadata that changed."""
        return {key: value for record in self.records for key, value in record.metadata.items()}


class SessionNotes:
    """Runs the two tools over the chat on the desk.

    `now` gives the moment with its time zone, `timer` measures in seconds. Nothing is written to disk unless a vault is
    named. A tool whose task is cancelled leaves everything as it was; a cancel token does the same with a record.
    """

    def __init__(
        self,
        desk: NotesDesk,
        answers: AnswerSource,
        settings: DeepLoreSettings,
        behaviour: Behaviour | None = None,
        *,
        now: Callable[[], datetime] = lambda: datetime.now().astimezone(),
        timer: Callable[[], float] = time.perf_counter,
    ) -> None:
        self._desk = desk
        self._answers = answers
        self._settings = settings
        self._behaviour = behaviour or Behaviour()
        self._now = now
        self._timer = timer
        self._scribing = False

    async def after_reply(
        self, place: int, *, cancel: CancelToken | None = None, vault: Path | None = None
    ) -> NotesResult:
        """Take notes from the reply at index `place`, then write a session note if one is due.

        `vault` is the folder whose scribe folder gets the note as a file. Raises IndexError where the chat has no such
        message, and ValueError where it is no reply.
        """
        key = self._desk.notes.key
        records = [await self._take_notes(place, cancel)]
        if self._desk.notes.key == key and self.is_due:
            records.append(await self._summarize("", cancel, vault))
        return NotesResult(self._desk.notes, tuple(record for record in records if record is not None))

    @property
    def is_due(self) -> bool:
        """Whether the scribe would start by itself now."""
        notes = self._desk.notes
        noted_length = scribe.last_length(notes.chat.metadata)
        return not self._scribing and scribe.is_due(self._settings, len(notes.chat.messages), noted_length)

    async def summarize(
        self, focus: str = "", *, cancel: CancelToken | None = None, vault: Path | None = None
    ) -> NotesResult:
        """Write a session note now, due or not, the scribe switched on or not. `focus` is what to look at specially."""
        record = await self._summarize(focus, cancel, vault)
        return NotesResult(self._desk.notes, (record,))

    async def _take_notes(self, place: int, cancel: CancelToken | None) -> NotesRecord | None:
        notes = self._desk.notes
        message = notes.chat.messages[place] if place >= 0 else None
        if message is None or message.is_user or not message.scannable:
            text = f"Message {place + 1} is no reply, so there are no notes to take from it."
            raise ValueError(text)
        if not self._settings.ai_notepad_enabled:
            return None
        if self._settings.ai_notepad_mode == "tag":
            return self._take_tagged(place, message)
        return await self._extract(place, message, cancel) if trim(message.text) else None

    def _take_tagged(self, place: int, message: Message) -> NotesRecord | None:
        found = notepad.tagged_notes(message.text)
        warning = (
            f"The reply opens a block of notes and never closes it ({notepad.CLOSING} is missing), so it stays visible."
        )
        if not found.removed:
            return NotesRecord(NOTEPAD, NotesOutcome.NOTHING, warning) if found.unclosed else None
        # An earlier part of the same reply may have had notes: they are no longer in its text.
        own = notepad.added(message_notes.notes_of(message), found.notes)
        notes = self._desk.notes.with_message(place, message_notes.with_notes(message, found.text, own))
        record = self._noted(notes, notepad.added(notes.controls.notepad, found.notes), found.notes)
        return replace(
            record, removed=found.removed, text=f"{record.text} {warning}" if found.unclosed else record.text
        )

    async def _extract(self, place: int, message: Message, cancel: CancelToken | None) -> NotesRecord:
        notes = self._desk.notes
        known = notepad.withdrawn(notes.controls.notepad, message_notes.notes_of(message))
        request = notepad.extraction_request(known, message.text, self._settings)
        call = await self._ask(request, cancel)
        if call.reply is None:
            return call.failure(NOTEPAD)
        now = self._desk.notes
        if now.key != notes.key or not _same_reply(now.chat, place, message):
            return call.dropped(NOTEPAD, "the chat or the reply has changed meanwhile")
        if not trim(call.reply.text):
            return call.empty(NOTEPAD)
        visible = notepad.without_asides(message.text)
        current = now.chat.messages[place]
        before = message_notes.notes_of(current)
        taken = notepad.answered_notes(call.reply.text)
        # Asked a second time about the same reply, the new answer stands for the old one.
        rest = notepad.withdrawn(now.controls.notepad, before) if taken else now.controls.notepad
        now = now.with_message(place, message_notes.with_notes(current, visible.text, taken or before))
        record = self._noted(now, notepad.added(rest, taken), taken)
        if not taken and not visible.removed:
            record = replace(record, outcome=NotesOutcome.NOTHING)
        return replace(record, removed=visible.removed, call=call.record, text=call.with_notes(record.text))

    def _noted(self, notes: ChatNotes, text: str, taken: str) -> NotesRecord:
        """Put the notes with their new notepad on the desk, and say what is different."""
        changed = text != self._desk.notes.controls.notepad
        lost = bool(taken) and not text.endswith(taken)
        before = notes.controls.notepad
        shortened = changed and bool(before) and not lost and not text.startswith(before[: len(before) // 2])
        self._desk.notes = notes.with_notepad(text)
        sentence = f"Noted {len(taken.splitlines())} lines." if taken else "There was nothing to note."
        if shortened:
            sentence += " The notepad was full, so its oldest lines were dropped."
        metadata: dict[str, Json] = {notepad.NOTEPAD_KEY: text} if changed else {}
        return NotesRecord(NOTEPAD, NotesOutcome.STORED, sentence, notes=taken, metadata=metadata)
