"""Which single changes could bring an entry in, or keep one out, by what stopped it or brought it in.

That may be at the keys, at a gate of the chat's context (rules: deeplore 5.2), in the budget, or before a model.
Nothing is decided here: the changes are only such as can concern that stage, and whether one of them works is found by
running the engine with it (`studio.tryout.why_not`). Where an amount is needed, all amounts are offered, least first.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Final, TypeAlias

from lorestudio.domain.entry import Entry, FieldDefinition
from lorestudio.domain.javascript import Json, to_string
from lorestudio.domain.json_text import texts_in
from lorestudio.domain.records import field_names, replace
from lorestudio.domain.state import ChatControls, EntryRule
from lorestudio.settings.declaration import Declaration, Value
from lorestudio.settings.deeplore import DeepLoreSettings, declarations
from lorestudio.systems import ideas
from lorestudio.systems.deeplore.inputs import Inputs
from lorestudio.systems.deeplore.matching.key_search import would_match
from lorestudio.systems.deeplore.stages.snapshot import scan_window
from lorestudio.systems.ideas import Change, NoteEdit, Option, Steps, always, declared_setting, key_ideas
from lorestudio.trace.model import FALSY_PRIORITY, Outcome, Verdict
from lorestudio.trace.wording import joined, quoted

_DECLARED: Final[Mapping[str, Declaration]] = MappingProxyType({each.name: each for each in declarations()})


def title_of(name: str) -> str:
    """What the settings pane calls a setting, in quotation marks."""
    return f"“{_DECLARED[name].title}”"


def most_of(name: str) -> int:
    """The largest value that a number setting takes."""
    high = _DECLARED[name].high
    return 0 if high is None else int(high)


def setting(code: str, name: str, value: Value, before: Value) -> Change:
    """One setting with another value."""
    return declared_setting(code, _DECLARED[name], value, before)


class DeepLoreSituation(ideas.Situation, frozen=True, kw_only=True):
    """The same with the inputs of the run, for a note, which every entry is here.

    With `stand_in` the modes that ask a model are offered, because somebody answers for it at once.
    """

    ctx: Inputs
    note: Entry
    stand_in: bool = False

    @classmethod
    def of(cls, known: ideas.Situation, ctx: Inputs, *, stand_in: bool) -> DeepLoreSituation:
        """The situation with these inputs."""
        values = {name: getattr(known, name) for name in field_names(type(known))}
        return cls(**values, ctx=ctx, stand_in=stand_in)

    @property
    def entry(self) -> Entry:
        """The entry."""
        return self.note

    @property
    def name(self) -> str:
        """The entry's title in quotation marks."""
        return quoted(self.entry.title)

    def titles(self, name: str) -> tuple[str, ...]:
        """The titles that the verdict names."""
        return texts_in(self.fate.details.get(name))

    def set(self, code: str, name: str, value: Value) -> Option:
        """One setting with another value."""
        return Option((setting(code, name, value, getattr(self.ctx.settings, name)),))

    def amounts(self, code: str, name: str, numbers: Sequence[int]) -> Option:
        """One setting with each of these values."""
        before: Value = getattr(self.ctx.settings, name)
        return Option(Steps(numbers, lambda value: setting(code, name, value, before)))

    def choose(self, code: str, title: str, *, forced: bool = False, brief: str = "", **parts: object) -> Option:
        """The chat's choices with other `pins`, `blocks`, `folders` or `context`."""
        return Option((Change(code, title, controls=replace(self.controls, **parts), forced=forced, brief=brief),))  # type: ignore[arg-type]  # by name

    def edit(
        self,
        code: str,
        title: str,
        name: str,
        value: Json = None,
        *,
        group: str = "",
        add: tuple[str, ...] = (),
        drop: tuple[str, ...] = (),
        forced: bool = False,
        brief: str = "",
    ) -> Option:
        """One property of the note with another value, or without items; it goes where nothing else is said."""
        removed = value is None and not add and not drop
        note = NoteEdit.of(self.entry, name, value, removed=removed, add=add, drop=drop)
        return Option((Change(code, title, note=note, forced=forced, brief=brief),), group)

    def numbered(
        self, name: str, numbers: Sequence[int], title: Callable[[int], str], code: str = "", *, history: bool = False
    ) -> Option:
        """One property of the note with each of these numbers; instead of 0 it goes."""
        words = "Own scan depth" if name == "scanDepth" else name.capitalize()

        def make(number: int) -> Change:
            note = NoteEdit.of(self.entry, name, number or None, removed=not number)
            brief = f"{words} {number:,}" if number else f"No {words.lower()}"
            return Change(code or name, title(number), note=note, brief=brief)

        return Option(Steps(numbers, make), through_history=history)


