"""Settings of fact memory made into what its parts take."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeVar

from lorestudio.domain.javascript import Json
from lorestudio.domain.patterns import PatternError
from lorestudio.exchange.problems import InputError
from lorestudio.settings.facts import BY_PRESET, FactsSettings
from lorestudio.settings.files import parse_json, read_bytes
from lorestudio.systems.facts.context import Layout
from lorestudio.systems.facts.conversations import Config
from lorestudio.systems.facts.health import HEALTH_PINS, HEALTH_RULES
from lorestudio.systems.facts.lifecycle import DAY, Timeouts, timeouts
from lorestudio.systems.facts.options import Options, PinRule, field_rule, pattern_rule
from lorestudio.systems.facts.profile import ADD, DROP, SET, Rule, group_rule
from lorestudio.systems.facts.records import PROFILE_FIELDS, SAFE, STRICT
from lorestudio.systems.facts.retrieval import Forgetting, Search
from lorestudio.systems.facts.store import default_path

HEALTH = "health"

T = TypeVar("T")


def configured(settings: FactsSettings, vector_model: str = "") -> Config:
    """Everything that the settings say. Raises InputError and SettingsError for files that cannot be used."""
    return Config(
        Options(
            deduplication=settings.deduplication_threshold,
            supersede=settings.supersede_threshold,
            concurrency=settings.embedding_concurrency,
            pins=_rules(settings.pin_rules, HEALTH_PINS, _pin),
            structured=_rules(settings.structured_rules, HEALTH_RULES, _rule),
            reflection=settings.enable_reflection,
            reflection_prompt=own_text(settings.reflection_prompt_file),
            tagging=settings.tagging,
            vector_model=vector_model,
            mode=STRICT if settings.strict else SAFE,
        ),
        search_of(settings),
        Layout(settings.priority_signaling, settings.chronological_retrieval, settings.cacheable_context),
        timeouts_of(settings),
    )


def search_of(settings: FactsSettings) -> Search:
    """How memories are found."""
    return Search(
        settings.min_score,
        settings.recency_weight,
        settings.recency_max_age_days * DAY,
        settings.diversity_weight,
        Forgetting(settings.half_life_days * DAY) if settings.forgetting else None,
        mode=STRICT if settings.strict else SAFE,
    )


def timeouts_of(settings: FactsSettings) -> Timeouts:
    """How long threads stay as they are."""

    def given(value: int) -> int | None:
        return None if value == BY_PRESET else value

    return timeouts(
        settings.preset, given(settings.cooling_timeout_ms), given(settings.dormant_timeout_ms),
        given(settings.closed_timeout_ms),
    )  # fmt: skip


def store_path(settings: FactsSettings) -> Path:
    """Where the memories are kept."""
    return Path(settings.store).expanduser() if settings.store else default_path()


def own_text(file: str) -> str:
    """The text of a file, empty without one. Raises InputError."""
    if not file:
        return ""
    path = Path(file).expanduser()
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
        raise InputError(str(path), f"the prompt cannot be read ({reason}).") from None


def _rules(chosen: str, health: tuple[T, ...], make: Callable[[Mapping[str, Json]], T]) -> tuple[T, ...]:
    if not chosen:
        return ()
    if chosen == HEALTH:
        return health
    path = Path(chosen).expanduser()
    document = parse_json(read_bytes(path), path)
    if not isinstance(document, list):
        raise InputError(str(path), "the file holds no list of rules. Expected something like [].")
    made: list[T] = []
    for number, raw in enumerate(document, 1):
        try:
            if not isinstance(raw, Mapping):
                raise ValueError("it is no object")  # noqa: TRY301, TRY004  # told with its number below
            made.append(make(raw))
        except (PatternError, ValueError) as error:
            raise InputError(str(path), f"rule {number}: {error}.") from None
    return tuple(made)


def _rule(raw: Mapping[str, Json]) -> Rule:
    pattern, field = raw.get("pattern"), raw.get("profileField")
    group, action = raw.get("group", 0), raw.get("action", ADD)
    if not isinstance(pattern, str) or not pattern:
        raise ValueError("it has no pattern")
    if field not in PROFILE_FIELDS:
        raise ValueError(f"profileField is none of {', '.join(PROFILE_FIELDS)}")
    if action not in {SET, ADD, DROP}:
        raise ValueError(f"action is none of {SET}, {ADD}, {DROP}")
    if not isinstance(group, int) or isinstance(group, bool) or group < 0:
        raise ValueError("group is no number of a group")
    made = group_rule(pattern, str(field), group, str(action))
    if group > made.pattern.groups:
        raise ValueError(f"the pattern has no group {group}")
    return made


def _pin(raw: Mapping[str, Json]) -> PinRule:
    pattern, field = raw.get("pattern"), raw.get("field")
    reason = raw.get("reason", "")
    if isinstance(pattern, str) and pattern:
        return pattern_rule(pattern, str(raw.get("flags", "i")), str(reason))
    if isinstance(field, str) and field and "equals" in raw:
        return field_rule(field, raw["equals"], str(reason))
    raise ValueError("it has neither a pattern nor field and equals")
