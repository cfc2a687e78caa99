"""Recaps of single messages: what is asked, and what the answer leaves on the message (spec: recap-memory 7)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from lorestudio.domain.javascript import Json, trim, trim_end, truthy
from lorestudio.llm.messages import RECAP, ChatRequest
from lorestudio.systems.recap import prompts
from lorestudio.systems.recap.chat import RecapChat
from lorestudio.systems.recap.context import WorkContext
from lorestudio.systems.recap.inclusion import Surroundings, exclusion
from lorestudio.systems.recap.queue import NewOperation, Operation, OperationType, Priority, QueueState
from lorestudio.systems.recap.records import (
    Record,
    get_data,
    get_memory,
    mapping,
    message_text,
    set_data,
    text_of,
    with_values,
)
from lorestudio.systems.recap.requests import stripped
from lorestudio.systems.recap.scenes import recap_hash
from lorestudio.systems.recap.worker import HopelessError, Stored

FAILED: Final = "The recap could not be made"
_REASONING = re.compile(r"\s*<(think|thinking|reasoning)>(.*?)</\1>\s*", re.DOTALL | re.IGNORECASE)
_WHOLE_SENTENCES = re.compile(r"^.*[.!?…。！？][\"'”’»)\]*_]*", re.DOTALL)
_MODES: Final[Mapping[str, tuple[bool, bool]]] = {
    "none": (False, False),
    "messages_only": (True, False),
    "summaries_only": (False, True),
    "messages_and_summaries": (True, True),
}
"""Whether messages are shown, and whether recaps are."""


def recap_operation(index: int, priority: float = Priority.NORMAL) -> NewOperation:
    """The operation for the recap of one message."""
    return NewOperation(OperationType.RECAP, {"index": index}, priority, metadata={"message_id": index})


def history_text(messages: Sequence[Record], index: int, around: Surroundings) -> str:
    """Earlier messages, or their recaps, as far as the settings show them; oldest first."""
    settings = around.settings
    with_messages, with_recaps = _MODES.get(settings.include_message_history_mode, (False, False))
    found: list[str] = []
    count = 0
    for place in range(index - 1, -1, -1):
        if count >= settings.include_message_history or not (with_messages or with_recaps):
            break
        message = messages[place]
        hidden = (
            (truthy(message.get("is_user")) and not settings.include_user_messages_in_history)
            or (truthy(message.get("is_system")) and not settings.include_system_messages_in_history)
            or (truthy(message.get("is_thoughts")) and not settings.include_thought_messages_in_history)
        )
        if hidden:
            continue
        shown: list[str] = []
        memory = get_memory(message)
        if with_recaps and memory and exclusion(message, around).included:
            shown.append(f"Summary: {memory}")
        if with_messages:
            shown.append(spoken(message))
        found += shown
        count += bool(shown)
    return "\n".join(reversed(found))


def spoken(message: Record) -> str:
    """A message with its speaker."""
    name = text_of(message.get("name"))
    return f"{name}: {message_text(message)}" if name else message_text(message)


def recap_request(chat: RecapChat, index: int, ctx: WorkContext) -> ChatRequest:
    """The question for the recap of one message."""
    settings = ctx.settings
    before = stripped(chat.messages[:index], range(index), settings, keep=settings.strip_depth)
    own = stripped(chat.messages[index : index + 1], [0], settings, keep=settings.strip_depth)
    params: dict[str, Json] = {
        "user": chat.user_name,
        "char": chat.character_name or text_of(chat.messages[index].get("name")),
        "words": str(settings.message_recap_max_tokens),
        "message": spoken(own[0]),
        "history": history_text((*before, *own), index, ctx.around),
        "lorebook_entry_types": "",
    }
    return ctx.request(
        RECAP,
        settings.message_recap_prompt or prompts.MESSAGE,
        params,
        settings.message_recap_max_tokens,
        preset=settings.message_recap_preset,
        prefill=settings.prefill,
        with_preset_prompts=settings.include_preset_prompts,
        nested=settings.nest_messages_in_prompt,
    )


@dataclass(frozen=True, slots=True)
class MessageRecap:
    """The recap of one message."""

    async def ask(self, operation: Operation, chat: RecapChat, ctx: WorkContext) -> Json:
        """A recap, approved of where recaps are checked; `unsound` where no attempt was."""
        index = index_of(operation)
        message = chat.at(index)
        if message is None:
            raise HopelessError(f"The chat has no message {index} any more.")
        settings = ctx.settings
        request = recap_request(chat, index, ctx)
        checked = settings.error_detection_enabled and settings.message_recap_error_detection_enabled
        attempts = 1 + (settings.message_recap_error_detection_retries if checked else 0)
        for _ in range(attempts):
            reply = await ctx.ask(request)
            memory, reasoning = _parsed(request.prefill, reply.text)
            if settings.trim_sentences and reply.cut_off:
                memory = whole_sentences(memory)
            if not checked or await ctx.is_sound(memory, "message"):
                return {
                    "memory": memory,
                    "reasoning": reasoning,
                    "prefill": "" if reasoning else request.prefill,
                    "hash": recap_hash(message_text(message)),
                }
            if reply.repeatable:
                break
        return {"unsound": True, "hash": recap_hash(message_text(message))}

    def store(
        self, operation: Operation, answer: Json, chat: RecapChat, queue: QueueState, ctx: WorkContext
    ) -> tuple[RecapChat, Stored]:
        """The recap on its message, on the active swipe as well. Of a text that changed meanwhile it is dropped."""
        del queue, ctx
        index, made = index_of(operation), mapping(answer)
        message = chat.at(index)
        if message is None or made.get("hash") != recap_hash(message_text(message)):
            return chat, Stored(summary="the message has changed meanwhile, so its recap was dropped")
        if truthy(made.get("unsound")):
            problem = "No attempt at a recap was sound, so the message was excluded."
            values: dict[str, Json] = {"memory": None, "include": None, "exclude": True, "error": problem}
            return chat.with_message(index, with_values(message, values)), Stored(summary=problem)
        wanted: dict[str, Json] = {
            "memory": made.get("memory"),
            "include": None,
            "hash": made.get("hash"),
            "error": None,
            "edited": False,
            "prefill": made.get("prefill"),
            "reasoning": made.get("reasoning") or None,
        }
        return chat.with_message(index, with_values(message, wanted)), Stored(summary=text_of(made.get("memory")))

    def failed(self, operation: Operation, error: str, chat: RecapChat, ctx: WorkContext) -> tuple[RecapChat, Stored]:
        """The message says why it has no recap; one that it had stays."""
        del ctx
        index = index_of(operation)
        message = chat.at(index)
        if message is None:
            return chat, Stored()
        if truthy(get_data(message, "memory")):
            return chat.with_message(index, set_data(message, "error", error or FAILED)), Stored()
        values: dict[str, Json] = {
            "memory": None, "error": error or FAILED, "edited": False, "prefill": None, "reasoning": None,
        }  # fmt: skip
        return chat.with_message(index, with_values(message, values)), Stored()


def whole_sentences(text: str) -> str:
    """The text without an unfinished last sentence; unchanged where it has no finished one."""
    found = _WHOLE_SENTENCES.match(text)
    return found[0] if found else text


def index_of(operation: Operation) -> int:
    """The message that an operation is about. Raises HopelessError where it names none."""
    for value in (operation.params.get("index"), operation.metadata.get("message_id")):
        if isinstance(value, int) and not isinstance(value, bool):
            return value
    raise HopelessError("The operation names no message. Remove it from the queue.")


def _parsed(prefill: str, text: str) -> tuple[str, str]:
    """The recap and the reasoning before it; the prefill counts as the beginning of the answer."""
    found = _REASONING.match(prefill + text)
    if found is not None:
        return trim((prefill + text)[found.end() :]), trim(found[2])
    return trim_end(text), ""
