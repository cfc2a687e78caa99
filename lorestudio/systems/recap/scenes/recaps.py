"""Recaps of scenes, and their way into the running recap (rules: recap-memory 13, 14).

A scene is one question for a text, or four for lists; while the four steps run, what they brought travels with the
operations, and only the last one makes a version. A scene is then worked into the running recap, or that is made anew
from all scenes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from lorestudio.domain.javascript import Json, trim, truthy
from lorestudio.domain.json_text import mapping_in, object_in, spell, text_in
from lorestudio.domain.resources import prompt_text
from lorestudio.llm.messages import RECAP_STAGES, RUNNING_RECAP, SCENE_RECAP, ChatReply, ChatRequest
from lorestudio.llm.redaction import cut
from lorestudio.systems.recap.asking import Stored, WorkContext, answer_value, stripped, unusable
from lorestudio.systems.recap.chat import RecapChat
from lorestudio.systems.recap.message_recaps import index_of
from lorestudio.systems.recap.queue import (
    HopelessError,
    NewOperation,
    OperationType,
    Priority,
    QueuedOperation,
    StoredAnswer,
)
from lorestudio.systems.recap.records import message_text
from lorestudio.systems.recap.running import running_text, scenes_to_use
from lorestudio.systems.recap.scenes.breaks import (
    Chain,
    ChainedHandler,
    detect_operation,
    matching,
    number_in,
    positions,
    read_chain,
)
from lorestudio.systems.recap.scenes.scenes import (
    Range,
    cleared,
    effective_range,
    extracted_stage,
    has_recap,
    is_combined,
    is_empty_stage3,
    kept_entities,
    organised_stage,
    parsed_stage,
    recap_in_words,
    recap_of,
    versions_of,
    with_combined,
    with_recap,
)

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
    if is_empty_stage3(recap_of(chat.messages[index])):
        return chain.next(chat, settings)
    return (combine_operation(index, where, chain),)


class Combine(ChainedHandler):
    """One scene is worked into the running recap of before it."""

    async def ask(self, operation: QueuedOperation, chat: RecapChat, ctx: WorkContext) -> Json:
        """The next version's text."""
        index = _scene_of(operation)
        message = chat.at(index)
        if message is None or not has_recap(message):
            raise HopelessError(f"The scene that ends at message {index} has no recap to work in.")
        before = chat.running.previous_before(index)
        new = recap_in_words(recap_of(message))
        return await _running_answer(
            before.content if before is not None else "", new, prompt_text("recap", "combine"), ctx
        )

    def store(self, operation: QueuedOperation, answer: Json, chat: RecapChat, ctx: WorkContext) -> Stored:
        """The text as the current version, the scene locked, and the chain of scenes goes on."""
        index, text = _scene_of(operation), text_in(mapping_in(answer).get("text"))
        message = chat.at(index)
        if message is None or not has_recap(message):
            return chat, StoredAnswer(read_chain(operation).next(chat, ctx.settings), "the scene has gone meanwhile")
        store = chat.running
        known = any(version.content == text and version.reaches == index for version in store.versions)
        if not known:
            excluded = ctx.settings.running_scene_recap_exclude_latest
            chat = chat.with_running(store.combined(index, text, excluded, now_ms=ctx.now_ms()))
        if not is_combined(message):
            chat = chat.with_message(index, with_combined(message, ctx.now_ms()))
        return chat, StoredAnswer(read_chain(operation).next(chat, ctx.settings), text)


class Rebuild(ChainedHandler):
    """The running recap is made from all scene recaps but the newest, as the settings say."""

    async def ask(self, operation: QueuedOperation, chat: RecapChat, ctx: WorkContext) -> Json:
        """The next version's text, with the scenes that it is made of."""
        asked = positions(operation.params.get("indexes"))
        used = [index for index in asked if (message := chat.at(index)) is not None and has_recap(message)]
        if not asked:
            used = list(scenes_to_use(chat.recaps, ctx.settings.running_scene_recap_exclude_latest))
        if not used:
            raise HopelessError("There is no scene recap yet. Make one, and then the running recap.")
        new = "\n\n".join(
            f"Scene {number}:\n{recap_in_words(recap_of(chat.messages[index]))}" for number, index in enumerate(used, 1)
        )
        made = await _running_answer("", new, prompt_text("recap", "rebuild"), ctx)
        return {**made, "used": list(used)}

    def store(self, operation: QueuedOperation, answer: Json, chat: RecapChat, ctx: WorkContext) -> Stored:
        """The text as the current version."""
        text, used = text_in(mapping_in(answer).get("text")), positions(mapping_in(answer).get("used"))
        store, last = chat.running, used[-1] if used else 0
        current = store.get()
        known = current is not None and current.content == text and current.reaches == last
        if not known:
            excluded = ctx.settings.running_scene_recap_exclude_latest
            chat = chat.with_running(store.added(text, len(used), excluded, 0, last, now_ms=ctx.now_ms()))
        return chat, StoredAnswer(read_chain(operation).next(chat, ctx.settings), text)


