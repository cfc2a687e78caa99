"""Scenario files: one JSON object, a list of them, or JSON lines; written in the rules: scenario-format 1."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, dataclass, fields
from pathlib import Path
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator
from pydantic.alias_generators import to_camel

from lorestudio.domain.chat import Message
from lorestudio.domain.entry import BUILT_IN_FIELDS, EMPTY, Entry, FieldDefinition, VaultIndex
from lorestudio.domain.javascript import Json
from lorestudio.domain.state import ChatControls, EntryRule
from lorestudio.exchange.chats.metadata import STATE_KEYS, written
from lorestudio.exchange.problems import InputError
from lorestudio.settings.behaviour import Behaviour
from lorestudio.settings.deeplore import DeepLoreSettings

ENVIRONMENT: Final[Mapping[str, Json]] = {"enabled": True, "aiSearchProfileId": "oracle-profile"}
"""Settings that the recorded runs were made with unless a scenario says otherwise."""


class _FieldError(ValueError):
    """What is wrong in one field; `field` is its path within the scenario."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field


class ScenarioVault(BaseModel):
    """A vault of a scenario: its files in index order, or `ref`, the name of a folder that holds them."""

    model_config = ConfigDict(frozen=True)

    name: str
    files: list[tuple[str, str]] | None = None
    ref: str | None = None

    @model_validator(mode="after")
    def _has_files(self) -> ScenarioVault:
        if (self.files is None) == (self.ref is None):
            raise ValueError("a vault has either “files” or “ref”")
        return self


class ScenarioGeneration(BaseModel):
    """One generation: the clock, the chat as indices into the scenario's messages, and changes made before it."""

    model_config = ConfigDict(frozen=True)

    now_ms: int
    type: str = "normal"
    chat: list[int]
    metadata_patch: dict[str, Any] = Field(default_factory=dict)
    settings_patch: dict[str, Any] = Field(default_factory=dict)
    character: str | None = None
    ai: dict[str, dict[str, Any]] = Field(default_factory=dict)
    context_size: int = 8192


class Scenario(BaseModel):
    """Everything a run of several generations needs.

    `behaviour` and `model` (the answers' model, where the settings name none) are the studio's own: recorded runs of
    DeepLore have neither. So are `system`, the retrieval system that decides, and `system_settings`, by the keys of its
    files; with another one than DeepLore, `settings` only say how notes are read.
    """

    model_config = ConfigDict(frozen=True)

    id: str
    clock_start_ms: int = 0
    rng_seed: int = Field(default=0, ge=0, le=2**32 - 1)
    tokenizer: str = "chars4"
    settings: dict[str, Any] = Field(default_factory=dict)
    vaults: list[ScenarioVault]
    character: str = ""
    messages: list[dict[str, Any]]
    metadata: dict[str, Any] = Field(default_factory=dict)
    behaviour: Behaviour = Field(default_factory=Behaviour)
    model: str = ""
    system: str = "deeplore"
    system_settings: dict[str, Any] = Field(default_factory=dict)
    generations: list[ScenarioGeneration]

    @model_validator(mode="after")
    def _chats_exist(self) -> Scenario:
        last = len(self.messages) - 1
        for number, generation in enumerate(self.generations):
            for place, index in enumerate(generation.chat):
                if not 0 <= index <= last:
                    there = f"there are messages 0 to {last}" if last >= 0 else "there are no messages"
                    raise _FieldError(f"generations.{number}.chat.{place}", f"there is no message {index}; {there}")
        return self


@dataclass(frozen=True, slots=True)
class ScenarioRecord:
    """A scenario and where it stood: `line` from 1 in JSON lines, `prefix` what a field's path begins with."""

    scenario: Scenario
    source: Path
    line: int | None = None
    prefix: str = ""

    def error(self, message: str, field: str) -> InputError:
        """What is wrong in one field of this scenario."""
        return InputError(self.source, message, self.line, self.prefix + field)


