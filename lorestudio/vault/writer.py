"""Reading one note for editing and saving it without losing anything, not even somebody else's change."""

from __future__ import annotations

import errno
import hashlib
import os
import secrets
import stat
from contextlib import suppress
from pathlib import Path
from typing import Final

from lorestudio.vault.files import ChangedOnDisk, SaveError, VaultError
from lorestudio.vault.folder import describe_bad_encoding

_ADVICE: Final = {
    errno.ENOSPC: "The disk is full. Make room and save again.",
    errno.EDQUOT: "Your share of the disk is used up. Make room and save again.",
    errno.EROFS: "The disk is read-only. Save the note in another place, or make the disk writable.",
    errno.EACCES: "You may not write here. Change the permissions of the folder, or save a copy elsewhere.",
    errno.EPERM: "You may not write here. Change the permissions of the folder, or save a copy elsewhere.",
    errno.ENOENT: "The file or its folder is gone. Save the note in another place.",
    errno.ENOTDIR: "Its folder is gone. Save the note in another place.",
}


def read_note(path: Path) -> tuple[str, str]:
    """The text of a note and its digest. Line ends are as on disk, a byte order mark is the first character.

    Raises VaultError where the file cannot be read or is not UTF-8.
    """
    data = _read(path)
    try:
        return data.decode("utf-8"), _digest(data)
    except UnicodeDecodeError as error:
        raise VaultError(describe_bad_encoding(path.name, data, error)) from error


def digest(path: Path) -> str:
    """SHA-256 of the file's bytes, in hexadecimal. Raises VaultError where it cannot be read."""
    return _digest(_read(path))


def save_note(path: Path, text: str, expected_digest: str | None) -> str:
    """Write `text` to `path` at once or not at all, and return the new digest.

    `expected_digest` is that of the file as it was read; None says that the file does not exist yet. Line ends and a
    leading byte order mark are written as they are in `text`. The permission bits stay; a link stays a link.
    Raises ChangedOnDisk where the file is not the expected one, and SaveError where writing fails; in both cases the
    file on disk is untouched.
    """
    target = Path(os.path.realpath(path))
    try:
        data = text.encode("utf-8")
    except UnicodeEncodeError as error:
        line = text.count("\n", 0, error.start) + 1
        raise SaveError(
            f"“{path.name}” was not saved: line {line} contains half of a character, which no file can hold. "
            "Delete it and save again."
        ) from error
    _compare(path, target, expected_digest)
    if expected_digest is not None and not os.access(target, os.W_OK):
        # Replacing a file asks only for the right to change its folder.
        raise SaveError(f"“{path.name}” was not saved: the file is write-protected. Remove the protection first.")
    temporary = target.parent / f".{secrets.token_hex(8)}.tmp"
    try:
        try:
            _write(temporary, data, None if expected_digest is None else stat.S_IMODE(target.stat().st_mode))
            _compare(path, target, expected_digest)  # writing took its time
            temporary.replace(target)
        finally:
            with suppress(OSError):
                temporary.unlink(missing_ok=True)
    except VaultError:
        raise
    except OSError as error:
        raise SaveError(_describe(path, error)) from error
    return _digest(data)


def _compare(path: Path, target: Path, expected_digest: str | None) -> None:
    """Raise ChangedOnDisk unless the file is the one that was read."""
    try:
        found = _digest(target.read_bytes())
    except FileNotFoundError:
        if expected_digest is None:
            return
        raise ChangedOnDisk(
            path,
            f"“{path.name}” was not saved: the file has been deleted, moved or renamed since it was opened. "
            "Save it as a new note, or put the file back.",
        ) from None
    except OSError as error:
        raise SaveError(_describe(path, error)) from error
    if expected_digest is None:
        raise ChangedOnDisk(
            path, f"“{path.name}” was not saved: a file of that name exists already. Choose another name."
        )
    if found != expected_digest:
        raise ChangedOnDisk(
            path,
            f"“{path.name}” was not saved: the file has changed on disk since it was opened. "
            "Compare the two versions and decide which one to keep.",
        )


def _write(temporary: Path, data: bytes, mode: int | None) -> None:
    """A new file with the bytes on disk, not only on their way to it."""
    with temporary.open("xb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    if mode is not None:
        temporary.chmod(mode)


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise VaultError(
            f"“{path.name}” cannot be read: {reason}. Check that it still exists and that you may read it."
        ) from error


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _describe(path: Path, error: OSError) -> str:
    reason = error.strerror or str(error) or type(error).__name__
    advice = _ADVICE.get(error.errno or 0, "Nothing is lost: the text is still in the editor. Save it elsewhere.")
    return f"“{path.name}” was not saved ({reason}). {advice}"
