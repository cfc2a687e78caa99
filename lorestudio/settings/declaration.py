"""How a setting is declared: one line beside its default says everything a person or a program needs to know of it.

A `Group` makes the fields of one section of a settings model; `declared` reads them back as `Declaration`s, by which
settings panes, command line options and reference pages are made and settings are found.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from functools import cache
from typing import Any, ClassVar, Final, Literal, TypeAlias, TypedDict, TypeVar, Unpack, cast

from msgspec import Struct
from pydantic import BaseModel, ConfigDict, Field
from pydantic.config import JsonDict
from pydantic.fields import FieldInfo

from lorestudio.domain.javascript import number_text

DeepLoreStage: TypeAlias = Literal[
    "snapshot", "whole vault", "constants", "bootstrap", "keywords", "active character", "cascade links", "recursion",
    "BM25", "match order", "wiki links", "category prefilter", "pre-gating", "pre-folder filter", "manifest",
    "AI selection", "contextual gating (selection)", "folder filter", "priority order", "pins and blocks",
    "contextual gating",
    "re-injection cooldown", "requires and excludes", "duplicate stripping", "budget", "placement", "notes",
    "bookkeeping",
]  # fmt: skip
StageName: TypeAlias = str
"""A stage of a run, as `StageRecord.name` spells it. The module of a system's settings lists those that they change."""

Unit: TypeAlias = Literal[
    "", "messages", "exchanges", "tokens", "entries", "generations", "ms", "seconds", "days", "characters", "MiB"
]

Spelling: TypeAlias = Literal["", "list", "null"]

Choice: TypeAlias = str | int
Value: TypeAlias = bool | int | float | str

T = TypeVar("T", bool, int, float, str)
D = TypeVar("D")

_KEY = "lorestudio"  # where a field's JSON schema keeps what pydantic has no place for
_IRREGULAR: Final = {"allow_wi_scan": "allowWIScan", "cache_ttl": "cacheTTL"}


def camel_case(name: str) -> str:
    """DeepLore's key of a setting: `scan_depth` -> `scanDepth`; two keys with capital abbreviations are listed."""
    first, *rest = name.split("_")
    return _IRREGULAR.get(name) or first + "".join(word.capitalize() for word in rest)


class Marks(TypedDict, total=False):
    """What a setting may say of itself besides default, title and help: see `Group` and `Declaration`."""

    unit: Unit
    affects: Sequence[StageName]
    low: float
    high: float
    choices: Mapping[str, str] | Mapping[int, str]
    checked: bool
    advanced: bool
    long: bool
    local: bool
    spelled: Spelling
    since: str
    least: str
    profile: bool


class Section(BaseModel):
    """Base of the settings models: frozen, strict about types, unknown arguments ignored, attributes in snake_case.

    `stages` are those that the settings change, as a run has them.
    """

    stages: ClassVar[tuple[StageName, ...]] = ()

    model_config = ConfigDict(
        defer_build=True, frozen=True, strict=True, extra="ignore", populate_by_name=True, alias_generator=camel_case
    )

    @classmethod
    def has(cls, name: str) -> bool:
        """Whether there is a setting of this name, as files or as the program write it."""
        return any(name in (each.name, each.alias) for each in declared(cls))


class Group(Struct, frozen=True):
    """A heading that settings stand under. Calling it declares one setting of that group.

    `affects` are the stages that its settings change where they do not say it themselves. `local` says that all of them
    are about one computer or one window, see `Declaration.local`, `advanced` that all are.
    """

    name: str
    affects: Sequence[StageName] = ()
    local: bool = False
    advanced: bool = False

    def __call__(self, default: T, title: str, text: str, **marks: Unpack[Marks]) -> T:
        """Make a model field: `title` labels it, `text` is its help, `choices` maps sensible values to explanations.

        `low` and `high` are given together or not at all; DeepLore brings a number into that range. `checked` says
        that DeepLore itself puts a value outside `choices` back to the default (rules: deeplore 2.1). `long` is a
        text of several lines; `local`, `spelled`, `since`, `least` and `profile` see `Declaration`.
        """
        extra = {
            "group": self.name,
            **marks,
            "affects": tuple(marks.get("affects", self.affects)),
            "advanced": marks.get("advanced", False) or self.advanced,
            "local": marks.get("local", False) or self.local,
        }
        if "since" in marks:
            text += f" Needs the rules of {marks['since']}."
        schema = cast("JsonDict", {_KEY: extra})
        low, high = marks.get("low"), marks.get("high")
        return Field(default, title=title, description=text, ge=low, le=high, json_schema_extra=schema)


