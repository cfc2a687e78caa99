"""Changes that could let an entry through the gates, into the budget, or past a model.

Changes that could let an entry through a gate of the chat's context (rules: deeplore 5.2).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from lorestudio.domain.entry import Entry, FieldDefinition
from lorestudio.domain.javascript import Json, to_string
from lorestudio.domain.records import replace
from lorestudio.domain.state import ChatControls, EntryRule
from lorestudio.settings.declaration import Value
from lorestudio.settings.deeplore import DeepLoreSettings
from lorestudio.systems.changes import Change, NoteEdit, Option
from lorestudio.systems.deeplore.ideas.situation import DeepLoreSituation, most_of, setting, title_of
from lorestudio.trace.wording import joined, quoted

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
    now = s.entry.priority
    numbers = range(49 if now == 0 else math.ceil(now) - 1, LEAST_PRIORITY - 1, -1)
    if s.ctx.reversed:
        numbers = range(math.floor(now) + 1, LARGEST_PRIORITY + 1)
    words = f"instead of {now:,g}"
    yield s.numbered("priority", numbers, lambda number: f"Give {s.name} a higher priority: {number:,} {words}")


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
