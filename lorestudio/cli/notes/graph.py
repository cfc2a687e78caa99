"""`lorestudio graph`: how the entries of a vault are connected, and what seems to be missing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Final

from rich.table import Table
from rich.text import Text

from lorestudio.cli.command import RulesOption, rules_named
from lorestudio.cli.options import JsonOption, SettingsOption, SystemOptions, TokenizerOption, VaultArgument
from lorestudio.cli.output import print_json, say_all
from lorestudio.cli.screen import Screen, filled, fold, table
from lorestudio.studio.graph.analysis import GraphStudy, community_name, gaps_json, graph_json, study
from lorestudio.studio.graph.graph import Edge, build_graph
from lorestudio.studio.project.project import open_project
from lorestudio.systems.base import Deciding
from lorestudio.trace.wording import first_few, plural, quoted

_SHOWN_MEMBERS: Final = 6


def graph_tables(found: GraphStudy) -> Iterator[Table]:
    """The communities, then every edge."""
    graph = found.graph
    members = [(group, [graph.nodes[entry].title for entry in group.members]) for group in found.communities]
    yield filled(
        table(
            *map(fold, ("community", "entries")),
            title=f"{plural(len(members), '# community|# communities')} of {len(graph.nodes)} entries",
        ),
        (
            (community_name(group, graph), f"{len(titles)}: {first_few(titles, _SHOWN_MEMBERS)}")
            for group, titles in members
        ),
    )
    ends = ((edge, graph.nodes[edge.source].title, graph.nodes[edge.target].title) for edge in graph.edges)
    yield filled(
        table(*map(fold, ("from", "", "to", "mentions")), title=plural(len(graph.edges), "# connection|# connections")),
        ((source, _relation(edge), target, str(edge.weight)) for edge, source, target in ends),
    )


def _relation(edge: Edge) -> str:
    return f"{edge.kind.value} by {quoted(edge.key)}" if edge.key else edge.kind.value


def gaps_table(found: GraphStudy) -> Table:
    """What seems to be missing, one row each."""
    nodes, gaps = found.graph.nodes, found.gaps
    title = plural(gaps.count, "# gap|# gaps")
    title += plural(gaps.more_missing, "|, and one more missing connection|, and # more missing connections")
    shown = table(*map(fold, ("gap", "entries", "why")), title=title)

    def titles(entries: tuple[int, ...], between: str) -> Text:
        return Text(between.join(nodes[entry].title for entry in entries))

    for circle in gaps.circles:
        shown.add_row("circle", titles((*circle, circle[0]), " → "), "each requires the next")
    for entry in gaps.orphans:
        shown.add_row("orphan", titles((entry,), ""), "nothing is connected with it")
    for ends in gaps.bridges:
        shown.add_row("bridge", titles(ends, " - "), "the only connection of two communities")
    for pair in gaps.missing:
        shown.add_row("missing", titles((pair.first, pair.second), " - "), Text(f"both have {', '.join(pair.shared)}"))
    if gaps.too_common:
        shown.caption = f"Shared by too many to mean anything: {', '.join(gaps.too_common)}"
    return shown


def graph(
    vault: VaultArgument,
    by: SystemOptions,
    *,
    settings: SettingsOption = None,
    rules: RulesOption = None,
    tokenizer: TokenizerOption = "",
    wakes: Annotated[
        bool, "--wakes", "Also what the text of each entry wakes by recursion with this system. Of a lorebook always."
    ] = False,
    only_gaps: Annotated[bool, "--gaps", "Say only what seems to be missing."] = False,
    as_json: JsonOption = False,
) -> None:
    """Say how the entries of a vault are connected: communities, typed edges, and gaps."""
    project = by.adjusted(open_project(vault, None, settings, rules=rules_named(rules), tokenizer=tokenizer))
    say_all(project.problems)
    system = by.offline(project)
    project = project.read_for(system.kind)
    by_whom = Deciding(system.kind, system.settings)
    finder = by_whom.wakes(project.scene())
    wakes = wakes or project.of_books
    say_all(filter(None, [by_whom.silence(finder) if wakes else ""]))
    graph = build_graph(project.index, finder if wakes else None)
    found = study(graph, project.index.entries, alpha=project.settings.graph_edge_filter_alpha)
    del project, system, finder  # a large vault takes as much again as the rows of its graph
    if as_json:
        print_json(gaps_json(found.gaps) if only_gaps else graph_json(found))
        return
    console = Screen()
    for shown in [gaps_table(found)] if only_gaps else graph_tables(found):
        console.print(shown)
