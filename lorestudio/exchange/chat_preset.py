"""SillyTavern's presets of chat completion: which prompts a request has, in which order, and the texts around them.

A preset lies in `OpenAI Settings/NAME.json`; SillyTavern's settings.json holds the one in use under `oai_settings`, and
is read as well. Nothing is written back, so only what a prompt is made of is kept; what else the file says is told in
`remarks`, so that nobody takes it for reproduced (rules: sillytavern 5.1, 5.7).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Final

from msgspec import field
from pydantic import BeforeValidator, Field

from lorestudio.domain.javascript import Json, truthy
from lorestudio.domain.records import Terse
from lorestudio.exchange.json_file import parse_document, read_file
from lorestudio.exchange.problems import Flag, InputError, OutsideModel, Text, Texts, checked, unless_null
from lorestudio.exchange.regex_scripts import RegexScripts, scripts_within

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


def _whole(value: object) -> object:
    """Numbers may be texts in presets; a whole one stays whole."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


class PresetPrompt(OutsideModel, extra="allow"):
    """A prompt of the Prompt Manager.

    `marker` stands for a text that comes from elsewhere, such as the chat. `injection_position` 1 puts it into the
    chat, so that `injection_depth` messages are newer; of several at one depth a higher `injection_order` stands later.
    `injection_trigger` names the kinds of generations that it is for, none for all. `forbid_overrides`: the card's own
    text does not go before it.
    """

    identifier: Text = ""
    name: Text = ""
    role: Text = ""
    content: Text = ""
    system_prompt: bool | None = None
    marker: Flag = False
    injection_position: Annotated[int, unless_null(0)] = 0
    injection_depth: Annotated[float, unless_null(4)] = 4
    injection_order: Annotated[float, unless_null(100)] = 100
    injection_trigger: Texts = ()
    forbid_overrides: Flag = False

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


class OrderEntry(OutsideModel):
    """A place in the order: which prompt, and whether it is switched on."""

    identifier: Text = ""
    enabled: Flag = False


class PromptOrderList(OutsideModel, coerce_numbers_to_str=True):
    """The order of one character, or of everybody."""

    character_id: Text = ""
    order: Annotated[tuple[OrderEntry, ...], unless_null(())] = ()


class PresetExtensions(OutsideModel, extra="allow"):
    """What extensions keep in a preset."""

    regex_scripts: Any = None


class PresetFields(OutsideModel):
    """The fields of a preset that a prompt is made of; what is missing is as SillyTavern delivers it.

    `names_behavior`: -1 no names, 0 in groups and for guests, 1 as the messages' own field, 2 before every text.
    """

    prompts: Annotated[tuple[PresetPrompt, ...], unless_null(())] = ()
    prompt_order: Annotated[tuple[PromptOrderList, ...], unless_null(())] = ()
    openai_max_context: Annotated[int, BeforeValidator(_whole), unless_null(0)] = Field(default=0, ge=0)
    openai_max_tokens: Annotated[int, BeforeValidator(_whole), unless_null(0)] = Field(default=0, ge=0)
    names_behavior: int | None = None
    names_in_completion: bool | None = None
    send_if_empty: Text = ""
    new_chat_prompt: Annotated[str, unless_null(NEW_CHAT)] = NEW_CHAT
    new_group_chat_prompt: Annotated[str, unless_null(NEW_GROUP_CHAT)] = NEW_GROUP_CHAT
    new_example_chat_prompt: Annotated[str, unless_null(NEW_EXAMPLE)] = NEW_EXAMPLE
    group_nudge_prompt: Annotated[str, unless_null(GROUP_NUDGE)] = GROUP_NUDGE
    scenario_format: Annotated[str, unless_null("{{scenario}}")] = "{{scenario}}"
    personality_format: Annotated[str, unless_null("{{personality}}")] = "{{personality}}"
    squash_system_messages: Flag = False
    assistant_prefill: Text = ""
    chat_completion_source: Text = ""
    extensions: Annotated[PresetExtensions, unless_null(PresetExtensions())] = Field(default_factory=PresetExtensions)


_USED: Final = PresetFields.model_fields.keys() | {
    "main_prompt", "nsfw_prompt", "jailbreak_prompt", "preset_settings_openai", "name",
}  # fmt: skip
_OTHER_TASKS: Final = frozenset(
    ["impersonation_prompt", "assistant_impersonation", "continue_nudge_prompt", "continue_prefill", "continue_postfix"]
)
"""For what is not done here: speaking for the person, and going on with a message."""