def read_records(path: Path) -> list[ScenarioRecord]:
    """All scenarios of a file with their places; a `.gz` file is unpacked, a recorded line's `scenario` is taken.

    Raises InputError naming the file, line and field that are wrong; then nothing has been run.
    """
    text = _text(path)
    if not text.strip():
        raise InputError(path, "the file is empty. A scenario is a JSON object with vaults, messages and generations.")
    scenarios = [_record(path, line, prefix, record) for line, prefix, record in _documents(path, text)]
    if not scenarios:
        raise InputError(path, "there is no scenario in it. A scenario is a JSON object with vaults and generations.")
    return scenarios


def _text(path: Path) -> str:
    try:
        data = path.read_bytes()
        data = gzip.decompress(data) if data.startswith(b"\x1f\x8b") else data
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(path, f"the file cannot be read: {getattr(error, 'strerror', None) or error}.") from error
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        message = f"byte {error.start} of the file is not UTF-8. Save it as UTF-8."
        raise InputError(path, message, line) from error


def _documents(path: Path, text: str) -> Iterator[tuple[int | None, str, object]]:
    """Line, beginning of field paths, and record, of one JSON document or of JSON lines."""
    lines = [(number, line) for number, line in enumerate(text.split("\n"), start=1) if line.strip()]
    try:
        whole = _value(path, text)
    except InputError:
        if not _are_json_lines([line for _, line in lines]):
            raise
        yield from ((number, "", _value(path, line, number)) for number, line in lines)
    else:
        if isinstance(whole, list):
            yield from ((None, f"{place}.", record) for place, record in enumerate(whole))
        else:
            yield None, "", whole


def _value(path: Path, text: str, line: int | None = None) -> object:
    """The value of a JSON text, which is the whole file or a line of it. Raises InputError."""
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        message = f"this is no JSON: {error.msg}, column {error.colno}. Correct this place."
        raise InputError(path, message, line or error.lineno) from error
    except RecursionError as error:
        raise InputError(path, "it is nested too deeply. A scenario has a handful of levels.", line) from error


def _are_json_lines(lines: list[str]) -> bool:
    """Whether most of the lines are objects of their own, so that a broken one is the exception."""
    objects = 0
    for line in lines:
        try:
            objects += isinstance(json.loads(line), dict)
        except (json.JSONDecodeError, RecursionError):
            continue
    return len(lines) > 1 and 2 * objects >= len(lines)


def _record(path: Path, line: int | None, prefix: str, record: object) -> ScenarioRecord:
    if not isinstance(record, dict):
        raise InputError(path, "a scenario is a JSON object.", line, prefix.rstrip("."))
    inner = record.get("scenario", record)
    if inner is not record:
        prefix += "scenario."
    if not isinstance(inner, dict):
        raise InputError(path, "a scenario is a JSON object.", line, prefix.rstrip("."))
    try:
        return ScenarioRecord(Scenario.model_validate(inner), path, line, prefix)
    except ValidationError as error:
        first = error.errors()[0]
        cause = first.get("ctx", {}).get("error")
        field = cause.field if isinstance(cause, _FieldError) else ".".join(str(part) for part in first["loc"])
        message = str(cause) if isinstance(cause, ValueError) else str(first["msg"])
        others = error.error_count() - 1
        more = (
            f" ({others} more problem{'s' if others > 1 else ''} follow{'' if others > 1 else 's'} it)"
            if others
            else ""
        )
        raise InputError(path, f"{message}{more}.", line, f"{prefix}{field}".rstrip(".")) from error


_READ_EXTRAS = ("type", "isSmallSys", "tool_invocations")
"""What of a message's extras a run looks at; the rest says more about a chat than anybody needs to repeat it."""


def scenario_bytes(scenario: Scenario) -> bytes:
    """The scenario as one JSON object in UTF-8, without what is at its default."""
    value = scenario.model_dump(exclude_defaults=True)
    text = json.dumps(value, ensure_ascii=False, indent=1)
    return text.encode("utf-8", "backslashreplace") + b"\n"  # half a surrogate pair becomes its JSON escape


