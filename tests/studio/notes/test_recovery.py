from __future__ import annotations

import errno
import os
import random
import shutil
import signal
import subprocess
import sys
import textwrap
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest

from lorestudio.studio.notes.recovery import Recovery, Unsaved
from lorestudio.vault.files import SaveError
from lorestudio.vault.writer import sweep

NOW = datetime(2026, 3, 4, 12, tzinfo=UTC)


def opened(tmp_path: Path) -> Recovery:
    return Recovery(tmp_path / "recovery", lambda: NOW)


def test_a_text_is_found_after_the_end_and_until_it_is_dropped(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    with opened(tmp_path) as first:
        first.keep(path, "one", "digest")
        first.keep(path, "\ufefftwo\r\nhalf \ud83d", "digest")
        first.keep(tmp_path / "b.md", "new", None)
        first.keep(tmp_path / "c.md", "saved since", "x")
        first.drop(tmp_path / "c.md")
        first.drop(tmp_path / "never kept.md")
    with opened(tmp_path) as second:
        texts = {one.path.name: one for one in second.found()}
        assert texts.keys() == {"a.md", "b.md"}
        assert texts["a.md"] == Unsaved(path, "\ufefftwo\r\nhalf \ud83d", "digest", NOW, texts["a.md"].file)
        assert texts["b.md"].digest is None
        second.drop(path)  # its own, of which there is none: what was found is still wanted
        assert len(second.found()) == 2
        second.adopt(texts["a.md"])
        second.discard(texts["b.md"])
        assert second.found() == ()
    with opened(tmp_path) as third:
        (kept,) = third.found()
        assert kept.path == path
        third.adopt(kept)
        third.drop(path)
    with opened(tmp_path) as fourth:
        assert fourth.found() == ()
    assert list((tmp_path / "recovery").iterdir()) == []


def test_a_second_studio_is_not_taken_for_a_crashed_one(tmp_path: Path) -> None:
    with opened(tmp_path) as running, opened(tmp_path) as second:
        running.keep(tmp_path / "a.md", "text", None)
        assert second.found() == ()
        program = (
            "import sys; from pathlib import Path; from lorestudio.studio.notes.recovery import Recovery\n"
            "with Recovery(Path(sys.argv[1])) as mine: print(len(mine.found()))"
        )
        done = subprocess.run(  # noqa: S603  # our own interpreter and our own text
            [sys.executable, "-c", program, str(tmp_path / "recovery")], capture_output=True, check=True
        )
        assert done.stdout == b"0\n"
        running.keep(tmp_path / "a.md", "still works", None)
    with opened(tmp_path) as third:
        assert [one.text for one in third.found()] == ["still works"]


def test_damaged_files_are_told_and_left(tmp_path: Path) -> None:
    with opened(tmp_path) as first:
        first.keep(tmp_path / "a.md", "text", None)
        first.keep(tmp_path / "b.md", "text", None)
    damaged, _ = sorted((tmp_path / "recovery").glob("*/*.json"))
    damaged.write_bytes(b'{"path": "x", "te')
    with opened(tmp_path) as second:
        assert len(second.found()) == 1
        assert [str(damaged) in problem for problem in second.problems] == [True]
    assert damaged.exists()
    if hasattr(os, "mkfifo"):
        damaged.unlink()
        os.mkfifo(damaged)  # nobody writes into it, and nobody waits for that
        with opened(tmp_path) as third:
            assert len(third.found()) == 1
            assert [str(damaged) in problem for problem in third.problems] == [True]


def test_a_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with opened(tmp_path) as first:
        first.keep(tmp_path / "a.md", "one", None)

        def full(_: int) -> None:
            raise OSError(errno.ENOSPC, "No space left on device")

        with monkeypatch.context() as patch:
            patch.setattr(os, "fsync", full)
            with pytest.raises(SaveError, match=r"cannot be kept .*No space left on device.*Make room"):
                first.keep(tmp_path / "a.md", "two", None)
    with opened(tmp_path) as second:
        assert [one.text for one in second.found()] == ["one"]


def test_a_folder_that_goes_away_before_the_end(tmp_path: Path) -> None:
    with opened(tmp_path) as first:
        first.keep(tmp_path / "a.md", "one", None)
        shutil.rmtree(tmp_path / "recovery")
    with opened(tmp_path) as second:
        assert second.found() == ()


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "recovery").write_bytes(b"a file where the folder should be")
    with pytest.raises(SaveError, match="cannot be kept"):
        opened(tmp_path)


STUDIO = """
    import sys
    from pathlib import Path
    from lorestudio.studio.notes.recovery import Recovery
    from lorestudio.studio.notes.changes.snapshots import Snapshots
    from lorestudio.vault.writer import read_note
    note, data = Path(sys.argv[1]), Path(sys.argv[2])
    recovery, snapshots = Recovery(data / "recovery"), Snapshots(data / "history")
    text, digest = read_note(note)
    number = int(text.split()[0])
    print("ready", flush=True)
    while True:
        number += 1
        text = f"{number} " * 20_000
        recovery.keep(note, text, digest)
        digest = snapshots.save(note, text, digest)
        recovery.drop(note)
        print("saved", flush=True)
"""


@pytest.mark.long
def test_killed_in_the_middle_of_saving(tmp_path: Path) -> None:
    """The note is whole, old or new; the unsaved text is the one that was being saved; nothing else is left."""
    vault, data = tmp_path / "vault", tmp_path / "data"
    vault.mkdir()
    note = vault / "Note.md"
    note.write_text("0 " * 20_000, encoding="utf-8")
    program = textwrap.dedent(STUDIO)
    delays = random.Random(7)
    seen = set()
    for _ in range(6):
        with subprocess.Popen(  # noqa: S603  # our own interpreter and our own text
            [sys.executable, "-c", program, str(note), str(data)], stdout=subprocess.PIPE
        ) as studio:
            assert studio.stdout is not None
            assert studio.stdout.readline() == b"ready\n"
            for _ in range(delays.randint(1, 4)):
                assert studio.stdout.readline() == b"saved\n"
            time.sleep(delays.uniform(0.0, 0.02))
            studio.send_signal(signal.SIGKILL)
        words = note.read_text(encoding="utf-8").split()
        assert len(words) == 20_000
        assert len(set(words)) == 1
        number = int(words[0])
        sweep(vault, time.time())
        assert [path.name for path in vault.iterdir()] == ["Note.md"]
        with Recovery(data / "recovery") as recovery:
            for unsaved in recovery.found():
                # Saved but not dropped yet, or on its way to the disk.
                assert unsaved.path == note
                assert unsaved.text in {f"{number} " * 20_000, f"{number + 1} " * 20_000}
                seen.add(unsaved.text.split()[0] == words[0])
                recovery.discard(unsaved)
            assert recovery.problems == ()
    assert number > 6
    assert seen  # at least one kill came between keeping and dropping
    with Recovery(data / "recovery") as recovery:
        assert recovery.found() == ()
    assert list((data / "recovery").iterdir()) == []
