"""Whether an entry's own fields make sense together."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from lorestudio.domain.javascript import length, number_text, to_number, trim
from lorestudio.vault.lint.facts import VaultFacts
from lorestudio.vault.lint.model import FixSpec, Hit
from lorestudio.vault.lint.note import Note, Rules, quoted

SHORT_KEY: Final = 3
"""Keys of up to so many characters are short for a warmup (spec: deeplore-ai-and-tools 3.3 E04)."""

_HEADING: Final = re.compile(r"^#\s+(.+)$", re.MULTILINE)
_FENCE: Final = re.compile(r"^(?:```|~~~)", re.MULTILINE)


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


def zero_priority(note: Note, _rules: Rules) -> Iterator[Hit]:
    """E54: a priority that counts as another one."""
    if note.entry.priority == 0 and not note.entry.guide:
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


def same_titles(note: Note, facts: VaultFacts) -> Iterator[Hit]:
    """E08, E09: titles that several entries have."""
    entry = note.entry
    others = [other for other in facts.titles.get(entry.title.lower(), ()) if (other.vault, other.filename) != note.key]
    near = tuple(other.filename for other in others if other.vault == entry.vault)
    far = tuple(dict.fromkeys(other.vault for other in others if other.vault != entry.vault))
    if near:
        yield Hit("E08", f"The title “{entry.title}” is also that of {quoted(near)}.", "title")
    if far and facts.rules.settings.multi_vault_conflict_resolution not in {"first", "last", "merge"}:
        yield Hit("E09", f"The title “{entry.title}” is also in the vault {quoted(far)}.", "title")
