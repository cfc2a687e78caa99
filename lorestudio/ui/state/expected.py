"""What was found of the expectations in the open chat, for the marks on entries and replies wherever they are shown."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Final

from msgspec import Struct
from PySide6.QtCore import QObject, Signal

from lorestudio.domain.chat import Generation
from lorestudio.studio.tuning.checking import CheckedChat
from lorestudio.ui.shell.words import count, tr


class ExpectedMark(Struct, frozen=True):
    """Expectations of a place in a few words: those that are broken, else those that are met."""

    met: bool
    words: str

    @property
    def glyph(self) -> tuple[str, str]:
        """Its icon, with a colour of the palette."""
        return ("check", "good") if self.met else ("cross", "error")


class ExpectedMarks(QObject):
    """Marks by reply, by entry, and by both; `changed` follows another check."""

    changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._found: dict[tuple[Generation | None, int | None], list[tuple[str, bool]]] = {}

    def take(self, checked: CheckedChat | None) -> None:
        """What was checked last, None where nothing is known."""
        found: defaultdict[tuple[Generation | None, int | None], list[tuple[str, bool]]] = defaultdict(list)
        for each in checked.every if checked is not None else ():
            sentence, entries = each.judged.called.sentence, frozenset[int]().union(*each.judged.notes)
            for turn in each.judged.turns:
                found[turn.generation, None].append((sentence, turn.met))
                for entry in entries:
                    met = turn.met or entry not in turn.entries
                    found[turn.generation, entry].append((sentence, met))
                    found[None, entry].append((sentence, met))
        if found != self._found:
            self._found = dict(found)
            self.changed.emit()

    def at(self, generation: Generation | None, entry: int | None) -> ExpectedMark | None:
        """Of an entry in a reply; of the whole reply, or of an entry in all replies, where the other one is None."""
        found = self._found.get((generation, entry))
        if not found:
            return None
        broken = [sentence for sentence, met in found if not met]
        if broken:
            return ExpectedMark(False, tr("Not met: {sentences}", sentences=_told(broken)))
        return ExpectedMark(True, tr("As expected: {sentences}", sentences=_told(sentence for sentence, _ in found)))


_SHOWN: Final = 3


def _told(sentences: Iterable[str]) -> str:
    each = list(dict.fromkeys(sentences))
    more = len(each) - _SHOWN
    return "; ".join(each[:_SHOWN]) + (tr(" and {more}", more=count(more, "other", "others")) if more > 0 else "")