TOLERANCES: Final = ("strict", "moderate", "lenient")
_MOST_VALUES: Final = 4
_MARGINS: Final[Mapping[str, int]] = {"lt": 1, "gt": -1}
"""How far the chat's value has to be from the note's where one must be the greater one."""


def context_changes(
    entry: Entry,
    details: Mapping[str, Json],
    fields: Sequence[FieldDefinition],
    controls: ChatControls,
    settings: DeepLoreSettings,
) -> Iterator[Change]:
    """The chat's value as the note has it, or none; the note's as the chat has it, or none; a looser tolerance.

    `details` are those of the verdict `gated_field`.
    """
    field = next((each for each in fields if each.name == details.get("field")), None)
    if field is None:
        return
    label, theirs = field.label, controls.context.get(field.key)
    for value in _chat_values(field, entry.custom_fields.get(field.name)):
        context = {**controls.context, field.key: [value] if isinstance(theirs, list | tuple) else value}
        title = f"Set the chat's {label} to {quoted(to_string(value))}"
        brief = f"Chat's {label}: {quoted(to_string(value))}"
        yield Change("context", title, controls=replace(controls, context=context), brief=brief)
    if field.key in controls.context:
        context = {key: value for key, value in controls.context.items() if key != field.key}
        title = f"Clear the chat's {label}, so that nothing is filtered by it"
        brief = f"Clear the chat's {label}"
        yield Change("no_context", title, controls=replace(controls, context=context), brief=brief)
    yield from _note_changes(entry, field, theirs)
    now = settings.contextual_gating_tolerance
    place = TOLERANCES.index(now) if now in TOLERANCES else 0
    for looser in TOLERANCES[place + 1 :]:
        yield setting("tolerance", "contextual_gating_tolerance", looser, now)


def _note_changes(entry: Entry, field: FieldDefinition, theirs: Json) -> Iterator[Change]:
    name = quoted(entry.title)
    chat_values = _values(theirs)
    if field.multi and chat_values:
        enough = chat_values if field.operator == "match_all" else chat_values[:1]
        items = tuple(to_string(value) for value in enough)
        title = f"Add {joined([quoted(item) for item in items])} to the {field.label} of {name}"
        brief = f"Add {joined([quoted(item) for item in items])} to its {field.label}"
        yield Change("field", title, note=NoteEdit.of(entry, field.name, add=items), brief=brief)
    elif chat_values and field.operator not in _MARGINS:
        title = f"Set the {field.label} of {name} to {quoted(to_string(chat_values[0]))}"
        yield Change("field", title, note=NoteEdit.of(entry, field.name, chat_values[0]))
    if field.name in entry.custom_fields:
        title = f"Remove the {field.label} of {name}, so that it fits every chat"
        edit = NoteEdit.of(entry, field.name, removed=True)
        yield Change("no_field", title, note=edit, brief=f"Remove its {field.label}")


def _chat_values(field: FieldDefinition, mine: Json) -> list[Json]:
    """Values of the chat's that the note's own fits: the same one, or the next one above or below."""
    margin = _MARGINS.get(field.operator)
    if margin is None:
        return _values(mine)
    return [mine + margin] if isinstance(mine, int | float) and not isinstance(mine, bool) else []


def _values(value: Json) -> list[Json]:
    items = list(value) if isinstance(value, list | tuple) else [value]
    return [item for item in items if item is not None and item != ""][:_MOST_VALUES]


LEAST_PRIORITY: Final = 1
"""The number that comes first; 0 counts as 50 in the order of the budget (rules: deeplore 5.5)."""

