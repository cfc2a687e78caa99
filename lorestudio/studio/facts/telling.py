"""What the store refuses, told as input that cannot be used."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from lorestudio.exchange.problems import InputError
from lorestudio.memory.facts.records import FactError


@contextmanager
def told() -> Iterator[None]:
    """Raise InputError in place of FactError."""
    try:
        yield
    except FactError as error:
        raise InputError("memories", str(error)) from None
