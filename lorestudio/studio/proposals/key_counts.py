"""How many messages of the open chat a key is found in, by the engine's own matcher."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from lorestudio.domain.chat import Chat, Message
from lorestudio.domain.entry import Entry, VaultIndex
from lorestudio.engine import DeepLoreIndex
from lorestudio.engine.deeplore.scan import ScanWindow
from lorestudio.settings.deeplore import DeepLoreSettings
from lorestudio.studio.proposals.model import KeyCount


@dataclass(frozen=True, slots=True)
class SearchableChat:
    """The searched lines of a chat: each message alone, as a scan reads it (spec: deeplore-engine 3.3)."""

    lines: tuple[tuple[int, str], ...] = ()
    case_sensitive: bool = False
    whole_words: bool = False

    @classmethod
    def of(cls, chat: Chat | None, settings: DeepLoreSettings) -> SearchableChat:
        """The chat as it would be searched; hidden, system, narrator and tool messages are left out."""
        lines = []
        for number, message in enumerate(chat.messages if chat is not None else ()):
            window = ScanWindow([message], 1, case_sensitive=settings.case_sensitive)
            if window.lines:
                lines.append((number, window.text))
        return cls(tuple(lines), settings.case_sensitive, settings.match_whole_words)

    def found(self, keys: Sequence[str]) -> tuple[tuple[int, ...], ...]:
        """For each key the indices of the messages that it is found in."""
        return self._found(keys, self.lines)

    def occur(self, keys: Sequence[str], text: str) -> tuple[bool, ...]:
        """For each key whether it is found in `text`, by the same rules."""
        window = ScanWindow([Message("", text)], 1, case_sensitive=self.case_sensitive)
        return tuple(bool(hits) for hits in self._found(keys, [(0, window.text)]))

    def _found(self, keys: Sequence[str], lines: Iterable[tuple[int, str]]) -> tuple[tuple[int, ...], ...]:
        entries = tuple(Entry(place, "", "", key, keys=(key,)) for place, key in enumerate(keys))
        matcher = DeepLoreIndex(VaultIndex(entries)).matcher(
            case_sensitive=self.case_sensitive, whole_words=self.whole_words
        )
        places: list[list[int]] = [[] for _ in keys]
        for number, text in lines:
            for entry in matcher.hit_entries(matcher.find(text)):
                places[entry].append(number)
        return tuple(map(tuple, places))


def count_keys(now: Sequence[str], proposed: Sequence[str], chat: SearchableChat) -> tuple[KeyCount, ...]:
    """Every key of either side with its messages: the proposed ones in their order, then those that would go."""
    keys = list(dict.fromkeys([*proposed, *now]))
    before, after = set(now), set(proposed)
    found = chat.found(keys)
    return tuple(
        KeyCount(key, messages, key in before, key in after) for key, messages in zip(keys, found, strict=True)
    )
