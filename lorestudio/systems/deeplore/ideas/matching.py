"""Changes that could let an entry in where keys, chance or a rest kept it out, and those that let it in anyway."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from lorestudio.domain.state import EntryRule
from lorestudio.systems.changes import Option
from lorestudio.systems.deeplore.ideas.situation import DeepLoreSituation, most_of
from lorestudio.systems.deeplore.stages.snapshot import scan_window
from lorestudio.systems.ideas import key_ideas
from lorestudio.trace.wording import quoted

# ---- the text that is searched --------------------------------------------------------------------------------------


def add_key(s: DeepLoreSituation) -> Iterator[Option]:
    """A key that is found in the scanned text."""
    for word in _ideas(s, s.entry.keys):
        yield s.edit("add_key", f"Add the key {quoted(word)} to {s.name}", "keys", add=(word,), group="add_key",
                     brief=f"Add the key {quoted(word)}")  # fmt: skip


def add_refine_key(s: DeepLoreSituation) -> Iterator[Option]:
    """A refine key that is found in the scanned text."""
    for word in _ideas(s, (*s.entry.refine_keys, *s.entry.keys)):
        title = f"Add the refine key {quoted(word)} to {s.name}"
        yield s.edit("add_refine_key", title, "refine_keys", add=(word,), group="add_refine_key",
                     brief=f"Add the refine key {quoted(word)}")  # fmt: skip


def _ideas(s: DeepLoreSituation, known: Sequence[str]) -> tuple[str, ...]:
    window = scan_window(s.ctx).tail(s.ctx.depth_of(s.entry))
    return key_ideas(s.entry, window, s.ctx.moment.chat, known, s.aliases, s.ctx.index.visible)


def drop_refine_keys(s: DeepLoreSituation) -> Iterator[Option]:
    """The key alone is enough."""
    title = f"Remove the refine keys of {s.name}, so that a key alone is enough"
    yield s.edit("drop_refine_keys", title, "refine_keys", brief="Remove its refine keys")


def deeper(s: DeepLoreSituation) -> Iterator[Option]:
    """More messages searched, for all entries or for this one."""
    depth, own, chat = s.ctx.settings.scan_depth, s.ctx.depth_of(s.entry), len(s.ctx.moment.chat)
    if s.entry.scan_depth is None:
        yield s.amounts("scan_depth", "scan_depth", range(depth + 1, min(most_of("scan_depth"), chat) + 1))
    first = math.floor(own) + 1 if math.isfinite(own) and own >= 0 else chat + 1
    yield s.numbered(
        "scanDepth",
        range(first, chat + 1),
        lambda number: f"Give {s.name} a scan depth of its own: {number:,}",
        "own_scan_depth",
    )


def looser(s: DeepLoreSituation) -> Iterator[Option]:
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


def new_chat(s: DeepLoreSituation) -> Iterator[Option]:
    """Bootstrap entries for longer."""
    if s.entry.bootstrap:
        numbers = range(s.ctx.settings.new_chat_threshold + 1, most_of("new_chat_threshold") + 1)
        yield s.amounts("new_chat", "new_chat_threshold", numbers)


def warm(s: DeepLoreSituation) -> Iterator[Option]:
    """Fewer mentions asked for, the most that will do."""
    if s.entry.warmup is not None:
        yield _less_of(s, "warmup", s.entry.warmup)


def certain(s: DeepLoreSituation) -> Iterator[Option]:
    """No draw."""
    title = f"Remove the probability of {s.name}, so that every hit counts"
    yield s.edit("probability", title, "probability", brief="Remove its probability")


def rested(s: DeepLoreSituation) -> Iterator[Option]:
    """A shorter cooldown, the longest that will do; it works only from the injection before on."""
    if s.entry.cooldown is not None:
        yield _less_of(s, "cooldown", s.entry.cooldown, history=True)


def _less_of(s: DeepLoreSituation, name: str, value: float, *, history: bool = False) -> Option:
    """Smaller values of a property of the note, the largest first."""

    def title(number: int) -> str:
        return f"Lower the {name} of {s.name} to {number:,}" if number else f"Remove the {name} of {s.name}"

    return s.numbered(name, range(math.ceil(value) - 1, -1, -1), title, history=history)


def no_guide(s: DeepLoreSituation) -> Iterator[Option]:
    """No writing guide any more."""
    tag = s.ctx.settings.librarian_guide_tag
    yield s.edit("guide", f"Remove the tag {quoted(tag)} from {s.name}", "tags", drop=(tag,))


# ---- who goes in whatever the chat says -----------------------------------------------------------------------------


def constant(s: DeepLoreSituation) -> Iterator[Option]:
    """In at every reply."""
    if not s.entry.constant:
        title = f"Make {s.name} a constant, which goes in at every reply"
        yield s.edit("constant", title, "constant", value=True, forced=True, brief="Make it a constant")


def pin(s: DeepLoreSituation) -> Iterator[Option]:
    """In at every reply of this chat, whatever the gates say."""
    if not any(rule.matches(s.entry) for rule in s.controls.pins):
        several = sum(entry.title.lower() == s.entry.title.lower() for entry in s.ctx.index.vault.entries) > 1
        rule = EntryRule(s.entry.title, s.entry.vault if several else None)
        brief = "Pin in this chat"
        yield s.choose("pin", f"Pin {s.name} in this chat", forced=True, brief=brief, pins=(*s.controls.pins, rule))


def pin_missing(s: DeepLoreSituation) -> Iterator[Option]:
    """The one entry that it requires, in at every reply of this chat."""
    missing = s.titles("missing")
    if len(missing) == 1:
        pins = (*s.controls.pins, EntryRule(missing[0]))
        yield s.choose(
            "pin_missing", f"Pin {quoted(missing[0])}, which {s.name} requires, in this chat", forced=True, pins=pins
        )
