"""Character cards: PNG pictures with the card in a text chunk, CharX, or JSON (rules: sillytavern 5.5).

Versions 1 (fields at the root), 2 and 3 are read as one; what is not known here is kept in `document`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from lorestudio.domain.javascript import Json
from lorestudio.domain.json_text import parse_json
from lorestudio.exchange.containers import opened
from lorestudio.exchange.json_file import read_file
from lorestudio.exchange.problems import InputError, Text, Texts, checked
from lorestudio.exchange.regex_scripts import RegexScripts, scripts_within


def _mapping(value: object) -> object:
    return {} if value is None or value == [] else value


class DepthPrompt(BaseModel):
    """The card's own note in the chat; `role` is system, user or assistant."""

    model_config = ConfigDict(extra="allow", frozen=True)

    prompt: Text = ""
    depth: float = 4
    role: Text = "system"


class CardExtensions(BaseModel):
    """What programs add to a card; the other members stay as they are."""

    model_config = ConfigDict(extra="allow", frozen=True)

    depth_prompt: Annotated[DepthPrompt, BeforeValidator(_mapping)] = Field(default_factory=DepthPrompt)
    world: Any = None
    regex_scripts: Any = None


class CardData(BaseModel):
    """The fields of a card; `null` counts as empty, other members stay as they are."""

    model_config = ConfigDict(extra="allow", frozen=True)

    name: Text = ""
    description: Text = ""
    personality: Text = ""
    scenario: Text = ""
    first_mes: Text = ""
    mes_example: Text = ""
    creator_notes: Text = ""
    system_prompt: Text = ""
    post_history_instructions: Text = ""
    alternate_greetings: Texts = ()
    tags: Texts = ()
    creator: Text = ""
    character_version: Text = ""
    character_book: dict[str, Any] | None = None
    extensions: Annotated[CardExtensions, BeforeValidator(_mapping)] = Field(default_factory=CardExtensions)


@dataclass(frozen=True, slots=True)
class CharacterCard:
    """A card. `version` is 1, 2 or 3; `document` is the whole JSON as it was read, unknown fields included.

    `scripts` are the regex scripts that came with the character.
    """

    data: CardData
    version: int = 2
    document: Mapping[str, Json] = field(default_factory=dict, repr=False)
    scripts: RegexScripts = field(default_factory=RegexScripts, repr=False)

    @property
    def name(self) -> str:
        """The character's name, which `{{char}}` stands for."""
        return self.data.name


def load_card(path: Path) -> CharacterCard:
    """The card in a PNG, CharX or JSON file, told by its content. Waits for the disk. Raises InputError."""
    return parse_card(read_file(path, "card"), path)


def parse_card(data: bytes, source: Path | str) -> CharacterCard:
    """The card in the bytes of a PNG, CharX or JSON file. Raises InputError naming the field that is wrong."""
    text = opened(data, source).text
    try:
        document = parse_json(text)
    except ValueError as error:
        message = f"the card is no valid JSON ({error}). Export it again from the program that made it."
        raise InputError(source, message) from error
    if not isinstance(document, dict):
        raise InputError(source, "the card is no JSON object. Choose a character card (PNG or JSON).")
    version, fields, where = _fields(document, source)
    card = checked(CardData, fields, source, "Correct the card and choose it again.", where)
    if not card.name.strip():
        raise InputError(
            source, "the character has no name. Choose a character card.", field=".".join((*where, "name"))
        )
    place = ".".join((*where, "extensions", "regex_scripts"))
    return CharacterCard(card, version, document, scripts_within(card.extensions.regex_scripts, source, place))


def _fields(document: Mapping[str, Json], source: Path | str) -> tuple[int, Mapping[str, Json], tuple[str, ...]]:
    """The card's version, its fields, and the path to them."""
    spec = document.get("spec")
    data = document.get("data")
    if spec is None and not isinstance(data, Mapping):
        if not any(name in document for name in ("description", "first_mes", "personality", "mes_example")):
            raise InputError(source, "this is JSON, but no character card: it has none of a card's fields.")
        return 1, document, ()
    if not isinstance(data, Mapping):
        raise InputError(
            source, "a card of version 2 or 3 keeps its fields in here, and it is no object.", field="data"
        )
    return (3 if spec == "chara_card_v3" else 2), data, ("data",)
