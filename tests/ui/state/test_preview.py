"""What the keys would do is said in words, and the newest texts are tried."""

from __future__ import annotations

import threading
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from PySide6.QtCore import QTimer

from lorestudio.domain.chat import Generation
from lorestudio.domain.records import replace
from lorestudio.settings.deeplore import DeepLoreSettings, declarations
from lorestudio.settings.hybrid import HybridSettings
from lorestudio.studio.project.project import demo_project
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.studio.tryout.preview import Previewer
from lorestudio.studio.tuning.effects import Effects
from lorestudio.studio.tuning.expectations import Expectation, Should
from lorestudio.trace.found_keys import KeyMatch, WouldMatch
from lorestudio.ui.features.notes.pane import match_words
from lorestudio.ui.shell.jobs import Jobs
from lorestudio.ui.state import drafts as drafts_module
from lorestudio.ui.state.drafts import Draft, Drafts, LiveEffects, LivePreview, preview_words, unsaved_notes
from tests.ui.conftest import drain
from tests.ui.worlds import BELL, CROWN, make_project, make_trace

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pytestqt.qtbot import QtBot

    from lorestudio.studio.tryout.preview import Preview
    from lorestudio.trace.model import Trace

MISSED, HIT = KeyMatch("keep"), KeyMatch("skarn", 2, 4, 0, 5)


@pytest.mark.parametrize(
    ("match", "words", "tone"),
    [
        (WouldMatch((MISSED,), (), 4), "no key occurs in the last 4 messages", "neutral"),
        (WouldMatch((MISSED, HIT), (), 4, "skarn"), "Would match: “skarn” in message #4, 2 times in all.", "good"),
        (WouldMatch((HIT, KeyMatch("ash", 1, 3)), (), 4, "skarn"), "and 1 other key.", "good"),
        (WouldMatch((HIT,), (MISSED,), 4), "none of the refine keys", "warning"),
        (WouldMatch((HIT,), (), 4, unused="constant"), "constant", "neutral"),
        (WouldMatch((), (), 0, unused="scan_depth_zero"), "scan depth is 0", "neutral"),
    ],
)
def test_words(match: WouldMatch, words: str, tone: str) -> None:
    text, said = match_words(match)
    assert words in text
    assert said == tone


def test_unsaved_texts_by_vault_and_file(tmp_path: Path) -> None:
    project = make_project(tmp_path / "vault")
    drafts = {tmp_path / "vault" / "items" / "Crown.md": Draft("x", "d"), tmp_path / "else.md": Draft("y", "d")}
    (note,) = unsaved_notes(project, drafts)
    assert (note.vault, note.filename, note.text) == ("vault", "items/Crown.md", "x")


def test_a_typed_key_is_tried_in_the_chat(qtbot) -> None:
    import asyncio  # noqa: PLC0415 - for this test's replay only

    project = demo_project()
    simulator = Simulator(project)
    generation = simulator.generations[0]
    asyncio.run(simulator.generate(generation))
    assert isinstance(generation, Generation)
    drafts, jobs = Drafts(), Jobs()
    live = LivePreview(drafts, jobs, lambda: project, lambda: Previewer(simulator, generation))
    seen: list[object] = []
    live.previewed.connect(seen.append)
    entry = project.index.entries[0]
    path = project.vault_folders[0] / entry.filename
    with qtbot.waitSignal(live.previewed, timeout=20_000, check_params_cb=lambda preview: preview is not None):
        drafts.keep(path, Draft("---\ntags: [lorebook]\nkeys: [zzzz]\n---\n# Tried\n\nText.\n", "d"))
    qtbot.waitUntil(lambda: jobs.idle)
    (edited,) = seen[-1].notes
    assert edited.entry.title == "Tried"
    assert "no key occurs" in match_words(edited.match)[0]
    drafts.drop(path)
    assert seen[-1] is None
    jobs.wait()
    drain()


def test_of_settings_tried_out_quickly_only_the_newest_are_shown(qtbot: QtBot) -> None:
    project, jobs = demo_project(), Jobs()
    simulator = Simulator(project)
    jobs.start("Replaying", lambda job: job.run(lambda: simulator.generate(simulator.generations[0])))
    qtbot.waitUntil(lambda: jobs.idle)
    live = LivePreview(Drafts(), jobs, lambda: project, lambda: Previewer(simulator, simulator.generations[0]))
    seen: list[Preview | None] = []
    live.previewed.connect(seen.append)
    for depth in (1, 2, 3):
        live.try_settings(project.settings.model_copy(update={"scan_depth": depth}))
    qtbot.waitUntil(lambda: jobs.idle)
    assert [each.settings[0].after for each in seen if each is not None] == [3]
    seen.clear()
    live.forget()  # of another run the same is tried anew
    qtbot.waitUntil(lambda: jobs.idle)
    assert [each and each.settings[0].after for each in seen] == [None, 3]
    live.try_settings(None)
    assert seen[-1] is None


