"""The whole prompt of a generation: lore, card, persona and chat in the order and roles that the model gets.

The order is that of SillyTavern's chat completion: of the chosen preset, or of the Prompt Manager as it is delivered
(rules: sillytavern 5.7): main prompt, persona, description, personality, scenario, example messages, chat history,
post-history. Texts are the preset's own, or what their markers stand for.

* Prompts that are switched on follow each other in the preset's order; those with a depth go among the messages.
* The main prompt keeps its place when it is switched off, without its text, because lore stands beside it.
* Card and persona go to the end where the order does not name them; SillyTavern puts them there.
* A prompt for other kinds of generations, or one that SillyTavern does not know what to do with, is left out.

The lore is what the trace says that the host was handed, by position (`lorestudio.trace.prompt` says which stands
before which):

* 2 before the main prompt, 0 after it, each a message of its own; where the preset puts the main prompt among the
  messages, it goes there with it;
* 1 in the chat; texts of one depth and role are one message;
* -1 nowhere, except where `{{outlet::name}}` asks for it.

The chat's author's note and the card's depth prompt are placed by the same rules. Where the context is full, the oldest
messages give way first, with what was injected among them, then example messages.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct

from lorestudio.domain.chat import Chat
from lorestudio.domain.entry import Position
from lorestudio.domain.history import shown_again
from lorestudio.domain.records import replace
from lorestudio.domain.tokens import CHARS_4, TokenCounter
from lorestudio.exchange.chat_preset import DELIVERED, MARKERS, ChatPreset, PresetPrompt
from lorestudio.studio.prompt.card import CardTexts, Texts, card_texts, is_group, macros_for, speaker_of
from lorestudio.studio.prompt.injections import (
    ROLES,
    HeldInjection,
    InChat,
    OwnInChat,
    examples_of,
    handed_over,
    in_chat,
)
from lorestudio.studio.prompt.messages import (
    CHAT_MARK,
    EXAMPLE_MARK,
    GROUP_MARK,
    example_messages,
    message_of,
    said,
    squashed,
)
from lorestudio.studio.prompt.regex import RegexRun
from lorestudio.studio.prompt.setup import PromptSetup, of_speaker, scripts_of
from lorestudio.systems.macros import Macros, Segment
from lorestudio.trace.model import Trace
from lorestudio.trace.prompt import (
    AssembledMessage,
    AssembledPrompt,
    Left,
    LeftOutPart,
    MessageRole,
    Origin,
    PromptOrder,
    PromptOrigin,
    PromptSection,
    prompt_order,
)

MAIN_PROMPT: Final = "main"
POST_HISTORY: Final = "jailbreak"
CHAT: Final = "chatHistory"
EXAMPLES: Final = "dialogueExamples"

_NEVER_IN_CHAT: Final = frozenset({CHAT, EXAMPLES})
_ALWAYS: Final = ("charDescription", "charPersonality", "scenario", "personaDescription")
_ROLES: Final = {role.value: role for role in MessageRole}


class PromptLayout(Struct, frozen=True):
    """`relative` in order, `in_chat` among the messages; `left_out` with the reason.

    `bare_main`: the main prompt is among the relative ones for its place alone, without its text.
    """

    relative: tuple[PresetPrompt, ...]
    in_chat: tuple[PresetPrompt, ...]
    left_out: tuple[tuple[PresetPrompt, Left], ...]
    bare_main: bool = False

    @property
    def prompts(self) -> tuple[PresetPrompt, ...]:
        """All that may have a text, in the order in which macros are filled in."""
        return (*self.relative, *self.in_chat)

    def has(self, identifier: str) -> bool:
        """Whether it is sent, wherever."""
        return any(each.identifier == identifier for each in self.prompts)


def layout_of(preset: ChatPreset, kind: str) -> PromptLayout:
    """The layout for a generation; `kind` is SillyTavern's word for it: normal, swipe …"""
    relative: list[PresetPrompt] = []
    in_chat: list[PresetPrompt] = []
    left: list[tuple[PresetPrompt, Left]] = []
    for prompt, enabled in preset.order:
        reason = _why_not(prompt, kind, enabled=enabled)
        if reason is not None:
            left.append((prompt, reason))
            if prompt.identifier == MAIN_PROMPT and reason is Left.SWITCHED_OFF:
                relative.append(prompt)
        elif prompt.in_chat and prompt.identifier not in _NEVER_IN_CHAT:
            in_chat.append(prompt)
        else:
            relative.append(prompt)
    named = {prompt.identifier for prompt, _ in preset.order}
    missing = (preset.prompt(name) for name in _ALWAYS if name not in named)
    relative += [prompt for prompt in missing if prompt is not None]
    bare = any(prompt.identifier == MAIN_PROMPT and reason is Left.SWITCHED_OFF for prompt, reason in left)
    return PromptLayout(tuple(relative), tuple(in_chat), tuple(left), bare)


