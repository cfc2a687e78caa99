"""Files of every format: told by their content, read into World Info entries, and written again as they were."""

from __future__ import annotations

import io
import json
import random
import zipfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lorestudio.exchange.containers import archive, opened
from lorestudio.exchange.containers import zipped as packed_files
from lorestudio.exchange.lorebooks.crossing import Fidelity, alike, effective
from lorestudio.exchange.lorebooks.documents import Lore
from lorestudio.exchange.lorebooks.entry import NEW_ENTRY
from lorestudio.exchange.lorebooks.formats import BY_NAME, FORMATS, LoreFormat, parse_lore, read_lore, write_lore
from lorestudio.exchange.lorebooks.notes import entry_of, note_of
from lorestudio.exchange.lorebooks.reading import read_lorebook
from lorestudio.exchange.problems import InputError
from lorestudio.vault.entries import ParseRules
from tests.examples import examples
from tests.exchange.lorebooks.test_notes import MEMBERS, TEXT
from tests.exchange.test_character_card import V2, as_json, chunk, picture

DATA = Path(__file__).parent / "data"
WORLD_INFO = Path(__file__).parent / "samples"
SAMPLES = {
    "10-old-2023-gaps.json": ("sillytavern", 10),
    "12-chub-lorebook.json": ("sillytavern", 9),
    "13-odd-types.json": ("sillytavern", 12),
    "14-card-v2-sillytavern.json": ("card", 7),
    "15-card-v3-decorators.json": ("card", 7),
    "16-lorebook-v3.json": ("lorebook-v3", 8),
    "17-card-sillytavern.png": ("card", 8),
    "18-risu-folders.json": ("risu", 6),
    "20-risu-module.json": ("risu-module", 6),
    "21-card-risu.charx": ("card", 6),
    "22-novelai-v4.lorebook": ("novelai", 5),
    "23-novelai-v5.lorebook": ("novelai", 7),
    "25-novelai.scenario": ("novelai", 5),
    "26-agnai-book.json": ("agnaistic", 10),
    "27-kobold-lite-worldinfo.json": ("kobold", 10),
    "28-kobold-lite-save.json": ("kobold", 7),
    "29-aidungeon-storycards.json": ("aidungeon", 12),
    "30-table-comma.csv": ("csv", 6),
}


def zipped(**files: bytes) -> bytes:
    return packed_files(files)


def through_json(lore: Lore) -> list[dict[str, object]]:
    found: list[dict[str, object]] = json.loads(json.dumps(lore.entries))
    return found


@pytest.mark.parametrize("name", SAMPLES)
def test_a_sample_is_told_by_its_content_and_comes_out_as_it_was(name: str, tmp_path: Path) -> None:
    data = ((WORLD_INFO if SAMPLES[name][0] == "sillytavern" else DATA) / name).read_bytes()
    path = tmp_path / "told-by-nothing.bin"
    lore = parse_lore(data, path)
    assert (lore.form, len(lore.entries)) == SAMPLES[name]
    assert len({str(entry["uid"]) for entry in lore.entries}) == len(lore.entries)
    assert lore.report.target == "World Info"
    again = write_lore(lore.form, lore.name, through_json(lore), (path, data)).data
    if name.endswith(".charx"):  # it goes without its module
        assert opened(again, path).text == opened(data, path).text
    else:
        assert again == data


@pytest.mark.parametrize("name", [name for name in SAMPLES if SAMPLES[name][0] != "sillytavern"])
def test_a_sample_comes_out_as_it_was_after_its_entries_were_notes(name: str) -> None:
    path = DATA / name
    lore = read_lore(path)
    notes = [note_of(entry, lore.name, ParseRules()).text for entry in lore.entries]
    entries = [
        {**entry_of(note, "Note.md", ParseRules()).raw, "uid": entry["uid"]}
        for note, entry in zip(notes, lore.entries, strict=True)
    ]
    again = write_lore(lore.form, lore.name, entries, (path, path.read_bytes())).data
    if name.endswith(".charx"):
        assert opened(again, path).text == opened(path.read_bytes(), path).text
    else:
        assert again == path.read_bytes()


