"""Behaviour switches: known quirks of DeepLore, each reproduced by default and each of them mendable.

What is tuned here has to run there, so the default is always DeepLore's own behaviour; a trace says where a switch made
a difference. Rules: deeplore-tools 7.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, Literal

from pydantic import BaseModel

from lorestudio.settings.declaration import Switch, declared_switches, switch

Choice = Literal["deeplore", "fixed"]
FIXED: Final = "fixed"


def _switch(title: str, deeplore: str, fixed: str, affects: str) -> Choice:
    """Declare one switch: what DeepLore does, what the mended behaviour does, and the stage it concerns."""
    return switch("deeplore", title, f"As DeepLore: {deeplore} Fixed: {fixed}", [affects])


class Behaviour(BaseModel, frozen=True, extra="forbid"):
    """Every switch with its choice; all as in DeepLore unless said otherwise."""

    duplicate_log: Choice = _switch(
        "Duplicate stripping",
        "lore of recent turns is stripped, but only after an AI selection that came from the cache.",
        "nothing is stripped, because the prompt is made anew in every turn.",
        "duplicate stripping",
    )
    cache_same_candidates: Choice = _switch(
        "Cached selection for the same candidates",
        "in two-stage mode the cached selection stands as long as the candidates are the same, whatever is said.",
        "the conversation has to be the same too, or to name nothing new.",
        "AI selection",
    )
    trailing_reply: Choice = _switch(
        "Trailing reply",
        "the AI selection never sees a reply that ends the chat.",
        "it is hidden only when it is being replaced.",
        "AI selection",
    )
    window_filter: Choice = _switch(
        "Hidden messages in the window",
        "hidden and system messages use up places of the scan window.",
        "the window counts only messages that are searched.",
        "keywords",
    )
    bootstrap_fallback: Choice = _switch(
        "Fallback on bootstrap entries",
        "the constants are left out.",
        "constants and bootstrap entries go in.",
        "AI selection",
    )
    confidence_order: Choice = _switch(
        "Order after the AI's choice",
        "priority and title decide who meets the budget first.",
        "what the AI was surer of comes first, then priority and title.",
        "priority order",
    )
    fill_count: Choice = _switch(
        "How many entries a new chat asks for",
        "the model is told two different numbers.",
        "it is told one.",
        "AI selection",
    )
    header_count: Choice = _switch(
        "Count of entries that are always included",
        "entries without a summary are counted as always included.",
        "only entries that go in are counted.",
        "manifest",
    )
    untagged_category: Choice = _switch(
        "Category of untagged notes",
        "notes without further tags are uncategorized, even in a folder.",
        "their top folder is their category.",
        "category prefilter",
    )
    probe_leak: Choice = _switch(
        "Probe of the circuit breaker",
        "a probe that ends in a timeout, a refusal or an unusable prefilter answer blocks AI calls for up to a minute.",
        "it is given back.",
        "AI selection",
    )
    notes_without_lore: Choice = _switch(
        "Notebook without lore",
        "notebook and notepad are left out of a turn in which no lore is left.",
        "they go in all the same.",
        "notes",
    )
    template_patterns: Choice = _switch(
        "Dollar signs in notes",
        "$&, $$ and the like in titles and texts are replaced by parts of the template.",
        "texts go in as they are.",
        "placement",
    )
    title_collisions: Choice = _switch(
        "Equal titles", "entries of the same title share one match reason.", "each keeps its own.", "match order"
    )
    field_tolerance: Choice = _switch(
        "Tolerance of gating fields",
        "a field without a tolerance of its own is moderate, and the setting for all fields has no effect.",
        "the setting for all fields holds for it.",
        "contextual gating",
    )
    guide_leak: Choice = _switch(
        "Guides in fuzzy search",
        "notes for the Librarian alone can reach the prompt through fuzzy search.",
        "they cannot.",
        "BM25",
    )
    kept_notes: Choice = _switch(
        "Notes read again in a scenario",
        "where only changes are read, other notes stay as indexed: a merged text is merged again, a reference once "
        "taken out stays out.",
        "the whole index is made anew.",
        "snapshot",
    )


def switches() -> tuple[Switch, ...]:
    """All switches in reading order."""
    return declared_switches(Behaviour)


def fixed(names: Iterable[str]) -> Behaviour:
    """The behaviour with these switches fixed; `all` means every one. Raises ValueError naming an unknown switch."""
    known = {switch.name for switch in switches()}
    wanted = set(names)
    if "all" in wanted:
        wanted = known
    unknown = sorted(wanted - known)
    if unknown:
        message = f"There is no behaviour switch called {unknown[0]!r}. There are: all, {', '.join(sorted(known))}."
        raise ValueError(message)
    return Behaviour.model_validate(dict.fromkeys(wanted, FIXED))
