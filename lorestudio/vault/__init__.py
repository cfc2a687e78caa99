"""Notes on disk and what they mean: a folder is read as DeepLore reads it, a note is saved without losing anything.

`read_folder` gives the texts, `build_index` the entries that a run takes. `parse_note` reads a single text, `read_note`
and `save_note` are for editing. What cannot be read or is no entry is a `LeftOutNote` with the reason.
"""

from lorestudio.vault.entries import ParseRules, parse_note
from lorestudio.vault.files import ChangedOnDisk, NoteFile, SaveError, VaultError, VaultFiles
from lorestudio.vault.folder import ReadingCancelledError, read_folder
from lorestudio.vault.index import build_index
from lorestudio.vault.writer import digest, read_note, save_note

__all__ = [
    "ChangedOnDisk",
    "NoteFile",
    "ParseRules",
    "ReadingCancelledError",
    "SaveError",
    "VaultError",
    "VaultFiles",
    "build_index",
    "digest",
    "parse_note",
    "read_folder",
    "read_note",
    "save_note",
]
