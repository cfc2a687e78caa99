"""AI selection: recorded inputs of the original's functions as calls of the engine."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from lorestudio.domain.entry import BUILT_IN_FIELDS
from lorestudio.domain.state import Counters
from lorestudio.systems.deeplore.ai import prompts
from lorestudio.systems.deeplore.ai.replies import SIMILAR_ENOUGH, extract_list, nearest, normalize
from lorestudio.systems.deeplore.stages.ai_selection import category_manifest, clusters
from tests.cases.deeplore.settings import settings_from
from tests.systems.deeplore.recorded import entries_of


def _normalized(items: list[Any]) -> list[dict[str, str]]:
    return [{"title": pick.title, "confidence": pick.confidence, "reason": pick.reason} for pick in normalize(items)]


def _similar_title(arguments: list[Any]) -> Any:
    best = nearest(*arguments)
    return best if best is not None and best[1] >= SIMILAR_ENOUGH else None


def _manifest(arguments: list[Any]) -> list[str]:
    records, bootstrapping, values, decay, consecutive = arguments
    built = prompts.build(
        entries_of(records),
        BUILT_IN_FIELDS,
        settings_from(values),
        Counters(decay=dict(decay), consecutive=dict(consecutive)),
        bootstrapping=bootstrapping,
    )
    return [built.text, built.header]


def _category_manifest(records: list[Any]) -> str:
    return category_manifest(clusters(entries_of(records)))


FUNCTIONS: Final[Mapping[str, Callable[[Any], Any]]] = {
    "ai_json_extract": extract_list,
    "normalize_ai_results": _normalized,
    "fuzzy_title": _similar_title,
    "manifest": _manifest,
    "category_manifest": _category_manifest,
}
