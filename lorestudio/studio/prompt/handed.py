"""Messages as SillyTavern hands them to extensions and puts them into prompts (rules: sillytavern 5.9).

The macros of the greeting are filled in, then the regex scripts for prompts run, each by how many messages are newer;
then come the texts of attached files in front, and titles of pictures behind.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeAlias

from msgspec import Struct

from lorestudio.domain.chat import Chat, Message
from lorestudio.domain.records import replace
from lorestudio.exchange.chats.attachments import files_of, with_attachments
from lorestudio.exchange.regex_scripts import RegexScript, ScriptPlace
from lorestudio.studio.prompt.card import card_texts, macros_for
from lorestudio.studio.prompt.regex import RegexRun
from lorestudio.studio.prompt.setup import PromptSetup, scripts_of
from lorestudio.systems.macros import Macros, has_macros

_NAMED: Final = re.compile(r"\{\{([^{}]*)\}\}|<(USER|BOT|CHAR|GROUP|CHARIFNOTGROUP)>", re.IGNORECASE)
_SAID: Final = frozenset({ScriptPlace.USER_INPUT, ScriptPlace.AI_OUTPUT})

_DEEP: Final = 1_000_000

Handed: TypeAlias = tuple[Message, tuple[str, ...]]
"""A message with the text that it is handed over with, and the names of what changed it."""


class HandedText(Struct, frozen=True):
    """A text as it is handed over. `scripts` names the regex scripts that changed it, `others` what else did."""

    text: str
    scripts: tuple[str, ...] = ()
    others: tuple[str, ...] = ()

    @property
    def changed_by(self) -> tuple[str, ...]:
        """All that gave it another text, in words."""
        return (*(f"regex script “{name}”" for name in self.scripts), *self.others)


def handed_text(message: Message, place: int, depth: float, scripts: RegexRun, files: Mapping[str, str]) -> HandedText:
    """The text of the message at this place of the chat, with so many newer ones."""
    text = message.text if place else scripts.macros.fill(message.text)
    filled = () if text == message.text else ("macros of the greeting",)
    placement = ScriptPlace.USER_INPUT if message.is_user else ScriptPlace.AI_OUTPUT
    text, changed_by = scripts.run(text, placement, depth)
    text, attached = with_attachments(message, text, files)
    return HandedText(text, changed_by, (*filled, *attached))


class HandedChat:
    """The messages of one chat as they are handed over before each of its generations.

    Most texts are the same in every generation, so they are made once: only the depth, and the macros that a script or
    a message names, make a difference. `problems` are sentences about scripts that could not do their work.
    """

    def __init__(self, setup: PromptSetup, chat: Chat) -> None:
        self._setup, self._chat = setup, chat
        self._scripts: dict[str, tuple[RegexScript, ...]] = {}
        self._names: dict[str, frozenset[str]] = {}
        self._reaches: dict[str, list[tuple[int, ...]]] = {}  # which run, by depth; the last for all deeper
        self._made: dict[tuple[int, str, tuple[int, ...], str], tuple[Message, Handed]] = {}
        self._written = any(has_macros(each.text) for each in chat.messages)
        self.problems: dict[str, None] = {}

    @property
    def changes_anything(self) -> bool:
        """Whether any text can be another one than the chat has."""
        messages = self._chat.messages
        if (messages and has_macros(messages[0].text)) or any(map(_has_more, messages)):
            return True
        return any(self._of(speaker) for speaker in {"", *(each.name or "" for each in messages)})

    @property
    def told(self) -> str:
        """What texts depend on besides the messages, whichever generation it is, for digests."""
        return repr((scripts_of(self._setup), sorted(self._chat.files.items())))

    def told_of(self, seen: Callable[[], Chat], end: int, speaker: str) -> str:
        """The values of macros that texts before the reply at `end` depend on; `seen` is the chat that it sees."""
        self._of(speaker)
        names = self._names[speaker]
        if not names and not self._written:
            return ""
        values = self._macros(seen(), end, speaker).values
        return repr(sorted(values.items()) if self._written else [(name, values.get(name)) for name in sorted(names)])

    def handed(
        self, messages: Sequence[Message], places: Sequence[int], seen: Callable[[], Chat], end: int, speaker: str
    ) -> tuple[tuple[Message, ...], dict[int, tuple[str, ...]]]:
        """These messages (at `places`) before the reply at `end`, and by place what changed which of them."""
        scripts = self._of(speaker)
        names = self._names[speaker]
        macros = self._macros(seen(), end, speaker) if names or self._written else Macros({})
        run = RegexRun(scripts, macros, self.problems)
        named = repr([macros.values.get(name) for name in sorted(names)])
        made: list[Message] = []
        changed: dict[int, tuple[str, ...]] = {}
        reaches = self._reaches[speaker]
        for newer, (message, place) in enumerate(zip(reversed(messages), reversed(places), strict=True)):
            reach = reaches[min(newer, len(reaches) - 1)]
            # Its own macros may stand for anything, the last message included.
            key = (place, speaker, reach, f"{end}" if has_macros(message.text) else named)
            known = self._made.get(key)
            if known is None or known[0] is not message:
                made_of = handed_text(message, place, newer, run, self._chat.files)
                same = made_of.text == message.text
                result = message if same else replace(message, text=made_of.text)
                known = (message, (result, made_of.changed_by))
                self._made[key] = known
            result, by = known[1]
            made.append(result)
            if result is not message:
                changed[place] = by
        return tuple(reversed(made)), changed

    def _of(self, speaker: str) -> tuple[RegexScript, ...]:
        """The scripts that change what is said, where this one is to speak."""
        if speaker not in self._scripts:
            found = scripts_of(self._setup, speaker)
            used = tuple(each for each in found if each.shapes_prompt and not each.placement.isdisjoint(_SAID))
            self._scripts[speaker] = used
            texts = (text for each in used for text in (each.find, each.replace, *each.trim))
            self._names[speaker] = frozenset(name for text in texts for name in _names_in(text))
            limits = [limit for each in used for limit in (each.min_depth, each.max_depth) if limit is not None]
            deepest = int(min(max((limit for limit in limits if limit < _DEEP), default=0), _DEEP))
            self._reaches[speaker] = [
                tuple(at for at, script in enumerate(used) if script.reaches(depth)) for depth in range(deepest + 2)
            ]
        return self._scripts[speaker]

    def _macros(self, chat: Chat, end: int, speaker: str) -> Macros:
        setup = self._setup
        member = setup.group.member(speaker) if setup.group is not None else None
        card = setup.card if member is None else member.card
        return macros_for(setup, chat, end, speaker, card_texts(card, chat, setup.group, speaker))


def _has_more(message: Message) -> bool:
    titled = message.extra.get("append_title") or message.extra.get("media")
    return bool(titled) or next(files_of(message), None) is not None


def _names_in(text: str) -> list[str]:
    return [(found[1] or found[2]).strip().lower() for found in _NAMED.finditer(text)]
