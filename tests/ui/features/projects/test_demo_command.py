"""`lorestudio demo` and what else of the command line needs Qt, in processes of their own and without a display."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from PySide6.QtGui import QImage
from typer.testing import CliRunner

from lorestudio.cli.app import app

pytestmark = pytest.mark.long

ROOT = Path(__file__).resolve().parents[4]


def program(tmp_path: Path, *arguments: object, code: str = "", **more: str) -> subprocess.CompletedProcess[str]:
    """Run the program with nothing on the screen and all its folders below `tmp_path`."""
    start = ["-c", code] if code else ["-m", "lorestudio"]
    kept = {
        name: value
        for name, value in os.environ.items()
        if name not in {"DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"} and not name.startswith("XDG_")
    }
    return subprocess.run(  # noqa: S603  # our own program
        [sys.executable, *start, *(str(argument) for argument in arguments)],
        env=kept | {"PYTHONPATH": str(ROOT), "HOME": str(tmp_path / "home"), "COLUMNS": "100"} | more,
        cwd=tmp_path,
        capture_output=True,
        encoding="utf-8",
        timeout=90,
        check=False,
    )


def colours(path: Path) -> set[int]:
    """The colours on a coarse grid over the picture."""
    image = QImage(str(path))
    assert not image.isNull()
    assert image.width() >= 1000
    assert image.height() >= 600
    return {image.pixel(x, y) for x in range(0, image.width(), 7) for y in range(0, image.height(), 7)}


def test_demo_without_a_display(tmp_path: Path) -> None:
    done = program(tmp_path, "demo")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("There is no display here, so the demo is replayed in the terminal.")
    assert "27 generations" in done.stdout
    assert "- Hat Wasps: blocked" in done.stdout
    assert "The last generation: " in done.stdout
    picture = tmp_path / "lorestudio-demo.png"
    assert f"A picture of the window: {picture}" in done.stdout
    assert len(colours(picture)) > 20


def test_demo_where_the_display_is_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In this process, because only what is said differs."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("QT_QPA_PLATFORM")
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    monkeypatch.setenv("DISPLAY", ":64123")
    pictured: list[Path] = []
    monkeypatch.setattr("lorestudio.cli.window.save_picture", lambda _project, path: pictured.append(path))
    done = CliRunner().invoke(app, ["demo"])
    assert done.exit_code == 0, done.output
    assert "There is no display here" in done.stdout
    assert pictured == [Path.cwd() / "lorestudio-demo.png"]


def test_screenshot_is_a_picture_of_the_window(tmp_path: Path) -> None:
    done = program(tmp_path, "demo", "--screenshot", tmp_path / "shot.png")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"A picture of the window: {tmp_path / 'shot.png'}\n"
    assert len(colours(tmp_path / "shot.png")) > 20


def test_screenshot_of_a_persons_vault(tmp_path: Path) -> None:
    vault = tmp_path / "brume"
    vault.mkdir()
    (vault / "Lamp.md").write_text("---\ntags: [lorebook]\nkeys: [lamp]\n---\nLight.\n")
    done = program(tmp_path, "open", vault, "--screenshot", "shot.png")
    assert (done.returncode, done.stderr) == (0, "")
    assert colours(tmp_path / "shot.png")


def test_a_screenshot_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "vault").mkdir()
    done = program(tmp_path, "open", "vault", "--screenshot", tmp_path / "no" / "such" / "shot.png")
    assert done.returncode == 2
    assert "shot.png" in done.stderr
    assert "Traceback" not in done.stderr


def test_doctor_finds_nothing_wrong(tmp_path: Path) -> None:
    done = program(tmp_path, "doctor")
    assert "✗" not in done.stdout
    assert done.returncode == 0, done.stdout
    assert "Qt loads" in done.stdout


@pytest.mark.skipif(sys.platform == "win32", reason="signals of this kind end a program on Windows")
@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT"])
def test_a_signal_closes_the_window_and_what_it_knows_is_kept(tmp_path: Path, name: str) -> None:
    code = f"""
import os, signal, sys
from pathlib import Path
from PySide6.QtCore import QTimer
from lorestudio.ui.shell import app as ui
from tests.ui.worlds import make_project
ui.application(offscreen=True)
QTimer.singleShot(300, lambda: os.kill(os.getpid(), signal.{name}))
sys.exit(ui.run(make_project(Path("vault")), settings_file=Path("window.ini")))
"""
    done = program(tmp_path, code=code, QT_QPA_PLATFORM="offscreen")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "window.ini").stat().st_size > 0
