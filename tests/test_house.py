"""No module but a retrieval system's own package and the registry names a system; all others ask what a system says.

Neither does one ask by the class of a system's settings which system it is.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import MappingProxyType

import pytest

from lorestudio.systems.registry import BUILT_IN, KINDS, MAIN

ROOT = Path(__file__).resolve().parents[1] / "lorestudio"
PACKAGES = frozenset(path.parent.name for path in (ROOT / "systems").glob("*/__init__.py"))
NAMES = frozenset({MAIN.name, *KINDS})

FEATURES = frozenset({"ui/features/recap", "ui/features/facts", "cli/systems/recap.py", "cli/systems/facts.py"})
"""What is seen of one system and named after it."""

ALLOWED = MappingProxyType(
    {
        "cli/app.py": "names of commands",
        "cli/notes/notes.py": "the key of a link in what is printed as JSON",
        "exchange/lorebooks/notes.py": "the member of an entry that carries what only notes say",
        "exchange/scenario_file.py": "what a file means that names no system",
        "llm/messages.py": "kinds of requests, by which recorded answers are found",
        "llm/stand_in.py": "keys of answers",
        "settings": "each system's settings are declared there, and one choice is called so",
        "ui/shell/layout.py": "names of panes",
    }
)
"""Where the same word means something else. No module is allowed to import a part of a system."""


SETTINGS = frozenset({KINDS[name].settings.__name__ for name in BUILT_IN})
"""The classes of the systems' settings."""

NAMES_SETTINGS = MappingProxyType(
    {
        "vault": "how notes are read and checked rests on DeepLore's settings",
        "exchange/lorebooks/reading.py": "how the entries of a lorebook are read as notes",
        "exchange/scenario_file.py": "the format of recorded generations holds DeepLore's settings and how they read",
        "exchange/settings_files.py": "reads and writes the files of DeepLore's settings",
        "studio/chat/reply_writing.py": "the connection to a model that writes is one of DeepLore's",
        "studio/graph/layout.py": "the links of notes as DeepLore's usual settings read them",
        "studio/project": "the project's settings are those that say how its notes are read",
        "studio/proposals": "how much of chat and notes a proposal reads is DeepLore's to say",
        "studio/tryout/preview.py": "how the notes are read",
        "cli/systems/facts.py": "the settings of fact memory; a project without notes",
        "cli/systems/recap.py": "the settings of recap memory; a project without notes",
        "cli/settings.py": "the settings of a project",
        "ui/features/controls": "the settings of a project",
        "ui/features/facts": "the settings of fact memory",
        "ui/features/notes/editor": "what the fields of a note mean by DeepLore's settings",
        "ui/features/recap": "the settings of recap memory",
        "ui/features/settings": "the settings of a project",
        "ui/state": "the settings of a project",
    }
)
"""Where a settings class may be named, for a type or a default, and what for."""


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


def asks(source: str) -> Iterator[str]:
    """Where a module asks whether settings are those of one system: by class, by type, or by pattern."""
    for node in ast.walk(ast.parse(source)):
        asked: list[ast.expr] = []
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            asked = node.args[1:] if node.func.id in {"isinstance", "issubclass"} else []
        elif isinstance(node, ast.Compare):
            asked = [each for each in (node.left, *node.comparators) if not isinstance(each, ast.Call)]
        elif isinstance(node, ast.MatchClass):
            asked = [node.cls]
        if any(named_settings(each) for each in asked):
            yield f"line {node.lineno}"


