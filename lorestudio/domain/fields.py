"""Definitions of the contextual gating fields that notes may carry (spec: deeplore-engine 5.2, 5.4)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

FieldType = Literal["string", "number", "boolean"]


@dataclass(frozen=True, slots=True)
class FieldDefinition:
    """One gating field: how notes spell it and how its value is held against the chat's context.

    `inherits` says that the definition leaves the tolerance to the setting for all fields, which DeepLore overlooks.
    `operator` is one of match_any, match_all, not_any, exists, not_exists, eq, gt, lt; `tolerance` is strict, moderate
    or lenient, or None where only the global setting decides.
    """

    name: str
    label: str
    type: FieldType = "string"
    multi: bool = False
    gating: bool = True
    operator: str = "match_any"
    tolerance: str | None = "moderate"
    values: tuple[str, ...] = ()
    context_key: str = ""
    inherits: bool = False

    @property
    def key(self) -> str:
        """The key of the chat's context that this field is compared with."""
        return self.context_key or self.name


BUILT_IN_FIELDS: Final = (
    FieldDefinition("era", "Era", multi=True, context_key="era", inherits=True),
    FieldDefinition("location", "Location", multi=True, context_key="location", inherits=True),
    FieldDefinition("scene_type", "Scene Type", multi=True, context_key="scene_type", inherits=True),
    FieldDefinition(
        "character_present", "Characters Present", multi=True, context_key="character_present", inherits=True
    ),
)
"""The four fields that exist without a definition file."""
