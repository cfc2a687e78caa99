"""Recaps of single messages: who takes part, what is asked, and which recaps fit.

The first test that rejects a message decides, and its code says why (rules: recap-memory 8). The walk goes from the
newest message to the oldest, within a token limit; its flags are for people, nothing of it goes into a prompt
(rules: recap-memory 7, 9, 10).
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from functools import cached_property
from typing import Final

from msgspec import Struct

from lorestudio.domain.javascript import Json, trim_end, truthy
from lorestudio.domain.json_text import mapping_in, object_in, text_in
from lorestudio.domain.resources import prompt_text
from lorestudio.domain.tokens import GrowingText
from lorestudio.llm.messages import RECAP, ChatRequest
from lorestudio.systems.recap.asking import Handler, Stored, WorkContext, stripped
from lorestudio.systems.recap.chat import RecapChat, RecapSurroundings
from lorestudio.systems.recap.queue import HopelessError, NewOperation, OperationType, QueuedOperation, StoredAnswer
from lorestudio.systems.recap.records import INCLUDED, Record, get_data, get_memory, message_text, set_data, with_values
from lorestudio.systems.recap.scenes.scenes import recap_hash

NO_MESSAGE: Final = "no_message"


class Exclusion(Struct, frozen=True, gc=False):
    """The outcome for one message: `reason` is a code of (rules: recap-memory 8), empty where the message takes
    part; `figures` are tokens and threshold of one that is too short.
    """

    reason: str = ""
    figures: Mapping[str, Json] = {}

    @property
    def included(self) -> bool:
        """Whether the message takes part."""
        return not self.reason


def exclusion(message: Record | None, around: RecapSurroundings) -> Exclusion:
    """Put a message to the tests, in order, up to the first that rejects it."""
    if message is None:
        return Exclusion(NO_MESSAGE)
    for code, rejects in _TESTS:
        if rejects(message, around):
            return Exclusion(code)
    count, least = around.counter.count(message_text(message)), around.settings.message_length_threshold
    return Exclusion("too_short", {"tokens": count, "threshold": least}) if count < least else Exclusion()


_TESTS: Final[tuple[tuple[str, Callable[[Record, RecapSurroundings], bool]], ...]] = (
    ("own_system_message", lambda message, _: truthy(get_data(message, "is_auto_recap_system_memory"))),
    ("excluded_by_user", lambda message, _: truthy(get_data(message, "exclude"))),
    ("user_message", lambda message, at: truthy(message.get("is_user")) and not at.settings.include_user_messages),
    ("thought", lambda message, _: truthy(message.get("is_thoughts"))),
    (
        "hidden_message",
        lambda message, at: truthy(message.get("is_system")) and not at.settings.include_system_messages,
    ),
    (
        "narrator",
        lambda message, at: (
            object_in(message, "extra").get("type") == "narrator" and not at.settings.include_narrator_messages
        ),
    ),
    (
        "character_disabled",  # characters are told apart by their files; the user has none
        lambda message, at: text_in(message.get("original_avatar")) in at.disabled,
    ),
)
"""Tests 1 to 7 in their order, which decides the reason that is given; the length is the 8th."""


SEPARATOR: Final = "\n"
"""Between recaps; none before the first."""

PERCENT: Final = "percent"


class WalkDecision(StrEnum):
    """What the walk did with one message."""

    INCLUDED = "included"
    EXCLUDED = "excluded"
    NO_MEMORY = "no_memory"
    OVER_LIMIT = "over_limit"
    AFTER_LIMIT = "after_limit"


class WalkStep(Struct, frozen=True, gc=False):  # no part of a cycle; a replay makes millions
    """One message of the walk.

    `before` and `after` count the collected text without and with this recap, None unless it was tried.
    """

    index: int
    decision: WalkDecision
    exclusion: Exclusion
    before: int | None = None
    after: int | None = None


class WalkItem(Struct, frozen=True, gc=False):
    """A message as the walk meets it: its recap behind a separator, and its steps where that is not tried.

    `passed` is the step of one that has nothing to try, `behind` that of any once the limit is reached.
    """

    piece: str
    passed: WalkStep | None
    behind: WalkStep

    @classmethod
    def of(cls, index: int, message: Record, around: RecapSurroundings) -> WalkItem:
        """That of the message at this position."""
        tested = exclusion(message, around)
        memory = get_memory(message, show_prefill=around.settings.show_prefill)
        if not tested.included:
            step = WalkStep(index, WalkDecision.EXCLUDED, tested)
            return cls(SEPARATOR + memory, step, step)
        passed = None if memory else WalkStep(index, WalkDecision.NO_MEMORY, tested)
        return cls(SEPARATOR + memory, passed, WalkStep(index, WalkDecision.AFTER_LIMIT, tested))


class Inclusion(Struct, frozen=True, dict=True):
    """A whole walk: steps newest first, and the message that closed it. A limit of None never closes it."""

    limit: float | None
    steps: tuple[WalkStep, ...] = ()
    closed_at: int | None = None

    @cached_property
    def included(self) -> tuple[int, ...]:
        """Positions of the recaps that fit, oldest first."""
        return tuple(step.index for step in reversed(self.steps) if step.decision is WalkDecision.INCLUDED)

    @property
    def tokens(self) -> int:
        """Tokens of what was collected."""
        return next((step.after or 0 for step in reversed(self.steps) if step.decision is WalkDecision.INCLUDED), 0)


def token_limit(context_size: float, limit: float | None, kind: str) -> float | None:
    """The limit in tokens: a share of the context, rounded down, or the number itself. None where there is none."""
    if limit is None:
        return None
    return math.floor(context_size * limit / 100) if kind == PERCENT else limit


def walk(items: Iterable[WalkItem], collected: GrowingText, limit: float | None) -> Inclusion:
    """Collect recaps of items that come newest first, until one does not fit; that one closes the walk.

    `collected`, empty to begin with, is counted as a whole with every recap: parts count differently from their sum.
    """
    used, closed_at, separator = 0, None, len(SEPARATOR)
    steps: list[WalkStep] = []
    for item in items:
        step = item.passed if closed_at is None else item.behind
        if step is None:
            index, tested = item.behind.index, item.behind.exclusion
            tokens = collected.add(item.piece[separator:])
            if limit is not None and tokens > limit:
                closed_at = index
                step = WalkStep(index, WalkDecision.OVER_LIMIT, tested, used, tokens)
            else:
                step = WalkStep(index, WalkDecision.INCLUDED, tested, used, tokens)
                used, separator = tokens, 0
        steps.append(step)
    return Inclusion(limit, tuple(steps), closed_at)


def with_flags(messages: Sequence[Record], found: Inclusion) -> tuple[Record, ...]:
    """The messages with the walk's outcome; all of them get the flag, so all of them have a namespace."""
    included = frozenset(found.included)
    return tuple(
        set_data(message, "include", INCLUDED if index in included else None) for index, message in enumerate(messages)
    )