def role_of(prompt: PresetPrompt) -> MessageRole:
    """Who speaks it; system where the preset does not say."""
    return _ROLES.get(prompt.role, MessageRole.SYSTEM)


def _why_not(prompt: PresetPrompt, kind: str, *, enabled: bool) -> Left | None:
    if not enabled:
        return Left.SWITCHED_OFF
    if prompt.injection_trigger and kind not in prompt.injection_trigger:
        return Left.OTHER_KIND
    return None if prompt.is_sent else Left.NO_PLACE


SECTIONS: Final[Mapping[str, PromptSection]] = {
    MAIN_PROMPT: PromptSection.MAIN,
    "personaDescription": PromptSection.PERSONA,
    "charDescription": PromptSection.DESCRIPTION,
    "charPersonality": PromptSection.PERSONALITY,
    "scenario": PromptSection.SCENARIO,
    POST_HISTORY: PromptSection.POST_HISTORY,
}
_LABELS: Final = {MAIN_PROMPT: "main prompt", POST_HISTORY: "post-history"}


class PromptTexts:
    """The texts with their origins, macros filled in.

    All are filled in at the beginning and in the preset's order, because what a prompt sets others may ask for.
    """

    def __init__(
        self, setup: PromptSetup, preset: ChatPreset, card: CardTexts, macros: Macros, layout: PromptLayout
    ) -> None:
        self._setup, self._preset, self._card, self._macros = setup, preset, card, macros
        # The host fills in its own prompts first, in their order, then what the markers stand for.
        self._made: dict[str, Sequence[Segment]] = {}
        places = {prompt.identifier: place for place, (prompt, _enabled) in enumerate(preset.order)}
        prompts = sorted(
            layout.prompts, key=lambda each: (each.identifier in MARKERS, places.get(each.identifier, len(places)))
        )
        for prompt in prompts:
            bare = layout.bare_main and prompt.identifier == MAIN_PROMPT
            self._made[prompt.identifier] = () if bare else self._filled(prompt)

    def of(self, prompt: PresetPrompt) -> Sequence[Segment]:
        """The text of a prompt that is sent."""
        return self._made.get(prompt.identifier, ())

    def raw(self, prompt: PresetPrompt) -> Texts:
        """The text of a prompt that is not sent, macros as they are."""
        if prompt.identifier in {CHAT, EXAMPLES}:
            return ()
        if prompt.identifier in MARKERS:  # it stands for a text from elsewhere
            return self._marked(prompt)
        text = self._own_text(prompt)
        return ((text, self._source(prompt, text)),) if text.strip() else ()

    def _filled(self, prompt: PresetPrompt) -> Sequence[Segment]:
        if prompt.identifier in MARKERS:
            return self._expanded(self._marked(prompt), self._macros)
        text = self._own_text(prompt)
        source = self._source(prompt, text)
        card = self._card_text(prompt)
        if not card:
            return self._macros.expand(text, source)
        original = self._macros.fill(text)
        return self._expanded(card, replace(self._macros, values={**self._macros.values, "original": original}))

    def _expanded(self, texts: Texts, macros: Macros) -> list[Segment]:
        return [made for text, source in texts for made in macros.expand(text, source)]

    def _own_text(self, prompt: PresetPrompt) -> str:
        if prompt.identifier == MAIN_PROMPT:
            return self._setup.main
        return self._setup.post_history if prompt.identifier == POST_HISTORY else prompt.content

    def _source(self, prompt: PresetPrompt, text: str) -> PromptOrigin:
        """The preset, or the frame where the person wrote the text."""
        label = _LABELS.get(prompt.identifier)
        if label is not None and (self._setup.preset is None or text != prompt.content):
            return PromptOrigin(Origin.FRAME, label)
        return PromptOrigin(Origin.PRESET, prompt.title)

    def _card_text(self, prompt: PresetPrompt) -> Texts:
        """What the card has in the place of this prompt."""
        texts = {MAIN_PROMPT: self._card.system_prompt, POST_HISTORY: self._card.post_history}
        return () if prompt.forbid_overrides else texts.get(prompt.identifier, ())

    def _marked(self, prompt: PresetPrompt) -> Texts:
        fields, card = self._preset.fields, self._card
        if prompt.identifier == "charPersonality":
            return _framed(card.personality, fields.personality_format, "personality")
        if prompt.identifier == "scenario":
            return _framed(card.scenario, fields.scenario_format, "scenario")
        if prompt.identifier == "charDescription":
            return card.description
        if prompt.identifier == "personaDescription" and self._setup.persona.text:
            who = self._macros.values["user"]
            return ((self._setup.persona.text, PromptOrigin(Origin.PERSONA, f"persona {who}")),)
        return ()