def asks_for_main(source: str) -> Iterator[str]:
    """Where a module asks whether a system is the main one, by its kind or by its name."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Compare):
            asked = {ast.unparse(each) for each in ast.walk(node) if isinstance(each, ast.Name | ast.Attribute)}
            if asked & {"MAIN", "MAIN.name"}:
                yield f"line {node.lineno}"


def named_settings(tree: ast.AST) -> set[str]:
    """The settings classes that stand in a piece of a module, whether imported by name or with their module."""
    nodes = list(ast.walk(tree))
    names = {node.id for node in nodes if isinstance(node, ast.Name)}
    return SETTINGS & (names | {node.attr for node in nodes if isinstance(node, ast.Attribute)})


@cache
def outside() -> dict[str, str]:
    """The source of every module that has a settings class in it and is neither a system nor one of their settings."""
    paths = ((path.relative_to(ROOT).as_posix(), path) for path in sorted(ROOT.rglob("*.py")))
    sources = (
        (module, path.read_text(encoding="utf-8"))
        for module, path in paths
        if not within(module, frozenset({"systems", "settings"}))
    )
    return {module: source for module, source in sources if any(name in source for name in SETTINGS)}


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


def test_no_module_asks_by_settings_class_which_system_it_is() -> None:
    asking = [module for module, source in outside().items() if any(asks(source))]
    assert asking == [], "ask the kind of system instead"


def test_settings_classes_are_named_where_they_are_meant() -> None:
    named = {module for module, source in outside().items() if named_settings(ast.parse(source))}
    places = {module: within(module, frozenset(NAMES_SETTINGS)) for module in named}
    assert [module for module, place in places.items() if not place] == []
    assert NAMES_SETTINGS.keys() - places.values() == set()


def test_no_module_asks_whether_a_system_is_the_main_one() -> None:
    sources = ((path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8")) for path in ROOT.rglob("*.py"))
    asking = {module: list(asks_for_main(source)) for module, source in sources if "MAIN" in source}
    assert {module: lines for module, lines in asking.items() if lines} == {}, "ask `SystemKind.in_project` instead"


@pytest.mark.parametrize(
    ("source", "count"),
    [
        ("kind is MAIN", 1),
        ("by.system not in {None, MAIN.name}", 1),
        ("system != MAIN.name", 1),
        ("MAIN_PROMPT not in slots", 0),
        ("candidate(MAIN.name)", 0),
    ],
)
def test_what_counts_as_asking_for_the_main_system(source: str, count: int) -> None:
    assert len(list(asks_for_main(source))) == count


@cache
def imports() -> dict[str, set[str]]:
    """The modules of the program that each imports, for types alone or within a function, too."""
    names = {".".join(path.relative_to(ROOT.parent).with_suffix("").parts): path for path in ROOT.rglob("*.py")}
    modules = {name.removesuffix(".__init__"): path for name, path in names.items()}
    found: dict[str, set[str]] = {}
    for module, path in modules.items():
        named: set[str] = set()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module:
                named |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
            elif isinstance(node, ast.Import):
                named |= {alias.name for alias in node.names}
        found[module] = {each for each in named if each in modules and each != module}
    return found


@pytest.mark.long
def test_no_module_imports_itself_by_way_of_others() -> None:
    left = dict(imports())
    while free := {module for module, named in left.items() if not named & left.keys()}:
        left = {module: named for module, named in left.items() if module not in free}
    assert left == {}, "these modules stand on each other; types that both need belong into one below them"


@pytest.mark.parametrize(
    ("source", "count"),
    [
        ("isinstance(settings, WorldInfoSettings)", 1),
        ("isinstance(settings, str | worldinfo.WorldInfoSettings)", 1),
        ("type(settings) is RecapSettings", 1),
        ("match settings:\n    case FactsSettings():\n        pass", 1),
        ("settings == DeepLoreSettings()", 0),
        ("isinstance(settings, Section)", 0),
        ("def use(settings: DeepLoreSettings) -> None: ...", 0),
    ],
)
def test_what_counts_as_asking(source: str, count: int) -> None:
    assert len(list(asks(source))) == count


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


def test_a_class_name_means_one_thing() -> None:
    found: dict[str, list[str]] = {}
    for path in sorted(ROOT.rglob("*.py")):
        for name in re.findall(r"^class ([A-Z]\w*)", path.read_text(encoding="utf-8"), re.MULTILINE):
            found.setdefault(name, []).append(path.relative_to(ROOT).as_posix())
    assert len(found) > 1000
    assert {name: places for name, places in found.items() if len(places) > 1} == {}


def test_a_record_prints_no_field_by_a_misspelt_name() -> None:
    seen = 0
    sources = {path: path.read_text(encoding="utf-8") for path in ROOT.rglob("*.py")}
    for path in (path for path, source in sources.items() if "unprinted" in source):  # to parse all takes two seconds
        for kind in ast.walk(ast.parse(sources[path])):
            if not isinstance(kind, ast.ClassDef):
                continue
            fields = {each.target.id for each in kind.body if isinstance(each, ast.AnnAssign)}
            for each in kind.body:
                if isinstance(each, ast.Assign) and ast.unparse(each.targets[0]) == "unprinted":
                    seen += 1
                    assert {*ast.literal_eval(each.value)} <= fields, f"{path}: {kind.name}"
    assert seen


def test_files_are_read_by_the_reader_that_waits_for_no_pipe() -> None:
    """`Path.read_bytes` waits for ever where somebody put a pipe in the place of a file: `read_whole` does not.

    Notes, of which there are thousands, are looked at first.
    """
    sources = {path.name: path.read_text(encoding="utf-8") for path in ROOT.rglob("*.py")}
    assert [name for name, source in sources.items() if ".read_bytes()" in source] == ["folder.py"]


READERS = """
import sys
from importlib import import_module
from pydantic import BaseModel
for name in sys.argv[1:]:
    import_module(name)
kinds = [BaseModel]
for kind in kinds:
    kinds += kind.__subclasses__()
for kind in (kind for kind in dict.fromkeys(kinds) if kind.__module__ in sys.argv):
    kind.model_rebuild()
    print(kind.__name__, kind.model_config.get("defer_build"), kind.__pydantic_complete__)
"""


def test_every_reader_of_outside_data_is_built_when_it_is_wanted_and_then_can_be() -> None:
    """In a process where nobody wanted one before: a name that only type checkers import would show there."""
    pattern = re.compile(r"^class \w+\([^()]*\b(?:BaseModel|OutsideModel|Section|\w*Settings)\b[^()]*\):", re.MULTILINE)
    below = (path for path in ROOT.rglob("*.py") if "ui" not in path.relative_to(ROOT).parts)  # reads no such data
    places = (path for path in below if pattern.search(path.read_text(encoding="utf-8")))
    modules = [".".join(path.relative_to(ROOT.parent).with_suffix("").parts) for path in places]
    whole = [sys.executable, "-c", READERS, *sorted(modules)]
    done = subprocess.run(whole, cwd=ROOT.parent, capture_output=True, text=True, check=True)  # noqa: S603
    said = [line.split() for line in done.stdout.splitlines()]
    assert {name for name, _late, _built in said} >= {"DeepLoreSettings", "Scenario", "PresetFields"}
    assert {name for name, late, _built in said if late != "True"} == {"RuleSet", "Behaviour"}  # each start wants them
    assert {built for _name, _late, built in said} == {"True"}
