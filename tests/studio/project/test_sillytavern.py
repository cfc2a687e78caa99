"""SillyTavern's folder as people have it: what of it can be opened here, and what is said of one that is none."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
from pathlib import Path

import pytest

from lorestudio.exchange.chats.loading import chat_of_text
from lorestudio.exchange.lorebooks.reading import BookRole
from lorestudio.exchange.problems import InputError
from lorestudio.studio.project.project import open_project
from lorestudio.studio.project.sillytavern import look_into, open_found
from lorestudio.studio.prompt.setup import Persona
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.systems.registry import KINDS, system_of

DEEPLORE = {"extension_settings": {"deeplore_enhanced": {"enabled": True}}}


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """An installation of today's shape with two chats, the second one newer."""
    user = tmp_path / "SillyTavern" / "data" / "default-user"
    for age, (character, name) in enumerate((("Ottoline", "evening"), ("Wren", "morning"))):
        path = user / "chats" / character / f"{name}.jsonl"
        path.parent.mkdir(parents=True)
        path.write_text("{}\n")
        os.utime(path, (1_700_000_000 + age, 1_700_000_000 + age))
    return tmp_path / "SillyTavern"


@pytest.mark.parametrize("below", ["", "data", "data/default-user"])
def test_chats_are_found_whichever_folder_is_named_the_newest_first(installed: Path, below: str) -> None:
    found = look_into(installed / below)
    assert [(chat.character, chat.path.stem) for chat in found.chats] == [("Wren", "morning"), ("Ottoline", "evening")]
    assert found.chats[0].when > found.chats[1].when
    assert found.settings is None


