"""The chat's folder filter (rules: deeplore 4.10, 5.9)."""

from __future__ import annotations

from typing import Final

from lorestudio.domain.entry import Entry
from lorestudio.systems.deeplore.inputs import Inputs
from lorestudio.systems.deeplore.state import RunState
from lorestudio.systems.ledger import Ledger
from lorestudio.systems.runner import FunctionStage
from lorestudio.trace.model import Phase, StageRecord


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
