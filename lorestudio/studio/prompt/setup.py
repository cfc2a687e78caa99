"""What a prompt is made of besides chat and lore: the character's card, the persona, and the frame around them.

What was chosen is kept as text. Files are kept by their path and read again, so that a card or preset that was changed
meanwhile counts as it is now; a text or size that the person changed is kept itself.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final, TypeVar

from msgspec import Struct, field

from lorestudio.domain.chat import Chat
from lorestudio.domain.javascript import Json
from lorestudio.domain.json_text import parse_json, text_in, texts_in
from lorestudio.domain.records import Terse, picked, replace
from lorestudio.exchange.character_card import CharacterCard, GroupChat, load_card, load_group
from lorestudio.exchange.chat_preset import ChatPreset, load_preset
from lorestudio.exchange.problems import InputError
from lorestudio.exchange.regex_scripts import RegexScript, RegexScripts, load_scripts

MAIN_PROMPT: Final = (
    "This is a fictional chat between {{user}} and {{char}}. Write the next reply of {{char}}, and only that; stay in "
    "character and carry the story on."
)
"""The main prompt where the person, the card and the preset give none."""

REPLY_TOKENS: Final = 1024
"""How long a reply may be, where nobody says otherwise."""

LONGEST_PERSONA: Final = 1_000_000
"""Bytes; a file that is larger is none of a persona."""


class Persona(Terse, frozen=True):
    """The person's character: the name that `{{user}}` stands for, "" for the chat's own, and its description."""

    unprinted = ("text",)

    name: str = ""
    text: str = ""


class PromptSetup(Terse, frozen=True):
    """Everything that the person chose for the prompts of a chat.

    `preset` says which prompts there are and in which order; `main`, `post_history`, `context_size` and `reply_tokens`
    are its own where it was chosen by `with_preset`, and the person may change them. `main` and `post_history` give
    way to those of the card; in these, `{{original}}` stands for them. `context_size` (tokens, 0 where nobody knows)
    less `reply_tokens` is the room for the prompt. `regex` are the scripts out of `regex_paths`; those in card and
    preset run where `embedded_regex` is set. In a `group` the card is that of whoever speaks: `speaker`, "" for
    whoever wrote the reply or would speak next. `group_metadata` is what the group keeps for a chat whose file holds
    none of its own.
    """

    unprinted = ("group_metadata",)

    card: CharacterCard | None = None
    card_path: Path | None = None
    persona: Persona = field(default_factory=Persona)
    main: str = MAIN_PROMPT
    post_history: str = ""
    context_size: int = 0
    reply_tokens: int = REPLY_TOKENS
    preset: ChatPreset | None = None
    preset_path: Path | None = None
    regex: tuple[RegexScripts, ...] = ()
    regex_paths: tuple[Path, ...] = ()
    embedded_regex: bool = True
    group: GroupChat | None = None
    group_path: Path | None = None
    group_metadata: Mapping[str, Json] = {}
    speaker: str = ""

    def user_name(self, chat: Chat) -> str:
        """Who the person is in this chat."""
        return self.persona.name or chat.user_name

    def character_name(self, chat: Chat) -> str:
        """Who the character is in this chat, where one character speaks."""
        return (self.card.name if self.card is not None else "") or chat.character_name or "Assistant"


def with_preset(setup: PromptSetup, preset: ChatPreset | None, path: Path | None = None) -> PromptSetup:
    """The setup with another preset, and with its texts and sizes; None for SillyTavern's order as delivered.

    A context or a reply that the preset does not know stays what it was; without a preset all four go back to what
    they are where nobody chose anything.
    """
    if preset is None:
        plain = PromptSetup()
        return replace(
            setup, preset=None, preset_path=None, main=plain.main, post_history=plain.post_history,
            context_size=plain.context_size, reply_tokens=plain.reply_tokens,
        )  # fmt: skip
    return replace(
        setup,
        preset=preset,
        preset_path=path,
        main=_content(preset, "main"),
        post_history=_content(preset, "jailbreak"),
        context_size=preset.fields.openai_max_context or setup.context_size,
        reply_tokens=preset.fields.openai_max_tokens or setup.reply_tokens,
    )


def remarks_of(setup: PromptSetup) -> tuple[str, ...]:
    """Sentences about what the chosen files say and a prompt here does not follow."""
    told = list(setup.preset.remarks) if setup.preset is not None else []
    for _where, found in all_scripts(setup):
        told += found.remarks
    told += setup.group.remarks if setup.group is not None else ()
    return tuple(dict.fromkeys(told))


def all_scripts(setup: PromptSetup, speaker: str | None = None) -> list[tuple[str, RegexScripts]]:
    """The regex scripts that may run, in order, each lot with where it comes from.

    In a group only the card of whoever speaks brings its own along; without a `speaker` those of all members are there.
    """
    found = [(path.name, scripts) for path, scripts in zip(setup.regex_paths, setup.regex, strict=True)]
    if setup.embedded_regex:
        found += embedded_scripts(setup, speaker)
    return found


def embedded_scripts(setup: PromptSetup, speaker: str | None = None) -> list[tuple[str, RegexScripts]]:
    """The regex scripts in the cards and in the preset, which the person may switch off."""
    cards: list[CharacterCard | None] = [setup.card]
    if setup.group is not None and speaker is None:
        cards = [each.card for each in setup.group.members]
    found = [(card.name, card.scripts) for card in cards if card is not None]
    if setup.preset is not None:
        found.append((setup.preset.name, setup.preset.scripts))
    return [(where, scripts) for where, scripts in found if scripts.scripts or scripts.remarks]


def scripts_of(setup: PromptSetup, speaker: str | None = None) -> tuple[RegexScript, ...]:
    """The scripts of a prompt, in the order they run in (see `all_scripts`)."""
    return tuple(script for _where, found in all_scripts(setup, speaker) for script in found.scripts)


def avatar_at(chat: Chat, end: int) -> str:
    """The file of the card that the message at `end` names, which tells members of one name apart."""
    return text_in(chat.messages[end].raw.get("original_avatar")) if end < len(chat.messages) else ""


def of_speaker(setup: PromptSetup, chat: Chat, end: int, speaker: str) -> PromptSetup:
    """The setup with the card of whoever speaks in the group."""
    member = setup.group.member(speaker, avatar_at(chat, end)) if setup.group is not None else None
    return setup if member is None else replace(setup, card=member.card)


def with_group(
    setup: PromptSetup, group: GroupChat | None, path: Path | None = None, chat: Path | None = None
) -> PromptSetup:
    """The setup with another group, None for none; `chat` is the file of the chat that the prompts are for."""
    if group is None:
        return replace(setup, group=None, group_path=None, group_metadata={}, speaker="")
    held = group.metadata(chat.stem) if chat is not None else {}
    speaker = setup.speaker if group.member(setup.speaker) is not None else ""
    return replace(setup, group=group, group_path=path, group_metadata=held, speaker=speaker)


def _content(preset: ChatPreset, identifier: str) -> str:
    prompt = preset.prompt(identifier)
    return prompt.content if prompt is not None else ""


def read_persona(value: str) -> Persona:
    """A persona from a command line: the name of a text file, else the description itself. Raises InputError.

    A first line `# Name` in it names the persona.
    """
    path = Path(value).expanduser() if len(value) < 1000 and "\n" not in value else None
    try:
        is_file = path is not None and path.is_file()
        if path is not None and is_file:
            if path.stat().st_size > LONGEST_PERSONA:
                raise InputError(path, "the file is too large for a persona. Choose a text file.")
            value = path.read_text("utf-8-sig")
        elif path is not None and (path.is_dir() or _is_named(value)):
            raise InputError(value, "there is no such file. Name the persona's text file, or write its text.")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(str(path), f"the persona cannot be read as UTF-8 text: {error}.") from error
    first, _, rest = value.partition("\n")
    if first.startswith("# ") and first[2:].strip():
        return Persona(first[2:].strip(), rest.strip())
    return Persona("", value.strip())


def _is_named(value: str) -> bool:
    """Whether a line names a file, there or not, and is no text."""
    return value.lower().endswith((".txt", ".md")) or (" " not in value and not {"/", os.sep}.isdisjoint(value))


_Read = TypeVar("_Read")


class KeptSetup(Struct, frozen=True):
    """What was kept, files not yet read: their paths by what they are."""

    values: dict[str, Any] = {}

    def path(self, name: str) -> Path | None:
        """The path kept under a name, None where there is none."""
        value = self.values.get(name)
        return Path(value) if isinstance(value, str) and value else None

    @property
    def scripts(self) -> tuple[Path, ...]:
        """The files with regex scripts."""
        return tuple(map(Path, texts_in(self.values.get("regex"))))

    @property
    def names_files(self) -> bool:
        """Whether anything has to be read from the disk."""
        return bool(self.scripts) or any(self.path(name) is not None for name in ("card", "preset", "group"))


def spelled(setup: PromptSetup) -> str:
    """The setup as text; what is the preset's own is left to its file."""
    plain = with_preset(PromptSetup(), setup.preset)
    kept: dict[str, Any] = {
        "card": _spelled_path(setup.card_path),
        "preset": _spelled_path(setup.preset_path),
        "group": _spelled_path(setup.group_path),
        "regex": [str(path) for path in setup.regex_paths],
        **picked(setup, "embedded_regex", "speaker"),
        "name": setup.persona.name,
        "persona": setup.persona.text,
    }
    own = (
        ("main", setup.main, plain.main),
        ("post_history", setup.post_history, plain.post_history),
        ("context", setup.context_size, plain.context_size),
        ("reply", setup.reply_tokens, plain.reply_tokens),
    )
    kept |= {name: value for name, value, usual in own if value != usual}
    return json.dumps(kept)