def test_a_chat_of_any_time_is_found_and_a_link_to_none_is_no_chat(
    installed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chats = installed / "data/default-user/chats"
    (chats / "Wren/gone.jsonl").symlink_to("nowhere.jsonl")
    (chats / "Wren/folder.jsonl").mkdir()
    look = Path.stat

    def stat(path: Path, **more: bool) -> os.stat_result:
        seen = look(path, **more)
        return os.stat_result((*seen[:8], 10**12, seen[9])) if path.name == "evening.jsonl" else seen

    monkeypatch.setattr(Path, "stat", stat)
    found = look_into(installed).chats
    assert [(chat.path.stem, chat.when.year) for chat in found] == [("evening", 9999), ("morning", 2023)]


def test_other_users_are_named_where_the_whole_folder_is_opened(installed: Path) -> None:
    for name in ("alice", "bo"):
        (installed / "data" / name / "chats").mkdir(parents=True)
    (installed / "data" / "_storage").mkdir()
    others = (installed / "data" / "alice", installed / "data" / "bo")
    assert look_into(installed).others == others
    assert [all(str(each) in told for each in others) for told in look_into(installed).told] == [True]
    assert look_into(installed / "data" / "default-user").told == look_into(others[0]).told == ()


@pytest.mark.parametrize(("written", "usable"), [(DEEPLORE, True), ({"extension_settings": {}}, False), ("{", False)])
def test_settings_come_along_where_they_are_deeplores(installed: Path, written: object, *, usable: bool) -> None:
    path = installed / "data" / "default-user" / "settings.json"
    path.write_text(written if isinstance(written, str) else json.dumps(written))
    assert look_into(installed).settings == (path if usable else None)


def test_another_folder_is_refused_with_what_is_expected(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="data/default-user"):
        look_into(tmp_path)
    (tmp_path / "chats").mkdir()
    assert look_into(tmp_path).chats == ()


HOST = {
    "main_api": "openai",
    "oai_settings": {"preset_settings_openai": "Mine"},
    "user_avatar": "last.png",
    "power_user": {
        "personas": {"quill.png": "Quill", "last.png": "Last"},
        "persona_descriptions": {
            "quill.png": {"description": "A clerk.", "lorebook": "Clerks", "connections": [{"id": "Ottoline.png"}]}
        },
    },
    "world_info_settings": {"world_info_depth": 5, "world_info": {"globalSelect": ["Town", "Lost"]}},
    "extension_settings": {},
}


def book(*keys: str) -> str:
    return json.dumps({"entries": {str(at): {"uid": at, "key": [key]} for at, key in enumerate(keys)}})


@pytest.fixture
def full(installed: Path) -> Path:
    """The same with a card that names a book, a persona with one, a preset, a group, and SillyTavern's settings."""
    user = installed / "data" / "default-user"
    card = {"spec": "chara_card_v2", "data": {"name": "Ottoline", "extensions": {"world": "Ottoline's"}}}
    group = {"id": "9", "name": "The inn", "members": ["Ottoline.png"], "chats": ["g1"], "chat_id": "g1"}
    header = {"user_name": "Wren", "character_name": "Ottoline", "chat_metadata": {"world_info": "Evening"}}
    line = {"name": "Wren", "is_user": True, "mes": "Fog."}
    chat = f"{json.dumps(header)}\n{json.dumps(line)}\n"
    texts = {
        "settings.json": json.dumps(HOST),
        "characters/Ottoline.png": json.dumps(card),
        "groups/9.json": json.dumps(group),
        "group chats/g1.jsonl": chat,
        "chats/Ottoline/evening.jsonl": chat,
        "OpenAI Settings/Mine.json": json.dumps({"openai_max_context": 9000, "prompts": []}),
        "worlds/Town.json": book("town"),
        "worlds/Ottoline's.json": book("lamp", "ferry"),
        "worlds/Evening.json": book("dusk"),
        "worlds/Clerks.json": book("ink"),
    }
    for name, text in texts.items():
        path = user / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return installed


def test_files_stand_by_their_names_without_the_ending(full: Path) -> None:
    """“1” comes before no letter, but after the dot of an ending."""
    for name in ("Town2", "Town10"):
        (full / "data" / "default-user" / "worlds" / f"{name}.json").write_text(book("fog"), "utf-8")
    assert [path.stem for path in look_into(full).books if path.stem.startswith("Town")] == ["Town", "Town2", "Town10"]


def test_everything_of_a_folder_is_found(full: Path) -> None:
    found = look_into(full)
    assert [path.stem for path in found.characters] == ["Ottoline"]
    assert [path.stem for path in found.books] == ["Clerks", "Evening", "Ottoline's", "Town"]
    assert [path.stem for path in found.presets] == ["Mine"]
    assert [(each.name, each.text) for each in found.personas] == [("Quill", "A clerk."), ("Last", "")]
    assert [(each.character, each.path.stem) for each in found.chats if each.group] == [("The inn", "g1")]


def test_a_chat_brings_what_belongs_to_it_and_nothing_is_written(full: Path) -> None:
    before = {path: path.read_bytes() for path in full.rglob("*") if path.is_file()}
    found = look_into(full)
    opened = open_found(found, found.chat("evening"))
    project = opened.project
    assert project.setup.persona == Persona("Quill", "A clerk.")
    assert project.setup.card is not None
    assert project.setup.card.name == "Ottoline"
    assert project.setup.preset_path == found.presets[0]
    roles = {each.name: each.role for each in project.books}
    assert roles == {
        "Town": BookRole.GLOBAL, "Clerks": BookRole.PERSONA, "Evening": BookRole.CHAT, "Ottoline's": BookRole.CHARACTER
    }  # fmt: skip
    assert [entry.keys for entry in project.index.entries] == [("dusk",), ("ink",), ("lamp",), ("ferry",), ("town",)]
    assert {name: each.model_dump()["depth"] for name, each in opened.systems.items()} == {project.system: 5}
    assert ["Lost.json" in remark for remark in opened.remarks] == [True]
    assert project.note_path("Town", "uid 0") is None
    assert project.reloaded().books == project.books
    assert {path: path.read_bytes() for path in full.rglob("*") if path.is_file()} == before


def test_what_was_changed_since_the_preset_was_saved_is_what_counts(full: Path) -> None:
    """SillyTavern sends what its settings say; the file of the preset is as it was saved last."""
    own = {"preset_settings_openai": "Mine", "prompts": [], "openai_max_context": 16000, "openai_max_tokens": 600}
    settings = full / "data" / "default-user" / "settings.json"
    settings.write_text(json.dumps({**HOST, "oai_settings": own}))
    found = look_into(full)
    setup = open_found(found, found.chat("evening")).project.setup
    assert (setup.context_size, setup.reply_tokens, setup.preset_path) == (16000, 600, settings)
    assert setup.preset is not None
    assert setup.preset.name == "Mine"


@pytest.mark.parametrize("api", ["openai", "textgenerationwebui"])
def test_the_room_is_that_of_the_settings_wherever_they_are_given(full: Path, api: str) -> None:
    """One budget for one settings.json: a quarter of the context without the reply (rules: sillytavern 5.6, 5.9)."""
    user = full / "data" / "default-user"
    chat = {"openai_max_context": 6000, "openai_max_tokens": 200} if api == "openai" else {}
    settings = {**HOST, "main_api": api, "max_context": 6000, "amount_gen": 200, "oai_settings": chat}
    (user / "settings.json").write_text(json.dumps(settings))
    town, evening = str(user / "worlds" / "Town.json"), user / "chats" / "Ottoline" / "evening.jsonl"
    found = look_into(full)
    opened = open_found(found, found.chat("evening"))
    alone = open_project([town], evening)
    kind = KINDS[alone.system]
    (user / "settings.json").write_text(json.dumps({**settings, **DEEPLORE}))
    read = kind.reads_file(user / "settings.json")
    assert read is not None
    with_deeplore = open_project([town], evening, user / "settings.json")
    plain = kind.settings()
    given = (opened.project, opened.systems[opened.project.system]), (alone, read), (with_deeplore, plain)
    limits = []
    for project, said in given:
        simulator = Simulator(project, system_of(project.scene(), kind, said))
        trace = asyncio.run(simulator.generate(simulator.generations[-1]))
        limits.append(trace.limits[0].maximum)
    assert limits == [1450, 1450, 1450]


def test_a_chat_of_a_group_brings_the_group(full: Path) -> None:
    found = look_into(full)
    opened = open_found(found, found.chat(character="inn"))
    assert opened.project.setup.group is not None
    assert opened.project.setup.group.name == "The inn"
    assert opened.project.setup.persona == Persona("Last", "")


def with_host(full: Path, **world_info: object) -> None:
    """Other choices of lorebooks in SillyTavern's settings."""
    host = {**HOST, "world_info_settings": {"world_info": world_info}}
    (full / "data" / "default-user" / "settings.json").write_text(json.dumps(host))


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("{", "Without SillyTavern's settings: {file}, line 1"),
        (json.dumps({**HOST, "world_info_settings": {"world_info_depth": "deep"}}), "{file}"),
        (None, ""),
    ],
    ids=["damaged", "of-no-use", "missing"],
)
def test_a_chat_opens_with_its_own_books_where_the_settings_cannot_be_used(
    full: Path, written: str | None, said: str
) -> None:
    settings = full / "data" / "default-user" / "settings.json"
    settings.unlink() if written is None else settings.write_text(written)
    found = look_into(full)
    opened = open_found(found, found.chat("evening"))
    assert {"Evening", "Ottoline's"} <= {each.name for each in opened.project.books}
    assert "Town" not in {each.name for each in opened.project.books}
    assert opened.systems == {}
    told = [each for each in opened.remarks if "settings.json" in each]
    assert [said.format(file=settings) in each for each in told] == ([True] if said else [])
    assert bool(found.problem) is (written == "{")


