"""What the colour of a node can stand for, and the words, glyphs and numbers that say the same without colour."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from lorestudio.studio.graph_analysis import GraphStudy
from lorestudio.studio.graph_export import community_name
from lorestudio.studio.note_graph import EdgeKind, NodeKind
from lorestudio.ui.palette import Palette, contrast
from lorestudio.ui.words import number, shorten, tr


class ColourBy(StrEnum):
    """What colours stand for. The values are those of DeepLore's setting `graphDefaultColorMode`."""

    KIND = "type"
    COMMUNITY = "community"
    FIRED = "frequency"
    PRIORITY = "priority"
    CENTRALITY = "centrality"


COLOUR_WORDS: Final = {
    ColourBy.KIND: "Kind",
    ColourBy.COMMUNITY: "Community",
    ColourBy.FIRED: "Fired in this chat",
    ColourBy.PRIORITY: "Priority",
    ColourBy.CENTRALITY: "Centrality",
}

KIND_WORDS: Final = {
    NodeKind.GUIDE: "writing guide",
    NodeKind.CONSTANT: "constant",
    NodeKind.SEED: "seed",
    NodeKind.BOOTSTRAP: "bootstrap",
    NodeKind.REGULAR: "regular",
}
EDGE_WORDS: Final = {
    EdgeKind.LINK: ("links to", "linked from"),
    EdgeKind.REQUIRES: ("requires", "required by"),
    EdgeKind.EXCLUDES: ("excludes", "excluded by"),
    EdgeKind.CASCADE: ("cascades to", "cascaded from"),
}
EDGE_NAMES: Final = {
    EdgeKind.LINK: "Links",
    EdgeKind.REQUIRES: "Requires",
    EdgeKind.EXCLUDES: "Excludes",
    EdgeKind.CASCADE: "Cascade",
}

LEGEND_COMMUNITIES: Final = 8
"""The legend names so many communities; the list names all."""

_KIND_LOOKS: Final = {
    NodeKind.GUIDE: ("grey", "guide"),
    NodeKind.CONSTANT: ("vermilion", "constant"),
    NodeKind.SEED: ("green", "seed"),
    NodeKind.BOOTSTRAP: ("orange", "bootstrap"),
    NodeKind.REGULAR: ("sky", ""),
}
_COMMUNITY_FILLS: Final = ("sky", "orange", "green", "yellow", "purple", "vermilion", "blue")
_PRIORITY_STEPS: Final = (25, 40, 55, 75)
_SCALE: Final = (0.12, 0.34, 0.56, 0.78, 1.0)


@dataclass(frozen=True, slots=True)
class Look:
    """How nodes of one sort are drawn. Colours are `#RRGGBB`; `word` is what the legend says of them.

    Upon the fill stands an icon or a text, so that the colour is not needed; `hatched` tells communities apart that
    share a fill.
    """

    fill: str
    ink: str
    word: str
    icon: str = ""
    text: str = ""
    hatched: bool = False


@dataclass(frozen=True, slots=True)
class Looks:
    """The look of each entry, and the legend: each sort with how many entries are of it."""

    of: Mapping[int, Look]
    legend: tuple[tuple[Look, int], ...]


def graph_looks(found: GraphStudy, colour_by: ColourBy, fired: Mapping[int, int], palette: Palette) -> Looks:
    """How the nodes of a graph look; `fired` is in how many generations each entry was injected."""
    return _MAKERS[colour_by](found, fired, palette)


def node_sentence(found: GraphStudy, entry: int, fired: Mapping[int, int]) -> str:
    """Everything that the picture says of a node, in words."""
    node = found.graph.nodes[entry]
    parts = [
        tr(KIND_WORDS[node.kind]),
        tr("priority {priority}", priority=number(node.priority)),
        connections_words(len(found.graph.neighbours[entry])),
    ]
    place = found.community_of.get(entry)
    if place is not None:
        name = community_name(found.communities[place], found.graph)
        parts.append(tr("community {place}, {name}", place=place + 1, name=name))
    times = fired.get(entry, 0)
    parts.append(
        tr("fired in {times} generations of this chat", times=times) if times else tr("not fired in this chat")
    )
    return f"{node.title}: {', '.join(parts)}"


def connections_words(amount: int) -> str:
    """`connected with 3 entries`."""
    if not amount:
        return tr("connected with nothing")
    return tr("connected with 1 entry") if amount == 1 else tr("connected with {amount} entries", amount=number(amount))


def _filled(palette: Palette, name: str, word: str, icon: str = "", text: str = "", *, hatched: bool = False) -> Look:
    ground, ink = palette.fill(name)
    return Look(ground, ink, word, icon, text, hatched)


def _by_kind(found: GraphStudy, _fired: Mapping[int, int], palette: Palette) -> Looks:
    looks = {kind: _filled(palette, fill, tr(KIND_WORDS[kind]), icon) for kind, (fill, icon) in _KIND_LOOKS.items()}
    return _gathered({entry: looks[node.kind] for entry, node in found.graph.nodes.items()}, list(looks.values()))


