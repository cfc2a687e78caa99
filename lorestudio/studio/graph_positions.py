"""Where the nodes of a vault's graph stood the last time: kept in the studio's data folder, one file for each vault."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

from lorestudio.settings.files import write_atomically
from lorestudio.studio.graph_layout import Point


@dataclass(frozen=True, slots=True)
class SavedLayout:
    """Positions and pinned nodes by a node's key. `problem` says what was wrong with the file, "" where nothing was."""

    positions: Mapping[str, Point] = field(default_factory=dict)
    pinned: frozenset[str] = frozenset()
    problem: str = ""


class LayoutStore:
    """The saved layouts in a folder; without a folder they are kept in memory."""

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder
        self._memory: dict[Path, SavedLayout] = {}

    def load(self, places: Sequence[str]) -> SavedLayout:
        """What was saved for the vaults at these places; an empty layout where nothing was or can be read."""
        path = self._path(places)
        if self._folder is None:
            return self._memory.get(path, SavedLayout())
        try:
            return _read(path.read_bytes())
        except FileNotFoundError:
            return SavedLayout()
        except (OSError, ValueError) as error:
            advice = "The graph is laid out anew; delete the file if this message comes again."
            return SavedLayout(problem=f"{path}: the saved positions of the graph cannot be read ({error}). {advice}")

    def save(self, places: Sequence[str], layout: SavedLayout) -> None:
        """Keep a layout. Raises OSError where it cannot be written; the file is whole or as it was before."""
        path = self._path(places)
        if self._folder is None:
            self._memory[path] = layout
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        values = {
            "version": 1,
            "positions": {key: [round(x, 1), round(y, 1)] for key, (x, y) in layout.positions.items()},
            "pinned": sorted(layout.pinned),
        }
        write_atomically(path, json.dumps(values, ensure_ascii=True).encode())

    def _path(self, places: Sequence[str]) -> Path:
        digest = sha256("\0".join(places).encode("utf-8", "surrogatepass")).hexdigest()[:32]
        return (self._folder or Path()) / f"{digest}.json"


def _read(data: bytes) -> SavedLayout:
    """The layout in a file. Raises ValueError."""
    values = json.loads(data)
    match values:
        case {"version": 1, "positions": dict(positions), "pinned": list(pinned)}:
            pass
        case _:
            raise ValueError("it is not of version 1, or “positions” or “pinned” is missing")
    points = {}
    for key, point in positions.items():
        if not (isinstance(point, list) and len(point) == 2 and all(isinstance(value, int | float) for value in point)):
            raise ValueError(f"the position of “{key}” is no pair of numbers")
        points[key] = (float(point[0]), float(point[1]))
    return SavedLayout(points, frozenset(str(key) for key in pinned) & points.keys())
