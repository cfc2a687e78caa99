"""Reading scenario files: one JSON object, a list of them, or JSON lines."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from lorestudio.exchange.problems import InputError


class ScenarioVault(BaseModel):
    """A vault of a scenario: its files in index order, or `ref`, the name of a folder that holds them."""

    model_config = ConfigDict(frozen=True)

    name: str
    files: list[tuple[str, str]] | None = None
    ref: str | None = None

    @model_validator(mode="after")
    def _has_files(self) -> ScenarioVault:
        if (self.files is None) == (self.ref is None):
            message = "a vault has either files or ref"
            raise ValueError(message)
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
    ai: dict[Literal["search", "prefilter"], dict[str, Any]] = Field(default_factory=dict)
    context_size: int = 8192


class Scenario(BaseModel):
    """Everything a run of several generations needs."""

    model_config = ConfigDict(frozen=True)

    id: str
    clock_start_ms: int = 0
    rng_seed: int = Field(default=0, ge=0, le=2**32 - 1)
    tokenizer: Literal["chars4", "st335"] = "chars4"
    settings: dict[str, Any] = Field(default_factory=dict)
    vaults: list[ScenarioVault]
    character: str = ""
    messages: list[dict[str, Any]]
    metadata: dict[str, Any] = Field(default_factory=dict)
    generations: list[ScenarioGeneration]

    @model_validator(mode="after")
    def _chats_exist(self) -> Scenario:
        for number, generation in enumerate(self.generations):
            for index in generation.chat:
                if not 0 <= index < len(self.messages):
                    message = (
                        f"generations.{number}.chat names message {index}; there are messages 0 to "
                        f"{len(self.messages) - 1}"
                    )
                    raise ValueError(message)
        return self


def read_scenarios(path: Path) -> list[Scenario]:
    """All scenarios of a file, in order; a `.gz` file is unpacked, a recorded line's `scenario` is taken.

    Raises InputError naming the file, line and field that are wrong; then nothing has been run.
    """
    try:
        data = path.read_bytes()
        text = (gzip.decompress(data) if data.startswith(b"\x1f\x8b") else data).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(path, f"byte {error.start} is not UTF-8. Save the file as UTF-8.") from error
    except (OSError, EOFError) as error:
        raise InputError(path, f"the file cannot be read: {getattr(error, 'strerror', None) or error}.") from error
    scenarios = [_scenario(path, line, record) for line, record in _records(path, text)]
    if not scenarios:
        raise InputError(path, "there is no scenario in it. A scenario is a JSON object with vaults and generations.")
    return scenarios


def _records(path: Path, text: str) -> Iterator[tuple[int | None, Any]]:
    """The records of one JSON document, or of JSON lines with their line numbers."""
    try:
        whole = json.loads(text)
    except json.JSONDecodeError as whole_error:
        lines = [(number, line) for number, line in enumerate(text.split("\n"), start=1) if line.strip()]
        if len(lines) < 2 or lines[0][1].strip() in "{[":
            message = f"this is no JSON: {whole_error.msg}, column {whole_error.colno}."
            raise InputError(path, message, whole_error.lineno) from whole_error
        for number, line in lines:
            try:
                yield number, json.loads(line)
            except json.JSONDecodeError as error:
                raise InputError(path, f"this is no JSON: {error.msg}, column {error.colno}.", number) from error
    else:
        for record in whole if isinstance(whole, list) else [whole]:
            yield None, record


def _scenario(path: Path, line: int | None, record: object) -> Scenario:
    if not isinstance(record, dict):
        raise InputError(path, "a scenario is a JSON object.", line)
    inner = record.get("scenario", record)
    try:
        return Scenario.model_validate(inner)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"])
        if inner is not record:
            field = f"scenario.{field}" if field else "scenario"
        more = f" ({error.error_count() - 1} more problems follow it)" if error.error_count() > 1 else ""
        raise InputError(path, f"{first['msg']}{more}.", line, field) from error
