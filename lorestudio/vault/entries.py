"""From the text of one note to an entry, or to the reason why it is none (rules: deeplore 1.4 to 1.11)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from sys import intern  # what many notes say alike, as tags and folders, is held once
from typing import Final

from msgspec import Struct

from lorestudio.domain.entry import (
    ANY_REFINE,
    BUILT_IN_FIELDS,
    EMPTY,
    MAX_DEPTH,
    REFINE_LOGICS,
    Entry,
    FieldDefinition,
    LeftOutNote,
    NoteProblem,
    ParserWarning,
    Position,
    Role,
)
from lorestudio.domain.javascript import Json, is_finite_number, number_text, simple_hash, to_number, to_string, trim
from lorestudio.domain.tokens import TokenCounter
from lorestudio.settings.deeplore import DeepLoreSettings
from lorestudio.vault import cleaning, front_matter
from lorestudio.vault.fields import RESERVED

SPELLINGS: Final = frozenset({
    "keys", "tags", "priority", "summary", "depth", "position", "role", "scanDepth", "cooldown", "warmup",
    "probability", "requires", "excludes", "refine_keys", "cascade_links", "enabled", "constant", "seed", "bootstrap",
    "guide", "outlet", "era", "location", "scene_type", "character_present", "graph", "excludeRecursion",
})  # fmt: skip
"""Fields whose capital letters lenient authoring puts right, as they are read."""
_BY_LOWER_CASE: Final = {name.lower(): name for name in SPELLINGS}

NOT_IMPLEMENTED: Final = ("sticky", "delay", "group", "group_weight")
"""Fields of other lorebook tools: kept, shown to the AI, without effect."""

WI_FIELDS: Final = (
    "vectorized", "selective", "use_probability", "prevent_recursion", "delay_until_recursion", "group_override",
    "use_group_scoring", "case_sensitive", "match_whole_words", "automation_id", "add_memo", "display_index",
    "match_persona_description", "match_character_description", "match_character_personality",
    "match_character_depth_prompt", "match_scenario", "match_creator_notes", "triggers", "ignore_budget",
    "character_filter", "decorators",
)  # fmt: skip
"""World Info's fields that only travel along in notes (rules: deeplore-newer 3.2)."""

LOGIC_FIELD: Final = "selective_logic"

NEWER_FIELDS: Final = frozenset({LOGIC_FIELD, *WI_FIELDS})
"""Fields that only DeepLore 2.5 and later reads (rules: deeplore-newer 4)."""

_POSITIONS: Final = {"before": Position.BEFORE, "after": Position.AFTER, "in_chat": Position.IN_CHAT}
_ROLES: Final = {"system": Role.SYSTEM, "user": Role.USER, "assistant": Role.ASSISTANT}


class ParseRules(Struct, frozen=True):
    """What the settings say about reading a note. Tags are in lower case; an empty tag is switched off.

    `with_disabled` reads notes that say `enabled: false` like others, for who asks what they would say.
    """

    lorebook_tag: str = "lorebook"
    constant_tag: str = "lorebook-always"
    never_insert_tag: str = "lorebook-never"
    seed_tag: str = "lorebook-seed"
    bootstrap_tag: str = "lorebook-bootstrap"
    guide_tag: str = "lorebook-guide"
    lenient: bool = True
    fields: tuple[FieldDefinition, ...] = BUILT_IN_FIELDS
    refine_logic: bool = False
    wi_fields: bool = False
    unicode_names: bool = False
    empty_titles: bool = False
    with_disabled: bool = False

    @classmethod
    def from_settings(
        cls, settings: DeepLoreSettings, fields: Sequence[FieldDefinition] = BUILT_IN_FIELDS
    ) -> ParseRules:
        """The rules for `settings` and the field definitions of the first vault."""
        rules = settings.rule_set
        return cls(
            settings.lorebook_tag.lower(),
            settings.constant_tag.lower(),
            settings.never_insert_tag.lower(),
            settings.seed_tag.lower(),
            settings.bootstrap_tag.lower(),
            settings.librarian_guide_tag.lower(),
            settings.lenient_authoring,
            tuple(fields),
            rules.refine_logic,
            rules.wi_fields,
            rules.unicode_names,
            rules.empty_titles,
        )


