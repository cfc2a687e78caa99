"""The command line: the second front end, which can do what the window can."""

import errno
import os
import sys

_UNWRITABLE = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EFBIG})
"""What a full or broken disk, or one that takes no larger file, says, to which the output was to go."""


def main() -> None:
    """Run the command line. An output that cannot be written is a message and exit code 1, Ctrl+C 130."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:  # whoever started this has closed it
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: PTH123, SIM115  # until the end
    try:
        _run()
    except (KeyboardInterrupt, RuntimeError) as error:  # while modules are loaded; what runs then says so itself
        # Python makes another error of one that comes while a class is made.
        if not isinstance(error, KeyboardInterrupt) and not isinstance(error.__cause__, KeyboardInterrupt):
            raise
        sys.stderr.write("lorestudio: stopped.\n")
        sys.exit(130)
    except OSError as error:
        if error.filename is not None or error.errno not in _UNWRITABLE:
            raise
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # what is left is written at the very end
        sys.exit(f"lorestudio: the output cannot be written: {error.strerror}.")


def _run() -> None:
    """The version is told without loading the command line."""
    if sys.argv[1:] == ["--version"]:
        from lorestudio.domain.resources import VERSION

        print(f"lorestudio {VERSION}", flush=True)  # noqa: T201  # what it was asked for
        return
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # threads for sums as small as ours only cost their start
    from lorestudio.domain.resources import loading

    with loading():
        from lorestudio.cli.app import main as run
    run()


__all__ = ["main"]
