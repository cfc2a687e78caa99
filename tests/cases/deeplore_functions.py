"""Inputs and outputs of the original's functions (rules: deeplore 13): what ours make of the inputs.

A file is an object of lists of `{input, expected}`, one for each function, and `_aux` with what the inputs of a
function refer to. Any list may be absent.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from tests.cases import runner
from tests.cases.deeplore import ai, engine, settings, vault
from tests.cases.runner import Case
from tests.systems.deeplore.recorded import UNDEFINED

FUNCTIONS: Final = {**vault.FUNCTIONS, **engine.FUNCTIONS, **ai.FUNCTIONS, **settings.FUNCTIONS}
"""What each list is run with; `parse_entry` needs `_aux` as well and has its own call."""


def cases(document: Any) -> Iterator[Case]:
    """One case for every item of every list of the document."""
    if not isinstance(document, Mapping):
        message = "A file of recorded functions is an object of lists, one for each function."
        raise ValueError(message)  # noqa: TRY004  # the file is wrong, not the call
    for name, items in document.items():
        if name.startswith("_"):
            continue
        for number, item in enumerate(items):
            yield {**item, "id": f"{name}-{number}", "operation": name, "aux": document.get("_aux", {})}


def outcome(case: Case) -> Any:
    """What the public functions make of it. Raises LookupError for a function that there is not."""
    name = case["operation"]
    if name == "parse_entry":
        return vault.parse_entry(case["input"], case["aux"])
    if name not in FUNCTIONS:
        raise LookupError(f"There is no function “{name}”.")
    return FUNCTIONS[name](case["input"])


def same(actual: Any, expected: Any) -> bool:
    """Equality of JSON values, but for what only JavaScript can tell apart in an entry: see `_meant`."""
    return runner.same(actual, _meant(expected))


def _meant(expected: Any) -> Any:
    """A recorded entry, or list of them, as an entry here can be.

    - An entry without custom fields and one whose custom fields are an empty object differ in JavaScript only: an
      `Entry` always has the object, and nothing in the original asks whether it is there.
    - `constant` is `""` where the note says `constant: ""`, since the original's `a || b` hands on the last operand.
      The flag is only ever asked for its truth; an `Entry` has a boolean.
    """
    if isinstance(expected, list):
        return [_meant(item) if isinstance(item, Mapping) else item for item in expected]
    if not isinstance(expected, Mapping) or "customFields" not in expected:
        return expected
    entry = dict(expected)
    if entry["customFields"] == UNDEFINED:
        entry["customFields"] = {}
    if entry.get("constant") == "":
        entry["constant"] = False
    return entry