def test_where_deeplore_is_on_its_vaults_are_named_which_the_folder_does_not_have(full: Path) -> None:
    """Its users saw World Info decide, and not a word of DeepLore."""
    settings = full / "data" / "default-user" / "settings.json"
    vaults = [{"name": "Brume", "port": 27123, "enabled": True}, {"name": "Old", "enabled": False}]

    def told(**own: object) -> list[str]:
        settings.write_text(json.dumps({**HOST, "extension_settings": {"deeplore_enhanced": own}}))
        found = look_into(full)
        opened = open_found(found, found.chat("evening"))
        return [each for each in opened.remarks if "DeepLore's notes (“Brume”) are in Obsidian" in each]

    (remark,) = told(enabled=True, vaults=vaults)
    assert remark.endswith("open the folder of that vault, too. Until then World Info decides.")
    assert told(enabled=False, vaults=vaults) == told(enabled=True, vaults=vaults[1:]) == told(enabled=True) == []
    shutil.rmtree(full / "data" / "default-user" / "worlds")
    shutil.rmtree(full / "data" / "default-user" / "characters")
    (remark,) = told(enabled=True, vaults=vaults)
    assert remark.endswith("open the folder of that vault, too."), "no lorebook decides meanwhile"


def test_a_vault_is_opened_with_a_chat_and_what_belongs_to_it(full: Path, tmp_path: Path) -> None:
    vault = tmp_path / "Brume"
    vault.mkdir()
    (vault / "Tide.md").write_text("---\ntags: [lorebook]\nkeys: [tide]\n---\nHigh.\n", encoding="utf-8")
    found = look_into(full)
    alone = open_found(found, found.chat("evening")).project
    opened = open_found(found, found.chat("evening"), vaults=[vault])
    assert [entry.title for entry in opened.project.index.entries] == ["Tide"]
    assert opened.project.system == "deeplore"
    assert opened.project.chat_path == alone.chat_path
    assert (opened.project.books, opened.project.setup) == (alone.books, alone.setup)


