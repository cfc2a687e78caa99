"""Notes and vaults: recorded inputs of the original's functions as calls of the vault package."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from lorestudio.domain.entry import Entry, FieldDefinition, LeftOutNote
from lorestudio.domain.javascript import simple_hash
from lorestudio.vault import cleaning, fields, front_matter
from lorestudio.vault import index as conflicts
from lorestudio.vault.entries import ParseRules, parse_note
from tests.systems.deeplore.recorded import ENTRY_FIELDS, INFINITY, UNDEFINED

_TAGS = ("lorebookTag", "constantTag", "neverInsertTag", "seedTag", "bootstrapTag", "guideTag")
_PARSED_FIELDS = {name: ours for name, ours in ENTRY_FIELDS.items() if name not in {"customFields", "_contentHash"}}
_MERGED_FIELDS = {
    name: ENTRY_FIELDS[name]
    for name in (
        "title", "vaultSource", "keys", "tags", "links", "requires", "excludes", "refineKeys", "content",
        "tokenEstimate", "summary", "priority", "constant", "seed", "bootstrap", "guide", "_contentHash",
    )
}  # fmt: skip


class NoTokens:
    """The recorded parser left the estimate at zero."""

    name = "none"
    exact = True

    def count(self, text: str) -> int:
        return 0 * len(text)


def parse_entry(arguments: list[Any], aux: Mapping[str, Any]) -> object:
    """The entry of a note, or why it is none; two of the arguments are places in the file's `_aux`."""
    text, filename, tags, field_set, lenient = arguments
    rules = _rules(aux["tag_configs"][tags], aux["field_sets"][field_set], lenient)
    note = parse_note(text, filename, "", rules, NoTokens())
    if isinstance(note, LeftOutNote):
        return note.problem.value
    return {
        **{name: _as_json(getattr(note, attribute)) for name, attribute in _PARSED_FIELDS.items()},
        "customFields": [[name, _as_json(value)] for name, value in note.custom_fields.items()],
        "_w": [[warning.code, warning.field] for warning in note.warnings],
    }


def _rules(tags: Mapping[str, str], field_set: list[dict[str, Any]], lenient: bool) -> ParseRules:
    definitions = tuple(
        FieldDefinition(item["name"], item["name"], type=item["type"], multi=item["multi"]) for item in field_set
    )
    return ParseRules(*(tags[name].lower() for name in _TAGS), lenient=lenient, fields=definitions)


def _front_matter(text: str) -> list[object]:
    yaml_text, body = front_matter.split(text)
    values = {} if yaml_text is None else front_matter.parse(yaml_text)
    return [[[key, value] for key, value in values.items()], body]


def _title(body: str) -> str:
    return cleaning.title(body, "f/x.md")


def _field_yaml(text: str) -> list[object]:
    definitions, errors = fields.parse(text)
    written = [
        {
            "name": item.name,
            "label": item.label,
            "type": item.type,
            "multi": item.multi,
            "gating": {"enabled": item.gating, "operator": item.operator, "tolerance": item.tolerance},
            "values": item.values,
            "contextKey": item.context_key,
        }
        for item in definitions
    ]
    return [written, len(errors)]


def _multi_vault_dedupe(arguments: list[Any]) -> list[object]:
    entries, mode = arguments
    drafts = []
    for entry in entries:
        assert not entry["resolvedLinks"], "links are resolved after this step"
        custom = {} if entry["customFields"] == UNDEFINED else _from_json(entry["customFields"])
        draft = {_MERGED_FIELDS[name]: _from_json(value) for name, value in entry.items() if name in _MERGED_FIELDS}
        drafts.append(Entry(**draft, id=entry["id"], custom_fields=custom, filename="f.md"))
    return [
        {
            **{name: _as_json(getattr(draft, attribute)) for name, attribute in _MERGED_FIELDS.items()},
            "customFields": _as_json(draft.custom_fields),
            "id": draft.id,
            "resolvedLinks": [],
        }
        for draft in conflicts.resolve(drafts, mode)
    ]


def _as_json(value: object) -> object:
    if isinstance(value, tuple | list):
        return [_as_json(item) for item in value]
    if isinstance(value, Mapping):
        return {key: _as_json(item) for key, item in value.items()}
    return INFINITY if value == float("inf") else value


def _from_json(value: object) -> Any:
    if isinstance(value, list):
        return tuple(map(_from_json, value))
    if isinstance(value, dict):
        return {key: _from_json(item) for key, item in value.items()}
    return value


FUNCTIONS: Final[Mapping[str, Callable[[Any], Any]]] = {
    "front_matter": _front_matter,
    "clean_content": cleaning.clean,
    "title": _title,
    "wikilinks": cleaning.wikilinks,
    "hash": simple_hash,
    "field_yaml": _field_yaml,
    "multi_vault_dedupe": _multi_vault_dedupe,
}
