"""The command line: the second front end, which can do what the window can."""

from lorestudio.cli.app import main

__all__ = ["main"]