@pytest.mark.parametrize("kind", [kind for kind in FORMATS if kind.makes_new], ids=lambda kind: kind.name)
def test_a_new_file_of_each_format_is_read_again(kind, tmp_path: Path) -> None:
    entries = [
        {"uid": 4, "key": ["Mira", "the smith"], "comment": "Mira", "content": "A smith, “quiet”.\nTwo.", "order": 7},
        {"uid": 9, "key": ["quay"], "comment": "Quay", "content": "Wet.", "order": 3, "constant": True},
    ]  # fmt: skip
    written = write_lore(kind.name, "Harbour", entries)
    assert not written.data.startswith(b"\xef\xbb\xbf")
    lore = parse_lore(written.data, tmp_path / "Harbour.x")
    assert lore.form == kind.name
    assert lore.name == "Harbour" or not lore.name
    wanted = [(entry["key"], entry["comment"], entry["content"]) for entry in entries]
    assert [(entry["key"], entry["comment"], entry["content"]) for entry in lore.entries] == wanted
    if kind.name != "aidungeon":
        assert [bool(entry.get("constant")) for entry in lore.entries] == [False, True]
    first, second = (entry["order"] for entry in lore.entries)
    assert first > second


def test_what_the_fields_of_other_programs_become() -> None:
    """Worked out by hand from the samples (rules: lorebooks 6, 8, 9, 10)."""
    novelai = {entry["comment"]: entry for entry in read_lore(DATA / "22-novelai-v4.lorebook").entries}
    assert novelai["Teithsiar Yeirporndas"]["constant"] is True
    assert novelai["Maekund Canal"]["order"] == -100
    risu = read_lore(DATA / "18-risu-folders.json")
    moth = risu.entries[2]
    assert (moth["comment"], moth["probability"], moth["position"], moth["depth"], moth["role"]) == (
        "Siarildtam Moth", 40, 4, 2, 2,
    )  # fmt: skip
    assert str(moth["content"]).startswith("{{user}} has been there once")
    assert risu.folders == {"2": "People", "3": "People", "4": "People"}
    assert [fate.title for fate in risu.report.entries if fate.left_out] == ["People", "Copy"]
    kobold = read_lore(DATA / "27-kobold-lite-worldinfo.json").entries
    assert (kobold[2]["keysecondary"], kobold[2]["selectiveLogic"], kobold[2]["probability"]) == (
        ["winter", "storm"],
        2,
        74,
    )
    assert (kobold[1]["probability"], kobold[5]["disable"], kobold[3]["order"]) == (49, True, 97)
    cards = read_lore(DATA / "29-aidungeon-storycards.json")
    assert (cards.entries[2]["content"], cards.folders["2"]) == ("Only a note.", "Magic System")
    assert cards.entries[1]["key"] == ["Fothotreal's Bell", "traexdraron"]
    agnai = read_lore(DATA / "26-agnai-book.json").entries
    assert agnai[1]["key"] == ["Circle of Meanojiax", r"/\bCirc\w*\b/i", r"/\b\wircl\b/i"]


def test_a_category_that_is_off_switches_its_entries_off() -> None:
    document = json.loads((DATA / "22-novelai-v4.lorebook").read_bytes())
    off = {each["id"] for each in document["categories"] if not each["enabled"]}
    assert off
    lore = read_lore(DATA / "22-novelai-v4.lorebook")
    for raw, entry in zip(document["entries"], lore.entries, strict=True):
        assert entry["disable"] is (raw["category"] in off or not raw["enabled"])


def test_an_entry_that_was_touched_keeps_what_nobody_touched() -> None:
    path = DATA / "22-novelai-v4.lorebook"
    before = json.loads(path.read_bytes())
    lore = read_lore(path)
    entries = through_json(lore)
    entries[1] |= {"content": "Other words.", "key": ["other"]}
    after = json.loads(write_lore("novelai", lore.name, entries, (path, path.read_bytes())).data)
    wanted = {**before["entries"][1], "text": "Other words.", "keys": ["other"]}
    assert after == {**before, "entries": [before["entries"][0], wanted, *before["entries"][2:]]}


