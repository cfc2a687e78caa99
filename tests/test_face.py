"""What scripts and notebooks use: `import lorestudio` has it, typed, documented and quickly there."""

from __future__ import annotations

import ast
import asyncio
import doctest
import inspect
import json
import subprocess
import sys
from pathlib import Path
from typing import get_type_hints

import pytest

import lorestudio
from lorestudio.exchange.problems import InputError
from lorestudio.settings.files import SettingsError
from lorestudio.settings.hybrid import HybridSettings
from lorestudio.studio import scripting
from lorestudio.systems.registry import KINDS
from lorestudio.trace.model import Trace

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "resources" / "docs" / "python.md"
HEAVY = ("PySide6", "networkx", "numpy", "pydantic", "httpx", "typer", "lorestudio.systems", "lorestudio.studio")


@pytest.fixture(scope="module")
def project() -> lorestudio.Project:
    return lorestudio.demo_project()


def loaded_by(script: str) -> list[str]:
    """The modules that are there after a script in a process of its own."""
    whole = [sys.executable, "-c", f"{script}; import sys; print(*sys.modules)"]
    return subprocess.run(whole, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()  # noqa: S603


def test_importing_it_loads_nothing() -> None:
    loaded = loaded_by("import lorestudio")
    assert "lorestudio" in loaded
    assert not [name for name in loaded if name.startswith(HEAVY)]


@pytest.mark.long
def test_replaying_needs_neither_a_window_nor_what_only_graphs_need() -> None:
    assert not [
        name
        for name in loaded_by("import lorestudio; lorestudio.replay")
        if name.startswith(("PySide6", "networkx", "typer"))
    ]


def test_types_and_names_are_the_same() -> None:
    """What mypy reads is what the module gives."""
    tree = ast.parse(Path(inspect.getfile(lorestudio)).read_text(encoding="utf-8"))
    block = next(node for node in tree.body if isinstance(node, ast.If) and isinstance(node.test, ast.Name))
    typed = {
        (alias.asname or alias.name): f"{node.module}.{alias.name}"
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert sorted([*typed, "__version__"]) == sorted(lorestudio.__all__) == lorestudio.__all__
    for name, place in typed.items():
        module, _, attribute = place.rpartition(".")
        assert getattr(lorestudio, name) is getattr(sys.modules[module], attribute)
    assert set(lorestudio.__all__) <= set(dir(lorestudio))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = lorestudio.nothing


@pytest.mark.parametrize("name", [name for name in lorestudio.__all__ if name.islower() and name != "__version__"])
def test_each_function_says_what_it_does_with_an_example(name: str) -> None:
    function = getattr(lorestudio, name)
    assert get_type_hints(function)["return"] is not None
    (test,) = (each for each in doctest.DocTestFinder(recurse=False).find(function, name) if each.examples)
    test.globs = dict(vars(inspect.getmodule(function)))
    assert doctest.DocTestRunner(verbose=False).run(test).failed == 0


def test_the_examples_of_package_and_page() -> None:
    for found in (doctest.testmod(lorestudio), doctest.testfile(str(PAGE), module_relative=False, encoding="utf-8")):
        assert (found.failed, found.attempted > 1) == (0, True)
    text = PAGE.read_text(encoding="utf-8")
    assert [name for name in lorestudio.__all__ if f"`{name}" not in text] == []


def test_a_notebook_whose_loop_runs_may_replay(project: lorestudio.Project) -> None:
    async def cell() -> tuple[Trace, ...]:
        return lorestudio.replay(project, "hybrid")

    traces = asyncio.run(cell())
    assert [trace.prompt for trace in traces] == [trace.prompt for trace in lorestudio.replay(project, "hybrid")]


def test_a_notebook_whose_loop_runs_may_open_and_tune(tmp_path: Path) -> None:
    expected = tmp_path / "mine.yaml"
    expected.write_text("expectations:\n  - {note: The Brume, should: be in}\n", encoding="utf-8")

    async def cell() -> lorestudio.SearchOutcome:
        demo = lorestudio.demo_project()
        (folder,) = demo.vault_folders
        opened = lorestudio.open_project(str(folder), demo.chat_path, demo.settings_path)
        plan = lorestudio.Plan(lorestudio.SearchWay.GRID, runs=1)
        return lorestudio.tune(opened, ["maxTokensBudget=200"], expected, plan=plan)

    assert len(asyncio.run(cell()).tried) == 1


def test_what_cannot_answer_or_be_tuned_is_said(project: lorestudio.Project) -> None:
    with pytest.raises(lorestudio.InputError, match=r"answers: give an object that answers"):
        lorestudio.replay(project, answers="recorded")  # type: ignore[arg-type]  # as people try
    with pytest.raises(lorestudio.InputError, match="projects: there is none"):
        lorestudio.tune([], ["maxTokensBudget=200"])


def test_settings_of_a_system(project: lorestudio.Project) -> None:
    given = lorestudio.replay(project, "hybrid", HybridSettings(limit=0, mode="semantic_first"))
    assert given[-1].limits[1].maximum == 0
    assert lorestudio.replay(project, "hybrid", {"limit": 0, "mode": "semantic_first"})[-1].prompt == given[-1].prompt
    with pytest.raises(SettingsError, match="Did you mean “limit”"):
        lorestudio.replay(project, "hybrid", {"limits": 0})
    with pytest.raises(InputError, match="takes DeepLoreSettings, not HybridSettings"):
        lorestudio.replay(project, settings=HybridSettings())


def test_settings_that_say_how_notes_are_read(project: lorestudio.Project) -> None:
    """Another tag makes other notes entries, also for the system of the project itself."""
    assert lorestudio.replay(project, settings={"lorebook_tag": "nobody-has-this"})[-1].index_size == 0


def test_what_is_not_there_is_said(project: lorestudio.Project, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="Did you mean “The Brume”"):
        lorestudio.find_entry(project, "The Brum")
    with pytest.raises(InputError, match=r"^system: there is no system “nope”"):
        lorestudio.replay(project, "nope")
    with pytest.raises(InputError):
        lorestudio.open_project(project.vault_folders[0], str(tmp_path / "none.jsonl"))
    assert lorestudio.system_names() == tuple(KINDS)


def test_a_lorebook_is_scanned_as_on_the_command_line_where_no_system_is_named(tmp_path: Path) -> None:
    book, chat, expected = tmp_path / "Book.json", tmp_path / "chat.txt", tmp_path / "mine.yaml"
    pier = {"uid": 0, "key": ["harbour"], "comment": "Pier", "content": "Wet."}
    book.write_text(json.dumps({"entries": {"0": pier}}), encoding="utf-8")
    chat.write_text("Ann: To the harbour.\nBram: Gladly.\n", encoding="utf-8")
    expected.write_text("expectations:\n  - {note: Pier, should: be in}\n", encoding="utf-8")
    opened = lorestudio.open_project(book, chat)
    assert {trace.system for trace in lorestudio.replay(opened)} == {"world-info"}
    assert lorestudio.replay(opened, "deeplore")[0].system == "deeplore"
    assert lorestudio.check(opened, expected).run == lorestudio.score(opened, expected).run == "world-info"
    plan = lorestudio.Plan(lorestudio.SearchWay.GRID, runs=1)
    assert len(lorestudio.tune(opened, ["depth=1"], expected, plan=plan).tried) == 1


def test_one_vault_or_several_and_places_as_text(project: lorestudio.Project) -> None:
    (folder,) = project.vault_folders
    opened = lorestudio.open_project(str(folder), str(project.chat_path), str(project.settings_path), seed=3)
    assert scripting.replay(opened)[-1].prompt == scripting.replay(project)[-1].prompt
    assert lorestudio.open_project([folder]).chat is None
