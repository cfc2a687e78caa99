"""The token budget of a reply in the window."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lorestudio.ui.shell.actions import Where
from lorestudio.ui.shell.feature import Feature, late_pane
from lorestudio.ui.shell.words import tr
from lorestudio.ui.widgets.cells import as_text
from lorestudio.ui.widgets.rows import action

if TYPE_CHECKING:
    from lorestudio.ui.features.budget.pane import BudgetPane


class BudgetFeature(Feature):
    """Has a pane and no actions of its own."""

    @late_pane("budget", "Budget")
    def pane(self) -> BudgetPane:
        """What the chosen reply spent its tokens on; what is about runs works in it."""
        from lorestudio.ui.features.budget.pane import BudgetPane

        context = self.context
        pane = BudgetPane(context.theme, context.session, context.selection, context.preview.whole, self.home("budget"))
        context.commands.attach({Where.RUNS: (pane,)})
        said = tr("The table was copied.")
        table = action(tr("Copy as a table"), lambda: context.copy(as_text(pane.model.texts()), said), pane.bar)
        pane.bar.addAction(table)
        for bar in (pane.bar, pane.last):
            bar.addActions([context.action(name) for name in ("trace.why_not", "controls.pin", "controls.block")])
        return pane
