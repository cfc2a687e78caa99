"""One search for a scene break: its range, its question, and whether the answer can be taken."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from lorestudio.domain.javascript import Json, truthy
from lorestudio.llm.messages import SCENE_BREAK, ChatReply, ChatRequest
from lorestudio.memory.recap import prompts
from lorestudio.memory.recap.chain import number_in
from lorestudio.memory.recap.chat import RecapChat
from lorestudio.memory.recap.context import WorkContext, unusable
from lorestudio.memory.recap.detection import Choices, Mode, chosen_paragraphs, detection_choices
from lorestudio.memory.recap.detection_checks import (
    BreakAnswer,
    read_answer,
    refusal,
)
from lorestudio.memory.recap.detection_fit import fitted_end
from lorestudio.memory.recap.operations import Operation
from lorestudio.memory.recap.scene_work import scene_request
from lorestudio.memory.recap.stripping import stripped
from lorestudio.memory.recap.worker import HopelessError

_FEWEST: Final = 2
"""With no more messages than this to choose from, a shortened range leads nowhere."""


@dataclass(frozen=True, slots=True)
class Search:
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


def detection_request(chat: RecapChat, search: Search, found: Choices, ctx: WorkContext) -> ChatRequest:
    """The question where a scene ends."""
    settings = ctx.settings
    built_in = prompts.DETECT_FORCED if search.mode == "forced" else prompts.DETECT
    params: dict[str, Json] = {
        "messages": chosen_paragraphs(stripped(chat.messages, found.filtered, settings), found),
        "minimum_scene_length": str(settings.auto_scene_break_minimum_scene_length),
        "earliest_allowed_break": str(found.earliest if found.earliest is not None else ""),
    }
    return ctx.request(
        SCENE_BREAK,
        settings.detection_prompt or built_in,
        params,
        settings.detection_max_tokens,
        preset=settings.detection_preset,
    )


def search_of(operation: Operation, mode: Mode | None = None) -> Search:
    """The search that an operation asks for. Raises HopelessError where it has no range."""
    start, end = number_in(operation.params, "startIndex"), number_in(operation.params, "endIndex")
    if start is None or end is None:
        raise HopelessError("The operation names no range of messages. Remove it from the queue.")
    if mode is None:
        mode = "forced" if truthy(operation.params.get("forceSelection")) else "forward"
    offset = number_in(operation.params, "offset") or 0
    return Search(start, end, offset if mode == "forward" else 0, mode)


def fitted(search: Search, chat: RecapChat, ctx: WorkContext) -> tuple[Search, Choices]:
    """The search with a range that fits the model. A shortened one has to end in a choice.

    Raises HopelessError where what fits is too short to choose from.
    """
    found = search.choices(chat, ctx)
    if not found.possible or not ctx.context_size:
        return search, found

    def shortened(end: int) -> Search:
        return search if end == search.end else Search(search.start, end, 0, "forced")

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
    end, cuts = fitted_end(search.start, search.end, fits, 2 if both else 1)
    result = shortened(end)
    choices = result.choices(chat, ctx) if end >= search.start else Choices((), ())
    if cuts and len(choices.eligible) <= _FEWEST:
        raise HopelessError("Even two messages are too long for the model. Choose one with more room.")
    return result, choices


def read_reply(reply: ChatReply) -> BreakAnswer:
    """The answer in a reply. Raises ValueError, or HopelessError where asking again would not help."""
    try:
        return read_answer(reply.text)
    except ValueError as error:
        raise unusable(reply, str(error)) from error


def refused(said: BreakAnswer, search: Search, found: Choices, ctx: WorkContext) -> str:
    """Why an answer cannot be taken, empty where it can."""
    return refusal(
        said.at,
        start=search.start,
        end=search.end,
        filtered=found.filtered,
        least=ctx.settings.auto_scene_break_minimum_scene_length,
        last_eligible=search.end - search.offset,
    )
