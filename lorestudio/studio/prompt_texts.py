"""The texts of a prompt's parts: of the preset's prompts, or of what their markers stand for."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from lorestudio.engine.macros import Macros, Segment
from lorestudio.exchange.chat_preset import ChatPreset
from lorestudio.exchange.preset_fields import PresetPrompt
from lorestudio.studio.prompt_card import CardTexts, Texts
from lorestudio.studio.prompt_layout import CHAT, EXAMPLES, MAIN, POST_HISTORY, Layout, is_marker
from lorestudio.studio.prompt_setup import PromptSetup
from lorestudio.trace.assembled import Origin, PromptOrigin, Section

SECTIONS: Final[Mapping[str, Section]] = {
    MAIN: Section.MAIN,
    "personaDescription": Section.PERSONA,
    "charDescription": Section.DESCRIPTION,
    "charPersonality": Section.PERSONALITY,
    "scenario": Section.SCENARIO,
    POST_HISTORY: Section.POST_HISTORY,
}
_LABELS: Final = {MAIN: "main prompt", POST_HISTORY: "post-history"}


class PromptTexts:
    """The texts with their origins, macros filled in.

    All are filled in at the beginning and in the preset's order, because what a prompt sets others may ask for.
    """

    def __init__(self, setup: PromptSetup, preset: ChatPreset, card: CardTexts, macros: Macros, layout: Layout) -> None:
        self._setup, self._preset, self._card, self._macros = setup, preset, card, macros
        # The host fills in its own prompts first, in their order, then what the markers stand for.
        self._made: dict[str, Sequence[Segment]] = {}
        ordered = [prompt.identifier for prompt, _enabled in preset.order]
        prompts = sorted(layout.prompts, key=lambda each: (is_marker(each), _place(ordered, each.identifier)))
        for prompt in prompts:
            bare = layout.bare_main and prompt.identifier == MAIN
            self._made[prompt.identifier] = () if bare else self._filled(prompt)

    def of(self, prompt: PresetPrompt) -> Sequence[Segment]:
        """The text of a prompt that is sent."""
        return self._made.get(prompt.identifier, ())

    def raw(self, prompt: PresetPrompt) -> Texts:
        """The text of a prompt that is not sent, macros as they are."""
        if prompt.identifier in {CHAT, EXAMPLES}:
            return ()
        if is_marker(prompt):
            return self._marked(prompt)
        text = self._own_text(prompt)
        return ((text, self._source(prompt, text)),) if text.strip() else ()

    def _filled(self, prompt: PresetPrompt) -> Sequence[Segment]:
        if is_marker(prompt):
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
        if prompt.identifier == MAIN:
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
        texts = {MAIN: self._card.system_prompt, POST_HISTORY: self._card.post_history}
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
