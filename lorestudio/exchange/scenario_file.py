"""Scenario files: one JSON object, a list of them, or JSON lines; written in the rules: scenario-format 1."""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from msgspec import Struct
from pydantic import AfterValidator, BaseModel, Field, ValidationError, field_validator, model_validator
from pydantic.alias_generators import to_camel

from lorestudio.domain.chat import Message
from lorestudio.domain.entry import BUILT_IN_FIELDS, Entry, FieldDefinition, VaultIndex
from lorestudio.domain.javascript import Json
from lorestudio.domain.json_text import json_or_none
from lorestudio.domain.records import field_names, picked, replace
from lorestudio.domain.state import ChatControls
from lorestudio.domain.texts import meant
from lorestudio.exchange.character_card import CharacterCard, Member, parse_card
from lorestudio.exchange.chats.metadata import STATE_KEYS, written
from lorestudio.exchange.json_file import line_of, parse_text, read_file, utf8_text
from lorestudio.exchange.lorebooks.entry import BookError
from lorestudio.exchange.lorebooks.reading import BookRole, Lorebook, read_lorebook
from lorestudio.exchange.problems import InputError, OutsideModel, said
from lorestudio.settings.behaviour import Behaviour
from lorestudio.settings.deeplore import MOST_UNKNOWN, DeepLoreSettings, sanitise
from lorestudio.settings.files import read_whole, unpacked
from lorestudio.settings.rules import NEW, OLD, rules_of
from lorestudio.trace.wording import controls_escaped, plural

ENVIRONMENT: Final[Mapping[str, Json]] = {"enabled": True, "aiSearchProfileId": "oracle-profile"}
"""Settings that the recorded runs were made with unless a scenario says otherwise."""

_NUMBERS: Final = re.compile(r"\[\n\s*(\d+(?:,\n\s*\d+)*)\n\s*\]")
"""A list of numbers with a line for each: a long chat's lists of messages would fill more than is read of a file."""

_NEVER_MIGRATED: Final = 99
"""The layout that the recorded runs of 2.6 have, so that nothing in their settings is brought up to date."""


class _FieldError(ValueError):
    """What is wrong in one field; `field` is its path within the scenario."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field


class ScenarioVault(OutsideModel):
    """A vault of a scenario: its files in index order, or `ref`, the name of a folder that holds them."""

    name: str
    files: list[tuple[str, str]] | None = None
    ref: str | None = None

    @model_validator(mode="after")
    def _has_files(self) -> ScenarioVault:
        if (self.files is None) == (self.ref is None):
            raise ValueError("a vault has either “files” or “ref”")
        return self


class ScenarioBook(OutsideModel):
    """A lorebook of a scenario: `entries` as a World Info file has them, or the `document` of another file.

    `form` names that of the document: “card” is a card's `character_book` alone; any other is told by its content.
    `owners` are the members of a group for whom alone it is scanned.
    """

    name: str
    role: BookRole = BookRole.GLOBAL
    entries: dict[str, Any] | list[Any] | None = None
    form: str = ""
    document: Any = None
    owners: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _can_be_read(self) -> ScenarioBook:
        if self.entries is None and self.document is None:
            raise ValueError("a lorebook has “entries”, or the “document” of a file")
        try:
            _ = self.lorebook
        except BookError as error:
            raise ValueError(str(error)) from None
        return self

    @cached_property
    def lorebook(self) -> Lorebook:
        """What it holds. Raises BookError."""
        document = {"entries": self.entries} if self.document is None else self.document
        if self.form == "card":
            document = {"character_book": document}
        book = read_lorebook(document, self.name, self.role, f"the scenario's book {self.name}")
        return replace(book, owners=frozenset(self.owners))


class ScenarioMember(OutsideModel):
    """A member of a scenario's group: the file of its card (`avatar`), and the `card` as a scenario's own."""

    avatar: str = ""
    muted: bool = False
    card: dict[str, Any] | None = None


class ScenarioNote(OutsideModel):
    """The author's note, as an alternative to its keys in the chat's metadata."""

    text: str = ""
    interval: int = 1
    position: int = 1
    depth: int = 4
    role: int = 0

    @property
    def metadata(self) -> dict[str, Any]:
        """The same in the chat's metadata."""
        return {f"note_{'prompt' if name == 'text' else name}": value for name, value in self.model_dump().items()}