def test_entries_that_are_gone_or_new() -> None:
    path = DATA / "25-novelai.scenario"
    lore = read_lore(path)
    new = {"uid": 77, "comment": "New", "key": ["new"], "content": "N"}
    data = write_lore("novelai", lore.name, [*through_json(lore)[1:], new], (path, path.read_bytes())).data
    before, after = (json.loads(each)["lorebook"] for each in (path.read_bytes(), data))
    assert [each["displayName"] for each in after["entries"]] == [
        *(each["displayName"] for each in before["entries"][1:]), "New",
    ]  # fmt: skip
    made = after["entries"][-1]["id"]
    assert after["order"] == [*(each for each in before["order"] if each != before["entries"][0]["id"]), made]


def test_the_fields_of_a_book_of_chubs_change_in_both_spellings() -> None:
    path = WORLD_INFO / "12-chub-lorebook.json"
    lore = read_lore(path)
    entries = through_json(lore)
    entries[0] |= {"key": ["other"], "disable": True}
    data = write_lore("sillytavern", lore.name, entries, (path, path.read_bytes())).data
    changed = json.loads(data)["entries"]["1"]
    assert (changed["key"], changed["keys"], changed["disable"], changed["enabled"]) == (
        ["other"],
        ["other"],
        True,
        False,
    )


def test_two_entries_of_one_uid_stay_two_and_come_out_as_they_were() -> None:
    book = {"entries": {"0": {"uid": 5, "key": ["a"]}, "1": {"uid": 5, "key": ["b"]}, "2": {"key": ["c"]}}}
    data = as_json(book)
    lore = parse_lore(data, Path("b.json"))
    assert len({str(entry["uid"]) for entry in lore.entries}) == 3
    assert write_lore("sillytavern", "b", lore.entries, (Path("b.json"), data)).data == data


def test_fields_of_any_kind_are_taken_as_they_are() -> None:
    entries = [
        {"mode": {"a": 1}, "key": 3, "comment": "\ud800", "insertorder": 1e308, "content": None},
        {"mode": "child"},
    ]
    data = as_json({"type": "risu", "data": entries})
    lore = parse_lore(data, Path("r.json"))
    assert write_lore("risu", "r", lore.entries, (Path("r.json"), data)).data == data
    [made] = parse_lore(write_lore("novelai", "r", lore.entries).data, Path("n.lorebook")).entries
    assert made["comment"] == "\ud800"


# ---- cards ----------------------------------------------------------------------------------------------------------

ENTRY = {
    "uid": 3,
    "key": ["kite"],
    "comment": "Kite",
    "content": "Post.",
    "order": 5,
    "characterFilter": {"names": ["M"]},
}


def test_a_book_of_a_card_that_is_changed_gets_the_extensions_that_sillytavern_asks_for() -> None:
    """Its validator refuses a card of version 2 without; a book that nobody touched comes out as it was."""
    data = as_json({"spec": "chara_card_v2", "data": {"name": "M", "character_book": {"entries": [{"keys": ["a"]}]}}})
    entries = parse_lore(data, Path("c.json")).entries
    assert write_lore("card", "B", entries, (Path("c.json"), data)).data == data
    made = write_lore("card", "B", (*entries, ENTRY), (Path("c.json"), data)).data
    assert json.loads(made)["data"]["character_book"]["extensions"] == {}


def test_keys_and_orders_of_another_type_count_in_a_card_as_in_the_book() -> None:
    """SillyTavern 1.18 reads a number among the keys as its digits and an order that is a text as its number."""
    raw = {**NEW_ENTRY, "uid": 0, "key": [1066, "year"], "keysecondary": [2.5], "order": "30", "content": "x"}
    card = json.loads(write_lore("lorebook-v3", "B", [raw]).data)
    made = card["data"]["entries"][0]
    assert (made["keys"], made["secondary_keys"], made["insertion_order"]) == (["1066", "year"], ["2.5"], 30)
    [entry] = read_lorebook(card).entries
    assert (entry.keys, entry.secondary, entry.order) == (("1066", "year"), ("2.5",), 30)
    [back] = parse_lore(json.dumps(card).encode(), Path("b.json")).entries
    assert back == raw


