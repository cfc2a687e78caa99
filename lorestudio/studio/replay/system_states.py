"""What systems beside DeepLore remember from one generation to the next, as JSON and back."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from lorestudio.systems.worldinfo.decision import WorldInfoState
from lorestudio.trace.serialize import record_from_json, record_to_json

_KINDS: Final[Mapping[str, type]] = MappingProxyType({"world-info": WorldInfoState})
"""The kinds of states by the names that files have for them. A system that remembers nothing has None."""


def state_to_json(state: object) -> object:
    """A state as JSON. Raises TypeError for one of a kind that has no name in files."""
    if state is None:
        return None
    name = next((name for name, kind in _KINDS.items() if type(state) is kind), None)
    if name is None:
        raise TypeError(f"there is no JSON form for a state of the kind {type(state).__name__}")
    return {"kind": name, "state": record_to_json(state)}


def state_from_json(data: object, path: str) -> object:
    """A state from JSON; `path` names it in the ValueError that is raised where it is none."""
    if data is None:
        return None
    kind = _KINDS.get(str(data.get("kind"))) if isinstance(data, Mapping) else None
    if kind is None or not isinstance(data, Mapping):
        raise ValueError(f"{path}: no state of a system")
    return record_from_json(kind, data.get("state"), f"{path}.state")
