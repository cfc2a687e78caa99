"""Reading JSON that people may have edited, and replacing a file, or adding a line to it, in one step."""

from __future__ import annotations

import errno
import gzip
import io
import json
import os
import re
import secrets
import stat
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path
from typing import Any, Final, Generic, TypeVar

from lorestudio.domain import json_text
from lorestudio.domain.file_names import free_path, underscored_name
from lorestudio.domain.javascript import Json
from lorestudio.domain.records import Terse
from lorestudio.domain.resources import OWN_FOLDERS
from lorestudio.domain.texts import reading_order

if sys.platform != "win32":
    import fcntl


class SettingsError(ValueError):
    """A settings file that cannot be used; the message names the file, the place in it, and what to do."""


READ_AT_MOST: Final = 256 * 1024 * 1024
"""So many bytes are read of a picture or an archive."""

TEXT_AT_MOST: Final = 64 * 1024 * 1024
"""So many bytes are read of anything else: a text takes several times its size in memory, and a device has no end."""

_LARGE: Final = (b"\x89PNG", b"PK\x03\x04", b"\xff\xd8")
"""How a PNG picture, an archive, and a JPEG picture before one begin."""


def read_whole(path: Path, at_most: int | None = None) -> bytes:
    """The bytes of a file, none of a pipe that nobody writes into. Raises OSError, also where there are too many."""
    with open(path, "rb", opener=_open_at_once) as file:  # a path's own takes no opener
        size = os.fstat(file.fileno()).st_size
        most = at_most or (READ_AT_MOST if size and file.peek(1).startswith(_LARGE) else TEXT_AT_MOST)
        data = b"" if size > most else file.read(-1 if size else most + 1)
    if max(size, len(data)) > most:
        raise OSError(errno.EFBIG, f"it is larger than {most // 1024 // 1024} MiB", str(path))
    return data


def _open_at_once(path: str, flags: int) -> int:
    """Open a pipe that nobody writes into without waiting for somebody."""
    if sys.platform == "win32":
        return os.open(path, flags)
    descriptor = os.open(path, flags | os.O_NONBLOCK)
    os.set_blocking(descriptor, True)
    return descriptor


def read_bytes(path: Path) -> bytes:
    """Read the file's bytes. Raises SettingsError when it cannot be read."""
    data = bytes_if_there(path)
    if data is None:
        raise SettingsError(f"{path}: there is no such file. Check the path.")
    return data


