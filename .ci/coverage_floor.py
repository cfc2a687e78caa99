"""Hold each layer's branch coverage against its floor in pyproject.toml, which only rises.

Usage: python .ci/coverage_floor.py COVERAGE.json [--raise]

COVERAGE.json is what `coverage json` wrote with branches measured. The table `[tool.lorestudio.coverage-floor]` names
every layer of the package with a whole percentage of its lines and branches. Ends with 1 where a layer lies below its
floor, has none, or is gone. `--raise` writes floors that have been passed anew, and never a lower one.
"""

from __future__ import annotations

import json
import re
import sys
import tomllib
from pathlib import Path

PYPROJECT = Path(__file__).resolve().parents[1] / "pyproject.toml"
COUNTED = (("covered_lines", "num_statements"), ("covered_branches", "num_branches"))


def percentages(report: dict[str, dict[str, dict[str, dict[str, int]]]]) -> dict[str, float]:
    """How much of each layer, a folder right below the package, was run: lines and branches together."""
    sums: dict[str, list[int]] = {}
    for name, file in report["files"].items():
        parts = Path(name).parts
        inside = parts[parts.index("lorestudio") + 1 :]
        if len(inside) < 2:
            continue  # the package's own few lines
        layer = sums.setdefault(inside[0], [0, 0])
        for covered, whole in COUNTED:
            layer[0] += file["summary"][covered]
            layer[1] += file["summary"][whole]
    return {layer: 100 * covered / whole if whole else 100.0 for layer, (covered, whole) in sorted(sums.items())}


def complaints(found: dict[str, float], floors: dict[str, int]) -> list[str]:
    """What is wrong, a line each."""
    missing = [f"{layer}: no floor; it stands at {found[layer]:.1f} %" for layer in found.keys() - floors.keys()]
    gone = [f"{layer}: a floor, and nothing upon it" for layer in floors.keys() - found.keys()]
    low = [
        f"{layer}: {found[layer]:.1f} % is below its floor of {floors[layer]} %"
        for layer in found.keys() & floors.keys()
        if found[layer] < floors[layer]
    ]
    return sorted(missing + gone + low)


def risen(text: str, found: dict[str, float]) -> str:
    """The text of pyproject.toml with higher floors where they have been passed by a whole per cent."""
    before, heading, rest = text.partition("[tool.lorestudio.coverage-floor]\n")
    table, bracket, after = rest.partition("\n[")

    def higher(line: re.Match[str]) -> str:
        return f"{line[1]} = {max(int(line[2]), int(found.get(line[1], 0)))}"

    return before + heading + re.sub(r"(?m)^(\w+) = (\d+)$", higher, table) + bracket + after


def main(arguments: list[str]) -> int:
    """Print every layer beside its floor, and what is wrong."""
    found = percentages(json.loads(Path(arguments[0]).read_text(encoding="utf-8")))
    text = PYPROJECT.read_text(encoding="utf-8")
    if "--raise" in arguments:
        text = risen(text, found)
        PYPROJECT.write_text(text, encoding="utf-8")
    floors: dict[str, int] = tomllib.loads(text)["tool"]["lorestudio"]["coverage-floor"]
    for layer, percentage in found.items():
        sys.stdout.write(f"{layer:10} {percentage:5.1f} %   floor {floors.get(layer, 0):3} %\n")
    wrong = complaints(found, floors)
    sys.stderr.writelines(f"{line}\n" for line in wrong)
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