def test_a_book_that_is_gone_or_broken_leaves_the_others_in_play(full: Path) -> None:
    """One of them took all away, and the chat ran without any lore."""
    user = full / "data" / "default-user"
    (user / "worlds" / "Evening.json").write_text("{")
    with_host(full, globalSelect=["Town", "Evening"], charLore=[{"name": "Ottoline", "extraBooks": ["Gone", "Clerks"]}])
    found = look_into(full)
    opened = open_found(found, found.chat("evening"))
    assert {book.name for book in opened.project.books} == {"Town", "Clerks", "Ottoline's"}
    for name in ("Gone.json: there is no such file", "Evening.json, line 1"):
        assert any(str(user / "worlds" / name) in remark for remark in opened.remarks), name


def test_a_book_that_the_chat_names_and_is_gone_is_said(full: Path) -> None:
    user = full / "data" / "default-user"
    (user / "worlds" / "Evening.json").unlink()
    found = look_into(full)
    told = [remark for remark in open_found(found, found.chat("evening")).remarks if "“Evening”" in remark]
    assert [str(user / "worlds" / "Evening.json") in remark for remark in told] == [True]


def test_another_character_of_that_name_does_not_bring_its_books(full: Path) -> None:
    """SillyTavern knows characters by the files of their cards (rules: sillytavern 5.4)."""
    user = full / "data" / "default-user"
    (user / "chats" / "Ottoline1").mkdir()
    (user / "chats" / "Ottoline1" / "second.jsonl").write_bytes((user / "chats/Ottoline/evening.jsonl").read_bytes())
    (user / "characters" / "Ottoline1.png").write_bytes((user / "characters/Ottoline.png").read_bytes())
    with_host(full, charLore=[{"name": "Ottoline", "extraBooks": ["Clerks"]}])
    found = look_into(full)
    books = {name: {book.name for book in open_found(found, found.chat(name)).project.books}
             for name in ("evening", "second")}  # fmt: skip
    assert books == {"evening": {"Clerks", "Evening", "Ottoline's"}, "second": {"Evening", "Ottoline's"}}


def test_a_book_inside_the_card_that_was_never_imported_is_said(full: Path) -> None:
    card = full / "data" / "default-user" / "characters" / "Ottoline.png"
    inside = {"name": "Inside", "entries": [{"keys": ["kite"], "content": "Post.", "enabled": True}]}
    own = {"name": "Ottoline", "character_book": inside, "extensions": {"world": ""}}
    card.write_text(json.dumps({"spec": "chara_card_v2", "data": own}))
    found = look_into(full)
    opened = open_found(found, found.chat("evening"))
    assert [remark for remark in opened.remarks if "import" in remark] == [
        "Inside is scanned out of the card; SillyTavern scans it only once it was imported there."
    ]


