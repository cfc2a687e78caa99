"""The fields of SillyTavern's chat completion presets that a prompt is made of."""

from __future__ import annotations

from typing import Annotated, Any, Final

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

NEW_CHAT: Final = "[Start a new Chat]"
NEW_GROUP_CHAT: Final = "[Start a new group chat. Group members: {{group}}]"
NEW_EXAMPLE: Final = "[Example Chat]"
GROUP_NUDGE: Final = "[Write the next reply only as {{char}}.]"

NAMES: Final = {
    "main": "Main Prompt",
    "nsfw": "Auxiliary Prompt",
    "jailbreak": "Post-History Instructions",
    "enhanceDefinitions": "Enhance Definitions",
    "worldInfoBefore": "World Info (before)",
    "worldInfoAfter": "World Info (after)",
    "charDescription": "Char Description",
    "charPersonality": "Char Personality",
    "scenario": "Scenario",
    "personaDescription": "Persona Description",
    "dialogueExamples": "Chat Examples",
    "chatHistory": "Chat History",
}
TEXTS: Final = ("main", "nsfw", "jailbreak", "enhanceDefinitions")
MARKERS: Final = tuple(name for name in NAMES if name not in TEXTS)
"""The prompts of SillyTavern's own: those with a text, and those that stand for what comes from elsewhere."""


def _unless_null(default: object) -> BeforeValidator:
    return BeforeValidator(lambda value: default if value is None else value)


def _whole(value: object) -> object:
    """Numbers may be texts in presets; a whole one stays whole."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


Text = Annotated[str, _unless_null("")]


class PresetPrompt(BaseModel):
    """A prompt of the Prompt Manager.

    `marker` stands for a text that comes from elsewhere, such as the chat. `injection_position` 1 puts it into the
    chat, so that `injection_depth` messages are newer; of several at one depth a higher `injection_order` stands later.
    `injection_trigger` names the kinds of generations that it is for, none for all. `forbid_overrides`: the card's own
    text does not go before it.
    """

    model_config = ConfigDict(extra="allow", frozen=True)

    identifier: Text = ""
    name: Text = ""
    role: Text = ""
    content: Text = ""
    system_prompt: bool | None = None
    marker: Annotated[bool, _unless_null(default=False)] = False
    injection_position: Annotated[int, _unless_null(0)] = 0
    injection_depth: Annotated[float, _unless_null(4)] = 4
    injection_order: Annotated[float, _unless_null(100)] = 100
    injection_trigger: Annotated[tuple[str, ...], _unless_null(())] = ()
    forbid_overrides: Annotated[bool, _unless_null(default=False)] = False

    @property
    def in_chat(self) -> bool:
        """Whether it goes among the messages."""
        return self.injection_position == 1

    @property
    def is_sent(self) -> bool:
        """Whether SillyTavern places it at all: one that claims to be SillyTavern's own, but is not known, is lost."""
        return self.in_chat or self.system_prompt is False or self.identifier in NAMES

    @property
    def title(self) -> str:
        """What people call it."""
        return self.name.strip() or NAMES.get(self.identifier, "") or self.identifier


class OrderEntry(BaseModel):
    """A place in the order: which prompt, and whether it is switched on."""

    model_config = ConfigDict(frozen=True)

    identifier: Text = ""
    enabled: Annotated[bool, _unless_null(default=False)] = False


class PromptOrderList(BaseModel):
    """The order of one character, or of everybody."""

    model_config = ConfigDict(frozen=True, coerce_numbers_to_str=True)

    character_id: Text = ""
    order: Annotated[tuple[OrderEntry, ...], _unless_null(())] = ()


class PresetExtensions(BaseModel):
    """What extensions keep in a preset."""

    model_config = ConfigDict(extra="allow", frozen=True)

    regex_scripts: Any = None


class PresetFields(BaseModel):
    """The fields of a preset that a prompt is made of; what is missing is as SillyTavern delivers it.

    `names_behavior`: -1 no names, 0 in groups and for guests, 1 as the messages' own field, 2 before every text.
    """

    model_config = ConfigDict(frozen=True)

    prompts: Annotated[tuple[PresetPrompt, ...], _unless_null(())] = ()
    prompt_order: Annotated[tuple[PromptOrderList, ...], _unless_null(())] = ()
    openai_max_context: Annotated[int, BeforeValidator(_whole), _unless_null(0)] = Field(default=0, ge=0)
    openai_max_tokens: Annotated[int, BeforeValidator(_whole), _unless_null(0)] = Field(default=0, ge=0)
    names_behavior: int | None = None
    names_in_completion: bool | None = None
    send_if_empty: Text = ""
    new_chat_prompt: Annotated[str, _unless_null(NEW_CHAT)] = NEW_CHAT
    new_group_chat_prompt: Annotated[str, _unless_null(NEW_GROUP_CHAT)] = NEW_GROUP_CHAT
    new_example_chat_prompt: Annotated[str, _unless_null(NEW_EXAMPLE)] = NEW_EXAMPLE
    group_nudge_prompt: Annotated[str, _unless_null(GROUP_NUDGE)] = GROUP_NUDGE
    scenario_format: Annotated[str, _unless_null("{{scenario}}")] = "{{scenario}}"
    personality_format: Annotated[str, _unless_null("{{personality}}")] = "{{personality}}"
    squash_system_messages: Annotated[bool, _unless_null(default=False)] = False
    assistant_prefill: Text = ""
    chat_completion_source: Text = ""
    extensions: Annotated[PresetExtensions, _unless_null(PresetExtensions())] = Field(default_factory=PresetExtensions)
