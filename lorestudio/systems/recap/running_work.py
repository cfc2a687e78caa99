"""The running recap's way on: a scene is worked into it, or it is made anew from all scenes (spec: recap-memory 14)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from lorestudio.domain.javascript import Json
from lorestudio.llm.messages import RUNNING_RECAP, ChatReply
from lorestudio.systems.recap import prompts
from lorestudio.systems.recap.chain import Chain, number_in, positions, read_chain
from lorestudio.systems.recap.chat import RecapChat
from lorestudio.systems.recap.context import WorkContext, unusable
from lorestudio.systems.recap.queue import NewOperation, Operation, OperationType, Priority, QueueState
from lorestudio.systems.recap.records import get_data, mapping, text_of
from lorestudio.systems.recap.requests import answer_value
from lorestudio.systems.recap.running import running_text, scenes_to_use
from lorestudio.systems.recap.scene_stages import is_empty_stage3, recap_in_words
from lorestudio.systems.recap.scenes import Range, has_recap, is_combined, with_combined
from lorestudio.systems.recap.worker import HopelessError, Stored

REBUILD: Final = "rebuild"


def running_operation(priority: float = Priority.HIGH, chain: Chain | None = None) -> NewOperation:
    """The operation that makes the running recap from all scenes."""
    carried = chain.metadata if chain is not None else {}
    return NewOperation(OperationType.RUNNING, {}, priority, metadata=carried)


def combine_operation(index: int, where: Range, chain: Chain | None = None) -> NewOperation:
    """The operation that works one scene into the running recap."""
    carried: dict[str, Json] = {**(chain.metadata if chain is not None else {}), "scene_index": index}
    params: dict[str, Json] = {"startIndex": where[0], "endIndex": where[1]}
    return NewOperation(OperationType.COMBINE, params, Priority.COMBINE, metadata=carried)


def after_scene(chat: RecapChat, index: int, where: Range, chain: Chain, ctx: WorkContext) -> tuple[NewOperation, ...]:
    """What follows a new scene recap: it goes into the running one, and with it the chain of scenes goes on."""
    settings = ctx.settings
    if not settings.running_scene_recap_auto_generate:
        return chain.next(chat, settings)
    if settings.running_scene_recap_mode == REBUILD:
        return (running_operation(Priority.HIGH, chain),)
    if is_empty_stage3(text_of(get_data(chat.messages[index], "scene_recap_memory"))):
        return chain.next(chat, settings)
    return (combine_operation(index, where, chain),)


@dataclass(frozen=True, slots=True)
class Combine:
    """One scene is worked into the running recap of before it."""

    async def ask(self, operation: Operation, chat: RecapChat, ctx: WorkContext) -> Json:
        """The next version's text."""
        index = _scene_of(operation)
        message = chat.at(index)
        if message is None or not has_recap(message):
            raise HopelessError(f"The scene that ends at message {index} has no recap to work in.")
        before = chat.running.previous_before(index)
        new = recap_in_words(text_of(get_data(message, "scene_recap_memory")))
        return await _ask(before.content if before is not None else "", new, prompts.COMBINE, ctx)

    def store(
        self, operation: Operation, answer: Json, chat: RecapChat, queue: QueueState, ctx: WorkContext
    ) -> tuple[RecapChat, Stored]:
        """The text as the current version, the scene locked, and the chain of scenes goes on."""
        del queue
        index, text = _scene_of(operation), text_of(mapping(answer).get("text"))
        message = chat.at(index)
        if message is None or not has_recap(message):
            return chat, Stored(read_chain(operation).next(chat, ctx.settings), "the scene has gone meanwhile")
        store = chat.running
        known = any(version.content == text and version.reaches == index for version in store.versions)
        if not known:
            excluded = ctx.settings.running_scene_recap_exclude_latest
            chat = chat.with_running(store.combined(index, text, excluded, now_ms=ctx.now_ms()))
        if not is_combined(message):
            chat = chat.with_message(index, with_combined(message, ctx.now_ms()))
        return chat, Stored(read_chain(operation).next(chat, ctx.settings), text)

    def failed(self, operation: Operation, error: str, chat: RecapChat, ctx: WorkContext) -> tuple[RecapChat, Stored]:
        """The chain of scenes goes on."""
        del error
        return chat, Stored(read_chain(operation).next(chat, ctx.settings))


