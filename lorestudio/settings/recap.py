"""Settings of recap memory (rules: recap-memory 5). Their keys in files are the names here."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar, Final, Literal, TypeAlias, get_args

from msgspec import Struct

from lorestudio.domain.javascript import Json
from lorestudio.domain.json_text import object_in, texts_in
from lorestudio.settings.declaration import Group, Section, declared
from lorestudio.settings.files import SettingsError, parse_json, read_bytes
from lorestudio.settings.sections import in_type, section_of, value_problem

RecapStage: TypeAlias = Literal[
    "auto-hide", "exclusion tree", "inclusion walk", "scene recaps", "running recap", "recap injection",
]  # fmt: skip
"""The stages that the settings change."""

messages = Group("Recap: messages")
prompt = Group("Recap: message prompt")
scenes = Group("Recap: scenes")
detection = Group("Recap: scene detection")
running = Group("Recap: running recap")
stripping = Group("Recap: stripping")
checking = Group("Recap: checking")
queue = Group("Recap: queue")
connection = Group("Recap: connection")

SEED_DIALECT: Final = "seed"
HOST_DIALECT: Final = "sillytavern"

RUNNING_TEMPLATE: Final = """\
<ROLEPLAY_RECAP>
What happened so far, for reference; it is over and not to be told again:
{{running_recap}}
</ROLEPLAY_RECAP>"""

PLACES: Final = (("extension_settings", "auto_recap"), ("extension_settings", "auto_recap_memory"))
"""Where SillyTavern's settings.json may have them, by the newer and the older name."""

_WALK: Final = ("inclusion walk",)
_TREE: Final = ("exclusion tree", "inclusion walk")
_RUNNING: Final = ("running recap",)
_PLACED: Final = ("recap injection",)
_OWN = "Replaces the built-in text. Empty means the built-in one."
_SPEAKERS = {"both": "Messages of both sides.", "user": "Yours.", "character": "The characters'."}
_PRESET = "A file with a preset: one of SillyTavern's chat completion presets, or {system, prefill, max_tokens}."
_ROLES = {0: "System.", 1: "User.", 2: "Assistant."}


class _Recap(Section, alias_generator=None):
    """Settings whose keys in files are the names of their attributes."""