SYSTEM_PREFIXES: Final = ("cw_", "wi_")
"""How the names of properties begin that DeepLore does not read: the context window's and World Info's."""


def parse_note(
    text: str,
    filename: str,
    vault: str,
    rules: ParseRules,
    counter: TokenCounter | None = None,
    values: Mapping[str, front_matter.Value] | None = None,
) -> Entry | LeftOutNote:
    """One note on its own: an entry with id 0, its links unresolved, or why it is none. Never raises on any text.

    `filename` is relative to the vault. The hash is taken over the whole text, so a byte order mark that stands in
    `text` counts. Without a counter its tokens are 0: they are counted with the index. `values` are those of its front
    matter where they are known; the rules may want them read in another way.
    """
    if values is None or rules.unicode_names:
        values, body = front_matter.read(text, unicode_names=rules.unicode_names)
    else:
        values, body = dict(values), front_matter.split(text)[1]
    note = _FrontMatter(values, rules)
    tags = _tags(values.get("tags"))
    problem = _refusal(tags, values, rules)
    title = "" if problem else cleaning.title(body, filename)
    if not problem and rules.empty_titles and not trim(title):
        problem = NoteProblem.BLANK_TITLE
    if not (problem or title):
        problem = NoteProblem.EMPTY_TITLE
    if problem:
        return LeftOutNote(filename, vault, problem, _explanation(problem, filename, text, rules))
    content = cleaning.clean(body)
    folder, slash, _ = filename.rpartition("/")
    # Keys and numbers may warn; the order of their reading is the order of the warnings.
    keys = note.keys()
    priority, cooldown, warmup, probability = map(note.number, ("priority", "cooldown", "warmup", "probability"))
    depth = note.plain_number("depth")
    logic = note.refine_logic() if rules.refine_logic else ANY_REFINE
    custom_fields = note.custom_fields(rules.fields)
    return Entry(
        id=0,
        filename=filename,
        vault=vault,
        title=title,
        content=content,
        keys=keys,
        refine_keys=note.texts("refine_keys"),
        selective_logic=logic,
        summary=note.summary(),
        priority=100 if priority is None else priority,
        constant=values.get("constant") is True or _marked(rules.constant_tag, tags),
        seed=_marked(rules.seed_tag, tags),
        bootstrap=_marked(rules.bootstrap_tag, tags),
        guide=_marked(rules.guide_tag, tags),
        tokens=counter.count(content) if counter is not None else 0,
        scan_depth=note.plain_number("scanDepth", finite=False),
        exclude_recursion=values.get("excludeRecursion") is True,
        links=cleaning.wikilinks(body),
        tags=tuple([tag for tag in tags if tag not in {rules.lorebook_tag, rules.guide_tag}]),
        requires=note.texts("requires"),
        excludes=note.texts("excludes"),
        cascade_links=note.texts("cascade_links"),
        outlet=note.outlet(),
        position=note.choice("position", _POSITIONS),
        depth=None if depth is None else min(max(depth, 0), MAX_DEPTH),
        role=note.choice("role", _ROLES),
        cooldown=cooldown if cooldown is not None and cooldown > 0 else None,
        warmup=warmup if warmup is not None and warmup > 0 else None,
        probability=None if probability is None else min(max(probability, 0), 1),
        folder=intern(folder) if slash else None,
        custom_fields=custom_fields,
        graph=values.get("graph") is not False,
        content_hash=simple_hash(text),
        warnings=tuple(note.warnings),
        system_fields=EMPTY if values.keys() <= RESERVED else _system_fields(values),
    )


def field_name(written: str) -> str:
    """The field that a property of this name is in lenient authoring, which puts capital letters right
    (rules: deeplore 1.4).
    """
    return _BY_LOWER_CASE.get(written.lower(), written)


def _tags(value: front_matter.Value) -> list[str]:
    if isinstance(value, list):
        return [intern(tag.lower()) for tag in value]
    return [value.lower()] if isinstance(value, str) else []


def _marked(tag: str, tags: list[str]) -> bool:
    return bool(tag) and tag in tags


