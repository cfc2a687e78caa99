"""Gates that candidates pass: pins and blocks, the folder filter, contextual gating (once within the selection,
once after pins), what went in lately, requires and excludes (rules: deeplore 5.1, 4.10, 5.9, 4.3, 5.2, 5.3, 5.6,
5.5).
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Container, Iterable, Sequence
from typing import Final

from lorestudio.domain.collation import CollationKey, sort_key
from lorestudio.domain.entry import Entry
from lorestudio.domain.javascript import Json
from lorestudio.domain.records import replace
from lorestudio.domain.state import LoggedInjection
from lorestudio.settings.deeplore import DeepLoreSettings
from lorestudio.settings.rules import OLD_RULES, RuleSet
from lorestudio.systems.deeplore.gating import Policy, looked_at, rejecting_field
from lorestudio.systems.deeplore.inputs import Inputs
from lorestudio.systems.deeplore.stages.order import order_details, put_surest_first
from lorestudio.systems.deeplore.state import RunState
from lorestudio.systems.ledger import Ledger
from lorestudio.systems.runner import FunctionStage, stage
from lorestudio.trace.model import Phase, RunOutcome, StageRecord

PIN_PRIORITY = 10


@stage("pins and blocks", Phase.GATE)
def pins_and_blocks_stage(state: RunState, ctx: Inputs, ledger: Ledger) -> StageRecord:
    """Pinned entries come in as constants of priority 10; then blocked ones leave, pinned or not."""
    pins, blocks = ctx.moment.controls.pins, ctx.moment.controls.blocks
    if not pins and not blocks:
        return ledger.skipped("no_pins_or_blocks")
    before = list(state.candidates)
    added = _pin(state, ctx, ledger) if pins else []
    present = {entry.id for entry in state.candidates}
    for entry in _once([*before, *added]):
        if entry.id not in present:
            # Two notes of one vault share a title: the pinned one took the other's place.
            ledger.remove(entry, "replaced_by_pin", title=entry.title)
    blocked = [entry for entry in state.candidates if any(block.matches(entry) for block in blocks)]
    for entry in _once(blocked):
        ledger.remove(entry, "blocked")
    gone = {entry.id for entry in blocked}
    state.candidates = [entry for entry in state.candidates if entry.id not in gone]
    # Of two notes of one vault with the same title only a copy that was pinned counts as pinned.
    pinned: list[Json] = [entry.id for entry in state.candidates if entry is not ctx.index.vault.entries[entry.id]]
    return ledger.close(state.candidates, details={"pinned": pinned})


def _once(entries: Iterable[Entry]) -> list[Entry]:
    """The entries without repetitions."""
    return list({entry.id: entry for entry in entries}.values())


def _pin(state: RunState, ctx: Inputs, ledger: Ledger) -> list[Entry]:
    """Put every pinned entry in the place of the first candidate with its tracker key, or at the end.

    Returns those that were no candidates before.
    """
    present = {entry.id for entry in state.candidates}
    added: list[Entry] = []
    places: dict[str, int] = {}
    for number, entry in enumerate(state.candidates):
        places.setdefault(entry.tracker_key, number)
    for entry in ctx.index.visible:
        if not any(pin.matches(entry) for pin in ctx.moment.controls.pins):
            continue
        pinned = replace(entry, constant=True, priority=PIN_PRIORITY)
        place = places.get(entry.tracker_key)
        if place is None:
            places[entry.tracker_key] = len(state.candidates)
            state.candidates.append(pinned)
            state.set_label(entry, "(pinned)")
        else:
            state.candidates[place] = pinned
        if entry.id in present:
            ledger.change(entry, "pin_upgraded", priority=PIN_PRIORITY)
        else:
            ledger.add(entry, "pinned")
            added.append(entry)
    return added


def inside(entry: Entry, folders: tuple[str, ...]) -> bool:
    """Whether the entry lies at the root, in one of the folders, or below one."""
    return not entry.folder or any(
        entry.folder == folder or entry.folder.startswith(f"{folder}/") for folder in folders
    )


def _filter(state: RunState, ctx: Inputs, ledger: Ledger) -> StageRecord:
    """Entries outside the chosen folders leave, but for those exempt by the policy of the candidates and the pins."""
    folders = ctx.moment.controls.folders
    if not folders:
        return ledger.skipped("no_folder_filter")
    policy = state.policy_at_hand(ctx)
    before = len(state.candidates)
    kept: list[Entry] = []
    for entry in state.candidates:
        if inside(entry, folders) or policy.spares(entry, ledger, "outside_folders"):
            kept.append(entry)
        else:
            ledger.remove(entry, "outside_folders", folder=entry.folder, folders=list(folders))
    state.candidates = kept
    return ledger.close(kept, details={"folders": list(folders), "before": before, "after": len(kept)})


pre_folder_filter_stage: Final = FunctionStage("pre-folder filter", Phase.GATE, _filter)
folder_filter_stage: Final = FunctionStage("folder filter", Phase.GATE, _filter)


def _gate(state: RunState, ctx: Inputs, ledger: Ledger, policy: Policy) -> StageRecord:
    """Entries whose fields do not fit the chat's context leave, exempt ones stay."""
    rules, context = ctx.rules, ctx.moment.controls.context
    fields = looked_at(ctx.index.vault.fields, context, rules)
    if not fields:
        return ledger.skipped("no_context")
    kept: list[Entry] = []
    tolerance, inherit = ctx.settings.contextual_gating_tolerance, ctx.is_fixed("field_tolerance")
    turned: list[str] = []
    for entry in state.candidates:
        gate = rejecting_field(entry, fields, context, tolerance, rules, inherit=inherit)
        if inherit and entry not in policy:
            exact = rejecting_field(entry, fields, context, tolerance, rules)
            turned += [entry.title] if (gate is None) is not (exact is None) else []
        if gate is None or policy.spares(entry, ledger, "gated_field"):
            kept.append(entry)
        else:
            ledger.remove(
                entry,
                "gated_field",
                field=gate.field.name,
                label=gate.field.label,
                entry_value=gate.entry_value,
                context_value=gate.context_value,
                operator=gate.field.operator,
                tolerance=gate.tolerance,
            )
    if turned:
        others = f" and {len(turned) - 1} more" if len(turned) > 1 else ""
        state.note_switch("field_tolerance", ledger.name, f"the setting decides about {turned[0]}{others}")
    state.candidates = kept
    return ledger.close(kept)


