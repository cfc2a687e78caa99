"""Inputs and outputs recorded from the original, 400 or 300 a function (spec: deeplore-engine 13)."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from lorestudio.domain.entry import Entry, LeftOutNote
from lorestudio.domain.fields import FieldDefinition
from lorestudio.domain.javascript import simple_hash
from lorestudio.vault import ParseRules, cleaning, conflicts, fields, front_matter, parse_note

VECTORS: dict[str, Any] = json.loads(
    gzip.decompress((Path(__file__).parents[1] / "golden" / "vault-functions.json.gz").read_bytes())
)
UNDEFINED = "__undef"

ENTRY_FIELDS = {
    "filename": "filename", "title": "title", "keys": "keys", "content": "content", "summary": "summary",
    "priority": "priority", "constant": "constant", "seed": "seed", "bootstrap": "bootstrap", "guide": "guide",
    "tokenEstimate": "tokens", "scanDepth": "scan_depth", "excludeRecursion": "exclude_recursion", "links": "links",
    "resolvedLinks": "resolved_links", "tags": "tags", "requires": "requires", "excludes": "excludes",
    "refineKeys": "refine_keys", "cascadeLinks": "cascade_links", "outlet": "outlet", "injectionPosition": "position",
    "injectionDepth": "depth", "injectionRole": "role", "cooldown": "cooldown", "warmup": "warmup",
    "probability": "probability", "folderPath": "folder", "vaultSource": "vault", "graph": "graph",
}  # fmt: skip
MERGED_FIELDS = {
    "title": "title", "vaultSource": "vault", "keys": "keys", "tags": "tags", "links": "links", "requires": "requires",
    "excludes": "excludes", "refineKeys": "refine_keys", "content": "content", "tokenEstimate": "tokens",
    "summary": "summary", "priority": "priority", "constant": "constant", "seed": "seed", "bootstrap": "bootstrap",
    "guide": "guide", "_contentHash": "content_hash",
}  # fmt: skip


class NoTokens:
    """The recorded parser left the estimate at zero."""

    name = "none"
    exact = True

    def count(self, text: str) -> int:
        return 0 * len(text)


def as_json(value: object) -> object:
    if isinstance(value, tuple | list):
        return [as_json(item) for item in value]
    if isinstance(value, dict):
        return {key: as_json(item) for key, item in value.items()}
    return "__Infinity" if value == float("inf") else value


def from_json(value: object) -> Any:
    if isinstance(value, list):
        return tuple(map(from_json, value))
    if isinstance(value, dict):
        return {key: from_json(item) for key, item in value.items()}
    return value


def front_matter_of(text: str) -> list[object]:
    yaml_text, body = front_matter.split(text)
    values = {} if yaml_text is None else front_matter.parse(yaml_text)
    return [[[key, value] for key, value in values.items()], body]


def definitions_of(text: str) -> list[object]:
    definitions, errors = fields.parse(text)
    written = [
        {
            "name": item.name,
            "label": item.label,
            "type": item.type,
            "multi": item.multi,
            "gating": {"enabled": item.gating, "operator": item.operator, "tolerance": item.tolerance},
            "values": list(item.values),
            "contextKey": item.context_key,
        }
        for item in definitions
    ]
    return [written, len(errors)]


def rules_of(tags: int, field_set: int, lenient: bool) -> ParseRules:
    names = ("lorebookTag", "constantTag", "neverInsertTag", "seedTag", "bootstrapTag", "guideTag")
    definitions = tuple(
        FieldDefinition(item["name"], item["name"], type=item["type"], multi=item["multi"])
        for item in VECTORS["_aux"]["field_sets"][field_set]
    )
    spelled = VECTORS["_aux"]["tag_configs"][tags]
    return ParseRules(*(spelled[name].lower() for name in names), lenient=lenient, fields=definitions)


def parsed(arguments: list[Any]) -> object:
    text, filename, tags, field_set, lenient = arguments
    note = parse_note(text, filename, "", rules_of(tags, field_set, lenient), NoTokens())
    if isinstance(note, LeftOutNote):
        return note.problem.value
    return {
        **{name: as_json(getattr(note, attribute)) for name, attribute in ENTRY_FIELDS.items()},
        "customFields": [[name, as_json(value)] for name, value in note.custom_fields.items()],
        "_w": [[warning.code, warning.field] for warning in note.warnings],
    }


def deduplicated(arguments: list[Any]) -> list[object]:
    entries, mode = arguments
    drafts = []
    for entry in entries:
        assert entry["resolvedLinks"] == []  # links are resolved afterwards
        custom = {} if entry["customFields"] == UNDEFINED else from_json(entry["customFields"])
        draft = {MERGED_FIELDS[name]: from_json(value) for name, value in entry.items() if name in MERGED_FIELDS}
        drafts.append({**draft, "id": entry["id"], "custom_fields": custom, "filename": "f.md", "warnings": ()})
    return [
        {
            **{name: as_json(draft[attribute]) for name, attribute in MERGED_FIELDS.items()},
            "customFields": as_json(draft["custom_fields"]),
            "id": draft["id"],
            "resolvedLinks": [],
        }
        for draft in conflicts.resolve(drafts, mode)
    ]


def normalized(expected: Any) -> Any:
    """The recorded result without the two differences that have no meaning: absent fields, the falsy empty text."""
    for entry in expected if isinstance(expected, list) else [expected]:
        if isinstance(entry, dict) and entry.get("customFields") == UNDEFINED:
            entry["customFields"] = {}
        if isinstance(entry, dict) and entry.get("constant") == "":
            entry["constant"] = False
    return expected


@pytest.mark.parametrize(
    ("name", "function", "count"),
    [
        ("front_matter", front_matter_of, 400),
        ("clean_content", cleaning.clean, 400),
        ("title", lambda body: cleaning.title(body, "f/x.md"), 400),
        ("wikilinks", lambda body: list(cleaning.wikilinks(body)), 400),
        ("hash", simple_hash, 400),
        ("field_yaml", definitions_of, 400),
        ("parse_entry", parsed, 300),
        ("multi_vault_dedupe", deduplicated, 300),
    ],
)
def test_recorded_results(name: str, function: Any, count: int) -> None:
    vectors = VECTORS[name]
    assert len(vectors) == count
    differing = [
        (vector["input"], result, vector["expected"])
        for vector in vectors
        if (result := function(vector["input"])) != normalized(vector["expected"])
    ]
    assert differing == []


def test_parse_entry_vectors_reach_entries() -> None:
    entries = [vector for vector in VECTORS["parse_entry"] if isinstance(vector["expected"], dict)]
    assert len(entries) > 100
    assert isinstance(parse_note("---\ntags: lorebook\n---\n", "a.md", "", ParseRules(), NoTokens()), Entry)


@pytest.mark.parametrize("letters", ["xy", "xé", "x漢"])
@pytest.mark.parametrize("length", [1, 2, 3, 4095, 4096, 4097, 8191, 8192, 8193])
def test_hash_follows_its_definition_at_every_length(length: int, letters: str) -> None:
    text = (letters * length)[:length]
    first, second = 5381, 52711
    for char in text:
        first = (first * 33 + ord(char)) % 2**32
        second = (second * 33 + ord(char)) % 2**32
    units, *hashes = simple_hash(text).split("_")
    assert (int(units), [int(digits, 36) for digits in hashes]) == (length, [first, second])