KINDS: Final = ("normal", "swipe", "regenerate", "continue", "impersonate", "quiet")
"""The kinds of generations."""


def _reply(reply: dict[str, Any]) -> dict[str, Any]:
    """A model's answer, where it is one. Raises ValueError."""
    if not isinstance(reply.get("error", {}), dict):
        raise ValueError("the “error” of an answer is an object with its “message”")  # noqa: TRY004  # pydantic's own
    if reply.keys().isdisjoint({"text", "json", "error"}):
        raise ValueError("an answer has a “text”, a “json” or an “error”")
    return reply


class ScenarioGeneration(OutsideModel):
    """One generation: the clock, the chat as indices into the scenario's messages, and changes made before it.

    `book_patch` changes entries of the scenario's lorebooks, by book and uid. `force` are entries that the host
    activates from outside, as `book.uid`; `quiet_prompt` is the text that a quiet generation is asked with.
    `answer_swipe_id` says which answer a swipe writes, `front_chat` what the front end's own chat holds where that is
    more than `chat`; with DeepLore both only matter under the rules of 2.6. `vault_patch` has notes' new texts by path,
    null for one that is gone: of the first vault, or by the vaults' names. They are read where `reindex` says so: all
    of them anew, or with "changes" as DeepLore looks for changes.
    """

    now_ms: int
    type: str = "normal"
    chat: list[int]
    metadata_patch: dict[str, Any] = Field(default_factory=dict)
    settings_patch: dict[str, Any] = Field(default_factory=dict)
    character: str | None = None
    ai: dict[str, Annotated[dict[str, Any], AfterValidator(_reply)]] = Field(default_factory=dict)
    context_size: int = 8192
    book_patch: dict[str, dict[str, dict[str, Any] | None]] = Field(default_factory=dict)
    force: tuple[str, ...] = ()
    quiet_prompt: str = ""
    vault_patch: dict[str, str | dict[str, str | None] | None] = Field(default_factory=dict)
    reindex: bool | Literal["changes"] = False
    answer_swipe_id: int | None = None
    front_chat: list[int] | None = None

    @field_validator("type")
    @classmethod
    def _is_a_kind(cls, kind: str) -> str:
        if kind not in KINDS:
            raise ValueError(f"there is no such kind of generation; there are: {', '.join(KINDS)}")
        return kind