def _framed(texts: Texts, form: str, name: str) -> Texts:
    """A field in the words that the preset puts around it."""
    if not texts or not form:
        return texts
    source = PromptOrigin(Origin.PRESET, f"format of the {name}")
    pieces = re.split(r"\{\{" + name + r"\}\}", form, flags=re.IGNORECASE)
    made: list[Segment] = []
    for place, piece in enumerate(pieces):
        made += [*(texts if place else ()), (piece, source)]
    return tuple((text, where) for text, where in made if text)


MESSAGE_OVERHEAD: Final = 4
"""Tokens that a message costs beside its text, and 3 for the reply's beginning; rules of thumb for the room."""

_REPLY_OVERHEAD: Final = 3
_IF_EMPTY: Final = PromptOrigin(Origin.PRESET, "in the place of an empty message")
_PREFILL: Final = PromptOrigin(Origin.PRESET, "prefill")


def assemble(
    trace: Trace, chat: Chat, setup: PromptSetup | None = None, counter: TokenCounter = CHARS_4
) -> AssembledPrompt:
    """The prompt that the run of `trace` leads to, in this chat.

    The chat ends before the reply that the run is for, and what the run took for visible is in it. Nothing is decided
    about lore here: the texts and their places are those of the trace.
    """
    setup = setup or PromptSetup()
    return _PromptAssembly(trace, shown_again(chat, trace.seen.shown), setup, counter).made()