def kept_setup(text: str) -> KeptSetup:
    """What was kept; what cannot be read counts as not chosen."""
    try:
        values = parse_json(text)
    except ValueError:
        return KeptSetup()
    return KeptSetup(values) if isinstance(values, dict) else KeptSetup()


def restored(kept: KeptSetup, chat: Path | None = None) -> tuple[PromptSetup, tuple[str, ...]]:
    """The setup with its files read again, and a sentence for each that cannot be used any more.

    Waits for the disk where `names_files` says so.
    """
    problems: list[str] = []
    values = kept.values
    persona = Persona(text_in(values.get("name")), text_in(values.get("persona")))
    setup = PromptSetup(persona=persona, embedded_regex=values.get("embedded_regex") is not False)
    card = _loaded(load_card, kept.path("card"), problems)
    preset = _loaded(load_preset, kept.path("preset"), problems)
    group = _loaded(load_group, kept.path("group"), problems)
    if card is not None:
        setup = replace(setup, card=card, card_path=kept.path("card"))
    if preset is not None:
        setup = with_preset(setup, preset, kept.path("preset"))
    if group is not None:
        setup = with_group(replace(setup, speaker=text_in(values.get("speaker"))), group, kept.path("group"), chat)
    read = [(path, scripts) for path in kept.scripts if (scripts := _loaded(load_scripts, path, problems)) is not None]
    # Before presets were known, an empty main prompt stood for the usual one.
    own_main = "main" in values and (preset is not None or bool(values["main"]))
    return replace(
        setup,
        regex_paths=tuple(path for path, _scripts in read),
        regex=tuple(scripts for _path, scripts in read),
        main=text_in(values.get("main")) if own_main else setup.main if preset is not None else MAIN_PROMPT,
        post_history=text_in(values.get("post_history")) if "post_history" in values else setup.post_history,
        context_size=_number(values, "context", setup.context_size),
        reply_tokens=_number(values, "reply", setup.reply_tokens) or REPLY_TOKENS,
    ), tuple(problems)


def _loaded(load: Callable[[Path], _Read], path: Path | None, problems: list[str]) -> _Read | None:
    if path is None:
        return None
    try:
        return load(path)
    except InputError as error:
        problems.append(str(error))
        return None


def _spelled_path(path: Path | None) -> str:
    return str(path.absolute()) if path is not None else ""


def _number(values: dict[str, Any], name: str, usual: int) -> int:
    value = values.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else usual
