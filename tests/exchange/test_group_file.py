from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from lorestudio.exchange.group_file import GenerationMode, load_group
from lorestudio.exchange.problems import InputError


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """SillyTavern's folders with two cards."""
    (tmp_path / "groups").mkdir()
    (tmp_path / "characters").mkdir()
    for name in ("Mina", "Hob"):
        data = {"name": name, "description": f"{name} is here."}
        (tmp_path / "characters" / f"{name.lower()}.png").write_text(
            json.dumps({"spec": "chara_card_v2", "data": data}), "utf-8"
        )
    return tmp_path


def group(folder: Path, **fields: Any) -> Path:
    path = folder / "groups" / "1.json"
    path.write_text(json.dumps({"id": 1, "members": ["mina.png", "hob.png"], **fields}), "utf-8")
    return path


def test_members_with_their_cards(folder: Path) -> None:
    read = load_group(group(folder, name="Inn", disabled_members=["hob.png"], generation_mode=2, chat_id=17))
    assert [(each.name, each.muted) for each in read.members] == [("Mina", False), ("Hob", True)]
    assert read.fields.generation_mode is GenerationMode.JOIN_WITH_MUTED
    assert read.name == "Inn"
    assert read.remarks == ()


def test_a_card_that_is_gone_leaves_a_name_and_a_remark(folder: Path) -> None:
    read = load_group(group(folder, members=["mina.png", "gone.png"], shiny=1))
    assert [each.name for each in read.members] == ["Mina", "gone"]
    told = " ".join(read.remarks)
    assert "gone.png has its name only" in told
    assert "without effect: shiny" in told


def test_cards_in_another_folder(folder: Path, tmp_path: Path) -> None:
    path = group(folder)
    (folder / "characters").rename(folder / "people")
    assert load_group(path, folder / "people").remarks == ()
    assert len(load_group(path).remarks) == 2
    with pytest.raises(InputError, match="no such folder"):
        load_group(path, tmp_path / "none")


@pytest.mark.parametrize("avatar", ["../hob.png", "..", "a/b.png", "a\\b.png", "C:x.png", "a\0.png", "\ud800.png"])
def test_a_member_never_leads_out_of_the_folder(folder: Path, avatar: str) -> None:
    read = load_group(group(folder, members=[avatar]))
    assert read.members[0].card is None
    assert "is no file name" in read.remarks[0]


def test_members_of_one_name(folder: Path) -> None:
    (folder / "characters" / "twin.png").write_bytes((folder / "characters" / "hob.png").read_bytes())
    assert "Several members are called Hob" in load_group(group(folder, members=["hob.png", "twin.png"])).remarks[0]


def test_what_the_group_keeps_for_its_chats(folder: Path) -> None:
    kept = {"chat_id": "now", "chat_metadata": {"a": 1}, "past_metadata": {"then": {"a": 2}, "odd": 3}}
    read = load_group(group(folder, **kept))
    assert [read.metadata(name) for name in ("now", "then", "odd", "never")] == [{"a": 1}, {"a": 2}, {}, {}]


@pytest.mark.parametrize(
    ("document", "told"),
    [({}, "no members"), ([], "no group"), ({"members": []}, "is empty"), ({"members": "x"}, "members"),
     ({"members": ["a.png"], "generation_mode": 9}, "generation_mode")],
)  # fmt: skip
def test_files_that_cannot_be_used(folder: Path, document: Any, told: str) -> None:
    path = folder / "groups" / "bad.json"
    path.write_text(json.dumps(document), "utf-8")
    with pytest.raises(InputError, match=r"bad\.json") as caught:
        load_group(path)
    assert told in str(caught.value)
