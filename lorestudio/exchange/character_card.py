"""Character cards (rules: sillytavern 5.5), and SillyTavern's groups, whose prompts are made of their members' cards.

A card is a PNG picture with a text chunk, CharX, or JSON. Versions 1 (fields at the root), 2 and 3 are read as one;
what is not known here is kept in `document`. A group lies in `groups/ID.json`; it names its members by the files of
their cards, which lie in `characters/` beside (rules: sillytavern 5.2).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from enum import IntEnum
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Annotated, Any, Final

from msgspec import field
from pydantic import BeforeValidator, Field

from lorestudio.domain.javascript import Json
from lorestudio.domain.json_text import object_in
from lorestudio.domain.records import Terse
from lorestudio.exchange.containers import opened
from lorestudio.exchange.json_file import parse_document, parse_text, read_file
from lorestudio.exchange.problems import Flag, InputError, OutsideModel, Text, Texts, checked, unless_null
from lorestudio.exchange.regex_scripts import RegexScripts, scripts_within
from lorestudio.settings.files import real_path


def _mapping(value: object) -> object:
    return {} if value is None or value == [] else value


class DepthPrompt(OutsideModel, extra="allow"):
    """The card's own note in the chat; `role` is system, user or assistant."""

    prompt: Text = ""
    depth: float = 4
    role: Text = "system"


class CardExtensions(OutsideModel, extra="allow"):
    """What programs add to a card; the other members stay as they are."""

    depth_prompt: Annotated[DepthPrompt, BeforeValidator(_mapping)] = Field(default_factory=DepthPrompt)
    world: Any = None
    regex_scripts: Any = None


class CardData(OutsideModel, extra="allow"):
    """The fields of a card; `null` counts as empty, other members stay as they are."""

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


class CharacterCard(Terse, frozen=True):
    """A card. `scripts` are the regex scripts that came with the character."""

    unprinted = ("scripts",)

    data: CardData
    scripts: RegexScripts = field(default_factory=RegexScripts)

    @property
    def name(self) -> str:
        """The character's name, which `{{char}}` stands for."""
        return self.data.name


def load_card(path: Path) -> CharacterCard:
    """The card in a PNG, CharX or JSON file, told by its content. Waits for the disk. Raises InputError."""
    return parse_card(read_file(path), path)


def parse_card(data: bytes, source: Path | str) -> CharacterCard:
    """The card in the bytes of a PNG, CharX or JSON file. Raises InputError naming the field that is wrong."""
    text = opened(data, source).text
    document = parse_text(text, source, "Export the card again from the program that made it.")
    if not isinstance(document, dict):
        raise InputError(source, "the card is no JSON object. Choose a character card (PNG or JSON).")
    fields, where = _fields(document, source)
    card = checked(CardData, fields, source, "Correct the card and choose it again.", where)
    if not card.name.strip():
        raise InputError(
            source, "the character has no name. Choose a character card.", field=".".join((*where, "name"))
        )
    place = ".".join((*where, "extensions", "regex_scripts"))
    return CharacterCard(card, scripts_within(card.extensions.regex_scripts, source, place))


def _fields(document: Mapping[str, Json], source: Path | str) -> tuple[Mapping[str, Json], tuple[str, ...]]:
    """The card's fields, and the path to them."""
    data = document.get("data")
    if document.get("spec") is None and not isinstance(data, Mapping):
        if not any(name in document for name in ("description", "first_mes", "personality", "mes_example")):
            raise InputError(source, "this is JSON, but no character card: it has none of a card's fields.")
        return document, ()
    if not isinstance(data, Mapping):
        raise InputError(
            source, "a card of version 2 or 3 keeps its fields in here, and it is no object.", field="data"
        )
    return data, ("data",)


CARDS: Final = "characters"
"""The folder with the cards, beside the one with the groups."""

_KNOWN: Final = frozenset(
    {
        "id", "name", "members", "avatar_url", "disabled_members", "generation_mode", "generation_mode_join_prefix",
        "generation_mode_join_suffix", "chat_metadata", "past_metadata", "chat_id", "chats", "activation_strategy",
        "allow_self_responses", "fav", "auto_mode_delay", "hideMutedSprites", "date_added", "create_date",
        "date_last_chat", "chat_size",
    }
)  # fmt: skip
"""What a group holds; what is not read here decides nothing about a prompt."""


class GenerationMode(IntEnum):
    """Whose card is in the prompt: that of whoever speaks, those of all members but muted ones, or all."""

    SWAP = 0
    JOIN = 1
    JOIN_WITH_MUTED = 2


class SpeakingOrder(IntEnum):
    """How SillyTavern decides who speaks."""

    NATURAL = 0
    LIST = 1
    MANUAL = 2
    POOLED = 3