_SAMPLING: Final = frozenset({
    "temperature", "temp_openai", "top_p", "top_p_openai", "top_k", "top_k_openai", "top_a", "top_a_openai", "min_p",
    "min_p_openai", "seed", "n", "frequency_penalty", "freq_pen_openai", "presence_penalty", "pres_pen_openai",
    "repetition_penalty", "repetition_penalty_openai", "count_pen", "reasoning_effort", "verbosity",
})  # fmt: skip
_CONNECTION: Final = frozenset({
    "reverse_proxy", "proxy_password", "stream_openai", "max_context_unlocked", "show_external_models",
    "bypass_status_check", "azure_base_url", "azure_deployment_name", "azure_api_version", "bind_preset_to_connection",
    "show_thoughts", "nano_gpt_model", "xai_model", "legacy_streaming", "api_url_scale", "use_ai21_tokenizer",
    "use_google_tokenizer", "use_alt_scale", "api_key_openai",
})  # fmt: skip
_CONNECTION_STARTS: Final = (
    "openrouter_", "custom_", "vertexai_", "windowai_", "siliconflow_", "workers_ai_", "azure_",
)  # fmt: skip
_SHAPING: Final = {
    "wrap_in_quotes": "what you say in quotation marks",
    "image_inlining": "pictures",
    "inline_image_quality": "",
    "video_inlining": "videos",
    "audio_inlining": "sounds",
    "media_inlining": "pictures, videos and sounds",
    "function_calling": "tools",
    "enable_web_search": "web search",
    "request_images": "asking for pictures",
    "request_image_aspect_ratio": "",
    "request_image_resolution": "",
    "tool_reasoning_mode": "",
    "use_sysprompt": "system messages in a field of their own",
    "claude_use_sysprompt": "system messages in a field of their own",
    "use_makersuite_sysprompt": "system messages in a field of their own",
    "human_sysprompt_message": "the first message behind system messages",
    "claude_human_sysprompt_message": "the first message behind system messages",
    "custom_prompt_post_processing": "joining messages for strict providers",
    "bias_preset_selected": "",
    "openai_postfix": "",
}
"""What else may change the request, and what it does; "" for what changes no message."""

_PLAIN_FORMAT: Final = "{0}"


def preset_remarks(document: Mapping[str, Json]) -> tuple[str, ...]:
    """Sentences about the members of a preset, or of `oai_settings`, that a prompt here is not shaped by."""
    told: list[str] = []
    shaping = [
        f"{name} ({what})" if what else name
        for name, what in _SHAPING.items()
        if what and truthy(document.get(name)) and document.get(name) != "none"
    ]
    if shaping:
        told.append(f"Switched on in the preset, and not reproduced here: {', '.join(shaping)}.")
    if (form := document.get("wi_format")) is not None and str(form).strip() not in {"", _PLAIN_FORMAT}:
        told.append("The preset frames SillyTavern's own World Info (wi_format); that is not reproduced here.")
    if any(name in document for name in _SAMPLING) or any(_is_connection(name) for name in document):
        told.append(
            "Whom SillyTavern asks and with which sampling (temperature, top_p and so on) is not taken over: here the "
            "connection says so."
        )
    known = _USED | _OTHER_TASKS | _SAMPLING | _SHAPING.keys() | {"wi_format"}
    unknown = [name for name in document if name not in known and not _is_connection(name)]
    if unknown:
        told.append(f"Not known here, and without effect: {', '.join(sorted(unknown))}.")
    return tuple(told)


def _is_connection(name: str) -> bool:
    return name in _CONNECTION or name.endswith("_model") or name.startswith(_CONNECTION_STARTS)


EVERYBODY: Final = "100001"
"""The id under which SillyTavern keeps the order that counts for all characters; it uses no other one."""

DELIVERED_ORDER: Final = tuple(
    (name, name != "enhanceDefinitions")
    for name in (
        "main", "worldInfoBefore", "personaDescription", "charDescription", "charPersonality", "scenario",
        "enhanceDefinitions", "nsfw", "worldInfoAfter", "dialogueExamples", "chatHistory", "jailbreak",
    )
)  # fmt: skip
"""The order of the Prompt Manager as it is delivered; presets without an order have this one."""

_OLD_TEXTS: Final = {"main": "main_prompt", "nsfw": "nsfw_prompt", "jailbreak": "jailbreak_prompt"}
_WITH_TEXT: Final = ("main", "enhanceDefinitions")
"""The prompts that SillyTavern delivers with a text."""

_SIGNS: Final = ("prompts", "prompt_order", "new_chat_prompt", "openai_max_context", *_OLD_TEXTS.values())
_SETTINGS: Final = "oai_settings"


class ChatPreset(Terse, frozen=True):
    """A preset; one without fields is SillyTavern's as delivered, but without its texts."""

    unprinted = ("fields", "remarks", "scripts")

    name: str = ""
    fields: PresetFields = field(default_factory=PresetFields)
    remarks: tuple[str, ...] = ()
    scripts: RegexScripts = field(default_factory=RegexScripts)

    @property
    def order(self) -> tuple[tuple[PresetPrompt, bool], ...]:
        """The prompts in order, each with whether it is switched on; places of prompts that are gone are left out."""
        fields = self.fields
        found = next((each.order for each in fields.prompt_order if each.character_id == EVERYBODY), ())
        places = [(each.identifier, each.enabled) for each in found] or DELIVERED_ORDER
        seen: dict[str, bool] = {}
        for identifier, enabled in places:
            seen.setdefault(identifier, enabled)
        own = {each.identifier: each for each in reversed(fields.prompts)}
        known = {name: own.get(name) or _own(name) for name in seen}
        return tuple((prompt, seen[name]) for name, prompt in known.items() if prompt is not None)

    def prompt(self, identifier: str) -> PresetPrompt | None:
        """The prompt of that name; SillyTavern adds its own ones where a preset lacks them."""
        found = next((each for each in self.fields.prompts if each.identifier == identifier), None)
        return found if found is not None else _own(identifier)

    @property
    def names(self) -> int:
        """How speakers are named (see `PresetFields`); older presets have a switch for the messages' own field."""
        fields = self.fields
        if fields.names_behavior is not None:
            return fields.names_behavior
        return 1 if fields.names_in_completion else 0

    @property
    def prefill(self) -> str:
        """How the reply begins; SillyTavern sends it to Claude only."""
        return self.fields.assistant_prefill if self.fields.chat_completion_source in {"", "claude"} else ""


