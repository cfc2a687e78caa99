"""What was typed and not saved is found again after the window was killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from lorestudio.studio.notes.recovery import Recovery
from tests.digests import digest

ROOT = Path(__file__).resolve().parents[4]

_TYPING = """
import sys
from pathlib import Path
from PySide6.QtCore import QSettings, QTimer
from lorestudio.studio.project.project import open_project
from lorestudio.ui.shell import app as ui_app
from lorestudio.ui.shell.main_window import MainWindow
from lorestudio.ui.state.session import Session
from lorestudio.ui.shell.theme import Theme

app = ui_app.application(offscreen=True)
vault, notes = Path(sys.argv[1]), Path(sys.argv[2])
session = Session()
window = MainWindow(session, Theme("light"), QSettings(str(notes.parent / "w.ini"), QSettings.Format.IniFormat))
window.keep_notes_safe(notes)
session.set_project(open_project([vault]))
window.show()
window.context.selection.choose_entry(0)

def look():
    entry = window.features.notes.pane
    buffer = entry.editor.buffer
    if buffer is not None and not buffer.dirty:
        entry.source.moveCursor(entry.source.textCursor().MoveOperation.End)
        entry.source.insertPlainText("precious")
    if list(notes.glob("recovery/*/*.json")):
        print("kept", flush=True)

timer = QTimer()
timer.timeout.connect(look)
timer.start(50)
app.exec()
"""


@pytest.mark.long
@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
def test_a_killed_window_leaves_the_text(tmp_path: Path) -> None:
    note = tmp_path / "vault" / "Skarn.md"
    note.parent.mkdir()
    note.write_bytes(b"---\r\ntags: [lorebook]\r\n---\r\nA dragon.\r\n")
    before = note.read_bytes()
    command = [sys.executable, "-c", _TYPING, str(note.parent), str(tmp_path / "notes")]
    env = {**os.environ, "QT_QPA_PLATFORM": "offscreen", "PYTHONPATH": str(ROOT), "HOME": str(tmp_path)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=env) as run:  # noqa: S603  # our own program
        assert run.stdout is not None
        assert run.stdout.readline().strip() == b"kept"
        run.send_signal(signal.SIGKILL)
    assert note.read_bytes() == before
    with Recovery(tmp_path / "notes" / "recovery") as copies:
        (found,) = copies.found()
        assert found.path == note
        assert found.text == before.decode() + "precious"
        assert found.digest == digest(note)