class Scenario(OutsideModel):
    """Everything a run of several generations needs.

    `behaviour` and `model` (the answers' model, where the settings name none) are the studio's own: recorded runs of
    DeepLore have neither. So are `system`, the retrieval system that decides, and `system_settings`, by the keys of its
    files; with another one than DeepLore, `settings` only say how notes are read. `rules` names DeepLore's rules. What
    is around the chat is for systems that look at it: `card` (a card file's content, or its texts alone), `persona`,
    `user`, what files may call the character (`avatar`), the ids of its `tags`, the members of a group by name
    (`cast`), whose cards count where they speak, the chat's `variables`, the author's
    `note`, lorebooks, and the name of its file without ending (`chat_name`, else the id). `max_context` is the context
    size of generations that give none.
    """

    id: str
    rules: str = OLD
    clock_start_ms: int = 0
    rng_seed: int = Field(default=0, ge=0, le=2**32 - 1)
    tokenizer: str = "chars4"
    settings: dict[str, Any] = Field(default_factory=dict)
    vaults: list[ScenarioVault]
    books: list[ScenarioBook] = Field(default_factory=list)
    character: str = ""
    avatar: str | list[str] = Field(default_factory=list)
    tags: list[str] | None = None
    card: dict[str, Any] | None = None
    cast: dict[str, ScenarioMember] = Field(default_factory=dict)
    persona: str = ""
    user: str = ""
    chat_name: str = ""
    variables: dict[str, Any] = Field(default_factory=dict)
    note: ScenarioNote | None = None
    max_context: int | None = Field(default=None, ge=0)
    reply_tokens: int = Field(default=0, ge=0)
    messages: list[dict[str, Any]]
    metadata: dict[str, Any] = Field(default_factory=dict)
    behaviour: Behaviour = Field(default_factory=Behaviour)
    model: str = ""
    system: str = "deeplore"
    system_settings: dict[str, Any] = Field(default_factory=dict)
    generations: list[ScenarioGeneration]

    @model_validator(mode="before")
    @classmethod
    def _books_are_enough(cls, value: object) -> object:
        """Where there are lorebooks, there need not be notes."""
        return {"vaults": [], **value} if isinstance(value, dict) and value.get("books") else value

    @property
    def raw_settings(self) -> dict[str, Json]:
        """The settings before the first generation, of the version whose rules hold."""
        version: dict[str, Json] = {"settingsVersion": _NEVER_MIGRATED} if self.rules.startswith(NEW) else {}
        return {**ENVIRONMENT, **version, **self.settings, "rules": self.rules}

    @model_validator(mode="after")
    def _rules_exist(self) -> Scenario:
        try:
            rules_of(self.rules)
        except ValueError as error:
            raise _FieldError("rules", str(error)) from None
        return self

    @model_validator(mode="after")
    def _vaults_exist(self) -> Scenario:
        known = [vault.name for vault in self.vaults]
        for number, generation in enumerate(self.generations):
            for name, patch in generation.vault_patch.items():
                if isinstance(patch, dict) and name not in known:
                    there = f"there are: {', '.join(known)}" if known else "there are none"
                    raise _FieldError(f"generations.{number}.vault_patch.{name}", f"there is no such vault; {there}")
        return self

    @model_validator(mode="after")
    def _chats_exist(self) -> Scenario:
        last = len(self.messages) - 1
        for number, generation in enumerate(self.generations):
            for name in ("chat", "front_chat"):
                for place, index in enumerate(getattr(generation, name) or ()):
                    if not 0 <= index <= last:
                        there = f"there are messages 0 to {last}" if last >= 0 else "there are no messages"
                        field = f"generations.{number}.{name}.{place}"
                        raise _FieldError(field, f"there is no message {index}; {there}")
            unknown = sorted(generation.book_patch.keys() - {book.name for book in self.books})
            if unknown:
                raise _FieldError(f"generations.{number}.book_patch", f"the scenario has no lorebook “{unknown[0]}”")
        for field, read in (("card", self.character_card), ("cast", self.members)):
            try:
                read()
            except InputError as error:
                raise _FieldError(field, error.message) from None
        return self

    def members(self) -> dict[str, Member]:
        """The members of the group by name. Raises InputError."""
        return {
            name: Member(each.avatar or name, each.muted, _card(each.card, name)) for name, each in self.cast.items()
        }

    def character_card(self) -> CharacterCard | None:
        """The card, None without one. Raises InputError."""
        return _card(self.card, self.character)

    def size_at(self, generation: ScenarioGeneration) -> int:
        """The context size of a generation, in tokens."""
        said = "context_size" in generation.model_fields_set or self.max_context is None
        return generation.context_size if said or self.max_context is None else self.max_context

    @property
    def names(self) -> tuple[str, ...]:
        """What files may call the character."""
        return (self.avatar,) if isinstance(self.avatar, str) else tuple(self.avatar)

    @property
    def chat_metadata(self) -> dict[str, Any]:
        """The chat's metadata with note and variables."""
        note = self.note.metadata if self.note is not None else {}
        return {**self.metadata, **note, **({"variables": self.variables} if self.variables else {})}


def _card(card: Mapping[str, Any] | None, name: str) -> CharacterCard | None:
    """A card as a scenario gives it: a file's content, or its texts alone. Raises InputError."""
    if card is None:
        return None
    if "spec" not in card and "data" not in card:
        prompt = card.get("depth_prompt", "")
        extensions = {"depth_prompt": {"prompt": prompt}} if isinstance(prompt, str) else {"depth_prompt": prompt}
        texts = {field: value for field, value in card.items() if field != "depth_prompt"}
        own = {"name": name or "Character", "extensions": extensions, **texts}
        card = {"spec": "chara_card_v2", "spec_version": "2.0", "data": own}
    return parse_card(json.dumps(card).encode(), "card")


