"""Notes that nothing may be proposed for: by their own `locked` property, or by the studio's list where they must not
be edited (what people ask for: users D1 to D3).

The list is one JSON file for all vaults: the paths of notes, in the spelling of `note_data.place_key`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Final

from lorestudio.domain.javascript import Json, fold, trim
from lorestudio.settings.files import SettingsError, json_bytes, parse_json, read_bytes, write_atomically
from lorestudio.vault import front_matter
from lorestudio.vault.data_folder import default_folder, place_key, refused
from lorestudio.vault.file_lock import locked
from lorestudio.vault.files import SaveError

PROPERTY: Final = "locked"
FORMAT: Final = "lorestudio-locked-notes"
FORMAT_VERSION: Final = 1

_OPEN: Final = frozenset({"", "false", "no", "off", "0", "null", "~"})
"""How a person may write that a note is not locked."""


def default_locks() -> Path:
    """The person's own list."""
    return default_folder() / "locked-notes.json"


def is_locked_itself(text: str) -> bool:
    """Whether the note says `locked`. Anything but a clear no counts: a lock fails to the safe side."""
    head, _ = front_matter.split(text)
    if head is None:
        return False
    return any(name.lower() == PROPERTY and not _is_open(value) for name, value in front_matter.parse(head).items())


def _is_open(value: front_matter.Value) -> bool:
    if isinstance(value, list):
        return not any(trim(item) for item in value)
    return not value or (isinstance(value, str) and fold(trim(value)) in _OPEN)


class NoteLocks:
    """The studio's list at `path`; every method waits for the disk and raises SettingsError or SaveError."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def load(self) -> frozenset[str]:
        """The keys of all notes on the list; `is_locked` asks for one. A missing file has none."""
        return frozenset(self._read())

    def list(self, folder: Path) -> tuple[Path, ...]:
        """The notes below a folder that are on the list, by name."""
        root = Path(place_key(folder / "x")).parent
        return tuple(sorted(path for key in self._read() if (path := Path(key)).is_relative_to(root)))

    def set(self, notes: Iterable[Path], *, locked_now: bool) -> None:
        """Put notes on the list, or take them off it."""
        with locked(self.path.with_suffix(".lock")):
            keys = dict.fromkeys(self._read())
            for note in notes:
                if locked_now:
                    keys[place_key(note)] = None
                else:
                    keys.pop(place_key(note), None)
            document: dict[str, Json] = {"format": FORMAT, "version": FORMAT_VERSION, "notes": sorted(keys)}
            sentence = f"The list of locked notes “{self.path}” cannot be written ({{reason}})."
            with refused(SaveError, f"{sentence} Check folder, permissions and free space."):
                write_atomically(self.path, json_bytes(document))

    def _read(self) -> tuple[str, ...]:
        if not self.path.exists():
            return ()
        document = parse_json(read_bytes(self.path), self.path)
        notes = document.get("notes") if isinstance(document, Mapping) else None
        version = document.get("version") if isinstance(document, Mapping) else None
        known = type(version) is int and version == FORMAT_VERSION
        if not known or not isinstance(notes, list) or not all(isinstance(note, str) for note in notes):
            raise SettingsError(
                f"{self.path} is no list of locked notes that this version knows. Until it is mended or removed, "
                "nothing is proposed, so that no locked note is touched."
            )
        return tuple(str(note) for note in notes)


def is_locked(path: Path, keys: Collection[str]) -> bool:
    """Whether the note is among the keys that `NoteLocks.load` gave."""
    return place_key(path) in keys
