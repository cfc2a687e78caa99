"""What the keys would do is said in words, and the newest texts are tried."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from lorestudio.domain.chat import Generation
from lorestudio.studio.project.project import demo_project
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.studio.tryout.preview import Previewer
from lorestudio.trace.found_keys import KeyMatch, WouldMatch
from lorestudio.ui.features.notes.pane import match_words
from lorestudio.ui.shell.jobs import Jobs
from lorestudio.ui.state.drafts import Draft, Drafts, LivePreview, unsaved_notes
from tests.ui.conftest import drain
from tests.ui.worlds import make_project

if TYPE_CHECKING:
    from pathlib import Path

    from pytestqt.qtbot import QtBot

    from lorestudio.studio.tryout.preview import Preview

MISSED, HIT = KeyMatch("keep"), KeyMatch("skarn", 2, 4, 0, 5)


@pytest.mark.parametrize(
    ("match", "words", "tone"),
    [
        (WouldMatch((MISSED,), (), 4, 4), "no key occurs in the last 4 messages", "neutral"),
        (WouldMatch((MISSED, HIT), (), 4, 4, "skarn"), "Would match: “skarn” in message #4, 2 times in all.", "good"),
        (WouldMatch((HIT, KeyMatch("ash", 1, 3)), (), 4, 4, "skarn"), "and 1 other key.", "good"),
        (WouldMatch((HIT,), (MISSED,), 4, 4), "none of the refine keys", "warning"),
        (WouldMatch((HIT,), (), 4, 4, unused="constant"), "constant", "neutral"),
        (WouldMatch((), (), 0, 0, unused="scan_depth_zero"), "scan depth is 0", "neutral"),
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
    live.try_settings(None)
    assert seen[-1] is None