def _gate_among_themselves(state: RunState, ctx: Inputs, ledger: Ledger) -> StageRecord:
    """Gate the candidates under the policy drawn from themselves and the pins."""
    return _gate(state, ctx, ledger, state.policy_at_hand(ctx))


pre_gating_stage: Final = FunctionStage("pre-gating", Phase.GATE, _gate_among_themselves)
selection_gating_stage: Final = FunctionStage("contextual gating (selection)", Phase.GATE, _gate_among_themselves)


@stage("contextual gating", Phase.GATE)
def final_gating_stage(state: RunState, ctx: Inputs, ledger: Ledger) -> StageRecord:
    """Gate what is left after pins and blocks under the policy of the whole index; with nothing left the run ends."""
    record = _gate(state, ctx, ledger, state.policy)
    if not state.candidates:
        state.outcome = RunOutcome.EMPTY_AFTER_GATING
    return record


@stage("re-injection cooldown", Phase.GATE)
def reinjection_cooldown_stage(state: RunState, ctx: Inputs, ledger: Ledger) -> StageRecord:
    """An injected entry is left out for the next N generations, exempt ones are not; with nothing left the run ends."""
    pause = ctx.settings.reinjection_cooldown
    if pause <= 0:
        return ledger.skipped("off", {"setting": "reinjectionCooldown"})
    now = state.counters.generation_count
    kept: list[Entry] = []
    for entry in state.candidates:
        last = state.counters.injection_history.get(entry.tracker_key)
        if last is None or now - last >= pause or state.policy.spares(entry, ledger, "reinjection_pause"):
            kept.append(entry)
        else:
            ledger.remove(entry, "reinjection_pause", left=pause - (now - last), window=pause)
    state.candidates = kept
    if not kept:
        state.outcome = RunOutcome.EMPTY_AFTER_REINJECTION
    return ledger.close(kept)


def logged(entry: Entry, settings: DeepLoreSettings) -> LoggedInjection:
    """The entry as the duplicate log names it: where it goes, the hash of its file, and in 2.6 its vault."""
    return LoggedInjection(
        entry.title,
        settings.injection_position if entry.position is None else entry.position,
        settings.injection_depth if entry.depth is None else entry.depth,
        settings.injection_role if entry.role is None else entry.role,
        entry.content_hash,
        entry.vault if settings.rule_set.vault_in_log else "",
    )


@stage("duplicate stripping", Phase.GATE)
def duplicate_stripping_stage(state: RunState, ctx: Inputs, ledger: Ledger) -> StageRecord:
    """Entries that the log's last records hold at the same place leave, exempt ones stay.

    The log is emptied first unless the AI selection was answered from its cache, so in 2.0.2's keywords-only mode
    nothing is ever stripped. In 2.6 it is kept where no model was asked (rules: deeplore-newer 1.8).
    """
    settings = ctx.settings
    if not settings.strip_duplicate_injections:
        return ledger.skipped("off", {"setting": "stripDuplicateInjections"})
    cleared = ""
    asked = state.ai_cached is False if ctx.rules.kept_log else state.ai_cached is not True
    if state.regenerated or asked:
        cleared = "log_cleared" if state.injection_log else ""
        state.injection_log = ()
    why = "swipe" if state.regenerated else "no cached AI selection"
    details: dict[str, Json] = {"log_length": len(state.injection_log), "why": why}
    recent = {
        injection for record in state.injection_log[-settings.strip_lookback_depth :] for injection in record.entries
    }
    kept: list[Entry] = []
    spared = False
    for entry in state.candidates:
        if not recent or logged(entry, settings) not in recent:
            kept.append(entry)
        elif ctx.is_fixed("duplicate_log"):
            kept.append(entry)
            spared = spared or entry not in state.policy
        elif state.policy.spares(entry, ledger, "already_in_context"):
            kept.append(entry)
        else:
            ledger.remove(entry, "already_in_context", generations=settings.strip_lookback_depth)
    if spared:
        state.note_switch("duplicate_log", ledger.name, "nothing was stripped")
    state.candidates = kept
    return ledger.close(kept, note=cleared, details=details)