def candidates(messages: Sequence[Record], around: RecapSurroundings) -> tuple[int, ...]:
    """Messages that are due a recap, oldest first; none where they are fewer than a batch (rules: recap-memory 7.2)."""
    settings = around.settings
    lag, limit = settings.recap_delay, settings.auto_recap_message_limit
    found: list[int] = []
    for depth, index in _by_depth(messages, around):
        if depth <= lag:
            continue
        if limit > 0 and depth > limit + lag:
            break
        if not truthy(get_data(messages[index], "memory")):
            found.append(index)
    found.reverse()
    return tuple(found) if len(found) >= settings.auto_recap_batch_size else ()


def too_far_back(messages: Sequence[Record], around: RecapSurroundings) -> int:
    """How many messages have no recap because they are older than those that are looked at."""
    limit = around.settings.auto_recap_message_limit
    looked_at = limit + around.settings.recap_delay
    older = (index for depth, index in _by_depth(messages, around) if depth > looked_at) if limit > 0 else ()
    return sum(not truthy(get_data(messages[index], "memory")) for index in older)


def _by_depth(messages: Sequence[Record], around: RecapSurroundings) -> Iterator[tuple[int, int]]:
    """The messages that take part, the newest first: how deep each lies, from 1, and its place."""
    taking_part = (index for index in range(len(messages) - 1, -1, -1) if exclusion(messages[index], around).included)
    return enumerate(taking_part, start=1)


FAILED: Final = "The recap could not be made"
_WHOLE_SENTENCES = re.compile(r"^.*[.!?…。！？][\"'”’»)\]*_]*", re.DOTALL)
_MODES: Final[Mapping[str, tuple[bool, bool]]] = {
    "none": (False, False),
    "messages_only": (True, False),
    "summaries_only": (False, True),
    "messages_and_summaries": (True, True),
}
"""Whether messages are shown, and whether recaps are."""


