"""Run the scenarios of a file in the golden layout and say which of them come out otherwise than recorded.

    python -m tests.golden FILE [--vault-root DIR]

One line for each differing scenario, then `N of M equal`. The exit code is 1 when any differs.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from lorestudio.exchange.scenario_file import Scenario
from lorestudio.studio.scenario.running import run_scenario
from tests.golden.compare import Case, differences, read_cases


def verdict(case: Case, vault_root: Path | None) -> str:
    """What differs, in a line; "" where nothing does."""
    try:
        got = run_scenario(Scenario.model_validate(case.scenario), vault_root)["expected"]
    except Exception as error:  # noqa: BLE001  # whatever a scenario runs into is its result here
        return f"{case.id}: {type(error).__name__}: {error}".replace("\n", " ")
    found = differences(case, got)
    if not found:
        return ""
    return f"{case.id}: {len(found)} difference{'s' if len(found) > 1 else ''}, first {found[0]}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Compare the file named on the command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.golden", description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("file", type=Path, metavar="FILE", help="recorded runs, JSON lines, compressed or not")
    parser.add_argument("--vault-root", type=Path, metavar="DIR", help="where the vaults lie that scenarios refer to")
    options = parser.parse_args(arguments)
    cases = read_cases(options.file)
    equal = 0
    for case in cases:
        line = verdict(case, options.vault_root)
        equal += not line
        if line:
            sys.stdout.write(f"{line}\n")
            sys.stdout.flush()
    sys.stdout.write(f"{equal} of {len(cases)} equal\n")
    return 0 if equal == len(cases) else 1


if __name__ == "__main__":
    sys.exit(main())
