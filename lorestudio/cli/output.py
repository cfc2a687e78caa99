"""Messages on the error stream and the exit codes that go with them.

Output in UTF-8, whatever the terminal's encoding is.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Final

import typer

from lorestudio.domain.lifecycle import Cancelled
from lorestudio.exchange.problems import InputError
from lorestudio.settings.files import SettingsError
from lorestudio.studio.project.answering import AnsweringError, ProfileError
from lorestudio.vault.files import VaultError

FAILED: Final = 1
"""Exit code for what cannot be done here and now."""
BAD_INPUT: Final = 2
"""Exit code for input that cannot be used."""
STOPPED: Final = 130
"""Exit code after Ctrl+C, as shells have it, and after a “no”."""


def say(message: str) -> None:
    """One message on the error stream."""
    typer.echo(f"lorestudio: {message}", err=True)


def say_all(messages: Iterable[str]) -> None:
    """Messages on the error stream, each once."""
    for message in dict.fromkeys(messages):
        say(message)


@contextmanager
def clear_messages() -> Iterator[None]:
    """Turn what people can mend into one message and exit code 2, and Ctrl+C into a word and exit code 130."""
    try:
        yield
    except (InputError, SettingsError, VaultError, AnsweringError, ProfileError) as error:
        say(str(error))
        raise typer.Exit(BAD_INPUT) from error
    except typer.Abort as abort:  # a question was not answered: with Ctrl+C, or because nobody is there
        typer.echo(err=True)  # the question's line is still open
        if isinstance(abort.__context__, EOFError):
            say("there is nobody here to answer. Nothing was done.")
            raise typer.Exit(BAD_INPUT) from abort
        say("stopped.")
        raise typer.Exit(STOPPED) from abort
    except (KeyboardInterrupt, Cancelled) as stop:
        say("stopped.")
        raise typer.Exit(STOPPED) from stop


def as_bytes(text: str) -> bytes:
    """The text in UTF-8; half a surrogate pair becomes its JSON escape."""
    return text.encode("utf-8", "backslashreplace")


def json_bytes(value: object, indent: int | None = None) -> bytes:
    """JSON as a line, or indented."""
    return as_bytes(json.dumps(value, ensure_ascii=False, indent=indent)) + b"\n"


def print_json(value: object, indent: int | None = None) -> None:
    """The same on standard output."""
    typer.echo(json_bytes(value, indent), nl=False)
