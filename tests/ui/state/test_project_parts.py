"""What a session does with files that were opened or written, where that fails and where something came between."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from PySide6.QtCore import QSettings

from lorestudio.domain.records import replace
from lorestudio.domain.resources import resource
from lorestudio.domain.state import ChatControls, EntryRule
from lorestudio.exchange.chats.document import ChatDocument
from lorestudio.exchange.chats.sillytavern import parse_chat
from lorestudio.studio.project.basis import basis_path
from lorestudio.studio.project.project import Project, open_project
from lorestudio.studio.project.settings import Mode
from lorestudio.studio.prompt.setup import PromptSetup
from lorestudio.studio.replay.run_store import RunStore, chat_id
from lorestudio.ui.state import project_files, project_parts
from lorestudio.vault.files import VaultError
from tests.ui.worlds import make_chat, make_project

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pytestqt.qtbot import QtBot

    from lorestudio.domain.chat import Chat
    from lorestudio.ui.shell.words import Notice
    from lorestudio.ui.state.session import Session

HEADER = {"user_name": "Wren", "character_name": "Ada"}
LINES = ({"name": "Wren", "is_user": True, "mes": "Who rings?"}, {"name": "Ada", "is_user": False, "mes": "The bell."})
PINS = ChatControls(pins=(EntryRule("Bell"),))


def write_chat(path: Path, *lines: object) -> Path:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    return path


@pytest.fixture
def session(make_session: Callable[..., Session], tmp_path: Path) -> Session:
    """A chat in a file, of which nothing is run."""
    make_project(tmp_path / "vault")
    made = make_session(replay=False)
    made.set_project(open_project([tmp_path / "vault"], write_chat(tmp_path / "chat.jsonl", HEADER, *LINES)))
    return made


@pytest.fixture
def said(session: Session) -> list[str]:
    notices: list[str] = []
    session.notice.connect(lambda notice: notices.append(notice.text))
    return notices


def ready(session: Session, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: session.jobs.idle and not session.busy)


@pytest.mark.parametrize("key", ["", "secret"])
def test_the_key_that_was_typed_for_a_vault_is_kept_before_the_vault_is_read(
    session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot, key: str
) -> None:
    done: list[object] = []
    monkeypatch.setattr(project_files, "keep_key", lambda place, typed, keys: done.append((place, typed, keys)))
    monkeypatch.setattr(project_files, "is_lorebook", lambda _place: bool(done.append("read")))
    vault = str(tmp_path / "vault")
    session.reading.open([vault], key=key)
    ready(session, qtbot)
    assert done == [*([(vault, key, session.connections.keys)] if key else []), "read"]


@pytest.mark.parametrize("broken", [False, True])
def test_the_copy_that_is_broken_on_purpose_is_another_than_the_demo(
    make_session: Callable[..., Session], tmp_path: Path, qtbot: QtBot, broken: bool
) -> None:
    session = make_session(replay=False, demo_in=tmp_path / "demo")
    (session.reading.open_practice if broken else session.reading.open_demo)()
    assert session.activity == ("Reading the broken copy…" if broken else "Reading the demo…")
    ready(session, qtbot)
    assert session.project is not None
    (root,) = session.project.roots
    assert root.parent == tmp_path / ("practice" if broken else "demo")
    assert (root / "lorestudio-expectations.yaml").exists() is broken


def test_the_broken_copy_is_made_anew_each_time(
    make_session: Callable[..., Session], tmp_path: Path, qtbot: QtBot
) -> None:
    session = make_session(replay=False, demo_in=tmp_path / "demo")
    for _ in range(2):
        session.reading.open_practice()
        ready(session, qtbot)
        assert session.project is not None
        mended = session.project.roots[0] / "mended.md"
        assert not mended.exists()
        mended.write_text("mine\n", "utf-8")
    assert (tmp_path / "practice before reset" / mended.parent.name / "mended.md").exists()


def test_of_a_demo_that_is_made_anew_no_setting_is_changed(
    make_session: Callable[..., Session], tmp_path: Path, qtbot: QtBot
) -> None:
    session = make_session(replay=False, demo_in=tmp_path / "demo")
    choices = session.choices
    choices.keep_in(QSettings(str(tmp_path / "window.ini"), QSettings.Format.IniFormat))
    again = (
        (session.reading.open_demo, {"scanDepth": 1}),
        (lambda: session.reading.open_demo(reset=True), {}),
        (session.reading.open_practice, {}),
    )
    for opened, kept in again:
        opened()
        ready(session, qtbot)
        chat = chat_id(session.project)
        choices.keep_changes(chat, "", {"scanDepth": 1})
        opened()
        ready(session, qtbot)
        assert choices.changes(chat, "") == kept


def test_one_thing_is_read_at_a_time(session: Session, qtbot: QtBot, tmp_path: Path) -> None:
    other = write_chat(tmp_path / "other.jsonl", HEADER, LINES[0])
    session.reading.open_chat(other)
    assert session.activity == "Reading other.jsonl…"
    session.reading.open_chat(tmp_path / "chat.jsonl")
    ready(session, qtbot)
    assert session.project is not None
    assert session.project.chat_path == other
    assert session.activity == ""


def test_what_cannot_be_read_is_said_and_what_is_shown_stays(
    session: Session, said: list[str], qtbot: QtBot, tmp_path: Path
) -> None:
    before, after = session.project, []
    session.reading.open([tmp_path / "vault"], tmp_path / "gone.jsonl", then=lambda: after.append(True))
    ready(session, qtbot)
    assert session.project is before
    assert len(said) == 1
    assert "gone.jsonl" in said[0]
    assert (after, session.activity) == ([], "")


def test_reading_again_keeps_what_was_changed_here_as_one_step(
    session: Session, said: list[str], qtbot: QtBot, tmp_path: Path
) -> None:
    """A message that was added here, one that came in the file, and a setting."""

    def told() -> list[str]:
        assert session.project is not None
        assert session.project.chat is not None
        return [each.text for each in session.project.chat.messages]

    assert session.project is not None
    assert session.project.chat is not None
    settings = session.project.settings
    before = replace(session.project.chat, messages=session.project.chat.messages[1:])
    session.parts.adjust("delete a message", chat=before)
    session.parts.change("fewer entries", {"max_entries": settings.max_entries + 1})
    write_chat(tmp_path / "chat.jsonl", HEADER, *LINES, {**LINES[0], "mes": "Again?"})
    session.reading.reload()
    ready(session, qtbot)
    assert (told(), said) == (["The bell.", "Again?"], [])
    assert session.project.settings.max_entries == settings.max_entries + 1
    assert session.parts.adjustments.undo_title == "what was changed before reading again"
    session.parts.undo()
    assert told() == ["Who rings?", "The bell.", "Again?"]
    assert session.project.settings.max_entries == settings.max_entries
    session.parts.redo()
    write_chat(tmp_path / "chat.jsonl", HEADER, LINES[0], {**LINES[1], "mes": "Theirs."})
    session.reading.reload()
    ready(session, qtbot)
    assert told() == ["The bell.", "Again?"]
    assert [each for each in said if "chat.jsonl was changed here and by another program." in each] == said != []


def test_why_nothing_is_read_again_is_told_and_what_is_shown_stays(
    session: Session, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[Notice] = []
    session.notice.connect(told.append)
    before = session.project
    for error, key in ((VaultError("The vault is away."), project_files.VAULT_CHANGED), (ValueError("It broke."), "")):

        def fails(_project: object, _on_read: object, error: Exception = error) -> None:
            raise error

        monkeypatch.setattr(Project, "reloaded", fails)
        session.reading.reload()
        ready(session, qtbot)
        assert (session.project, session.activity) == (before, "")
        (notice,) = told
        assert (notice.text, notice.tone, notice.key) == (str(error), "error", key)
        assert notice.actions == (("vault.reload",) if key else ())
        told.clear()


def write_marked(path: Path) -> Path:
    """A chat that says the same of itself wherever it lies."""
    return write_chat(path, {**HEADER, "chat_metadata": {"integrity": "1c2f"}}, *LINES)


@pytest.mark.parametrize("how", ["moved", "copied", "broken"])
def test_what_was_chosen_for_a_chat_goes_along_where_its_file_was_moved(
    make_session: Callable[..., Session], qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    make_project(tmp_path / "vault")
    session = make_session(replay=False, keep_in=tmp_path / "runs")
    session.choices.keep_in(QSettings(str(tmp_path / "window.ini"), QSettings.Format.IniFormat))
    said: list[str] = []
    session.notice.connect(lambda notice: said.append(notice.text))
    chat, moved = write_marked(tmp_path / "chat.jsonl"), tmp_path / "moved.jsonl"
    session.reading.open([tmp_path / "vault"], chat)
    ready(session, qtbot)
    assert session.project is not None
    old = chat_id(session.project)
    session.choices.save(old, replace(session.choice, mode=Mode.TWO_STAGE))
    runs: list[tuple[str, str]] = []

    def move(_store: object, old: str, new: str) -> None:
        runs.append((old, new))
        if how == "broken":
            raise OSError("The disk is gone.")

    monkeypatch.setattr(RunStore, "move", move)
    if how == "copied":
        write_marked(moved)
    else:
        chat.rename(moved)
    session.reading.open([tmp_path / "vault"], moved)
    ready(session, qtbot)
    assert session.project.chat_path == moved, "it is shown in any case"
    goes_along = how == "moved"
    assert (session.choice.mode is Mode.TWO_STAGE) is goes_along
    assert runs == ([] if how == "copied" else [(old, chat_id(session.project))])
    known = [f"This chat was {chat} before; it is run as it was there."] if goes_along else []
    assert said == (["The disk is gone."] if how == "broken" else known)


def test_notes_that_were_written_are_taken_in(session: Session, qtbot: QtBot, tmp_path: Path) -> None:
    before = session.project
    session.reading.notes_written([])
    assert (session.jobs.idle, session.runs.stale) == (True, "")
    bell, gone = tmp_path / "vault" / "Bell.md", tmp_path / "vault" / "Skarn.md"
    bell.write_text("---\ntags: [lorebook]\n---\nIt tolls.\n", "utf-8")
    gone.unlink()
    session.reading.notes_written([gone, bell])
    assert session.runs.stale == ("Bell.md, Skarn.md was saved after this replay. The results below are from before.")
    ready(session, qtbot)
    assert session.project is not before
    assert session.project is not None
    texts = {entry.filename: entry.content for entry in session.project.index.entries}
    assert texts["Bell.md"] == "It tolls."
    assert "Skarn.md" not in texts


def test_a_note_that_cannot_be_read_is_said(session: Session, said: list[str], qtbot: QtBot, tmp_path: Path) -> None:
    before = session.project
    (tmp_path / "vault" / "Bell.md").write_bytes(b"\xff\xfe")
    session.reading.notes_written([tmp_path / "vault" / "Bell.md"])
    ready(session, qtbot)
    assert session.project is before
    assert len(said) == 1
    assert "Bell.md" in said[0]


def test_a_chat_that_is_in_no_file_begins_without_what_was_chosen_for_the_one_before(session: Session) -> None:
    session.parts.adjust("pin Bell", controls=PINS)
    session.parts.begin_chat(make_chat(), ChatDocument())
    now = session.project
    assert now is not None
    assert (now.chat, now.chat_path, now.controls) == (make_chat(), None, ChatControls())
    assert session.parts.adjustments.undo_title == ""


def test_a_saved_chat_stands_in_its_file(session: Session, tmp_path: Path) -> None:
    session.parts.adjust("pin Bell", controls=PINS)
    project, parts = session.project, session.parts
    assert project is not None
    assert project.chat is not None
    assert parts.on_disk is not None
    assert parts.on_disk.controls == ChatControls()
    parts.chat_saved(tmp_path / "new.jsonl", ChatDocument(), project.chat, PINS)
    assert session.project is not None
    assert session.project.chat_path == tmp_path / "new.jsonl"
    assert (parts.on_disk.controls, parts.on_disk.chat) == (PINS, project.chat)
    assert parts.adjustments.undo_title == "pin Bell", "saving takes no step back"


@pytest.mark.parametrize(
    ("lines", "taken"), [(LINES, True), ((LINES[0], {**LINES[1], "mes": "Somebody else's."}), False)]
)
@pytest.mark.parametrize("changed", [False, True])
def test_a_written_header_is_taken_in_unless_somebody_else_wrote_too(
    session: Session, tmp_path: Path, lines: tuple[object, ...], taken: bool, changed: bool
) -> None:
    project = session.project
    assert project is not None
    assert project.chat is not None
    before = project.chat
    if changed:
        session.parts.adjust("delete a message", chat=replace(before, messages=before.messages[:1]))
    written = write_chat(tmp_path / "chat.jsonl", {**HEADER, "chat_metadata": {"note": "new"}}, *lines)
    told: list[bool] = []
    session.state_changed.connect(lambda: told.append(True))
    session.parts.header_saved(parse_chat(written.read_text("utf-8"), written))
    assert told == [True] * taken
    now, disk = session.project, session.parts.on_disk
    assert now is not None
    assert now.chat is not None
    assert disk is not None
    assert disk.chat is not None
    assert ("note" in now.chat.metadata) is taken
    assert ("note" in disk.chat.metadata) is taken
    assert (len(now.chat.messages), len(disk.chat.messages)) == (1 if changed else 2, 2)
    assert (now.chat is disk.chat) is not changed


@pytest.mark.parametrize("alters", [False, True])
def test_a_chat_that_a_feature_wrote_is_shown_and_run_again_only_where_that_alters_runs(
    session: Session, alters: bool
) -> None:
    project = session.project
    assert project is not None
    assert project.chat is not None
    renewed: list[str] = []
    session.project_replaced.connect(lambda _before, _after, why: renewed.append(why))

    def carried(old: Chat, _before: Chat, written: Chat) -> Chat:
        return replace(old, metadata=written.metadata)

    def write(chat: Chat) -> None:
        session.parts.file_written(chat, ChatDocument(), "It was written.", carried, lambda _old, _new: alters)

    written = replace(project.chat, metadata={"note": "new"})
    write(replace(written, messages=written.messages[:1]))  # somebody else wrote, too
    assert session.project is project
    write(written)
    assert session.project.chat == written
    assert session.parts.on_disk is not None
    assert session.parts.on_disk.chat is session.project.chat
    assert renewed == (["It was written."] if alters else [])


def test_without_a_project_there_is_nothing_to_change(make_session: Callable[..., Session], tmp_path: Path) -> None:
    session: Any = make_session(replay=False)
    parts = session.parts
    parts.adjust("pin Bell", controls=PINS)
    parts.count_with("cl100k_base")
    parts.undo()
    parts.begin_chat(make_chat(), ChatDocument())
    parts.saved(controls=PINS)
    parts.settings_saved({"max_entries": 3})
    parts.change("fewer entries", {"max_entries": 3})
    parts.take_setup(PromptSetup())
    session.reading.open_chat(tmp_path / "chat.jsonl")
    session.reading.follow()
    session.reading.reload()
    session.reading.notes_written([tmp_path / "Bell.md"])
    assert (session.project, parts.on_disk, session.busy, session.jobs.idle) == (None, None, False, True)
    assert parts.adjustments.undo_title == ""


def test_a_tokenizer_that_is_not_there_is_said(session: Session, said: list[str], qtbot: QtBot, tmp_path: Path) -> None:
    before = session.project
    session.parts.count_with(str(tmp_path / "gone.json"))
    assert session.activity == "Counting 5 notes…"
    ready(session, qtbot)
    assert session.project is before
    assert len(said) == 1
    assert session.activity == ""


def test_what_answers_rest_on_is_kept_beside_the_chat_but_not_in_the_program(
    session: Session, said: list[str], qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept: list[Path] = []

    def keep(path: Path, _basis: object) -> None:
        kept.append(path)
        raise OSError("the disk is full")

    monkeypatch.setattr(project_parts, "keep_basis", keep)
    own = tmp_path / "chat.jsonl"
    for path in (resource("demo") / "chat.jsonl", own):
        session.set_project(replace(make_project(tmp_path / "vault"), chat_path=path))
        assert session.project is not None
        session.parts.adjust("hidden", basis=session.project.basis.saying(1, 1, 2))
        qtbot.waitUntil(lambda: session.jobs.idle and not session.busy)
        assert session.project.basis.hidden, "it holds anyway"
    assert [path.parent for path in kept] == [tmp_path]
    assert [text.rstrip(".") for text in said] == ["the disk is full"]


def test_tokens_that_were_counted_for_another_vault_are_not_taken(
    session: Session, qtbot: QtBot, tmp_path: Path
) -> None:
    make_project(tmp_path / "other")
    session.parts.count_with("")
    other = open_project([tmp_path / "other"])
    session.set_project(other)
    ready(session, qtbot)
    assert session.project == other
    assert session.activity == ""


def test_tokens_are_counted_again_where_notes_were_taken_in_meanwhile(
    session: Session, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    newer = open_project([tmp_path / "vault"], tmp_path / "chat.jsonl")
    counted: list[str] = []
    known = type(session.project).with_tokenizer
    monkeypatch.setattr(
        type(session.project), "with_tokenizer",
        lambda project, tokenizer: counted.append(tokenizer) or known(project, tokenizer),
    )  # fmt: skip
    session.parts.count_with("")
    session.set_project(newer)
    ready(session, qtbot)
    assert counted == ["", ""]
    assert session.activity == ""


def test_without_a_chat_nothing_is_taken_of_its_file(make_session: Callable[..., Session], tmp_path: Path) -> None:
    session = make_session(replay=False)
    written = write_chat(tmp_path / "chat.jsonl", HEADER, *LINES)
    loaded = parse_chat(written.read_text("utf-8"), written)
    for project in (None, make_project(tmp_path / "vault", chat=False)):
        if project is not None:
            session.set_project(project)
        before = session.project
        session.parts.header_saved(loaded)
        session.parts.file_written(loaded.chat, loaded.document, "", lambda old, _before, _now: old, lambda *_: True)
        session.parts.chat_saved(written, loaded.document, loaded.chat, PINS)
        session.parts.undo()
        session.parts.redo()
        assert session.project is before


def test_what_answers_rest_on_goes_along_to_the_file_that_a_chat_is_saved_to(
    session: Session, qtbot: QtBot, tmp_path: Path
) -> None:
    other = tmp_path / "other.jsonl"
    project = session.project
    assert project is not None
    assert project.chat is not None
    session.parts.chat_saved(other, ChatDocument(), project.chat, project.controls)
    ready(session, qtbot)
    assert not basis_path(other).exists()  # nobody has said anything
    session.parts.adjust("hidden", basis=project.basis.saying(0, 0, 1))
    ready(session, qtbot)
    kept = basis_path(other).read_bytes()
    third = tmp_path / "third.jsonl"
    assert session.project is not None
    assert session.project.chat is not None
    session.parts.chat_saved(third, ChatDocument(), session.project.chat, project.controls)
    ready(session, qtbot)
    assert basis_path(third).read_bytes() == kept


def test_settings_that_were_read_for_another_vault_are_not_taken(
    session: Session, qtbot: QtBot, tmp_path: Path
) -> None:
    make_project(tmp_path / "other")
    project = session.project
    assert project is not None
    session.parts.adjust("another tag", settings=project.settings.model_copy(update={"lorebook_tag": "other"}))
    other = open_project([tmp_path / "other"])
    session.set_project(other)
    ready(session, qtbot)
    assert session.project == other


def test_settings_that_decide_how_notes_are_read_are_taken_once_they_were(
    session: Session, qtbot: QtBot, tmp_path: Path
) -> None:
    project = session.project
    assert project is not None
    assert len(project.index.entries) == 5
    session.parts.adjust("another tag", settings=project.settings.model_copy(update={"lorebook_tag": "other"}))
    assert session.project is project
    ready(session, qtbot)
    assert session.project.index.entries == ()
    assert session.project.settings.lorebook_tag == "other"
    session.parts.undo()
    ready(session, qtbot)
    assert len(session.project.index.entries) == 5
