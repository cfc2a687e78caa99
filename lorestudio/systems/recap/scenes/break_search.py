"""The search for scene breaks: what a model is asked, what its answer leads to, and the way back through the scene.

A break that was found is followed by a search backwards for breaks that were missed; then the scenes get their recaps
one after the other, and the search goes on behind. A range whose questions do not fit the model is cut: by halves, by
quarters, message by message (rules: recap-memory 12.3 to 12.5).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Final

from msgspec import Struct

from lorestudio.domain.javascript import Json, truthy
from lorestudio.domain.json_text import mapping_in, text_in
from lorestudio.domain.resources import prompt_text
from lorestudio.llm.messages import SCENE_BREAK, ChatReply, ChatRequest
from lorestudio.systems.recap.asking import Handler, Stored, WorkContext, stripped, unusable
from lorestudio.systems.recap.chat import RecapChat
from lorestudio.systems.recap.queue import (
    HopelessError,
    NewOperation,
    OperationType,
    Priority,
    QueuedOperation,
    StoredAnswer,
)
from lorestudio.systems.recap.records import message_text
from lorestudio.systems.recap.scenes.breaks import (
    BELOW_MINIMUM,
    BreakAnswer,
    Chain,
    Choices,
    Mode,
    chosen_paragraphs,
    detect_operation,
    detection_choices,
    is_vetoed,
    matching,
    number_in,
    positions,
    read_answer,
    refusal,
    speaks_of_formatting,
)
from lorestudio.systems.recap.scenes.recaps import scene_request
from lorestudio.systems.recap.scenes.scenes import unchecked


def fitted_end(start: int, end: int, fits: Callable[[int], bool], step: int) -> int:
    """The last end for which `fits` is true. It may be below `start`: nothing fits then.

    After halving and after quartering the last cut is taken back, so that the range stays as long as it can be; the
    last phase drops `step` messages at a time.
    """
    for quarters in (2, 3):
        before = end
        while end > start and not fits(end):
            before, end = end, start + (end - start) * quarters // 4
        end = before
    while end >= start and not fits(end):
        end -= step
    return end


_FEWEST: Final = 2
"""With no more messages than this to choose from, a shortened range leads nowhere."""


class BreakSearch(Struct, frozen=True):
    """One search: a range, and how it is looked through."""

    start: int
    end: int
    offset: int
    mode: Mode

    def choices(self, chat: RecapChat, ctx: WorkContext) -> Choices:
        """What may be chosen."""
        settings = ctx.settings
        return detection_choices(
            chat.messages,
            self.start,
            self.end,
            least=settings.auto_scene_break_minimum_scene_length,
            which=settings.auto_scene_break_check_which_messages,
            mode=self.mode,
            offset=self.offset,
        )


def detection_request(chat: RecapChat, search: BreakSearch, found: Choices, ctx: WorkContext) -> ChatRequest:
    """The question where a scene ends."""
    settings = ctx.settings
    built_in = prompt_text("recap", "detect-forced") if search.mode == "forced" else prompt_text("recap", "detect")
    params: dict[str, Json] = {
        "messages": chosen_paragraphs(stripped(chat.messages, found.filtered, settings), found),
        "minimum_scene_length": str(settings.auto_scene_break_minimum_scene_length),
        "earliest_allowed_break": str(found.earliest if found.earliest is not None else ""),
    }
    prompt, most = settings.detection_prompt or built_in, settings.detection_max_tokens
    return ctx.request(SCENE_BREAK, prompt, params, most, preset=settings.detection_preset)


def search_of(operation: QueuedOperation, mode: Mode | None = None) -> BreakSearch:
    """The search that an operation asks for. Raises HopelessError where it has no range."""
    start, end = number_in(operation.params, "startIndex"), number_in(operation.params, "endIndex")
    if start is None or end is None:
        raise HopelessError("The operation names no range of messages. Remove it from the queue.")
    if mode is None:
        mode = "forced" if truthy(operation.params.get("forceSelection")) else "forward"
    offset = number_in(operation.params, "offset") or 0
    return BreakSearch(start, end, offset if mode == "forward" else 0, mode)


def fitted(search: BreakSearch, chat: RecapChat, ctx: WorkContext) -> tuple[BreakSearch, Choices]:
    """The search with a range that fits the model. A shortened one has to end in a choice.

    Raises HopelessError where what fits is too short to choose from.
    """
    found = search.choices(chat, ctx)
    if not found.choices or not ctx.context_size:
        return search, found

    def shortened(end: int) -> BreakSearch:
        return search if end == search.end else BreakSearch(search.start, end, 0, "forced")

    def fits(end: int) -> bool:
        tried = shortened(end)
        question = detection_request(chat, tried, tried.choices(chat, ctx), ctx)
        scene = scene_request(chat, (search.start, end), ctx)
        settings = ctx.settings
        return not (
            ctx.tokens(question, settings.detection_preset).too_large
            or ctx.tokens(scene, settings.scene_recap_preset).too_large
        )

    both = ctx.settings.auto_scene_break_check_which_messages == "both"
    end = fitted_end(search.start, search.end, fits, 2 if both else 1)
    result = shortened(end)
    choices = result.choices(chat, ctx) if end >= search.start else Choices((), ())
    if end < search.end and len(choices.eligible) <= _FEWEST:
        raise HopelessError("Even two messages are too long for the model. Choose one with more room.")
    return result, choices


def read_reply(reply: ChatReply) -> BreakAnswer:
    """The answer in a reply. Raises ValueError, or HopelessError where asking again would not help."""
    try:
        return read_answer(reply.text)
    except ValueError as error:
        raise unusable(reply, str(error)) from error


def refused(said: BreakAnswer, search: BreakSearch, found: Choices, ctx: WorkContext) -> str:
    """Why an answer cannot be taken, empty where it can."""
    return refusal(
        said.at,
        start=search.start,
        end=search.end,
        filtered=found.filtered,
        least=ctx.settings.auto_scene_break_minimum_scene_length,
        last_eligible=search.end - search.offset,
    )


_FORMATTING_RETRY: Final = "formatting_rationale_retry"


class Detect(Handler):
    """The search for the first break in a range."""

    async def ask(self, operation: QueuedOperation, chat: RecapChat, ctx: WorkContext) -> Json:
        """What was found, and why it is taken or not."""
        search = search_of(operation)
        shortened, found = fitted(search, chat, ctx)
        if not found.choices:
            return {"outcome": "not_enough", "at": False, "end": shortened.end}
        reply = await ctx.ask(detection_request(chat, shortened, found, ctx))
        said = read_reply(reply)
        decided: dict[str, Json] = {
            "at": said.at if said.at is False else _number(said.at),
            "rationale": said.rationale,
            "end": shortened.end,
            "shortened": shortened.end < search.end,
        }
        if speaks_of_formatting(said.rationale):
            return {**decided, "outcome": "formatting"}
        problem = refused(said, shortened, found, ctx)
        if problem == BELOW_MINIMUM:
            return {**decided, "outcome": BELOW_MINIMUM, "earliest": found.earliest}
        if problem:
            raise unusable(reply, f"The model chose message {said.at}, which cannot be taken ({problem}).")
        if said.at is False:
            if shortened.mode == "forced":
                raise unusable(reply, "The model had to choose a message and chose none.")
            return {**decided, "outcome": "none"}
        texts = [message_text(message) for message in chat.messages]
        if shortened.mode != "forced" and is_vetoed(texts, int(said.at), said.rationale):
            return {**decided, "outcome": "vetoed"}
        return {**decided, "outcome": "found"}

    def store(self, operation: QueuedOperation, answer: Json, chat: RecapChat, ctx: WorkContext) -> Stored:
        """The break that was found and the search backwards from it, or what is to be looked through next."""
        search, made = search_of(operation), mapping_in(answer)
        at, end = number_in(made, "at"), number_in(made, "end")
        last = search.end if end is None else end
        rationale = text_in(made.get("rationale"))
        match made.get("outcome"):
            case "formatting":
                if operation.metadata.get("triggered_by") == _FORMATTING_RETRY:
                    return chat, StoredAnswer(summary="the reason was about formatting again; nothing was decided")
                metadata = {**operation.carried, "triggered_by": _FORMATTING_RETRY}
                again = NewOperation(OperationType.DETECT, operation.params, Priority.DETECT, metadata=metadata)
                return chat, StoredAnswer((again,), "the reason was about formatting, so it is asked once more")
            case "below_minimum":
                earliest = number_in(made, "earliest")
                if earliest is None or earliest <= search.start:
                    return chat.checked(search.start, last), StoredAnswer(summary="too early")
                chat = chat.checked(search.start, earliest - 1)
                later = detect_operation(earliest, search.end, search.offset)
                return chat, StoredAnswer((later,), "the choice was too early, so the search goes on behind")
            case "vetoed" if at is not None:
                chat = chat.checked(search.start, at)
                following = _rest(chat, at + 1, search, ctx)
                return chat, StoredAnswer(
                    following, f"message {at} was refused: the scene rather goes on ({rationale})"
                )
            case "found" if at is not None and chat.at(at) is not None:
                return _place(chat, search, at, rationale)
            case "none":
                chat = chat.checked(search.start, last)
                following = _rest(chat, last + 1, search, ctx) if truthy(made.get("shortened")) else ()
                return chat, StoredAnswer(following, f"no scene ends between {search.start} and {last}")
        return chat, StoredAnswer(summary="there were too few messages to choose from")


class DetectBackwards(Handler):
    """The search for a break before one that was found."""

    async def ask(self, operation: QueuedOperation, chat: RecapChat, ctx: WorkContext) -> Json:
        """What was found; anything doubtful counts as nothing."""
        search = search_of(operation, "backward")
        found = search.choices(chat, ctx)
        if not found.choices:
            return {"at": False}
        request = detection_request(chat, search, found, ctx)
        if ctx.tokens(request, ctx.settings.detection_preset).too_large:
            return {"at": False}
        said = read_reply(await ctx.ask(request))
        doubtful = speaks_of_formatting(said.rationale) or said.at is False or refused(said, search, found, ctx)
        texts = [message_text(message) for message in chat.messages]
        if doubtful or said.at not in found.choices or is_vetoed(texts, int(said.at), said.rationale):
            return {"at": False, "rationale": said.rationale}
        return {"at": _number(said.at), "rationale": said.rationale}

    def store(self, operation: QueuedOperation, answer: Json, chat: RecapChat, ctx: WorkContext) -> Stored:
        """An earlier break and the search before it, or the end of the chain: the recaps."""
        search, at = search_of(operation, "backward"), number_in(mapping_in(answer), "at")
        following = number_in(operation.metadata, "next_break")
        after = search.end + 1 if following is None else following
        messages = list(chat.messages)
        unchecked(messages, search.start, after)
        chat = chat.with_messages(tuple(messages))
        found = list(positions(operation.metadata.get("discovered")))
        if at is None or chat.at(at) is None:
            return chat, StoredAnswer(_end_of_chain(chat, operation, found, ctx), "no earlier break")
        chat = chat.with_break(at).checked(at + 1, after - 1)
        found = [at, *found]
        least = ctx.settings.auto_scene_break_minimum_scene_length
        if at - search.start < 2 * least:
            return chat, StoredAnswer(_end_of_chain(chat, operation, found, ctx), f"an earlier break at {at}")
        step = _backwards(search.start, at, {**operation.carried, "discovered": list(found), "next_break": at})
        return chat, StoredAnswer((step,), f"an earlier break at {at}")

    def failed(self, operation: QueuedOperation, error: str, chat: RecapChat, ctx: WorkContext) -> Stored:
        """The chain ends with what was found."""
        found = list(positions(operation.metadata.get("discovered")))
        return chat, StoredAnswer(_end_of_chain(chat, operation, found, ctx))


def _place(chat: RecapChat, search: BreakSearch, at: int, rationale: str) -> Stored:
    chat = chat.with_break(at).checked(search.start, at)
    carried: dict[str, Json] = {
        "discovered": [at], "next_break": at, "original_break": at, "original_end": search.end
    }  # fmt: skip
    return chat, StoredAnswer((_backwards(search.start, at, carried),), f"a scene ends at message {at}: {rationale}")


def _backwards(start: int, at: int, carried: Mapping[str, Json]) -> NewOperation:
    params: dict[str, Json] = {"startIndex": start, "endIndex": at - 1}
    return NewOperation(OperationType.DETECT_BACKWARDS, params, Priority.DETECT_BACKWARDS, metadata=carried)


def _end_of_chain(
    chat: RecapChat, operation: QueuedOperation, found: list[int], ctx: WorkContext
) -> tuple[NewOperation, ...]:
    """The recaps of the scenes that were found, the earliest first; then the search goes on."""
    original, end = (number_in(operation.metadata, key) for key in ("original_break", "original_end"))
    start = None if original is None else original + 1
    return Chain(tuple(found), start, end).next(chat, ctx.settings)


def _rest(chat: RecapChat, start: int, search: BreakSearch, ctx: WorkContext) -> tuple[NewOperation, ...]:
    """The search in what is left of a range, where there is enough of it."""
    settings = ctx.settings
    found = matching(chat.messages, start, search.end, settings.auto_scene_break_check_which_messages)
    if len(found) < settings.auto_scene_break_minimum_scene_length + 1:
        return ()
    return (detect_operation(start, search.end, search.offset),)


def _number(value: float) -> Json:
    return int(value) if math.isfinite(value) and float(value).is_integer() else None if math.isnan(value) else value