def test_a_book_goes_into_a_copy_of_a_card_and_all_else_stays() -> None:
    other = chunk(b"zTXt", b"note\0\0xyz") + chunk(b"IDAT", b"\x01\x02")
    newer = {**V2, "spec": "chara_card_v3", "spec_version": "3.0"}
    before = picture(chara=V2, ccv3=newer)
    before = before[:33] + other + before[33:]
    written = write_lore("card", "Ottoline", [ENTRY], (Path("card.png"), before))
    assert before[:33] + other in written.data
    assert written.data.endswith(chunk(b"IEND", b""))
    lore = parse_lore(written.data, Path("card.png"))
    assert {name: lore.entries[0][name] for name in ENTRY} == ENTRY
    for keyword, spec in ((b"chara", "chara_card_v2"), (b"ccv3", "chara_card_v3")):
        hidden = b"ccv3" if keyword == b"chara" else b"chara"
        only = written.data.replace(hidden + b"\0", hidden[::-1] + b"\0")
        card = json.loads(opened(only, "card.png").text)
        book = card["data"].pop("character_book")
        assert (card["spec"], card["data"], len(book["entries"])) == (spec, V2["data"], 1)


def test_a_charx_goes_without_its_module_which_is_said() -> None:
    path = DATA / "21-card-risu.charx"
    lore = read_lore(path)
    assert "module.risum" in lore.report.remarks[0]
    written = write_lore("card", lore.name, lore.entries[1:], (path, path.read_bytes()))
    assert "module.risum" in written.report.remarks[0]
    with zipfile.ZipFile(path) as before, zipfile.ZipFile(io.BytesIO(written.data)) as after:
        names = [name for name in before.namelist() if name != "module.risum"]
        assert after.namelist() == names
        assert [after.read(name) for name in names[:-1]] == [before.read(name) for name in names[:-1]]
    assert len(parse_lore(written.data, path).entries) == len(lore.entries) - 1


def test_a_lorebook_of_novelais_in_a_picture() -> None:
    book = json.loads((DATA / "22-novelai-v4.lorebook").read_bytes())
    lore = parse_lore(picture(naidata=book), Path("lore.png"))
    assert (lore.form, len(lore.entries)) == ("novelai", 5)


def test_a_card_of_another_format_or_without_a_place_is_refused() -> None:
    with pytest.raises(InputError, match="no lorebook inside"):
        parse_lore(as_json(V2), Path("card.json"))
    with pytest.raises(InputError, match="version 1"):
        write_lore("card", "x", [ENTRY], (Path("card.json"), as_json(V2["data"])))
    with pytest.raises(InputError, match="a copy of"):
        write_lore("card", "x", [ENTRY])
    with pytest.raises(InputError, match="but of another: Character card"):
        write_lore("risu", "x", [ENTRY], (Path("card.json"), as_json(V2)))


# ---- what is lost ---------------------------------------------------------------------------------------------------


def test_what_cannot_go_is_named_with_the_reason() -> None:
    entry = {**ENTRY, "sticky": 3, "order": 400, "position": 1}
    fates = {said.field: said for said in write_lore("novelai", "x", [entry]).report.entries[0].fields}
    assert fates["sticky"].fate is Fidelity.LOST
    assert "NovelAI" in fates["sticky"].how
    assert (fates["order"].fate, fates["position"].fate) == (Fidelity.EXACT, Fidelity.LOST)
    carried = write_lore("lorebook-v3", "x", [entry]).report.entries[0].fields
    assert {said.field for said in carried if said.fate is Fidelity.CARRIED} == {"characterFilter"}
    assert not {said.field for said in carried if said.fate is Fidelity.LOST}


def test_a_text_that_a_program_may_refuse_is_said() -> None:
    entries = [{"uid": uid, "key": ["a"], "content": "x" * length} for uid, length in enumerate([1000, 1001])]
    assert write_lore("aidungeon", "x", entries).report.remarks == (
        "1 entry has more than 1,000 characters, which AI Dungeon may refuse.",
    )
    assert not write_lore("risu", "x", entries).report.remarks


