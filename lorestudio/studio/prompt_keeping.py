"""What was chosen for the prompts of a chat, as text that is kept, and read again with the files that it names.

Files are kept by their path and read again, so that a card or preset that was changed meanwhile counts as it is now; a
text or size that the person changed is kept itself.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

from lorestudio.exchange.character_card import load_card
from lorestudio.exchange.chat_preset import load_preset
from lorestudio.exchange.group_file import load_group
from lorestudio.exchange.problems import InputError
from lorestudio.exchange.regex_scripts import load_scripts
from lorestudio.studio.prompt_setup import MAIN_PROMPT, REPLY_TOKENS, Persona, PromptSetup, with_group, with_preset

_Read = TypeVar("_Read")


@dataclass(frozen=True, slots=True)
class KeptSetup:
    """What was kept, files not yet read: their paths by what they are."""

    values: dict[str, Any] = field(default_factory=dict)

    def path(self, name: str) -> Path | None:
        """The path kept under a name, None where there is none."""
        value = self.values.get(name)
        return Path(value) if isinstance(value, str) and value else None

    @property
    def scripts(self) -> tuple[Path, ...]:
        """The files with regex scripts."""
        value = self.values.get("regex")
        return tuple(Path(each) for each in value if isinstance(each, str)) if isinstance(value, list) else ()

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
        "embedded_regex": setup.embedded_regex,
        "speaker": setup.speaker,
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
        values = json.loads(text)
    except ValueError:
        return KeptSetup()
    return KeptSetup(values) if isinstance(values, dict) else KeptSetup()


def restored(kept: KeptSetup, chat: Path | None = None) -> tuple[PromptSetup, tuple[str, ...]]:
    """The setup with its files read again, and a sentence for each that cannot be used any more.

    Waits for the disk where `names_files` says so.
    """
    problems: list[str] = []
    values = kept.values
    persona = Persona(_text(values, "name"), _text(values, "persona"))
    setup = PromptSetup(persona=persona, embedded_regex=values.get("embedded_regex") is not False)
    card = _loaded(load_card, kept.path("card"), problems)
    preset = _loaded(load_preset, kept.path("preset"), problems)
    group = _loaded(load_group, kept.path("group"), problems)
    if card is not None:
        setup = replace(setup, card=card, card_path=kept.path("card"))
    if preset is not None:
        setup = with_preset(setup, preset, kept.path("preset"))
    if group is not None:
        setup = with_group(replace(setup, speaker=_text(values, "speaker")), group, kept.path("group"), chat)
    read = [(path, scripts) for path in kept.scripts if (scripts := _loaded(load_scripts, path, problems)) is not None]
    # Before presets were known, an empty main prompt stood for the usual one.
    own_main = "main" in values and (preset is not None or bool(values["main"]))
    return replace(
        setup,
        regex_paths=tuple(path for path, _scripts in read),
        regex=tuple(scripts for _path, scripts in read),
        main=_text(values, "main") if own_main else setup.main if preset is not None else MAIN_PROMPT,
        post_history=_text(values, "post_history") if "post_history" in values else setup.post_history,
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


def _text(values: dict[str, Any], name: str) -> str:
    value = values.get(name)
    return value if isinstance(value, str) else ""


def _number(values: dict[str, Any], name: str, usual: int) -> int:
    value = values.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else usual
