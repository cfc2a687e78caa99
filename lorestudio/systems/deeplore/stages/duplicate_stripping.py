"""Strip what recent generations injected already (rules: deeplore 5.6)."""

from __future__ import annotations

from lorestudio.domain.entry import Entry
from lorestudio.domain.javascript import Json
from lorestudio.domain.state import LoggedInjection
from lorestudio.settings.deeplore import DeepLoreSettings
from lorestudio.systems.deeplore.inputs import Inputs
from lorestudio.systems.deeplore.state import RunState
from lorestudio.systems.ledger import Ledger, skipped
from lorestudio.trace.model import Phase, StageRecord


def logged(entry: Entry, settings: DeepLoreSettings) -> LoggedInjection:
    """The entry as the duplicate log names it: where it goes, and the hash of its file."""
    return LoggedInjection(
        entry.title,
        settings.injection_position if entry.position is None else entry.position,
        settings.injection_depth if entry.depth is None else entry.depth,
        settings.injection_role if entry.role is None else entry.role,
        entry.content_hash,
    )


class DuplicateStrippingStage:
    """Entries that the log's last records hold at the same place leave, exempt ones stay.

    The log is emptied first unless the AI selection was answered from its cache, so in keywords-only mode nothing is
    ever stripped.
    """

    name = "duplicate stripping"
    phase = Phase.GATE

    async def run(self, state: RunState, ctx: Inputs) -> StageRecord:
        """Compare the candidates with the log."""
        settings = ctx.settings
        if not settings.strip_duplicate_injections:
            return skipped(self, state.candidates, "off", {"setting": "stripDuplicateInjections"})
        mended = ctx.is_fixed("duplicate_log")
        cleared = ""
        if state.regenerated or state.ai_cached is not True:
            cleared = "log_cleared" if state.injection_log else ""
            state.injection_log = ()
        why = "swipe" if state.regenerated else "no cached AI selection"
        details: dict[str, Json] = {"log_length": len(state.injection_log), "why": why}
        ledger = Ledger(self, state.candidates)
        recent = {
            injection
            for record in state.injection_log[-settings.strip_lookback_depth :]
            for injection in record.entries
        }
        kept: list[Entry] = []
        spared = 0
        for entry in state.candidates:
            if logged(entry, settings) not in recent:
                kept.append(entry)
            elif mended:
                kept.append(entry)
                spared += entry not in state.policy
            elif entry in state.policy:
                kept.append(entry)
                ledger.keep(entry, "exempt", by=state.policy.why(entry), would="already_in_context")
            else:
                ledger.remove(entry, "already_in_context", generations=settings.strip_lookback_depth)
        if spared:
            state.note_switch("duplicate_log", self.name, "nothing was stripped")
        state.candidates = kept
        return ledger.close(kept, note=cleared, details=details)
