"""While somebody types or moves a setting, the reply runs again with the system that is chosen."""

from __future__ import annotations

import json
from types import SimpleNamespace

import pytest
from PySide6.QtGui import QTextCursor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel

from lorestudio.domain.records import replace
from lorestudio.settings.declaration import declared
from lorestudio.settings.deeplore import DeepLoreSettings
from lorestudio.settings.worldinfo import WorldInfoSettings
from lorestudio.studio.project.project import open_project
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.trace.budget import budget_view
from lorestudio.trace.diff import compare
from lorestudio.ui.features.notes.pane import SOURCE
from lorestudio.ui.features.settings.trial import SettingTrial, Trial, diff_lines
from lorestudio.ui.state.drafts import Drafts, LivePreview
from lorestudio.ui.state.selection import Selection
from tests.ui.conftest import drain
from tests.ui.worlds import make_trace


def test_a_run_that_changes_nothing_or_only_its_text_says_so() -> None:
    before = make_trace()
    tokens = f"{sum(each.tokens for each in before.injections)} tokens"
    assert diff_lines(compare(before, before)) == [f"No difference: the same entries go in, {tokens}."]
    other = replace(before, prompt=(*before.prompt, *before.prompt[-1:]))
    assert diff_lines(compare(before, other)) == [
        f"The same entries go in, {tokens}, but the text around them or their place is another."
    ]


def two_notes(tmp_path):
    """Of which World Info brings one in."""
    folder = tmp_path / "vault"
    folder.mkdir()
    for title, key in (("Gate", "gate"), ("Tower", "spire")):
        text = f"---\ntags: [lorebook]\nkeys: [{key}]\n---\n# {title}\nIt is of stone.\n"
        (folder / f"{title}.md").write_text(text, encoding="utf-8")
    chat = tmp_path / "chat.jsonl"
    lines = [
        {},
        {"name": "Ada", "is_user": True, "mes": "Has this wall a spire?"},
        {"name": "Bo", "mes": "No."},
        {"name": "Ada", "is_user": True, "mes": "The gate and the tower?"},
        {"name": "Bo", "mes": "Yes."},
    ]
    chat.write_text("\n".join(json.dumps(line) for line in lines), encoding="utf-8")
    return open_project([folder], chat)


@pytest.fixture
def window(make_window, qtbot, tmp_path):
    window = make_window(make_simulator=Simulator)
    window.session.replays.configure({"world-info": WorldInfoSettings(depth=1)})
    window.session.set_project(two_notes(tmp_path))
    settle(window, qtbot)
    window.run("system.world-info")
    settle(window, qtbot)
    window.chat.choose(3)
    window.selection.choose_entry(1)
    settle(window, qtbot)
    return window


def settle(window, qtbot) -> None:
    qtbot.waitUntil(lambda: not window.session.busy and window.session.jobs.idle)
    drain()
    qtbot.waitUntil(lambda: not window.session.busy and window.session.jobs.idle)
    drain()


def injected(window) -> list[str]:
    trace = window.session.runs.trace(window.selection.generation)
    return sorted(trace.entries[one.entry].title for one in trace.injections)


def retype_key(window, key: str) -> None:
    window.entry.toggle(SOURCE)
    body = window.entry.source
    body.setTextCursor(QTextCursor(body.document().find("spire")))
    QTest.keyClicks(body, key)


def test_typing_a_key_shows_what_the_system_would_do(window, qtbot) -> None:
    saved = window.session.runs.trace(window.selection.generation)
    assert saved.system == "world-info"
    assert injected(window) == ["Gate"]
    retype_key(window, "tower")
    qtbot.waitUntil(lambda: injected(window) == ["Gate", "Tower"])
    shown = window.session.runs.trace(window.selection.generation)
    assert shown.system == "world-info"
    assert window.trace.model.trace is shown
    assert len(budget_view(shown).segments) == 2
    assert "“Tower” would enter" in window.trace.summary.said
    said = [label.text() for label in window.entry.editor.form.findChildren(QLabel)]
    assert any(text.startswith("Would go in. ") and "tower" in text for text in said)
    assert window.session.runs.traces[window.selection.generation] is saved
    window.run("preview.toggle")
    assert injected(window) == ["Gate"]


@pytest.mark.long
def test_another_system_takes_the_unsaved_text_over(window, qtbot) -> None:
    retype_key(window, "tower")
    qtbot.waitUntil(lambda: injected(window) == ["Gate", "Tower"])
    window.run("system.context-window")
    assert window.session.runs.preview_of(window.selection.generation) is None
    settle(window, qtbot)
    qtbot.waitUntil(lambda: window.session.runs.preview_of(window.selection.generation) is not None)
    assert window.session.runs.trace(window.selection.generation).system == "context-window"
    window.run("system.deeplore")
    settle(window, qtbot)
    qtbot.waitUntil(lambda: window.session.runs.preview_of(window.selection.generation) is not None)
    assert window.session.runs.trace(window.selection.generation).system == "deeplore"


