"""Giving a reader one input after another, and telling what it did that it may not do."""

from __future__ import annotations

import tempfile
import time
from contextlib import suppress
from pathlib import Path
from random import Random

from tests.fuzz.mutation import damaged
from tests.fuzz.readers import CHAT_VAULT, Reader


def give(reader: Reader, data: bytes) -> float:
    """Let the reader have a file with these bytes; how many seconds it took. Raises what it may not raise."""
    with tempfile.TemporaryDirectory(prefix="fuzz-") as folder:
        path = Path(folder) / reader.file
        path.parent.mkdir(parents=True, exist_ok=True)
        if "vault" in reader.needs:
            for name, text in CHAT_VAULT.items():
                (Path(folder) / "vault").mkdir(exist_ok=True)
                (Path(folder) / "vault" / name).write_bytes(text)
        path.write_bytes(data)
        begun = time.process_time()
        with suppress(*reader.refuses):
            reader.read(path)
        return time.process_time() - begun


def one(reader: Reader, number: int) -> bytes:
    """The input of that number, the same each time."""
    random = Random(f"{reader.name} {number}")
    return damaged(random.choice(reader.seeds), random)
