"""`python -m tests.cases SYSTEM FILE`: run the cases of a file and say which differ."""

from __future__ import annotations

import sys
from pathlib import Path

from tests.cases.runner import run, systems


def main(arguments: list[str]) -> int:
    """0 where all cases are equal, 1 where any differs, 2 where the command cannot be used."""
    if len(arguments) != 2:
        print(f"usage: python -m tests.cases SYSTEM FILE   (SYSTEM: {', '.join(systems())})", file=sys.stderr)  # noqa: T201
        return 2
    try:
        report = run(arguments[0], Path(arguments[1]))
    except (LookupError, OSError, ValueError) as error:
        print(error, file=sys.stderr)  # noqa: T201
        return 2
    print(report.text)  # noqa: T201
    return 1 if report.failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