def test_saving_makes_it_the_run(window, qtbot) -> None:
    retype_key(window, "tower")
    qtbot.waitUntil(lambda: injected(window) == ["Gate", "Tower"])
    tried = window.session.runs.trace(window.selection.generation)
    window.run("entry.save")
    qtbot.waitUntil(lambda: window.session.runs.preview_of(window.selection.generation) is None)
    settle(window, qtbot)
    made = window.session.runs.trace(window.selection.generation)
    assert (made.injections, made.prompt) == (tried.injections, tried.prompt)
    assert window.session.runs.outdated(window.selection.generation) == ""


def test_the_tokens_of_both_are_told_only_where_they_differ(window) -> None:
    before = window.session.runs.trace(window.selection.generation)
    (gate,) = before.injections
    longer = replace(before, injections=(replace(gate, tokens=gate.tokens + 5),), limits=())
    said = tuple(replace(block, text=block.text.upper()) for block in before.prompt)
    other = replace(before, injections=(replace(gate, content_hash="another text"),), prompt=said)
    told = f"{gate.tokens} → {gate.tokens + 5} tokens in the prompt"
    assert diff_lines(compare(before, longer)) == [told, "~ Another length: Gate"]
    told = f"{gate.tokens} tokens in the prompt, as before"
    assert diff_lines(compare(before, other)) == [told, "~ Another text: Gate"]
    assert diff_lines(compare(before, before)) == [f"No difference: the same entries go in, {gate.tokens} tokens."]


@pytest.mark.always
def test_what_the_whole_chat_does_is_said_before_names(window) -> None:
    """A low pane shows three lines, and the names of those who enter took them."""
    before = window.session.runs.trace(window.selection.generation)
    (gate,) = before.injections
    trial = window.features.settings.pane.trial
    trial.diff = compare(before, replace(before, injections=(replace(gate, tokens=gate.tokens + 5),), limits=()))
    trial.remarks = ("The model is not asked.",)
    trial._live = SimpleNamespace(whole=SimpleNamespace(words="Whole chat: 2 of 2 replies change"))
    reply, *others = trial.words.splitlines()
    assert reply.endswith(f": {gate.tokens} → {gate.tokens + 5} tokens in the prompt")
    assert others == ["Whole chat: 2 of 2 replies change", "The model is not asked.", "~ Another length: Gate"]


def bench_titles(window) -> set[str]:
    result = window.features.bench.pane.result
    return set() if result is None else {row.title for row in result.injected}


@pytest.mark.long
def test_the_bench_asks_the_chosen_system(window, qtbot) -> None:
    pane = window.features.bench.pane
    window.show_pane("bench")
    pane.text.setPlainText("A spire.")
    qtbot.waitUntil(lambda: bench_titles(window) == {"Tower"})
    assert pane.result.trace.system == "world-info"
    pane.behind.click()
    after = len(window.session.project.chat.messages) + 1
    qtbot.waitUntil(lambda: pane.result is not None and pane.result.trace.turn.message == after)
    assert bench_titles(window) == {"Tower"}
    window.session.replays.configure({"world-info": WorldInfoSettings(depth=3)})
    qtbot.waitUntil(lambda: bench_titles(window) == {"Gate", "Tower"})
    window.run("system.deeplore")
    qtbot.waitUntil(lambda: pane.result is not None and pane.result.trace.system == "deeplore")
    settle(window, qtbot)


def test_why_nothing_is_known_of_a_setting_yet(make_session, qtbot, tmp_path) -> None:
    session = make_session(two_notes(tmp_path), replay=False, make_simulator=Simulator)
    selection, run = Selection(), session.runs
    depth = next(each for each in declared(DeepLoreSettings) if each.name == "scan_depth")
    live = LivePreview(Drafts(), session.jobs, lambda: session.project, lambda: run.previewer(selection.generation))
    trial, elsewhere = SettingTrial(session, selection, live), Trial(session, selection, live, "world-info")

    def first() -> str:
        """Of the reply; the whole chat is told of below."""
        return trial.words.splitlines()[0]

    assert elsewhere.words == "The chat runs with DeepLore, so these settings are not tried out on it."
    assert first() == "Choose a reply in the chat to see what this would do to it."
    selection.choose_message(3, session.generations[1])
    trial.move(depth, 1)
    assert first() == "This reply has not been run, so nothing can be tried out on it."
    session.replays.run_all()
    assert first() == "The chat is being replayed; what this would do is shown when that is done."
    told: list[str] = []
    trial.changed.connect(lambda: told.append(first()))
    qtbot.waitUntil(lambda: session.jobs.idle and trial.is_current)
    assert "Trying it out…" in told
    assert told[-1].endswith(" tokens in the prompt")
    before = session.project
    assert trial.known is before.settings
    trial.end()
    trial.keep()  # Enter in a field that was not moved
    assert session.project is before


