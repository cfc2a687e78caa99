"""Taking settings over from a file: SillyTavern's settings.json, a snippet, or the studio's own."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path

from lorestudio.settings.deeplore import DeepLoreSettings, declarations, setting_value
from lorestudio.settings.differences import SettingChange, differences
from lorestudio.settings.files import read_bytes
from lorestudio.settings.store import Layout, Stored, read_stored


@dataclass(frozen=True, slots=True)
class Imported:
    """Settings out of a file. `said` are the keys that the file speaks about; a snippet leaves the others alone."""

    source: str
    layout: Layout
    settings: DeepLoreSettings = field(repr=False)
    said: frozenset[str]
    problems: tuple[str, ...] = ()

    def changes(self, current: DeepLoreSettings) -> tuple[SettingChange, ...]:
        """What taking everything over would change."""
        return tuple(each for each in differences(current, self.settings) if each.declaration.alias in self.said)


def import_file(path: Path) -> Imported:
    """Read a file of any layout. Raises SettingsError naming file and place."""
    return _imported(str(path), read_stored(read_bytes(path), path))


def import_text(text: str, source: str) -> Imported:
    """Read a text, such as a snippet from the clipboard; `source` is for messages. Raises SettingsError."""
    return _imported(source, read_stored(text.encode("utf-8", "surrogatepass"), Path(source)))


def taken_over(current: DeepLoreSettings, imported: Imported, keys: Collection[str]) -> DeepLoreSettings:
    """The current settings with the chosen keys of the import."""
    values = {
        each.name: setting_value(imported.settings, each)
        for each in declarations()
        if each.alias in keys and each.alias in imported.said
    }
    return current.model_copy(update=values)


def _imported(source: str, stored: Stored) -> Imported:
    known = {each.alias for each in declarations()} - {"settingsVersion"}
    said = known & stored.values.keys() if stored.layout is Layout.PLAIN else known
    return Imported(source, stored.layout, stored.sanitised.settings, frozenset(said), stored.sanitised.problems)