class GroupFields(OutsideModel, coerce_numbers_to_str=True):
    """The fields of a group that a prompt is made of."""

    name: Text = ""
    members: tuple[str, ...]
    disabled_members: Texts = ()
    generation_mode: Annotated[GenerationMode, unless_null(0)] = GenerationMode.SWAP
    generation_mode_join_prefix: Text = ""
    generation_mode_join_suffix: Text = ""
    activation_strategy: Annotated[SpeakingOrder, unless_null(0)] = SpeakingOrder.NATURAL
    allow_self_responses: Flag = False
    chat_id: Text = ""
    chat_metadata: Annotated[dict[str, Any], unless_null({})] = Field(default_factory=dict)
    past_metadata: Annotated[dict[str, Any], unless_null({})] = Field(default_factory=dict)


class Member(Terse, frozen=True):
    """A member by the file of its card, looked for at `path`; `card` is None where that could not be read."""

    unprinted = ("card",)

    avatar: str
    muted: bool = False
    card: CharacterCard | None = None
    path: Path | None = None

    @property
    def name(self) -> str:
        """The character's name, else that of the file."""
        return self.card.name if self.card is not None else PurePosixPath(self.avatar).stem


class GroupChat(Terse, frozen=True):
    """A group with the cards of its members, in its order."""

    unprinted = ("fields", "remarks")

    fields: GroupFields
    members: tuple[Member, ...] = ()
    remarks: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """What people call it."""
        return self.fields.name or ", ".join(each.name for each in self.members)

    @property
    def joined(self) -> bool:
        """Whether several cards are in the prompt."""
        return self.fields.generation_mode is not GenerationMode.SWAP

    def member(self, name: str, avatar: str = "") -> Member | None:
        """The member of that name; of several the one whose card is in the file `avatar`, else the first."""
        called = [each for each in self.members if each.name == name]
        return min(called, key=lambda each: each.avatar != avatar, default=None)

    def joined_members(self, speaker: str) -> tuple[Member, ...]:
        """Those whose cards are joined: muted ones only where the group says so, and whoever speaks."""
        every = self.fields.generation_mode is GenerationMode.JOIN_WITH_MUTED
        return tuple(each for each in self.members if every or not each.muted or each.name == speaker)

    def metadata(self, chat_name: str) -> Mapping[str, Json]:
        """What the group keeps for one of its chats, for chat files that hold none of their own."""
        if chat_name == self.fields.chat_id:
            return self.fields.chat_metadata
        return object_in(self.fields.past_metadata, chat_name)


def load_group(path: Path, cards: Path | None = None) -> GroupChat:
    """The group in a file with its members' cards, out of `cards` or of SillyTavern's folder for them.

    A card that cannot be read leaves a remark. Waits for the disk. Raises InputError naming the field that is wrong.
    """
    fields, unknown = _read(read_file(path), path)
    folder = cards if cards is not None else real_path(path).parent.parent / CARDS
    if cards is not None and not cards.is_dir():
        raise InputError(cards, "there is no such folder. Give the one with the members' cards.")
    muted = frozenset(fields.disabled_members)
    remarks = [f"Not known here of the group, and without effect: {', '.join(unknown)}."] if unknown else []
    members: list[Member] = []
    for avatar in dict.fromkeys(fields.members):
        card: CharacterCard | None = None
        file: Path | None = None
        try:
            file = _card_path(folder, avatar, path)
            card = load_card(file)
        except InputError as error:
            remarks.append(f"The group's member {avatar} has its name only: {error}")
        members.append(Member(avatar, avatar in muted, card, file))
    return GroupChat(fields, tuple(members), (*remarks, *_doubtful(members)))


def _read(data: bytes, source: Path) -> tuple[GroupFields, list[str]]:
    document = parse_document(data, source, "group")
    if not isinstance(document, Mapping) or "members" not in document:
        raise InputError(
            source, "this is JSON, but no group: it has no members. Choose a file of SillyTavern's groups."
        )
    fields = checked(GroupFields, document, source, "Correct it, or save the group again.")
    if not fields.members:
        raise InputError(source, "the group is empty. Add members in SillyTavern.", field="members")
    return fields, sorted(set(document) - _KNOWN)


def _card_path(folder: Path, avatar: str, source: Path) -> Path:
    """The file of a member; one that leads out of the folder is none, nor one that no file can be called."""
    possible = "\0" not in avatar and not any("\ud800" <= letter <= "\udfff" for letter in avatar)
    if not possible or PureWindowsPath(avatar).name != avatar or avatar in {"", ".", ".."}:
        raise InputError(source, f"“{avatar}” is no file name.", field="members")
    return folder / avatar


def _doubtful(members: list[Member]) -> Iterator[str]:
    for name, times in Counter(each.name for each in members).items():
        if times > 1:
            yield f"Several members are called {name}; where a message does not say whose it is, it is the first one's."