class MessageRecapSettings(_Recap):
    """Recaps of single messages."""

    enabled: bool = messages(True, "Recap memory", "Keeps recaps of this chat and injects the running one.",
                             affects=(*_TREE, *_RUNNING, *_PLACED))  # fmt: skip
    auto_recap: bool = messages(True, "Recap new messages", "Every new message is recapped when its turn has come.")
    recap_delay: int = messages(
        1, "Lag", "How many of the newest messages wait before they are recapped.", unit="messages", low=0, high=1000
    )
    recap_time_delay: int = messages(
        0, "Pause", "How long to wait before each recap of a message.", unit="seconds", low=0, high=3600, advanced=True
    )
    auto_recap_batch_size: int = messages(
        1, "Batch", "Recaps are made once this many messages are due.", unit="messages", low=1, high=1000
    )
    auto_recap_message_limit: int = messages(
        10, "Look back", "How many messages behind the lag are looked at; 0 or less means all.",
        unit="messages", low=-1, high=100_000,
    )  # fmt: skip
    auto_recap_on_edit: bool = messages(True, "Again after an edit", "An edited message with a recap gets a new one.")
    auto_recap_on_swipe: bool = messages(True, "Again after a swipe", "A new swipe is recapped if the last one was.")
    include_user_messages: bool = messages(True, "Your messages", "Your messages take part.", affects=_TREE)
    include_system_messages: bool = messages(
        True, "Hidden messages", "Messages that are hidden from the prompt take part.", affects=_TREE
    )
    include_narrator_messages: bool = messages(True, "Narrator", "The narrator's messages take part.", affects=_TREE)
    disabled_members: str = messages(
        "", "Members left out", "In a group, what these members say does not take part: files of their cards, as in "
        "mira.png, tom.png.", affects=_TREE,
    )  # fmt: skip
    message_length_threshold: int = messages(
        0, "Shortest message", "Shorter messages are left out.", unit="tokens", low=0, high=100_000, affects=_TREE
    )
    message_recap_context_limit: float = messages(
        10.0, "Room", "How much room the message recaps have; the unit is below.", low=0, high=1_000_000, affects=_WALK
    )
    message_recap_context_type: str = messages(
        "percent", "Room is", "How the room is given.",
        choices={"percent": "A share of the context, in percent.", "absolute": "A number of tokens."}, affects=_WALK,
    )  # fmt: skip
    show_prefill: bool = messages(
        False, "Show the prefill", "A recap is shown, and counted, with the words that it was begun with.",
        affects=_WALK,
    )  # fmt: skip
    message_recap_prompt: str = prompt("", "Own prompt", _OWN, advanced=True)
    prefill: str = prompt("", "Prefill", "Words that the model's answer begins with; they are not stored with it.")
    message_recap_preset: str = prompt("", "Preset", _PRESET, advanced=True)
    include_preset_prompts: bool = prompt(True, "Preset's prompts", "The preset's own prompts come first.")
    include_message_history: int = prompt(
        3, "Messages before", "How many earlier messages the model is shown.", unit="messages", low=0, high=100
    )
    include_message_history_mode: str = prompt(
        "none", "What is shown", "What the model is shown of earlier messages.",
        choices={
            "none": "Nothing.",
            "messages_only": "The messages.",
            "summaries_only": "Their recaps.",
            "messages_and_summaries": "Both.",
        },
    )  # fmt: skip
    include_user_messages_in_history: bool = prompt(False, "Your messages, too", "Shown among earlier messages.")
    include_system_messages_in_history: bool = prompt(False, "Hidden ones, too", "Shown among earlier messages.")
    include_thought_messages_in_history: bool = prompt(False, "Thoughts, too", "Shown among earlier messages.")
    nest_messages_in_prompt: bool = prompt(
        False, "One block", "The prompt is sent as one text; otherwise its own words go as instructions.", advanced=True
    )
    trim_sentences: bool = prompt(False, "Whole sentences", "An unfinished last sentence is cut off.")
    message_recap_max_tokens: int = prompt(
        200, "Longest recap", "Longest recap of a message; {{words}} in the prompt.", unit="tokens", low=16, high=8192
    )
    strip_patterns: str = stripping(
        "", "Strip", "Regular expressions, one a line: what they find is taken out of messages that the model reads.",
        long=True,
    )  # fmt: skip
    strip_message_types: str = stripping("character", "Messages", "Out of whose messages.", choices=_SPEAKERS)
    strip_depth: int = stripping(
        0, "Newest that stay", "So many finds stay in a recap's messages, from the newest on; none in searches.",
        low=0, high=1000,
    )  # fmt: skip


class SceneSettings(_Recap):
    """Scenes, their recaps, and hiding by scenes."""

    scene_recap_history_count: int = scenes(
        1, "Scenes in a recap", "How many scenes, this one counted, a recap is made from.", low=1, high=50
    )
    scene_recap_message_types: str = scenes("both", "Messages", "Whose messages a scene recap reads.",
                                            choices=_SPEAKERS)  # fmt: skip
    scene_recap_format: str = scenes(
        "text", "Form", "What a scene recap is.",
        choices={
            "text": "A text, made with one question.",
            "stages": "Lists of developments, open questions and states, made with four questions one after another.",
        },
    )  # fmt: skip
    scene_recap_prompt: str = scenes("", "Own prompt", _OWN, advanced=True)
    scene_recap_prefill: str = scenes("", "Prefill", "Words that the model's answer begins with.", advanced=True)
    scene_recap_preset: str = scenes("", "Preset", _PRESET, advanced=True)
    scene_recap_max_tokens: int = scenes(800, "Longest recap", "Longest recap of a scene.", unit="tokens",
                                         low=64, high=32_768)  # fmt: skip
    scene_name_append_range: bool = scenes(True, "Range in the name", "A scene's name ends in its message numbers.")
    auto_hide_scene_count: int = scenes(
        2, "Scenes that stay", "Messages before the last so many scenes are hidden; 0 or -1 hides none.",
        low=-1, high=1000, affects=("auto-hide", "exclusion tree"),
    )  # fmt: skip
    auto_scene_break_on_load: bool = detection(False, "On opening", "Looks for breaks when a chat is opened.")
    auto_scene_break_on_new_message: bool = detection(True, "On new messages", "Looks for breaks after each reply.")
    auto_scene_break_message_offset: int = detection(
        8, "Left alone", "How many of the newest messages are read but never end a scene.",
        unit="messages", low=0, high=1000,
    )  # fmt: skip
    auto_scene_break_check_which_messages: str = detection(
        "both", "Messages", "Whose messages count and may end a scene.", choices=_SPEAKERS
    )
    auto_scene_break_minimum_scene_length: int = detection(
        10, "Shortest scene", "How many messages stand before a break at least.", unit="messages", low=1, high=1000
    )
    auto_scene_break_generate_recap: bool = detection(True, "Recap what was found", "A found scene gets a recap.")
    detection_prompt: str = detection("", "Own prompt", _OWN, advanced=True)
    detection_preset: str = detection("", "Preset", _PRESET, advanced=True)
    detection_max_tokens: int = detection(
        300, "Longest answer", "Longest answer to the search.", unit="tokens", low=32, high=8192, advanced=True
    )