class Declaration(Struct, frozen=True):
    """One setting as it was declared.

    `name` is the attribute, `alias` DeepLore's key in files. `low` and `high` are both numbers or both None.
    `affects` names the stages of a run that the setting changes; empty means none. `long` is a text of several lines.
    `local` belongs to one computer or one window, so it is carried elsewhere only when somebody asks for it
    (rules: deeplore-tools 4.3 step 5). `spelled` says how a text stands in files: as it is, as a list of its parts
    between commas, or as a whole number with null for the empty text. `since` is the version of DeepLore whose rules a
    setting needs, "" where all have it. `least` says what `low` stands for where it is no amount: `no limit`.
    `profile` says that the value may be the name of a provider profile.
    """

    name: str
    alias: str
    title: str
    help: str
    default: Value
    type: type[bool | int | float | str]
    group: str
    affects: tuple[StageName, ...]
    low: float | None = None
    high: float | None = None
    unit: Unit = ""
    choices: Mapping[Choice, str] = {}
    checked: bool = False
    advanced: bool = False
    long: bool = False
    local: bool = False
    spelled: Spelling = ""
    since: str = ""
    least: str = ""
    profile: bool = False

    @property
    def label(self) -> str:
        """Title and group, for where the group is not in sight: `Notebook: Depth`."""
        return f"{self.group}: {self.title}"

    @property
    def whole(self) -> bool:
        """Whether both limits are whole numbers, which is when DeepLore rounds (rules: deeplore 2.1)."""
        return all(limit is not None and float(limit).is_integer() for limit in (self.low, self.high))

    @property
    def allowed(self) -> str:
        """The range or the sensible values in words: `0 to 100 messages`, `first, last, merge`; else empty."""
        if self.low is not None and self.high is not None:
            return f"{number_text(self.low)} to {number_text(self.high)} {self.unit}".rstrip()
        return ", ".join(str(choice) for choice in self.choices)


def _declaration(name: str, info: FieldInfo) -> Declaration:
    extra = cast("Mapping[str, Any]", info.json_schema_extra)[_KEY]
    kind = cast("type[bool | int | float | str]", info.annotation)
    alias, title = info.alias or name, info.title or ""
    return Declaration(name, alias, title, info.description or "", cast("Value", info.default), kind, **extra)


@cache
def declared(section: type[Section]) -> tuple[Declaration, ...]:
    """List the settings of a model in the order they are written: those of the models that it is made of come first."""
    fields = section.model_fields
    bases = (each.name for base in section.__bases__ if issubclass(base, Section) for each in declared(base))
    return tuple(_declaration(name, fields[name]) for name in dict.fromkeys((*bases, *fields)))


class Switch(Struct, frozen=True):
    """A choice between two ways of deciding, with the stages that it concerns; none where it is about reading notes."""

    name: str
    title: str
    help: str
    affects: tuple[StageName, ...]


def switch(default: D, title: str, text: str, affects: Iterable[StageName]) -> D:
    """Declare a field of a model as a switch: see `declared_switches`."""
    return Field(default, title=title, description=text, json_schema_extra={"affects": list(affects)})


@cache
def declared_switches(model: type[BaseModel]) -> tuple[Switch, ...]:
    """The switches of a model whose fields tell the stages under `affects`, in the order of their declaration."""
    fields = cast("Mapping[str, Any]", model.model_fields).items()
    return tuple(
        Switch(name, each.title, each.description, tuple(each.json_schema_extra["affects"])) for name, each in fields
    )


NO_STAGE: Final = "no stage"
"""The group of the settings that change nothing in a run."""


class Grouping(StrEnum):
    """What settings are put together by."""

    SECTION = "section"
    STAGE = "stage"


class SettingGroup(Struct, frozen=True):
    """Settings under one heading. Grouped by stage, a setting stands under every stage that it changes."""

    title: str
    settings: tuple[Declaration, ...]


def matching(words: str, settings: Iterable[Declaration]) -> tuple[Declaration, ...]:
    """The settings in which every word occurs: in title, help, DeepLore's key, section, choices or stages."""
    wanted = words.casefold().split()
    return tuple(each for each in settings if all(word in _said(each) for word in wanted))


def _said(declaration: Declaration) -> str:
    parts = [declaration.title, declaration.help, declaration.alias, declaration.name, declaration.group]
    parts += [str(choice) for choice in declaration.choices] + list(declaration.affects)
    return "\n".join(parts).casefold()


def setting_groups(
    settings: Iterable[Declaration], by: Grouping = Grouping.SECTION, stages: Sequence[StageName] = ()
) -> tuple[SettingGroup, ...]:
    """The settings in groups without empty ones: sections as declared, `stages` in their order, then `NO_STAGE`."""
    found: dict[str, list[Declaration]] = {stage: [] for stage in (*stages, NO_STAGE)} if by is Grouping.STAGE else {}
    for each in settings:
        for title in (each.affects or (NO_STAGE,)) if by is Grouping.STAGE else (each.group,):
            found.setdefault(title, []).append(each)
    return tuple(SettingGroup(title, tuple(members)) for title, members in found.items() if members)
