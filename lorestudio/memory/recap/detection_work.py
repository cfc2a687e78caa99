"""The search for scene breaks: what a model is asked, what its answer leads to, and the way back through the scene.

A break that was found is followed by a search backwards for breaks that were missed; then the scenes get their recaps
one after the other, and the search goes on behind (spec: recap-memory 12.3 to 12.5).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from lorestudio.domain.javascript import Json, truthy
from lorestudio.memory.recap.chain import Chain, detect_operation, number_in, positions
from lorestudio.memory.recap.chat import RecapChat
from lorestudio.memory.recap.context import WorkContext, unusable
from lorestudio.memory.recap.detection import matching
from lorestudio.memory.recap.detection_checks import (
    BELOW_MINIMUM,
    continuity_veto,
    speaks_of_formatting,
)
from lorestudio.memory.recap.detection_search import Search, detection_request, fitted, read_reply, refused, search_of
from lorestudio.memory.recap.operations import NewOperation, Operation, OperationType, Priority
from lorestudio.memory.recap.queue_state import QueueState
from lorestudio.memory.recap.records import mapping, message_text, text_of
from lorestudio.memory.recap.scenes import checked, is_visible_break, toggle, unchecked
from lorestudio.memory.recap.worker import Stored

_FORMATTING_RETRY: Final = "formatting_rationale_retry"


@dataclass(frozen=True, slots=True)
class Detect:
    """The search for the first break in a range."""

    async def ask(self, operation: Operation, chat: RecapChat, ctx: WorkContext) -> Json:
        """What was found, and why it is taken or not."""
        search = search_of(operation)
        shortened, found = fitted(search, chat, ctx)
        if not found.possible:
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
        if shortened.mode != "forced" and continuity_veto(texts, int(said.at), said.rationale).refused:
            return {**decided, "outcome": "vetoed"}
        return {**decided, "outcome": "found"}

    def store(
        self, operation: Operation, answer: Json, chat: RecapChat, queue: QueueState, ctx: WorkContext
    ) -> tuple[RecapChat, Stored]:
        """The break that was found and the search backwards from it, or what is to be looked through next."""
        del queue
        search, made = search_of(operation), mapping(answer)
        at, end = number_in(made, "at"), number_in(made, "end")
        last = search.end if end is None else end
        rationale = text_of(made.get("rationale"))
        match made.get("outcome"):
            case "formatting":
                if operation.metadata.get("triggered_by") == _FORMATTING_RETRY:
                    return chat, Stored(summary="the reason was about formatting again; nothing was decided")
                again = NewOperation(
                    OperationType.DETECT,
                    operation.params,
                    Priority.DETECT,
                    metadata={**operation.carried, "triggered_by": _FORMATTING_RETRY},
                )
                return chat, Stored((again,), "the reason was about formatting, so it is asked once more")
            case "below_minimum":
                earliest = number_in(made, "earliest")
                if earliest is None or earliest <= search.start:
                    return chat.with_messages(checked(chat.messages, search.start, last)), Stored(summary="too early")
                chat = chat.with_messages(checked(chat.messages, search.start, earliest - 1))
                later = detect_operation(earliest, search.end, search.offset)
                return chat, Stored((later,), "the choice was too early, so the search goes on behind")
            case "vetoed" if at is not None:
                chat = chat.with_messages(checked(chat.messages, search.start, at))
                following = _rest(chat, at + 1, search, ctx)
                return chat, Stored(following, f"message {at} was refused: the scene rather goes on ({rationale})")
            case "found" if at is not None and chat.at(at) is not None:
                return _place(chat, search, at, rationale)
            case "none":
                chat = chat.with_messages(checked(chat.messages, search.start, last))
                following = _rest(chat, last + 1, search, ctx) if truthy(made.get("shortened")) else ()
                return chat, Stored(following, f"no scene ends between {search.start} and {last}")
        return chat, Stored(summary="there were too few messages to choose from")

    def failed(self, operation: Operation, error: str, chat: RecapChat, ctx: WorkContext) -> tuple[RecapChat, Stored]:
        """Nothing is decided about the range."""
        del operation, error, ctx
        return chat, Stored()


@dataclass(frozen=True, slots=True)
class DetectBackwards:
    """The search for a break before one that was found."""

    async def ask(self, operation: Operation, chat: RecapChat, ctx: WorkContext) -> Json:
        """What was found; anything doubtful counts as nothing."""
        search = search_of(operation, "backward")
        found = search.choices(chat, ctx)
        if not found.possible:
            return {"at": False}
        request = detection_request(chat, search, found, ctx)
        if ctx.tokens(request, ctx.settings.detection_preset).too_large:
            return {"at": False}
        said = read_reply(await ctx.ask(request))
        doubtful = speaks_of_formatting(said.rationale) or said.at is False or refused(said, search, found, ctx)
        texts = [message_text(message) for message in chat.messages]
        if doubtful or said.at not in found.choices or continuity_veto(texts, int(said.at), said.rationale).refused:
            return {"at": False, "rationale": said.rationale}
        return {"at": _number(said.at), "rationale": said.rationale}

    def store(
        self, operation: Operation, answer: Json, chat: RecapChat, queue: QueueState, ctx: WorkContext
    ) -> tuple[RecapChat, Stored]:
        """An earlier break and the search before it, or the end of the chain: the recaps."""
        del queue
        search, at = search_of(operation, "backward"), number_in(mapping(answer), "at")
        following = number_in(operation.metadata, "next_break")
        after = search.end + 1 if following is None else following
        messages = list(chat.messages)
        unchecked(messages, search.start, after)
        chat = chat.with_messages(tuple(messages))
        found = list(positions(operation.metadata.get("discovered")))
        if at is None or chat.at(at) is None:
            return chat, Stored(_end_of_chain(chat, operation, found, ctx), "no earlier break")
        if not is_visible_break(chat.messages[at]):
            chat = chat.with_messages(toggle(chat.messages, at))
        chat = chat.with_messages(checked(chat.messages, at + 1, after - 1))
        found = [at, *found]
        least = ctx.settings.auto_scene_break_minimum_scene_length
        if at - search.start < 2 * least:
            return chat, Stored(_end_of_chain(chat, operation, found, ctx), f"an earlier break at {at}")
        step = _backwards(search.start, at, {**operation.carried, "discovered": list(found), "next_break": at})
        return chat, Stored((step,), f"an earlier break at {at}")

    def failed(self, operation: Operation, error: str, chat: RecapChat, ctx: WorkContext) -> tuple[RecapChat, Stored]:
        """The chain ends with what was found."""
        del error
        found = list(positions(operation.metadata.get("discovered")))
        return chat, Stored(_end_of_chain(chat, operation, found, ctx))


def _place(chat: RecapChat, search: Search, at: int, rationale: str) -> tuple[RecapChat, Stored]:
    if not is_visible_break(chat.messages[at]):
        chat = chat.with_messages(toggle(chat.messages, at))
    chat = chat.with_messages(checked(chat.messages, search.start, at))
    carried: dict[str, Json] = {
        "discovered": [at], "next_break": at, "original_break": at, "original_end": search.end
    }  # fmt: skip
    return chat, Stored((_backwards(search.start, at, carried),), f"a scene ends at message {at}: {rationale}")


def _backwards(start: int, at: int, carried: Mapping[str, Json]) -> NewOperation:
    params: dict[str, Json] = {"startIndex": start, "endIndex": at - 1}
    return NewOperation(OperationType.DETECT_BACKWARDS, params, Priority.DETECT_BACKWARDS, metadata=carried)


def _end_of_chain(
    chat: RecapChat, operation: Operation, found: list[int], ctx: WorkContext
) -> tuple[NewOperation, ...]:
    """The recaps of the scenes that were found, the earliest first; then the search goes on."""
    original, end = (number_in(operation.metadata, key) for key in ("original_break", "original_end"))
    start = None if original is None else original + 1
    return Chain(tuple(found), start, end).next(chat, ctx.settings)


def _rest(chat: RecapChat, start: int, search: Search, ctx: WorkContext) -> tuple[NewOperation, ...]:
    """The search in what is left of a range, where there is enough of it."""
    settings = ctx.settings
    found = matching(chat.messages, start, search.end, settings.auto_scene_break_check_which_messages)
    if len(found) < settings.auto_scene_break_minimum_scene_length + 1:
        return ()
    return (detect_operation(start, search.end, search.offset),)


def _number(value: float) -> Json:
    return int(value) if math.isfinite(value) and float(value).is_integer() else None if math.isnan(value) else value