def recap_operation(index: int) -> NewOperation:
    """The operation for the recap of one message."""
    return NewOperation(OperationType.RECAP, {"index": index}, metadata={"message_id": index})


def history_text(messages: Sequence[Record], index: int, around: RecapSurroundings) -> str:
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
    name = text_in(message.get("name"))
    return f"{name}: {message_text(message)}" if name else message_text(message)


def recap_request(chat: RecapChat, index: int, ctx: WorkContext) -> ChatRequest:
    """The question for the recap of one message."""
    settings = ctx.settings
    before = stripped(chat.messages[:index], range(index), settings, keep=settings.strip_depth)
    own = stripped(chat.messages[index : index + 1], [0], settings, keep=settings.strip_depth)
    params: dict[str, Json] = {
        "user": chat.user_name,
        "char": chat.character_name or text_in(chat.messages[index].get("name")),
        "words": str(settings.message_recap_max_tokens),
        "message": spoken(own[0]),
        "history": history_text((*before, *own), index, ctx.around),
        "lorebook_entry_types": "",
    }
    return ctx.request(
        RECAP,
        settings.message_recap_prompt or prompt_text("recap", "message"),
        params,
        settings.message_recap_max_tokens,
        preset=settings.message_recap_preset,
        prefill=settings.prefill,
        with_preset_prompts=settings.include_preset_prompts,
        nested=settings.nest_messages_in_prompt,
        prose=True,
    )


class MessageRecap(Handler):
    """The recap of one message."""

    async def ask(self, operation: QueuedOperation, chat: RecapChat, ctx: WorkContext) -> Json:
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
            memory = trim_end(reply.text)
            if settings.trim_sentences and reply.cut_off:
                memory = whole_sentences(memory)
            if not checked or await ctx.is_sound(memory, "message"):
                return {
                    "memory": memory,
                    "reasoning": reply.thought,
                    "prefill": "" if reply.thought else request.prefill,
                    "hash": recap_hash(message_text(message)),
                }
            if reply.repeatable:
                break
        return {"unsound": True, "hash": recap_hash(message_text(message))}

    def store(self, operation: QueuedOperation, answer: Json, chat: RecapChat, ctx: WorkContext) -> Stored:
        """The recap on its message, on the active swipe as well. Of a text that changed meanwhile it is dropped."""
        index, made = index_of(operation), mapping_in(answer)
        message = chat.at(index)
        if message is None or made.get("hash") != recap_hash(message_text(message)):
            return chat, StoredAnswer(summary="the message has changed meanwhile, so its recap was dropped")
        if truthy(made.get("unsound")):
            problem = "No attempt at a recap was sound, so the message was excluded."
            values: dict[str, Json] = {"memory": None, "include": None, "exclude": True, "error": problem}
            return chat.with_message(index, with_values(message, values)), StoredAnswer(summary=problem)
        wanted: dict[str, Json] = {
            "memory": made.get("memory"),
            "include": None,
            "hash": made.get("hash"),
            "error": None,
            "edited": False,
            "prefill": made.get("prefill"),
            "reasoning": made.get("reasoning") or None,
        }
        return chat.with_message(index, with_values(message, wanted)), StoredAnswer(summary=text_in(made.get("memory")))

    def failed(self, operation: QueuedOperation, error: str, chat: RecapChat, ctx: WorkContext) -> Stored:
        """The message says why it has no recap; one that it had stays."""
        index = index_of(operation)
        message = chat.at(index)
        if message is None:
            return chat, StoredAnswer()
        if truthy(get_data(message, "memory")):
            return chat.with_message(index, set_data(message, "error", error or FAILED)), StoredAnswer()
        values: dict[str, Json] = {
            "memory": None, "error": error or FAILED, "edited": False, "prefill": None, "reasoning": None,
        }  # fmt: skip
        return chat.with_message(index, with_values(message, values)), StoredAnswer()


def whole_sentences(text: str) -> str:
    """The text without an unfinished last sentence; unchanged where it has no finished one."""
    found = _WHOLE_SENTENCES.match(text)
    return found[0] if found else text


def index_of(operation: QueuedOperation) -> int:
    """The message that an operation is about. Raises HopelessError where it names none."""
    for value in (operation.params.get("index"), operation.metadata.get("message_id")):
        if isinstance(value, int) and not isinstance(value, bool):
            return value
    raise HopelessError("The operation names no message. Remove it from the queue.")