LARGEST_PRIORITY: Final = 1000
"""Notes behind this number are rare; a number that goes in there still does so for want of rivals."""


# ---- gates ----------------------------------------------------------------------------------------------------------


def gates(s: DeepLoreSituation) -> Iterator[Option]:
    """What `context_changes` knows about the field that stopped it."""
    for change in context_changes(s.entry, s.fate.details, s.ctx.index.vault.fields, s.controls, s.ctx.settings):
        yield Option((change,))


def folders(s: DeepLoreSituation) -> Iterator[Option]:
    """The folder filter with its folder, or none."""
    folder = s.entry.folder
    if folder:
        title = f"Add {quoted(folder)} to the chat's folder filter"
        yield s.choose("add_folder", title, folders=(*s.controls.folders, folder))
    yield s.choose("no_folders", "Clear the chat's folder filter", folders=())


def unblock(s: DeepLoreSituation) -> Iterator[Option]:
    """No block of this title any more."""
    blocks = tuple(rule for rule in s.controls.blocks if not rule.matches(s.entry))
    yield s.choose("unblock", f"Remove {s.name} from the chat's blocks", brief="Unblock it", blocks=blocks)


def unpin_other(s: DeepLoreSituation) -> Iterator[Option]:
    """The note of the same title that took its place is pinned no longer."""
    pins = tuple(rule for rule in s.controls.pins if rule.title.lower() != s.entry.title.lower())
    yield s.choose("unpin", f"Unpin the other note called {s.name}", pins=pins)


def shorter_pause(s: DeepLoreSituation) -> Iterator[Option]:
    """A shorter pause after an injection, the longest that will do."""
    yield s.amounts("pause", "reinjection_cooldown", range(s.ctx.settings.reinjection_cooldown - 1, -1, -1))


def requires(s: DeepLoreSituation) -> Iterator[Option]:
    """Without what is missing in its requires."""
    missing = s.titles("missing")
    if missing:
        yield _references_dropped(s, "requires", missing, f"no longer require {_list(missing)}")


def excludes(s: DeepLoreSituation) -> Iterator[Option]:
    """Without what is in its way among its excludes, or with that blocked."""
    others = s.titles("titles")
    if others:
        yield _references_dropped(s, "excludes", others, f"no longer exclude {_list(others)}")
        blocks = (*s.controls.blocks, *map(EntryRule, others))
        yield s.choose(
            "block_other", f"Block {_list(others)}, which {s.name} excludes, in this chat", forced=True, blocks=blocks
        )


def _references_dropped(s: DeepLoreSituation, name: str, titles: Sequence[str], words: str) -> Option:
    """The note without these titles in one of its lists, as they are written there."""
    stay = {title.lower() for title in titles}
    written = getattr(s.entry, f"written_{name}") or getattr(s.entry, name)
    dropped = tuple(title for title in written if title.lower() in stay)
    return s.edit(name, f"Let {s.name} {words}", name, drop=() if len(dropped) == len(written) else dropped)


def duplicates(s: DeepLoreSituation) -> Iterator[Option]:
    """Duplicates looked for less far back, or not at all."""
    yield s.amounts("lookback", "strip_lookback_depth", range(s.ctx.settings.strip_lookback_depth - 1, 0, -1))
    yield s.set("duplicates", "strip_duplicate_injections", value=False)


# ---- the budget -----------------------------------------------------------------------------------------------------


def budget(s: DeepLoreSituation) -> Iterator[Option]:
    """A larger token budget, more entries, or both where the entry needs both."""
    settings = s.ctx.settings
    if not settings.unlimited_budget:
        tokens = range(settings.max_tokens_budget + 1, most_of("max_tokens_budget") + 1)
        yield s.amounts("token_budget", "max_tokens_budget", tokens)
    if not settings.unlimited_entries:
        entries = range(settings.max_entries + 1, most_of("max_entries") + 1)
        yield s.amounts("entry_cap", "max_entries", entries)
    number, demand = s.trace.queue.get(s.entry.id, (0, 0))
    both = {"max_tokens_budget": math.ceil(demand), "max_entries": number}
    if not (settings.unlimited_budget or settings.unlimited_entries) and all(
        getattr(settings, name) < value <= most_of(name) for name, value in both.items()
    ):
        raised = " and ".join(f"{title_of(name)} to {value:,}" for name, value in both.items())
        brief = f"{title_of('max_tokens_budget')} {both['max_tokens_budget']:,}, {number} entries"
        yield Option((Change("budget_and_cap", f"Raise {raised}", settings=both, brief=brief),))


