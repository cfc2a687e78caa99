"""The relationship graph of a vault on the command line."""

from __future__ import annotations

from collections.abc import Iterator

from rich import box
from rich.table import Table
from rich.text import Text

from lorestudio.studio.graph_analysis import GraphStudy
from lorestudio.studio.graph_export import community_name

_SHOWN_MEMBERS = 6


def graph_tables(found: GraphStudy) -> Iterator[Table]:
    """The communities, then every edge."""
    graph = found.graph
    table = _table(f"{len(found.communities)} communities of {len(graph.nodes)} entries", "community", "entries")
    for group in found.communities:
        titles = [graph.nodes[entry].title for entry in group.members]
        more = len(titles) - _SHOWN_MEMBERS
        listed = ", ".join(titles[:_SHOWN_MEMBERS]) + (f" and {more} more" if more > 0 else "")
        table.add_row(Text(community_name(group, graph)), Text(f"{len(titles)}: {listed}"))
    yield table
    table = _table(f"{len(graph.edges)} connections", "from", "", "to", "mentions")
    for edge in graph.edges:
        source, target = graph.nodes[edge.source].title, graph.nodes[edge.target].title
        table.add_row(Text(source), Text(edge.kind.value), Text(target), Text(str(edge.weight)))
    yield table


def gaps_table(found: GraphStudy) -> Table:
    """What seems to be missing, one row each."""
    nodes, gaps = found.graph.nodes, found.gaps
    title = f"{gaps.count} gaps" + (f", and {gaps.more_missing} more missing connections" if gaps.more_missing else "")
    table = _table(title, "gap", "entries", "why")

    def titles(entries: tuple[int, ...], between: str) -> Text:
        return Text(between.join(nodes[entry].title for entry in entries))

    for circle in gaps.circles:
        table.add_row("circle", titles((*circle, circle[0]), " → "), "each requires the next")
    for entry in gaps.orphans:
        table.add_row("orphan", titles((entry,), ""), "nothing is connected with it")
    for ends in gaps.bridges:
        table.add_row("bridge", titles(ends, " - "), "the only connection of two communities")
    for pair in gaps.missing:
        table.add_row("missing", titles((pair.first, pair.second), " - "), Text(f"both have {', '.join(pair.shared)}"))
    if gaps.too_common:
        table.caption = f"Shared by too many to mean anything: {', '.join(gaps.too_common)}"
    return table


def _table(title: str, *headings: str) -> Table:
    table = Table(title=Text(title), title_justify="left", caption_justify="left", box=box.SIMPLE_HEAD, padding=(0, 1))
    for heading in headings:
        table.add_column(heading, overflow="fold")
    return table
