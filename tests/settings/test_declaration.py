"""What every declared setting tells about itself."""

from __future__ import annotations

import re
from typing import get_args

import pytest

from lorestudio.settings.declaration import Declaration, DeepLoreStage, camel_case
from lorestudio.settings.deeplore import DeepLoreSettings, declarations

ALL = declarations()
BY_NAME = {declaration.name: declaration for declaration in ALL}


@pytest.mark.parametrize(
    ("name", "alias"),
    [
        ("enabled", "enabled"),
        ("scan_depth", "scanDepth"),
        ("ai_search_manifest_summary_length", "aiSearchManifestSummaryLength"),
        ("allow_wi_scan", "allowWIScan"),
        ("cache_ttl", "cacheTTL"),
    ],
)
def test_names_in_files(name: str, alias: str) -> None:
    assert camel_case(name) == alias
    assert BY_NAME[name].alias == alias


def test_every_field_of_the_model_is_declared_once() -> None:
    assert len(ALL) == len(BY_NAME) == len({declaration.alias for declaration in ALL})
    assert BY_NAME.keys() == DeepLoreSettings.model_fields.keys()


@pytest.mark.parametrize("declaration", ALL, ids=lambda declaration: declaration.name)
def test_a_declaration_is_complete(declaration: Declaration) -> None:
    assert declaration.title
    assert declaration.help.endswith(".")
    assert not re.search(r"\{_?[A-Z_]+\}", declaration.help), "the name of a text that was not filled in"
    assert declaration.group
    assert type(declaration.default) is declaration.type
    assert getattr(DeepLoreSettings(), declaration.name) == declaration.default
    assert (declaration.low is None) is (declaration.high is None)
    if declaration.low is not None:
        assert declaration.low <= declaration.default <= declaration.high
    if declaration.choices:
        assert declaration.default in declaration.choices
        assert all(meaning.endswith(".") for meaning in declaration.choices.values())
    assert set(declaration.affects) <= set(get_args(DeepLoreStage))


def test_titles_are_unique_in_their_group() -> None:
    assert len({(declaration.group, declaration.title) for declaration in ALL}) == len(ALL)


def test_the_four_checked_settings() -> None:
    assert {declaration.alias for declaration in ALL if declaration.checked and not declaration.since} == {
        "injectionMode",
        "multiVaultConflictResolution",
        "librarianConnectionMode",
        "librarianSystemPromptMode",
    }


@pytest.mark.parametrize(
    ("name", "allowed", "whole"),
    [
        ("scan_depth", "0 to 100 messages", True),
        ("ai_search_timeout", "1000 to 999999 ms", True),
        ("fuzzy_search_min_score", "0.1 to 2", False),
        ("hierarchical_aggressiveness", "0 to 0.8", False),
        ("ai_search_mode", "two-stage, ai-only", False),
        ("seed_tag", "", False),
    ],
)
def test_limits_in_words(name: str, allowed: str, whole: bool) -> None:
    assert BY_NAME[name].allowed == allowed
    assert BY_NAME[name].whole is whole


def test_effects_name_the_stages() -> None:
    assert BY_NAME["max_tokens_budget"].affects == ("manifest", "budget")
    assert BY_NAME["recursive_scan"].affects == ("recursion",)
    assert BY_NAME["graph_gravity"].affects == ()


def test_the_json_schema_tells_the_limits() -> None:
    schema = DeepLoreSettings.model_json_schema()["properties"]["scanDepth"]
    assert (schema["minimum"], schema["maximum"], schema["default"]) == (0, 100, 4)
    assert schema["lorestudio"]["unit"] == "messages"
