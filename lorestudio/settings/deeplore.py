"""DeepLore's settings as one model, and the way DeepLore reads a settings object (rules: deeplore 2.1)."""

from __future__ import annotations

import difflib
import json
import math
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from typing import ClassVar, Final, get_args

from msgspec import field

from lorestudio.domain.entry import EMPTY
from lorestudio.domain.javascript import (
    Json,
    is_finite_number,
    number,
    round_half_up,
    to_number,
    to_string,
    trim,
    truthy,
    whole,
)
from lorestudio.domain.records import Terse
from lorestudio.domain.texts import shorten
from lorestudio.settings.declaration import Declaration, DeepLoreStage, Section, Value, declared
from lorestudio.settings.deeplore_retrieval import (
    InjectionSettings,
    MatchingSettings,
    SelectionSettings,
    TagAndIndexSettings,
)
from lorestudio.settings.deeplore_tools import (
    GraphSettings,
    ImportSettings,
    LibrarianSettings,
    NotepadSettings,
    ScribeSettings,
    SuggestSettings,
)
from lorestudio.settings.rules import NEW, OLD, RuleSet, name_of, rules_of

SETTINGS_VERSIONS: Final = {OLD: 3, NEW: 5}
"""The layout of the settings in each version of DeepLore."""

_WITHOUT_PROXIES: Final = 4
"""The layout whose connections go through no proxy any more."""

_NOTICE: Final = "_proxyMigrationV2_5_notice"
"""What DeepLore 2.5 and later writes beside its settings."""

_CAP: Final = (0, 1000)
"""The limits of a number that may also be null."""

_EMPTY: Final[Mapping[str, Json]] = {"analyticsData": {}, "promptPresets": {}, "vaults": []}
"""What 2.6 makes of null in carried keys (rules: deeplore-newer 1.15)."""

_NEW_DEFAULTS: Final[Mapping[str, Json]] = {
    "settingsVersion": SETTINGS_VERSIONS[NEW],
    "librarianPerMessageActivity": True,
}

CARRIED: Final = frozenset({
    "vaults", "obsidianApiKey", "analyticsData", "debugMode", "promptPresets", "drawerPinned", "drawerCompactTabs",
    "advancedVisible", "graphSavedLayout", "showLoreSources", "showSyncToasts", "_wizardCompleted", "_vaultsMigrated",
    "_pendingPromptListCleanup", "_advancedVisibleMigratedD4", "librarianSessionModel",
})  # fmt: skip
"""Keys of DeepLore that the studio has no use for: kept as they are, and no cause for a message.

`vaults` and `obsidianApiKey` hold secrets, so nothing in here is ever printed.
"""


class DeepLoreSettings(
    TagAndIndexSettings,
    MatchingSettings,
    InjectionSettings,
    SelectionSettings,
    NotepadSettings,
    ScribeSettings,
    SuggestSettings,
    LibrarianSettings,
    ImportSettings,
    GraphSettings,
):
    """Every setting of DeepLore that the studio knows, in snake_case: `settings.scan_depth`.

    Texts with few sensible values are plain strings: DeepLore checks only four of them and has a behaviour for any
    other value. Numbers outside their range are refused here; `sanitise` corrects what comes from a file.
    """

    stages: ClassVar = get_args(DeepLoreStage)

    def switched_on(self) -> DeepLoreSettings:
        """As the studio runs them: what is tuned here is no reason to switch DeepLore off where it runs."""
        return self if self.enabled else self.model_copy(update={"enabled": True})

    @property
    def rule_set(self) -> RuleSet:
        """Whose rules decide, rule by rule."""
        return rules_of(self.rules)

    @property
    def uses_ai(self) -> bool:
        """Whether a model takes part in the selection."""
        return self.ai_search_enabled and self.ai_search_mode in {"two-stage", "ai-only"}

    @property
    def asks_for_notes(self) -> bool:
        """Whether a model is asked for the notes after a reply: in the AI notepad's extract mode."""
        return self.ai_notepad_enabled and self.ai_notepad_mode == "extract"


def declarations() -> tuple[Declaration, ...]:
    """List all settings with their labels, help, limits and effects, in reading order."""
    return declared(DeepLoreSettings)


@cache
def _by_alias() -> Mapping[str, Declaration]:
    return {declaration.alias: declaration for declaration in declarations()}


