"""The keyword pass: keys, refine keys, warmup, probability and cooldown (rules: deeplore 3.4, 3.5)."""

from __future__ import annotations

from lorestudio.domain.entry import Entry
from lorestudio.domain.javascript import Json
from lorestudio.systems.deeplore.inputs import Inputs
from lorestudio.systems.deeplore.keys import KeyHit, KeyMatcher
from lorestudio.systems.deeplore.scan import ScanWindow
from lorestudio.systems.deeplore.state import RunState, luck_decides
from lorestudio.systems.ledger import Ledger, skipped
from lorestudio.trace.model import Phase, StageRecord


class KeywordsStage:
    """One pass over the chat finds all keys; then each entry that was hit has to pass its own conditions."""

    name = "keywords"
    phase = Phase.MATCH

    async def run(self, state: RunState, ctx: Inputs) -> StageRecord:
        """Test the entries whose keys occur, in index order."""
        settings = ctx.settings
        if settings.scan_depth <= 0 or state.window is None:
            return skipped(self, state.candidates, "scan_depth_zero")
        ledger = Ledger(self, state.candidates)
        matcher = ctx.index.matcher(case_sensitive=settings.case_sensitive, whole_words=settings.match_whole_words)
        window = state.window
        if ctx.is_fixed("window_filter") and _reaches_further(window, ctx):
            state.note_switch("window_filter", self.name, "the window reaches further back past hidden messages")
        hits = matcher.find(window.text)
        offsets: dict[float, int] = {}
        for entry_id in matcher.hit_entries(hits):
            entry = ctx.index.vault.entries[entry_id]
            if entry.constant or entry.guide:
                continue
            depth = settings.scan_depth if entry.scan_depth is None else entry.scan_depth
            if depth not in offsets:
                offsets[depth] = window.offset(depth)
            hit = matcher.test(entry_id, hits, offsets[depth])
            if hit is None:
                blocked = matcher.test_primary(entry_id, hits, offsets[depth])
                if blocked is not None and entry.refine_keys:
                    where = _hit_details(window, ctx, matcher, blocked, depth)
                    refine_keys = list(entry.refine_keys)
                    ledger.refuse(
                        entry, "refine_blocked", **where, refine_keys=refine_keys, searched=window.count(depth)
                    )
            elif self._passes(state, ledger, entry, matcher, window.text[offsets[depth] :]):
                self._let_in(state, ledger, entry, hit, _hit_details(window, ctx, matcher, hit, depth))
        searched = window.tail(settings.scan_depth)
        return ledger.close(
            state.candidates,
            default_reason="no_key_hit",
            details={
                "depth": settings.scan_depth,
                "messages": window.count(settings.scan_depth),
                "characters": len(searched),
            },
        )

    @staticmethod
    def _passes(state: RunState, ledger: Ledger, entry: Entry, matcher: KeyMatcher, text: str) -> bool:
        """Warmup, then probability, then cooldown; the roll is made even where the cooldown then decides."""
        if entry.warmup is not None:
            found = matcher.occurrences(entry.id, text)
            if found < entry.warmup:
                ledger.refuse(entry, "warmup_short", needed=entry.warmup, found=found)
                return False
        if not luck_decides(state, ledger, entry):
            return False
        if state.cooling(entry) > 0:
            ledger.refuse(entry, "cooling_down", left=state.cooling(entry))
            return False
        return True

    @staticmethod
    def _let_in(state: RunState, ledger: Ledger, entry: Entry, hit: KeyHit, details: dict[str, Json]) -> None:
        if entry.id in state.matched:  # a bootstrap entry: the key takes over as the reason
            state.set_label(entry, hit.key)
            ledger.change(entry, "relabeled", **details)
        else:
            state.let_in(entry, hit.key)
            ledger.add(entry, "key_hit", **details)


def _reaches_further(window: ScanWindow, ctx: Inputs) -> bool:
    """Whether some entry's window holds a message that it would not hold if hidden ones used up places."""
    exact = ScanWindow(ctx.moment.chat, len(ctx.moment.chat), case_sensitive=True)
    return any(window.count(depth) > exact.count(depth) for depth in (ctx.settings.scan_depth, *ctx.index.scan_depths))


def _hit_details(window: ScanWindow, ctx: Inputs, matcher: KeyMatcher, hit: KeyHit, depth: float) -> dict[str, Json]:
    """The key and the refine key that decided, each with its place; those of the refine key begin with `refine_`."""
    details: dict[str, Json] = {"key": hit.key, "depth": depth, **_in_file(window, ctx, hit.start, matcher.size(hit))}
    if hit.refine is not None:
        place = _in_file(window, ctx, hit.refine.start, matcher.size(hit.refine))
        details["refine_key"] = hit.refine.key
        details |= {f"refine_{name}": value for name, value in place.items()}
    return details


def _in_file(window: ScanWindow, ctx: Inputs, start: int, size: int) -> dict[str, Json]:
    """Where the hit is, with the message counted as in the chat file."""
    where: dict[str, Json] = dict(window.locate(start, size))
    message = where["message"]
    if isinstance(message, int):
        where["message"] = ctx.moment.position(message)
    return where
