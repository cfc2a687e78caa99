"""The cases of the context window, in their layout (rules: context-window 20): what the original does."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from lorestudio.settings.contextwindow import CountingSettings
from lorestudio.systems.contextwindow import lore
from lorestudio.systems.contextwindow.budgeting import Sharing, combined_text, fit
from lorestudio.systems.contextwindow.counting import WordList, WordListCounter
from lorestudio.systems.contextwindow.lore import LoreBook, LoreEntry
from lorestudio.systems.contextwindow.selecting import select, select_and_fill
from lorestudio.systems.contextwindow.truncating import (
    Cutting,
    Method,
    cut_elements,
    cut_turns,
    truncated,
    truncated_list,
)
from lorestudio.systems.contextwindow.window import ContextWindow, WindowRole, WindowTurn

_RESULTS = {
    "count": ("tokens",),
    "truncateString": ("result",),
    "truncateList": ("result",),
    "selectAndTruncate": ("loreKeys", "contextElements", "historyTexts"),
    "truncateContextElements": ("result",),
    "truncateHistory": ("result",),
    "select": ("matched", "expanded", "withDependants", "eligible", "candidates", "selected"),
    "fill": ("selected",),
    "combine": ("result",),
}


def cases(document: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """One case for every item of every list of the document."""
    for operation, results in _RESULTS.items():
        for number, item in enumerate(document.get(operation, ())):
            yield {
                "id": f"{operation}-{number}",
                "operation": operation,
                "document": document,
                "input": item,
                "expected": {name: item[name] for name in results},
            }


def outcome(case: Mapping[str, Any]) -> Any:
    """What the public functions make of it, under the names of the case file."""
    return _OPERATIONS[case["operation"]](case["input"], case["document"])


def _counter(document: Mapping[str, Any], options: Mapping[str, Any] | None = None) -> WordListCounter:
    return WordListCounter(WordList.of("cases", document["dictionary"]), CountingSettings(**(options or {})))


def _book(entries: Sequence[Mapping[str, Any]]) -> LoreBook:
    book: LoreBook = {}
    for item in entries:
        book = lore.with_entry(
            book,
            LoreEntry(
                item["key"],
                item["value"],
                item["weight"],
                tuple(item["linkedKeys"]),
                tuple(item["aliasKeysGiven"]),
                tuple(item["requiredKeys"]),
            ),
        )
    return book


def _turns(texts: Sequence[str]) -> tuple[WindowTurn, ...]:
    return tuple(WindowTurn(WindowRole.USER, text, str(place)) for place, text in enumerate(texts))


def _count(item: Mapping[str, Any], document: Mapping[str, Any]) -> Any:
    return {"tokens": _counter(document, item["options"]).count(item["text"])}


def _truncate_string(item: Mapping[str, Any], document: Mapping[str, Any]) -> Any:
    method = Method(item["method"])
    result = truncated(item["text"], item["windowSize"], item["multiplyWindowSizeBy"], method, _counter(document))
    return {"result": result}


def _truncate_list(item: Mapping[str, Any], document: Mapping[str, Any]) -> Any:
    method = Method(item["method"])
    found = truncated_list(item["items"], item["windowSize"], item["multiplyWindowSizeBy"], method, _counter(document))
    return {"result": [item["items"][each.place] for each in found if each.kept]}


def _cutting(item: Mapping[str, Any]) -> Cutting:
    return Cutting(
        item["maxTokens"],
        item["multiplyWindowSizeBy"],
        Method(item["method"]),
        item["inputText"],
        item["preserveTextMatches"],
        source_compatible=True,
    )


def _truncate_elements(item: Mapping[str, Any], document: Mapping[str, Any]) -> Any:
    found = cut_elements(item["items"], _cutting(item), _counter(document))
    return {"result": [item["items"][place] for place in found.order]}


def _truncate_history(item: Mapping[str, Any], document: Mapping[str, Any]) -> Any:
    found = cut_turns(_turns(item["items"]), _cutting(item), _counter(document))
    return {"result": [item["items"][place] for place in found.order]}


def _select_and_truncate(item: Mapping[str, Any], document: Mapping[str, Any]) -> Any:
    fixture = document["budgetFixture"]
    window = ContextWindow(
        _book(fixture["loreBook"]) if item["lore"] else {},
        tuple(fixture["contextElements"]) if item["context"] else (),
        _turns(fixture["history"]) if item["history"] else (),
    )
    sharing = Sharing(
        item["totalTokenBudget"],
        item["multiplyWindowSizeBy"],
        Method(item["method"]),
        item["fillMode"],
        item["fillAndSplitMode"],
        item["preserveTextMatches"],
        source_compatible=True,
    )
    after = fit(window, fixture["text"], sharing, _counter(document)).window
    return {
        "loreKeys": list(after.lore),
        "contextElements": list(after.elements),
        "historyTexts": [turn.text for turn in after.history],
    }


def _select(item: Mapping[str, Any], document: Mapping[str, Any]) -> Any:
    found = select(_book(document["loreSets"][item["set"]]), item["text"], item["maxTokens"], _counter(document))
    return {
        "matched": [match.key for match in found.matches],
        "expanded": list(found.expanded),
        "withDependants": [*found.expanded, *found.dependants],
        "eligible": list(found.eligible),
        "candidates": list(found.candidates),
        "selected": list(found.selected),
    }


def _fill(item: Mapping[str, Any], document: Mapping[str, Any]) -> Any:
    book = _book(document["loreSets"][item["set"]])
    return {"selected": list(select_and_fill(book, item["text"], item["maxTokens"], _counter(document)).selected)}


def _combine(item: Mapping[str, Any], document: Mapping[str, Any]) -> Any:
    window = ContextWindow(_book(document["budgetFixture"]["loreBook"]), tuple(item["contextElements"]))
    sharing = Sharing(
        item["totalTokenBudget"],
        item["multiplyWindowSizeBy"],
        Method(item["method"]),
        source_compatible=True,
    )
    return {"result": combined_text(window, item["text"], sharing, _counter(document))}


_OPERATIONS = {
    "count": _count,
    "truncateString": _truncate_string,
    "truncateList": _truncate_list,
    "truncateContextElements": _truncate_elements,
    "truncateHistory": _truncate_history,
    "selectAndTruncate": _select_and_truncate,
    "select": _select,
    "fill": _fill,
    "combine": _combine,
}