def signs_of_newer(raw: Mapping[str, Json]) -> tuple[str, ...]:
    """The keys of a settings object that only DeepLore 2.5 and later writes, all of them (rules: deeplore-newer 4)."""
    version, known = raw.get("settingsVersion"), _by_alias()
    newer = isinstance(version, int | float) and not isinstance(version, bool) and version >= _WITHOUT_PROXIES
    signs = (key for key in raw if key == _NOTICE or (key in known and known[key].since))
    return (*(["settingsVersion"] if newer else []), *signs)


def rules_in(raw: Mapping[str, Json]) -> str:
    """The name of the rules that a settings object asks for: what it says, else by its signs, else 2.0.2."""
    said = raw.get("rules")
    if isinstance(said, str):
        try:
            return name_of(rules_of(said))
        except ValueError:
            pass  # whoever reads the settings says so
    return NEW if signs_of_newer(raw) else OLD


class Sanitised(Terse, frozen=True):
    """Settings as DeepLore understands them. All mappings go by DeepLore's keys.

    `corrected` holds the effective value of each key that DeepLore itself changes. `adapted` holds the keys that
    DeepLore leaves as they are and reads loosely, such as a text where a switch belongs, with what is used here in
    their place. `unknown` are keys without a setting, unchanged. `problems` are sentences for the person.
    """

    unprinted = ("unknown",)

    settings: DeepLoreSettings
    corrected: Mapping[str, Json]
    unknown: Mapping[str, Json]
    adapted: Mapping[str, Json] = field(default_factory=lambda: EMPTY)
    problems: tuple[str, ...] = ()


def sanitise(raw: Mapping[str, Json]) -> Sanitised:
    """Read a settings object as DeepLore does on every use; never fails, whatever the values are.

    Whose DeepLore, `rules` in it says, else its own signs, else it is 2.0.2.
    """
    aliases, (written, read) = _by_alias(), _defaults(rules_in(raw))
    effective = effective_values(raw)
    nothing = [alias for alias, each in aliases.items() if effective[alias] is None and each.low is not None]
    values = {
        alias: read[alias] if value is written[alias] else _typed(aliases[alias], value)
        for alias, value in effective.items()
    }
    version = effective["settingsVersion"]
    if not isinstance(number(version) if isinstance(version, float) else version, int):
        # It names no version (5.5, a text, beyond what is counted exactly), so the latest is meant.
        values["settingsVersion"] = SETTINGS_VERSIONS[NEW if str(values["rules"]).startswith(NEW) else OLD]
    corrected = {alias: value for alias, value in effective.items() if not same(raw.get(alias, written[alias]), value)}
    if rules_of(rules_in(raw)).null_stays:
        corrected |= {key: value for key, value in _EMPTY.items() if key in raw and raw[key] is None}
    adapted: dict[str, Json] = {
        alias: value
        for alias, value in values.items()
        if alias in raw and alias not in nothing and not same(effective[alias], in_file(aliases[alias], value))
    }
    unknown = {key: value for key, value in raw.items() if key not in aliases}
    return Sanitised(
        # What has no value at all is beyond every limit, and counts as 0 wherever it is compared.
        settings=DeepLoreSettings.model_validate(values).model_copy(
            update={aliases[alias].name: 0 for alias in nothing}
        ),
        corrected=corrected,
        unknown=unknown,
        adapted=adapted,
        problems=tuple(
            [
                _correction(aliases[alias], raw.get(alias), corrected[alias])
                for alias in aliases
                if alias in corrected and alias != "rules"
            ]
            + [f"{key}: null is used as {_shown(value)}." for key, value in corrected.items() if key in _EMPTY]
            + [_adaptation(aliases[alias], effective[alias], value) for alias, value in adapted.items()]
            + [
                _odd_choice(aliases[alias], value)
                for alias, value in values.items()
                if aliases[alias].choices and value not in aliases[alias].choices and alias not in adapted
            ]
            + _told_unknown([key for key in unknown if key not in CARRIED])
            + _told_rules(raw)
        ),
    )


def effective_values(raw: Mapping[str, Json]) -> dict[str, Json]:
    """Compute DeepLore's own sanitised values of all declared keys (rules: deeplore-tools 4.2).

    Switches and unchecked texts come out as they went in, of whatever type.
    """
    aliases, name = _by_alias(), rules_in(raw)
    said = {key: value for key, value in raw.items() if key in aliases and key != "rules"}
    values = {**_defaults(name)[0], **{key: _effective(aliases[key], said[key], rules_of(name)) for key in said}}
    _migrate(values, raw)
    return values


