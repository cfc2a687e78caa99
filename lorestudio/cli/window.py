"""Opening the window from the command line, and what is said where it cannot be opened."""

from __future__ import annotations

import os
from pathlib import Path
from tempfile import gettempdir
from types import ModuleType
from typing import Final

import typer

from lorestudio.cli.display import has_display, missing_for_x
from lorestudio.cli.output import FAILED, say
from lorestudio.exchange.problems import InputError
from lorestudio.studio.project.project import Project

QT_PACKAGES: Final = (
    "libegl1 libgl1 libfontconfig1 libdbus-1-3 libxkbcommon-x11-0 libxcb-cursor0 libxcb-icccm4 libxcb-image0 "
    "libxcb-keysyms1 libxcb-randr0 libxcb-render-util0 libxcb-shape0 libxcb-xinerama0 libxcb-xkb1"
)
"""What Qt needs of Debian and Ubuntu."""


def show_window(project: Project) -> int:
    """Open the window and wait for its end; returns the exit code."""
    ui = _ui()
    lacking = missing_for_x()
    if lacking:
        say(f"the window cannot be opened. {_qt_advice(OSError(lacking))}")
        raise typer.Exit(FAILED)
    return int(ui.run(project))


def save_picture(project: Project, path: Path) -> None:
    """Write a picture of the window. Raises InputError."""
    try:
        _ui().render_window(project, path)
    except OSError as error:
        raise InputError(path, f"the picture cannot be written: {error.strerror or error}.") from error
    typer.echo(f"A picture of the window: {path}")


def writable_folder() -> Path:
    """The current folder, or the one for temporary files where nothing can be written here."""
    here = Path.cwd()
    return here if os.access(here, os.W_OK) else Path(gettempdir())


def window_problem() -> str:
    """Why the window cannot be opened, "" where it can."""
    try:
        import lorestudio.ui.shell.app  # noqa: F401, PLC0415  # whether it loads is the question
    except ImportError as error:
        return _qt_advice(error)
    lacking = missing_for_x() if has_display() else ""
    return _qt_advice(OSError(lacking)) if lacking else ""


def _ui() -> ModuleType:
    """The window's module, imported only by the commands that need it."""
    try:
        from lorestudio.ui.shell import app as ui  # noqa: PLC0415  # the other commands work where Qt is not installed
    except ImportError as error:
        say(f"the window cannot be opened. {_qt_advice(error)}")
        raise typer.Exit(FAILED) from error
    return ui


def _qt_advice(error: Exception) -> str:
    if isinstance(error, ModuleNotFoundError):
        return f"Qt is not installed ({error}). Run: pip install PySide6-Essentials qasync"
    return f"Qt does not load ({error}). On Debian and Ubuntu: apt-get install {QT_PACKAGES}"