class ScenarioRecord(Struct, frozen=True):
    """A scenario and where it stood: `line` from 1 in JSON lines, `prefix` what a field's path begins with.

    `unheeded` are sentences about fields and settings that a run does not know.
    """

    scenario: Scenario
    source: Path
    line: int | None = None
    prefix: str = ""
    unheeded: tuple[str, ...] = ()

    def error(self, message: str, field: str) -> InputError:
        """What is wrong in one field of this scenario."""
        return _wrong(self.source, message, self.line, self.prefix + field)


def _wrong(path: Path, message: str, line: int | None, field: str) -> InputError:
    """What is wrong in a field; where the file is one document, its line is looked for."""
    return InputError(path, message, line or line_of(_text(path), field.split(".")), field)


def read_records(path: Path) -> list[ScenarioRecord]:
    """All scenarios of a file with their places; a `.gz` file is unpacked, a recorded line's `scenario` is taken.

    Raises InputError naming the file, line and field that are wrong, or what else the file is; then nothing has been
    run.
    """
    try:
        scenarios = [_record(path, line, prefix, record) for line, prefix, record in _documents(path, _text(path))]
    except InputError as error:
        from lorestudio.exchange.lorebooks.formats import another_file  # noqa: PLC0415  # a right file needs no other format

        raise (another_file(read_file(path), path, "scenario") if path.is_file() else None) or error from None
    if not scenarios:
        raise InputError(path, "there is no scenario in it. A scenario is a JSON object with vaults and generations.")
    return scenarios


def _text(path: Path) -> str:
    try:
        data = unpacked(read_whole(path))
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(path, f"the file cannot be read: {getattr(error, 'strerror', None) or error}.") from error
    text = utf8_text(data, path, "Save it as UTF-8.")
    if not text.strip():
        raise InputError(path, "the file is empty. A scenario is a JSON object with vaults, messages and generations.")
    return text


_ADVICE: Final = "Correct this place."


def _documents(path: Path, text: str) -> Iterator[tuple[int | None, str, object]]:
    """Line, beginning of field paths, and record, of one JSON document or of JSON lines."""
    lines = [(number, line) for number, line in enumerate(text.split("\n"), start=1) if line.strip()]
    try:
        whole = parse_text(text, path, _ADVICE)
    except InputError:
        if not _are_json_lines([line for _, line in lines]):
            raise
        yield from ((number, "", parse_text(line, path, _ADVICE, number)) for number, line in lines)
    else:
        if isinstance(whole, list):
            yield from ((None, f"{place}.", record) for place, record in enumerate(whole))
        else:
            yield None, "", whole


def _are_json_lines(lines: list[str]) -> bool:
    """Whether most of the lines are objects of their own, so that a broken one is the exception."""
    objects = sum(isinstance(json_or_none(line), dict) for line in lines)
    return len(lines) > 1 and 2 * objects >= len(lines)


def _record(path: Path, line: int | None, prefix: str, record: object) -> ScenarioRecord:
    if not isinstance(record, dict):
        raise _wrong(path, "a scenario is a JSON object.", line, prefix.rstrip("."))
    inner = record.get("scenario", record)
    if inner is not record:
        prefix += "scenario."
    if not isinstance(inner, dict):
        raise _wrong(path, "a scenario is a JSON object.", line, prefix.rstrip("."))
    try:
        return ScenarioRecord(Scenario.model_validate(inner), path, line, prefix, tuple(_unheeded(inner)))
    except ValidationError as error:
        first = error.errors()[0]
        cause = first.get("ctx", {}).get("error")
        field = cause.field if isinstance(cause, _FieldError) else _place(first, inner)
        others = len({_place(each, inner) for each in error.errors()}) - 1
        more = plural(others, "| (# more problem follows it)| (# more problems follow it)")
        raise _wrong(path, f"{said(first)}{more}.", line, f"{prefix}{field}".rstrip(".")) from error


