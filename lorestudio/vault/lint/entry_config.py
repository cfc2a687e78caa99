"""Whether an entry's own fields make sense together; and of a note that gave none, why, and whether that was meant."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import Final

from lorestudio.domain.entry import LeftOutNote
from lorestudio.domain.javascript import Json, length, number_text, to_number, to_string, trim
from lorestudio.vault.lint.facts import VaultFacts
from lorestudio.vault.lint.model import NAMED, FixSpec, Hit, Note, Rules, quoted

SHORT_KEY: Final = 3
"""Keys of up to so many characters are short for a warmup (rules: deeplore-tools 3.3 E04)."""

_HEADING: Final = re.compile(r"^#\s+(.+)$", re.MULTILINE)
_FENCE: Final = re.compile(r"^(?:```|~~~)", re.MULTILINE)
_SYNC_COPY: Final = re.compile(
    r"\.sync-conflict-\d{8}-\d{6}|_conflict-\d{8}-\d{6}|\([^()]*\bconflicted copy\b[^()]*\)", re.IGNORECASE
)
"""In a name: how Syncthing, Nextcloud, and Dropbox and Obsidian Sync call what they could not bring together."""
_MERGE_MARK: Final = re.compile(r"^(?:<{7} .*|={7}\r?|>{7} .*)$", re.MULTILINE)
"""The lines that git puts around the two versions that it could not bring together."""


def keyless(note: Note, _rules: Rules) -> Iterator[Hit]:
    """E01, E05, E06: entries without keys."""
    entry = note.entry
    if entry.guide or entry.constant or note.keys:
        return
    if entry.bootstrap:
        yield Hit("E05", f"“{entry.title}” has no keys: it comes in while the chat is short and never again.", "keys")
    else:
        yield Hit("E01", f"“{entry.title}” has no keys, so no text can wake it.", "keys")
    if entry.exclude_recursion:
        yield Hit("E06", f"“{entry.title}” has no keys and is hidden from recursion.", "excludeRecursion")


def empty_text(note: Note, _rules: Rules) -> Iterator[Hit]:
    """E02: nothing to inject."""
    if not trim(note.entry.content):
        yield Hit("E02", f"“{note.entry.title}” has no text.", "body")


def idle_conditions(note: Note, _rules: Rules) -> Iterator[Hit]:
    """E03, E52: conditions on an entry that needs none."""
    entry = note.entry
    if not entry.constant:
        return
    if entry.cooldown is not None:
        yield Hit("E03", f"“{entry.title}” is constant, so its cooldown has no effect.", "cooldown")
    for name, present in (
        ("warmup", entry.warmup is not None),
        ("probability", entry.probability is not None),
        ("refine_keys", bool(entry.refine_keys)),
        ("scanDepth", entry.scan_depth is not None),
    ):
        if present:
            yield Hit("E52", f"“{entry.title}” is constant, so its {name} has no effect.", name)


def short_warmup(note: Note, _rules: Rules) -> Iterator[Hit]:
    """E04: a warmup that short keys hardly reach."""
    entry, keys = note.entry, note.keys
    if entry.warmup is not None and entry.warmup > 1 and keys and all(length(key) <= SHORT_KEY for key in keys):
        needed = number_text(entry.warmup)
        yield Hit("E04", f"“{entry.title}” needs {needed} occurrences of keys as short as {quoted(keys)}.", "warmup")


def chances(note: Note, _rules: Rules) -> Iterator[Hit]:
    """E07, E53: a probability that never lets the entry in, or that was meant in percent."""
    entry = note.entry
    if entry.probability == 0:
        yield Hit("E07", f"“{entry.title}” has the probability 0, so a key hit never brings it in.", "probability")
    written = note.values.get(note.written("probability"))
    value = to_number(written) if isinstance(written, str | int | float) and not isinstance(written, bool) else 0
    if entry.probability == 1 and value > 1:
        percent = value / 100
        fix = None
        if 1 < value <= 100:
            title = f"Write {number_text(percent)}"
            fix = FixSpec(title, "set", note.written("probability"), percent, safe=False)
        yield Hit("E53", f"A probability of {number_text(value)} counts as 1: the draw is always won.", "probability",
                  fix=fix)  # fmt: skip


def zero_priority(note: Note, rules: Rules) -> Iterator[Hit]:
    """E54: a priority that counts as another one."""
    if note.entry.priority == 0 and not note.entry.guide and not rules.settings.rule_set.zero_priority:
        yield Hit("E54", f"The priority 0 of “{note.entry.title}” counts as 50 where the budget is filled.", "priority")


def guide_conflicts(note: Note, rules: Rules) -> Iterator[Hit]:
    """E55: a guide that is also something else."""
    entry = note.entry
    if not entry.guide:
        return
    flags = {"constant": entry.constant, "seed": entry.seed, "bootstrap": entry.bootstrap}
    others = [name for name, flag in flags.items() if flag]
    if others:
        told = f"“{entry.title}” is a guide and therefore never {' or '.join(others)}."
        yield Hit("E55", told, "tags", rules.parse.guide_tag)
    elif note.keys:
        told = f"“{entry.title}” is a guide, so its keys are never looked for."
        yield Hit("E55", told, "keys")


def odd_titles(note: Note, _rules: Rules) -> Iterator[Hit]:
    """E56, E57: a title that its author did not choose."""
    if note.text is None:
        return
    heading = _HEADING.search(note.body)
    if heading is None:
        return
    if "\n" in heading[0]:
        yield Hit("E57", f"The title “{note.entry.title}” stands on the line below its #.", "title",
                  line=note.places.at(heading.start()))  # fmt: skip
    if len(_FENCE.findall(note.body, 0, heading.start())) % 2:
        yield Hit("E56", f"The title “{note.entry.title}” is a line of a code block.", "title",
                  line=note.places.at(heading.start()))  # fmt: skip


def sync_copies(note: Note, _rules: Rules) -> Iterator[Hit]:
    """E58: an entry that stands in the vault a second time."""
    if _SYNC_COPY.search(note.filename.rpartition("/")[2]):
        yield Hit("E58", f"“{note.filename}” is a copy that a sync program left, and goes in beside the note itself.")


def merge_marks(note: Note, _rules: Rules) -> Iterator[Hit]:
    """E59: two versions of some lines in one note."""
    text = note.text or ""
    marks = list(_MERGE_MARK.finditer(text)) if "<<<<<<< " in text else []
    if {mark[0][0] for mark in marks} == {*"<=>"}:
        line = text.count("\n", 0, marks[0].start()) + 1
        yield Hit("E59", f"From line {line} on git has left two versions of some lines.", line=line)


def same_titles(note: Note, facts: VaultFacts) -> Iterator[Hit]:
    """E08, E09: titles that several entries have."""
    entry, title = note.entry, note.entry.title.lower()
    same = facts.namesakes.get((entry.vault, title), {})
    near = [name for name in islice(same, NAMED + 1) if name != note.filename][:NAMED]
    far = tuple(vault for vault in facts.index.vaults if vault != entry.vault and (vault, title) in facts.namesakes)
    if near:
        told = quoted(near, amount=len(same) - (note.filename in same))
        yield Hit("E08", f"The title “{entry.title}” is also that of {told}.", "title")
    if far and facts.rules.settings.multi_vault_conflict_resolution not in {"first", "last", "merge"}:
        yield Hit("E09", f"The title “{entry.title}” is also in the vault {quoted(far)}.", "title")


_LINE: Final = re.compile(r"\b[Ll]ine (\d+)")


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
    if not isinstance(item, LeftOutNote) or not item.problem.untagged or note.text is None:
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
