"""Running a file of cases against one system and comparing what comes out.

A system is a module of its own in this folder, named like the system with `_` for `-`. It has

- `outcome(case)`: what the system makes of a case, as JSON;
- optionally `cases(document)`: the cases in the parsed file, each `{"id", "operation", "input", "expected", ...}`; by
  default the list under "cases", or the document itself where it is a list; or `cases_in(document, folder)`, where
  other files lie beside the file of cases;
- optionally `same(actual, expected)`: by default equality of JSON values.
"""

from __future__ import annotations

import gzip
import importlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent
NOT_SYSTEMS = frozenset({"__init__", "__main__", "runner"})

Case = Mapping[str, Any]


@dataclass(frozen=True)
class Failure:
    """A case whose outcome is another; `problem` says what happened where there was none at all."""

    case: Case
    actual: Any = None
    problem: str = ""

    @property
    def line(self) -> str:
        """One line about it."""
        name = f"{self.case.get('id', '?')} {self.case.get('operation', '')}".rstrip()
        got = self.problem or f"got {_short(self.actual)}"
        text = f"{name}: expected {_short(self.case.get('expected'))}, {got}"
        return "\\n".join(text.splitlines())  # an error's message may have several


@dataclass(frozen=True)
class Report:
    """How many cases there were, and those that differ."""

    total: int
    failures: tuple[Failure, ...]

    @property
    def text(self) -> str:
        """One line per failing case, and the count."""
        equal = self.total - len(self.failures)
        return "\n".join([*(failure.line for failure in self.failures), f"{equal} of {self.total} equal"])


def systems() -> tuple[str, ...]:
    """The names of the systems that have cases."""
    found = (path.stem for path in FOLDER.glob("*.py"))
    return tuple(sorted(name.replace("_", "-") for name in found if name not in NOT_SYSTEMS and name[:5] != "test_"))


def read_document(path: Path, every: int = 1) -> Any:
    """The JSON of a file, compressed or not; JSON lines become a list, of one in so many of them."""
    data = path.read_bytes()
    text = (gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data).decode("utf-8")
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        lines = [line for line in text.split("\n") if line.strip()]
        if len(lines) < 2:
            raise
        return [json.loads(line) for line in lines[::every]]


def run(system: str, path: Path, every: int = 1) -> Report:
    """Run the cases of a file, or one in so many of them. Raises LookupError for a system that there is not."""
    if system not in systems():
        raise LookupError(f"There is no system “{system}”. There are: {', '.join(systems())}.")
    module = importlib.import_module(f"tests.cases.{system.replace('-', '_')}")
    listed: Callable[[Any], Iterable[Case]] = getattr(module, "cases", plain_cases)
    equal: Callable[[Any, Any], bool] = getattr(module, "same", same)
    beside: Callable[[Any, Path], Iterable[Case]] | None = getattr(module, "cases_in", None)
    document = read_document(path)
    cases = list(beside(document, path.parent) if beside is not None else listed(document))[::every]
    return Report(len(cases), tuple(_failures(cases, module.outcome, equal)))


def plain_cases(document: Any) -> list[Case]:
    """The list under "cases", or the document itself."""
    return list(document["cases"] if isinstance(document, dict) else document)


def same(actual: Any, expected: Any) -> bool:
    """Equality of JSON values: `true` is no 1, `1.0` is 1, keys may stand in any order."""
    if isinstance(actual, bool) or isinstance(expected, bool):
        return actual is expected
    if isinstance(actual, Mapping) and isinstance(expected, Mapping):
        return actual.keys() == expected.keys() and all(same(actual[key], expected[key]) for key in expected)
    if isinstance(actual, list | tuple) and isinstance(expected, list | tuple):
        return len(actual) == len(expected) and all(map(same, actual, expected))
    return bool(actual == expected)


def _failures(
    cases: Iterable[Case], outcome: Callable[[Case], Any], equal: Callable[[Any, Any], bool]
) -> Iterator[Failure]:
    for case in cases:
        try:
            actual = outcome(case)
        except Exception as error:  # noqa: BLE001  # whatever it is, the other cases still run
            yield Failure(case, problem=f"{type(error).__name__}: {error}")
            continue
        if not equal(actual, case.get("expected")):
            yield Failure(case, actual)


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str).encode("utf-8", "backslashreplace").decode()
    return text if len(text) <= 400 else text[:399] + "…"