def message_record(message: Message) -> dict[str, Any]:
    """A message as far as a run reads it (rules: scenario-format 1.3)."""
    record: dict[str, Any] = {"mes": message.text, "is_user": message.is_user}
    if message.name is not None:
        record["name"] = message.name
    if message.is_system:
        record["is_system"] = True
    if message.is_thoughts:
        record["is_thoughts"] = True
    if message.swipe_id:
        record["swipe_id"] = message.swipe_id
    extra = {key: message.extra[key] for key in _READ_EXTRAS if key in message.extra}
    return record | ({"extra": extra} if extra else {})


def controls_metadata(controls: ChatControls) -> dict[str, Json]:
    """A person's choices for a chat in its metadata's keys (rules: scenario-format 1.4); what is not chosen is not
    there.
    """
    values: dict[str, Json] = {}
    for each in STATE_KEYS:
        chosen = getattr(controls, each.field)
        rules = each.field in {"pins", "blocks"}
        if chosen:
            values[each.key] = [_rule(rule) for rule in chosen] if rules else written(each, chosen, None)
    return values


def _rule(rule: EntryRule) -> Json:
    return {"title": rule.title, "vaultSource": rule.vault} if rule.vault else rule.title


# ---- the vault as it was read ---------------------------------------------------------------------------------------

_ALWAYS: Final = {
    "id": "id", "filename": "filename", "vault": "vaultSource", "title": "title", "tokens": "tokenEstimate",
    "content_hash": "contentHash", "content": "content",
}  # fmt: skip
_RENAMED: Final = {
    "position": "injectionPosition", "depth": "injectionDepth", "role": "injectionRole", "folder": "folderPath",
    "written_requires": "originalRequires", "written_excludes": "originalExcludes",
    "written_cascade_links": "originalCascadeLinks",
}  # fmt: skip
_BESIDE: Final = frozenset({"warnings", "system_fields"})
_OPTIONAL: Final = tuple(each for each in fields(Entry) if each.name not in _ALWAYS.keys() | _BESIDE)
"""The fields that are left out at their default; their keys are our names in camel case, or other ones (`_RENAMED`)."""


def index_report(index: VaultIndex, settings: DeepLoreSettings) -> dict[str, Any]:
    """The parse result: entries, skipped notes, folders, and the field definitions where they are not the built-in."""
    report: dict[str, Any] = {
        "entries": [_entry(entry, settings) for entry in index.entries],
        "skipped": [{"filename": note.filename, "reason": note.problem.value} for note in index.left_out],
        "folders": [{"path": folder.path, "entryCount": folder.entry_count} for folder in index.folders],
    }
    if index.fields != BUILT_IN_FIELDS:
        report["field_definitions"] = [_field(definition) for definition in index.fields]
    return report


def _entry(entry: Entry, settings: DeepLoreSettings) -> dict[str, Any]:
    report: dict[str, Any] = {key: getattr(entry, name) for name, key in _ALWAYS.items()}
    for each in _OPTIONAL:
        value = getattr(entry, each.name)
        if value != (each.default if each.default is not MISSING else EMPTY):
            value = list(value) if isinstance(value, tuple) else dict(value) if isinstance(value, Mapping) else value
            report[_RENAMED.get(each.name) or to_camel(each.name)] = value
    if not entry.constant and not settings.constant_tag:
        report["constant"] = ""  # what DeepLore's expression gives without a tag to compare with
    if entry.warnings:
        report["warnings"] = [f"{warning.code}:{warning.field}" for warning in entry.warnings]
    return report


def _field(definition: FieldDefinition) -> dict[str, Any]:
    return {
        "name": definition.name,
        "label": definition.label,
        "type": definition.type,
        "multi": definition.multi,
        "gating": {
            "enabled": definition.gating,
            "operator": definition.operator,
            "tolerance": definition.tolerance,
        },
        "values": list(definition.values),
        "contextKey": definition.key,
    }
