"""Inputs and outputs of the original's functions around AI selection (spec: deeplore-engine 13)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from lorestudio.domain.fields import BUILT_IN_FIELDS
from lorestudio.domain.state import Counters
from lorestudio.engine.deeplore.ai import manifest
from lorestudio.engine.deeplore.ai.replies import extract_list, normalize
from lorestudio.engine.deeplore.ai.titles import most_similar
from lorestudio.engine.deeplore.stages.category_prefilter import category_manifest, clusters
from lorestudio.settings.declaration import camel_case
from lorestudio.settings.deeplore import DeepLoreSettings
from tests.engine.deeplore.recorded import entries_of
from tests.engine.worlds import settings_of
from tests.golden.ai_files import AI_FUNCTIONS
from tests.golden.files import read_json

VECTORS: dict[str, Any] = read_json(AI_FUNCTIONS)
NAMES = {camel_case(name): name for name in DeepLoreSettings.model_fields}


def normalized(items: list[Any]) -> list[dict[str, str]]:
    return [{"title": pick.title, "confidence": pick.confidence, "reason": pick.reason} for pick in normalize(items)]


def similar_title(arguments: list[Any]) -> list[Any] | None:
    found = most_similar(*arguments)
    return found and list(found)


def built_manifest(arguments: list[Any]) -> list[str]:
    records, bootstrapping, values, decay, consecutive = arguments
    built = manifest.build(
        entries_of(records),
        BUILT_IN_FIELDS,
        settings_of(**{NAMES[key]: value for key, value in values.items()}),
        Counters(decay=dict(decay), consecutive=dict(consecutive)),
        bootstrapping=bootstrapping,
    )
    return [built.text, built.header]


@pytest.mark.parametrize(
    ("name", "function", "count"),
    [
        ("ai_json_extract", extract_list, 400),
        ("normalize_ai_results", normalized, 300),
        ("fuzzy_title", similar_title, 400),
        ("manifest", built_manifest, 300),
        ("category_manifest", lambda records: category_manifest(clusters(entries_of(records))), 300),
    ],
)
def test_recorded_results(name: str, function: Callable[[Any], Any], count: int) -> None:
    vectors = VECTORS[name]
    assert len(vectors) == count
    differing = [
        (vector["input"], vector["expected"], got)
        for vector in vectors
        if (got := function(vector["input"])) != vector["expected"]
    ]
    assert differing == []
