"""Changes that could let an entry in where keys, chance or a rest kept it out, and those that let it in anyway."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Final

from lorestudio.domain.state import EntryRule
from lorestudio.engine.deeplore.stages.snapshot import scan_window
from lorestudio.trace.wording import quoted
from lorestudio.tuning.changes import Change, NoteEdit, Option, Steps, most_of
from lorestudio.tuning.key_ideas import key_ideas
from lorestudio.tuning.situation import Situation

KEYS: Final = "keys"
REFINE_KEYS: Final = "refine_keys"


# ---- the text that is searched --------------------------------------------------------------------------------------


def add_key(s: Situation) -> Iterator[Option]:
    """A key that is found in the scanned text."""
    for word in _ideas(s, s.entry.keys):
        edit = NoteEdit.of(s.entry, KEYS, add=(word,))
        yield s.edit("add_key", f"Add the key {quoted(word)} to {s.name}", edit, "add_key")


def add_refine_key(s: Situation) -> Iterator[Option]:
    """A refine key that is found in the scanned text."""
    for word in _ideas(s, (*s.entry.refine_keys, *s.entry.keys)):
        edit = NoteEdit.of(s.entry, REFINE_KEYS, add=(word,))
        yield s.edit("add_refine_key", f"Add the refine key {quoted(word)} to {s.name}", edit, "add_refine_key")


def _ideas(s: Situation, known: Sequence[str]) -> tuple[str, ...]:
    settings = s.ctx.settings
    depth = settings.scan_depth if s.entry.scan_depth is None else s.entry.scan_depth
    notes = [s.ctx.index.folded(entry) for entry in s.ctx.index.visible]
    return key_ideas(s.entry, scan_window(s.ctx).tail(depth), s.ctx.chat, known, s.aliases, notes)


def drop_refine_keys(s: Situation) -> Iterator[Option]:
    """The key alone is enough."""
    edit = NoteEdit.of(s.entry, REFINE_KEYS, removed=True)
    yield s.edit("drop_refine_keys", f"Remove the refine keys of {s.name}, so that a key alone is enough", edit)


def deeper(s: Situation) -> Iterator[Option]:
    """More messages searched, for all entries or for this one."""
    depth, entry, chat = s.ctx.settings.scan_depth, s.entry, len(s.ctx.chat)
    if entry.scan_depth is None:
        yield s.amounts("scan_depth", "scan_depth", range(depth + 1, min(most_of("scan_depth"), chat) + 1))
    own = depth if entry.scan_depth is None else entry.scan_depth
    first = math.floor(own) + 1 if math.isfinite(own) and own >= 0 else chat + 1

    def make(number: int) -> Change:
        edit = NoteEdit.of(entry, "scanDepth", number)
        return Change("own_scan_depth", f"Give {quoted(entry.title)} a scan depth of its own: {number:,}", note=edit)

    yield Option(Steps(range(first, chat + 1), make))


def looser(s: Situation) -> Iterator[Option]:
    """Settings that find more: parts of words, any case, recursion, fuzzy search, the active character."""
    settings = s.ctx.settings
    if settings.match_whole_words:
        yield s.set("part_words", "match_whole_words", value=False)
    if settings.case_sensitive:
        yield s.set("any_case", "case_sensitive", value=False)
    if not settings.recursive_scan:
        yield s.set("recursion", "recursive_scan", value=True)
    else:
        steps = range(settings.max_recursion_steps + 1, most_of("max_recursion_steps") + 1)
        yield s.amounts("recursion_steps", "max_recursion_steps", steps)
    if not settings.fuzzy_search_enabled:
        yield s.set("fuzzy", "fuzzy_search_enabled", value=True)
    if not settings.character_context_scan and s.ctx.character:
        yield s.set("active_character", "character_context_scan", value=True)


def new_chat(s: Situation) -> Iterator[Option]:
    """Bootstrap entries for longer."""
    if s.entry.bootstrap:
        numbers = range(s.ctx.settings.new_chat_threshold + 1, most_of("new_chat_threshold") + 1)
        yield s.amounts("new_chat", "new_chat_threshold", numbers)


def warm(s: Situation) -> Iterator[Option]:
    """Fewer mentions asked for, the most that will do."""
    if s.entry.warmup is not None:
        yield Option(_less_of(s, "warmup", s.entry.warmup))


def certain(s: Situation) -> Iterator[Option]:
    """No draw."""
    edit = NoteEdit.of(s.entry, "probability", removed=True)
    yield s.edit("probability", f"Remove the probability of {s.name}, so that every hit counts", edit)


def rested(s: Situation) -> Iterator[Option]:
    """A shorter cooldown, the longest that will do; it works only from the injection before on."""
    if s.entry.cooldown is not None:
        yield Option(_less_of(s, "cooldown", s.entry.cooldown), through_history=True)


def _less_of(s: Situation, name: str, value: float) -> Steps:
    """Smaller values of a property of the note, the largest first; instead of 0 the property goes."""

    def make(number: int) -> Change:
        edit = NoteEdit.of(s.entry, name, number) if number else NoteEdit.of(s.entry, name, removed=True)
        title = f"Lower the {name} of {s.name} to {number:,}" if number else f"Remove the {name} of {s.name}"
        return Change(name, title, note=edit)

    return Steps(range(math.ceil(value) - 1, -1, -1), make)


def no_guide(s: Situation) -> Iterator[Option]:
    """No writing guide any more."""
    tag = s.ctx.settings.librarian_guide_tag
    edit = NoteEdit.of(s.entry, "tags", drop=(tag,))
    yield s.edit("guide", f"Remove the tag {quoted(tag)} from {s.name}", edit)


# ---- who goes in whatever the chat says -----------------------------------------------------------------------------


def constant(s: Situation) -> Iterator[Option]:
    """In at every reply."""
    if not s.entry.constant:
        title = f"Make {s.name} a constant, which goes in at every reply"
        yield s.edit("constant", title, NoteEdit.of(s.entry, "constant", value=True))


def pin(s: Situation) -> Iterator[Option]:
    """In at every reply of this chat, whatever the gates say."""
    if not any(rule.matches(s.entry) for rule in s.controls.pins):
        several = sum(entry.title.lower() == s.entry.title.lower() for entry in s.ctx.index.vault.entries) > 1
        rule = EntryRule(s.entry.title, s.entry.vault if several else None)
        yield s.choose("pin", f"Pin {s.name} in this chat", pins=(*s.controls.pins, rule))


def pin_missing(s: Situation) -> Iterator[Option]:
    """The one entry that it requires, in at every reply of this chat."""
    missing = s.titles("missing")
    if len(missing) == 1:
        pins = (*s.controls.pins, EntryRule(missing[0]))
        yield s.choose("pin_missing", f"Pin {quoted(missing[0])}, which {s.name} requires, in this chat", pins=pins)
