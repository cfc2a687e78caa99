"""Take the counters to start from, and say which entries are never offered (rules: deeplore 1.14, 6.3)."""

from __future__ import annotations

from lorestudio.domain.records import replace
from lorestudio.domain.state import Snapshot
from lorestudio.systems.deeplore.gating import Policy
from lorestudio.systems.deeplore.inputs import Inputs
from lorestudio.systems.deeplore.matching.keys import ScanWindow
from lorestudio.systems.deeplore.state import RunState
from lorestudio.systems.ledger import Ledger
from lorestudio.systems.runner import stage
from lorestudio.trace.model import Phase, StageRecord


def swipe_key(ctx: Inputs) -> str:
    """Where in the chat this generation stands: index of the last message and its swipe.

    In 2.6 it is the answer that is being written: its place in the front end's chat, and which of its swipes
    (rules: deeplore-newer 1.7).
    """
    if ctx.rules.answer_slot:
        return f"{ctx.moment.turn.message}|{ctx.moment.turn.swipe}"
    return f"{len(ctx.moment.chat) - 1}|{ctx.moment.chat[-1].swipe if ctx.moment.chat else 0}"


def scan_window(ctx: Inputs) -> ScanWindow:
    """The text in which this generation searches keys: as deep as the deepest scan depth of all."""
    deepest = max(ctx.settings.scan_depth, *ctx.index.scan_depths, 0)
    fractional = any(0 < depth < 1 for depth in ctx.index.scan_depths)
    return ScanWindow(
        ctx.moment.chat,
        len(ctx.moment.chat) if fractional else deepest,
        case_sensitive=ctx.settings.case_sensitive,
        searched_only=ctx.is_fixed("window_filter"),
    )


@stage("snapshot", Phase.LOAD)
def snapshot_stage(state: RunState, ctx: Inputs, ledger: Ledger) -> StageRecord:
    """A second generation at the same place is a swipe: the counters go back to where they were before the first."""
    for guide in ctx.index.guides:
        ledger.refuse(guide, "guide_hidden")
    state.swipe_key = swipe_key(ctx)
    earlier = ctx.state.snapshot
    state.regenerated = earlier is not None and earlier.swipe_key == state.swipe_key
    if earlier is not None and state.regenerated:
        state.counters = earlier.counters
        state.injection_log = ()
    state.before = replace(ctx.state, snapshot=Snapshot(state.swipe_key, state.counters))
    state.bootstrapping = len(ctx.moment.chat) <= ctx.settings.new_chat_threshold
    pins = ctx.moment.controls.pins
    state.policy = Policy.of(
        ctx.index.visible if pins else ctx.index.forced, pins, bootstraps=state.bootstraps_exempt(ctx)
    )
    state.window = scan_window(ctx)
    return ledger.close(
        state.candidates,
        note="rolled_back" if state.regenerated else "",
        details={
            "swipe_key": state.swipe_key,
            "entries": len(ctx.index.visible),
            "left_out": len(ctx.index.vault.left_out),
        },
    )
