"""The command line: the second front end, which can do what the window can."""

import gc
import os
import sys
from typing import Final

GARBAGE: Final = 10_000
"""So many new objects at least before Python looks for garbage among them. Loading modules makes none, but half a
million objects that stay, and looking at them again and again takes a tenth of the start."""


def main() -> None:
    """Run the command line. The version is told without loading it."""
    if sys.argv[1:] == ["--version"]:
        from lorestudio.domain.resources import VERSION

        print(f"lorestudio {VERSION}")  # noqa: T201  # what it was asked for
        return
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # threads for sums as small as ours only cost their start
    gc.set_threshold(GARBAGE, *gc.get_threshold()[1:])
    from lorestudio.cli.app import main as run

    run()


__all__ = ["main"]
