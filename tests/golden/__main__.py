"""Run the scenarios of a file in the golden layout and say which of them come out otherwise than recorded.

    python -m tests.golden FILE [--vault-root DIR] [--command]

One line for each differing scenario, then `N of M equal`. The exit code is 1 when any differs. With `--command` all of
them go through `lorestudio run` in a process of its own, and its output is what is compared.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from lorestudio.exchange.scenario_file import Scenario
from lorestudio.studio.replay.scenario import run_scenario
from tests.golden.compare import Case, differences, read_cases


def verdict(case: Case, got: Mapping[str, Any] | Exception) -> str:
    """What differs, in a line; "" where nothing does."""
    if isinstance(got, Exception):
        return f"{case.id}: {type(got).__name__}: {got}".replace("\n", " ")
    found = differences(case, got)
    if not found:
        return ""
    return f"{case.id}: {len(found)} difference{'s' if len(found) > 1 else ''}, first {found[0]}"


def from_python(cases: Sequence[Case], vault_root: Path | None) -> Iterator[Mapping[str, Any] | Exception]:
    """What each scenario gives, or what it ran into."""
    for case in cases:
        try:
            yield run_scenario(Scenario.model_validate(case.scenario), vault_root)["expected"]
        except Exception as error:  # noqa: BLE001  # whatever a scenario runs into is its result here
            yield error


def from_the_command(cases: Sequence[Case], vault_root: Path | None) -> Iterator[Mapping[str, Any]]:
    """What `lorestudio run` prints for each scenario. Raises CalledProcessError where it fails."""
    with tempfile.TemporaryDirectory() as folder:
        source, result = Path(folder, "scenarios.jsonl"), Path(folder, "result.jsonl")
        source.write_text("".join(json.dumps(case.scenario) + "\n" for case in cases), encoding="utf-8")
        root = ("--vault-root", str(vault_root)) if vault_root else ()
        command = (sys.executable, "-m", "lorestudio", "run", str(source), *root, "--output", str(result))
        subprocess.run(command, check=True)  # noqa: S603  # our own command, over our own file
        lines = result.read_text(encoding="utf-8").split("\n")
    for case, line in zip(cases, filter(None, lines), strict=True):
        record = json.loads(line)
        if record["id"] != case.scenario["id"]:
            raise ValueError(f"{case.id}: the command printed {record['id']} in its place")
        yield record["expected"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Compare the file named on the command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.golden", description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("file", type=Path, metavar="FILE", help="recorded runs, JSON lines, compressed or not")
    parser.add_argument("--vault-root", type=Path, metavar="DIR", help="where the vaults lie that scenarios refer to")
    parser.add_argument("--command", action="store_true", help="compare what `lorestudio run` prints")
    options = parser.parse_args(arguments)
    cases = read_cases(options.file)
    results = (from_the_command if options.command else from_python)(cases, options.vault_root)
    equal = 0
    for case, got in zip(cases, results, strict=True):
        line = verdict(case, got)
        equal += not line
        if line:
            sys.stdout.write(f"{line}\n")
            sys.stdout.flush()
    sys.stdout.write(f"{equal} of {len(cases)} equal\n")
    return 0 if equal == len(cases) else 1


if __name__ == "__main__":
    sys.exit(main())
