"""Recaps of scenes: one question for a text, or four for lists (spec: recap-memory 13).

While the four steps run, what they brought travels with the operations; only the last one makes a version.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from lorestudio.domain.javascript import Json, trim, truthy
from lorestudio.domain.json_text import spell
from lorestudio.llm.messages import RECAP_STAGES, SCENE_RECAP, ChatRequest
from lorestudio.systems.recap import prompts
from lorestudio.systems.recap import scene_stages as stages
from lorestudio.systems.recap.chain import detect_operation, positions, read_chain
from lorestudio.systems.recap.chat import RecapChat
from lorestudio.systems.recap.context import WorkContext, unusable
from lorestudio.systems.recap.detection import matching
from lorestudio.systems.recap.message_recaps import index_of
from lorestudio.systems.recap.queue import NewOperation, Operation, OperationType, Priority, QueueState
from lorestudio.systems.recap.records import mapping, message_text, text_of
from lorestudio.systems.recap.requests import answer_value, stripped
from lorestudio.systems.recap.running_work import after_scene
from lorestudio.systems.recap.scenes import Range, checked, cleared, effective_range, versions_of, with_recap
from lorestudio.systems.recap.worker import HopelessError, Stored

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
        blocks.append(f"[{side}: {text_of(message.get('name'))}]\n{message_text(message)}")
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
        settings.scene_recap_prompt or (prompts.EXTRACT if in_steps else prompts.SCENE),
        params,
        settings.scene_recap_max_tokens,
        preset=settings.scene_recap_preset,
        prefill=settings.scene_recap_prefill,
    )


@dataclass(frozen=True, slots=True)
class SceneRecap:
    """The recap of a scene, or the first step of it."""

    async def ask(self, operation: Operation, chat: RecapChat, ctx: WorkContext) -> Json:
        """The recap with the range it is of; `too_large` where the scene does not fit the model."""
        index = index_of(operation)
        if chat.at(index) is None:
            raise HopelessError(f"The chat has no message {index} any more.")
        where = scene_range(chat, index, ctx)
        request = scene_request(chat, where, ctx)
        tokens = ctx.tokens(request, ctx.settings.scene_recap_preset)
        around: dict[str, Json] = {"start": where[0], "end": where[1], "tokens": tokens.metadata}
        if tokens.too_large:
            return {**around, "too_large": True}
        reply = await ctx.ask(request)
        if ctx.settings.scene_recap_format == STAGES:
            try:
                return {**around, "stage1": stages.extracted(answer_value(reply.text))}
            except ValueError as error:
                raise unusable(reply, str(error)) from error
        recap = _as_stored(reply.text)
        settings = ctx.settings
        if settings.error_detection_enabled and settings.scene_recap_error_detection_enabled:
            for _ in range(settings.scene_recap_error_detection_retries):
                if await ctx.is_sound(stages.recap_in_words(recap), "scene"):
                    break
                if reply.repeatable:
                    raise HopelessError("The recap of the scene is not sound.")
                recap = _as_stored((await ctx.ask(request)).text)
            else:
                if not await ctx.is_sound(stages.recap_in_words(recap), "scene"):
                    raise HopelessError("No attempt at a recap of the scene was sound.")
        return {**around, "recap": recap}

    def store(
        self, operation: Operation, answer: Json, chat: RecapChat, queue: QueueState, ctx: WorkContext
    ) -> tuple[RecapChat, Stored]:
        """The recap as a new version, and its way into the running recap; or the next of the four steps."""
        index, made = index_of(operation), mapping(answer)
        where = _range(made)
        if truthy(made.get("too_large")):
            return self._cut(index, where, chat, queue, ctx)
        chat = chat.with_messages(checked(chat.messages, *where))
        if "stage1" in made:
            carried: dict[str, Json] = {
                **read_chain(operation).metadata,
                "stages": {"stage1": made["stage1"]},
                "range": list(where),
                **_manual(operation),
            }
            step = NewOperation(OperationType.ORGANISE, {"index": index}, Priority.STAGE, metadata=carried)
            return chat, Stored((step,), "the scene was taken apart", hands_on=True)
        return _saved(operation, text_of(made.get("recap")), where, chat, ctx)

    def failed(self, operation: Operation, error: str, chat: RecapChat, ctx: WorkContext) -> tuple[RecapChat, Stored]:
        """The chain of scenes goes on without this one."""
        del error
        return chat, Stored(read_chain(operation).next(chat, ctx.settings))

    def _cut(
        self, index: int, where: Range, chat: RecapChat, queue: QueueState, ctx: WorkContext
    ) -> tuple[RecapChat, Stored]:
        """A scene too large to be read goes without its break, and is looked through for an earlier one."""
        message = chat.at(index)
        if message is None:
            return chat, Stored()
        chat = chat.with_message(index, cleared(message))
        dropped = tuple(
            item.id
            for item in queue.operations
            if item.type == OperationType.DETECT and item.params.get("startIndex") == index + 1
        )
        least = ctx.settings.auto_scene_break_minimum_scene_length
        which = ctx.settings.auto_scene_break_check_which_messages
        if len(matching(chat.messages, *where, which)) < least + 1:
            return chat, Stored((), f"the scene {TOO_LARGE} and is too short to be cut", dropped=dropped)
        again = detect_operation(where[0], where[1], 0, forced=True, metadata={"triggered_by": "too_large"})
        return chat, Stored((again,), f"the scene {TOO_LARGE}, so an earlier break is looked for", dropped=dropped)


@dataclass(frozen=True, slots=True)
class StageStep:
    """One of the later steps: what it asks, how its answer is read, and which step comes then."""

    number: int
    template: str
    read: _Reader
    following: OperationType | None

    async def ask(self, operation: Operation, chat: RecapChat, ctx: WorkContext) -> Json:
        """The step's result."""
        done = mapping(operation.metadata.get("stages"))
        if self.number == 4 and not mapping(done.get("stage2")).get("entities"):
            return {"entities": []}  # there is nothing to ask about
        before = chat.running.previous_before(index_of(operation))
        params: dict[str, Json] = {
            "extracted_data": done.get("stage1"),
            "stage2_recap": done.get("stage2"),
            "extracted_sl": mapping(done.get("stage2")).get("entities"),
            "current_running_recap": before.content if before is not None else "",
            "active_setting_lore": "",
            "lorebook_entry_types": "",
        }
        request = ctx.request(
            RECAP_STAGES[self.number - 1],
            self.template,
            params,
            ctx.settings.scene_recap_max_tokens,
            preset=ctx.settings.scene_recap_preset,
        )
        reply = await ctx.ask(request)
        try:
            return self.read(answer_value(reply.text))
        except ValueError as error:
            raise unusable(reply, str(error)) from error

    def store(
        self, operation: Operation, answer: Json, chat: RecapChat, queue: QueueState, ctx: WorkContext
    ) -> tuple[RecapChat, Stored]:
        """The next step, or after the last one the recap as a version."""
        del queue
        index = index_of(operation)
        done: dict[str, Json] = {**mapping(operation.metadata.get("stages")), f"stage{self.number}": answer}
        if self.following is not None:
            carried: dict[str, Json] = {
                **read_chain(operation).metadata,
                "stages": done,
                "range": operation.metadata.get("range"),
                **_manual(operation),
            }
            step = NewOperation(self.following, {"index": index}, Priority.STAGE, metadata=carried)
            return chat, Stored((step,), f"step {self.number} of 4", hands_on=True)
        name = text_of(mapping(done.get("stage2")).get("sn")) or text_of(mapping(done.get("stage1")).get("sn"))
        recap = {"scene_name": name, **done} if name else done
        where = positions(operation.metadata.get("range"))
        known = (where[0], where[1]) if len(where) == 2 else scene_range(chat, index, ctx)
        return _saved(operation, spell(recap), known, chat, ctx)

    def failed(self, operation: Operation, error: str, chat: RecapChat, ctx: WorkContext) -> tuple[RecapChat, Stored]:
        """The chain of scenes goes on without this one."""
        del error
        return chat, Stored(read_chain(operation).next(chat, ctx.settings))


