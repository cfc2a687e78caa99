"""What each generation of a chat sees of the messages before it: which count as hidden, and with which texts."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping
from functools import partial
from typing import Final

from msgspec import Struct

from lorestudio.domain.chat import Chat, Generation, Message
from lorestudio.domain.history import UNHIDDEN, Sight, shown_again
from lorestudio.domain.records import replace
from lorestudio.settings.studio import HANDED
from lorestudio.studio.project.project import Project
from lorestudio.studio.prompt.messages import HandedChat
from lorestudio.systems.base import Moment, System
from lorestudio.trace.model import AS_STORED, ReadMessage, SeenChat


class SeenMessages(Struct, frozen=True):
    """The messages that a generation sees, and their indices in the chat.

    `changed` says of some, by index, what gave them another text than the chat has.
    """

    messages: tuple[Message, ...]
    positions: tuple[int, ...]
    sight: Sight = UNHIDDEN
    changed: Mapping[int, tuple[str, ...]] = {}

    def record(self) -> SeenChat:
        """For a moment: all that is not as the file says."""
        if not self.changed and not self.sight.shown and not self.sight.assumed:
            return AS_STORED
        texts = zip(self.positions, self.messages, strict=True) if self.changed else ()
        read = tuple(
            ReadMessage(place, each.text, self.changed[place]) for place, each in texts if place in self.changed
        )
        return SeenChat(self.sight.shown, self.sight.assumed, read)


class SeenChats:
    """Answers for the generations of a project's chat. What many of them share is made once."""

    def __init__(self, project: Project) -> None:
        self._chat, self._history = project.chat or Chat(), project.history
        handed = HandedChat(project.reply_setup, self._chat)
        on = project.basis.settings.scan_text == HANDED and handed.changes_anything
        self._handed = handed if on else None
        shown = {place: replace(self._chat.messages[place], is_system=False) for place in self._history.hidden}
        self._shown: Mapping[int, Message] = shown
        self._lists: dict[int, tuple[tuple[int, ...], tuple[Message, ...]]] = {}
        self._newest: tuple[tuple[int, int], Sight, str] = ((-1, _TODAY), UNHIDDEN, "")

    def of(self, generation: Generation, speaker: str) -> SeenMessages:
        """What this generation sees where `speaker` is to speak."""
        positions, messages = self._visible(generation)
        end = bisect_left(positions, generation.message)
        positions, messages = positions[:end], messages[:end]
        sight, _told = self._sight(generation)
        if self._handed is None:
            return SeenMessages(messages, positions, sight)
        made, changed = self._handed.handed(
            messages, positions, partial(shown_again, self._chat, sight.shown), generation.message, speaker
        )
        return SeenMessages(made, positions, sight, changed)

    def shown(self, message: Message) -> Message:
        """The message as if nobody had hidden it."""
        return replace(message, is_system=False) if message.was_hidden else message

    @property
    def told(self) -> str:
        """For digests: what all generations have in common besides the messages."""
        return self._handed.told if self._handed is not None else ""

    def told_of(self, generation: Generation, speaker: str) -> str:
        """For digests: what a generation takes for hidden, and what its texts depend on."""
        sight, told = self._sight(generation)
        if self._handed is None:
            return told
        seen = partial(shown_again, self._chat, sight.shown)
        return told + self._handed.told_of(seen, generation.message, speaker)

    def _sight(self, generation: Generation) -> tuple[Sight, str]:
        """What counts for this generation, and how that is told: for most the same as for the one before."""
        if not self._history.hidden:
            return UNHIDDEN, ""
        key = bisect_left(self._history.hidden, generation.message), self._since(generation)
        if self._newest[0] != key:
            sight = self._history.sight(generation)
            told = repr((sorted(sight.hidden), sight.shown, sight.assumed)) if sight != UNHIDDEN else ""
            self._newest = key, sight, told
        return self._newest[1:]

    def _since(self, generation: Generation) -> int:
        """Between which two changes of what is hidden this generation lies, `_TODAY` where only today counts."""
        return _TODAY if self._history.by_today(generation) else bisect_right(self._history.breaks, generation.message)

    def _visible(self, generation: Generation) -> tuple[tuple[int, ...], tuple[Message, ...]]:
        """Of the whole chat what this generation would see: the same for all between two changes of what is hidden."""
        message, key = generation.message, self._since(generation)
        if key not in self._lists:
            when = () if key == _TODAY else self._history.when
            shown = {place: self._shown[place] for place, since, _assumed in when if since > max(place, message)}
            kept = [
                (place, shown.get(place, each))
                for place, each in enumerate(self._chat.messages)
                if not each.is_system or place in shown
            ]
            self._lists[key] = (tuple(place for place, _ in kept), tuple(each for _, each in kept))
        return self._lists[key]


def searched_of(system: System, moment: Moment) -> SeenChat:
    """What the trace of a run in this moment keeps: texts of those messages only that the system reads."""
    if not moment.seen.read:
        return moment.seen
    first = len(moment.chat) - system.searched(moment)
    begin = moment.position(max(first, 0)) if moment.chat else 0
    return replace(moment.seen, read=tuple(each for each in moment.seen.read if each.message >= begin))


_TODAY: Final = -1
