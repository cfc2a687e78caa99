"""The history of each note: what its file held before it was changed from here.

A folder of blobs holds the contents, a file of JSON lines per place on disk says when they were kept and why. When a
note is renamed, both places get a line about it, so that the history goes on under the new name and a new note under
the old name begins a history of its own. Each content is kept once, compressed.
"""

from __future__ import annotations

import gzip
import hashlib
import os
import re
import secrets
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, suppress
from datetime import UTC, datetime, timedelta
from io import BytesIO
from itertools import islice
from pathlib import Path
from typing import Final

from msgspec import Struct

from lorestudio.domain.javascript import Json
from lorestudio.domain.texts import comparable, text_digest
from lorestudio.settings.files import READ_AT_MOST, append_line, put_in_place, read_whole, write_atomically
from lorestudio.studio.notes.book_entries import is_book_entry, read_text, save_text, text_change, text_in
from lorestudio.studio.notes.changes.change_set import ChangeSet, HistoryError, NoteFileChange
from lorestudio.studio.notes.changes.journal import json_line, read_lines
from lorestudio.studio.notes.changes.plan import Look, looked_after
from lorestudio.trace.storage.serialize import record_from_json, record_to_json
from lorestudio.vault.file_lock import locked
from lorestudio.vault.files import SaveError, VaultError, place_key, refused, utc_now
from lorestudio.vault.folder import note_text
from lorestudio.vault.writer import digest_of, read_note, same_place, temporary_name

GRACE_S: Final = 3600.0
"""A blob that was put so recently, in seconds, is kept even where nothing refers to it yet."""

_TOGETHER: Final = 64
"""So many are put at a time: whoever gives them can stop in between."""

_PART: Final = 64 * 1024
"""So many bytes are packed at a time: of a large book its packed text need not be there beside it."""

_WAITING: Final = 16
"""How many threads wait for the disk."""

_NAME: Final = re.compile(r"[0-9a-f]{64}\.gz")
_DIGEST: Final = re.compile(r"[0-9a-f]{64}")