class RunningSettings(_Recap):
    """The running recap, checking, the queue and the connection."""

    running_scene_recap_auto_generate: bool = running(
        True, "Keep up", "Each new scene recap is worked into the running recap."
    )
    running_scene_recap_mode: str = running(
        "combine", "How it grows", "What happens when a scene recap is there.",
        choices={
            "combine": "The running recap before the scene and the scene's recap become the next version.",
            "rebuild": "All scene recaps together become the next version.",
        },
    )  # fmt: skip
    running_scene_recap_exclude_latest: int = running(
        1, "Left out", "When it is made from all scenes: how many of the newest stay out, unless those are all.",
        low=0, high=1000, affects=_RUNNING,
    )  # fmt: skip
    running_scene_recap_prompt: str = running("", "Own prompt", _OWN, advanced=True)
    running_scene_recap_prefill: str = running("", "Prefill", "Words that the model's answer begins with.",
                                               advanced=True)  # fmt: skip
    running_scene_recap_preset: str = running("", "Preset", _PRESET, advanced=True)
    running_scene_recap_max_tokens: int = running(1500, "Longest recap", "Longest running recap.", unit="tokens",
                                                  low=64, high=32_768)  # fmt: skip
    running_scene_recap_template: str = running(
        RUNNING_TEMPLATE, "Template", "What goes into the prompt; {{running_recap}} is the recap. Empty: it alone.",
        affects=_PLACED,
    )  # fmt: skip
    position_dialect: str = running(
        SEED_DIALECT, "Numbers of positions", "What the position's number means.",
        choices={
            SEED_DIALECT: "0 before the prompt, 1 in the chat, 2 after the prompt.",
            HOST_DIALECT: "As SillyTavern: -1 nowhere, 0 after the main prompt, 1 in the chat, 2 before it.",
        },
        affects=_PLACED,
    )  # fmt: skip
    running_scene_recap_position: int = running(
        2, "Position", "Where the running recap goes; see the setting above.", low=-1, high=2, affects=_PLACED
    )
    running_scene_recap_depth: int = running(
        2, "Depth", "In the chat: how many messages stand below it.", unit="messages", low=0, high=9999, affects=_PLACED
    )
    running_scene_recap_role: int = running(0, "Role", "Who speaks it.", choices=_ROLES, checked=True, affects=_PLACED)
    running_scene_recap_scan: bool = running(
        False, "Search it for keys", "Keys of lore entries are searched for in it, too.", affects=_PLACED
    )
    error_detection_enabled: bool = checking(False, "Check recaps", "A second question asks whether a recap is sound.")
    message_recap_error_detection_enabled: bool = checking(True, "Those of messages", "Checks recaps of messages.")
    message_recap_error_detection_retries: int = checking(
        3, "Attempts", "How often a recap of a message is made again.", low=0, high=20
    )
    scene_recap_error_detection_enabled: bool = checking(False, "Those of scenes", "Checks recaps of scenes.")
    scene_recap_error_detection_retries: int = checking(
        3, "Attempts for scenes", "How often a recap of a scene is made again.", low=0, high=20
    )
    error_detection_prompt: str = checking("", "Own prompt", _OWN, advanced=True)
    max_retries: int = queue(0, "Retries", "How often a failed step is tried again; 0 means without end.",
                             low=0, high=1000, least="without end")  # fmt: skip
    operation_delay_ms: int = queue(0, "Pause between steps", "How long to wait after each question.",
                                    unit="ms", low=0, high=600_000)  # fmt: skip
    recap_model: str = connection("", "Model", "Asks this model; empty means the connection's own.", advanced=True)
    recap_timeout: int = connection(120_000, "Timeout", "How long to wait for an answer.", unit="ms",
                                    low=1000, high=999_999, advanced=True)  # fmt: skip
    tokenizer_correction_factor: float = connection(
        1.35, "Safety factor", "Counted tokens times this are held against the model's room.", low=1.0, high=10.0,
        advanced=True,
    )  # fmt: skip