def _refusal(tags: list[str], values: Mapping[str, front_matter.Value], rules: ParseRules) -> NoteProblem | None:
    """Why the note is not admitted; the order of the checks decides which reason is given (rules: deeplore 1.4)."""
    if rules.lorebook_tag not in tags and not _marked(rules.guide_tag, tags):
        return NoteProblem.NO_LOREBOOK_TAG if values else NoteProblem.NO_FRONT_MATTER
    if values.get("enabled") is False and not rules.with_disabled:
        return NoteProblem.DISABLED
    if _marked(rules.never_insert_tag, tags):
        return NoteProblem.NEVER_INSERT
    return None


def _explanation(problem: NoteProblem, filename: str, text: str, rules: ParseRules) -> str:
    tag = rules.lorebook_tag
    if problem is NoteProblem.NO_FRONT_MATTER and front_matter.never_closed(text):
        return f"“{filename}” is no entry. {front_matter.NEVER_CLOSED}"
    return {
        NoteProblem.NO_FRONT_MATTER: (
            f"“{filename}” has no front matter, so it is an ordinary note. To make it an entry, begin the file with a "
            f"block between two lines of --- that says tags: [{tag}]."
        ),
        NoteProblem.NO_LOREBOOK_TAG: (
            f"“{filename}” does not have the tag “{tag}” in its front matter, so it is an ordinary note. To make it an "
            f"entry, write tags: [{tag}] there, without # and without a comment on the same line."
        ),
        NoteProblem.DISABLED: (
            f"“{filename}” says enabled: false, so it is left out. Remove that line to use the entry again."
        ),
        NoteProblem.NEVER_INSERT: (
            f"“{filename}” has the tag “{rules.never_insert_tag}”, so it is left out. Remove the tag to use the entry."
        ),
    }.get(
        problem, f"“{filename}” has no title. Write a name behind the # of its first heading, or give the file a name."
    )


