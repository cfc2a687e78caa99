"""Reading, saving, moving and removing one note without losing anything, not even somebody else's change.

Nothing here writes over a file that is not the expected one. A file that is being written never has a note's name, and
those that nobody renames any more are cleared away.
"""

from __future__ import annotations

import errno
import hashlib
import os
import platform
import re
import secrets
import stat
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

from lorestudio.settings.files import READ_AT_MOST, alone, put_in_place, read_whole, write_new
from lorestudio.vault.files import ChangedOnDisk, SaveError, VaultError, reason_of, refused
from lorestudio.vault.folder import note_text, walked

_NAME: Final = re.compile(r"\.[0-9a-f]{16}(?:-(?P<host>[0-9a-f]{8})-(?P<pid>\d+))?\.tmp")

STALE_S: Final = 3600.0
"""A temporary file of this age in seconds is left over, whoever made it."""


def temporary_name() -> str:
    """Hidden, unlike any other, and telling whose it is."""
    return f".{secrets.token_hex(8)}-{_host()}-{os.getpid()}.tmp"


def sweep(folder: Path, now: float) -> list[str]:
    """Delete temporary files that saving left below `folder` because the program or the computer stopped.

    Gives sentences about what cannot be deleted.

    Only ordinary files with the names that `save_note` gives are looked at, and only those whose process on this
    computer is gone or that are an hour old; `now` is in seconds since the epoch. Folders that begin with a dot are
    passed over. Walks the whole folder, so a window calls it from a worker.
    """
    problems: list[str] = []
    for path in _temporary_files(folder):
        try:
            if _left_over(path, now):
                path.unlink()
        except FileNotFoundError:
            continue  # it was being renamed or swept by somebody else
        except OSError as error:
            reason = reason_of(error)
            problems.append(f"“{path}” is left over from saving and cannot be deleted ({reason}). Delete it by hand.")
    return problems


def _host() -> str:
    return hashlib.sha256(platform.node().encode("utf-8", "surrogateescape")).hexdigest()[:8]


def _temporary_files(folder: Path) -> Iterator[Path]:
    for place, files in walked(folder, follow_links=True):
        yield from (place / name for name in files if _NAME.fullmatch(name))


def _left_over(path: Path, now: float) -> bool:
    status = path.lstat()
    if not stat.S_ISREG(status.st_mode):
        return False
    made = _NAME.fullmatch(path.name)
    if made is not None and made["host"] == _host() and not process_runs(int(made["pid"])):
        return True
    return now - status.st_mtime >= STALE_S


def process_runs(pid: int) -> bool:
    """Whether a process of this number runs on this computer; True where the system does not tell."""
    if sys.platform == "win32":
        return True  # asking there would end the process
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:
        return True
    return True


_ADVICE: Final = {
    errno.ENOSPC: "The disk is full. Make room and save again.",
    errno.EDQUOT: "Your share of the disk is used up. Make room and save again.",
    errno.EROFS: "The disk is read-only. Make it writable, or copy the text into a new note elsewhere.",
    errno.EACCES: "You may not write here. Change the permissions of the folder, or copy the text into a new note.",
    errno.EPERM: "You may not write here. Change the permissions of the folder, or copy the text into a new note.",
    errno.ENOENT: "The file or its folder is gone. Put the folder back, or copy the text into a new note.",
    errno.ENOTDIR: "Its folder is gone. Put the folder back, or copy the text into a new note.",
    errno.ENAMETOOLONG: "Its name is too long for this disk. Choose a shorter one.",
}

_NO_LINKS: Final = frozenset({errno.EPERM, errno.EOPNOTSUPP, errno.ENOTSUP, errno.ENOSYS, errno.EMLINK, errno.EXDEV})
"""How a disk says that it has no hard links."""


def read_note(path: Path) -> tuple[str, str]:
    """The text of a note and its digest. Line ends are as on disk, a byte order mark is the first character.

    Raises VaultError where the file cannot be read or is not UTF-8.
    """
    data = _read(path)
    return note_text(path.name, data), digest_of(data)


def encode_note(path: Path | str, text: str) -> bytes:
    """The bytes that `text` has on disk; `path`, or a name, is for the message. Raises SaveError where it has none."""
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError as error:
        line = text.count("\n", 0, error.start) + 1
        name = path.name if isinstance(path, Path) else path
        raise SaveError(
            f"“{name}” was not saved: line {line} contains half of a character, which no file can hold. "
            "Delete it and save again."
        ) from error


def digest_of(data: bytes) -> str:
    """SHA-256 in hexadecimal: the digest of a file with these bytes."""
    return hashlib.sha256(data).hexdigest()