def earlier(s: DeepLoreSituation) -> Iterator[Option]:
    """A priority that comes before others in the order of the budget."""
    yield _reranked(s, "higher", up=s.ctx.reversed)


def _reranked(s: DeepLoreSituation, word: str, *, up: bool) -> Option:
    """The next priority, then those further away; 0 counts as 50 where the lowest comes first."""
    now = s.entry.priority
    start = FALSY_PRIORITY if now == 0 and not s.ctx.reversed else now
    down = range(math.ceil(start) - 1, LEAST_PRIORITY - 1, -1)
    numbers = range(math.floor(start) + 1, LARGEST_PRIORITY + 1) if up else down
    words = f"instead of {now:,g}"
    return s.numbered("priority", numbers, lambda number: f"Give {s.name} a {word} priority: {number:,} {words}")


# ---- the model ------------------------------------------------------------------------------------------------------


def modes(s: DeepLoreSituation) -> Iterator[Option]:
    """Another way to select."""
    settings = s.ctx.settings
    asks = settings.ai_search_enabled
    if asks:
        title = "Choose by keywords only, without a model"
        yield Option((Change("mode", title, settings={"ai_search_enabled": False}),))
    if s.stand_in:
        for mode, words in (("two-stage", "two-stage"), ("ai-only", "AI-only")):
            if not asks or settings.ai_search_mode != mode:
                values: Mapping[str, Value] = {"ai_search_enabled": True, "ai_search_mode": mode}
                yield Option((Change("mode", f"Choose in {words} mode, by a model", settings=values),))


def model(s: DeepLoreSituation) -> Iterator[Option]:
    """What decides beside the model that did not choose it, or was not asked about it."""
    settings, reason = s.ctx.settings, s.fate.reason
    if reason == "below_confidence":
        yield s.set("confidence", "ai_confidence_threshold", value=str(s.fate.details.get("confidence", "low")))
    if reason == "prefilter_dropped":
        yield s.set("prefilter", "hierarchical_pre_filter", value=False)
    if reason == "not_offered" and settings.manifest_summary_mode == "summary_only":
        yield s.set("summaries", "manifest_summary_mode", value="prefer_summary")
    if reason == "fallback_dropped":
        for name in ("ai_error_fallback", "ai_empty_fallback"):
            if getattr(settings, name) != "keyword":
                change = setting("fallback", name, "keyword", getattr(settings, name))
                title = f"Let {title_of(name)} take what the keys match"
                yield Option((replace(change, title=title),))


def _list(titles: Sequence[str]) -> str:
    return joined([quoted(title) for title in titles])


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
        yield Option((always(s.entry),))


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


Maker: TypeAlias = Callable[[DeepLoreSituation], Iterator[Option]]


def options(s: DeepLoreSituation) -> tuple[Option, ...]:
    """What to try: to bring the entry in likely ones first, to keep it out what touches least first."""
    tried: Iterable[Option] = ()
    if s.keeps_out:
        tried = _keeping_out(s)
    elif not s.fate.state.went_in:
        tried = (option for maker in _BY_REASON.get(s.fate.reason, _NOT_MATCHED) for option in maker(s))
    return tuple(each for each in tried if len(each.steps) and (s.editable or each.steps[0].note is None))


_NOT_MATCHED: Final[tuple[Maker, ...]] = (add_key, deeper, looser, new_chat, pin, constant, modes)
_GATED: Final[tuple[Maker, ...]] = (pin, constant)
_CUT: Final[tuple[Maker, ...]] = (earlier, budget, pin)
_NOT_CHOSEN: Final[tuple[Maker, ...]] = (model, pin, constant, modes)