def _place(problem: Mapping[str, Any], value: object) -> str:
    """The field of a problem: of its path what is in the file, without the names of what a value might have been."""
    path = []
    for part in problem["loc"]:
        inner = dict(enumerate(value)) if isinstance(value, list) else value
        if isinstance(inner, dict) and (part in inner or problem["type"] == "missing"):
            path.append(str(part))
            value = inner.get(part)
    return ".".join(path)


_FOR_PEOPLE: Final = frozenset({"seed", "focus", "swipe"})
"""Fields that no run looks at (rules: scenario-format 1)."""


_ANSWERS: Final = ("search", "prefilter")
"""Which questions of a generation have their answers in a scenario."""


def _unheeded(scenario: Mapping[str, Any]) -> Iterator[str]:
    """A sentence about every field and setting that is none, as far as that is not meant for people."""
    parts: list[tuple[str, type[BaseModel], Mapping[str, Any]]] = [("a scenario", Scenario, scenario)]
    parts += [("a generation", ScenarioGeneration, each) for each in scenario["generations"]]
    parts += [("a vault", ScenarioVault, each) for each in scenario.get("vaults", ())]
    parts += [("a lorebook", ScenarioBook, each) for each in scenario.get("books", ())]
    parts += [("the note", ScenarioNote, scenario.get("note") or {})]
    for what, kind, values in parts:
        strange = sorted(values.keys() - kind.model_fields.keys() - _FOR_PEOPLE)
        for place, key in enumerate(strange[:MOST_UNKNOWN], 1):
            more = f" So it is with {len(strange) - place:,} more." if MOST_UNKNOWN == place < len(strange) else ""
            yield f"“{key}”: {what} has no such field, so it has no effect.{meant(key, kind.model_fields)}{more}"
        for key in sorted(values.get("ai", {}).keys() - _ANSWERS):
            yield f"“{key}”: {what} has no such answer, so it has no effect.{meant(key, _ANSWERS)}"
        for settings in filter(None, (values.get("settings"), values.get("settings_patch"))):
            read = sanitise(settings)
            unknown = read.unknown.keys() - read.corrected.keys()
            yield from (problem for problem in read.problems if problem.partition(":")[0] in unknown)


_READ_EXTRAS = ("type", "isSmallSys", "tool_invocations")
"""What of a message's extras a run looks at; the rest says more about a chat than anybody needs to repeat it."""


def scenario_bytes(scenario: Scenario) -> bytes:
    """The scenario as one JSON object in UTF-8, without what is at its default."""
    value = scenario.model_dump(exclude_defaults=True)
    text = controls_escaped(json.dumps(value, ensure_ascii=False, indent=1))
    text = _NUMBERS.sub(lambda found: f"[{''.join(found[1].split())}]", text)
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
            values[each.key] = (
                [{"title": rule.title, "vaultSource": rule.vault} if rule.vault else rule.title for rule in chosen]
                if rules
                else written(each, chosen, None)
            )
    return values


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
_OPTIONAL: Final = tuple(name for name in field_names(Entry) if name not in _ALWAYS.keys() | _BESIDE)
_PLAIN: Final = Entry(**dict.fromkeys(_ALWAYS, ""))  # type: ignore[arg-type]  # its optional fields are the defaults
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
    for name in _OPTIONAL:
        value = getattr(entry, name)
        if value != getattr(_PLAIN, name):
            value = list(value) if isinstance(value, tuple) else dict(value) if isinstance(value, Mapping) else value
            report[_RENAMED.get(name) or to_camel(name)] = value
    if not entry.constant and not settings.constant_tag:
        report["constant"] = ""  # what DeepLore's expression gives without a tag to compare with
    if entry.warnings:
        report["warnings"] = [f"{warning.code}:{warning.field}" for warning in entry.warnings]
    return report


def _field(definition: FieldDefinition) -> dict[str, Any]:
    return {
        **picked(definition, "name", "label", "type", "multi"),
        "gating": {"enabled": definition.gating, **picked(definition, "operator", "tolerance")},
        "values": list(definition.values),
        "contextKey": definition.key,
    }
