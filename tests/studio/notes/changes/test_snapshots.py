from __future__ import annotations

import errno
import os
import re
import subprocess
import sys
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lorestudio.studio.notes.changes import snapshots as kept
from lorestudio.studio.notes.changes.change_set import HistoryError, NoteFileChange
from lorestudio.studio.notes.changes.journal import read_lines
from lorestudio.studio.notes.changes.snapshots import KEEP_DAILY, NoteSnapshot, Snapshots, thinned
from lorestudio.vault.files import ChangedOnDisk, SaveError, VaultError
from lorestudio.vault.writer import digest_of
from tests.digests import digest

NOON = datetime(2026, 3, 4, 12, tzinfo=UTC)  # a Wednesday


class Clock:
    def __init__(self) -> None:
        self.now = NOON

    def __call__(self) -> datetime:
        return self.now

    def later(self, **times: float) -> None:
        self.now += timedelta(**times)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def snapshots(tmp_path: Path, clock: Clock) -> Snapshots:
    return Snapshots(tmp_path / "history", clock)


@pytest.fixture
def note(tmp_path: Path) -> Path:
    path = tmp_path / "vault" / "Note.md"
    path.parent.mkdir()
    path.write_bytes(b"one")
    return path


def at(time: datetime, number: int = 0) -> NoteSnapshot:
    return NoteSnapshot(Path("/v/a.md"), time, f"{number:064x}", 1, "")


def test_saving_keeps_what_was_there(snapshots: Snapshots, note: Path, clock: Clock) -> None:
    first = digest(note)
    second = snapshots.save(note, "zwölf\r\n", first)
    assert note.read_bytes() == "zwölf\r\n".encode()
    assert second == digest(note)
    clock.later(minutes=5)
    snapshots.save(note, "three", second, "before autosaving")
    newer, older = snapshots.list(note)
    assert newer == NoteSnapshot(note, NOON + timedelta(minutes=5), second, 8, "before autosaving")
    assert older == NoteSnapshot(note, NOON, first, 3, "before saving")
    assert [snapshots.read(one) for one in (newer, older)] == ["zwölf\r\n", "one"]


def test_a_save_that_is_refused_keeps_nothing(snapshots: Snapshots, note: Path) -> None:
    with pytest.raises(ChangedOnDisk):
        snapshots.save(note, "mine", digest_of(b"other"))
    new = note.with_name("New.md")
    snapshots.save(new, "made", None)
    with pytest.raises(ChangedOnDisk):
        snapshots.save(new, "made", None)
    assert snapshots.list(note) == snapshots.list(new) == ()
    assert (note.read_bytes(), new.read_bytes()) == (b"one", b"made")


def test_a_history_that_cannot_be_written_stops_the_save(snapshots: Snapshots, note: Path, tmp_path: Path) -> None:
    (tmp_path / "history").mkdir()
    (tmp_path / "history" / "blobs").write_bytes(b"a file where the folder should be")
    with pytest.raises(HistoryError, match=r"“Note.md” was not changed.*could not be kept"):
        snapshots.save(note, "two", digest(note))
    assert note.read_bytes() == b"one"


def test_equal_texts_are_kept_once(snapshots: Snapshots, note: Path, tmp_path: Path) -> None:
    other = note.with_name("Other.md")
    snapshots.add({note: b"same", other: b"same"}, "first")
    snapshots.add({note: b"same"}, "again")  # nothing new
    snapshots.add({note: b"different"}, "second")
    snapshots.add({note: b"same"}, "third")
    assert [one.reason for one in snapshots.list(note)] == ["third", "second", "first"]
    assert len(list((tmp_path / "history" / "blobs").glob("*/*"))) == 2