def test_a_preview_that_comes_when_all_was_taken_back_is_not_shown(qtbot: QtBot) -> None:
    begun, go_on = threading.Event(), threading.Event()

    def late(_notes: object, _token: object, _settings: object) -> str:
        begun.set()
        go_on.wait(60)
        return "late"

    project, jobs = demo_project(), Jobs()
    previewer: Any = SimpleNamespace(takes=lambda settings: isinstance(settings, DeepLoreSettings), preview=late)
    live = LivePreview(Drafts(), jobs, lambda: project, lambda: previewer)
    seen: list[object] = []
    live.previewed.connect(seen.append)
    for after in (None, HybridSettings()):  # taken back, or those of a system that does not decide
        begun.clear()
        go_on.clear()
        live.try_settings(DeepLoreSettings(scan_depth=7))
        qtbot.waitUntil(begun.is_set)
        live.try_settings(after)
        go_on.set()
        qtbot.waitUntil(lambda: jobs.idle)
        drain()
        assert seen == [None]
        seen.clear()
    live.try_settings(DeepLoreSettings(scan_depth=7))
    qtbot.waitUntil(lambda: seen == ["late"])


def test_a_preview_that_fails_is_told_and_the_same_settings_are_not_tried_again(
    qtbot: QtBot, caplog: pytest.LogCaptureFixture
) -> None:
    tried: list[object] = []

    def fails(_notes: object, _token: object, settings: object) -> None:
        tried.append(settings)
        raise ValueError("the tap drips")

    project, jobs = demo_project(), Jobs()
    previewer: Any = SimpleNamespace(takes=lambda _settings: True, preview=fails)
    live = LivePreview(Drafts(), jobs, lambda: project, lambda: previewer)
    told: list[str] = []
    live.failed.connect(lambda error: told.append(str(error)))
    changed = project.settings.model_copy(update={"scan_depth": 7})
    for settings in (None, changed, changed):
        live.try_settings(settings)
        qtbot.waitUntil(lambda: jobs.idle)
    assert (told, tried) == (["the tap drips"], [changed])
    assert "the preview failed: the tap drips" in caplog.text


def preview(trace: Trace, *, files: tuple[str, ...] = (), settings: tuple[Any, ...] = (), **more: Any) -> Any:
    """What came of trying these out on the trace made by hand."""
    notes = tuple(SimpleNamespace(entry=None, note=SimpleNamespace(filename=name)) for name in files)
    return SimpleNamespace(before=make_trace(), trace=trace, notes=notes, settings=settings, remarks=(), **more)


def change(name: str, after: object) -> SimpleNamespace:
    return SimpleNamespace(declaration=next(each for each in declarations() if each.name == name), after=after)


def test_what_unsaved_texts_and_settings_would_do_in_a_sentence() -> None:
    same, rules = make_trace(), make_trace().injections[0]
    less = replace(same, injections=(rules,), limits=())
    files = ("places/Dawnkeep.md", "Skarn.md")
    assert preview_words(preview(same, files=files)) == (
        "With the unsaved text of Dawnkeep.md, Skarn.md: the same entries go in; 100 tokens, as before."
    )
    depth = change("scan_depth", 5)
    assert preview_words(preview(less, files=files[1:], settings=(depth,))) == (
        "With the unsaved text of Skarn.md, Scan depth 5 messages: “Skarn”, “Dawnkeep” would leave; 100 → 10 tokens."
    )
    all_five = (*same.injections, replace(rules, entry=CROWN), replace(rules, entry=BELL))
    more = preview(replace(same, injections=all_five, limits=()))
    more.before, more.remarks = replace(same, injections=()), ("Ask.",)
    more.settings = (depth, change("max_entries", 3), change("max_tokens_budget", 900), change("scan_depth", 1))
    said = preview_words(more)
    assert said.startswith("With Scan depth 5 messages, Most entries 3 entries, ")
    assert said.endswith(", 1 other setting: “Rules”, “Skarn”, “Dawnkeep”, 2 others would enter; 0 → 120 tokens. Ask.")


class Chats:
    """Stands for the whole chat and who ran it, as far as `LiveEffects` asks."""

    def __init__(self, settings: object = None, fails: str = "") -> None:
        self.project, self.settings, self.fails = SimpleNamespace(knows_notes=True), settings, fails
        self.asked: list[object] = []

    def effects(self, settings: object, *_given: object) -> Effects:
        self.asked.append(settings)
        if self.fails:
            raise ValueError(self.fails)
        return Effects()


