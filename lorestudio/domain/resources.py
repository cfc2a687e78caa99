"""What comes with the program: its version and its files."""

from __future__ import annotations

from functools import cache
from importlib.metadata import PackageNotFoundError, version
from importlib.resources import files
from pathlib import Path
from typing import Final


def _version() -> str:
    try:
        return version("lorestudio")
    except PackageNotFoundError:  # running from a source tree that was never installed
        return "0.0.0"


VERSION: Final = _version()


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