async def _running_answer(before: str, new: str, template: str, ctx: WorkContext) -> dict[str, Json]:
    settings = ctx.settings
    params: dict[str, Json] = {"current_running_recap": before, "scene_recaps": new}
    request = ctx.request(
        RUNNING_RECAP,
        settings.running_scene_recap_prompt or template,
        params,
        settings.running_scene_recap_max_tokens,
        preset=settings.running_scene_recap_preset,
        prefill=settings.running_scene_recap_prefill,
        prose=True,
    )
    tokens = ctx.tokens(request, settings.running_scene_recap_preset)
    if tokens.too_large:
        raise HopelessError(
            f"The question for the running recap takes {tokens.total:,} tokens and exceeds available context "
            f"({tokens.room:,}). Choose a model with more room."
        )
    reply = await ctx.ask(request)
    return {"text": _text_of_reply(reply)}


def _text_of_reply(reply: ChatReply) -> str:
    """The running recap in an answer: JSON in the shape of the original, or plain text."""
    try:
        value = answer_value(reply.text)
    except ValueError:
        value = reply.text
    try:
        return running_text(value if "recap" in mapping_in(value) else reply.text)
    except ValueError as error:
        raise unusable(reply, str(error)) from error


def _scene_of(operation: QueuedOperation) -> int:
    """The scene that is combined. Raises HopelessError where the operation names none."""
    for found in (number_in(operation.metadata, "scene_index"), number_in(operation.params, "endIndex")):
        if found is not None:
            return found
    raise HopelessError("The operation names no scene. Remove it from the queue.")


STAGES: Final = "stages"
TOO_LARGE: Final = "exceeds available context"

_Reader = Callable[[Json], Mapping[str, Json]]


def scene_range(chat: RecapChat, index: int, ctx: WorkContext) -> Range:
    """The messages that the recap of this break is made of."""
    return effective_range(chat.breaks, chat.recaps, index, ctx.settings.scene_recap_history_count)


def scene_text(chat: RecapChat, where: Range, which: str) -> str:
    """The messages of a scene as the model reads them; blank ones and those of the wrong side are left out."""
    blocks: list[str] = []
    for index in matching(chat.messages, *where, which):
        message = chat.messages[index]
        side = "USER" if truthy(message.get("is_user")) else "CHARACTER"
        blocks.append(f"[{side}: {text_in(message.get('name'))}]\n{message_text(message)}")
    return "\n\n".join(blocks)


def scene_request(chat: RecapChat, where: Range, ctx: WorkContext) -> ChatRequest:
    """The first question about a scene, in the form that the settings choose."""
    settings = ctx.settings
    inside = range(where[0], where[1] + 1)
    read = chat.with_messages(stripped(chat.messages, inside, settings, keep=settings.strip_depth))
    text = scene_text(read, where, settings.scene_recap_message_types)
    if not text:
        raise HopelessError(f"Messages {where[0]} to {where[1]} hold no text to recap.")
    in_steps = settings.scene_recap_format == STAGES
    params: dict[str, Json] = {
        "scene_messages": text,
        "user": chat.user_name,
        "char": chat.character_name,
        "active_setting_lore": "",
        "lorebook_entry_types": "",
    }
    return ctx.request(
        RECAP_STAGES[0] if in_steps else SCENE_RECAP,
        settings.scene_recap_prompt or (prompt_text("recap", "extract") if in_steps else prompt_text("recap", "scene")),
        params,
        settings.scene_recap_max_tokens,
        preset=settings.scene_recap_preset,
        prefill=settings.scene_recap_prefill,
    )


