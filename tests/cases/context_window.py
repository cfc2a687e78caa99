"""The cases of the context window, in their layout (rules: context-window 20): what the original does."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from lorestudio.settings.contextwindow import ContextWindowSettings
from lorestudio.systems.contextwindow.mapping import ContextWindow, LoreBook, LoreEntry, WindowTurn
from lorestudio.systems.contextwindow.pages import Sharing, fit
from lorestudio.systems.contextwindow.selecting import select, select_and_fill
from lorestudio.systems.contextwindow.tokens import (
    Cutting,
    Method,
    WordList,
    WordListCounter,
    cut,
    cut_elements,
    cut_turns,
    effective,
    truncated_list,
)

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
    return WordListCounter(WordList.of("cases", document["dictionary"]), ContextWindowSettings(**(options or {})))


def _book(entries: Sequence[Mapping[str, Any]]) -> LoreBook:
    return {
        item["key"]: LoreEntry(
            item["key"],
            item["value"],
            item["weight"],
            tuple(item["linkedKeys"]),
            tuple(item["aliasKeysGiven"]),
            tuple(item["requiredKeys"]),
        ).with_spellings()
        for item in entries
    }


def _turns(texts: Sequence[str]) -> tuple[WindowTurn, ...]:
    return tuple(WindowTurn("user", text, str(place)) for place, text in enumerate(texts))


def _count(item: Mapping[str, Any], document: Mapping[str, Any]) -> Any:
    return {"tokens": _counter(document, item["options"]).count(item["text"])}


def _cut_text(text: str, room: int, method: str, counter: WordListCounter) -> str:
    """The text cut at its single spaces; the pieces are counted on their own."""
    if counter.count(text) <= room:
        return text
    pieces = text.split(" ")
    items = cut([counter.count(piece) for piece in pieces], room, Method(method))
    return " ".join(pieces[each.place] for each in items if each.kept)


def _truncate_string(item: Mapping[str, Any], document: Mapping[str, Any]) -> Any:
    room = effective(item["windowSize"], item["multiplyWindowSizeBy"])
    return {"result": _cut_text(item["text"], room, item["method"], _counter(document))}


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
    found = cut_turns(item["items"], _cutting(item), _counter(document))
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
    matched = [match.key for match in found.matches]
    expanded = [*matched, *(link.target for link in found.links if link.new)]
    members = [*expanded, *found.dependants]
    return {
        "matched": matched,
        "expanded": expanded,
        "withDependants": members,
        "eligible": [key for key in members if key not in found.ineligible],
        "candidates": list(found.candidates),
        "selected": list(found.selected),
    }


def _fill(item: Mapping[str, Any], document: Mapping[str, Any]) -> Any:
    book = _book(document["loreSets"][item["set"]])
    return {"selected": list(select_and_fill(book, item["text"], item["maxTokens"], _counter(document)).selected)}


def _combine(item: Mapping[str, Any], document: Mapping[str, Any]) -> Any:
    """Lore in the order of its selection, then the elements, as one text (rules: context-window 13)."""
    book, budget, counter = _book(document["budgetFixture"]["loreBook"]), item["totalTokenBudget"], _counter(document)
    keys = select(book, item["text"], budget, counter).selected
    parts = (" ".join(book[key].value for key in keys), " ".join(item["contextElements"]))
    result, times = " ".join(part for part in parts if part.strip()), item["multiplyWindowSizeBy"]
    if not times:  # then the original does not cut at all
        return {"result": result}
    return {"result": _cut_text(result, -(-budget // times) * times, item["method"], counter)}


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