def _by_community(found: GraphStudy, _fired: Mapping[int, int], palette: Palette) -> Looks:
    made = []
    for place, group in enumerate(found.communities):
        turn, which = divmod(place, len(_COMMUNITY_FILLS))
        fill = _COMMUNITY_FILLS[which] if turn < 2 else "grey"
        word = f"{place + 1} {shorten(community_name(group, found.graph), 20)}"
        made.append(_filled(palette, fill, word, text=str(place + 1), hatched=turn > 0))
    alone = Look(palette.panel, palette.text, tr("on its own"), "dash")
    of = {
        entry: made[found.community_of[entry]] if entry in found.community_of else alone for entry in found.graph.nodes
    }
    looks = _gathered(of, [*made[:LEGEND_COMMUNITIES], alone])
    more = len(made) - LEGEND_COMMUNITIES
    if more > 0:
        rest = Look(palette.raised, palette.text, tr("{more} more", more=number(more)), text="…")
        amount = sum(len(group.members) for group in found.communities[LEGEND_COMMUNITIES:])
        return Looks(looks.of, (*looks.legend, (rest, amount)))
    return looks


def _by_priority(found: GraphStudy, _fired: Mapping[int, int], palette: Palette) -> Looks:
    first = [tr("to {step}", step=step) for step in _PRIORITY_STEPS] + [tr("above")]

    def step(entry: int) -> int:
        priority = found.graph.nodes[entry].priority
        return sum(priority > limit for limit in _PRIORITY_STEPS)

    return _scaled(
        found, palette, step, lambda entry: number(found.graph.nodes[entry].priority), first, darkest_first=True
    )


def _by_fired(found: GraphStudy, fired: Mapping[int, int], palette: Palette) -> Looks:
    most = max([fired.get(entry, 0) for entry in found.graph.nodes] + [1])
    limits = sorted({max(1, round(most * part)) for part in (0.25, 0.5, 0.75, 1.0)})
    words = [tr("never")]
    before = 0
    for limit in limits:
        words.append(str(limit) if limit == before + 1 else tr("{low} to {high}", low=before + 1, high=limit))
        before = limit

    def step(entry: int) -> int:
        times = fired.get(entry, 0)
        return next(place for place, limit in enumerate((0, *limits)) if times <= limit)

    return _scaled(found, palette, step, lambda entry: str(fired.get(entry, 0)), words)


def _by_centrality(found: GraphStudy, _fired: Mapping[int, int], palette: Palette) -> Looks:
    words = [tr("{low} to {high} %", low=20 * step, high=20 * step + 20) for step in range(5)]

    def value(entry: int) -> float:
        return found.centrality.get(entry, 0.0)

    return _scaled(
        found, palette, lambda entry: min(4, int(5 * value(entry))), lambda entry: f"{100 * value(entry):.0f}", words
    )


def _scaled(
    found: GraphStudy,
    palette: Palette,
    step: Callable[[int], int],
    text: Callable[[int], str],
    words: list[str],
    *,
    darkest_first: bool = False,
) -> Looks:
    """Steps of one colour; upon each node stands its own value."""
    scale = [_mixed(palette, part) for part in _SCALE[: len(words)]]
    if darkest_first:
        scale.reverse()
    legend = [Look(fill, ink, word) for (fill, ink), word in zip(scale, words, strict=True)]
    steps = {entry: step(entry) for entry in found.graph.nodes}
    of = {
        entry: Look(legend[place].fill, legend[place].ink, legend[place].word, text=text(entry))
        for entry, place in steps.items()
    }
    counts = [list(steps.values()).count(place) for place in range(len(legend))]
    return Looks(of, tuple(zip(legend, counts, strict=True)))


def _mixed(palette: Palette, part: float) -> tuple[str, str]:
    """So much of the accent on the pane's colour, and what can be read upon it."""
    ends = [[int(color[at : at + 2], 16) for at in (1, 3, 5)] for color in (palette.panel, palette.accent)]
    fill = "#" + "".join(f"{round(low + (high - low) * part):02X}" for low, high in zip(*ends, strict=True))
    return fill, max((palette.text, palette.panel), key=lambda ink: contrast(ink, fill))


def _gathered(of: Mapping[int, Look], order: list[Look]) -> Looks:
    counts: dict[Look, int] = {}
    for look in of.values():
        counts[look] = counts.get(look, 0) + 1
    return Looks(of, tuple((look, counts[look]) for look in order if look in counts))


_MAKERS: Final[Mapping[ColourBy, Callable[[GraphStudy, Mapping[int, int], Palette], Looks]]] = {
    ColourBy.KIND: _by_kind,
    ColourBy.COMMUNITY: _by_community,
    ColourBy.FIRED: _by_fired,
    ColourBy.PRIORITY: _by_priority,
    ColourBy.CENTRALITY: _by_centrality,
}
