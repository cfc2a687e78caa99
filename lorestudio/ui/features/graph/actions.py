"""The graph of the vault in the window."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from lorestudio.ui.shell.actions import Action
from lorestudio.ui.shell.feature import Feature, late_pane

if TYPE_CHECKING:
    from lorestudio.ui.features.graph.pane import GraphPane


class GraphFeature(Feature):
    """Opens the note of an entry from the graph."""

    view_keys: ClassVar = {
        "in the graph": (
            ("Go to the nearest entry that way", "Left  Right  Up  Down"),
            ("Go round the neighbours of the entry", "Tab  Shift+Tab"),
            ("Back to the entry whose neighbours they are", "Esc"),
            ("Open the note", "Return"),
            ("Move the picture", "Shift+Left  Shift+Right  Shift+Up  Shift+Down"),
            ("Zoom", "+  -"),
            ("Show all of it", "0"),
            ("What can be done with the entry", "Menu"),
        )
    }

    @late_pane("graph", "Graph")
    def pane(self) -> GraphPane:
        """It leads to the note."""
        from lorestudio.ui.features.graph.pane import GraphPane

        context = self.context
        pane = GraphPane(
            context.theme, context.session, context.selection, context.session.graphs_in, self.home("graph")
        )
        pane.opened.connect(partial(context.show, "entry"))
        return pane

    def actions(self) -> Iterable[Action]:
        """What can be done."""
        show = partial(self.context.show, "graph")
        return (
            Action(
                "go.graph", "Relationship graph", "View", 0, show, ("Ctrl+G",), when=self.context.has_project,
                icon="graph",
            ),
        )  # fmt: skip

    def stop(self) -> None:
        """Keep what is not kept yet."""
        if self.is_made("graph"):
            self.pane.stop()
