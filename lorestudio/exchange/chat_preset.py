"""SillyTavern's presets of chat completion: which prompts a request has, in which order, and the texts around them.

A preset lies in `OpenAI Settings/NAME.json`; SillyTavern's settings.json holds the one in use under `oai_settings`, and
is read as well. Nothing is written back, so only what a prompt is made of is kept; what else the file says is told in
`remarks` (spec: deeplore-ai-and-tools 5.1, 5.7).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from pydantic import ValidationError

from lorestudio.domain.javascript import Json
from lorestudio.exchange.json_file import parse_document, read_file
from lorestudio.exchange.preset_fields import MARKERS, NAMES, PresetFields, PresetPrompt
from lorestudio.exchange.preset_remarks import preset_remarks
from lorestudio.exchange.problems import InputError
from lorestudio.exchange.regex_scripts import RegexScripts, scripts_within

EVERYBODY: Final = "100001"
"""The id under which SillyTavern keeps the order that counts for all characters; it uses no other one."""

DELIVERED_ORDER: Final = (
    ("main", True),
    ("worldInfoBefore", True),
    ("personaDescription", True),
    ("charDescription", True),
    ("charPersonality", True),
    ("scenario", True),
    ("enhanceDefinitions", False),
    ("nsfw", True),
    ("worldInfoAfter", True),
    ("dialogueExamples", True),
    ("chatHistory", True),
    ("jailbreak", True),
)
"""The order of the Prompt Manager as it is delivered; presets without an order have this one."""

_OLD_TEXTS: Final = {"main": "main_prompt", "nsfw": "nsfw_prompt", "jailbreak": "jailbreak_prompt"}
_WITH_TEXT: Final = ("main", "enhanceDefinitions")
"""The prompts that SillyTavern delivers with a text."""

_SIGNS: Final = ("prompts", "prompt_order", "new_chat_prompt", "openai_max_context", *_OLD_TEXTS.values())
_SETTINGS: Final = "oai_settings"


@dataclass(frozen=True, slots=True)
class ChatPreset:
    """A preset; one without fields is SillyTavern's as delivered, but without its texts."""

    name: str = ""
    fields: PresetFields = field(default_factory=PresetFields, repr=False)
    remarks: tuple[str, ...] = field(default=(), repr=False)
    scripts: RegexScripts = field(default_factory=RegexScripts, repr=False)

    @property
    def order(self) -> tuple[tuple[PresetPrompt, bool], ...]:
        """The prompts in order, each with whether it is switched on; places of prompts that are gone are left out."""
        fields = self.fields
        found = next((each.order for each in fields.prompt_order if each.character_id == EVERYBODY), ())
        places = [(each.identifier, each.enabled) for each in found] or DELIVERED_ORDER
        seen: dict[str, bool] = {}
        for identifier, enabled in places:
            seen.setdefault(identifier, enabled)
        known = {name: self.prompt(name) for name in seen}
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
    try:
        fields = PresetFields.model_validate(_with_old_texts(document))
    except ValidationError as error:
        first = error.errors()[0]
        place = where + ".".join(str(part) for part in first["loc"])
        message = f"{first['msg']}. Correct it, or save the preset again in SillyTavern."
        raise InputError(source, message, field=place) from error
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
    bare = [NAMES[name] for name in _WITH_TEXT if name not in held and _is_on(preset, name)]
    if bare:
        told.append(
            f"The preset has no text for {', '.join(bare)}; SillyTavern puts its own there, here it stays empty."
        )
    places = [each.identifier for one in fields.prompt_order if one.character_id == EVERYBODY for each in one.order]
    gone = [name for name in dict.fromkeys(places) if preset.prompt(name) is None]
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


def _is_on(preset: ChatPreset, identifier: str) -> bool:
    return any(enabled for prompt, enabled in preset.order if prompt.identifier == identifier)
