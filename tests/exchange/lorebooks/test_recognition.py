"""Files of other programs that are no lorebook that can be read: each is told by what it holds, with the way out."""

from __future__ import annotations

import io
import json
import zipfile

import pytest

from lorestudio.exchange.lorebooks.formats import may_be_chat, what_it_is
from lorestudio.exchange.problems import Belongs, InputError, WrongFileError
from lorestudio.studio.lorebooks.importing import read_books
from lorestudio.studio.project.project import open_project


def zipped(name: str) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr(name, "{}")
    return out.getvalue()


CARDS = [{"keys": "mira, the smith", "value": "Mira.", "type": "character", "title": "Mira"}]
KNOWN = {
    "kobold.json": (json.dumps({"gamestarted": True, "worldinfo": []}).encode(), "“KoboldAI”.*lorestudio import"),
    "lite.json": (json.dumps([{"key": "a,b", "content": "A"}]).encode(), "“KoboldAI”.*lorestudio import"),
    "united.json": (json.dumps({"folders": {}, "entries": {"1": {"key": ["a"]}}}).encode(), "“KoboldAI United”"),
    "table.csv": (b"Title,Keys,Content\nA,a,b\n", "a table.*lorestudio import"),
    "dungeon.json": (json.dumps(CARDS).encode(), "“AI Dungeon”.*lorestudio import FILE --into VAULT"),
    "null.json": (b"null\n", "only “null”"),
    "empty.json": (b" \n", "empty"),
    "module.json": (b'{"type": "risuModule", "lorebook": []}', "Risu module"),
    "module.risum": (b"\x6f\x00\x05", "packed form"),
    "card.charx": (zipped("card.json"), "no character card|no chat"),
    "notes.zip": (zipped("Mira.md"), "an archive of notes.*lorestudio import"),
    "tale.story": (b'{"storyContainerVersion": 1}', "“NovelAI”.*lorestudio import"),
    "start.scenario": (b'{"scenarioVersion": 3, "lorebook": {}}', "“NovelAI”.*lorestudio import"),
    "settings.json": (b'{"power_user": {}}', "settings file"),
}


@pytest.mark.parametrize("name", KNOWN)
def test_it_is_told_in_the_place_of_a_vault_and_of_a_chat(name, tmp_path) -> None:
    data, words = KNOWN[name]
    path = tmp_path / name
    path.write_bytes(data)
    for given in (([path], None), ([], path)):
        with pytest.raises(InputError, match=words):
            open_project(*given)


def test_what_is_a_book_or_a_chat_is_none_of_them(tmp_path) -> None:
    book = json.dumps({"entries": {"0": {"uid": 0, "key": ["a"], "content": "A", "disable": True}}}).encode()
    chat = b'{"user_name": "U"}\n{"name": "C", "mes": "null"}\n'
    known = (book, chat, b"Mira: null", b"\x89PNG\r\n\x1a\n")
    assert [what_it_is(data, tmp_path) for data in known] == [None] * 4
    assert [may_be_chat(data) for data in (book, chat, b'{"mes": "Hm"}', b"Mira: null")] == [False, True, True, True]
    path = tmp_path / "off.json"
    path.write_bytes(book)
    assert len(open_project([path]).books[0].entries) == 1  # all switched off, as its author wants
    with pytest.raises(InputError, match="a lorebook, and no chat"):
        open_project([], path)


CARD = json.dumps({"spec": "chara_card_v2", "data": {"name": "Ada", "first_mes": "Hm.", "description": ""}}).encode()


@pytest.mark.parametrize(
    ("name", "data", "as_vault", "as_chat"),
    [
        ("ada.json", CARD, Belongs.CARD, Belongs.CARD),
        ("talk.jsonl", b'{"user_name": "U", "character_name": "C"}\n', Belongs.CHAT, None),
        ("book.json", b'{"entries": {}}', None, Belongs.BOOK),
        ("cards.json", KNOWN["dungeon.json"][0], Belongs.OTHER_LORE, Belongs.OTHER_LORE),
        ("settings.json", b'{"power_user": {}}', Belongs.SETTINGS, Belongs.SETTINGS),
        ("folder/a.md", b"A.\n", None, Belongs.VAULT),
        ("data/default-user/chats/a/b.txt", b"", Belongs.SILLYTAVERN, Belongs.VAULT),
    ],
)
def test_where_it_belongs_is_told(name, data, as_vault, as_chat, tmp_path) -> None:
    path = tmp_path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    if as_vault is Belongs.SILLYTAVERN:
        (tmp_path / "data/default-user/worlds").mkdir()
    given = tmp_path / name.partition("/")[0] if "/" in name else path
    if as_vault is Belongs.SILLYTAVERN:
        given = tmp_path
    for vaults, chat, belongs in (([given], None, as_vault), ([], given, as_chat)):
        if belongs is None:
            assert open_project(vaults, chat) is not None
        else:
            with pytest.raises(WrongFileError) as wrong:
                open_project(vaults, chat)
            assert wrong.value.belongs is belongs
            assert str(wrong.value).endswith(belongs)


def test_what_is_left_of_a_chat_is_told_whatever_the_file_is_called(tmp_path) -> None:
    for name, data, words in (("a.jsonl", b"null\n", "only “null”"), ("b.txt", b"", "the file is empty")):
        (tmp_path / name).write_bytes(data)
        with pytest.raises(InputError, match=words):
            open_project([], tmp_path / name)


def test_a_chat_is_no_lore_to_import(tmp_path) -> None:
    (tmp_path / "a.jsonl").write_bytes(b'{"user_name": "U", "chat_metadata": {}}\n')
    with pytest.raises(WrongFileError, match="this is a chat, and no lorebook"):
        read_books([tmp_path / "a.jsonl"])
