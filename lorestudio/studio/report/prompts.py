"""The texts of prompts in a report: folded, once each, and of the newest turns as far as the page stays sane."""

from __future__ import annotations

from html import escape
from typing import Final

from lorestudio.studio.report.colours import fill, on_fill
from lorestudio.studio.report.source import ReportSource
from lorestudio.trace.model import PromptBlock, Trace
from lorestudio.trace.origins import OTHER, Origin
from lorestudio.trace.text import turn_words
from lorestudio.trace.wording import number_words, place, plural

MOST_CHARACTERS: Final = 1_500_000
"""Characters of prompts that one report holds; what a browser still opens at once, together with the tables."""

REPEATED: Final = 300
"""A block of at least so many characters that stood in an earlier turn is named and not written again."""

BlockKey = tuple[str, float, float, float, str, tuple[tuple[int, int, str], ...]]


class PromptTexts:
    """Which turns' prompts a report holds, and as HTML. Ask for the turns in the order of the page."""

    def __init__(self, source: ReportSource, most: int = MOST_CHARACTERS) -> None:
        self._whole, self._redacted = source.whole_chat, source.redacted
        self._told: dict[BlockKey, tuple[str, str]] = {}
        self._shown: set[int] = set()
        self._left = 0
        known: set[BlockKey] = set()
        used = 0
        for trace in (turn.trace for turn in reversed(source.turns)):
            if not trace.prompt:
                continue
            keys = {_key(trace, block): len(block.text) for block in trace.prompt}
            more = sum(size for key, size in keys.items() if key not in known)
            # Of several turns at least the newest has its prompt; once one did not fit, no older one is tried.
            if self._left or (self._whole and known and used + more > most):
                self._left += 1
                continue
            used += more
            known |= keys.keys()
            self._shown.add(id(trace))
        self._most = most

    @property
    def left_out(self) -> str:
        """What is not here, in a sentence; "" where everything is."""
        if not self._left:
            return ""
        turns = plural(self._left, "the oldest turn|the # oldest turns")
        return (
            f"The prompts of {turns} are left out, since all together are longer than "
            f"{number_words(self._most)} characters. A report of one turn has its prompt."
        )

    def html(self, trace: Trace, came_from: dict[int, Origin], anchor: str) -> str:
        """The prompt of one run, folded; nothing where nothing was handed over."""
        if not trace.prompt:
            return ""
        if id(trace) not in self._shown:
            return "<h3>Prompt</h3><p class='muted'>Left out for the size of this report.</p>"
        blocks = "".join(self._block(trace, block, came_from, anchor) for block in trace.prompt)
        size = plural(len(trace.prompt), "# block|# blocks")
        if not self._redacted:  # there the texts stand for longer ones
            size += plural(sum(len(block.text) for block in trace.prompt), ", # character|, # characters")
        folded = f"<details><summary>What was handed over ({size})</summary>{blocks}</details>"
        return f"<div class='folded'><h3>Prompt</h3>{folded}</div>"

    def _block(self, trace: Trace, block: PromptBlock, came_from: dict[int, Origin], anchor: str) -> str:
        where = escape(f"{place(block.position, block.depth, block.role)} ({block.tag})")
        head = f"<p class='muted'>{where}</p>"
        key = _key(trace, block)
        if key in self._told and len(block.text) >= REPEATED:
            first, title = self._told[key]
            return f"{head}<p>The same text as in <a href='#{first}'>{escape(title)}</a>.</p>"
        self._told.setdefault(key, (anchor, turn_words(trace.turn)))
        return f"{head}<pre>{_pieces(trace, block, came_from)}</pre>"


def _key(trace: Trace, block: PromptBlock) -> BlockKey:
    parts = tuple((part.start, part.end, _title(trace, part.entry)) for part in block.parts)
    return block.tag, block.position, block.depth, block.role, block.text, parts


def _pieces(trace: Trace, block: PromptBlock, came_from: dict[int, Origin]) -> str:
    """The text with each entry's part set apart and named."""
    pieces, at = [], 0
    for part in sorted(block.parts, key=lambda item: item.start):
        pieces.append(escape(block.text[at : part.start]))
        words = escape(block.text[part.start : part.end])
        if part.entry is None:
            pieces.append(words)
        else:
            origin = came_from.get(part.entry, OTHER)
            ground, ink = fill(origin.fill), on_fill(origin.fill)
            who = f"{escape(_title(trace, part.entry))} · {origin.word}"
            pieces.append(
                f"<span class='piece' style='border-color:{ground}'>"
                f"<span class='who' style='background:{ground};color:{ink}'>{who}</span>\n{words}</span>"
            )
        at = part.end
    pieces.append(escape(block.text[at:]))
    return "".join(pieces)


def _title(trace: Trace, entry: int | None) -> str:
    ref = trace.entries.get(entry) if entry is not None else None
    return "" if entry is None else f"entry {entry}" if ref is None else ref.title
