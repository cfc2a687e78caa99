"""Vaults that the window opens from the cache and follows, in folders and behind Obsidian's plugin."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication, QDialog, QLabel, QLineEdit, QPushButton

from lorestudio.domain.chat import Generation
from lorestudio.domain.records import replace
from lorestudio.studio.project.answering import Connections, Keys
from lorestudio.studio.project.places import KEY_VARIABLE
from lorestudio.studio.project.project import open_project
from lorestudio.studio.replay.runs import TraceBook
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.ui.state import project_files
from lorestudio.ui.state.session import Session
from tests.ui.worlds import MemoryKeyring, make_chat, make_project, make_trace
from tests.vault.obsidian_server import KEY, ObsidianServer, running


def write(folder: Path, title: str, text: str = "It is shut.") -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / f"{title}.md"
    path.write_text(f"---\ntags: [lorebook]\nkeys: [{title}]\n---\n# {title}\n{text}\n", encoding="utf-8")
    return path


def titles(session: Session) -> list[str]:
    return [entry.title for entry in session.project.index.entries] if session.project is not None else []


@pytest.fixture
def cached(make_session, tmp_path):
    """Sessions that share one cache."""

    def make() -> Session:
        return make_session(cache_file=tmp_path / "vaults.sqlite")

    return make


def test_a_vault_is_shown_from_the_cache_and_then_as_it_is_on_disk(cached, qtbot, tmp_path):
    write(tmp_path / "vault", "Gate")
    first = cached()
    first.reading.open([tmp_path / "vault"])
    qtbot.waitUntil(lambda: titles(first) == ["Gate"])
    first.close()

    write(tmp_path / "vault", "Wall")
    second = cached()
    shown = []
    second.project_changed.connect(lambda: shown.append(titles(second)))
    second.reading.open([tmp_path / "vault"])
    qtbot.waitUntil(lambda: titles(second) == ["Gate", "Wall"])
    assert shown == [["Gate"], ["Gate", "Wall"]]
    assert second.runs.stale == ""


def write_chat(path: Path) -> Path:
    lines = [
        {"chat_metadata": {}},
        {"name": "Ada", "is_user": True, "mes": "The tower?"},
        {"name": "Bo", "mes": "Yes."},
    ]
    path.write_text("\n".join(json.dumps(line) for line in lines), encoding="utf-8")
    return path


def test_a_change_on_disk_is_said_and_taken_in_when_asked(make_window, qtbot, tmp_path):
    write(tmp_path / "vault", "Gate")
    window = make_window(cache_file=tmp_path / "vaults.sqlite", make_simulator=Simulator)
    session = window.session
    session.reading.open([tmp_path / "vault"], write_chat(tmp_path / "chat.jsonl"))
    qtbot.waitUntil(lambda: bool(session.runs.traces) and not session.busy)
    qtbot.wait(300)  # the watcher has to stand before there is anything to see
    for title, told in (("Wall", "1 added (Wall)"), ("Attic", "2 added (Attic, Wall)")):
        write(tmp_path / "vault", title)
        qtbot.waitUntil(lambda title=title: title in session.runs.stale, timeout=15_000)
        assert titles(session) == ["Gate"]
        assert window.bars.texts == [f"The vault has changed on disk: {told}."]
    session.parts.adjust("Depth", settings=session.project.settings.model_copy(update={"scan_depth": 7}))
    qtbot.waitUntil(lambda: not session.busy)
    qtbot.waitUntil(lambda: not session.busy)
    assert len(window.bars.texts) == 1, "another setting reads no note"
    next(each for each in window.bars.findChildren(QPushButton) if each.text() == "Reload from disk").click()
    qtbot.waitUntil(lambda: titles(session) == ["Attic", "Gate", "Wall"])
    assert (session.runs.stale, window.bars.texts) == ("", [])


@pytest.mark.always
def test_who_wants_it_so_sees_what_changes_on_disk_in_the_runs_at_once(make_window, qtbot, tmp_path):
    gate = write(tmp_path / "vault", "Gate")
    window = make_window(cache_file=tmp_path / "vaults.sqlite", make_simulator=Simulator)
    session = window.session

    def injected() -> list[str]:
        trace = session.runs.trace(session.generations[-1])
        return [each.title for each in trace.injections] if trace is not None and not session.runs.stale else []

    session.reading.open([tmp_path / "vault"], write_chat(tmp_path / "chat.jsonl"))
    qtbot.waitUntil(lambda: bool(session.runs.traces) and not session.busy)
    qtbot.wait(300)  # the watcher has to stand before there is anything to see
    write(tmp_path / "vault", "Tower")
    qtbot.waitUntil(lambda: "Tower" in session.runs.stale, timeout=15_000)
    session.parts.adjust("Depth", settings=session.project.settings.model_copy(update={"scan_depth": 7}))
    assert session.busy, "also while the chat is run"
    next(each for each in window.bars.findChildren(QPushButton) if each.text() == "Always reload at once").click()
    qtbot.waitUntil(lambda: not session.busy and injected() == ["Tower"], timeout=15_000)
    assert window.bars.texts == []
    gate.write_text(gate.read_text("utf-8").replace("keys: [Gate]", "keys: [Gate, Yes]"), "utf-8")
    qtbot.waitUntil(lambda: not session.busy and injected() == ["Gate", "Tower"], timeout=15_000)
    assert window.bars.texts == []
    assert window.statusBar().currentMessage() == "The vault has changed on disk: 1 with other keys (Gate)."
    session.reading.unsaved = lambda: [gate]
    gate.unlink()
    qtbot.waitUntil(lambda: "Gate" in session.runs.stale, timeout=15_000)
    assert [each.text() for each in window.bars.findChildren(QPushButton)] == ["Reload from disk"]
    session.reading.unsaved = list
    assert make_window().commands.actions["vault.at_once"].isChecked(), "another window is the same person's"
    window.run("vault.reload")
    qtbot.waitUntil(lambda: not session.busy and injected() == ["Tower"], timeout=15_000)
    window.run("vault.at_once")
    write(tmp_path / "vault", "Wall")
    qtbot.waitUntil(lambda: "Wall" in session.runs.stale, timeout=15_000)
    assert titles(session) == ["Tower"]


@pytest.mark.always
def test_a_change_that_is_taken_back_on_disk_is_said_no_more(make_window, qtbot, tmp_path):
    write(tmp_path / "vault", "Gate")
    window = make_window(cache_file=tmp_path / "vaults.sqlite", make_simulator=Simulator)
    session = window.session
    session.reading.open([tmp_path / "vault"], write_chat(tmp_path / "chat.jsonl"))
    qtbot.waitUntil(lambda: bool(session.runs.traces) and not session.busy)
    qtbot.wait(300)  # the watcher has to stand before there is anything to see

    def out_of_date() -> bool:
        return any("out of date" in each.text() for each in window.context.status.findChildren(QLabel))

    wall = write(tmp_path / "vault", "Wall")
    qtbot.waitUntil(lambda: "Wall" in session.runs.stale, timeout=15_000)
    assert out_of_date()
    wall.unlink()
    qtbot.waitUntil(lambda: window.bars.texts == [], timeout=15_000)
    assert (session.runs.stale, out_of_date()) == ("", False)
    window.run("vault.at_once")
    assert titles(session) == ["Gate"], "nothing waits any more"


def test_without_a_run_a_change_on_disk_is_taken_in_and_what_is_looked_at_stays(make_window, qtbot, tmp_path):
    write(tmp_path / "vault", "Gate")
    window = make_window(cache_file=tmp_path / "vaults.sqlite")
    session = window.session
    session.reading.open([tmp_path / "vault"])
    qtbot.waitUntil(lambda: titles(session) == ["Gate"] and session.jobs.idle)
    window.selection.choose_entry(0)
    looked_at = []
    window.selection.entry_changed.connect(lambda: looked_at.append(window.selection.entry))
    qtbot.wait(300)
    write(tmp_path / "vault", "Attic")
    qtbot.waitUntil(lambda: titles(session) == ["Attic", "Gate"], timeout=15_000)
    assert looked_at == [1], "the same note by its new number, and nothing between"
    assert (session.runs.stale, window.bars.texts) == ("", [])


@pytest.mark.always
@pytest.mark.parametrize("renamed", [False, True])
def test_a_note_that_goes_on_disk_stays_with_its_unsaved_text(make_window, qtbot, tmp_path, renamed: bool):
    path = write(tmp_path / "vault", "Gate")
    write(tmp_path / "vault", "Wall")
    window = make_window(cache_file=tmp_path / "vaults.sqlite")
    session, pane = window.session, window.entry
    session.reading.open([tmp_path / "vault"])
    qtbot.waitUntil(lambda: titles(session) == ["Gate", "Wall"] and session.jobs.idle)
    window.selection.choose_entry(0)
    qtbot.waitUntil(lambda: pane.editor.buffer is not None and session.jobs.idle)
    pane.editor.body.insertPlainText("An hour of work. ")
    qtbot.waitUntil(lambda: path in window.context.drafts.all)
    qtbot.wait(300)  # the watcher has to stand before there is anything to see
    if renamed:
        path.rename(path.with_name("Door.md"))
    else:
        path.unlink()
    gone = "is “Door.md” now" if renamed else "not on disk any more"
    qtbot.waitUntil(lambda: gone in pane.bar.label.text(), timeout=15_000)
    assert (pane.path, pane.bar.isVisible()) == (path, True)
    told = "1 moved (Gate)" if renamed else "1 removed (Gate)"
    assert window.bars.texts == [f"The vault has changed on disk: {told}."]
    next(each for each in window.bars.findChildren(QPushButton) if each.text() == "Reload from disk").click()
    qtbot.waitUntil(lambda: any("Nothing was read again: Gate.md" in text for text in window.bars.texts))
    qtbot.waitUntil(lambda: gone in pane.bar.label.text())
    assert (pane.path, list(window.context.drafts.all)) == (path, [path])
    next(each for each in pane.bar.findChildren(QPushButton) if each.text() == "Write it again").click()
    qtbot.waitUntil(lambda: not window.context.drafts.all and session.jobs.idle)
    assert "An hour of work. " in path.read_text(encoding="utf-8")
    assert pane.path == path


@pytest.mark.always
def test_an_unsaved_text_goes_on_in_the_file_that_another_program_renamed(make_window, qtbot, tmp_path):
    path = write(tmp_path / "vault", "Gate")
    window = make_window(cache_file=tmp_path / "vaults.sqlite")
    session, pane, now = window.session, window.entry, tmp_path / "vault" / "house" / "Door.md"
    session.reading.open([tmp_path / "vault"])
    qtbot.waitUntil(lambda: titles(session) == ["Gate"] and session.jobs.idle)
    window.selection.choose_entry(0)
    qtbot.waitUntil(lambda: pane.editor.buffer is not None and session.jobs.idle)
    pane.editor.body.insertPlainText("An hour of work. ")
    qtbot.waitUntil(lambda: path in window.context.drafts.all)
    qtbot.wait(300)
    now.parent.mkdir()
    path.rename(now)
    qtbot.waitUntil(lambda: "is “Door.md” now" in pane.bar.label.text(), timeout=15_000)
    next(each for each in pane.bar.findChildren(QPushButton) if each.text() == "Go on there").click()
    qtbot.waitUntil(lambda: pane.path == now and session.jobs.idle and not session.busy)
    assert list(window.context.drafts.all) == [now]
    window.run("entry.save")
    qtbot.waitUntil(lambda: not window.context.drafts.all and session.jobs.idle)
    assert "An hour of work. " in now.read_text(encoding="utf-8")
    assert not path.exists()


@pytest.mark.always
@pytest.mark.parametrize("copied", [False, True])
def test_an_open_note_follows_its_file_to_its_new_name_also_where_a_run_rests_on_it(
    make_window, qtbot, tmp_path, copied: bool
):
    path, wall = write(tmp_path / "vault", "Gate"), write(tmp_path / "vault", "Wall", "See [[Gate]].")
    if copied:  # what was there before is another note
        (tmp_path / "vault" / "Zoo.md").write_bytes(path.read_bytes())
    window = make_window(cache_file=tmp_path / "vaults.sqlite", make_simulator=Simulator)
    session, pane, new = window.session, window.entry, tmp_path / "vault" / "house" / "Door.md"
    session.reading.open([tmp_path / "vault"], write_chat(tmp_path / "chat.jsonl"))
    qtbot.waitUntil(lambda: bool(session.runs.traces) and not session.busy and session.jobs.idle)
    window.selection.choose_entry(0)
    qtbot.waitUntil(lambda: pane.editor.buffer is not None and session.jobs.idle)
    buffer = pane.editor.buffer
    pane.editor.body.insertPlainText("Well. ")
    pane.editor.undo()
    qtbot.wait(300)
    wall.write_text(wall.read_text(encoding="utf-8").replace("[[Gate]]", "[[Door]]"), encoding="utf-8")
    new.parent.mkdir()
    path.rename(new)
    qtbot.waitUntil(lambda: pane.path == new and session.jobs.idle and not session.busy, timeout=15_000)
    assert (pane.editor.buffer, pane.bar.isHidden()) == (buffer, True)
    assert (window.bars.texts, session.runs.stale) == ([], "")
    assert session.note_path(window.selection.note_of(session)) == new
    assert [each.filename for each in session.project.index.notes if "Zoo" not in each.filename] == [
        "Wall.md", "house/Door.md"
    ]  # fmt: skip
    assert "See Door." in session.project.index.note(("vault", "Wall.md")).content
    buffer.document.redo()
    window.run("entry.save")
    qtbot.waitUntil(lambda: not window.context.drafts.all and session.jobs.idle)
    assert ("Well. " in new.read_text(encoding="utf-8"), path.exists()) == (True, False)


@pytest.mark.always
def test_an_open_note_whose_file_is_gone_is_not_taken_for_a_copy_that_lay_there_before(make_window, qtbot, tmp_path):
    path = write(tmp_path / "vault", "Gate")
    (tmp_path / "vault" / "Zoo.md").write_bytes(path.read_bytes())
    window = make_window(cache_file=tmp_path / "vaults.sqlite", make_simulator=Simulator)
    session, pane = window.session, window.entry
    session.reading.open([tmp_path / "vault"], write_chat(tmp_path / "chat.jsonl"))
    qtbot.waitUntil(lambda: bool(session.runs.traces) and not session.busy and session.jobs.idle)
    window.selection.choose_entry(0)
    qtbot.waitUntil(lambda: pane.editor.buffer is not None and session.jobs.idle)
    path.unlink()
    pane.store.check(path)
    qtbot.waitUntil(lambda: "not on disk any more" in pane.bar.label.text())
    assert pane.path == path


@pytest.mark.always
@pytest.mark.parametrize("name", ["Door.md", "house/Gate.md"])
def test_a_note_that_another_program_renames_is_looked_at_under_its_new_name(make_window, qtbot, tmp_path, name: str):
    path = write(tmp_path / "vault", "Gate")
    path.write_text(path.read_text(encoding="utf-8").replace("# Gate\n", ""), encoding="utf-8")
    write(tmp_path / "vault", "Wall")
    window = make_window(cache_file=tmp_path / "vaults.sqlite")
    session, pane = window.session, window.entry
    session.reading.open([tmp_path / "vault"])
    qtbot.waitUntil(lambda: titles(session) == ["Gate", "Wall"] and session.jobs.idle)
    window.selection.choose_entry(1)
    window.selection.choose_entry(0)
    qtbot.waitUntil(lambda: pane.editor.buffer is not None and session.jobs.idle)
    qtbot.wait(300)
    (path.parent / name).parent.mkdir(exist_ok=True)
    path.rename(path.parent / name)
    qtbot.waitUntil(lambda: pane.path == path.parent / name, timeout=15_000)
    assert window.history.can_go_back
    window.history.back()
    assert pane.path == tmp_path / "vault" / "Wall.md"


def test_a_project_that_was_read_already_is_followed(cached, qtbot, tmp_path):
    path = write(tmp_path / "vault", "Gate")
    session = cached()
    session.set_project(open_project([tmp_path / "vault"]))
    session.reading.follow()
    qtbot.waitUntil(lambda: session.jobs.idle)
    qtbot.wait(300)
    assert "open" not in session.project.index.entries[0].content
    path.write_text(path.read_text(encoding="utf-8") + "It is open.\n", encoding="utf-8")
    qtbot.waitUntil(lambda: "open" in session.project.index.entries[0].content, timeout=15_000)


def test_what_changes_while_something_is_read_waits_also_for_who_wants_it_at_once(cached, qtbot, tmp_path):
    write(tmp_path / "vault", "Gate")
    session = cached()
    session.reading.open([tmp_path / "vault"])
    qtbot.waitUntil(lambda: titles(session) == ["Gate"] and session.jobs.idle)
    qtbot.wait(300)
    session.reading.take_at_once(at_once=True)
    session.set_activity("Reading another vault…")
    write(tmp_path / "vault", "Attic")
    qtbot.waitUntil(lambda: "Attic" in session.runs.stale, timeout=15_000)
    assert titles(session) == ["Gate"]
    session.set_activity("")
    session.reading.take_at_once(at_once=True)
    assert titles(session) == ["Attic", "Gate"]


def test_what_waits_of_a_vault_is_forgotten_with_its_project(cached, qtbot, tmp_path):
    write(tmp_path / "vault", "Gate")
    write(tmp_path / "other", "Moor")
    session = cached()
    session.set_project(open_project([tmp_path / "vault"]))
    session.reading.follow()
    qtbot.waitUntil(lambda: session.jobs.idle)
    qtbot.wait(300)
    session.set_activity("Reading another vault…")
    write(tmp_path / "vault", "Attic")
    qtbot.waitUntil(lambda: "Attic" in session.runs.stale, timeout=15_000)
    session.set_activity("")
    before = session.project
    session.set_project(open_project([tmp_path / "other"]))
    (tmp_path / "vault" / "Attic.md").unlink()
    session.set_project(before)
    session.reading.take_at_once(at_once=True)
    assert titles(session) == ["Gate"], "the note that was told of is gone"


def test_another_vault_that_was_read_already_is_followed_in_place_of_the_one_before(
    cached, qtbot, tmp_path, monkeypatch
):
    write(tmp_path / "vault", "Gate")
    write(tmp_path / "demo", "Moor")
    monkeypatch.setattr(project_files, "demo_project", lambda *_where, **_reset: open_project([tmp_path / "demo"]))
    session = cached()
    session.reading.open([tmp_path / "vault"])
    qtbot.waitUntil(lambda: titles(session) == ["Gate"])
    session.reading.open_demo()
    qtbot.waitUntil(lambda: titles(session) == ["Moor"])
    qtbot.wait(300)
    write(tmp_path / "demo", "Wall")
    qtbot.waitUntil(lambda: titles(session) == ["Moor", "Wall"], timeout=15_000)


def test_a_vault_that_is_not_there_is_told_and_the_one_before_stays(cached, qtbot, tmp_path):
    write(tmp_path / "vault", "Gate")
    session = cached()
    notices = []
    session.notice.connect(notices.append)
    session.reading.open([tmp_path / "vault"])
    qtbot.waitUntil(lambda: titles(session) == ["Gate"])
    session.reading.open([tmp_path / "nowhere"])
    qtbot.waitUntil(lambda: any(notice.tone == "error" for notice in notices))
    assert any("nowhere" in notice.text for notice in notices if notice.tone == "error")
    assert titles(session) == ["Gate"]
    assert session.activity == ""


@pytest.mark.long
def test_obsidian_is_opened_by_its_address_and_the_key_is_kept(make_window, qtbot, tmp_path, monkeypatch):
    monkeypatch.delenv(KEY_VARIABLE, raising=False)
    keyring = MemoryKeyring()
    connections = Connections(tmp_path / "profiles.json", Keys(keyring, {}))
    window = make_window(cache_file=tmp_path / "vaults.sqlite", connections=connections)
    with running(ObsidianServer()) as server:
        server.write(gate="---\ntags: [lorebook]\nkeys: [gate]\n---\n# The Gate\nIt is shut.")
        place = f"http://127.0.0.1:{server.port}/World"
        for key in (KEY, ""):  # the second time it is known
            window.commands.actions["vault.open_obsidian"].trigger()
            dialog = next(widget for widget in QApplication.topLevelWidgets() if isinstance(widget, QDialog))
            address, secret = dialog.findChildren(QLineEdit)
            assert secret.echoMode() is QLineEdit.EchoMode.Password
            address.setText(place)
            secret.setText(key)
            dialog.accept()
            qtbot.waitUntil(lambda: titles(window.session) == ["The Gate"] and window.session.jobs.idle)
            assert window.session.project is not None
            assert window.session.project.places == (place,)
        window.session.close()
    assert KEY in keyring.kept.values()


@pytest.mark.long
def test_what_is_saved_is_taken_in_and_run_at_once(make_window, qtbot, tmp_path):
    folder = tmp_path / "vault"
    path, _other = write(folder, "Gate"), write(folder, "Wall")
    chat = write_chat(tmp_path / "chat.jsonl")
    window = make_window(make_simulator=Simulator)
    session = window.session
    session.set_project(open_project([folder], chat))
    qtbot.waitUntil(lambda: not session.busy and session.jobs.idle)
    shown = window.selection.generation
    assert [injection.entry for injection in session.runs.trace(shown).injections] == []
    window.selection.choose_entry(1)
    path.write_text(path.read_text(encoding="utf-8").replace("[Gate]", "[tower]"), encoding="utf-8")
    write(folder, "Attic")
    session.reading.notes_written([path, folder / "Attic.md"])
    qtbot.waitUntil(lambda: titles(session) == ["Attic", "Gate", "Wall"])
    qtbot.waitUntil(lambda: not session.busy and session.jobs.idle)
    assert window.selection.generation == shown
    assert session.entry(window.selection.entry).title == "Wall"  # its number is another one now
    assert [session.entry(one.entry).title for one in session.runs.trace(shown).injections] == ["Gate"]
    assert session.runs.outdated(shown) == ""
    path.unlink()
    session.reading.notes_written([path])
    qtbot.waitUntil(lambda: titles(session) == ["Attic", "Wall"])


def test_older_results_stay_in_sight_until_there_are_new_ones(make_window, qtbot, tmp_path):
    path = write(tmp_path / "vault", "Gate")
    window = make_window(make_project(), replay=False)
    session = window.session
    project = open_project([tmp_path / "vault"])
    session.set_project(replace(project, chat=make_chat()))
    trace = make_trace()
    session.runs.traces = TraceBook({Generation(5): trace})
    path.write_text(path.read_text(encoding="utf-8") + "It is open.\n", encoding="utf-8")
    session.reading.notes_written([path])
    qtbot.waitUntil(lambda: session.project.vault_state is not project.vault_state)
    assert session.runs.trace(Generation(5)) is trace
    assert "saved after this run" in session.runs.outdated(Generation(5))


def following(session: Session) -> int:
    """How many sets of vaults are followed."""
    return sum(job.standing for job in session.jobs._running)


def test_one_set_of_vaults_is_followed_at_a_time_and_none_after_closing(cached, qtbot, tmp_path):
    write(tmp_path / "vault", "Gate")
    write(tmp_path / "other", "Wall")
    session = cached()
    session.reading.follow()
    assert following(session) == 0  # nothing is shown
    session.set_project(make_project())
    session.reading.follow()
    assert following(session) == 0  # a project without a place of its own
    session.set_project(open_project([tmp_path / "vault"]))
    for _ in range(2):
        session.reading.follow()
        assert following(session) == 1
    session.reading.follow_anew()
    qtbot.waitUntil(lambda: following(session) == 1 and not session.busy)
    session.reading.open([tmp_path / "other"])
    qtbot.waitUntil(lambda: titles(session) == ["Wall"])
    qtbot.waitUntil(lambda: following(session) == 1)
    qtbot.wait(300)
    write(tmp_path / "other", "Attic")
    qtbot.waitUntil(lambda: titles(session) == ["Attic", "Wall"], timeout=15_000)
    session.close()
    assert following(session) == 0


def test_what_cannot_be_opened_is_followed_no_more(cached, qtbot, tmp_path):
    session = cached()
    notices = []
    session.notice.connect(notices.append)
    session.reading.open([tmp_path / "nowhere"])
    qtbot.waitUntil(lambda: not session.busy)
    assert [notice.tone for notice in notices] == ["error"]
    qtbot.waitUntil(lambda: following(session) == 0)
    write(tmp_path / "vault", "Gate")
    session.reading.open([tmp_path / "vault"], tmp_path / "nowhere.jsonl")
    qtbot.waitUntil(lambda: not session.busy)
    assert [notice.tone for notice in notices] == ["error"] * 2
    qtbot.waitUntil(lambda: following(session) == 0)


def test_news_of_vaults_that_are_only_being_opened_are_not_lost(cached, qtbot, tmp_path, monkeypatch):
    write(tmp_path / "vault", "Gate")
    first = cached()
    first.reading.open([tmp_path / "vault"])
    qtbot.waitUntil(lambda: titles(first) == ["Gate"] and first.jobs.idle)
    first.close()
    write(tmp_path / "vault", "Wall")
    second, real = cached(), project_files.assembled

    def slowly(*arguments, **options):
        time.sleep(0.6)  # the comparison with the disk is told meanwhile
        return real(*arguments, **options)

    monkeypatch.setattr(project_files, "assembled", slowly)
    second.reading.open([tmp_path / "vault"])
    qtbot.waitUntil(lambda: titles(second) == ["Gate", "Wall"])