class _FrontMatter:
    """Reads the fields of one note with DeepLore's coercions and collects the warnings (rules: deeplore 1.5)."""

    __slots__ = ("_lenient", "_rules", "_values", "warnings")

    def __init__(self, values: dict[str, front_matter.Value], rules: ParseRules) -> None:
        self._values = values
        self._rules = rules
        self._lenient = rules.lenient
        self.warnings: list[ParserWarning] = []
        if rules.lenient and not values.keys() <= SPELLINGS:
            self._correct_spellings()

    def _correct_spellings(self) -> None:
        values = self._values
        for written in tuple(values):
            name = field_name(written)
            if self._rules.refine_logic and written.lower() == LOGIC_FIELD:
                name = LOGIC_FIELD
            if name == written:
                continue
            value = values.pop(written)
            if name not in values:
                values[name] = value
                self._warn(
                    "W_ALIAS_USED", written, f"“{written}” was read as “{name}”.",
                    f"Write {name}: so that the field also counts where lenient authoring is off.",
                )  # fmt: skip

    def _warn(self, code: str, name: str, message: str, suggested_fix: str) -> None:
        self.warnings.append(ParserWarning(code, name, message, suggested_fix))

    def keys(self) -> tuple[str, ...]:
        """The trigger keys: not trimmed, empty ones kept, except where one text was cut at its commas."""
        value = self._values.get("keys")
        if isinstance(value, list):
            return tuple(value)
        if isinstance(value, str):
            if not self._lenient or "," not in value:
                return (value,)
            keys = tuple(key for part in value.split(",") if (key := trim(part)))
            self._warn(
                "W_COMMA_SPLIT", "keys", f"keys is one text with commas; it was read as {len(keys)} keys.",
                f"Write a list: keys: [{', '.join(keys)}]",
            )  # fmt: skip
            return keys
        return (to_string(value),) if value else ()

    def texts(self, name: str) -> tuple[str, ...]:
        """A list of trimmed, non-empty texts; one text is one item, commas or not."""
        value = self._values.get(name)
        if isinstance(value, list):
            return tuple([intern(text) for item in value if (text := trim(item))])
        return (text,) if value and (text := trim(to_string(value))) else ()

    def number(self, name: str) -> float | None:
        """A finite number; lenient authoring also takes a text that reads as a number, with a warning."""
        value = self._values.get(name)
        if value is None:
            return None
        if isinstance(value, str):
            if not self._lenient or not trim(value) or math.isnan(result := to_number(value)):
                return None
            figures = number_text(result)
            self._warn(
                "W_COERCED_NUM", name, f"{name} is the text “{value}”; it was read as the number {figures}.",
                f"Write {name}: {figures}",
            )  # fmt: skip
            return result
        return self.plain_number(name)

    def plain_number(self, name: str, *, finite: bool = True) -> float | None:
        """A value that is written as a number, and nothing else."""
        value = self._values.get(name)
        if value is None or isinstance(value, bool) or not isinstance(value, int | float):
            return None
        return value if math.isfinite(value) or not finite else None

    def refine_logic(self) -> str:
        """How many refine keys have to match (rules: deeplore-newer 1.1)."""
        value = self._values.get(LOGIC_FIELD)
        if value is None:
            return ANY_REFINE
        written = ",".join(value) if isinstance(value, list) else value
        logic = trim(written).lower() if isinstance(written, str) else ""
        if logic in REFINE_LOGICS:
            return logic
        self._warn(
            "W_INVALID", LOGIC_FIELD, f"“{to_string(written)}” is no logic of refine keys, so one of them is enough.",
            f"Write {LOGIC_FIELD}: and one of {', '.join(REFINE_LOGICS)}.",
        )  # fmt: skip
        return ANY_REFINE

    def choice(self, name: str, choices: Mapping[str, int]) -> int | None:
        """The number behind one of the words, in any case; None for every other value."""
        value = self._values.get(name)
        return choices.get(value.lower()) if isinstance(value, str) else None

    def summary(self) -> str:
        """The summary of a text or a number, else the empty text."""
        value = self._values.get("summary")
        if value is None:
            return ""
        return trim(to_string(value)) if isinstance(value, str) or is_finite_number(value) else ""

    def outlet(self) -> str | None:
        """The outlet's name, or None."""
        value = self._values.get("outlet")
        return (trim(value) or None) if isinstance(value, str) else None

    def custom_fields(self, definitions: Sequence[FieldDefinition]) -> Mapping[str, Json]:
        """Gating fields that are present, in order of definition, then the fields DeepLore keeps without acting on."""
        values = self._values
        if values.keys() <= RESERVED:  # none of these can be the name of a gating field
            return EMPTY
        found: dict[str, Json] = {
            definition.name: _custom_value(values[definition.name], definition)
            for definition in definitions
            if definition.name in values
        }
        defined = frozenset(found)
        for name in (*NOT_IMPLEMENTED, *(WI_FIELDS if self._rules.wi_fields else ())):
            if name not in values:
                continue
            value = values[name]
            found[name] = tuple(value) if isinstance(value, list) else value
            if self._rules.wi_fields and name in defined:
                continue
            if name in NOT_IMPLEMENTED:
                self._warn(
                    "W_NOT_IMPLEMENTED", name, f"{name} has no effect in DeepLore; it is only shown to the AI.",
                    f"Remove {name}, or say what you want with cooldown, warmup, probability or priority.",
                )  # fmt: skip
            else:
                self._warn(
                    "W_WI_ROUND_TRIP", name, f"{name} is a field of World Info; it is kept and decides nothing.",
                    f"Remove {name} if the note does not go back into a lorebook.",
                )  # fmt: skip
        return found or EMPTY


def _system_fields(values: Mapping[str, front_matter.Value]) -> Mapping[str, Json]:
    """What only other systems read, or another version of DeepLore; `compress` only where it says so."""
    found: dict[str, Json] = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in values.items()
        if name.startswith(SYSTEM_PREFIXES) or name in NEWER_FIELDS
    }
    return found or EMPTY


def _custom_value(raw: front_matter.Value, definition: FieldDefinition) -> Json:
    """A gating field's value in the type of its definition (rules: deeplore 1.7)."""
    if definition.type == "number":
        result = to_number(raw)
        return None if math.isnan(result) else result
    if definition.type == "boolean":
        return raw is True or raw == "true"
    if not definition.multi:
        return trim(raw) if isinstance(raw, str) else to_string(raw)
    if isinstance(raw, list):
        return tuple([intern(text) for item in raw if (text := trim(item))])
    text = "" if raw is None else trim(to_string(raw))
    return (text,) if text else ()