def test_two_spellings_of_a_folder_are_one_place(snapshots: Snapshots, note: Path, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(note.parent)
    snapshots.add({note: b"x"}, "why")
    assert [one.reason for one in snapshots.list(link / "Note.md")] == ["why"]


def test_histories_follow_moves(snapshots: Snapshots, note: Path, clock: Clock) -> None:
    b, c = note.with_name("B.md"), note.with_name("C.md")

    def add(path: Path, text: str) -> None:
        clock.later(seconds=1)
        snapshots.add({path: text.encode()}, text)

    def reasons(path: Path) -> list[str]:
        return [one.reason for one in snapshots.list(path)]

    add(note, "1")
    snapshots.moved([(note, b)])
    add(b, "2")
    add(note, "another note")
    assert reasons(b) == ["2", "1"]
    assert reasons(note) == ["another note"]
    snapshots.moved([(note, c), (b, note)])
    add(note, "3")
    assert reasons(note) == ["3", "2", "1"]
    assert reasons(b) == []
    assert reasons(c) == ["another note"]
    assert snapshots.moved_to(b) == note
    assert snapshots.moved_to(note) is None


def test_a_move_cut_short_loses_nothing(snapshots: Snapshots, note: Path, tmp_path: Path, clock: Clock) -> None:
    new = note.with_name("B.md")
    snapshots.add({note: b"1"}, "1")
    clock.later(seconds=1)
    snapshots.moved([(note, new)])
    for file in (tmp_path / "history" / "places").iterdir():  # the second of the two lines was never written
        lines = [line for line in file.read_bytes().splitlines(keepends=True) if b'"to"' not in line]
        file.write_bytes(b"".join(lines))
    clock.later(seconds=1)
    snapshots.add({note: b"2"}, "2")
    assert [one.reason for one in snapshots.list(new)] == ["1"]


def test_the_places_of_a_name_that_are_gone(snapshots: Snapshots, note: Path, clock: Clock) -> None:
    other, third = (note.parent / name / note.name for name in ("other", "third"))
    for path in (note, other, third, note.with_name("Another.md")):
        clock.later(seconds=1)
        snapshots.add({path: b"text"}, "why")
    assert snapshots.gone(note.parent / "moved" / note.name) == (third, other)
    snapshots.moved([(third, note.with_name("Renamed.md"))])
    assert snapshots.gone(note) == (other,)
    assert snapshots.gone(note.with_name("Renamed.md")) == (note.with_name("Renamed.md"),)


def test_a_note_that_another_program_called_in_other_letters_keeps_its_history(
    snapshots: Snapshots, note: Path, clock: Clock
) -> None:
    snapshots.save(note, "two", digest_of(b"one"))
    clock.later(seconds=1)
    other = note.rename(note.with_name("NOTE.md"))
    assert [snapshots.read(each) for each in snapshots.list(other)] == ["one"]
    snapshots.save(other, "three", digest_of(b"two"))
    assert [snapshots.read(each) for each in snapshots.list(other)] == ["two", "one"]
    third = other.with_name("Third.md")
    other.rename(third)
    snapshots.moved([(other, third)])
    assert [snapshots.read(each) for each in snapshots.list(third)] == ["two", "one"]
    assert snapshots.list(other) == ()


def test_the_history_of_a_note_that_is_there_or_was_changed_later_is_its_own(
    snapshots: Snapshots, note: Path, clock: Clock
) -> None:
    other = note.with_name("NOTE.md")
    snapshots.add({other: b"other"}, "why")
    clock.later(seconds=1)
    snapshots.add({note: b"one"}, "why")
    assert [each.path for each in snapshots.list(other)] == [other]  # `note` was changed later
    note.with_name("NOTE.md").write_bytes(b"other")
    assert [each.path for each in snapshots.list(note)] == [note]  # `other` is there
    assert snapshots.gone(note.parent / "moved" / "nOTE.md") == ()
    note.unlink()
    assert snapshots.gone(note.parent / "moved" / "nOTE.md") == (note,)


def test_a_disk_that_does_not_tell_letters_apart_finds_the_note_by_its_former_name(
    snapshots: Snapshots, note: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    snapshots.add({note: b"one"}, "why")
    other = note.with_name("NOTE.md")
    other.hardlink_to(note)
    assert snapshots.list(other) == ()  # two files
    monkeypatch.setattr("lorestudio.vault.writer.os.listdir", lambda _folder: [other.name])
    assert [each.path for each in snapshots.list(other)] == [note]


def test_restoring_is_a_change_set(snapshots: Snapshots, note: Path) -> None:
    snapshots.add({note: b"earlier"}, "why")
    (snapshot,) = snapshots.list(note)
    assert snapshots.restoring(note, snapshot).changes == (NoteFileChange(note, "one", "earlier"),)
    note.unlink()
    assert snapshots.restoring(note, snapshot).changes == (NoteFileChange(note, None, "earlier"),)


def test_what_is_lost_or_damaged_is_told(snapshots: Snapshots, note: Path) -> None:
    snapshots.add({note: b"text"}, "why")
    (snapshot,) = snapshots.list(note)
    place = snapshots.blobs.place(snapshot.digest)
    whole = place.read_bytes()
    for damage, words in ((whole[:-3], "cannot be read"), (b"no gzip", "cannot be read"), (None, "is gone")):
        place.unlink()
        if damage is not None:
            place.write_bytes(damage)
        with pytest.raises(VaultError, match=words) as caught:
            snapshots.read(snapshot)
        assert str(place) in str(caught.value)
    if hasattr(os, "mkfifo"):
        os.mkfifo(place)  # nobody writes into it, and nobody waits for that
        with pytest.raises(VaultError, match="is damaged"):
            snapshots.read(snapshot)
    snapshots.add({note: b"other"}, "why")
    snapshots.add({note: b"text"}, "again")  # a damaged blob is written anew
    assert snapshots.read(snapshot) == "text"


def test_a_snapshot_that_is_no_text(snapshots: Snapshots, note: Path) -> None:
    snapshots.add({note: b"a\n\xff"}, "why")
    with pytest.raises(VaultError, match=r"“Note.md” is not UTF-8 text.*line 2"):
        snapshots.read(snapshots.list(note)[0])


def test_damaged_lines_are_passed_over_and_told(snapshots: Snapshots, note: Path, tmp_path: Path) -> None:
    snapshots.add({note: b"1"}, "1")
    (file,) = (tmp_path / "history" / "places").iterdir()
    with file.open("ab") as stream:
        stream.write(b'[]\n{"path":"x"}\n{"path":"/x","time":"yesterday","digest":"0","size":1}\n{"pa')
    snapshots.add({note: b"2"}, "2")
    assert [one.reason for one in snapshots.list(note)] == ["2", "1"]
    assert len(snapshots.problems) == 3  # two damaged lines, and two that name no snapshot told as one
    assert all(str(file) in problem for problem in snapshots.problems)


def test_many_damaged_lines_are_counted_and_read_no_more_often(
    snapshots: Snapshots, note: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    snapshots.add({note: b"one"}, "first")
    (file,) = (tmp_path / "history" / "places").iterdir()
    with file.open("ab") as lines:
        lines.write(b"{broken\n" * 50)
    read: list[Path] = []
    monkeypatch.setattr(kept, "read_lines", lambda path: read.append(path) or read_lines(path))
    assert [each.digest for each in snapshots.list(note)] == [digest_of(b"one")]
    assert len(snapshots.problems) == 21
    assert snapshots.problems[19].startswith(f"“{file}”, line 21 is damaged and was passed over.")
    assert snapshots.problems[20].startswith(f"“{file}”: 30 more lines are damaged, from line 22 on, and passed over.")
    file.write_bytes(b"{broken\n")
    read.clear()
    assert snapshots.list(note) == ()
    assert len(read) == 2, "for the note itself, and for what was called like it"


def test_a_long_history_is_not_asked_line_by_line_for_notes_of_the_same_name(
    snapshots: Snapshots, note: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    spell, spelled = kept.comparable, []
    for number in range(30):
        snapshots.add({note: f"Lamp {number}".encode()}, "saved")
    monkeypatch.setattr(kept, "comparable", lambda name: spelled.append(name) or spell(name))
    assert len(snapshots.list(note)) == 30
    assert len(spelled) < 5


def test_the_rule_of_pruning() -> None:
    def kept(*times: datetime) -> set[datetime]:
        old = [NOON + timedelta(days=400, seconds=number) for number in range(20)]  # the newest 20 stay anyway
        found = thinned([at(time) for time in (*times, *old)], NOON)
        return {one.time for one in found} - set(old)

    hours = [NOON - timedelta(hours=hour) for hour in range(25)]
    assert kept(*hours) == set(hours)
    yesterday = [NOON - timedelta(days=1, hours=hour) for hour in (1, 2, 3)]
    before = [NOON - timedelta(days=2, hours=hour) for hour in (1, 2)]
    assert kept(*yesterday, *before) == {yesterday[0], before[0]}
    last_daily = [NOON - KEEP_DAILY, NOON - KEEP_DAILY - timedelta(hours=1)]
    assert kept(*last_daily) == set(last_daily)  # the one as the last of its day, the other as the last of its week
    monday = datetime(2025, 6, 2, 0, tzinfo=UTC)
    week = [monday + timedelta(days=day, hours=5) for day in range(7)]
    assert kept(*week, monday - timedelta(seconds=1)) == {week[-1], monday - timedelta(seconds=1)}


def test_the_newest_20_always_stay() -> None:
    times = [NOON - timedelta(days=500, minutes=minute) for minute in range(30)]
    assert {one.time for one in thinned([at(time) for time in times], NOON)} == set(times[:20])


ages = st.lists(st.integers(0, 200 * 24 * 60), unique=True, max_size=80)


@given(ages, st.integers(0, 60 * 24 * 60))
def test_pruning_again_later_takes_nothing_that_the_rule_keeps(minutes: list[int], wait: int) -> None:
    everything = [at(NOON - timedelta(minutes=minute), minute) for minute in minutes]
    once = thinned(everything, NOON)
    assert thinned(once, NOON) == once
    assert len(once) >= min(20, len(everything))
    if everything:
        assert max(everything, key=lambda one: one.time) in once
    later = NOON + timedelta(minutes=wait)
    # Whatever is kept of a period later is no older than what would be kept had nothing been pruned in between.
    direct = {one.time for one in thinned(everything, later)}
    stepwise = {one.time for one in thinned(once, later)}
    assert stepwise <= {one.time for one in everything}
    assert {time for time in direct if later - time <= timedelta(hours=24)} <= stepwise


def test_pruning_deletes_what_nobody_names(snapshots: Snapshots, note: Path, clock: Clock) -> None:
    clock.now = datetime.now(UTC) - timedelta(days=300)
    for number in range(40):  # within one minute, long ago
        clock.later(seconds=1)
        snapshots.add({note: b"%d" % number}, str(number))
    pinned = digest_of(b"0")
    clock.now = datetime.now(UTC) + timedelta(hours=2)  # blobs have real times
    assert snapshots.prune({pinned}) == 20
    assert [one.reason for one in snapshots.list(note)] == [str(number) for number in range(39, 19, -1)]
    assert snapshots.read(snapshots.list(note)[-1]) == "20"
    assert snapshots.blobs.read(pinned) == b"0"
    with pytest.raises(VaultError, match="is gone"):
        snapshots.blobs.read(digest_of(b"1"))
    assert snapshots.prune() == 0


def test_fresh_contents_are_not_pruned(snapshots: Snapshots, clock: Clock) -> None:
    clock.now = datetime.now(UTC)
    snapshots.blobs.put([b"just put, and its line not written yet"])
    snapshots.prune()
    assert snapshots.blobs.read(digest_of(b"just put, and its line not written yet"))


@pytest.mark.long
def test_threads_and_processes_take_turns(snapshots: Snapshots, note: Path, tmp_path: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from lorestudio.studio.notes.changes.snapshots import Snapshots\n"
        "mine = Snapshots(Path(sys.argv[1]))\n"
        "for number in range(10): mine.add({Path(sys.argv[2]): b'p%d' % number}, 'p')"
    )
    with subprocess.Popen(  # noqa: S603  # our own interpreter and our own text
        [sys.executable, "-c", program, str(tmp_path / "history"), str(note)]
    ) as process:
        threads = [
            threading.Thread(
                target=lambda name=name: [snapshots.add({note: b"%s%d" % (name, n)}, "t") for n in range(10)]
            )
            for name in (b"a", b"b")
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert process.wait() == 0
    assert len(snapshots.list(note)) == 30
    assert snapshots.problems == ()


@pytest.mark.skipif(sys.platform == "win32", reason="it locks in another way")
def test_a_number_that_was_left_on_a_disk_without_locks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import fcntl  # noqa: PLC0415  # Windows has none

    from lorestudio.vault.file_lock import locked  # noqa: PLC0415  # only here

    def none(*_given: object) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", none)
    lock = tmp_path / "lock"
    lock.write_text(str(os.getppid()))  # of another computer, say
    told = f"The disk has no locks: “{lock}” names process {os.getppid()}, and one of that number runs here. If it is"
    with pytest.raises(SaveError, match=re.escape(told)), locked(lock, 0.05):
        pass
    lock.unlink()
    with locked(lock, 0.05):
        assert lock.read_text() == str(os.getpid())
    lock.write_text("999999999")  # which has ended
    with locked(lock, 0.05):
        assert lock.read_text() == str(os.getpid())


def test_a_lock_that_is_not_let_go(tmp_path: Path, note: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from lorestudio.vault.file_lock import FileLock, locked  # noqa: PLC0415  # only here

    holder = FileLock(tmp_path / "lock")
    assert holder.try_acquire()
    with pytest.raises(SaveError, match=r"Another lorestudio .*, and try again\.$"), locked(tmp_path / "lock", 0.05):
        pass
    holder.release()
    with locked(tmp_path / "lock"):
        assert not holder.try_acquire()
    assert os.listdir(tmp_path / "vault") == ["Note.md"]  # noqa: PTH208  # names alone
