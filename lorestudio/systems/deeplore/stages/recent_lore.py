"""What went in lately stays out: the pause after an injection, and duplicates (rules: deeplore 5.3, 5.6)."""

from __future__ import annotations

from lorestudio.domain.entry import Entry
from lorestudio.domain.javascript import Json
from lorestudio.domain.state import LoggedInjection
from lorestudio.settings.deeplore import DeepLoreSettings
from lorestudio.systems.deeplore.inputs import Inputs
from lorestudio.systems.deeplore.state import RunState
from lorestudio.systems.ledger import Ledger
from lorestudio.systems.runner import stage
from lorestudio.trace.model import Phase, RunOutcome, StageRecord


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
