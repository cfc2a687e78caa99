"""An editor knows one kind of line end; files have several. What was not edited keeps the one it had."""

from __future__ import annotations

import re
from collections import Counter
from difflib import SequenceMatcher

_END = re.compile("\r\n|[\n\r\u2029]")


def for_editor(text: str) -> str:
    """`text` with every line end as a single line feed."""
    return _END.sub("\n", text)


def restore(original: str, edited: str) -> str:
    """`edited` with the line ends of the file it came from.

    Lines that were not changed keep their own; new lines get the one the file uses most.
    """
    if "\r" not in original and "\u2029" not in original:
        return edited
    ends = _END.findall(original)
    usual = Counter(ends).most_common(1)[0][0] if ends else "\n"
    if all(end == usual for end in ends):
        return edited if usual == "\n" else edited.replace("\n", usual)
    before, after = for_editor(original).split("\n"), edited.split("\n")
    most = min(len(before), len(after))
    head = next((place for place in range(most) if before[place] != after[place]), most)
    tail = next((place for place in range(most - head) if before[-1 - place] != after[-1 - place]), most - head)
    new = [usual] * (len(after) - 1)
    for place in range(len(new)):
        if place < head and place < len(ends):
            new[place] = ends[place]
        elif len(new) - place <= min(tail, len(ends)):
            new[place] = ends[place - len(new)]
    matcher = SequenceMatcher(None, before[head : len(before) - tail], after[head : len(after) - tail])
    for old, now, size in matcher.get_matching_blocks():
        for place in range(size):
            if head + now + place < len(new) and head + old + place < len(ends):
                new[head + now + place] = ends[head + old + place]
    places = range(len(new) - 1)
    for place in places if usual == "\r" else reversed(places):  # mending one place may bring the next one about
        # A lone carriage return before an empty line would swallow the line feed after it.
        if (new[place], after[place + 1], new[place + 1]) == ("\r", "", "\n"):
            new[place if usual != "\r" else place + 1] = usual
    return "".join(line + end for line, end in zip(after, [*new, ""], strict=True))
