"""The program itself: its version, its files and folders, and the loading of its modules."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from importlib.resources import files
from pathlib import Path
from typing import Final

from platformdirs import PlatformDirs


def _version() -> str:
    try:
        return version("lorestudio")
    except PackageNotFoundError:  # running from a source tree that was never installed
        return "0.0.0"


VERSION: Final = _version()

OWN_FOLDERS: Final = PlatformDirs("lorestudio", appauthor=False)
"""Where the person's files of the program lie: settings, what is kept, and what can be made again."""


def resource(*parts: str) -> Path:
    """A file or folder of `resources/`, whether the program was installed or runs from its source tree."""
    return _root().joinpath(*parts)


@cache
def _root() -> Path:
    package = Path(str(files("lorestudio")))
    installed = package / "resources"
    return installed if installed.is_dir() else package.parent / "resources"


@cache
def prompt_text(*parts: str) -> str:
    """A question to a model from `resources/prompts/`, named without its ending; no line end behind it."""
    *folders, name = parts
    return resource("prompts", *folders, f"{name}.txt").read_text(encoding="utf-8").removesuffix("\n")


@contextmanager
def loading() -> Iterator[None]:
    """Load modules meanwhile: they make no garbage, but half a million objects that stay.

    Looking at those again and again takes a tenth of the start; what is there by then is never looked at again.
    """
    before = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        if before:
            gc.enable()
