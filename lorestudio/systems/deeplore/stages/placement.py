"""Placement: rendering entries, grouping them by place, and committing the prompts (rules: deeplore 5.8).

The chat's notebook and AI notepad are prompts of their own (rules: deeplore 5.10).
"""

from __future__ import annotations

import math

from msgspec import Struct

from lorestudio.domain.entry import MAX_DEPTH, Entry, Position, Role
from lorestudio.domain.javascript import number, number_text, to_number, trim
from lorestudio.domain.state import Prompt
from lorestudio.settings.deeplore import DeepLoreSettings
from lorestudio.systems.deeplore.inputs import Inputs
from lorestudio.systems.deeplore.state import Accepted, RunState
from lorestudio.systems.deeplore.text import render
from lorestudio.systems.ledger import Ledger
from lorestudio.systems.runner import stage
from lorestudio.trace.model import Injection, Phase, PromptBlock, StageRecord

SEPARATOR = "\n\n"
MANAGED_TAGS = ("deeplore_constants", "deeplore_lore")
"""Groups that a host's prompt manager may hold under their own name."""


PREFILL_TAG = "dle_response_prefill"
"""Where the host holds the beginning of the reply (rules: deeplore-newer 1.14)."""


def prefilled(prompts: tuple[Prompt, ...], ctx: Inputs) -> tuple[Prompt, ...]:
    """The prompts with the beginning of the reply as the settings want it; a quiet generation leaves it as it is."""
    settings = ctx.settings
    if not ctx.rules.prefill or ctx.moment.turn.kind == "quiet":
        return prompts
    seed = trim(settings.response_prefill_seed)
    modes = {"all-providers", "anthropic-only"} if ctx.moment.for_claude else {"all-providers"}
    if not settings.enabled or not seed or settings.response_prefill_mode not in modes:
        return tuple(prompt for prompt in prompts if prompt.tag != PREFILL_TAG)
    begun = Prompt(PREFILL_TAG, seed, Position.IN_CHAT, 0, Role.ASSISTANT)
    if all(prompt.tag != PREFILL_TAG for prompt in prompts):
        return (*prompts, begun)
    return tuple(begun if prompt.tag == PREFILL_TAG else prompt for prompt in prompts)


class PromptPlace(Struct, frozen=True):
    """Where a group goes."""

    tag: str
    position: int
    depth: float
    role: int


def clamp_depth(value: float | None) -> float:
    """A depth between 0 and the most the engine knows; anything that is no number is 0."""
    depth = to_number(value)
    return number(min(max(depth, 0), MAX_DEPTH)) if math.isfinite(depth) else 0


def _place(entry: Entry, settings: DeepLoreSettings) -> PromptPlace:
    position = settings.injection_position if entry.position is None else entry.position
    role = settings.injection_role if entry.role is None else entry.role
    depth = clamp_depth(settings.injection_depth if entry.depth is None else entry.depth)
    suffix = f"p{number_text(position)}_d{number_text(depth)}_r{number_text(role)}"
    if settings.injection_mode != "prompt_list":
        return PromptPlace(f"deeplore_{suffix}", position, depth, role)
    if entry.position is not None or entry.depth is not None or entry.role is not None:
        return PromptPlace(f"deeplore_override_{suffix}", position, depth, role)
    return PromptPlace("deeplore_constants" if entry.constant else "deeplore_lore", 0, 0, 0)


def group(accepted: list[Accepted], settings: DeepLoreSettings) -> dict[PromptPlace, list[Entry]]:
    """Entries that go to the same place, in order of the first one; outlets after all others."""
    groups: dict[PromptPlace, list[Entry]] = {}
    outlets: dict[str, list[Entry]] = {}
    for item in accepted:
        if item.entry.outlet:
            outlets.setdefault(item.entry.outlet, []).append(item.entry)
        else:
            groups.setdefault(_place(item.entry, settings), []).append(item.entry)
    for name, entries in outlets.items():
        role = next((entry.role for entry in entries if entry.role is not None), 0)
        groups[PromptPlace(f"customWIOutlet_{name}", Position.OUTLET, 0, role)] = entries
    return groups


def entry_text(entry: Entry, settings: DeepLoreSettings, *, literal: bool = False) -> str:
    """The entry in its template, as it goes into the prompt; `literal` is about `$` patterns."""
    checked = settings.rule_set.checked_template
    return render(settings.injection_template, entry.title, entry.content, literal=literal, checked=checked)