def dump(settings: DeepLoreSettings) -> dict[str, Json]:
    """Give the settings that differ from the defaults, by DeepLore's keys, ready for JSON.

    The rules are said where they would not be found by the other keys.
    """
    written, _ = _defaults(rules_in({"rules": settings.rules}))
    values = {
        declaration.alias: value
        for declaration in declarations()
        if (value := in_file(declaration, setting_value(settings, declaration))) != written[declaration.alias]
    }
    return values if rules_in(values) == settings.rules else {**values, "rules": settings.rules}


def in_file(declaration: Declaration, value: Value) -> Json:
    """A setting's value as DeepLore's files hold it."""
    if declaration.spelled == "list":
        return [text for part in str(value).split(",") if (text := trim(part))]
    if declaration.spelled == "null":
        amount = to_number(value)
        return number(amount) if value and math.isfinite(amount) else None
    below = declaration.low is not None and not isinstance(value, str) and value < declaration.low
    return None if below else value  # null is all that is beyond the limits


def setting_value(settings: Section, declaration: Declaration) -> Value:
    """Get the value that `settings` has for one declared setting; whole floats come back as int."""
    value: Value = getattr(settings, declaration.name)
    return number(value) if isinstance(value, float) else value


def same(one: object, other: object) -> bool:
    """Test strict equality of two JSON values: no number equals a boolean, `2` equals `2.0`, NaN equals itself."""
    if one is other or isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, float) and isinstance(other, float) and math.isnan(one) and math.isnan(other):
        return True
    return one == other


@lru_cache(maxsize=8)
def _defaults(name: str) -> tuple[Mapping[str, Json], Mapping[str, Value]]:
    """What each key has that is not written, by the rules of that name: as files hold it, and as it is read."""
    others = {"rules": name, **(_NEW_DEFAULTS if name.startswith(NEW) else {})}
    written = {alias: others.get(alias, in_file(each, each.default)) for alias, each in _by_alias().items()}
    return written, {alias: _typed(each, written[alias]) for alias, each in _by_alias().items()}


def _effective(declaration: Declaration, said: Json, rules: RuleSet) -> Json:
    value = _as_double(said)
    if declaration.spelled == "list":
        return [] if value is None else value
    low, high = _CAP if declaration.spelled == "null" else (declaration.low, declaration.high)
    if low is not None and high is not None:
        if rules.null_stays and (value is None or (isinstance(value, float) and math.isnan(value))):
            return None if value is None else number(low)
        return _in_range(declaration, low, high, value)
    checked = declaration.checked or (rules.no_proxy and declaration.name == "ai_search_connection_mode")
    if checked and not (isinstance(value, str) and value in declaration.choices):
        return declaration.default
    if declaration.name == "lorebook_tag" and isinstance(value, str):
        return trim(value) or declaration.default
    return value


def _as_double(value: Json) -> Json:
    """Give a whole number the value it has in JavaScript, where one of hundreds of digits is infinite."""
    if not isinstance(value, int) or isinstance(value, bool):
        return value
    try:
        return number(float(value))
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def _in_range(declaration: Declaration, low: float, high: float, value: Json) -> Json:
    amount = value if isinstance(value, int | float) and not isinstance(value, bool) else to_number(value)
    if math.isnan(amount):
        # What does not convert becomes the default; a NaN that was a number all along passes DeepLore's checks.
        return value if isinstance(value, float) else declaration.default
    clamped = min(max(amount, low), high)
    # Between whole limits, rounding before and after clamping is the same, and infinity cannot be rounded.
    return round_half_up(clamped) if declaration.whole else number(clamped)


def _migrate(values: dict[str, Json], raw: Mapping[str, Json]) -> None:
    version = to_number(values["settingsVersion"])
    current = SETTINGS_VERSIONS[NEW if str(values["rules"]).startswith(NEW) else OLD]
    if not version < current:
        return
    if current >= _WITHOUT_PROXIES > version:
        values.update({key: "profile" for key in values if key.endswith("ConnectionMode") and values[key] == "proxy"})
    legacy_model = raw.get("librarianSessionModel")
    if version < 2 and isinstance(legacy_model, str) and not truthy(values["librarianModel"]):
        values["librarianModel"] = legacy_model
    old = version < SETTINGS_VERSIONS[OLD]
    if old and values["librarianConnectionMode"] == "profile" and not truthy(values["librarianProfileId"]):
        values["librarianConnectionMode"] = "inherit"
    values["settingsVersion"] = current


