"""The budget of one generation, as the pane and the bar show it."""

from lorestudio.trace.budget import BudgetView, Segment, budget_view

__all__ = ["BudgetView", "Segment", "budget_view"]
