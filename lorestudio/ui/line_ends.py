"""An editor knows one kind of line end; files have several. What was not edited keeps the one it had."""

from __future__ import annotations

import re
from collections import Counter

_END = re.compile("\r\n|[\n\r\u2029]")


def for_editor(text: str) -> str:
    """`text` with every line end as a single line feed."""
    return _END.sub("\n", text)


def restore(original: str, edited: str) -> str:
    """`edited` with the line ends of the file it came from.

    Lines before the first and after the last change keep their own; new lines get the one the file uses most.
    """
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
    restored = "".join(line + end for line, end in zip(after, [*new, ""], strict=True))
    # A lone carriage return before an empty line would swallow the line feed after it.
    return restored if for_editor(restored) == edited else edited.replace("\n", usual)