class SceneRecap(ChainedHandler):
    """The recap of a scene, or the first step of it."""

    async def ask(self, operation: QueuedOperation, chat: RecapChat, ctx: WorkContext) -> Json:
        """The recap with the range it is of; `too_large` where the scene does not fit the model."""
        index = index_of(operation)
        if index not in chat.breaks:
            raise HopelessError(f"No scene ends at message {index} any more.")
        where = scene_range(chat, index, ctx)
        request = scene_request(chat, where, ctx)
        around: dict[str, Json] = {"start": where[0], "end": where[1]}
        if ctx.tokens(request, ctx.settings.scene_recap_preset).too_large:
            return {**around, "too_large": True}
        reply = await ctx.ask(request)
        if ctx.settings.scene_recap_format == STAGES:
            try:
                return {**around, "stage1": extracted_stage(answer_value(reply.text))}
            except ValueError as error:
                raise unusable(reply, str(error)) from error
        recap = _as_stored(reply)
        settings = ctx.settings
        if settings.error_detection_enabled and settings.scene_recap_error_detection_enabled:
            for _ in range(settings.scene_recap_error_detection_retries):
                if await ctx.is_sound(recap_in_words(recap), "scene"):
                    break
                if reply.repeatable:
                    raise HopelessError("The recap of the scene is not sound.")
                recap = _as_stored(await ctx.ask(request))
            else:
                if not await ctx.is_sound(recap_in_words(recap), "scene"):
                    raise HopelessError("No attempt at a recap of the scene was sound.")
        return {**around, "recap": recap}

    def store(self, operation: QueuedOperation, answer: Json, chat: RecapChat, ctx: WorkContext) -> Stored:
        """The recap as a new version, and its way into the running recap; or the next of the four steps."""
        index, made = index_of(operation), mapping_in(answer)
        where = _range_of(made)
        if truthy(made.get("too_large")):
            return _cut(index, where, chat, ctx)
        chat = chat.checked(*where)
        if "stage1" in made:
            step = _step(operation, OperationType.ORGANISE, {"stage1": made["stage1"]}, list(where))
            return chat, StoredAnswer((step,), "the scene was taken apart", hands_on=True)
        return _saved(operation, text_in(made.get("recap")), where, chat, ctx)


def _cut(index: int, where: Range, chat: RecapChat, ctx: WorkContext) -> Stored:
    """A scene too large to be read goes without its break, and is looked through for an earlier one."""
    message = chat.at(index)
    if message is None:
        return chat, StoredAnswer()

    def is_pointless(item: QueuedOperation) -> bool:
        return item.type == OperationType.DETECT and item.params.get("startIndex") == index + 1

    chat = chat.with_message(index, cleared(message))
    least = ctx.settings.auto_scene_break_minimum_scene_length
    which = ctx.settings.auto_scene_break_check_which_messages
    if len(matching(chat.messages, *where, which)) < least + 1:
        return chat, StoredAnswer((), f"the scene {TOO_LARGE} and is too short to be cut", drops=is_pointless)
    again = detect_operation(where[0], where[1], 0, forced=True, metadata={"triggered_by": "too_large"})
    summary = f"the scene {TOO_LARGE}, so an earlier break is looked for"
    return chat, StoredAnswer((again,), summary, drops=is_pointless)


