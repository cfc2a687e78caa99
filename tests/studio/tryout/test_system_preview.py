"""Unsaved texts and other settings tried out on a reply that a system beside DeepLore decides."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from lorestudio.studio.tryout.system_preview import SystemPreviewer

from lorestudio.domain.chat import Generation
from lorestudio.domain.lifecycle import Cancelled, CancelToken
from lorestudio.exchange.problems import InputError
from lorestudio.llm.embedding import HashEmbedder, Vector
from lorestudio.settings.contextwindow import ContextWindowSettings
from lorestudio.settings.declaration import Section
from lorestudio.settings.deeplore import DeepLoreSettings
from lorestudio.settings.hybrid import HybridSettings
from lorestudio.settings.worldinfo import WorldInfoSettings
from lorestudio.studio.project.project import Project, open_project
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.studio.tryout.preview import NoteText
from lorestudio.systems.base import System
from lorestudio.systems.hybrid.system import HybridSystem
from lorestudio.systems.registry import KINDS
from lorestudio.systems.vectors import KnownVectors
from lorestudio.systems.worldinfo.system import WorldInfoSystem
from lorestudio.trace.model import Trace

LAMP = "The lamp is of brass, and burns all night without oil."
TALK = [("Wren", "A bell, once."), ("Ann", "It rang."), ("Wren", "Hold the lamp."), ("Ann", "Yes.")]
LAST = Generation(3)


def note(key: str, text: str) -> str:
    return f"---\ntags: [lorebook]\nkeys: [{key}]\n---\n{text}\n"


@pytest.fixture
def project(tmp_path: Path) -> Project:
    vault = tmp_path / "vault"
    vault.mkdir()
    for name, key, text in (("Bell", "bell", "The bell rings at four."), ("Lamp", "lamp", LAMP)):
        (vault / f"{name}.md").write_text(note(key, text), encoding="utf-8")
    chat = tmp_path / "chat.jsonl"
    lines: list[dict[str, Any]] = [{"user_name": "Wren", "character_name": "Ann", "chat_metadata": {}}]
    lines += [{"name": name, "is_user": name == "Wren", "mes": text} for name, text in TALK]
    chat.write_text("\n".join(json.dumps(line) for line in lines), encoding="utf-8")
    return open_project([vault], chat)


def ran(project: Project, name: str, settings: Section, system: System | None = None) -> Simulator:
    simulator = Simulator(project, system or KINDS[name].make(settings, project))
    asyncio.run(simulator.replay())
    return simulator


def previewer(project: Project, name: str, settings: Section) -> SystemPreviewer:
    return SystemPreviewer(ran(project, name, settings), LAST, KINDS[name], settings)


def titles(trace: Trace) -> list[str]:
    return [trace.entries[each.entry].title for each in trace.injections]


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("world-info", WorldInfoSettings(depth=1)),
        ("hybrid", HybridSettings(embedder="none", exchanges=1)),
        ("context-window", ContextWindowSettings(total_token_budget=14, with_conversation=False)),
    ],
)
def test_an_unsaved_text_does_what_it_does_when_saved(project: Project, name: str, settings: Section) -> None:
    """The unsaved key is no word of the chat, and the text too long for the budget: the note stays out."""
    tried = previewer(project, name, settings)
    assert "Lamp" in titles(tried.before)
    text = note("sextant", "No light at all. " * 10)
    made = tried.preview([NoteText("vault", "Lamp.md", text)])
    assert "Lamp" not in titles(made.trace)
    assert made.before is tried.before
    (edited,) = made.notes
    assert edited.outcome is not None
    assert not edited.outcome.goes_in
    assert edited.outcome.sentence
    assert made.trace.digests["inputs"] != made.before.digests["inputs"]
    (project.vault_folders[0] / "Lamp.md").write_text(text, encoding="utf-8")  # type: ignore[operator]  # a folder
    saved = ran(project.reloaded(), name, settings).traces[LAST]
    assert (made.trace.injections, made.trace.prompt) == (saved.injections, saved.prompt)


def test_a_key_that_brings_a_note_in(project: Project) -> None:
    tried = previewer(project, "world-info", WorldInfoSettings(depth=1))
    made = tried.preview([NoteText("vault", "Bell.md", note("hold", "The bell rings at four."))])
    assert sorted(titles(made.trace)) == ["Bell", "Lamp"]
    (edited,) = made.notes
    assert edited.outcome is not None
    assert edited.outcome.goes_in
    assert "hold" in edited.outcome.sentence


def test_a_text_that_is_no_entry(project: Project) -> None:
    made = previewer(project, "hybrid", HybridSettings()).preview([NoteText("vault", "Lamp.md", "No lore.")])
    assert made.notes[0].outcome is None
    assert made.notes[0].left_out is not None


def test_another_setting_of_the_system(project: Project) -> None:
    """Both notes are found in the whole chat; in its newest message only the lamp is."""
    tried = previewer(project, "world-info", WorldInfoSettings(depth=1))
    assert titles(tried.before) == ["Lamp"]
    made = tried.preview((), settings=WorldInfoSettings(depth=3))
    assert sorted(titles(made.trace)) == ["Bell", "Lamp"]
    (change,) = made.settings
    assert (change.declaration.name, change.before, change.after) == ("depth", 1, 3)
    assert tried.preview(()).settings == ()
    assert tried.takes(WorldInfoSettings())
    assert not tried.takes(DeepLoreSettings())


def test_a_setting_that_cannot_be_used(project: Project, tmp_path: Path) -> None:
    tried = previewer(project, "context-window", ContextWindowSettings())
    with pytest.raises(InputError, match="cannot be read"):
        tried.preview((), settings=ContextWindowSettings(word_list=str(tmp_path / "none.txt")))


def test_a_request_to_stop(project: Project) -> None:
    tried, token = previewer(project, "hybrid", HybridSettings()), CancelToken()
    token.cancel()
    with pytest.raises(Cancelled):
        tried.preview((), token)


def test_timed_effects_are_those_that_earlier_replies_left(project: Project) -> None:
    """The lamp rests after the reply that it was in, so its cooldown decides about the next one, whatever its text."""
    lines = note("lamp", LAMP).replace("keys:", "cooldown: 9\nkeys:")
    (project.vault_folders[0] / "Lamp.md").write_text(lines, encoding="utf-8")  # type: ignore[operator]  # a folder
    settings = WorldInfoSettings(depth=3)
    simulator = ran(project.reloaded(), "world-info", settings)
    tried = SystemPreviewer(simulator, simulator.generations[-1], KINDS["world-info"], settings)
    assert "Lamp" in titles(simulator.traces[LAST])
    assert "Lamp" not in titles(tried.before)
    made = tried.preview([NoteText("vault", "Bell.md", note("sextant", "Silent."))])
    assert titles(made.trace) == []


class Asked:
    """An embedder that costs something: it notes what it was asked for."""

    model_id, label = "paid", "a provider"

    def __init__(self) -> None:
        self.texts: list[str] = []

    async def embed(self, texts: Sequence[str]) -> tuple[Vector, ...]:
        self.texts += texts
        return await HashEmbedder().embed(texts)


@pytest.mark.parametrize("name", ["hybrid", "world-info"])
def test_nobody_is_asked_for_a_vector(project: Project, tmp_path: Path, name: str) -> None:
    asked = Asked()
    vectors = KnownVectors(asked, tmp_path / "vectors.sqlite")
    settings: Section = HybridSettings() if name == "hybrid" else WorldInfoSettings(vectors=True, vectors_for_all=True)
    made = KINDS[name].make(settings, project)
    assert isinstance(made, HybridSystem | WorldInfoSystem)
    simulator = ran(project, name, settings, replace(made, vectors=vectors))
    before = list(asked.texts)
    assert before
    tried = SystemPreviewer(simulator, LAST, KINDS[name], settings)
    preview = tried.preview([NoteText("vault", "Lamp.md", note("sextant", "Unheard of."))])
    assert asked.texts == before
    assert "without a vector" in " ".join(preview.remarks)
    assert tried.preview(()).remarks == ()
