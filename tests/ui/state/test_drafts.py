"""While somebody types, the reply that is looked at is shown as it would be with the unsaved text."""

from __future__ import annotations

import json

import pytest
from PySide6.QtGui import QTextCursor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel

from lorestudio.studio.project.project import open_project
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.ui.features.notes.pane import SOURCE
from lorestudio.ui.state.drafts import Draft, Drafts


@pytest.fixture
def window(make_window, qtbot, tmp_path):
    folder = tmp_path / "vault"
    folder.mkdir()
    for title, key in (("Gate", "gate"), ("Tower", "spire")):
        text = f"---\ntags: [lorebook]\nkeys: [{key}]\n---\n# {title}\nIt is of stone.\n"
        (folder / f"{title}.md").write_text(text, encoding="utf-8")
    chat = tmp_path / "chat.jsonl"
    lines = [{}, {"name": "Ada", "is_user": True, "mes": "The gate and the tower?"}, {"name": "Bo", "mes": "Yes."}]
    chat.write_text("\n".join(json.dumps(line) for line in lines), encoding="utf-8")
    window = make_window(make_simulator=Simulator)
    window.session.set_project(open_project([folder], chat))
    settle(window, qtbot)
    window.selection.choose_entry(1)
    settle(window, qtbot)
    return window


def settle(window, qtbot) -> None:
    qtbot.waitUntil(lambda: not window.session.busy and window.session.jobs.idle)
    qtbot.wait(1)
    qtbot.waitUntil(lambda: not window.session.busy and window.session.jobs.idle)


def injected(window) -> list[str]:
    trace = window.session.runs.trace(window.selection.generation)
    return [trace.entries[one.entry].title for one in trace.injections]


def retype_key(window, key: str) -> None:
    """Write another key into the source of the note, as a person does."""
    window.entry.toggle(SOURCE)
    body = window.entry.source
    found = body.document().find("spire")
    body.setTextCursor(QTextCursor(found))
    QTest.keyClicks(body, key)


def test_typing_a_key_shows_what_it_would_do(window, qtbot) -> None:
    saved = window.session.runs.trace(window.selection.generation)
    assert injected(window) == ["Gate"]
    retype_key(window, "tower")
    qtbot.waitUntil(lambda: injected(window) == ["Gate", "Tower"])
    assert window.trace.model.trace is window.session.runs.trace(window.selection.generation)
    assert "“Tower” would enter" in window.trace.summary.said
    said = [label.text() for label in window.entry.editor.form.findChildren(QLabel)]
    assert any("Would match: “tower”" in text for text in said)
    assert window.session.runs.traces[window.selection.generation] is saved

    window.run("preview.toggle")
    assert injected(window) == ["Gate"]
    assert window.trace.model.trace is saved
    assert "without the unsaved text of Tower.md" in window.trace.summary.said
    window.run("preview.toggle")
    assert injected(window) == ["Gate", "Tower"]


@pytest.mark.long
def test_what_was_tried_is_what_a_saved_text_does(window, qtbot) -> None:
    retype_key(window, "tower")
    qtbot.waitUntil(lambda: injected(window) == ["Gate", "Tower"])
    tried = window.session.runs.trace(window.selection.generation)
    window.run("entry.save")
    qtbot.waitUntil(lambda: window.session.runs.preview_of(window.selection.generation) is None)
    settle(window, qtbot)
    made = window.session.runs.trace(window.selection.generation)
    assert made is not tried
    assert made.injections == tried.injections
    assert made.prompt == tried.prompt
    assert not any(note.passing for note in window.trace.summary.notes)
    assert window.session.runs.outdated(window.selection.generation) == ""


def test_a_text_that_is_no_entry_leaves_the_trace_as_it_was(window, qtbot) -> None:
    saved = window.session.runs.trace(window.selection.generation)
    window.entry.toggle(SOURCE)
    body = window.entry.source
    body.setTextCursor(QTextCursor(body.document().find("lorebook")))
    QTest.keyClicks(body, "x")
    settle(window, qtbot)
    assert window.session.runs.trace(window.selection.generation) is saved
    assert not any(note.passing for note in window.trace.summary.notes)


# ---- the texts alone -------------------------------------------------------------------------------------------------


def test_who_follows_unsaved_texts_hears_of_each_that_is_another(qapp, tmp_path) -> None:
    drafts, told = Drafts(), []
    drafts.changed.connect(lambda path: told.append(("changed", path.name)))
    drafts.typed.connect(lambda path: told.append(("typed", path.name)))
    gate, tower = tmp_path / "Gate.md", tmp_path / "Tower.md"
    drafts.keep(gate, Draft("One.", "a"))
    drafts.keep(gate, Draft("One.", "b"))  # the file is another one, the text is not
    drafts.keep(gate, Draft("Two.", "b"))
    drafts.drop(tower)
    assert told == [("changed", "Gate.md"), ("typed", "Gate.md"), ("typed", "Gate.md")]
    assert (dict(drafts.all), drafts.get(gate), drafts.get(tower)) == (
        {gate: Draft("Two.", "b")}, Draft("Two.", "b"), None,
    )  # fmt: skip
    told.clear()
    drafts.drop(gate)
    drafts.drop(gate)
    assert told == [("changed", "Gate.md"), ("typed", "Gate.md")]
    assert not drafts.all
