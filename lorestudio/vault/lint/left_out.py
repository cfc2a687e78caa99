"""Notes that gave no entry: why, and whether that was meant."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from lorestudio.domain.entry import LeftOutNote, NoteProblem
from lorestudio.domain.javascript import Json, to_string, trim
from lorestudio.vault.lint.model import FixSpec, Hit
from lorestudio.vault.lint.note import Note, Rules

_LINE: Final = re.compile(r"\b[Ll]ine (\d+)")
_ORDINARY: Final = frozenset({NoteProblem.NO_FRONT_MATTER, NoteProblem.NO_LOREBOOK_TAG})


def reasons(note: Note, _rules: Rules) -> Iterator[Hit]:
    """SKIP_..., BROKEN_...: why the note is no entry."""
    item = note.item
    if isinstance(item, LeftOutNote):
        yield Hit(item.problem.value, item.message, line=line_in(item.message))


def line_in(message: str) -> int:
    """The line that a message names, 0 where it names none."""
    found = _LINE.search(message)
    return int(found[1]) if found else 0


def near_misses(note: Note, rules: Rules) -> Iterator[Hit]:
    """N51, N52: notes that were probably meant to be entries."""
    item = note.item
    if not isinstance(item, LeftOutNote) or item.problem not in _ORDINARY or note.text is None:
        return
    tag = rules.parse.lorebook_tag
    name = note.written("tags")
    written = _pieces(note.values.get(name))
    wanted = _wanted(tag, written)
    if wanted:
        tags = tuple(tag if piece in wanted else piece for piece in written)
        fix = FixSpec("Write the tags as a list", "list", name, tuple(dict.fromkeys(tags)), safe=False)
        yield Hit("N51", f"tags names {tag}, but not so that it counts.", name, advice=f"Write tags: [{tag}].", fix=fix)
    elif _wanted(tag, _pieces(note.values.get("tag"))):
        yield Hit("N51", f"{tag} stands in tag, which nothing reads.", "tag", advice=f"Write tags: [{tag}].")
    elif re.search(rf"(?<!\S)#{re.escape(tag)}(?![\w/-])", note.body, re.IGNORECASE):
        told = f"#{tag} stands in the text, where it does not count."
        yield Hit("N51", told, "body", f"#{tag}", advice=f"Write tags: [{tag}] in the front matter.")
    elif any(note.values.get(key) for key in ("keys", "Keys", "KEYS")):
        yield Hit("N52", f"The note has keys, but not the tag {tag}.", note.written("keys"))


def _pieces(value: Json) -> tuple[str, ...]:
    """The single tags that a value was probably meant to be."""
    items = value if isinstance(value, list) else [value] if isinstance(value, str) else []
    texts = [to_string(item) for item in items]
    found: list[str] = []
    for text in texts:
        bare = re.split(r"\s#\s", text)[0]
        for piece in bare.strip("[]").split(","):
            tag = trim(trim(piece).strip("'\"")).removeprefix("#")
            if tag:
                found.append(tag)
    return tuple(found)


def _wanted(tag: str, pieces: tuple[str, ...]) -> frozenset[str]:
    return frozenset(piece for piece in pieces if piece.lower() == tag or piece.lower().startswith(f"{tag}/"))


def lost_titles(note: Note, rules: Rules) -> Iterator[Hit]:
    """N53: an entry of which the index knows nothing, because another one has its title."""
    if note.item is None:
        mode = rules.settings.multi_vault_conflict_resolution
        what = "is merged into" if mode == "merge" else "gives way to"
        yield Hit("N53", f"The note {what} another one of the same title.", "title")
