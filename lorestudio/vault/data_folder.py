"""Where the studio keeps what protects the notes: history, change log, trash, unsaved texts."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import platformdirs


def default_folder() -> Path:
    """The folder below the person's data that `ChangeLog` takes; unsaved texts lie in `recovery` in it."""
    return platformdirs.user_data_path("lorestudio", appauthor=False) / "notes"


def utc_now() -> datetime:
    """The time, as every clock here gives it: aware, in UTC."""
    return datetime.now(UTC)


def place_key(path: Path) -> str:
    """One spelling for the place of a file, whichever links lead to its folder; a link itself is not followed."""
    return os.path.join(os.path.realpath(path.parent), path.name)  # noqa: PTH118  # a string is what is compared


def reason_of(error: Exception) -> str:
    """Why the system refused, in its own words."""
    return getattr(error, "strerror", None) or str(error) or type(error).__name__


def told_of_disk(error: OSError) -> str:
    """What is said where nobody expected the system to refuse: a network folder that went away does so at any look."""
    if error.filename is None:
        return str(error)
    return f"{error.filename}: {reason_of(error)}. Look whether its disk and folder are there, and try again."


@contextmanager
def refused(error_of: Callable[[str], Exception], sentence: str) -> Iterator[None]:
    """Turn what the system refuses into an error with this sentence; `{reason}` in it becomes the system's words."""
    try:
        yield
    except OSError as error:
        raise error_of(sentence.replace("{reason}", reason_of(error))) from error
