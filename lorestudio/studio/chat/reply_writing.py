"""The next message of the story, from whoever writes it: the request made of an assembled prompt, and the reply put in.

Asking goes through the answer sources of `answering`: a provider, streamed, whose answers are recorded beside the chat,
or what is recorded already. Nothing here changes a file.
"""

from __future__ import annotations

from datetime import datetime
from typing import Final

from lorestudio.domain.chat import Chat, Generation, Message
from lorestudio.domain.javascript import Json
from lorestudio.domain.records import replace
from lorestudio.domain.state import ChatControls
from lorestudio.domain.tokens import TokenCounter
from lorestudio.exchange.chats import notepad
from lorestudio.llm.cost import CostEstimate, estimate
from lorestudio.llm.messages import REPLY, ChatMessage, ChatReply, ChatRequest
from lorestudio.llm.recorded_answers import RecordedAnswers
from lorestudio.settings.deeplore import DeepLoreSettings
from lorestudio.studio.chat import editing
from lorestudio.studio.chat.editing import Voice
from lorestudio.studio.prompt.setup import PromptSetup
from lorestudio.systems.base import NotedReply, WrittenNote
from lorestudio.trace.prompt import AssembledPrompt

TIMEOUT_MS: Final = 300_000
"""How long a reply may take where the profile does not say: local models are slow."""


def reply_request(prompt: AssembledPrompt, setup: PromptSetup, model: str = "") -> ChatRequest:
    """The request that asks for the next reply; `model` is the connection's where none is named."""
    messages = tuple(ChatMessage(each.role.value, each.text, each.name) for each in prompt.messages)
    return ChatRequest(REPLY, "", "", setup.reply_tokens, TIMEOUT_MS, model=model, messages=messages, prose=True)


def reply_cost(request: ChatRequest, counter: TokenCounter, recorded: RecordedAnswers | None = None) -> CostEstimate:
    """What asking costs; an answer in `recorded`, which was read already, is free."""
    return estimate([request], counter, recorded.holds if recorded is not None else None)


def room_for_reply(chat: Chat, place: int | None, now: datetime) -> tuple[Chat, Generation]:
    """The chat with a place for the reply, and the generation that is to fill it.

    Without a `place` the reply comes at the end, and the chat is as it was; else it is a new, empty swipe of the one
    at `place`. Raises IndexError for a message that is not there.
    """
    if place is None:
        return chat, Generation(len(chat.messages))
    made = editing.add_swipe(chat, place, now)
    return made, Generation(place, made.messages[place].swipe)


def noted(
    chat: Chat, controls: ChatControls, place: int, before: Message, taken: NotedReply, settings: DeepLoreSettings
) -> tuple[Chat, ChatControls] | None:
    """The chat with what was noted from the reply at `place`, and the choices with it; `before` is the reply as it was
    when it was asked about. None where it has changed meanwhile, so that the notes are not about it any more.
    """
    now = chat.messages[place] if place < len(chat.messages) else None
    if now is None or (now.swipe, now.text) != (before.swipe, before.text):
        return None
    rest = controls.notepad
    if taken.notes:  # asked again about the same reply, the new answer stands for the old one
        rest = _with_notes(notepad.withdrawn(rest, notepad.notes_of(now)), taken.notes, chat, settings)
    return chat.with_message(place, taken.message), replace(controls, notepad=rest)


def with_session_note(chat: Chat, controls: ChatControls, note: WrittenNote) -> tuple[Chat, ChatControls]:
    """The chat that keeps a session note, and the choices with it; as they were where there is none."""
    if not note.text:
        return chat, controls
    return replace(chat, metadata={**chat.metadata, **note.kept}), replace(controls, scribe_summary=note.text)


def received(
    chat: Chat,
    controls: ChatControls,
    generation: Generation,
    reply: ChatReply,
    now: datetime,
    *,
    speaker: str = "",
    settings: DeepLoreSettings | None = None,
) -> tuple[Chat, ChatControls]:
    """The chat with the reply where `room_for_reply` made room for it, and the choices with what it noted.

    What a local model thought first goes where SillyTavern keeps it, unless nothing else came.
    In the notepad's tag mode, what the model noted for itself leaves the visible text and goes into the notepad
    (rules: deeplore-tools 2.3); in extract mode it is asked for afterwards (`noted`). `speaker` is whose reply it is,
    where not the chat's character's.
    """
    reply = reply if (spoken := reply.without_thinking()).is_empty else spoken
    text, notes = reply.text, ""
    if settings is not None and settings.ai_notepad_enabled and settings.ai_notepad_mode == "tag":
        taken = notepad.tagged_notes(text)
        text, notes = taken.text, taken.notes
    extra: dict[str, Json] = {"model": reply.source} if reply.source else {}
    extra |= {"reasoning": reply.thought} if reply.thought else {}
    if generation.message >= len(chat.messages):
        message = editing.new_message(chat, text, Voice.CHARACTER, now, name=speaker, extra=extra)
        made = editing.append(chat, message)
    else:
        made = editing.edit(chat, generation.message, text, generation.swipe)
        place = made.messages[generation.message]
        noted = editing.synced(replace(place, extra={**place.extra, **extra}))
        made = made.with_message(generation.message, noted)
    if settings is not None and notes:
        place = made.messages[generation.message]
        made = made.with_message(generation.message, notepad.with_notes(place, text, notes))
        controls = replace(controls, notepad=_with_notes(controls.notepad, notes, chat, settings))
    return made, controls


def _with_notes(text: str, notes: str, chat: Chat, settings: DeepLoreSettings) -> str:
    """The notepad with `notes` at its end; by the newer rules without its oldest lines (rules: deeplore-newer 2)."""
    full = notepad.added(text, notes)
    if not settings.rule_set.notepad_lines:
        return full
    return notepad.newest_lines(full, settings.ai_notepad_max_entries, notepad.pinned_lines(chat.metadata))
