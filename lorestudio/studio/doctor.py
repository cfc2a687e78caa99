"""The doctor: whether everything that the studio needs is here and works."""

from __future__ import annotations

import asyncio
import platform
import sys
import tempfile
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Final

import platformdirs

from lorestudio.studio.project import demo_project
from lorestudio.studio.simulator import Simulator
from lorestudio.trace import TraceStore, summary

LIBRARIES: Final = ("numpy", "pyahocorasick", "pydantic", "rank-bm25", "PySide6-Essentials", "qasync")


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at; `message` says what was found, and what to do where it is not fine."""

    subject: str
    ok: bool
    message: str


def examine(*, has_display: bool) -> tuple[Finding, ...]:
    """Look at Python, the libraries, the folders, and the way from the demo vault to a stored trace."""
    return (
        Finding("Python", sys.version_info >= (3, 11), f"{platform.python_version()} on {platform.platform(terse=True)}"),
        *(_library(name) for name in LIBRARIES),
        *(_folder(name, path) for name, path in _folders().items()),
        _demo(),
        _store(),
        Finding(
            "Display",
            True,
            "a window can be opened" if has_display else "none; “demo” and “replay” work in the terminal",
        ),
    )


def _folders() -> dict[str, Path]:
    return {
        "Settings folder": platformdirs.user_config_path("lorestudio"),
        "Data folder": platformdirs.user_data_path("lorestudio"),
        "Cache folder": platformdirs.user_cache_path("lorestudio"),
    }


def _library(name: str) -> Finding:
    try:
        return Finding(name, True, version(name))
    except PackageNotFoundError:
        return Finding(name, False, f"not installed. Run: pip install {name}")


def _folder(name: str, path: Path) -> Finding:
    try:
        path.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=path):
            return Finding(name, True, str(path))
    except OSError as error:
        return Finding(name, False, f"{path} cannot be written ({error.strerror or error}). Check its permissions.")


def _demo() -> Finding:
    try:
        project = demo_project()
        traces = asyncio.run(Simulator(project).replay())
    except (OSError, ValueError) as error:
        return Finding("Demo", False, f"{error} Install the program again.")
    return Finding("Demo", True, f"{len(project.index.entries)} entries, {len(traces)} generations. {summary(traces[-1])}")


def _store() -> Finding:
    with tempfile.TemporaryDirectory() as folder:
        try:
            with TraceStore(Path(folder) / "traces.sqlite") as store:
                store.latest_all("doctor")
        except (OSError, ValueError) as error:
            return Finding("Trace store", False, f"SQLite does not work here: {error}")
    return Finding("Trace store", True, "SQLite keeps traces")
