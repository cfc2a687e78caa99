"""How a chat is run: what is chosen, what that comes to, and what is remembered of it."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QSettings

from lorestudio.cli import profiles
from lorestudio.domain.records import replace
from lorestudio.settings.behaviour import FIXED
from lorestudio.settings.deeplore import sanitise
from lorestudio.settings.worldinfo import WorldInfoSettings
from lorestudio.studio.project.answering import AnswerKind, Source
from lorestudio.studio.project.settings import Mode
from lorestudio.ui.state.choices import ChoiceStore, RunChoice, _places_key, short_source, source_title
from tests.ui.worlds import make_project

HOME = Source(AnswerKind.PROVIDER, "Home | mine")


def test_where_nobody_is_asked_the_source_makes_no_difference() -> None:
    asked, alone = RunChoice(Mode.TWO_STAGE, HOME), RunChoice(Mode.KEYWORDS, HOME, ("fill_count",))
    other = RunChoice(Mode.TWO_STAGE, HOME, ("fill_count",), "world-info", WorldInfoSettings(depth=1))
    assert (asked.effective, alone.effective) == (asked, replace(alone, source=Source()))
    assert other.effective == RunChoice(system="world-info", settings=WorldInfoSettings(depth=1))
    assert [each.asks_model for each in (asked, alone, other)] == [True, False, False]
    assert [each.title for each in (asked, alone, other)] == [
        "Two-stage · Provider: Home | mine", "Keywords only", "World Info",
    ]  # fmt: skip


def test_a_project_is_run_as_chosen() -> None:
    project = make_project()
    own = RunChoice.of(project)
    assert own.applied(project).behaviour is project.behaviour
    chosen = replace(own, mode=Mode.AI_ONLY, fixed=("fill_count",)).applied(project)
    assert chosen.behaviour.fill_count == FIXED
    assert RunChoice.of(chosen) == RunChoice(Mode.AI_ONLY, fixed=("fill_count",), system=project.system)
    asking = replace(project, settings=sanitise({"aiSearchEnabled": True, "aiSearchMode": "two-stage"}).settings)
    assert RunChoice.of(asking).mode is Mode.TWO_STAGE


@pytest.mark.parametrize(
    "choice",
    [
        RunChoice(Mode.TWO_STAGE, HOME, ("fill_count",)),
        RunChoice(Mode.KEYWORDS, Source(AnswerKind.RECORDED)),
        RunChoice(Mode.AI_ONLY, Source(AnswerKind.TYPED), system="world-info", settings=WorldInfoSettings()),
    ],
)
def test_a_choice_is_there_again_at_the_next_start(choice: RunChoice, tmp_path: Path) -> None:
    kept = QSettings(str(tmp_path / "window.ini"), QSettings.Format.IniFormat)
    store = ChoiceStore()
    store.keep_in(kept)
    store.save("tale", choice)
    store.keep_tokenizer(("a", "b"), "llama")
    again = ChoiceStore()
    assert (again.load("tale"), again.tokenizer(("a", "b"))) == (None, "")
    again.keep_in(kept)
    assert (again.load("tale"), again.load("other")) == (choice, None)
    assert (again.tokenizer(("a", "b")), again.tokenizer(("ab",))) == ("llama", "")


@pytest.mark.parametrize("name", ["Home | mine", 'Löwe "x" \\ q=; ', "日本"])
def test_the_command_line_reads_whom_chats_chose(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(profiles, "own_folders", lambda: {"Settings folder": tmp_path})
    kept, store = QSettings(str(tmp_path / "window.ini"), QSettings.Format.IniFormat), ChoiceStore()
    store.keep_in(kept)
    for chat, source in (("tale", Source(AnswerKind.PROVIDER, name)), ("a%b c", Source()), ("other", HOME)):
        store.save(chat, RunChoice(Mode.TWO_STAGE, source, ("fill_count", "a")))
    kept.setValue("chat/writer", name)
    kept.sync()
    assert profiles._chosen_in_window(name) == (len(store.choosing(name)), True)
    assert store.choosing(name)
    assert profiles._chosen_in_window("x") == (0, False)


def test_a_profile_with_another_name_stays_chosen_in_every_chat(tmp_path: Path) -> None:
    kept = QSettings(str(tmp_path / "window.ini"), QSettings.Format.IniFormat)
    before, store, again = ChoiceStore(), ChoiceStore(), ChoiceStore()
    before.keep_in(kept)
    before.save("tale", RunChoice(Mode.TWO_STAGE, HOME))  # by an earlier window
    before.save("other", RunChoice(Mode.TWO_STAGE, Source(AnswerKind.PROVIDER, "Home")))
    store.keep_in(kept)
    store.rename_profile(HOME.profile, "Elsewhere")
    again.keep_in(kept)
    for each in (store, again):
        assert each.load("tale") == RunChoice(Mode.TWO_STAGE, Source(AnswerKind.PROVIDER, "Elsewhere"))
        assert each.load("other") == RunChoice(Mode.TWO_STAGE, Source(AnswerKind.PROVIDER, "Home"))


@pytest.mark.parametrize("kept", ["", "two-stage|typed|", "wild|typed||", "two-stage|nobody||"])
def test_what_is_not_known_any_more_counts_as_not_chosen(kept: str, tmp_path: Path) -> None:
    settings = QSettings(str(tmp_path / "window.ini"), QSettings.Format.IniFormat)
    settings.setValue("runs/tale", kept)
    store = ChoiceStore()
    store.keep_in(settings)
    assert store.load("tale") is None
    settings.setValue("runs/tale", "two-stage@gone|typed|gone,fill_count|")
    assert store.load("tale") == RunChoice(Mode.TWO_STAGE, Source(AnswerKind.TYPED), ("fill_count",))


def test_settings_of_other_systems_are_those_of_now() -> None:
    store = ChoiceStore()
    choice = RunChoice(system="world-info", settings=WorldInfoSettings(depth=7))
    assert store.with_settings(choice).settings == WorldInfoSettings()
    store.systems["world-info"] = WorldInfoSettings(depth=3)
    assert store.with_settings(choice).settings == WorldInfoSettings(depth=3)
    assert store.with_settings(RunChoice(settings=WorldInfoSettings())).settings is None


def test_sources_in_words() -> None:
    assert (source_title(HOME), short_source(HOME, "rules")) == ("Provider: Home | mine", "Home | mine")
    kinds = (AnswerKind.STAND_IN, AnswerKind.RECORDED, AnswerKind.TYPED)
    assert [short_source(Source(kind), "rules") for kind in kinds] == ["rules", "Recorded", "I type"]


def test_changed_settings_are_kept_by_chat_and_by_what_they_were_changed_from(tmp_path: Path) -> None:
    file = QSettings(str(tmp_path / "window.ini"), QSettings.Format.IniFormat)
    store = ChoiceStore()
    store.keep_changes("a", "", {"scanDepth": 1})
    assert store.changes("a", "") == {}, "nothing is kept without a file"
    for place in ("a", "b"):
        assert store.place_before("a", tmp_path / place, "mark") is None
    store.save("here", RunChoice(Mode.TWO_STAGE))
    store.move("here", "there", tmp_path / "there.jsonl", "mark")
    store.keep_in(file)
    store.keep_changes("a", "", {"scanDepth": 1})
    store.keep_changes("a", "Tight", {"rules": "2.6"})
    again = ChoiceStore()
    again.keep_in(file)
    assert (again.changes("a", ""), again.changes("a", "Tight")) == ({"scanDepth": 1}, {"rules": "2.6"})
    assert (again.changes("b", ""), again.changes("a", "Deep")) == ({}, {})
    again.save("a", RunChoice(Mode.TWO_STAGE))
    again.move("a", "moved", tmp_path / "moved.jsonl", "mark")
    assert (again.changes("moved", ""), again.changes("a", "")) == ({"scanDepth": 1}, {})
    assert (again.load("moved"), again.load("a")) == (RunChoice(Mode.TWO_STAGE), None)
    again.move("moved", "a", tmp_path / "a.jsonl", "mark")
    assert again.place_before("a", tmp_path / "a.jsonl", "mark") is None, "it is known there"
    assert again.place_before("copy", tmp_path / "copy.jsonl", "mark") == tmp_path / "a.jsonl"
    assert again.place_before("third", tmp_path / "third.jsonl", "mark") is None, "it may be a copy of either"
    again.save("known", RunChoice())
    assert again.place_before("known", tmp_path / "known.jsonl", "other") is None
    assert again.place_before("known", tmp_path / "elsewhere.jsonl", "other") is None, "something is remembered of it"
    again.forget_changes("a")
    assert again.changes("a", "") == {}
    for torn in ("{", "[]", '{"": 3}'):
        file.setValue("settings_changes/a", torn)
        assert again.changes("a", "") == {}
    for torn in ("{", "{}", "3", "[1]", "[[]]", "[" * 100_000):
        file.setValue(_places_key("mark"), torn)
        assert again.place_before("c", tmp_path / "c.jsonl", "mark") is None
        assert again.place_before("d", tmp_path / "d.jsonl", "mark") == tmp_path / "c.jsonl"
