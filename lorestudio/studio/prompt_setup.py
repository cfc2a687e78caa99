"""What a prompt is made of besides chat and lore: the character's card, the persona, and the frame around them."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from lorestudio.domain.chat import Chat
from lorestudio.exchange.character_card import CharacterCard
from lorestudio.exchange.problems import InputError

MAIN_PROMPT: Final = (
    "This is a fictional chat between {{user}} and {{char}}. Write the next reply of {{char}}, and only that; stay in "
    "character and carry the story on."
)
"""The main prompt where the person and the card give none. In SillyTavern it is the preset's; paste yours."""

NEW_CHAT: Final = "[Start a new Chat]"
NEW_GROUP_CHAT: Final = "[Start a new group chat. Group members: {{group}}]"
NEW_EXAMPLE: Final = "[Example Chat]"
GROUP_NUDGE: Final = "[Write the next reply only as {{char}}.]"

REPLY_TOKENS: Final = 1024
"""How long a reply may be, where nobody says otherwise."""

LONGEST_PERSONA: Final = 1_000_000
"""Bytes; a file that is larger is none of a persona."""


@dataclass(frozen=True, slots=True)
class Persona:
    """The person's character: the name that `{{user}}` stands for, "" for the chat's own, and its description."""

    name: str = ""
    text: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class PromptSetup:
    """Everything that the person chose for the prompts of a chat.

    `main` and `post_history` give way to those of the card where `prefer_card` is set; in these, `{{original}}`
    stands for them. `context_size` (tokens, 0 where nobody knows) less `reply_tokens` is the room for the prompt.
    """

    card: CharacterCard | None = None
    card_path: Path | None = None
    persona: Persona = field(default_factory=Persona)
    main: str = MAIN_PROMPT
    post_history: str = ""
    prefer_card: bool = True
    context_size: int = 0
    reply_tokens: int = REPLY_TOKENS

    def user_name(self, chat: Chat) -> str:
        """Who the person is in this chat."""
        return self.persona.name or chat.user_name

    def character_name(self, chat: Chat) -> str:
        """Who the character is in this chat, where one character speaks."""
        return (self.card.name if self.card is not None else "") or chat.character_name or "Assistant"


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
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(str(path), f"the persona cannot be read as UTF-8 text: {error}.") from error
    first, _, rest = value.partition("\n")
    if first.startswith("# ") and first[2:].strip():
        return Persona(first[2:].strip(), rest.strip())
    return Persona("", value.strip())
