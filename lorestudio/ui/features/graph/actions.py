"""The graph of the vault in the window."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import ClassVar

from lorestudio.ui.features.graph.pane import GraphPane
from lorestudio.ui.shell.actions import Action
from lorestudio.ui.shell.feature import Context, Feature


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
        ),
    }

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.pane = GraphPane(context.theme, context.session, context.selection, context.session.graphs_in)
        self.panes = (self.pane,)

    def actions(self) -> Iterable[Action]:
        """What can be done."""
        show = partial(self.context.show, "graph")
        return (
            Action(
                "go.graph", "Relationship graph", "View", 0, show, ("Ctrl+G",), when=self.context.has_project,
                icon="graph",
            ),
        )  # fmt: skip

    def begin(self) -> None:
        """Lead from the graph to the note."""
        self.pane.opened.connect(partial(self.context.show, "entry"))

    def stop(self) -> None:
        """Lay nothing out any more."""
        self.pane.stop()
