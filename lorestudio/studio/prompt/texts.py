"""Which prompts a generation has and where, by the Prompt Manager's order, and their texts: the preset's own, or what
their markers stand for.

* Prompts that are switched on follow each other in the preset's order; those with a depth go among the messages.
* The main prompt keeps its place when it is switched off, without its text, because lore stands beside it.
* Card and persona go to the end where the order does not name them; SillyTavern puts them there.
* A prompt for other kinds of generations, or one that SillyTavern does not know what to do with, is left out.

Source: SillyTavern's Prompt Manager (rules: sillytavern 5.7).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from msgspec import Struct

from lorestudio.exchange.chat_preset import MARKERS, ChatPreset, PresetPrompt
from lorestudio.studio.prompt.card import CardTexts, Texts
from lorestudio.studio.prompt.setup import PromptSetup
from lorestudio.systems.macros import Macros, Segment
from lorestudio.trace.prompt.assembled import Left, MessageRole, Origin, PromptOrigin, PromptSection

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
        ordered = [prompt.identifier for prompt, _enabled in preset.order]
        prompts = sorted(
            layout.prompts, key=lambda each: (each.identifier in MARKERS, _place(ordered, each.identifier))
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
            return self._expanded(self._marked(prompt))
        text = self._own_text(prompt)
        source = self._source(prompt, text)
        card = self._card_text(prompt)
        if not card:
            return self._macros.expand(text, source)
        return self._expanded(card, self._macros.fill(text))

    def _expanded(self, texts: Texts, original: str = "") -> list[Segment]:
        return [made for text, source in texts for made in self._macros.expand(text, source, original)]

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
        if not self._setup.prefer_card or prompt.forbid_overrides:
            return ()
        texts = {MAIN_PROMPT: self._card.system_prompt, POST_HISTORY: self._card.post_history}
        return texts.get(prompt.identifier, ())

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


def _place(ordered: Sequence[str], identifier: str) -> int:
    return ordered.index(identifier) if identifier in ordered else len(ordered)
