"""How states look and what they are called: for each a glyph, a fill and a word, never a colour alone.

Which words of a message are marked as keys of the chosen entry, and what each mark says.
"""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from lorestudio.domain.entry import Entry
from lorestudio.trace.held_run import WouldCell, WouldState
from lorestudio.trace.journey import CellState, Fate, FateState, JourneyCell
from lorestudio.trace.matching.found_keys import FoundKey, places_in
from lorestudio.trace.model import Phase
from lorestudio.ui.shell.words import tr


class KeyMark(Struct, frozen=True):
    """Characters `start` to `end` of a message's text, or with `in_name` the speaker's name. `words` are its tooltip.

    `refine` marks a refine key; it is drawn with a broken line where a key has a full one. `lacking` marks a key that
    was not enough, for want of refine keys.
    """

    start: int
    end: int
    key: str
    words: str
    refine: bool = False
    in_name: bool = False
    lacking: bool = False

    def describe(self) -> str:
        """The mark in a few words, for screen readers."""
        if self.refine:
            return tr("the refine key “{key}” was found here", key=self.key)
        if self.lacking:
            return tr("the key “{key}” was found here, its refine keys were not", key=self.key)
        return tr("the key “{key}” was found here", key=self.key)


class KeyQuery(Struct, frozen=True):
    """What is to be marked: the keys of the entry called `title`, in the messages before `until`."""

    found: tuple[FoundKey, ...] = ()
    until: int = 0
    title: str = ""

    def marks(self, message: int, text: str) -> tuple[KeyMark, ...]:
        """The marks in one message with this text, in the order of the text; none lies over another.

        Where keys and refine keys meet, the key is marked.
        """
        if message >= self.until:
            return ()
        kept: list[KeyMark] = []
        for one in sorted(self.found, key=lambda one: one.refine):
            if one.message in {None, message}:
                words = self._words(one)
                for start, end in [(0, 1)] if one.in_name else places_in(one, message, text):
                    mark = KeyMark(start, end, one.key, words, one.refine, one.in_name, bool(one.missing))
                    if not any(_meet(mark, other) for other in kept):
                        kept.append(mark)
        return tuple(sorted(kept, key=lambda mark: (not mark.in_name, mark.start)))

    def _words(self, one: FoundKey) -> str:
        if one.refine:
            words = tr("“{key}” is a refine key of “{title}”.", key=one.key, title=self.title)
        else:
            words = tr("“{key}” is a key of “{title}”.", key=one.key, title=self.title)
        others = [other for other in self.found if other.refine is not one.refine and other.message is not None]
        for other in others[:3]:
            kind = tr("Its key") if one.refine else tr("Its refine key")
            words += " " + tr("{kind} “{key}” is in #{message}.", kind=kind, key=other.key, message=other.message)
        return " ".join(part for part in (words, one.missing) if part)


def _meet(one: KeyMark, other: KeyMark) -> bool:
    return one.in_name is other.in_name and one.start < other.end and other.start < one.end


class Mark(Struct, frozen=True):
    """A glyph (an icon's name), the fill behind it ("" for none), and the state in a word or two.

    A `hollow` one is what would have happened: its fill is only an outline.
    """

    icon: str
    fill: str
    word: str
    hollow: bool = False


_ADDED: Final = Mark("plus", "yellow", "candidate")
_ADDED_BY_AI: Final = Mark("plus", "sky", "chosen by AI")
_KEPT: Final = Mark("check", "", "kept")
_PLACED: Final = Mark("check", "green", "injected")
_CHANGED: Final = Mark("tilde", "", "changed")
_TRIMMED: Final = Mark("scissors", "green", "trimmed")
_PINNED: Final = Mark("star", "sky", "pinned")
_GATED: Final = Mark("cross", "orange", "gated out")
_COOLING: Final = Mark("pause", "grey", "cooling down")
_CUT: Final = Mark("scissors", "purple", "cut")
_REFUSED: Final = Mark("slash", "", "refused")
_ABSENT: Final = Mark("dot", "", "not a candidate")
_WOULD_PASS: Final = Mark("", "grey", "would pass", hollow=True)
_WOULD_TRIM: Final = Mark("scissors", "green", "would be trimmed", hollow=True)
_WOULD_ASK: Final = Mark("question", "sky", "not offered to AI", hollow=True)
BLANK: Final = Mark("", "", "not reached")
_DROPPED: Final = Mark("cross", "grey", "not selected")
_OTHER_CATEGORY: Final = Mark("cross", "grey", "other category")
_UNSURE: Final = Mark("cross", "grey", "not sure enough")
_FALLBACK: Final = Mark("plus", "vermilion", "taken instead")
_LOST: Final = Mark("cross", "grey", "lost with the answer")
_UNOFFERED: Final = Mark("dash", "", "not offered to AI")
DECIDING: Final = Mark("live", "", "being decided")
"""The stage runs and has not decided yet."""
BROKEN: Final = Mark("error", "", "failed")
"""The stage failed."""

