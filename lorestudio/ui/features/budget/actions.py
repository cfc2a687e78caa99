"""The token budget of a reply in the window."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtWidgets import QWidget

from lorestudio.ui.features.budget.pane import BudgetPane
from lorestudio.ui.shell.actions import Where
from lorestudio.ui.shell.feature import Context, Feature


class BudgetFeature(Feature):
    """Has a pane and no actions of its own."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.pane = BudgetPane(context.theme, context.session, context.selection, context.preview.whole)
        self.panes = (self.pane,)

    def places(self) -> Mapping[Where, Sequence[QWidget]]:
        """What is about runs works in the pane."""
        return {Where.RUNS: (self.pane,)}
