"""DeepLore's settings for its relationship graph (spec: deeplore-ai-and-tools 4.4). They only change a picture."""

from __future__ import annotations

from lorestudio.settings.declaration import Group, Section

graph = Group("Graph", local=True)


class GraphSettings(Section):
    """Layout and look of the relationship graph."""

    graph_repulsion: float = graph(
        0.3, "Repulsion", "How strongly entries push each other away.", low=0.1, high=5.0, advanced=True
    )
    graph_gravity: float = graph(
        11.0, "Gravity", "How strongly entries are drawn to the middle.", low=0.1, high=20, advanced=True
    )
    graph_damping: float = graph(
        0.5, "Damping", "How quickly movement comes to rest.", low=0.3, high=0.98, advanced=True
    )
    graph_hover_dim_distance: int = graph(
        3, "Lit neighbourhood", "How many links away from the pointed entry stay lit.", low=0, high=15, advanced=True
    )
    graph_hover_falloff: float = graph(
        0.55, "Light per link", "How much light is left after each link.", low=0.3, high=0.85, advanced=True
    )
    graph_hover_ambient: float = graph(
        0.06, "Least light", "Light of everything far away.", low=0.0, high=0.2, advanced=True
    )
    graph_focus_tree_depth: int = graph(
        2, "Focus depth", "How many links away the focus view reaches.", low=1, high=15, advanced=True
    )
    graph_edge_filter_alpha: float = graph(
        0.05, "Link filter", "A smaller value hides more of the unremarkable links.", low=0.01, high=0.5, advanced=True
    )
    graph_node_size_mode: str = graph(
        "centrality", "Size shows", "What the size of an entry stands for.",
        choices={"centrality": "How well it is linked.", "priority": "Its priority.", "uniform": "Nothing."},
        advanced=True,
    )  # fmt: skip
    graph_default_color_mode: str = graph(
        "type", "Colour shows", "What the colour of an entry stands for.",
        choices={
            "type": "Its kind.",
            "priority": "Its priority.",
            "centrality": "How well it is linked.",
            "frequency": "How often it goes in.",
            "community": "The group it belongs to.",
        },
        advanced=True,
    )  # fmt: skip
    graph_show_labels: bool = graph(True, "Labels", "Writes titles beside the entries.", advanced=True)