DELIVERED: Final = ChatPreset()
"""What a prompt is made by where nobody chose a preset."""


def load_preset(path: Path) -> ChatPreset:
    """The preset in a file. Waits for the disk. Raises InputError naming the field that is wrong."""
    return parse_preset(read_file(path), path)


def parse_preset(data: bytes, source: Path | str) -> ChatPreset:
    """The preset in the bytes of its file, or of SillyTavern's settings.json. Raises InputError."""
    document = parse_document(data, source, "preset")
    if not isinstance(document, Mapping):
        raise InputError(source, "this is no JSON object. Choose a preset of chat completion.")
    name, where = Path(source).stem, ""
    if isinstance(settings := document.get(_SETTINGS), Mapping):
        document, where = settings, f"{_SETTINGS}."
        name = str(settings.get("preset_settings_openai") or name)
    if not any(sign in document for sign in _SIGNS):
        raise InputError(
            source,
            "this is JSON, but no preset of chat completion: it has neither prompts nor their order. Presets of text "
            "completion (context, instruct, system prompt) shape no chat completion.",
        )
    fields = checked(
        PresetFields, _with_old_texts(document), source, "Correct it, or save the preset again in SillyTavern.",
        [_SETTINGS] if where else (),
    )  # fmt: skip
    bad = next((at for at, each in enumerate(fields.prompts) if not math.isfinite(each.injection_order)), None)
    if bad is not None:
        raise InputError(source, "an order is a number.", field=f"{where}prompts.{bad}.injection_order")
    preset = ChatPreset(name, fields)
    scripts = scripts_within(fields.extensions.regex_scripts, source, f"{where}extensions.regex_scripts")
    return ChatPreset(name, fields, (*_order_remarks(preset), *preset_remarks(document)), scripts)


def _own(identifier: str) -> PresetPrompt | None:
    if identifier not in NAMES:
        return None
    return PresetPrompt(
        identifier=identifier, name=NAMES[identifier], role="system", system_prompt=True,
        marker=identifier in MARKERS,
    )  # fmt: skip


def _with_old_texts(document: Mapping[str, Json]) -> Mapping[str, Json]:
    """The document, with the three texts of presets from before the Prompt Manager as its prompts."""
    if document.get("prompts"):
        return document
    made = [
        {"identifier": name, "name": NAMES[name], "role": "system", "system_prompt": True, "content": document[old]}
        for name, old in _OLD_TEXTS.items()
        if isinstance(document.get(old), str)
    ]
    return {**document, "prompts": made} if made else document


def _order_remarks(preset: ChatPreset) -> list[str]:
    fields, told = preset.fields, []
    ids = [each.character_id for each in fields.prompt_order]
    if ids and EVERYBODY not in ids:
        told.append(
            f"The preset has an order for {', '.join(ids)} only, and none for all characters ({EVERYBODY}); "
            "like SillyTavern, the order as delivered is used."
        )
    held = {each.identifier for each in fields.prompts}
    on = {prompt.identifier for prompt, enabled in preset.order if enabled}
    bare = [NAMES[name] for name in _WITH_TEXT if name in on - held]
    if bare:
        told.append(
            f"The preset has no text for {', '.join(bare)}; SillyTavern puts its own there, here it stays empty."
        )
    places = [each.identifier for one in fields.prompt_order if one.character_id == EVERYBODY for each in one.order]
    gone = [name for name in dict.fromkeys(places) if name not in held and name not in NAMES]
    if gone:
        told.append(f"The order names prompts that the preset does not have: {', '.join(gone)}. They are left out.")
    lost = [prompt.title for prompt, enabled in preset.order if enabled and not prompt.is_sent]
    if lost:
        told.append(
            f"Marked as SillyTavern's own, though it knows none of that name, and so never sent: {', '.join(lost)}."
        )
    ordered = {prompt.identifier for prompt, _ in preset.order}
    spare = [each.title for each in fields.prompts if each.identifier not in ordered and not each.marker]
    if spare:
        told.append(f"In no order, so not sent: {', '.join(spare)}.")
    if preset.fields.assistant_prefill and not preset.prefill:
        told.append(f"SillyTavern sends a prefill to Claude only; this preset is for {fields.chat_completion_source}.")
    return told
