"""What all commands print alike: messages with their exit codes, JSON in UTF-8, differences."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import sys
import threading
from collections.abc import Awaitable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NoReturn, TypeVar

import typer

from lorestudio.domain.lifecycle import Cancelled
from lorestudio.exchange.json_file import read_file, utf8_text
from lorestudio.exchange.problems import InputError
from lorestudio.settings.files import TEXT_AT_MOST, SettingsError
from lorestudio.studio.project import AnsweringError, LlmError
from lorestudio.studio.project.tokens import TokenizerError
from lorestudio.trace.wording import controls_escaped, without_controls
from lorestudio.vault.files import VaultError, told_of_disk

FAILED: Final = 1
"""Exit code for what cannot be done here and now."""
BAD_INPUT: Final = 2
"""Exit code for input that cannot be used."""
STOPPED: Final = 130
"""Exit code after Ctrl+C, as shells have it, and after a “no”."""

_Result = TypeVar("_Result")

_SOME_LINE_ENDS: Final = re.compile("[\u2028\u2029]")

STANDARD_STREAM: Final = "-"
"""How a command is told to read a text from standard input, or to print what it would write."""


def shown(text: str) -> str:
    """The text as every terminal takes it, half a character as its number, and of line ends those of a terminal alone:
    what only some readers take for one is a blank.
    """
    return as_bytes(_SOME_LINE_ENDS.sub(" ", without_controls(text))).decode()


def echo(text: str | bytes = "", *, nl: bool = True, err: bool = False) -> None:
    """A text without what steers a terminal. Bytes are what a file holds: whole, except to be read at a terminal."""
    if isinstance(text, bytes) and sys.stdout.isatty():
        text = text.decode("utf-8", "backslashreplace")
    typer.echo(shown(text) if isinstance(text, str) else text, nl=nl, err=err)


@contextmanager
def even_unread() -> Iterator[None]:
    """Say what is about to be written, and go on where nobody reads it to the end, as before `| head`."""
    try:
        yield
    except (BrokenPipeError, SystemExit):  # the latter where a table is cut off
        with Path(os.devnull).open("wb") as nowhere:
            os.dup2(nowhere.fileno(), sys.stdout.fileno())  # for what is said after it


_BEFORE = re.compile(r"\s*(?:\S.*\s{2}|\d+\. )?")
"""What stands before the text of a line: blanks, and a number or what is in columns."""


def folded(lines: Iterable[str], width: int) -> Iterator[str]:
    """Lines of words in at most `width` cells each; what goes on stands below where the text of its line begins."""
    from rich.console import Console  # noqa: PLC0415  # where nobody reads, nothing is folded
    from rich.text import Text  # noqa: PLC0415  # the same

    console = Console()
    for line in lines:
        found = _BEFORE.match(line)
        begins = found.end() if found is not None and found.end() <= width * 2 // 3 else 0
        parts = Text(line[begins:]).wrap(console, width - begins) or [Text()]
        for number, part in enumerate(parts):
            yield f"{' ' * begins if number else line[:begins]}{part.plain.rstrip()}".rstrip()


def say(message: str) -> None:
    """One message on the error stream, in lines of its width where that is a terminal."""
    text = f"lorestudio: {message}"
    if sys.stderr.isatty():
        text = "\n".join(folded(text.split("\n"), shutil.get_terminal_size().columns))
    echo(text, err=True)


def say_all(messages: Iterable[str]) -> None:
    """Messages on the error stream, each once."""
    for message in dict.fromkeys(messages):
        say(message)


@contextmanager
def clear_messages() -> Iterator[None]:
    """Turn what people can mend into one message and exit code 2, and Ctrl+C into a word and exit code 130."""
    try:
        with _heard_at_once():
            yield
    except (InputError, SettingsError, VaultError, AnsweringError, TokenizerError) as error:
        say(str(error))
        raise typer.Exit(BAD_INPUT) from error
    except OSError as error:
        if error.filename is None:
            raise
        say(told_of_disk(error))
        raise typer.Exit(BAD_INPUT) from error
    except MemoryError as error:
        say("there is not enough memory for this. Give smaller files, or close other programs.")
        raise typer.Exit(BAD_INPUT) from error
    except typer.Abort as abort:  # a key was not typed: with Ctrl+C, or because nobody is there
        echo(err=True)  # the question's line is still open
        if isinstance(abort.__context__, EOFError):
            say("there is nobody here to answer. Nothing was done.")
            raise typer.Exit(BAD_INPUT) from abort
        say("stopped.")
        raise typer.Exit(STOPPED) from abort
    except (KeyboardInterrupt, Cancelled) as stop:
        say("stopped.")
        raise typer.Exit(STOPPED) from stop


@contextmanager
def _heard_at_once() -> Iterator[None]:
    """Have Ctrl+C end what is computed, too: asyncio would tell its task alone, which hears of it where it waits."""
    before = signal.getsignal(signal.SIGINT)
    if before is not signal.default_int_handler or threading.current_thread() is not threading.main_thread():
        yield  # whoever started this sees to it
        return

    def interrupt(_number: int, _frame: object) -> NoReturn:
        raise KeyboardInterrupt

    signal.signal(signal.SIGINT, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def done_whole() -> Iterator[None]:
    """Hold Ctrl+C back until the block is done: for what must not be left in the middle, and takes a moment alone."""
    before, held = signal.getsignal(signal.SIGINT), list[int]()
    if not callable(before) or threading.current_thread() is not threading.main_thread():
        yield  # nobody hears of it here
        return
    signal.signal(signal.SIGINT, lambda number, _frame: held.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if held:
            signal.raise_signal(signal.SIGINT)


def answer_to(question: str, option: str, nobody: str) -> str:
    """What a person answers, in small letters. Raises InputError about the option where nobody is here."""
    echo(question, nl=False, err=True)
    try:
        return input().strip().lower()  # not typer's question: that puts a blank into the output
    except EOFError as error:
        echo(err=True)
        raise InputError(option, nobody) from error


def ask_first(question: str, *, yes: bool, nothing: str = "nothing was changed") -> None:
    """Go on where the person agrees; `yes`: they have already. `nothing` says what was not done otherwise.

    After a “no” the command ends with `STOPPED`. Raises InputError where nobody is here.
    """
    nobody = f"nobody is here to agree, so {nothing}. Give --yes to agree."
    if not yes and answer_to(f"{question} [y/N] ", "--yes", nobody) not in {"y", "yes"}:
        say(f"stopped; {nothing}.")
        raise typer.Exit(STOPPED)


def waited(work: Awaitable[_Result]) -> _Result:
    """What the work comes to; a provider's failure as a message."""
    import asyncio  # noqa: PLC0415  # most commands wait for nobody

    async def whole() -> _Result:
        return await work

    try:
        return asyncio.run(whole())
    except LlmError as error:
        say(str(error))
        raise typer.Exit(FAILED) from error


def as_bytes(text: str) -> bytes:
    """The text in UTF-8; half a surrogate pair becomes its JSON escape."""
    return text.encode("utf-8", "backslashreplace")


def json_bytes(value: object, indent: int | None = None) -> bytes:
    """JSON as a line, or indented."""
    return as_bytes(controls_escaped(json.dumps(value, ensure_ascii=False, indent=indent))) + b"\n"


def print_json(value: object, indent: int | None = None) -> None:
    """The same on standard output."""
    echo(json_bytes(value, indent), nl=False)


def read_text(path: Path) -> str:
    """A text from a file, or from standard input for `-`. Raises InputError."""
    data = sys.stdin.buffer.read(TEXT_AT_MOST + 1) if str(path) == STANDARD_STREAM else read_file(path)
    if len(data) > TEXT_AT_MOST:
        raise InputError(path, f"it is larger than {TEXT_AT_MOST // 1024 // 1024} MiB.")
    return utf8_text(data, path, "Save it as UTF-8.")