class _PromptAssembly:
    """One prompt while it is put together."""

    def __init__(self, trace: Trace, chat: Chat, setup: PromptSetup, counter: TokenCounter) -> None:
        if setup.group is not None and not chat.metadata and setup.group_metadata:
            chat = replace(chat, metadata=setup.group_metadata)
        self._trace, self._chat, self._counter = trace, chat, counter
        self._preset = setup.preset or DELIVERED
        self._group = is_group(setup, chat)
        self._end = min(trace.turn.message, len(chat.messages))
        self._speaker, doubt = speaker_of(setup, chat, self._end)
        self._remarks = [doubt] if doubt else []
        self._setup = setup = of_speaker(setup, chat, self._end, self._speaker)
        self._card = card_texts(setup.card, chat, setup.group, self._speaker)
        self._macros = macros_for(setup, chat, self._end, self._speaker, self._card)
        self._scripts = RegexRun(scripts_of(setup, self._speaker), self._macros)
        self._bots = tuple(each.name for each in setup.group.members) if setup.group is not None else ()
        self._left: list[LeftOutPart] = []
        self._used = _REPLY_OVERHEAD
        self._room = max(0, setup.context_size - setup.reply_tokens) if setup.context_size > 0 else None

    def made(self) -> AssembledPrompt:
        preset, fields = self._preset, self._preset.fields
        layout = layout_of(preset, self._trace.turn.host_kind)
        injections = handed_over(self._trace, self._chat, self._end, self._card, self._scripts)
        order = prompt_order(injections)
        texts = PromptTexts(self._setup, preset, self._card, self._macros, layout)
        slots = {
            prompt.identifier: self._slot(prompt, texts, order)
            for prompt in layout.relative
            if prompt.identifier not in {CHAT, EXAMPLES}
        }
        for prompt, reason in layout.left_out if self._setup.preset is not None else ():
            self._leave(texts.raw(prompt), reason)
        new_chat = fields.new_group_chat_prompt if self._group else fields.new_chat_prompt
        start = self._message(MessageRole.SYSTEM, self._macros.expand(new_chat, CHAT_MARK), PromptSection.HISTORY)
        nudge = self._macros.expand(fields.group_nudge_prompt, GROUP_MARK) if self._group else []
        last = self._message(MessageRole.SYSTEM, nudge, PromptSection.HISTORY)
        around = [each for each in (start, last) if each is not None and layout.has(CHAT)]
        self._used += sum(_cost(each) for slot in slots.values() for each in slot) + sum(map(_cost, around))
        if self._room is not None and self._used > self._room:
            self._remarks.append(
                f"What is sent whatever is said takes {self._used:,} tokens with its frame, and a context of "
                f"{self._setup.context_size:,} less a reply of {self._setup.reply_tokens:,} leaves {self._room:,}: "
                "nothing of the chat has room. SillyTavern warns of this, too. Choose a larger context or a shorter "
                "reply."
            )
        own = self._own_in_chat(layout.in_chat, texts, order, beside_main=MAIN_PROMPT not in slots)
        history = self._history(in_chat(order, own), has_chat=layout.has(CHAT))
        slots[CHAT] = [each for each in (start, *history, last) if each is not None] if layout.has(CHAT) else []
        slots[EXAMPLES] = self._examples() if layout.has(EXAMPLES) else []
        messages = tuple(each for prompt in layout.relative for each in slots[prompt.identifier])
        if fields.squash_system_messages:
            messages = squashed(messages, self._counter)
        prefill = self._message(
            MessageRole.ASSISTANT, self._macros.expand(preset.prefill, _PREFILL), PromptSection.PREFILL
        )
        self._note_places(order)
        return AssembledPrompt(
            messages=(*messages, prefill) if prefill is not None else messages,
            left_out=tuple(self._left),
            room=self._room,
            exact=self._counter.exact,
            unknown_macros=tuple(self._macros.unknown),
            speaker=self._speaker,
            remarks=(*self._remarks, *self._scripts.problems),
            lore_tokens=self._trace.total_tokens,
        )

    def _note_places(self, order: PromptOrder[HeldInjection]) -> None:
        """Tell what no place of the prompt took."""
        for each in order.nowhere:
            if not each.outlet or each.position != Position.OUTLET:
                self._leave(each.segments, Left.NO_PLACE)
            elif each.outlet not in self._macros.used:
                self._leave(each.segments, Left.OUTLET_UNUSED)

    def _leave(self, segments: Iterable[Segment], reason: Left) -> None:
        for text, source in segments:
            if text.strip():
                self._left.append(LeftOutPart(source, reason, self._counter.count(text)))

    # ---- the parts of the prompt ------------------------------------------------------------------------------------

    def _slot(
        self, prompt: PresetPrompt, texts: PromptTexts, order: PromptOrder[HeldInjection]
    ) -> list[AssembledMessage]:
        """The messages at a prompt's place: its own, and the lore beside the main prompt."""
        section = SECTIONS.get(prompt.identifier, PromptSection.PRESET)
        own = self._message(role_of(prompt), texts.of(prompt), section)
        if prompt.identifier != MAIN_PROMPT:
            return [own] if own is not None else []
        before = [self._relative(each, PromptSection.BEFORE_MAIN) for each in order.before]
        after = [self._relative(each, PromptSection.AFTER_MAIN) for each in order.after]
        return [each for each in (*before, own, *after) if each is not None]

    def _relative(self, injection: HeldInjection, section: PromptSection) -> AssembledMessage | None:
        return self._message(ROLES.get(injection.role, MessageRole.SYSTEM), injection.segments, section)

    def _own_in_chat(
        self,
        prompts: Iterable[PresetPrompt],
        texts: PromptTexts,
        order: PromptOrder[HeldInjection],
        *,
        beside_main: bool,
    ) -> list[OwnInChat]:
        """The preset's prompts among the messages; `beside_main` says that the main prompt has no place of its own.

        Lore that belongs beside it goes along, the last one nearest; where there is no main prompt at all, the host
        has no place for it.
        """
        own: list[OwnInChat] = []
        main_found = False
        for prompt in prompts:
            here = OwnInChat(prompt.injection_depth, prompt.injection_order, role_of(prompt), texts.of(prompt))
            if not here.has_place:
                self._leave(here.segments, Left.NO_PLACE)
                continue
            beside: list[list[OwnInChat]] = [[], []]
            if prompt.identifier == MAIN_PROMPT:
                main_found = True
                sides = (reversed(order.before), reversed(order.after))
                beside = [[replace(here, segments=each.segments) for each in side] for side in sides]
            own += [*beside[0], here, *beside[1]]
        if beside_main and not main_found:
            for each in (*order.before, *order.after):
                self._leave(each.segments, Left.SWITCHED_OFF)
        return own

    def _examples(self) -> list[AssembledMessage]:
        made: list[AssembledMessage] = []
        text = self._macros.expand(self._preset.fields.new_example_chat_prompt, EXAMPLE_MARK)
        head = self._message(MessageRole.SYSTEM, text, PromptSection.EXAMPLES)
        for block in self._example_blocks():
            parts = [(turn.text_of(part), part.source) for turn in block for part in turn.parts]
            if head is not None and not self._fits(head):
                self._leave(parts, Left.NO_ROOM)
                continue
            opened = _cost(head) if head is not None else 0
            self._used += opened
            turns: list[AssembledMessage] = []
            for turn in block:
                if self._fits(turn):
                    self._used += _cost(turn)
                    turns.append(turn)
                else:
                    self._leave([(turn.text_of(part), part.source) for part in turn.parts], Left.NO_ROOM)
            if turns:
                made += [*([head] if head is not None else []), *turns]
            else:
                self._used -= opened
        return made

    def _example_blocks(self) -> Iterator[list[AssembledMessage]]:
        """The card's examples, between those of World Info; of the latter one in which nobody speaks has no place."""
        top, bottom = examples_of(self._trace, self._scripts)
        for text, source in (*top, *self._card.examples, *bottom):
            blocks = list(example_messages([(text, source)], self._macros, self._counter, self._bots))
            if not blocks and source.entry is not None:
                self._leave([(text, source)], Left.NO_PLACE)
            yield from blocks

    def _history(self, among: Iterable[InChat], *, has_chat: bool) -> list[AssembledMessage]:
        """The messages and what is injected among them, as many of the newest as there is room for.

        A preset that has the chat switched off sends neither.
        """
        groups = [(group.depth, self._message(group.role, group.segments, PromptSection.HISTORY)) for group in among]
        injected = [(depth, replace(made, depth=depth)) for depth, made in groups if made is not None]
        chat = said(self._chat, self._end, self._setup, self._preset, self._scripts, self._counter)
        if not has_chat:
            lost = [*chat, *(message for _depth, message in injected)]
            self._leave([(each.text_of(part), part.source) for each in lost for part in each.parts], Left.SWITCHED_OFF)
            return []
        newest: list[AssembledMessage] = []
        done = 0
        for depth, message in reversed(injected):
            newest += chat[done:depth]
            done = max(done, depth)
            newest.append(message)
        newest += chat[done:]
        asked = self._if_empty(newest)
        kept: list[AssembledMessage] = []
        for place, message in enumerate(newest):
            if not self._fits(message):
                for lost_one in newest[place:]:
                    self._leave([(lost_one.text_of(part), part.source) for part in lost_one.parts], Left.NO_ROOM)
                break
            self._used += _cost(message)
            kept.append(message)
        return [*(message for message in reversed(kept) if message.text), *asked]

    def _if_empty(self, newest: list[AssembledMessage]) -> list[AssembledMessage]:
        """The preset's words of the person's behind a message of the character's."""
        if not newest or newest[0].role is not MessageRole.ASSISTANT:
            return []
        segments = self._macros.expand(self._preset.fields.send_if_empty, _IF_EMPTY)
        message = self._message(MessageRole.USER, segments, PromptSection.HISTORY)
        if message is None or not self._fits(message):
            return []
        self._used += _cost(message)
        return [message]

    def _fits(self, message: AssembledMessage) -> bool:
        return self._room is None or self._used + _cost(message) <= self._room

    def _message(
        self, role: MessageRole, segments: Iterable[Segment], section: PromptSection
    ) -> AssembledMessage | None:
        return message_of(role, segments, section, self._counter)


def _cost(message: AssembledMessage) -> int:
    return message.tokens + MESSAGE_OVERHEAD