def bytes_if_there(path: Path) -> bytes | None:
    """Read the file's bytes, None where there is no such file. Raises SettingsError when it cannot be read."""
    try:
        return read_whole(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except IsADirectoryError:
        raise SettingsError(f"{path} is a folder. Give the settings file in it.") from None
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:  # so no file can have it
            return None
        reason = error.strerror or str(error)
        raise SettingsError(f"{path} cannot be read ({reason}). Check that you may open it.") from None


def unpacked(data: bytes) -> bytes:
    """The bytes of a gzip file, of which a few can hold any number of zeros; other bytes as they are.

    Raises OSError, also where there are more than TEXT_AT_MOST, and EOFError or zlib.error where it is damaged.
    """
    if not data.startswith(b"\x1f\x8b"):
        return data
    with gzip.open(io.BytesIO(data)) as packed:
        whole = packed.read(TEXT_AT_MOST + 1)
    if len(whole) > TEXT_AT_MOST:
        raise OSError(f"unpacked it is larger than {TEXT_AT_MOST // 1024 // 1024} MiB")
    return whole


def parse_json(data: bytes, path: Path) -> Json:
    """Parse the JSON value in `data`; `path` is for messages. Raises SettingsError naming line and column."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        column = error.start - data.rfind(b"\n", 0, error.start)
        raise SettingsError(
            f"{path}, line {line}, byte {column}: not UTF-8 text. Save the file with UTF-8 encoding."
        ) from None
    try:
        return json_text.parse_json(text)
    except json.JSONDecodeError as error:
        if not text.strip():
            raise SettingsError(f"{path}: it is empty. Choose another file, or a copy of before.") from None
        raise SettingsError(
            f"{path}, line {error.lineno}, column {error.colno}: not valid JSON ({error.msg}). "
            "Correct this place, or use a backup of the file."
        ) from None


def json_bytes(value: Json) -> bytes:
    """Write `value` as SillyTavern writes its settings: UTF-8 without a byte order mark, indented by four blanks.

    Raises SettingsError for numbers that JSON has no spelling for.
    """
    written = io.BytesIO()
    write_json(written, value)
    written.write(b"\n")
    return written.getvalue()


def write_json(written: io.BytesIO, value: object, spelled: Callable[[Any], Json] | None = None) -> None:
    """Write the same without the last line end; `spelled` makes JSON of what is none. Raises SettingsError.

    Some pieces at a time: those of a large book's link take several times what they come to.
    """
    pieces = json.JSONEncoder(ensure_ascii=False, indent=4, allow_nan=False, default=spelled).iterencode(value)
    try:
        while part := "".join(islice(pieces, 4096)):
            written.write(part.encode("utf-8", "backslashreplace"))  # halves of pairs become the escapes they came from
    except (ValueError, RecursionError) as error:
        raise SettingsError(f"The settings cannot be written as JSON ({error}). Correct the file by hand.") from None


def real_path(path: Path) -> Path:
    """The path with the home folder written out, and without links; of links in a circle it is what there is."""
    return Path(os.path.realpath(path.expanduser()))  # `Path.resolve` fails at such a circle


WRITE_PROTECTED: Final = "the file is write-protected; remove the protection first"


def write_atomically(path: Path, data: bytes, *, private: bool = False, expected: bytes | None = None) -> None:
    """Replace the file at `path` by `data`: at every moment there is either the old file or the new one.

    Makes missing folders, keeps the permissions of an existing file and writes through symbolic links; what is
    `private` may be read by its owner only. A file of which something is `expected` must hold just that. What an
    earlier writing of the same file left behind, because the computer stopped, is deleted. Waits for the disk, so a
    window calls it from a worker. Raises OSError, also for a device, which would be gone, and for a file that is
    write-protected; nothing is left behind then.
    """
    target = real_path(path)
    if target.is_dir():  # the root would have no name for what is written beside it
        raise OSError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if target.exists() and not target.is_file():
        raise OSError(errno.EINVAL, "it is a device or a pipe, and no file", str(path))
    if target.is_file() and not os.access(target, os.W_OK):  # replacing it asks only for the right to change its folder
        raise OSError(errno.EACCES, WRITE_PROTECTED, str(path))
    target.parent.mkdir(0o700 if private else 0o777, parents=True, exist_ok=True)
    _sweep(target)
    temporary = target.with_name(f".{_beginning(target)}.{secrets.token_hex(4)}.tmp")
    mode = stat.S_IMODE(target.stat().st_mode) if target.exists() else None
    try:
        write_new(temporary, data, 0o600 if private else mode)
        with alone(target):
            _check_held(target, expected)  # writing took its time
            put_in_place(temporary, target)
    except OSError as error:
        error.filename = str(path)  # `write` names no file, and others name the temporary one
        raise
    finally:
        with suppress(OSError):  # what the disk said first is what counts; the next writing of the file sweeps
            temporary.unlink(missing_ok=True)


def _check_held(target: Path, expected: bytes | None) -> None:
    if expected is not None and read_whole(target) != expected:
        raise OSError(errno.EAGAIN, "another program has changed it meanwhile; look at it again")


def _beginning(target: Path) -> str:
    """Of the name so much that there is room for more beside it: a name may have 255 bytes."""
    return target.name[:40]


def write_new(path: Path, data: bytes, mode: int | None) -> None:
    """A new file with the bytes on disk, not only on their way to it, that nobody ever sees with wider permissions.

    `mode` are its permission bits, by default the usual ones. Raises OSError.
    """
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _BINARY, 0o666 if mode is None else mode)
    with os.fdopen(descriptor, "wb") as stream:
        stream.write(data)
        stream.flush()
        os.fsync(stream.fileno())
    if mode is not None:
        path.chmod(mode)


def put_in_place(temporary: Path, target: Path) -> None:
    """Rename over what is there; on Windows virus scanners, indexers and others keep that open for a moment at times.

    Raises OSError.
    """
    deadline = time.monotonic() + (_ALONE_S if sys.platform == "win32" else 0)
    while True:
        try:
            temporary.replace(target)
        except PermissionError:
            if time.monotonic() >= deadline:
                raise
            time.sleep(0.02)
        else:
            return


def append_line(path: Path, line: bytes, *, sync: bool = True) -> None:
    """Add a line at the end of a file, all of it or nothing; `sync` waits until the disk has it.

    A line that was cut off by a crash is ended first, so that it spoils nothing but itself. Raises OSError; then the
    file is as it was.
    """
    with path.open("ab+", buffering=0) as file:
        size = file.seek(0, os.SEEK_END)
        if size:
            file.seek(size - 1)
            if file.read(1) != b"\n":
                line = b"\n" + line
        try:
            while line:  # a disk that is full takes a part first
                line = line[file.write(line) :]
            if sync:
                os.fsync(file.fileno())
        except OSError as error:
            error.filename = str(path)
            with suppress(OSError):
                file.truncate(size)
            raise


_ALONE_S: Final = 1.0
"""Whoever holds a file for longer is no studio that replaces it."""


@contextmanager
def alone(target: Path) -> Iterator[None]:
    """Look at a file and replace it while no other studio does; other programs, and some disks, know no such lock."""
    descriptor = None
    if sys.platform != "win32":
        with suppress(OSError):
            descriptor = _open_at_once(str(target), os.O_RDONLY)
            deadline = time.monotonic() + _ALONE_S
            while not _held(descriptor) and time.monotonic() < deadline:
                time.sleep(0.001)
    try:
        yield
    finally:
        if descriptor is not None:
            os.close(descriptor)


def _held(descriptor: int) -> bool:
    """Take the lock of an open file, or say that somebody else has it. Raises other OSErrors."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


_BINARY: Final = getattr(os, "O_BINARY", 0)  # Windows else writes line ends of its own

STALE_S: Final = 600.0
"""A temporary file of this age in seconds is left over: no file takes so long to write."""


def _sweep(target: Path) -> None:
    left_over = re.compile(rf"\.{re.escape(_beginning(target))}\.[0-9a-f]{{8}}\.tmp")
    with suppress(OSError), os.scandir(target.parent) as items:  # another program may have swept it
        for item in items:
            if left_over.fullmatch(item.name) and item.stat(follow_symlinks=False).st_mtime < time.time() - STALE_S:
                Path(item.path).unlink(missing_ok=True)


def write_document(path: Path, document: Mapping[str, Json]) -> None:
    """Write JSON that is for its owner's eyes alone, in one step. Raises SettingsError."""
    try:
        write_atomically(path, json_bytes(dict(document)), private=True)
    except OSError as error:
        reason = error.strerror or str(error)
        raise SettingsError(f"{path} cannot be written ({reason}). Check folder, permissions and free space.") from None


LONGEST_NAME: Final = 80
"""Characters of a name that a person gives to a file of settings or choices."""

_ENDING: Final = ".json"


class NamedFile(Terse, frozen=True):
    """A file that a person knows by the name in it; one that cannot be read by the file's own."""

    name: str
    path: Path


_Named = TypeVar("_Named", bound=NamedFile)


class NamedFiles(Generic[_Named]):
    """The JSON files of a folder, by names that differ in more than capitals; `what` is a word for one of them.

    The folder is one of the person's configuration, `kept_as`, unless it is given. `read` gives also a file that cannot
    be read. Every method looks at the disk, so a window calls them from a worker. All raise SettingsError with a
    sentence for the person.
    """

    def __init__(self, what: str, read: Callable[[Path], _Named], kept_as: str, folder: Path | None = None) -> None:
        self.folder = folder or OWN_FOLDERS.user_config_path / kept_as
        self._what, self._read = what, read

    def all(self) -> tuple[_Named, ...]:
        """Every file by name, those that cannot be read too; a folder that is not there has none."""
        paths: list[Path] = []
        try:
            with suppress(FileNotFoundError):
                paths = sorted(path for path in self.folder.iterdir() if path.suffix.lower() == _ENDING)
        except OSError as error:
            raise SettingsError(f"{self.folder} cannot be read ({error.strerror or error}).") from None
        found = (self._read(path) for path in paths if path.is_file())
        return tuple(sorted(found, key=lambda each: reading_order(each.name)))

    def known(self, name: str) -> _Named:
        """What has that name; nothing is an error that says which there are."""
        files = self.all()
        found = of_name(files, name)
        if found is None:
            names = ", ".join(f"“{each.name}”" for each in files)
            there = f"There are: {names}." if names else f"None is kept in {self.folder} yet."
            raise SettingsError(f"There is no {self._what} “{name}”. {there}")
        return found

    def delete(self, name: str) -> None:
        """Remove a file, also one that cannot be read."""
        _remove(self.known(name).path)

    def _place(self, name: str, *, replace: bool) -> tuple[_Named | None, Path]:
        """What has this name already, where that may be replaced, and the file for it."""
        found = of_name(self.all(), name)
        if found is not None and not replace:
            raise SettingsError(f"There is a {self._what} “{found.name}” already. Choose another name.")
        return found, found.path if found is not None else self._free_path(name)

    def _move(self, old: _Named, new: str, document: Mapping[str, Json]) -> Path:
        """Write what has another name now into its file, then call the file so: at no moment are there two of it."""
        taken = of_name(self.all(), new)
        if taken is not None and taken.path != old.path:
            raise SettingsError(f"There is a {self._what} “{taken.name}” already. Choose another name.")
        path = self._free_path(new, old.path)
        write_document(old.path, document)
        try:
            return old.path.rename(path)
        except OSError as error:
            reason = error.strerror or str(error)
            told = f"It is called “{new}” now, but {old.path} cannot be renamed to {path.name} ({reason})."
            raise SettingsError(f"{told} It can be used as it is.") from None

    def _free_path(self, name: str, own: Path | None = None) -> Path:
        """A file called as it is, as far as a file can be called so; `own` where other capitals are all there is."""
        stem = underscored_name(name, self._what.split()[-1])
        if own is not None and own.stem.casefold() == stem.casefold():
            return own
        return free_path(self.folder, lambda number: f"{stem}{f' {number}' if number > 1 else ''}{_ENDING}")


def of_name(files: Iterable[_Named], name: str) -> _Named | None:
    """The one of that name, whatever its capitals."""
    return next((each for each in files if each.name.casefold() == name.strip().casefold()), None)


def checked_name(name: str, what: str) -> str:
    """The name without blanks around it. Raises SettingsError for one that cannot be used."""
    name = name.strip()
    if len(name.splitlines()) != 1 or len(name) > LONGEST_NAME:
        raise SettingsError(f"A {what} needs a name of one line, at most {LONGEST_NAME} characters long.")
    return name


def _remove(path: Path) -> None:
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        raise SettingsError(f"{path} cannot be removed ({error.strerror or error}).") from None