class RecapSettings(MessageRecapSettings, SceneSettings, RunningSettings):
    """All settings of recap memory."""

    stages: ClassVar = get_args(RecapStage)


class LoadedRecapSettings(Struct, frozen=True):
    """Settings, and a sentence for each value that could not be used."""

    settings: RecapSettings
    problems: tuple[str, ...] = ()


def read_recap_settings(values: Mapping[str, Json]) -> LoadedRecapSettings:
    """Settings from an object of their keys; a value that cannot be used gives way to the default, and is told."""
    used: dict[str, Json] = {}
    problems: list[str] = []
    named = _named(values)
    for known in declared(RecapSettings):
        if known.name not in named:
            continue
        value = named[known.name]
        problem = value_problem(known, value)
        if problem:
            problems.append(f"“{known.name}”: {value!r} {problem}; {known.default!r} is used.")
        else:
            used[known.name] = in_type(known, value)
    return LoadedRecapSettings(RecapSettings.model_validate(used), tuple(problems))


def load_recap_settings(path: Path) -> LoadedRecapSettings:
    """Settings from a JSON file: an object of their keys, or SillyTavern's settings.json with the extension's in it.

    Raises SettingsError where the file cannot be used.
    """
    document = parse_json(read_bytes(path), path)
    if not isinstance(document, Mapping):
        raise SettingsError(f"{path} holds no object of settings. Give a file with the settings of recap memory.")
    inside = _of_extension(document)
    if inside is None and document.get("extension_settings") is not None:
        raise SettingsError(f"{path} has no settings of recap memory under “extension_settings”.")
    read = read_recap_settings(document if inside is None else inside)
    return LoadedRecapSettings(read.settings, tuple(f"{path.name}: {problem}" for problem in read.problems))


def extension_settings(path: Path) -> RecapSettings | None:
    """The extension's settings in SillyTavern's settings.json, None for another file and where it has none.

    Raises SettingsError for a file that cannot be read and a value that cannot be used.
    """
    inside = _of_extension(parse_json(read_bytes(path), path))
    return None if inside is None else section_of(_named(inside), RecapSettings, str(path))


def _of_extension(document: Json) -> Mapping[str, Json] | None:
    """The object in SillyTavern's settings that holds the extension's, by the newer or the older name."""
    extensions = document.get(PLACES[0][0]) if isinstance(document, Mapping) else None
    inside = (extensions.get(name) for _, name in PLACES) if isinstance(extensions, Mapping) else ()
    return next((found for found in inside if isinstance(found, Mapping)), None)


def _named(values: Mapping[str, Json]) -> dict[str, Json]:
    """What has a value among the settings; older files have other words."""
    found: dict[str, Json] = {
        each.name: value for each in declared(RecapSettings) if (value := values.get(each.name)) is not None
    }
    groups = object_in(values, "disabled_group_characters")  # no chat says which group it is of
    if off := list(dict.fromkeys(name for members in groups.values() for name in texts_in(members))):
        found.setdefault("disabled_members", ", ".join(off))
    if found.get("message_recap_context_type") == "tokens":
        found["message_recap_context_type"] = "absolute"
    return found