# ---- files that are none --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "empty"),
        (b"null", "only “null”"),
        ((DATA / "19-risu-module.risum").read_bytes(), "packed form"),
        (b"word", "line 1: this is no valid JSON"),
        (b'{"a": 1}', "no lore that is known"),
        (b'{"power_user": {}}', "settings file"),
        (b'{"user_name": "U"}\n{"mes": "x"}\n', "this is a chat"),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"type": "risu", "data": [{"key": ' + b"[" * 990 + b"]" * 990 + b"}]}", "nested too deeply"),
        (b"PK\x03\x04" + zipped(**{"card.json": b"{}"})[40:], "damaged"),
        (b'{"lorebookVersion": 5, "entries": [3]}', "field “entries.0”"),
        (b'{"lorebookVersion": 5}', "field “entries”"),
        (b'{"storyContainerVersion": 1, "content": {}}', "field “content.lorebook.entries”"),
        (b'{"type": "risu", "data": [null]}', "field “data.0”"),
        (b'{"entries": {"0": {"uid": 0}, "1": {"uid": 1, "x": [1e999]}}}', "entry 2 holds a number that is too large"),
        (b"\x89PNG\r\n\x1a\n\x00\x00\xff\xfftEXt", "ends in the middle"),
        (picture(chara=b"rcc||xyz"), "encrypted"),
        (picture(other=b"x"), "holds no character"),
        (zipped(**{"../x.md": b"x"}), "outside of itself"),
        (zipped(**{"manifest.json": b"{}"}), "Backyard AI"),
        (zipped(**{"card.json": b"\xff"}), "card.json, line 1: byte 0 of the file is not UTF-8"),
        (b"PK\x03\x04 and no more", "damaged"),
        (b"keys,content\na,b,c\n", "line 2: 3 cells"),
        (b'keys,content\na,"b\n', "line 2: this is no table"),
        (b"keys,content,keys\na,b,c\n", "same name"),
        (b"keys,content\na,\xff\n", "line 2: byte 15 of the file is not UTF-8"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_cannot_be_used_is_said(data: bytes, words: str) -> None:
    with pytest.raises(InputError, match=words) as caught:
        parse_lore(data, Path("given.file"))
    assert "given.file" in str(caught.value)


def test_an_archive_that_unpacks_to_too_much_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lorestudio.exchange.containers.MAX_UNPACKED", 1024**2)
    with pytest.raises(InputError, match="holds more than"):
        parse_lore(zipped(**{"card.json": bytes(1024**2 + 1)}), Path("bomb.charx"))


def test_an_archive_may_hold_twice_what_it_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    """A card with large pictures is no bomb: pictures do not get smaller."""
    monkeypatch.setattr("lorestudio.exchange.containers.MAX_UNPACKED", 1024)
    assert archive(zipped(**{"a.png": (noise := random.Random(1).randbytes(5000))}), "a.charx") == {"a.png": noise}


def test_names_are_told_apart() -> None:
    assert len(BY_NAME) == len(FORMATS)
    assert all(kind.forms or kind.name == "sillytavern" for kind in FORMATS)


# ---- Markdown and tables --------------------------------------------------------------------------------------------

NOTES = {
    "World/People/Mira.md": b"---\ntags: [person]  # mine\naliases: [Smith, Mira]\n---\n# Mira\n\nA smith.\n",
    "World/Quay.md": b"**Keys:** quay, harbour\r\n\r\nWet.\r\n",
    "World/Old.md": b"---\nkeys: [old]\nconstant: true\nenabled: false\npriority: 40\n---\nOld.",
    "World/.obsidian/app.json": b"{}",
    "World/map.png": b"\x89PNG",
}


def test_a_folder_and_an_archive_of_notes_are_the_same_lore(tmp_path: Path) -> None:
    for path, data in NOTES.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(data)
    folder = read_lore(tmp_path / "World")
    packed = parse_lore(zipped(**NOTES), Path("notes.zip"))
    assert (packed.form, packed.name, folder.name, packed.folders) == ("markdown", "World", "World", {"0": "People"})
    assert {entry["comment"]: entry["key"] for entry in packed.entries} == {
        "Mira": ["Mira", "Smith"], "Quay": ["quay", "harbour"], "Old": ["old"],
    }  # fmt: skip
    assert [entry["content"] for entry in packed.entries] == ["A smith.\n", "Wet.\r\n", "Old."]
    old = packed.entries[2]
    assert (old["constant"], old["disable"], old["order"]) == (True, True, 960)
    assert "map.png" in packed.report.remarks[0]
    assert "app.json" not in packed.report.remarks[0]
    by_title = {str(entry["comment"]): entry["content"] for entry in folder.entries}
    assert by_title == {str(entry["comment"]): entry["content"] for entry in packed.entries}


def unpacked(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as packed:
        return {name: packed.read(name) for name in packed.namelist()}


def test_notes_come_out_byte_for_byte_and_keep_their_front_matter() -> None:
    given = (Path("notes.zip"), zipped(**NOTES))
    lore = parse_lore(given[1], given[0])
    assert unpacked(write_lore("markdown", "World", through_json(lore), given).data) == NOTES
    entries = through_json(lore)
    entries[0] |= {"key": ["Mira"], "constant": True}
    after = unpacked(
        write_lore("markdown", "World", [*entries[:2], {"uid": 9, "comment": "con", "content": "N"}], given).data
    )
    text = after["World/People/Mira.md"].decode()
    assert text.startswith("---\ntags: [person]  # mine\naliases: [Smith, Mira]\n")
    assert text.endswith("---\n# Mira\n\nA smith.\n")
    assert "constant: true" in text
    assert "World/Old.md" not in after
    assert after["con_.md"].endswith(b"# con\n\nN")


def test_two_notes_of_one_name_are_two_files() -> None:
    entries = [
        {"uid": uid, "comment": title, "content": "x"} for uid, title in enumerate(["Mira", "mira", "A/B: #1", ""])
    ]
    names = list(unpacked(write_lore("markdown", "World", entries).data))
    assert names == ["World/Mira.md", "World/mira (2).md", "World/A B 1.md", "World/Entry 3.md"]


@pytest.mark.parametrize(
    ("table", "wanted"),
    [
        ("Name;Triggers;Text\nMira;a|b;x", {"comment": "Mira", "key": ["a", "b"], "content": "x"}),
        ("key\tvalue\tdisable\na, b\tx\tyes", {"key": ["a", "b"], "content": "x", "disable": True}),
        ('keys,content,secondary\n"a\nb",x,c;d', {"key": ["a", "b"], "keysecondary": ["c", "d"]}),
        ("Keys,Content,Order,Insertion_Order\na,x,7,9", {"order": 7}),
        ("keys,content,position,depth,role\na,x,Depth,2,user", {"position": 4, "depth": 2, "role": 1}),
        ("keys,content,probability\na,x,40%", {"probability": 40, "useProbability": True}),
        ('\ufeffkeys,content\na," x "', {"content": " x "}),
        ("keys,content,always\na,x,maybe", {"constant": False}),
        ("keys,content,Mood\na,x", {"content": "x"}),
    ],
)
def test_columns_of_tables(table: str, wanted: dict[str, object]) -> None:
    given = (Path("lore.csv"), table.encode())
    lore = parse_lore(given[1], given[0])
    assert {name: lore.entries[0][name] for name in wanted} == wanted
    again = parse_lore(write_lore("csv", "lore", through_json(lore), given).data, Path("lore.csv"))
    assert again.entries == lore.entries


def test_columns_that_are_not_known_come_out_again_also_in_a_new_table() -> None:
    lore = parse_lore(b"keys,content,Mood\na,x,grim\n", Path("lore.csv"))
    assert "Mood" in lore.report.remarks[0]
    written = write_lore("csv", "lore", [*lore.entries, {"uid": 5, "key": ["=1+1"], "content": "y"}])
    lines = written.data.decode().splitlines()
    assert lines[0].split(",")[-1] == "Mood"
    assert lines[1].endswith(",grim")
    assert "formula" in written.report.remarks[0]


def test_an_entry_takes_nothing_from_another_one_that_stood_in_its_place() -> None:
    path = DATA / "22-novelai-v4.lorebook"
    other = {"uid": 1, "comment": "Mira", "key": ["Mira"], "content": "A smith."}
    after = json.loads(write_lore("novelai", "x", [other], (path, path.read_bytes())).data)
    [made] = after["entries"]
    assert (made["displayName"], made["category"], made["contextConfig"]["prefix"]) == ("Mira", "", "")
    assert after["categories"] == json.loads(path.read_bytes())["categories"]


def test_an_order_that_names_other_ids_stays() -> None:
    document = {"lorebookVersion": 6, "entries": [{"id": "a", "text": "x"}], "order": ["gone", 3, "a"]}
    data = as_json(document)
    lore = parse_lore(data, Path("n.lorebook"))
    assert write_lore("novelai", "n", lore.entries, (Path("n.lorebook"), data)).data == data


UNITED = {
    "folders": {"root": [3, 1], "Isles": [2]},
    "entries": {
        str(uid): {
            "uid": uid, "title": f"T{uid}", "key": [f"k{uid}"], "keysecondary": [], "folder": folder, "constant": False,
            "manual_text": f"Text {uid}", "content": f"Text {uid}", "comment": "", "type": "wi", "selective": False,
            "use_wpp": False, "mine": uid,
        }
        for uid, folder in ((1, "root"), (2, "Isles"), (3, "root"))
    },
}  # fmt: skip


def test_a_book_of_united_keeps_its_folders_and_the_authors_text() -> None:
    data = json.dumps(UNITED, indent=2).encode()
    given = (Path("united.json"), data)
    lore = parse_lore(data, given[0])
    assert (lore.form, lore.folders) == ("kobold-united", {"1": "Isles"})
    entries = through_json(lore)
    assert write_lore("kobold-united", "x", entries, given).data == data
    changed = [{**entries[0], "content": "New."}, entries[2], {"uid": 7, "comment": "T7", "key": ["k7"], "order": 1}]
    after = json.loads(write_lore("kobold-united", "x", changed, given).data)
    assert after["folders"] == {"root": [3, 1, 7], "Isles": []}
    assert after["entries"]["1"] == {**UNITED["entries"]["1"], "content": "New.", "manual_text": "New."}  # type: ignore[index]
    assert after["entries"]["3"] == UNITED["entries"]["3"]  # type: ignore[index]
    assert after["entries"]["7"]["folder"] == "root"
    back = [{**raw, "order": place} for place, raw in enumerate(entries)]
    turned = write_lore("kobold-united", "x", back, given).data
    assert json.loads(turned)["entries"] == UNITED["entries"]
    assert [raw["comment"] for raw in parse_lore(turned, given[0]).entries] == [raw["comment"] for raw in back[::-1]]


PLAIN = {
    name: strategy
    for name, strategy in MEMBERS.items()
    if name not in {"extensions", "displayIndex", "addMemo", "position", "key", "content"}
} | {
    "position": st.integers(0, 7),
    "key": st.lists(TEXT, min_size=1, max_size=3),
    "content": st.text(st.characters(codec="utf-8"), min_size=1, max_size=30),
}  # fmt: skip


@st.composite
def books(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Entries as an editor may leave them: every member of its kind, many as in a new entry."""
    found = []
    for uid in range(draw(st.integers(1, 3))):
        said = draw(st.sets(st.sampled_from(list(PLAIN)), max_size=6)) | {"key", "content"}
        found.append({"uid": uid, **NEW_ENTRY, **{name: draw(PLAIN[name]) for name in sorted(said)}})
    return found


@pytest.mark.long
@pytest.mark.parametrize("kind", [kind for kind in FORMATS if kind.makes_new], ids=lambda kind: kind.name)
@given(entries=books())
@settings(max_examples=examples(60))
def test_out_and_in_again_is_equal_but_for_what_the_report_named(
    kind: LoreFormat, entries: list[dict[str, Any]]
) -> None:
    """And in and out again is the same file, byte for byte."""
    path = Path("Book.x")
    written = write_lore(kind.name, "Book", entries)
    lore = parse_lore(written.data, path)
    given = {str(entry["uid"]): entry for entry in entries}
    assert [fate.left_out for fate in written.report.entries] == [""] * len(entries)
    for fate, read in zip(written.report.entries, lore.entries, strict=True):
        entry, told = given[fate.uid], {said.field for said in fate.fields if said.fate is not Fidelity.EXACT}
        names = {name for name in PLAIN if not alike(name, effective(entry, name), effective(read, name))}
        assert names <= told, (names - told, {name: (entry[name], read.get(name)) for name in names - told})
    assert write_lore(kind.name, lore.name, through_json(lore), (path, written.data)).data == written.data
