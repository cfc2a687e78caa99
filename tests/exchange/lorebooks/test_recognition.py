"""Files of other programs that are no lorebook that can be read: each is told by what it holds, with the way out."""

from __future__ import annotations

import io
import json
import zipfile

import pytest

from lorestudio.exchange.lorebooks.recognition import may_be_chat, what_it_is
from lorestudio.exchange.problems import InputError
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
    assert [what_it_is(data) for data in (book, chat, b"Mira: null", b"\x89PNG\r\n\x1a\n")] == [""] * 4
    assert [may_be_chat(data) for data in (book, chat, b'{"mes": "Hm"}', b"Mira: null")] == [False, True, True, True]
    path = tmp_path / "off.json"
    path.write_bytes(book)
    assert len(open_project([path]).books[0].entries) == 1  # all switched off, as its author wants
    with pytest.raises(InputError, match="a lorebook, and no chat"):
        open_project([], path)