def block(
    place: PromptPlace, entries: list[Entry], settings: DeepLoreSettings, *, literal: bool = False
) -> PromptBlock:
    """The text of entries that go to one place, with the origin of each part; `literal` is about `$` patterns."""
    pieces = ((entry_text(entry, settings, literal=literal), entry.id) for entry in entries)
    return PromptBlock.of((place.tag, place.position, place.depth, place.role), pieces, SEPARATOR)


@stage("placement", Phase.INJECT)
def placement_stage(state: RunState, ctx: Inputs, ledger: Ledger) -> StageRecord:
    """Accepted entries are rendered and grouped by position, depth and role; the earlier prompts give way."""
    settings = ctx.settings
    groups = group(state.accepted, settings)
    literal = ctx.is_fixed("template_patterns")
    state.blocks = tuple(block(*one, settings, literal=literal) for one in groups.items())
    if literal and state.blocks != tuple(block(*one, settings) for one in groups.items()):
        state.note_switch("template_patterns", ledger.name, "dollar signs stayed as they are written")
    state.prompts = (
        *(prompt for prompt in state.prompts if prompt.tag == PREFILL_TAG),
        *(
            Prompt(
                part.tag,
                part.text,
                part.position,
                part.depth,
                part.role,
                scan=settings.allow_wi_scan,
                managed=settings.injection_mode == "prompt_list" and part.tag in MANAGED_TAGS,
            )
            for part in state.blocks
        ),
    )
    places = {entry: place for place, entries in groups.items() for entry in entries}
    injections: list[Injection] = []
    for item in state.accepted:
        entry, place = item.entry, places[item.entry]
        ledger.keep(entry, "placed", tag=place.tag, position=place.position, depth=place.depth, role=place.role)
        injections.append(
            Injection(
                entry=entry.id,
                title=entry.title,
                label=state.label(entry),
                tokens=entry.tokens,
                priority=entry.priority,
                position=place.position,
                depth=place.depth,
                role=place.role,
                tag=place.tag,
                content_hash=entry.content_hash,
                truncated=item.truncated,
                original_tokens=item.original_tokens,
            )
        )
    state.injections = tuple(injections)
    return ledger.close(state.candidates, note="" if state.blocks else "no_prompt")


NOTEPAD_INSTRUCTION = (
    "You may keep private notes for later turns: plans, promises, moods, open questions. If there is something worth "
    "keeping, put it at the very end of your reply, on a new line after everything else, in one single block that "
    "begins with <dle-notes> and ends with </dle-notes>. Write short lines for yourself. Never write notes as part of "
    "the story, and never speak of the notes: the reader does not see them."
)
"""What tag mode asks of the writing model; the wording is the studio's own."""


@stage("notes", Phase.INJECT)
def notes_stage(state: RunState, ctx: Inputs, ledger: Ledger) -> StageRecord:
    """Both are written only by generations that come this far."""
    settings = ctx.settings
    if not settings.notebook_enabled and not settings.ai_notepad_enabled:
        return ledger.skipped("off", {"setting": "notebookEnabled"})
    managed = settings.injection_mode == "prompt_list"
    before = state.prompts
    written: list[Prompt] = []
    notebook = trim(ctx.moment.controls.notebook)
    if settings.notebook_enabled and notebook:
        place = (settings.notebook_position, settings.notebook_depth, settings.notebook_role)
        written.append(Prompt("deeplore_notebook", notebook, *place, managed=managed))
    notepad = _notepad(ctx)
    if settings.ai_notepad_enabled and notepad:
        place = (settings.ai_notepad_position, settings.ai_notepad_depth, settings.ai_notepad_role)
        written.append(Prompt("deeplore_ai_notepad", notepad, *place, managed=managed))
    tags = [prompt.tag for prompt in written]
    state.prompts = (*(prompt for prompt in before if prompt.tag not in tags), *written)
    if state.outcome is not None and state.prompts != before:
        state.note_switch("notes_without_lore", ledger.name, "they went in without lore")
    return ledger.close(state.candidates, details={"prompts": tags})


def _notepad(ctx: Inputs) -> str:
    parts: list[str] = []
    notes = trim(ctx.moment.controls.notepad)
    if notes:
        parts.append(f"[Your previous session notes]\n{notes}\n[End of session notes]")
    if ctx.settings.ai_notepad_mode == "tag":
        own = ctx.settings.ai_notepad_prompt
        parts.append(own if trim(own) else NOTEPAD_INSTRUCTION)
    return "\n\n".join(parts)
