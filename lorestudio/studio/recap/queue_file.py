"""The queue in its file beside the chat, `<chat>.recap-queue.json`: whole at every moment (spec: recap-memory 6.1)."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Final

from lorestudio.domain.javascript import Json
from lorestudio.exchange.problems import InputError
from lorestudio.memory.recap.queue_state import QueueState, read_queue, write_queue
from lorestudio.settings.files import write_atomically

_ENDING: Final = ".recap-queue.json"


def queue_path(chat: Path) -> Path:
    """The file of the queue that belongs to a chat file."""
    return chat.with_name(f"{chat.stem}{_ENDING}")


def load_queue(path: Path) -> tuple[QueueState, tuple[str, ...]]:
    """The queue, and a sentence where its file was damaged; that is moved aside and a new queue is begun.

    Raises InputError where it cannot be read.
    """
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return QueueState(), ()
    except OSError as error:
        raise InputError(path, f"the queue cannot be read: {error.strerror or error}.") from error
    try:
        text = data.decode("utf-8")
        sound = isinstance(json.loads(text), dict)
    except (UnicodeDecodeError, ValueError, RecursionError):
        text, sound = "", False
    if sound:
        return replace(read_queue(text), current=None), ()
    aside = _aside(path)
    try:
        path.replace(aside)
    except OSError as error:
        raise InputError(path, f"the queue is damaged and cannot be moved: {error.strerror or error}.") from error
    return QueueState(), (f"{path.name} was damaged; it is now {aside.name}, and a new queue was begun.",)


def save_queue(path: Path, state: QueueState) -> None:
    """Write the queue; an empty one that never had anything in it leaves no file. Raises InputError."""
    if state == QueueState() and not path.exists():
        return
    document: Json = write_queue(state)
    try:
        write_atomically(path, json.dumps(document, ensure_ascii=False, indent=1).encode("utf-8", "backslashreplace"))
    except OSError as error:
        raise InputError(path, f"the queue cannot be written: {error.strerror or error}.") from error


def _aside(path: Path) -> Path:
    number = 1
    while (found := path.with_name(f"{path.name}.damaged-{number}")).exists():
        number += 1
    return found