_BY_REASON: Final[Mapping[str, tuple[Maker, ...]]] = {
    "refine_blocked": (add_refine_key, drop_refine_keys, deeper, looser, pin, constant),
    "refine_logic": (drop_refine_keys, deeper, pin, constant),
    "warmup_short": (warm, deeper, pin, constant),
    "probability_zero": (certain, pin, constant),
    "probability_lost": (certain, pin, constant),
    "cooling_down": (rested, pin, constant),
    "guide_hidden": (no_guide,),
    "gated_field": (gates, *_GATED),
    "outside_folders": (folders, *_GATED),
    "blocked": (unblock,),
    "replaced_by_pin": (unpin_other,),
    "reinjection_pause": (shorter_pause, *_GATED),
    "missing_requirement": (requires, pin_missing, *_GATED),
    "excluded_by": (excludes, earlier, *_GATED),
    "already_in_context": (duplicates, *_GATED),
    "over_entry_cap": _CUT,
    "over_budget": _CUT,
    "behind_cut": _CUT,
    "ai_not_selected": _NOT_CHOSEN,
    "below_confidence": _NOT_CHOSEN,
    "not_offered": _NOT_CHOSEN,
    "nothing_offered": _NOT_CHOSEN,
    "prefilter_dropped": _NOT_CHOSEN,
    "fallback_dropped": _NOT_CHOSEN,
}


def _keeping_out(s: DeepLoreSituation) -> Iterator[Option]:
    verdicts = [
        verdict
        for record in s.trace.stages
        for verdict in record.verdicts
        if verdict.entry == s.entry.id and verdict.outcome in {Outcome.ADDED, Outcome.CHANGED}
    ]
    for verdict in verdicts:
        yield from _without(s, verdict)
    rule = EntryRule(s.entry.title)
    yield s.choose("block", f"Block {s.name} in this chat", forced=True, blocks=(*s.controls.blocks, rule))
    yield from _later(s)
    yield s.edit("disable", f"Switch the note {s.name} off", "enabled", value=False, forced=True)


def _without(s: DeepLoreSituation, verdict: Verdict) -> Iterator[Option]:
    """Without what brought it in."""
    entry, settings, reason = s.entry, s.ctx.settings, verdict.reason
    key = verdict.details.get("key")
    if reason in {"key_hit", "relabeled", "recursion"} and isinstance(key, str):
        yield _fewer_keys(s, key)
    if reason == "key_hit":
        yield s.amounts("scan_depth", "scan_depth", range(settings.scan_depth - 1, 0, -1))
    if reason == "constant" and settings.constant_tag.lower() in entry.tags:
        tag = settings.constant_tag
        yield s.edit("constant", f"Remove the tag {quoted(tag)} of {s.name}", "tags", drop=(tag,))
    elif reason == "constant":
        yield s.edit("constant", f"Make {s.name} no constant", "constant")
    if reason == "recursion":
        yield s.set("recursion", "recursive_scan", value=False)
    if reason == "fuzzy":
        yield s.set("fuzzy", "fuzzy_search_enabled", value=False)
    if reason == "active_character":
        yield s.set("active_character", "character_context_scan", value=False)
    if reason in {"pinned", "pin_upgraded"}:
        pins = tuple(rule for rule in s.controls.pins if not rule.matches(entry))
        yield s.choose("unpin", f"Unpin {s.name}", pins=pins)


def _fewer_keys(s: DeepLoreSituation, key: str) -> Option:
    """Without the key that hit, then without the others that are found too, and at last without any."""
    found = [each.key for each in would_match(s.ctx, s.entry).keys if each.found]
    keys = tuple(dict.fromkeys([key, *found, *s.entry.keys]))

    def make(number: int) -> Change:
        words = joined([quoted(each) for each in keys[:number]])
        title = f"Remove the {'key' if number == 1 else 'keys'} {words} of {s.name}"
        return Change("drop_key", title, note=NoteEdit.of(s.entry, "keys", drop=keys[:number]))

    return Option(Steps(range(1, len(keys) + 1), make))


def _later(s: DeepLoreSituation) -> Iterator[Option]:
    if not (s.ctx.settings.unlimited_budget and s.ctx.settings.unlimited_entries):
        yield _reranked(s, "lower", up=not s.ctx.reversed)
