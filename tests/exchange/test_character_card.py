from __future__ import annotations

import base64
import json
import struct
import zlib
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lorestudio.exchange.character_card import GenerationMode, load_card, load_group, parse_card
from lorestudio.exchange.problems import InputError

FIELDS = {
    "name": "Ottoline",
    "description": "A keeper of {{user}}'s letters.",
    "personality": "brisk",
    "scenario": "The kite post.",
    "first_mes": "You are early.",
    "mes_example": "<START>\n{{user}}: Hello\n{{char}}: Late!",
}
V2 = {
    "spec": "chara_card_v2",
    "spec_version": "2.0",
    "data": {
        **FIELDS,
        "system_prompt": "Be brief. {{original}}",
        "alternate_greetings": ["Sit.", " "],
        "extensions": {"depth_prompt": {"prompt": "Hums.", "depth": 2, "role": "user"}, "fav": True},
        "house": {"colour": "teal"},
    },
}


def chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I4s", len(body), kind) + body + struct.pack(">I", zlib.crc32(kind + body))


def picture(**texts: Any) -> bytes:
    chunks = [chunk(b"IHDR", bytes(13))]
    for keyword, value in texts.items():
        body = value if isinstance(value, bytes) else base64.b64encode(json.dumps(value).encode())
        chunks.append(chunk(b"tEXt", keyword.encode() + b"\0" + body))
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks) + chunk(b"IEND", b"")


def as_json(value: Any) -> bytes:
    return json.dumps(value).encode()


def test_version_2_in_a_picture() -> None:
    card = parse_card(picture(chara=V2), "card.png")
    assert card.name == "Ottoline"
    assert card.data.system_prompt == "Be brief. {{original}}"
    assert (card.data.first_mes, *card.data.alternate_greetings) == ("You are early.", "Sit.", " ")
    depth = card.data.extensions.depth_prompt
    assert (depth.prompt, depth.depth, depth.role) == ("Hums.", 2, "user")


def test_what_is_not_known_is_kept() -> None:
    card = parse_card(as_json(V2), "card.json")
    assert card.data.model_extra == {"house": {"colour": "teal"}}
    assert card.data.extensions.model_extra == {"fav": True}


def test_the_newer_chunk_is_preferred() -> None:
    newer = {"spec": "chara_card_v3", "spec_version": "3.0", "data": {**FIELDS, "name": "Quay"}}
    card = parse_card(picture(chara=V2, ccv3=newer), "card.png")
    assert card.name == "Quay"


def test_a_picture_whose_text_is_not_filled_up_is_read() -> None:
    for length in range(1, 4):
        card = {"name": "W" * length, "first_mes": "Hi."}
        bare = base64.b64encode(json.dumps(card).encode()).rstrip(b"=")
        assert parse_card(picture(chara=bare), "card.png").data.first_mes == "Hi."


def test_version_1_has_its_fields_at_the_root() -> None:
    card = parse_card(as_json(FIELDS), "card.json")
    assert card.data.personality == "brisk"


def test_null_and_missing_fields_are_empty() -> None:
    card = parse_card(as_json({"data": {"name": "A", "description": None, "tags": None, "extensions": []}}), "c")
    assert (card.data.description, card.data.tags, card.data.scenario) == ("", (), "")


def test_a_file_is_told_by_its_content(tmp_path: Path) -> None:
    path = tmp_path / "card.json"
    path.write_bytes(picture(chara=FIELDS))
    assert load_card(path).name == "Ottoline"


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (picture(other=V2), "the picture holds no character"),
        (picture(chara=b"%%%%"), "card"),
        (picture(chara=V2)[:60], "the picture ends in the middle"),
        (b"\xff\xfe", "neither a PNG picture nor JSON"),
        (b"{\n}x", "line 2: this is no valid JSON (Extra data, column 2)"),
        (b" \n", "it is empty"),
        (b"[]", "no JSON object"),
        (as_json({"entries": {}}), "no character card"),
        (as_json({"spec": "chara_card_v2", "data": 4}), "field “data”"),
        (as_json({"data": {**FIELDS, "name": "  "}}), "field “data.name”"),
        (as_json({"data": {**FIELDS, "description": 7}}), "field “data.description”"),
        (as_json({**FIELDS, "tags": [1]}), "field “tags.0”"),
    ],
)
def test_what_is_no_card_is_refused_with_its_place(data: bytes, told: str) -> None:
    with pytest.raises(InputError, match=r"^card\.png") as caught:
        parse_card(data, "card.png")
    assert told in str(caught.value)


def test_a_card_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no such file"):
        load_card(tmp_path / "gone.png")


@given(st.binary(max_size=80), st.integers(0, 200))
def test_damage_is_an_error_and_no_crash(junk: bytes, place: int) -> None:
    data = picture(chara=V2)
    for damaged in (junk, data[:place] + junk + data[place + len(junk) :]):
        with suppress(InputError):  # anything else is a crash
            assert parse_card(damaged, "card.png").name


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
