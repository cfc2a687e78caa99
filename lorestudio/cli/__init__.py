"""The command line: the second front end, which can do what the window can."""

import gc
import os
import sys


def main() -> None:
    """Run the command line. The version is told without loading it."""
    if sys.argv[1:] == ["--version"]:
        from lorestudio.domain.resources import VERSION

        print(f"lorestudio {VERSION}")  # noqa: T201  # what it was asked for
        return
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # threads for sums as small as ours only cost their start
    from lorestudio.cli.loading import loading

    with loading():
        from lorestudio.cli.app import main as run
    gc.set_threshold(10_000)  # a replay makes a million objects and no garbage
    run()


__all__ = ["main"]