ORGANISE: Final = StageStep(2, prompts.ORGANISE, stages.organised, OperationType.PARSE)
PARSE: Final = StageStep(3, prompts.PARSE, stages.filtered, OperationType.FILTER)
FILTER: Final = StageStep(4, prompts.FILTER, stages.kept_entities, None)


def _saved(
    operation: Operation, recap: str, where: Range, chat: RecapChat, ctx: WorkContext
) -> tuple[RecapChat, Stored]:
    """The recap as the scene's newest version, unless it is that already, and what follows."""
    index = index_of(operation)
    message = chat.at(index)
    if message is None:
        return chat, Stored(summary="the break has gone meanwhile, so its recap was dropped")
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
    chain = read_chain(operation)
    if truthy(operation.metadata.get("manual")):
        return chat, Stored(chain.next(chat, ctx.settings), stages.recap_in_words(recap))
    return chat, Stored(after_scene(chat, index, where, chain, ctx), stages.recap_in_words(recap))


def _as_stored(text: str) -> str:
    """The answer as it is kept: its JSON compactly where it is such, otherwise the text."""
    try:
        value = answer_value(text)
    except ValueError:
        return trim(text)
    has_recap = isinstance(value, Mapping) and isinstance(value.get("recap"), str) and trim(text_of(value["recap"]))
    return spell(value) if has_recap else trim(text)


def _range(made: Mapping[str, Json]) -> Range:
    start, end = made.get("start"), made.get("end")
    return (start if isinstance(start, int) else 0, end if isinstance(end, int) else 0)


def _manual(operation: Operation) -> dict[str, Json]:
    return {"manual": True} if truthy(operation.metadata.get("manual")) else {}
