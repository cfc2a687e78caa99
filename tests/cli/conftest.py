"""A small vault with a chat, and a way to run the command line."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest
import typer
import typer.testing
from typer.testing import CliRunner, Result

from lorestudio.cli.app import app

Run = Callable[..., Result]


@pytest.fixture(scope="package", autouse=True)
def _one_command() -> Iterator[None]:
    """Typer makes the commands out of their functions anew for each call, which took most of these tests' time."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(typer.testing, "_get_command", cache(typer.main.get_command), raising=False)
        yield


@pytest.fixture(autouse=True)
def _surroundings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No display, a fixed width, an empty current folder, and folders of the test's own for everything else."""
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("COLUMNS", "100")
    for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"):
        monkeypatch.setenv(name, str(tmp_path / "home" / name))
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")


@pytest.fixture
def lorestudio() -> Run:
    """Run the command line in this process: `lorestudio("replay", path)`."""

    def run(*arguments: object) -> Result:
        return CliRunner().invoke(app, [str(argument) for argument in arguments])

    return run


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    """Three notes: one by key, one that a gate removes, one that rests after it went in."""
    folder = tmp_path / "brume"
    folder.mkdir()
    for name, front in {
        "Lamp": "keys: [lamp]",
        "Old Bell": "keys: [bell]\nera: before the flood",
        "Tide": "keys: [tide]\ncooldown: 2",
    }.items():
        (folder / f"{name}.md").write_text(f"---\ntags: [lorebook]\n{front}\n---\n{name}.\n", encoding="utf-8")
    return folder


@pytest.fixture
def chat(tmp_path: Path) -> Path:
    """Two replies, the first with two swipes."""
    path = tmp_path / "chat.jsonl"
    context = {"era": "after the flood"}
    records = [
        {"user_name": "Wren", "character_name": "Ottoline", "chat_metadata": {"deeplore_context": context}},
        {"name": "Wren", "is_user": True, "mes": "A lamp, a bell and the tide."},
        {"name": "Ottoline", "mes": "Yes.", "swipes": ["Yes.", "No."], "swipe_id": 0},
        {"name": "Wren", "is_user": True, "mes": "The tide?"},
        {"name": "Ottoline", "mes": "Later."},
    ]
    path.write_text("\n".join(json.dumps(record) for record in records), encoding="utf-8")
    return path


@pytest.fixture
def scenario() -> dict[str, object]:
    """A scenario with one note and one generation."""
    return {
        "id": "lamp",
        "vaults": [{"name": "v", "files": [["Lamp.md", "---\ntags: [lorebook]\nkeys: [lamp]\n---\nLicht für alle."]]}],
        "messages": [{"name": "Wren", "is_user": True, "mes": "A lamp!"}],
        "generations": [{"now_ms": 1_700_000_000_000, "chat": [0]}],
    }
