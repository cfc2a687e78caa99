"""Which prompts a generation has and where: the Prompt Manager's order, as SillyTavern reads it.

* Prompts that are switched on follow each other in the preset's order; those with a depth go among the messages.
* The main prompt keeps its place when it is switched off, without its text, because lore stands beside it.
* Card and persona go to the end where the order does not name them; SillyTavern puts them there.
* A prompt for other kinds of generations, or one that SillyTavern does not know what to do with, is left out.

Source: SillyTavern's Prompt Manager (spec: deeplore-ai-and-tools 5.7).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from lorestudio.exchange.chat_preset import ChatPreset
from lorestudio.exchange.preset_fields import MARKERS, PresetPrompt
from lorestudio.trace.assembled import Left, Role

MAIN: Final = "main"
POST_HISTORY: Final = "jailbreak"
CHAT: Final = "chatHistory"
EXAMPLES: Final = "dialogueExamples"

_NEVER_IN_CHAT: Final = frozenset({CHAT, EXAMPLES})
_ALWAYS: Final = ("charDescription", "charPersonality", "scenario", "personaDescription")
_ROLES: Final = {role.value: role for role in Role}


@dataclass(frozen=True, slots=True)
class Layout:
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


def layout_of(preset: ChatPreset, kind: str) -> Layout:
    """The layout for a generation; `kind` is SillyTavern's word for it: normal, swipe …"""
    relative: list[PresetPrompt] = []
    in_chat: list[PresetPrompt] = []
    left: list[tuple[PresetPrompt, Left]] = []
    for prompt, enabled in preset.order:
        reason = _why_not(prompt, kind, enabled=enabled)
        if reason is not None:
            left.append((prompt, reason))
            if prompt.identifier == MAIN and reason is Left.SWITCHED_OFF:
                relative.append(prompt)
        elif prompt.in_chat and prompt.identifier not in _NEVER_IN_CHAT:
            in_chat.append(prompt)
        else:
            relative.append(prompt)
    named = {prompt.identifier for prompt, _ in preset.order}
    missing = (preset.prompt(name) for name in _ALWAYS if name not in named)
    relative += [prompt for prompt in missing if prompt is not None]
    bare = any(prompt.identifier == MAIN and reason is Left.SWITCHED_OFF for prompt, reason in left)
    return Layout(tuple(relative), tuple(in_chat), tuple(left), bare)


def role_of(prompt: PresetPrompt) -> Role:
    """Who speaks it; system where the preset does not say."""
    return _ROLES.get(prompt.role, Role.SYSTEM)


def is_marker(prompt: PresetPrompt) -> bool:
    """Whether it stands for a text from elsewhere."""
    return prompt.identifier in MARKERS


def _why_not(prompt: PresetPrompt, kind: str, *, enabled: bool) -> Left | None:
    if not enabled:
        return Left.SWITCHED_OFF
    if prompt.injection_trigger and kind not in prompt.injection_trigger:
        return Left.OTHER_KIND
    return None if prompt.is_sent else Left.NO_PLACE
