"""`lorestudio` alone, and the demo as a person's own copy."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from lorestudio.cli import window
from lorestudio.cli.app import COMMANDS, app
from lorestudio.studio.project.project import Project, demo_folder, demo_project


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[Project | None]:
    """What the window was opened with; the person's data lie in a folder of the test."""
    shown: list[Project | None] = []
    monkeypatch.setattr(window, "has_display", lambda: True)
    monkeypatch.setattr(window, "show_window", lambda project: shown.append(project) or 0)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    return shown


def test_without_a_command_the_window_opens_on_its_start_screen(opened: list[Project | None]) -> None:
    assert CliRunner().invoke(app, []).exit_code == 0
    assert opened == [None]


def test_without_a_display_it_says_what_there_is_instead(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(window, "has_display", lambda: False)
    done = CliRunner().invoke(app, [])
    assert done.exit_code == 1
    assert "replay" in done.output
    assert "no display" in done.output


def test_the_demo_is_a_copy_that_reset_brings_back(opened: list[Project | None]) -> None:
    assert CliRunner().invoke(app, ["demo"]).exit_code == 0
    (project,) = opened
    assert project is not None
    assert project.roots == [demo_folder() / "The Brume"]
    packed = demo_project()
    assert [entry.content for entry in project.index.entries] == [entry.content for entry in packed.index.entries]
    assert project.chat == packed.chat
    note = project.roots[0] / "The Brume.md"
    note.write_text("gone")
    assert CliRunner().invoke(app, ["demo"]).exit_code == 0
    assert note.read_text() == "gone"
    assert CliRunner().invoke(app, ["demo", "--reset"]).exit_code == 0
    assert note.read_text() != "gone"
    kept = demo_folder().with_name("demo before reset")
    assert (kept / "The Brume" / "The Brume.md").read_text() == "gone"
    assert sorted(path.name for path in kept.parent.iterdir()) == ["demo", "demo before reset"]


def test_a_demo_that_cannot_be_copied_is_said(
    opened: list[Project | None], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "file"))
    done = CliRunner().invoke(app, ["demo"])
    assert done.exit_code == 2
    assert "the demo cannot be copied there" in done.output
    assert opened == []


@pytest.mark.parametrize("name", COMMANDS)
def test_no_command_offers_to_change_the_shell(name: str) -> None:
    told = CliRunner().invoke(app, [name, "--help"])
    assert told.exit_code == 0
    assert "-completion" not in told.stdout