_BY_REASON: Final = {
    "placed": _PLACED,
    "truncated": _TRIMMED,
    "pinned": _PINNED,
    "pin_upgraded": _PINNED,
    "ai_pick": _ADDED_BY_AI,
    "below_confidence": _UNSURE,
    "prefilter_dropped": _OTHER_CATEGORY,
    "fell_back": _FALLBACK,
    "fallback_dropped": _LOST,
    "not_offered": _UNOFFERED,
    "cooling_down": _COOLING,
    "reinjection_pause": _COOLING,
}
_BY_STATE: Final = {
    CellState.ADDED: _ADDED,
    CellState.KEPT: _KEPT,
    CellState.CHANGED: _CHANGED,
    CellState.REMOVED: _GATED,
    CellState.REFUSED: _REFUSED,
    CellState.ABSENT: _ABSENT,
    CellState.NOT_REACHED: BLANK,
}
_REMOVED_IN: Final = {Phase.BUDGET: _CUT, Phase.SELECT: _DROPPED, Phase.MATCH: _DROPPED, Phase.LOAD: _DROPPED}


def cell_mark(cell: JourneyCell, phase: Phase) -> Mark:
    """The mark of one cell of a journey."""
    reason = cell.verdict.reason if cell.verdict is not None else ""
    if reason in _BY_REASON:
        return _BY_REASON[reason]
    if cell.state is CellState.REMOVED:
        return _REMOVED_IN.get(phase, _GATED)
    if phase is Phase.INJECT and cell.state is CellState.KEPT and reason:
        return _PLACED
    return _BY_STATE[cell.state]


def would_mark(cell: WouldCell) -> Mark:
    """The mark of a stage that the entry did not reach: what it would have done."""
    if cell.state is WouldState.NOT_ASKED:
        return _WOULD_ASK
    if cell.state is WouldState.STOP and cell.verdict is not None:
        known = _BY_REASON.get(cell.verdict.reason) or _REMOVED_IN.get(cell.phase, _GATED)
        return Mark(known.icon, known.fill or "grey", f"would be {known.word}", hollow=True)
    shortened = cell.state is WouldState.CHANGE and cell.verdict is not None and cell.verdict.reason == "truncated"
    return _WOULD_TRIM if shortened else _WOULD_PASS


def fate_mark(fate: Fate) -> Mark:
    """The mark of what became of an entry in the end."""
    if fate.state is FateState.INJECTED:
        return _PLACED
    if fate.state is FateState.TRUNCATED:
        return _TRIMMED
    if fate.state is FateState.REMOVED:
        return _BY_REASON.get(fate.reason) or _REMOVED_IN.get(fate.phase or Phase.GATE, _GATED)
    if fate.state is FateState.REFUSED:
        return _BY_REASON.get(fate.reason, _REFUSED)
    return _ADDED if fate.state is FateState.UNDECIDED else _ABSENT


class Kind(Struct, frozen=True):
    """What sort of entry a note is: a glyph and a word."""

    icon: str
    word: str


def entry_kind(entry: Entry) -> Kind:
    """The sort that matters most for when an entry goes in."""
    for flag, icon, word in (
        (entry.guide, "guide", "writing guide, never injected"),
        (entry.constant, "constant", "constant, always in"),
        (entry.seed, "seed", "seed, for the start of a chat"),
        (entry.bootstrap, "bootstrap", "bootstrap, in while the chat is short"),
    ):
        if flag:
            return Kind(icon, tr(word))
    return Kind("normal", tr("normal"))
