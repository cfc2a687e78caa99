"""No module but a retrieval system's own package and the registry names a system; all others ask what a system says."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import MappingProxyType

import pytest

from lorestudio.systems.registry import KINDS, MAIN

ROOT = Path(__file__).resolve().parents[1] / "lorestudio"
PACKAGES = frozenset(path.parent.name for path in (ROOT / "systems").glob("*/__init__.py"))
NAMES = frozenset({MAIN.name, *KINDS})

FEATURES = frozenset({"ui/features/recap", "ui/features/facts", "cli/recap.py", "cli/facts.py"})
"""What is seen of one system and named after it."""

ALLOWED = MappingProxyType(
    {
        "cli/notes.py": "the key of a link in what is printed as JSON",
        "exchange/scenario_file.py": "what a file means that names no system",
        "llm/messages.py": "kinds of requests, by which recorded answers are found",
        "llm/stand_in_writing.py": "keys of answers",
        "settings": "each system's settings are declared there, and one choice is called so",
        "ui/shell/layout.py": "names of panes",
    }
)
"""Where the same word means something else. No module is allowed to import a part of a system."""


def within(module: str, places: frozenset[str]) -> str:
    """The place that the module is, or is in, "" for none."""
    return next((place for place in places if module == place or module.startswith(f"{place}/")), "")


def mentions(source: str) -> Iterator[str]:
    """The systems that a module imports a part of, or whose name stands in it as a text of its own."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value in NAMES:
            yield f"line {node.lineno}: {node.value!r}"
        imported: list[str] = []
        if isinstance(node, ast.Import):
            imported = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            imported = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        for name in imported:
            parts = name.split(".")
            if parts[:2] == ["lorestudio", "systems"] and len(parts) > 2 and parts[2] in PACKAGES:
                yield f"line {node.lineno}: {name}"


@cache
def modules() -> dict[str, list[str]]:
    """What each module names, of those that name a system and are neither its own nor the registry."""
    own = frozenset({"systems/registry.py", *(f"systems/{package}" for package in PACKAGES)})
    found: dict[str, list[str]] = {}
    for path in sorted(ROOT.rglob("*.py")):
        module = path.relative_to(ROOT).as_posix()
        source = path.read_text(encoding="utf-8")
        if not within(module, own | FEATURES) and any(name in source for name in NAMES | PACKAGES):
            named = list(mentions(source))
            if named:
                found[module] = named
    return found


def test_no_module_names_a_retrieval_system() -> None:
    allowed = frozenset(ALLOWED)
    named = {module: lines for module, lines in modules().items() if not within(module, allowed)}
    assert named == {}, "ask `Trace.words`, the system or its kind in the registry instead"


def test_nothing_is_allowed_that_names_no_system() -> None:
    used = {within(module, frozenset(ALLOWED)) for module in modules()}
    assert ALLOWED.keys() - used == set()


def test_nobody_imports_a_part_of_a_system() -> None:
    imported = {module: lines for module, lines in modules().items() if any("lorestudio.systems" in it for it in lines)}
    assert imported == {}


@pytest.mark.parametrize(
    ("source", "count"),
    [
        ("from lorestudio.systems.recap.session import RecapSession", 2),
        ("import lorestudio.systems.facts.session", 1),
        ("from lorestudio.systems import deeplore", 1),
        ("name = 'world-info'", 1),
        ('"""Of recap, and of world-info."""', 0),
        ("from lorestudio.systems.registry import MAIN", 0),
    ],
)
def test_what_counts_as_a_name(source: str, count: int) -> None:
    assert len(list(mentions(source))) == count