def test_what_a_group_keeps_for_its_chat_counts_where_the_chat_has_no_header(full: Path) -> None:
    user = full / "data" / "default-user"
    chat = user / "group chats" / "g1.jsonl"
    chat.write_text(chat.read_text().partition("\n")[2])
    kept = {"world_info": "Evening", "persona": "quill.png"}
    group = {"id": "9", "name": "The inn", "members": ["Ottoline.png", "Lost.png"], "chats": ["g1"], "chat_id": "g1"}
    (user / "groups" / "9.json").write_text(json.dumps({**group, "chat_metadata": kept}))
    found = look_into(full)
    opened = open_found(found, found.chat(character="inn"))
    assert opened.project.setup.persona == Persona("Quill", "A clerk.")
    assert {book.name: book.role for book in opened.project.books} == {
        "Town": BookRole.GLOBAL, "Clerks": BookRole.PERSONA, "Evening": BookRole.CHAT, "Ottoline's": BookRole.CHARACTER
    }  # fmt: skip
    assert any("Lost.png" in remark for remark in opened.remarks)


def test_lorebooks_of_a_groups_members_are_theirs_and_stay_so(full: Path) -> None:
    user = full / "data" / "default-user"
    (user / "characters" / "Hob.png").write_text(json.dumps({"spec": "chara_card_v2", "data": {"name": "Hob"}}))
    group = {"id": "9", "name": "The inn", "members": ["Ottoline.png", "Hob.png"], "chats": ["g1"], "chat_id": "g1"}
    (user / "groups" / "9.json").write_text(json.dumps(group))
    with_host(full, globalSelect=["Town"], charLore=[{"name": "Hob", "extraBooks": ["Clerks", "Town", "Ottoline's"]}])
    found = look_into(full)
    project = open_found(found, found.chat(character="inn")).project
    owners = {book.name: set(book.owners) for book in project.books}
    assert owners == {"Town": set(), "Evening": set(), "Clerks": {"Hob"}, "Ottoline's": {"Hob", "Ottoline"}}
    assert project.reloaded().books == project.books
    paths, roles = list(map(str, project.book_paths)), {book.place: book.whose for book in project.books}
    assert open_project(paths, project.chat_path, roles=roles).books == project.books


def test_a_chat_of_a_group_that_is_gone_is_said_to_be_one(full: Path) -> None:
    user = full / "data" / "default-user"
    (user / "groups" / "9.json").unlink()
    found = look_into(full)
    remarks = open_found(found, found.chat("g1")).remarks
    assert [remark for remark in remarks if "card" in remark] == [
        f"No group in {user / 'groups'} has this chat, so no cards come with it."
    ]


def test_a_chat_is_chosen_by_name_part_and_character(full: Path) -> None:
    found = look_into(full)
    assert found.chat(character="wren").path.stem == "morning"
    assert found.chat("even").character == "Ottoline"
    for name, character, told in (("noon", "", "--chat"), ("", "Nobody", "--character"), ("n", "", "several fit")):
        with pytest.raises(InputError, match=told):
            found.chat(name, character)


def test_a_pasted_text_is_a_chat_of_either_kind() -> None:
    plain = chat_of_text("Wren: Fog.\nOttoline: Shut the door.", "the text")
    assert [(each.name, each.text) for each in plain.chat.messages] == [
        ("Wren", "Fog."),
        ("Ottoline", "Shut the door."),
    ]
    lines = chat_of_text('{"name":"Wren","is_user":true,"mes":"Wren: Fog."}\n', "the text")
    assert [each.text for each in lines.chat.messages] == ["Wren: Fog."]
    with pytest.raises(InputError, match="the text"):
        chat_of_text(" \n", "the text")
