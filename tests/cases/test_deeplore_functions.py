"""The recorded functions: that the kept files hold all of them, and what a file may be like."""

from __future__ import annotations

import json
from typing import Any

import pytest

from lorestudio.domain.entry import Entry
from lorestudio.settings.deeplore import declarations
from lorestudio.vault.entries import ParseRules, parse_note
from tests.cases import __main__ as command
from tests.cases.deeplore import settings
from tests.cases.deeplore.vault import NoTokens
from tests.cases.deeplore_functions import FUNCTIONS, cases, same
from tests.cases.runner import FOLDER, read_document

SYSTEM = "deeplore-functions"
PARTS = [read_document(path) for path in sorted(FOLDER.glob(f"{SYSTEM}.*.json.gz"))]
VECTORS: dict[str, Any] = {name: items for part in PARTS for name, items in part.items() if name != "_aux"}
AUX: dict[str, Any] = {name: value for part in PARTS for name, value in part.get("_aux", {}).items()}
OTHER_COUNTS = {
    "bm25_query": 40, "gating_operator": 3600, "format_and_group": 250, "matcher": 300, "parse_entry": 300,
    "settings": 300, "contextual_gating": 300, "manifest": 300, "multi_vault_dedupe": 300, "trackers": 300,
    "normalize_ai_results": 300, "category_manifest": 300,
}  # fmt: skip
"""How many inputs were recorded where it is not 400."""

HASH = {"input": "", "expected": "0_0"}  # a text without characters (rules: deeplore 1.11)
NOTE = "---\ntags: lore\n---\nText"


@pytest.fixture
def check(tmp_path, capsys):
    """Run the command on a document: its exit code and its lines."""

    def run(document: object) -> tuple[int, list[str]]:
        file = tmp_path / "functions.json"
        file.write_text(json.dumps(document), encoding="utf-8")
        code = command.main([SYSTEM, str(file)])
        return code, capsys.readouterr().out.splitlines()

    return run


def test_the_kept_files_hold_every_function_once() -> None:
    assert {name: len(items) for name, items in VECTORS.items()} == {
        name: OTHER_COUNTS.get(name, 400) for name in (*FUNCTIONS, "parse_entry")
    }
    assert len(VECTORS) == 24
    assert sum(len(part) - ("_aux" in part) for part in PARTS) == 24


def test_the_notes_reach_entries() -> None:
    entries = [vector for vector in VECTORS["parse_entry"] if isinstance(vector["expected"], dict)]
    assert len(entries) > 100
    assert isinstance(parse_note("---\ntags: lorebook\n---\n", "a.md", "", ParseRules(), NoTokens()), Entry)


def test_the_settings_cover_every_one_that_is_corrected() -> None:
    assert settings.constrained() <= {key for vector in VECTORS["settings"] for key in vector["input"]}
    assert all(vector["expected"].keys() == AUX["settings_defaults"].keys() for vector in VECTORS["settings"])


def test_limits_and_defaults_are_the_recorded_ones() -> None:
    declared = {one.alias: one for one in declarations() if not one.since}
    limits = {key: (one["min"], one["max"]) for key, one in AUX["settings_constraints"].items() if "min" in one}
    assert limits == {key: (one.low, one.high) for key, one in declared.items() if one.low is not None}
    assert {key: declared[key].default for key in AUX["settings_defaults"]} == AUX["settings_defaults"]


def test_a_file_may_hold_some_of_the_lists(check) -> None:
    assert check({"hash": [HASH]}) == (0, ["1 of 1 equal"])
    assert check({}) == (0, ["0 of 0 equal"])


def test_every_case_that_differs_is_a_line(check) -> None:
    wrong = {**HASH, "expected": "1_1"}
    code, lines = check({"hash": [wrong, HASH], "no_such": [HASH], "_aux": {}})
    assert code == 1
    assert lines == [
        'hash-0 hash: expected "1_1", got "0_0"',
        'no_such-0 no_such: expected "0_0", LookupError: There is no function “no_such”.',
        "1 of 3 equal",
    ]


def test_tags_and_fields_of_notes_are_those_of_the_file(check) -> None:
    tags = dict.fromkeys(("constantTag", "neverInsertTag", "seedTag", "bootstrapTag", "guideTag"), "")
    vector = {"input": [NOTE, "a.md", 0, 0, False], "expected": "SKIP_NO_LOREBOOK_TAG"}

    def run(lorebook_tag: str) -> tuple[int, list[str]]:
        aux = {"tag_configs": [{**tags, "lorebookTag": lorebook_tag}], "field_sets": [[]]}
        return check({"parse_entry": [vector], "_aux": aux})

    assert run("other")[0] == 0
    code, lines = run("LORE")
    assert code == 1
    assert '"title": "a"' in lines[0]


def test_a_file_that_is_a_list_cannot_be_used(check) -> None:
    with pytest.raises(ValueError, match="object of lists"):
        list(cases([HASH]))
    assert check([HASH]) == (2, [])


@pytest.mark.parametrize(
    ("actual", "expected", "equal"),
    [
        ({"customFields": {}, "constant": False}, {"customFields": "__undef", "constant": ""}, True),
        ([{"customFields": {}}], [{"customFields": "__undef"}], True),
        ({"customFields": {"era": "x"}}, {"customFields": "__undef"}, False),
        ({"customFields": [], "constant": False}, {"customFields": [], "constant": 0}, False),
        ({"customFields": [], "constant": True}, {"customFields": [], "constant": ""}, False),
        ({"constant": False}, {"constant": ""}, False),
        ([["a", 1], ["b", 2]], [["b", 2], ["a", 1]], False),
        ("", False, False),
    ],
)
def test_only_what_javascript_alone_tells_apart_is_the_same(actual, expected, equal) -> None:
    assert same(actual, expected) is equal