class Blobs:
    """A folder of blobs, named by the SHA-256 of what they hold. All methods wait for the disk."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def place(self, digest: str) -> Path:
        """The file that holds the content with this digest: gzip, which other programs can open."""
        return self._folder / digest[:2] / f"{digest}.gz"

    def put(self, contents: Iterable[bytes], *, sync: bool = True) -> None:
        """Keep contents; `sync` waits until the disk has them. Raises OSError, and what going through them raises."""
        remaining = iter(contents)
        while self._put_together(islice(remaining, _TOGETHER), sync=sync):
            pass

    def _put_together(self, contents: Iterable[bytes], *, sync: bool) -> bool:
        """Whether there was something to keep."""
        some = False
        written: list[tuple[Path, Path]] = []
        try:
            for data in contents:
                some = True
                digest = digest_of(data)
                place = self.place(digest)
                if self._is_whole(place, digest):
                    os.utime(place)
                    continue
                place.parent.mkdir(0o700, parents=True, exist_ok=True)
                temporary = place.with_name(temporary_name())
                written.append((temporary, place))
                packing = zlib.compressobj(6, wbits=zlib.MAX_WBITS + 16)  # gzip's, without a time
                with temporary.open("wb") as file:
                    file.writelines(packing.compress(data[at : at + _PART]) for at in range(0, len(data), _PART))
                    file.write(packing.flush())
            if sync:  # all at once: the disk takes hardly longer for many files than for one
                with ThreadPoolExecutor(_WAITING) as pool:
                    list(pool.map(_wait_for_disk, (temporary for temporary, _ in written)))
            for temporary, place in written:
                put_in_place(temporary, place)
        finally:
            for temporary, _ in written:
                with suppress(OSError):
                    temporary.unlink(missing_ok=True)
        return some

    def read(self, digest: str) -> bytes:
        """The content with this digest. Raises VaultError where it is gone or damaged."""
        place = self.place(digest) if _DIGEST.fullmatch(digest) else self._folder
        try:
            data = gzip.decompress(read_whole(place, READ_AT_MOST))
        except FileNotFoundError as error:
            raise VaultError(
                f"The kept text is gone: “{place}” is not there. It may lie in a backup of that folder."
            ) from error
        except (OSError, EOFError, zlib.error) as error:
            raise VaultError(f"The kept text in “{place}” cannot be read ({error}). Take another version.") from error
        if digest_of(data) != digest:
            raise VaultError(f"The kept text in “{place}” is damaged. Take another version.")
        return data

    def discard_except(self, kept: Collection[str], now: float) -> int:
        """Delete what is not in `kept` and not fresh; `now` is in seconds since the epoch. Returns how many.

        Raises OSError.
        """
        count = 0
        for path in self._folder.glob("*/*"):
            ours = _NAME.fullmatch(path.name) is not None
            left_over = path.name.startswith(".") and path.name.endswith(".tmp")
            if (left_over or (ours and path.name.removesuffix(".gz") not in kept)) and _is_old(path, now):
                path.unlink(missing_ok=True)
                count += ours
        return count

    def _is_whole(self, place: Path, digest: str) -> bool:
        try:
            with gzip.open(BytesIO(read_whole(place, READ_AT_MOST))) as kept:  # in parts: a large book is there already
                return hashlib.file_digest(kept, "sha256").hexdigest() == digest
        except (OSError, EOFError, zlib.error):
            return False


def _wait_for_disk(path: Path) -> None:
    with path.open("rb+") as file:
        os.fsync(file.fileno())


def _is_old(path: Path, now: float) -> bool:
    try:
        return now - path.stat().st_mtime >= GRACE_S
    except FileNotFoundError:
        return False


KEEP_ALL: Final = timedelta(hours=24)
KEEP_DAILY: Final = timedelta(days=60)
KEEP_NEWEST: Final = 20

BEFORE_SAVING: Final = "before saving"

_FROM: Final = "from"
_TO: Final = "to"


class NoteSnapshot(Struct, frozen=True):
    """What a file held at a time. `path` is where it lay then; `size` is in bytes, `digest` the SHA-256 of them."""

    path: Path
    time: datetime
    digest: str
    size: int
    reason: str = ""


class _EntrySnapshot(NoteSnapshot, frozen=True):
    """What an entry was in a snapshot of its lorebook: a change of several entries keeps the whole file."""

    text: str = ""


class Snapshots:
    """The histories of all notes, in one folder. Everything waits for the disk, so a window calls it from a worker."""

    def __init__(self, folder: Path, clock: Callable[[], datetime] = utc_now) -> None:
        self.blobs = Blobs(folder / "blobs")
        self._places = folder / "places"
        self._lock = folder / "lock"
        self._clock = clock
        self._problems: dict[str, None] = {}

    @property
    def problems(self) -> tuple[str, ...]:
        """Sentences about what could not be read so far."""
        return tuple(self._problems)

    def add(self, contents: Mapping[Path, bytes], reason: str, look: Look = lambda _done: None) -> None:
        """Keep what these files hold now. What equals the newest snapshot of a file is not kept twice.

        Raises HistoryError, and what `look` raises; then nothing may be changed yet.
        """
        if not contents:
            return
        time = self._clock()
        with locked(self._lock), history_kept(next(iter(contents)), self._places.parent):
            self.blobs.put(looked_after(contents.values(), look))
            self._places.mkdir(parents=True, exist_ok=True)
            for path, data in looked_after(contents.items(), look):
                self._add_line(path, data, reason, time)

    def _add_line(self, path: Path, data: bytes, reason: str, time: datetime) -> None:
        digest = digest_of(data)
        records = self._records(path)
        if records and records[-1].get("digest") == digest:
            return
        record = record_to_json(NoteSnapshot(path, time, digest, len(data), reason))
        # The blob is what counts; a line that a power cut swallows is not worth waiting for the disk a thousand times.
        append_line(self._file(place_key(path)), json_line(record), sync=False)

    def list(self, path: Path) -> tuple[NoteSnapshot, ...]:
        """The snapshots of the note that lies, or lay last, at `path`, newest first.

        Where another program has changed the capital letters of its name alone, what was kept under the name before
        follows. Lines that cannot be used are passed over and told in `problems`. Raises VaultError.
        """
        records = self._records(path)
        found = tuple(self._walk(records))
        if is_book_entry(path):
            return tuple(self._with_book(path, found))
        if not found and records and _TO in records[-1]:
            return found
        oldest = found[-1].path if found else path
        earlier = [
            each
            for place in self._called_like(oldest)
            if place != oldest and place_key(place.parent) == place_key(oldest.parent) and _is_gone(place, path)
            for each in self._walk(self._records(place))
            if not found or each.time <= found[-1].time
        ]
        return (*found, *sorted(earlier, key=lambda each: each.time, reverse=True))

    def _with_book(self, path: Path, own: Sequence[NoteSnapshot]) -> Iterator[NoteSnapshot]:
        """Snapshots of an entry and of its lorebook's file, newest first, where the entry became another one."""
        try:
            last = read_text(path)[1]
        except VaultError:
            last = ""  # it is gone
        whole = self._walk(self._records(path.parent))
        for each in sorted((*own, *whole), key=lambda one: one.time, reverse=True):
            if each.path == path.parent:
                try:
                    text = text_in(path, self.blobs.read(each.digest))
                except VaultError as error:
                    self._problems[str(error)] = None
                    continue
                digest = text_digest(text)
                if not text or digest == last:
                    continue
                size = len(text.encode("utf-8", "surrogatepass"))
                yield _EntrySnapshot(path, each.time, digest, size, each.reason, text)
                last = digest
            else:
                yield each
                last = each.digest

    def moved_to(self, path: Path) -> Path | None:
        """Where the note that lay at `path` was moved to, None where it was not moved away."""
        records = self._records(path)
        target = records[-1].get(_TO) if records else None
        return Path(target) if isinstance(target, str) else None

    def gone(self, path: Path) -> tuple[Path, ...]:
        """The places of notes of this name, but for capital letters, that are gone and have a history, the one changed
        last first.

        Where the folder of a note was moved or renamed, that is where its history is. Entries of lorebooks have none.
        """
        if is_book_entry(path):
            return ()
        kept = [
            (place, tuple(self._walk(self._records(place))))
            for place in self._called_like(path)
            if _is_gone(place, path)
        ]
        newest = sorted(((found[0].time, place) for place, found in kept if found), reverse=True)
        return tuple(place for _time, place in newest)

    def read(self, snapshot: NoteSnapshot) -> str:
        """The text of a snapshot. Raises VaultError where it is gone, damaged, or no UTF-8."""
        if isinstance(snapshot, _EntrySnapshot):
            return snapshot.text
        return note_text(snapshot.path.name, self.blobs.read(snapshot.digest))

    def restoring(self, path: Path, snapshot: NoteSnapshot) -> ChangeSet:
        """The change set that gives the note at `path` the text of a snapshot; it is made again where it is gone.

        Nothing is changed yet: `ChangeLog.apply` does it. Raises VaultError where one of the texts cannot be read.
        """
        if is_book_entry(path):
            change = text_change(path, self.read(snapshot))
        else:
            before = read_note(path)[0] if path.exists() else None
            change = NoteFileChange(path, before, self.read(snapshot))
        return ChangeSet(f"Restore an earlier version of {path.stem}", (change,))

    def save(self, path: Path, text: str, expected_digest: str | None, reason: str = BEFORE_SAVING) -> str:
        """Keep what the note or the lorebook's entry is, then save `text` in its place; returns the new digest.

        Raises ChangedOnDisk, HistoryError, SaveError or VaultError; the file is then as it was.
        """
        if expected_digest is not None:
            try:
                before, digest = read_text(path)
            except VaultError:
                digest = None  # saving says what is wrong
            if digest == expected_digest:
                self.add({path: before.encode("utf-8", "surrogatepass")}, reason)
        return save_text(path, text, expected_digest)

    def moved(self, moves: Sequence[tuple[Path, Path]]) -> None:
        """Let the histories follow notes that were moved from the first place to the second. Raises SaveError."""
        time = self._clock().isoformat()
        with locked(self._lock), history_kept(moves[0][0], self._places.parent):
            self._places.mkdir(parents=True, exist_ok=True)
            for old, new in moves:
                move = secrets.token_hex(8)
                come: dict[str, Json] = {_FROM: str(old), "move": move, "time": time}
                gone: dict[str, Json] = {_TO: str(new), "move": move, "time": time}
                append_line(self._file(place_key(new)), json_line(come), sync=False)
                append_line(self._file(place_key(old)), json_line(gone), sync=False)

    def prune(self, pinned: Collection[str] = frozenset()) -> int:
        """Forget snapshots by the rule of `thinned`, for each place by itself; returns how many.

        Contents that no history and no digest in `pinned` names are deleted, unless they are less than an hour old.
        Raises SaveError.
        """
        now = self._clock()
        forgotten = 0
        used = set(pinned)
        sentence = f"The history in “{self._places.parent}” cannot be tidied ({{reason}})."
        with locked(self._lock), refused(SaveError, f"{sentence} Nothing is lost; correct its permissions."):
            for file in sorted(self._places.glob("*.jsonl")):
                forgotten += self._prune(file, now, used)
            self.blobs.discard_except(used, now.timestamp())
        return forgotten

    def _prune(self, file: Path, now: datetime, used: set[str]) -> int:
        records = read_lines(file).records
        found = [(record, _snapshot(record)) for record in records]
        kept = thinned([snapshot for _, snapshot in found if snapshot is not None], now)
        used.update(snapshot.digest for snapshot in kept)
        lines = [record for record, snapshot in found if snapshot is None or snapshot in kept]
        if len(lines) < len(records):
            write_atomically(file, b"".join(json_line(record) for record in lines))
        return len(records) - len(lines)

    def _called_like(self, path: Path) -> frozenset[Path]:
        """The places with a history whose file is called like this one, but for capital letters and how accents are
        spelled.
        """
        places: set[Path] = set()
        name = comparable(path.name)
        for file in self._places.glob("*.jsonl"):
            with refused(VaultError, f"The history in {file} cannot be read ({{reason}}). Check its permissions."):
                told = (record.get("path", record.get(_TO)) for record in read_lines(file).records)
                named = {each for each in told if isinstance(each, str)}
            places.update(place for place in map(Path, named) if comparable(place.name) == name)
        return frozenset(places)

    def _walk(self, lines: Sequence[Mapping[str, Json]]) -> Iterator[NoteSnapshot]:
        """Backwards through the lines of a place and of the places that the note lay at before."""
        records = list(lines)
        if records and _TO in records[-1]:
            return  # the note that lay here lies elsewhere
        while records:
            record = records.pop()
            snapshot = _snapshot(record)
            if snapshot is not None:
                yield snapshot
            elif _TO in record:
                return  # what comes before belongs to a note that was moved away
            elif isinstance(origin := record.get(_FROM), str):
                records = list(self._records_before_move(Path(origin), record))

    def _records_before_move(self, origin: Path, move: Mapping[str, Json]) -> Sequence[Mapping[str, Json]]:
        records = self._records(origin)
        for place, record in enumerate(records):
            if _TO in record and record.get("move") == move.get("move"):
                return records[:place]
        # The studio stopped between the two lines of the move.
        return [record for record in records if str(record.get("time", "")) <= str(move.get("time", ""))]

    def _records(self, path: Path) -> tuple[Mapping[str, Json], ...]:
        file = self._file(place_key(path))
        sentence = f"The history of “{path.name}” cannot be read: {file} ({{reason}}). Check its permissions."
        with refused(VaultError, sentence):
            lines = read_lines(file)
        self._problems.update(dict.fromkeys(lines.problems))
        usable = tuple(record for record in lines.records if {_FROM, _TO} & record.keys() or _snapshot(record))
        if len(usable) < len(lines.records):
            self._problems[f"“{file}” holds a line that names no snapshot; it was passed over."] = None
        return usable

    def _file(self, key: str) -> Path:
        return self._places / f"{text_digest(key)[:32]}.jsonl"