def test_why_the_whole_chat_says_nothing_of_what_is_tried_out(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    jobs, ran = Jobs(), [None]
    whole = LiveEffects(jobs, lambda: ran[0])
    assert (whole.trying, whole.words) == (False, "")
    whole.try_changes(DeepLoreSettings(), ())
    assert (whole.trying, whole.words) == (
        True, "Replay the chat to see what this does to all of it.",
    )  # fmt: skip
    ran[0] = SimpleNamespace(project=SimpleNamespace(knows_notes=False))
    assert whole.words == "", "nothing can be tried on these notes"
    chat = Chats(DeepLoreSettings(), "the tap drips")
    ran[0] = chat
    made: dict[object, Chats] = {}

    def chat_for(expected: object) -> Chats:
        """Another one for other expectations, as the real one."""
        made.setdefault(expected, chat if not made else Chats(chat.settings))
        made[expected].asked = chat.asked
        return made[expected]

    monkeypatch.setattr(drafts_module, "WholeChat", lambda _simulator, expected: chat_for(expected))
    whole.try_changes(DeepLoreSettings(scan_depth=7), ())
    assert whole.words == "Whole chat: running…"
    qtbot.waitUntil(lambda: jobs.idle)
    drain()
    assert (whole.words, whole.effects, whole.current) == ("the tap drips", None, False)
    chat.fails = ""
    whole.expect((Expectation(Should.IN, ("Bell.md",)),))
    assert whole.words == "Whole chat: running…", "it is judged by other expectations"
    qtbot.waitUntil(lambda: jobs.idle)
    drain()
    assert (whole.current, whole.effects) == (True, Effects())
    whole.expect((Expectation(Should.IN, ("Bell.md",)),))
    assert whole.current, "by the same ones"
    whole.try_changes(HybridSettings(), ())
    assert not whole.trying, "settings of a system that did not decide"
    assert whole.words == ""
    assert [type(each) for each in chat.asked] == [DeepLoreSettings] * 2
    whole.try_changes(DeepLoreSettings(scan_depth=8), (), aside=True)
    assert (whole.aside, whole.problem) == (True, "")
    whole.try_settings(None)
    assert (whole.aside, whole.trying) == (True, False)
    qtbot.waitUntil(lambda: jobs.idle)
    jobs.close()


def test_what_is_tried_no_more_is_not_told_when_its_run_ends(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    jobs, go_on = Jobs(), threading.Event()

    class Waits(Chats):
        def effects(self, settings: object, *_given: object) -> Effects:
            go_on.wait(60)
            return super().effects(settings)

    chat = Waits(DeepLoreSettings())
    monkeypatch.setattr(drafts_module, "WholeChat", lambda simulator, _expected: simulator)
    whole = LiveEffects(jobs, lambda: chat)
    whole.try_changes(DeepLoreSettings(scan_depth=7), ())
    whole.try_changes(None, ())
    go_on.set()
    qtbot.waitUntil(lambda: jobs.idle)
    drain()
    assert (whole.effects, whole.current, whole.words) == (None, False, "")
    jobs.close()


def test_steps_of_what_is_tried_out_are_told_once(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    jobs, told = Jobs(), []

    class Reports(Chats):
        def effects(self, settings: object, _notes: object, report: Callable[[Effects], object], *_: object) -> Effects:
            for _reply in range(9):
                report(Effects(replies=500))
            return super().effects(settings)

    chat = Reports(DeepLoreSettings())
    monkeypatch.setattr(drafts_module, "WholeChat", lambda simulator, _expected: simulator)
    monkeypatch.setattr(drafts_module, "STEP_MS", 60_000)  # all steps come before, however slow the machine is
    whole = LiveEffects(jobs, lambda: chat)
    whole.changed.connect(lambda: told.append(whole.words))

    def try_depth(depth: int) -> list[str]:
        told.clear()
        whole.try_changes(DeepLoreSettings(scan_depth=depth), ())
        qtbot.waitUntil(lambda: jobs.idle)
        drain()
        return list(told)

    found = f"Whole chat: {Effects().brief}"
    assert try_depth(7) == ["Whole chat: running…", found]
    assert try_depth(8) == [found], "what was found stands until it is known anew"
    assert not any(step.isActive() for step in whole.findChildren(QTimer)), "nothing is told again"
    chat.fails = "the tap drips"
    assert try_depth(9) == ["the tap drips"]
    jobs.close()