def opened_dialog(window):
    window.run("system.settings")
    dialog = window.features.systems.dialog
    assert dialog is not None
    dialog.choose("depth")
    return dialog


def test_moving_a_setting_shows_at_once_what_it_would_do(window, qtbot) -> None:
    """Three messages back is the one with the spire."""
    saved = window.session.runs.trace(window.selection.generation)
    dialog = opened_dialog(window)
    assert "Move a setting" in dialog.outcome.text()
    dialog.editor.moved.emit(dialog.editor.declaration, 3)
    qtbot.waitUntil(lambda: "Enters: Tower" in dialog.outcome.text())
    assert dialog.outcome.isEnabled()
    assert injected(window) == ["Gate", "Tower"]  # the panes behind it follow
    assert window.session.runs.traces[window.selection.generation] is saved
    dialog.editor.moved.emit(dialog.editor.declaration, 1)
    assert "Move a setting" in dialog.outcome.text()
    qtbot.waitUntil(lambda: injected(window) == ["Gate"])
    dialog.editor.moved.emit(dialog.editor.declaration, 3)
    qtbot.waitUntil(lambda: injected(window) == ["Gate", "Tower"])
    dialog.reject()
    qtbot.waitUntil(lambda: injected(window) == ["Gate"])
    settle(window, qtbot)
    assert window.session.choice.settings == WorldInfoSettings(depth=1)


def test_a_setting_of_a_system_that_is_not_chosen_is_not_tried_out(window, qtbot) -> None:
    dialog = window.features.systems.open_settings("hybrid")
    dialog.set_value("limit", 1)
    assert "The chat runs with World Info" in dialog.outcome.text()
    dialog.reject()
    settle(window, qtbot)


@pytest.mark.long
def test_a_setting_that_cannot_be_used_says_so_where_it_is_set(window, qtbot, tmp_path) -> None:
    window.run("system.context-window")
    settle(window, qtbot)
    dialog = window.features.systems.open_settings("context-window")
    dialog.set_value("word_list", str(tmp_path / "none.txt"))
    qtbot.waitUntil(lambda: "cannot be read" in dialog.outcome.text())
    dialog.reject()
    settle(window, qtbot)


@pytest.mark.long
def test_settings_of_a_system_are_taken_back_and_done_again(window, qtbot) -> None:
    dialog = opened_dialog(window)
    dialog.set_value("depth", 3)
    dialog.accept()
    settle(window, qtbot)
    session, file = window.session, window.features.systems.files.path("world-info")
    assert session.parts.adjustments.undo_title == "Scan depth: 3 messages"
    assert injected(window) == ["Gate", "Tower"]
    assert json.loads(file.read_text())["world_info_depth"] == 3
    window.run("adjust.undo")
    settle(window, qtbot)
    assert session.choice.settings == WorldInfoSettings(depth=1)
    assert injected(window) == ["Gate"]
    assert json.loads(file.read_text())["world_info_depth"] == 1
    window.run("adjust.redo")
    settle(window, qtbot)
    assert injected(window) == ["Gate", "Tower"]
    assert session.parts.adjustments.undo_title == "Scan depth: 3 messages"


@pytest.mark.always
def test_compare_tells_which_setting_of_the_system_did_it(window, qtbot) -> None:
    pane = window.features.timeline.compare
    window.features.systems.configure("world-info", WorldInfoSettings(depth=3))
    settle(window, qtbot)
    window.run("compare.former")
    qtbot.waitUntil(lambda: pane.compared is not None and pane.compared.causes is not None)
    (cause,) = pane.compared.causes.causes
    assert cause.difference.sentence == "Scan depth: 1 → 3"
    assert {key[1] for _what, key in cause.alone} == {"Tower.md"}
    pane.choose("shown", "system:hybrid")
    qtbot.waitUntil(lambda: pane.compared is not None and pane.compared.after.trace.system == "hybrid")
    settle(window, qtbot)
    assert pane.compared.causes is None
    assert any("Two systems decided" in label.text() for label in pane.findChildren(QLabel))


def test_a_turn_of_the_system_is_saved_as_a_scenario(window, qtbot, tmp_path) -> None:
    dialog = window.features.reports.save_scenario()
    settle(window, qtbot)
    assert "every decision was the same" in dialog.remark.text()
    dialog.write(tmp_path / "turn.json")
    settle(window, qtbot)
    assert json.loads((tmp_path / "turn.json").read_text(encoding="utf-8"))["system"] == "world-info"


def test_fact_memory_has_no_scenario_and_says_so(window, qtbot) -> None:
    window.run("system.facts")
    settle(window, qtbot)
    dialog = window.features.reports.save_scenario()
    settle(window, qtbot)
    said = [label.text() for label in dialog.findChildren(QLabel)]
    assert any("no room for" in text for text in said)
    dialog.close()
