"""The command line: the second front end, which can do what the window can."""

import sys


def main() -> None:
    """Run the command line. The version is told without loading it."""
    if sys.argv[1:] == ["--version"]:
        from lorestudio.domain.resources import VERSION  # noqa: PLC0415

        print(f"lorestudio {VERSION}")  # noqa: T201
        return
    from lorestudio.cli.app import main as run  # noqa: PLC0415

    run()


__all__ = ["main"]
