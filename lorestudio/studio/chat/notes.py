"""The notes of one chat as data: the person's notebook, the AI notepad, and the last session note.

Source: spec: deeplore-ai-and-tools 2.2 to 2.4, 4.7.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from lorestudio.domain.chat import Chat, Message
from lorestudio.domain.javascript import Json
from lorestudio.domain.state import AiState, ChatControls
from lorestudio.studio.project.project import Project
from lorestudio.systems.deeplore import notepad, scribe
from lorestudio.systems.deeplore import notepad as message_notes

NOTEBOOK_KEY: Final = "deeplore_notebook"


@dataclass(frozen=True, slots=True)
class ChatNotes:
    """One chat with everything that notepad and scribe read and write; a change makes a new one.

    `key` tells chats apart (such as the path). `controls` has the notes, `chat.metadata` the same under the names of
    the chat file. `ai` is the breaker and throttle that the scribe shares with AI selection.
    """

    key: str
    chat: Chat
    controls: ChatControls = field(default_factory=ChatControls)
    ai: AiState = field(default_factory=AiState)

    @classmethod
    def of(cls, project: Project) -> ChatNotes:
        """Those of the project's chat; a project without one has an empty chat."""
        return cls(str(project.chat_path or project.name), project.chat or Chat(), project.controls)

    def with_notebook(self, text: str) -> ChatNotes:
        """The person's own notebook, as they saved it."""
        return _changed(self, replace(self.controls, notebook=text), {NOTEBOOK_KEY: text})

    def with_notepad(self, text: str) -> ChatNotes:
        """The AI notepad with this text; an empty one clears it. What is too long loses its oldest lines."""
        kept = notepad.capped(text)
        if kept == self.controls.notepad:
            return self
        return _changed(self, replace(self.controls, notepad=kept), {notepad.NOTEPAD_KEY: kept})

    def with_summary(self, note: scribe.SessionNote, chat_length: int) -> ChatNotes:
        """The last session note, about a chat of this length."""
        return _changed(self, replace(self.controls, scribe_summary=note.text), scribe.stored(note, chat_length))

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
        """Take back what the message contributed: for before it is written anew or edited."""
        message = self.chat.messages[place]
        notes = message_notes.notes_of(message)
        if not notes:
            return self
        rest = notepad.withdrawn(self.controls.notepad, notes)
        return self.with_message(place, message_notes.with_notes(message, message.text, "")).with_notepad(rest)


@dataclass(slots=True)
class NotesDesk:
    """Where the notes of the open chat lie. Whoever changes the chat, or opens another, puts the new state here."""

    notes: ChatNotes


def _changed(notes: ChatNotes, controls: ChatControls, values: Mapping[str, Json]) -> ChatNotes:
    """With these controls, and the same in the chat's metadata."""
    return replace(notes, controls=controls, chat=replace(notes.chat, metadata={**notes.chat.metadata, **values}))