@dataclass(frozen=True, slots=True)
class StageStep(ChainedHandler):
    """One of the later steps: what it asks, how its answer is read, and which step comes then."""

    number: int
    template: str
    read: _Reader
    following: OperationType | None

    async def ask(self, operation: QueuedOperation, chat: RecapChat, ctx: WorkContext) -> Json:
        """The step's result."""
        done = object_in(operation.metadata, "stages")
        if self.number == 4 and not object_in(done, "stage2").get("entities"):
            return {"entities": []}  # there is nothing to ask about
        before = chat.running.previous_before(index_of(operation))
        params: dict[str, Json] = {
            "extracted_data": done.get("stage1"),
            "stage2_recap": done.get("stage2"),
            "extracted_sl": object_in(done, "stage2").get("entities"),
            "current_running_recap": before.content if before is not None else "",
            "active_setting_lore": "",
            "lorebook_entry_types": "",
        }
        stage, most = RECAP_STAGES[self.number - 1], ctx.settings.scene_recap_max_tokens
        request = ctx.request(stage, self.template, params, most, preset=ctx.settings.scene_recap_preset)
        reply = await ctx.ask(request)
        try:
            return self.read(answer_value(reply.text))
        except ValueError as error:
            raise unusable(reply, str(error)) from error

    def store(self, operation: QueuedOperation, answer: Json, chat: RecapChat, ctx: WorkContext) -> Stored:
        """The next step, or after the last one the recap as a version."""
        index = index_of(operation)
        done: dict[str, Json] = {**object_in(operation.metadata, "stages"), f"stage{self.number}": answer}
        if self.following is not None:
            step = _step(operation, self.following, done, operation.metadata.get("range"))
            return chat, StoredAnswer((step,), f"step {self.number} of 4", hands_on=True)
        name = text_in(object_in(done, "stage2").get("sn")) or text_in(object_in(done, "stage1").get("sn"))
        recap = {"scene_name": name, **done} if name else done
        where = positions(operation.metadata.get("range"))
        known = (where[0], where[1]) if len(where) == 2 else scene_range(chat, index, ctx)
        return _saved(operation, spell(recap), known, chat, ctx)


ORGANISE: Final = StageStep(2, prompt_text("recap", "organise"), organised_stage, OperationType.PARSE)
PARSE: Final = StageStep(3, prompt_text("recap", "parse"), parsed_stage, OperationType.FILTER)
FILTER: Final = StageStep(4, prompt_text("recap", "filter"), kept_entities, None)


def _saved(operation: QueuedOperation, recap: str, where: Range, chat: RecapChat, ctx: WorkContext) -> Stored:
    """The recap as the scene's newest version, unless it is that already, and what follows."""
    index, chain = index_of(operation), read_chain(operation)
    message = chat.at(index)
    if message is None or index not in chat.breaks:
        following = chain.next(chat, ctx.settings)
        return chat, StoredAnswer(following, "the break has gone meanwhile, so its recap was dropped")
    versions = versions_of(message)
    if not versions.texts or versions.texts[-1] != recap:
        count = len(matching(chat.messages, *where, ctx.settings.scene_recap_message_types))
        metadata: dict[str, Json] = {
            "timestamp": ctx.now_ms(), "startIdx": where[0], "endIdx": where[1], "sceneMessageCount": count,
            "totalActivatedEntries": 0, "totalBeforeFiltering": 0, "chatLorebookName": None,
            "suppressOtherLorebooks": False,
        }  # fmt: skip
        named = ctx.settings.scene_name_append_range
        chat = chat.with_message(index, with_recap(message, recap, where, append_range=named, metadata=metadata))
    if truthy(operation.metadata.get("manual")):
        return chat, StoredAnswer(chain.next(chat, ctx.settings), recap_in_words(recap))
    return chat, StoredAnswer(after_scene(chat, index, where, chain, ctx), recap_in_words(recap))


def _as_stored(reply: ChatReply) -> str:
    """The answer as it is kept: its JSON compactly where it is such, otherwise the text.

    Raises an error for one that is nothing but a list, a number or null.
    """
    text = trim(reply.text)
    try:
        value = answer_value(text)
    except ValueError:
        return text
    if text == spell(value) and not isinstance(value, Mapping | str):
        raise unusable(reply, f"The model's answer is no recap: {cut(text, 60)}")
    has_recap = isinstance(value, Mapping) and isinstance(value.get("recap"), str) and trim(text_in(value["recap"]))
    return spell(value) if has_recap else text


def _range_of(made: Mapping[str, Json]) -> Range:
    start, end = made.get("start"), made.get("end")
    return (start if isinstance(start, int) else 0, end if isinstance(end, int) else 0)


def _step(operation: QueuedOperation, kind: OperationType, stages: Mapping[str, Json], where: Json) -> NewOperation:
    """The next of the four steps, with all that the ones before it brought."""
    carried: dict[str, Json] = {**read_chain(operation).metadata, "stages": stages, "range": where}
    if truthy(operation.metadata.get("manual")):
        carried["manual"] = True
    return NewOperation(kind, {"index": index_of(operation)}, Priority.STAGE, metadata=carried)
