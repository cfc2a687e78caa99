"""The command line: the second front end, which can do what the window can."""

import gc
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def loading() -> Iterator[None]:
    """Load modules meanwhile, without looking for garbage: they make none, but half a million objects that stay.

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


def main() -> None:
    """Run the command line. The version is told without loading it."""
    if sys.argv[1:] == ["--version"]:
        from lorestudio.domain.resources import VERSION

        print(f"lorestudio {VERSION}")  # noqa: T201  # what it was asked for
        return
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # threads for sums as small as ours only cost their start
    with loading():
        from lorestudio.cli.app import main as run
    run()


__all__ = ["loading", "main"]
