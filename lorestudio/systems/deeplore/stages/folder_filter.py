"""The chat's folder filter (rules: deeplore 4.10, 5.9)."""

from __future__ import annotations

from lorestudio.domain.entry import Entry
from lorestudio.systems.deeplore.gating import Policy
from lorestudio.systems.deeplore.inputs import Inputs
from lorestudio.systems.deeplore.state import RunState
from lorestudio.systems.ledger import Ledger, skipped
from lorestudio.trace.model import Phase, StageRecord


def inside(entry: Entry, folders: tuple[str, ...]) -> bool:
    """Whether the entry lies at the root, in one of the folders, or below one."""
    return not entry.folder or any(
        entry.folder == folder or entry.folder.startswith(f"{folder}/") for folder in folders
    )


class FolderFilterStage:
    """Entries outside the chosen folders leave, exempt ones stay."""

    phase = Phase.GATE

    def __init__(self, name: str) -> None:
        self.name = name

    async def run(self, state: RunState, ctx: Inputs) -> StageRecord:
        """Filter the candidates under the policy drawn from themselves and the pins."""
        folders = ctx.moment.controls.folders
        if not folders:
            return skipped(self, state.candidates, "no_folder_filter")
        policy = Policy.of(state.candidates, ctx.moment.controls.pins)
        ledger = Ledger(self, state.candidates)
        before = len(state.candidates)
        kept: list[Entry] = []
        for entry in state.candidates:
            if inside(entry, folders):
                kept.append(entry)
            elif entry in policy:
                kept.append(entry)
                ledger.keep(entry, "exempt", by=policy.why(entry), would="outside_folders")
            else:
                ledger.remove(entry, "outside_folders", folder=entry.folder, folders=list(folders))
        state.candidates = kept
        return ledger.close(kept, details={"folders": list(folders), "before": before, "after": len(kept)})