PASSES = 10
"""Passes after which the rest stays as it is."""

_DEFAULT_PRIORITY = 50
"""What a priority of 0 counts as in this stage in 2.0.2."""

_DETAIL = {"missing_requirement": "missing", "excluded_by": "titles"}
"""Where a verdict names the titles."""


def _importance(rules: RuleSet) -> Callable[[Entry], float]:
    """What an entry's priority counts as in this stage (rules: deeplore-newer 1.6)."""
    default = 0 if rules.zero_priority else _DEFAULT_PRIORITY
    return lambda entry: entry.priority or default


def _objection(entry: Entry, present: Container[str]) -> tuple[str, list[str]]:
    """What speaks against the entry: a reason code, and the titles that are missing or in the way (none: nothing)."""
    if not (entry.requires or entry.excludes):
        return "", []
    missing = [title for title in entry.requires if title.lower() not in present]
    if missing:
        return "missing_requirement", missing
    return "excluded_by", [title for title in entry.excludes if title.lower() in present]


def resolve(
    entries: list[Entry],
    policy: Policy,
    ledger: Ledger | None = None,
    *,
    rules: RuleSet = OLD_RULES,
    reverse: bool = False,
) -> list[Entry]:
    """The entries whose requirements are met and whose exclusions are absent, most important first.

    The least important ones are looked at first; a removed entry's title counts as absent at once, in 2.6 when it was
    the last one of that title. With `reverse` a higher priority is the more important one.
    """
    importance, sign = _importance(rules), -1 if reverse else 1
    by_vault, counted = rules.reversed_priority, rules.counted_titles

    def names(entry: Entry) -> tuple[CollationKey, CollationKey]:
        return sort_key(entry.title), sort_key(entry.vault if by_vault else "")

    by_name = sorted(entries, key=names)  # what is sorted again stays in this order where it is equally important
    most_first = sorted(by_name, key=lambda entry: sign * importance(entry))
    if not any(entry.requires or entry.excludes for entry in entries):
        return most_first
    choosy = [entry for entry in by_name if (entry.requires or entry.excludes) and entry not in policy]
    queue = sorted(choosy, key=lambda entry: -sign * importance(entry))
    present = Counter([entry.title.lower() for entry in entries])
    for _ in range(PASSES):
        kept: list[Entry] = []
        for entry in queue:
            reason, titles = _objection(entry, present)
            if not titles:
                kept.append(entry)
                continue
            title = entry.title.lower()
            present[title] -= 1
            if not present[title] or not counted:
                present.pop(title, None)
            if ledger is not None:
                ledger.remove(entry, reason, **{_DETAIL[reason]: titles})
        changed = len(kept) != len(queue)
        queue = kept
        if not changed:
            break
    gone = {entry.id for entry in choosy}.difference([entry.id for entry in queue])
    return [entry for entry in most_first if entry.id not in gone]


class RequiresExcludesStage:
    """Candidates that miss what they require, or meet what they exclude, leave."""

    name = "requires and excludes"
    phase = Phase.GATE

    def place(self, entry: Entry, candidates: Sequence[Entry], state: RunState, ctx: Inputs) -> int:
        """Where the entry would stand: by the AI's confidence where that counts, by importance and title."""
        surest_first, importance = ctx.is_fixed("confidence_order"), _importance(ctx.rules)
        sign = -1 if ctx.reversed else 1

        def rank(one: Entry) -> tuple[int, float, CollationKey]:
            return state.sureness(one) if surest_first else 0, sign * importance(one), sort_key(one.title)

        return bisect_right(candidates, rank(entry), key=rank)

    async def run(self, state: RunState, ctx: Inputs) -> StageRecord:
        """Resolve the candidates; with nothing left the run ends here."""
        ledger = Ledger(self, state.candidates, detailed=state.recorded)
        state.candidates = resolve(state.candidates, state.policy, ledger, rules=ctx.rules, reverse=ctx.reversed)
        put_surest_first(state, ctx, ledger)
        choosy = [entry for entry in state.candidates if entry.requires or entry.excludes]
        present = {entry.title.lower() for entry in state.candidates} if choosy else set()
        for entry in choosy:
            would, titles = _objection(entry, present)
            if titles:
                state.policy.spares(entry, ledger, would)
        if not state.candidates:
            state.outcome = RunOutcome.EMPTY_AFTER_REQUIRES
        return ledger.close(state.candidates, details=order_details(state, ctx, {"priority": _importance(ctx.rules)}))
