"""The test bench in the window."""

from __future__ import annotations

from functools import partial

from lorestudio.ui.features.bench.pane import BenchPane
from lorestudio.ui.shell.feature import Context, Feature


class BenchFeature(Feature):
    """Opens the note of an entry that a text triggers."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.pane = BenchPane(context.theme, context.session, context.selection)
        self.panes = (self.pane,)

    def begin(self) -> None:
        """Lead from an entry to its note."""
        self.pane.opened.connect(partial(self.context.show, "entry"))

    def stop(self) -> None:
        """Try nothing out any more."""
        self.pane.stop()
