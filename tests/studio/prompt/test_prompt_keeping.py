from __future__ import annotations

import json
from pathlib import Path

import pytest

from lorestudio.domain.records import replace
from lorestudio.exchange.character_card import load_card, load_group
from lorestudio.exchange.chat_preset import load_preset
from lorestudio.exchange.regex_scripts import load_scripts
from lorestudio.studio.prompt.setup import (
    MAIN_PROMPT,
    Persona,
    PromptSetup,
    kept_setup,
    restored,
    spelled,
    with_group,
    with_preset,
)


def written(path: Path, document: object) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(document), "utf-8")
    return path


@pytest.fixture
def full(tmp_path: Path) -> PromptSetup:
    """A setup in which everything was chosen."""
    card = written(tmp_path / "characters" / "ada.json", {"spec": "chara_card_v2", "data": {"name": "Ada"}})
    main = {"identifier": "main", "content": "Write.\n", "system_prompt": True}
    preset = written(tmp_path / "Mine.json", {"prompts": [main], "openai_max_context": 9000})
    regex = written(tmp_path / "regex.json", [{"scriptName": "S", "findRegex": "a", "promptOnly": True}])
    group = written(
        tmp_path / "groups" / "1.json",
        {"members": ["ada.json"], "chat_id": "inn", "chat_metadata": {"note_prompt": "Slowly."}},
    )
    setup = with_preset(PromptSetup(persona=Persona("Quill", "Small.")), load_preset(preset), preset)
    setup = with_group(setup, load_group(group), group, Path("inn.jsonl"))
    return replace(
        setup, card=load_card(card), card_path=card, regex=(load_scripts(regex),), regex_paths=(regex,),
        embedded_regex=False, speaker="Ada", reply_tokens=77,
    )  # fmt: skip


def test_everything_comes_back(full: PromptSetup) -> None:
    kept = kept_setup(spelled(full))
    assert kept.names_files
    assert restored(kept, Path("inn.jsonl")) == (full, ())


def test_a_preset_counts_as_it_is_now_and_what_the_person_changed_as_they_left_it(full: PromptSetup) -> None:
    text = spelled(replace(full, post_history="Mine."))
    assert full.preset_path is not None
    main = {"identifier": "main", "content": "Anew.", "system_prompt": True}
    written(full.preset_path, {"prompts": [main], "openai_max_context": 5000})
    setup, _ = restored(kept_setup(text))
    assert (setup.main, setup.context_size) == ("Anew.", 5000)
    assert (setup.post_history, setup.reply_tokens) == ("Mine.", 77)


def test_files_that_are_gone_are_told_and_the_rest_stays(full: PromptSetup) -> None:
    text = spelled(full)
    for path in (full.card_path, full.preset_path, full.group_path, *full.regex_paths):
        assert path is not None
        path.unlink()
    setup, problems = restored(kept_setup(text))
    assert len(problems) == 4
    assert setup == PromptSetup(persona=full.persona, embedded_regex=False, reply_tokens=77)


@pytest.mark.parametrize("text", ["", "{", "[]", "3", '{"name": 3, "context": -1, "reply": true, "regex": "x"}'])
def test_what_cannot_be_read_counts_as_not_chosen(text: str) -> None:
    kept = kept_setup(text)
    assert not kept.names_files
    assert restored(kept) == (PromptSetup(), ())


def test_what_was_kept_before_there_were_presets() -> None:
    old = '{"card": "", "name": "Quill", "persona": "", "main": "", "post_history": "", "context": 0, "reply": 900}'
    assert restored(kept_setup(old))[0] == PromptSetup(persona=Persona("Quill"), main=MAIN_PROMPT, reply_tokens=900)
