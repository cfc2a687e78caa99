"""World Info as a SillyTavern has it set: its settings.json as settings of the system.

Rules: sillytavern 5.1, 5.4, 5.6.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from lorestudio.domain.javascript import Json
from lorestudio.settings.declaration import declared
from lorestudio.settings.sections import section_of
from lorestudio.settings.worldinfo import WorldInfoSettings

_SECTION: Final = "world_info_settings"


def is_sillytavern(document: Json) -> bool:
    """Whether a document is SillyTavern's settings.json."""
    return isinstance(document, Mapping) and isinstance(document.get(_SECTION), Mapping)


def from_sillytavern(document: Mapping[str, Json], path: Path) -> WorldInfoSettings:
    """The settings, the books that are active everywhere and those of characters, from the folder beside the file.

    What SillyTavern keeps there and World Info here does not have (alerts) is left out.
    Raises SettingsError for a value that cannot be.
    """
    own, extensions = _part(document, _SECTION), _part(document, "extension_settings")
    values: dict[str, Json] = {}
    for source in (own, _part(extensions, "note"), _part(extensions, "vectors")):
        values |= dict(_known(source))
    worlds = path.parent / "worlds"
    known = _part(own, "world_info")
    lore = [each for each in _listed(known, "charLore") if isinstance(each, Mapping)]
    extra = [f"{each.get('name')}: {worlds / name}.json" for each in lore for name in _names(each, "extraBooks")]
    values |= {
        "worlds": str(worlds),
        "book": "\n".join(f"{worlds / name}.json" for name in _names(known, "globalSelect")),
        "extra_books": "\n".join(extra),
    }
    return section_of(values, WorldInfoSettings, str(path))


def _known(values: Mapping[str, Json]) -> Iterator[tuple[str, Json]]:
    """What is a setting here, under SillyTavern's key."""
    keys = {each.alias for each in declared(WorldInfoSettings) if each.alias != each.name}
    return ((key, value) for key, value in values.items() if key in keys and value is not None)


def _listed(values: Mapping[str, Json], name: str) -> list[Json]:
    found = values.get(name)
    return found if isinstance(found, list) else []


def _names(values: Mapping[str, Json], name: str) -> list[str]:
    return [each for each in _listed(values, name) if isinstance(each, str)]


def _part(values: Mapping[str, Json], name: str) -> Mapping[str, Json]:
    found = values.get(name)
    return found if isinstance(found, Mapping) else {}
