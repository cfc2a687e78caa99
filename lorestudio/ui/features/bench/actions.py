"""The test bench in the window."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from lorestudio.ui.shell.feature import Feature, late_pane

if TYPE_CHECKING:
    from lorestudio.ui.features.bench.pane import BenchPane


class BenchFeature(Feature):
    """Opens the note of an entry that a text triggers."""

    @late_pane("bench", "Bench")
    def pane(self) -> BenchPane:
        """It leads from an entry to its note."""
        from lorestudio.ui.features.bench.pane import BenchPane

        context = self.context
        pane = BenchPane(context.theme, context.session, context.selection, self.home("bench"))
        pane.opened.connect(partial(context.show, "entry"))
        return pane
