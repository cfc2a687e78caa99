"""Loading modules, without looking for garbage meanwhile."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


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