def save_note(path: Path, text: str | bytes, expected_digest: str | None, *, mode: int | None = None) -> str:
    """Write `text`, or bytes as they are, to `path` at once or not at all, and return the new digest.

    `expected_digest` is that of the file as it was read; None says that the file does not exist yet, and then `mode`
    are its permission bits, by default the usual ones. Line ends and a leading byte order mark are written as they are
    in `text`. The permission bits of an existing file stay; a link stays a link.
    Raises ChangedOnDisk where the file is not the expected one, and SaveError where writing fails; in both cases the
    file on disk is untouched.
    """
    target = Path(os.path.realpath(path))
    data = text if isinstance(text, bytes) else encode_note(path, text)
    _compare(path, target, expected_digest)
    if expected_digest is not None and not os.access(target, os.W_OK):
        # Replacing a file asks only for the right to change its folder.
        raise SaveError(f"“{path.name}” was not saved: the file is write-protected. Remove the protection first.")
    temporary = target.parent / temporary_name()
    try:
        try:
            write_new(temporary, data, mode if expected_digest is None else stat.S_IMODE(target.stat().st_mode))
            with alone(target):
                _compare(path, target, expected_digest)  # writing took its time
                if expected_digest is None:
                    _rename_to_free_name(temporary, target)
                else:
                    put_in_place(temporary, target)
        finally:
            with suppress(OSError):
                temporary.unlink(missing_ok=True)
    except VaultError:
        raise
    except FileExistsError as error:
        raise _name_taken(path) from error
    except OSError as error:
        raise SaveError(_describe(path, error)) from error
    return digest_of(data)


def same_place(path: Path, target: Path) -> bool:
    """Whether the two are one file because the disk does not tell their spellings apart (`lamp.md` and `Lamp.md`).

    Two names of one file, as hard links are, do not count.
    """
    try:
        if path.name == target.name or not path.parent.samefile(target.parent) or not path.samefile(target):
            return False
        names = set(os.listdir(path.parent))  # noqa: PTH208  # names alone, as the disk spells them
    except OSError:
        return False
    return not {path.name, target.name} <= names


def move_note(path: Path, target: Path) -> None:
    """Give the file another name or folder, which must exist; nothing is ever written over.

    A change of case alone works on disks that do not tell cases apart. A relative link still leads to its file.
    Raises ChangedOnDisk where `target` exists, and SaveError where the move fails; the file is then where it was.
    """
    action = f"moved to “{target.name if target.name != path.name else target.parent.name}”"
    try:
        if same_place(path, target):
            path.rename(target)
        elif os.path.lexists(target):
            raise _name_taken(path, action, target)
        elif path.is_symlink():
            _move_link(path, target)
        else:
            _rename_to_free_name(path, target)
    except VaultError:
        raise
    except FileExistsError as error:
        raise _name_taken(path, action, target) from error
    except OSError as error:
        raise SaveError(_describe(path, error, action)) from error


def remove_note(path: Path, expected_digest: str) -> None:
    """Delete the file (of a link: the link) if it is the expected one. Whoever calls this has kept a copy.

    Raises ChangedOnDisk where it is another, and SaveError where it cannot be deleted.
    """
    with alone(path):
        _compare(path, path, expected_digest, "deleted")
        try:
            path.unlink()
        except OSError as error:
            raise SaveError(_describe(path, error, "deleted")) from error


def _rename_to_free_name(path: Path, target: Path) -> None:
    """Rename without ever replacing a file. Raises FileExistsError and other OSErrors."""
    if sys.platform == "win32":
        path.rename(target)  # it replaces nothing there
        return
    try:
        os.link(path, target, follow_symlinks=False)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        if os.path.lexists(target):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(target)) from error
        path.rename(target)
        return
    _let_go(path, target)


def _let_go(path: Path, target: Path) -> None:
    """Take away the old name of what has a new one; where that fails, the new one goes."""
    try:
        path.unlink()
    except OSError:
        target.unlink()
        raise


def _move_link(path: Path, target: Path) -> None:
    leads_to = path.readlink()
    if not leads_to.is_absolute() and path.parent != target.parent:
        leads_to = Path(os.path.relpath(path.parent / leads_to, target.parent))
    target.symlink_to(leads_to)
    _let_go(path, target)


def _name_taken(path: Path, action: str = "saved", place: Path | None = None) -> ChangedOnDisk:
    return ChangedOnDisk(
        place or path, f"“{path.name}” was not {action}: a file of that name exists already. Choose another name."
    )


def _compare(path: Path, target: Path, expected_digest: str | None, action: str = "saved") -> None:
    """Raise ChangedOnDisk unless the file is the one that was read."""
    if expected_digest is None and not os.path.lexists(target):
        return
    try:
        found = digest_of(read_whole(target, READ_AT_MOST))
    except FileNotFoundError:
        if expected_digest is None:  # it went away just now
            return
        raise ChangedOnDisk(
            path,
            f"“{path.name}” was not {action}: the file has been deleted, moved or renamed since it was opened. "
            "Save it as a new note, or put the file back.",
        ) from None
    except OSError as error:
        raise SaveError(_describe(path, error, action)) from error
    if expected_digest is None:
        raise _name_taken(path, action)
    if found != expected_digest:
        raise ChangedOnDisk(
            path,
            f"“{path.name}” was not {action}: the file has changed on disk since it was opened. "
            "Compare the two versions and decide which one to keep.",
        )


def _read(path: Path) -> bytes:
    told = f"“{path.name}” cannot be read: {{reason}}. Check that it still exists and that you may read it."
    with refused(VaultError, told):
        return read_whole(path, READ_AT_MOST)


def _describe(path: Path, error: OSError, action: str = "saved") -> str:
    otherwise = "Nothing is lost: the text is still in the editor. Copy it into a new note."
    if action != "saved":
        otherwise = "Nothing is lost: the file is as it was. Look at the disk and its permissions, and try again."
    return f"“{path.name}” was not {action} ({reason_of(error)}). {_ADVICE.get(error.errno or 0, otherwise)}"