@dataclass(frozen=True, slots=True)
class Rebuild:
    """The running recap is made from all scene recaps but the newest, as the settings say."""

    async def ask(self, operation: Operation, chat: RecapChat, ctx: WorkContext) -> Json:
        """The next version's text, with the scenes that it is made of."""
        asked = positions(operation.params.get("indexes"))
        used = [index for index in asked if (message := chat.at(index)) is not None and has_recap(message)]
        if not asked:
            used = list(scenes_to_use(chat.recaps, ctx.settings.running_scene_recap_exclude_latest))
        if not used:
            raise HopelessError("There is no scene recap yet. Make one, and then the running recap.")
        new = "\n\n".join(
            f"Scene {number}:\n{recap_in_words(text_of(get_data(chat.messages[index], 'scene_recap_memory')))}"
            for number, index in enumerate(used, 1)
        )
        made = await _ask("", new, prompts.REBUILD, ctx)
        return {**made, "used": list(used)}

    def store(
        self, operation: Operation, answer: Json, chat: RecapChat, queue: QueueState, ctx: WorkContext
    ) -> tuple[RecapChat, Stored]:
        """The text as the current version."""
        del queue
        text, used = text_of(mapping(answer).get("text")), positions(mapping(answer).get("used"))
        store, last = chat.running, used[-1] if used else 0
        current = store.get()
        known = current is not None and current.content == text and current.reaches == last
        if not known:
            excluded = ctx.settings.running_scene_recap_exclude_latest
            chat = chat.with_running(store.added(text, len(used), excluded, 0, last, now_ms=ctx.now_ms()))
        return chat, Stored(read_chain(operation).next(chat, ctx.settings), text)

    def failed(self, operation: Operation, error: str, chat: RecapChat, ctx: WorkContext) -> tuple[RecapChat, Stored]:
        """The chain of scenes goes on."""
        del error
        return chat, Stored(read_chain(operation).next(chat, ctx.settings))


async def _ask(before: str, new: str, template: str, ctx: WorkContext) -> dict[str, Json]:
    settings = ctx.settings
    params: dict[str, Json] = {"current_running_recap": before, "scene_recaps": new}
    request = ctx.request(
        RUNNING_RECAP,
        settings.running_scene_recap_prompt or template,
        params,
        settings.running_scene_recap_max_tokens,
        preset=settings.running_scene_recap_preset,
        prefill=settings.running_scene_recap_prefill,
    )
    tokens = ctx.tokens(request, settings.running_scene_recap_preset)
    if tokens.too_large:
        raise HopelessError(
            f"The question for the running recap takes {tokens.total:,} tokens and exceeds available context "
            f"({tokens.room:,}). Choose a model with more room."
        )
    reply = await ctx.ask(request)
    return {"text": _text(reply), "tokens": tokens.metadata}


def _text(reply: ChatReply) -> str:
    """The running recap in an answer: JSON in the shape of the original, or plain text."""
    try:
        value = answer_value(reply.text)
    except ValueError:
        value = reply.text
    try:
        return running_text(value if "recap" in mapping(value) else reply.text)
    except ValueError as error:
        raise unusable(reply, str(error)) from error


def _scene_of(operation: Operation) -> int:
    """The scene that is combined. Raises HopelessError where the operation names none."""
    for found in (number_in(operation.metadata, "scene_index"), number_in(operation.params, "endIndex")):
        if found is not None:
            return found
    raise HopelessError("The operation names no scene. Remove it from the queue.")