def _typed(declaration: Declaration, value: Json) -> Value:
    """Convert to the setting's type, acting as DeepLore's untyped one does wherever that is possible."""
    if declaration.type is bool:
        return value is not False if declaration.name == "lenient_authoring" else truthy(value)
    if declaration.spelled == "list":
        names = [trim(part) for item in value for part in to_string(item).split(",")] if isinstance(value, list) else []
        return ", ".join(filter(None, names))
    if declaration.spelled == "null":
        return "" if value is None else to_string(value)
    if declaration.type is str:
        return _text(declaration, value)
    if declaration.low is None and isinstance(value, str) and trim(value):
        value = to_number(value)
    if is_finite_number(value):
        value = number(value)
        if declaration.type is float or isinstance(value, int):
            return value
    return declaration.default


INHERIT: Final = "inherit"
"""The connection of AI selection, as the mode of a tool beside it."""


def tool_model(mode: str, own: str, settings: DeepLoreSettings) -> str:
    """The tool's own model, else that of AI selection where the tool shares its connection, else the connection's.

    rules: deeplore-tools 1.2.
    """
    return own or (settings.ai_search_model if mode == INHERIT else "")


def _text(declaration: Declaration, value: Json) -> str:
    if not isinstance(value, str):
        if declaration.name == "lorebook_tag":
            return str(declaration.default)
        value = to_string(value) if truthy(value) else ""
    return whole(value)


def _told_rules(raw: Mapping[str, Json]) -> list[str]:
    """What is to be said about how the rules were found."""
    said, found, signs = raw.get("rules"), rules_in(raw), signs_of_newer(raw)
    if "rules" in raw and said != found:
        return [f"rules: {_shown(said)} is used as {_shown(found)}. Write {OLD} or {NEW}."]
    if said is None and signs:
        return [f"rules: {signs[0]} is a key of DeepLore 2.5 and later, so the rules of {found} hold."]
    return []


def _shown(value: Json) -> str:
    return shorten(json.dumps(value, ensure_ascii=False, default=str), 60)


def _correction(declaration: Declaration, before: Json, after: Json) -> str:
    told = declaration.allowed and not (isinstance(before, str) and before in declaration.choices)
    allowed = f" (allowed: {declaration.allowed})" if told else ""
    return f"{declaration.alias}: {_shown(before)} is used as {_shown(after)}{allowed}."


def _adaptation(declaration: Declaration, before: Json, after: Json) -> str:
    if declaration.type is bool:
        state = "on" if after else "off"
        return f"{declaration.alias}: {_shown(before)} counts as {state}; write true or false."
    kind = "a text" if declaration.type is str else "a whole number" if declaration.type is int else "a number"
    return f"{declaration.alias}: {_shown(before)} is used as {_shown(after)}; write {kind}."


def _odd_choice(declaration: Declaration, value: Json) -> str:
    return (
        f"{declaration.alias}: {_shown(value)} is none of {declaration.allowed}. "
        "DeepLore takes it without a check; choose one of these."
    )


MOST_UNKNOWN: Final = 50
"""Of so many keys a sentence each: finding what was meant takes 0.1 ms, and nobody reads more."""


def _told_unknown(keys: Sequence[str]) -> list[str]:
    """A sentence for each key that is no setting; the last one says how many more there are."""
    told = [_unknown_key(key) for key in keys[:MOST_UNKNOWN]]
    if len(keys) > MOST_UNKNOWN:
        told[-1] += f" So it is with {len(keys) - MOST_UNKNOWN:,} more keys."
    return told


def _unknown_key(key: str) -> str:
    matches = difflib.get_close_matches(key.lower().replace("_", ""), [a.lower() for a in _by_alias()], n=1, cutoff=0.8)
    near = next((alias for alias in _by_alias() if matches and alias.lower() == matches[0]), None)
    hint = f" Did you mean {near}?" if near else ""
    return f"{key}: DeepLore has no such setting, so it has no effect; it is kept.{hint}"
