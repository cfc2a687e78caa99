"""The problems of the vault's notes in the window: counted in the last line, shown in their pane."""

from __future__ import annotations

from functools import partial

from lorestudio.ui.features.problems.pane import ProblemsPane
from lorestudio.ui.shell.feature import Context, Feature


class ProblemsFeature(Feature):
    """Says in the last line of the window how many problems there are."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.pane = ProblemsPane(context.theme, context.session, context.selection, context.drafts)
        self.panes = (self.pane,)

    def begin(self) -> None:
        """Count them, and lead to the pane."""
        tree = self.pane.tree
        tree.offered = (*tree.offered, self.context.action("trace.why_not"))
        status = self.context.status
        self.pane.counted.connect(status.show_problems)
        status.problems.clicked.connect(partial(self.context.show, "problems"))