def _is_gone(place: Path, path: Path) -> bool:
    """Whether no file is called so any more; a disk that does not tell letters apart finds the one at `path`."""
    return not os.path.lexists(place) or same_place(place, path)


def thinned(snapshots: Collection[NoteSnapshot], now: datetime) -> frozenset[NoteSnapshot]:
    """Which snapshots of a note are kept: all of the last 24 hours, then the last of each day for 60 days, then the
    last of each week; and always the newest 20. Days and weeks (from Monday) are those of UTC.
    """
    ordered = sorted(snapshots, key=lambda snapshot: snapshot.time, reverse=True)
    kept = set(ordered[:KEEP_NEWEST])
    seen: set[object] = set()
    for snapshot in ordered:
        age = now - snapshot.time
        time = snapshot.time.astimezone(UTC)
        if age <= KEEP_ALL:
            kept.add(snapshot)
            continue
        period = ("day", time.date()) if age <= KEEP_DAILY else ("week", time.isocalendar()[:2])
        if period not in seen:
            seen.add(period)
            kept.add(snapshot)
    return frozenset(kept)


def _snapshot(record: Mapping[str, Json]) -> NoteSnapshot | None:
    """The snapshot that a line tells of, None where it tells of none."""
    try:
        return record_from_json(NoteSnapshot, record, "snapshot")
    except ValueError:
        return None


def history_kept(path: Path, folder: Path) -> AbstractContextManager[None]:
    """Turn what the disk refuses into a HistoryError: what `path` holds could not be kept in `folder` first."""
    return refused(
        HistoryError,
        f"“{path.name}” was not changed, because its present version could not be kept in “{folder}” ({{reason}}). "
        "Make room there or correct its permissions, and try again.",
    )
