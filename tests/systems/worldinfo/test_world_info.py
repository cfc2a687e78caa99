"""World Info for a project: which lorebooks are in play, and what the scan is told of chat and card."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from lorestudio.domain.chat import Chat, Message
from lorestudio.domain.entry import Position, VaultIndex
from lorestudio.domain.records import replace
from lorestudio.exchange.character_card import GroupChat, GroupFields, Member, parse_card
from lorestudio.exchange.lorebooks.entry import NEW_ENTRY
from lorestudio.exchange.lorebooks.reading import BookFile, BookRole, book_file
from lorestudio.exchange.problems import InputError
from lorestudio.settings.deeplore import DeepLoreSettings
from lorestudio.settings.files import SettingsError
from lorestudio.settings.worldinfo import BOOKS, VAULT, WorldInfoSettings
from lorestudio.studio.project.project import Project, open_project
from lorestudio.studio.prompt.assembly import assemble
from lorestudio.studio.prompt.setup import Persona, PromptSetup
from lorestudio.studio.replay.exported_scenario import export_turn
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.systems.registry import kind_of
from lorestudio.systems.worldinfo.books import book_files, surroundings, with_book_files, world_info_system
from lorestudio.trace.budget import budget_view
from lorestudio.trace.journey import FateState, Journeys, counted_in
from lorestudio.trace.model import Phase, Trace
from lorestudio.trace.summary import summary

CARD: dict[str, Any] = {
    "name": "Ottoline",
    "description": "Keeper of letters.",
    "scenario": "A gale is blowing.",
    "mes_example": "<START>\n{{user}}: Hello\n{{char}}: Late!",
    "character_book": {"name": "Quay", "entries": [{"keys": ["kite"], "content": "Post.", "enabled": True}]},
}


def world(folder: Path, name: str, *entries: dict[str, Any]) -> str:
    path = folder / f"{name}.json"
    listed = {
        str(uid): {**NEW_ENTRY, "uid": uid, "comment": f"{name} {uid}", **each} for uid, each in enumerate(entries)
    }
    path.write_text(json.dumps({"entries": listed}))
    return str(path)


def project(folder: Path, card: dict[str, Any] | None = None, **metadata: Any) -> Project:
    chat = Chat((Message("Wren", "a kite", is_user=True),), "Wren", "Ottoline", metadata)
    found = parse_card(json.dumps({"spec": "chara_card_v2", "data": card}).encode(), "card") if card else None
    setup = PromptSetup(card=found, card_path=folder / "ottoline_v2.png", persona=Persona(text="A rider."))
    index = VaultIndex((), vaults=("Lore",))
    return Project((), index, DeepLoreSettings(), chat, folder / "Chats" / "a.jsonl", setup=setup)


def names(settings: WorldInfoSettings, of: Project) -> list[tuple[str, str]] | None:
    books = world_info_system(settings, of.scene()).books
    return None if books is None else [(book.name, book.role.value) for book in books]


def test_the_vault_is_scanned_until_a_lorebook_is_named(tmp_path: Path) -> None:
    file = world(tmp_path, "Eldoria", {"key": ["kite"]})
    here = project(tmp_path, CARD)
    assert names(WorldInfoSettings(), here) is None
    assert names(WorldInfoSettings(book=file, source=VAULT), here) is None
    assert names(WorldInfoSettings(book=file), project(tmp_path)) == [("Eldoria", "global")]
    without = replace(here, index=VaultIndex(()))  # then there is nothing but what chat and card name
    assert names(WorldInfoSettings(), without) == [("Quay", "character")]
    assert names(WorldInfoSettings(source=VAULT), without) is None


def test_files_by_role_one_a_line(tmp_path: Path) -> None:
    one, two = world(tmp_path, "one"), world(tmp_path, "two")
    settings = WorldInfoSettings(book=f"{one}\n\n  {two}  ", persona_books=world(tmp_path, "me"))
    assert names(settings, project(tmp_path)) == [("one", "global"), ("two", "global"), ("me", "persona")]
    files = book_files(settings)
    assert with_book_files(WorldInfoSettings(), files) == with_book_files(settings, files)
    assert with_book_files(settings.model_copy(update={"source": VAULT}), files).source != VAULT
    assert book_files(with_book_files(settings, ())) == ()


def test_a_file_on_the_command_line(tmp_path: Path) -> None:
    file = world(tmp_path, "Eldoria")
    card = tmp_path / "card.json"
    card.write_text(json.dumps({"spec": "chara_card_v2", "data": CARD}))
    assert book_file(file) == BookFile(file, BookRole.GLOBAL)
    assert book_file(f"persona:{file}") == BookFile(file, BookRole.PERSONA)
    assert book_file(str(card)).role is BookRole.CHARACTER
    with pytest.raises(InputError, match="no such file"):
        book_file("elsewhere:Eldoria.json")


def test_books_that_chat_and_card_name_are_looked_for_in_sillytaverns_folder(tmp_path: Path) -> None:
    worlds = tmp_path / "worlds"
    worlds.mkdir()
    world(worlds, "Tavern")
    world(worlds, "Cellar")
    linked = {**CARD, "extensions": {"world": "Cellar"}}
    here = project(tmp_path, linked, world_info="Tavern")
    settings = WorldInfoSettings(source=BOOKS, worlds=str(worlds))
    assert names(settings, here) == [("Tavern", "chat"), ("Cellar", "character")]
    assert names(WorldInfoSettings(source=BOOKS), project(tmp_path, CARD)) == [("Quay", "character")]
    missing = world_info_system(WorldInfoSettings(source=BOOKS), project(tmp_path, world_info="Tavern").scene())
    assert missing.books == ()
    assert "“Tavern”" in missing.remarks[0]


def test_two_files_of_one_name_and_one_file_twice_are_said(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    one, two = world(tmp_path, "Eldoria", {"key": ["a"]}), world(other, "Eldoria", {"key": ["b"]})
    told = world_info_system(WorldInfoSettings(book=one, chat_books=one), project(tmp_path).scene()).remarks
    assert told == ("Eldoria is listed twice; it is scanned once, as a global lorebook.",)
    told = world_info_system(WorldInfoSettings(book=one, chat_books=two), project(tmp_path).scene()).remarks
    assert two in told[0]
    assert "by their names alone" in told[0]


def test_what_two_books_have_in_common_is_said_once(tmp_path: Path) -> None:
    one, two = (world(tmp_path, name, {"key": ["a"], "automationId": "x", "position": 0}) for name in ("Mill", "Fog"))
    told = world_info_system(WorldInfoSettings(book=one, chat_books=two), project(tmp_path).scene()).remarks
    assert [remark.partition(": ")[0] for remark in told] == ["2 books (Mill, Fog)"]


def test_further_books_of_a_character_are_scanned_where_it_speaks(tmp_path: Path) -> None:
    mill, fog = world(tmp_path, "Mill", {"key": ["mill"]}), world(tmp_path, "Fog", {"key": ["fog"]})
    settings = WorldInfoSettings(extra_books=f"hob: {mill}\n\nsomebody else: {fog}")
    here = project(tmp_path)
    assert names(settings, here) is None  # nobody of these: the vault is scanned
    hob = replace(here, setup=replace(here.setup, card_path=tmp_path / "hob.png"))
    assert names(settings, hob) == [("Mill", "character")]
    with pytest.raises(InputError, match="“hob” names no file"):
        names(WorldInfoSettings(extra_books="hob"), hob)


def test_a_character_is_called_by_its_cards_file_where_the_chats_folder_is_called_so(tmp_path: Path) -> None:
    """Several characters may have one name; a card that lies elsewhere may be called otherwise than in SillyTavern."""
    mill = world(tmp_path, "Mill", {"constant": True, "characterFilter": {"names": ["Ottoline"]}})
    here = project(tmp_path, CARD)
    settings = WorldInfoSettings(source=BOOKS, extra_books=f"Ottoline: {mill}")
    assert names(settings, here) == [("Mill", "character"), ("Quay", "character")]
    second = replace(here, chat_path=tmp_path / "chats" / "ottoline_v2" / "a.jsonl")
    assert names(settings, second) == [("Quay", "character")]
    assert names(settings.model_copy(update={"avatar": "Ottoline"}), second) == names(settings, here)
    run = asyncio.run(
        Simulator(second, kind_of("world-info").make(WorldInfoSettings(book=mill), second.scene())).replay()
    )
    assert "Mill 0" not in {injection.title for injection in run[-1].injections}


def member(name: str, file: str, **data: Any) -> Member:
    card = parse_card(json.dumps({"spec": "chara_card_v2", "data": {"name": name, **data}}).encode(), "card")
    return Member(f"{file}.png", card=card)


def lines_of(trace: Trace) -> set[str]:
    return {line for block in trace.prompt for line in block.text.splitlines()}


def of_a_group(folder: Path, mode: int = 0) -> tuple[Project, WorldInfoSettings]:
    """A project of Ottoline and Hob, who have lorebooks of their own, and the settings with one for everybody."""
    world(folder, "Quay", {"constant": True, "content": "The quay."})
    own = world(folder, "Mill", {"constant": True, "content": "The mill."})
    common = world(
        folder, "All",
        {"key": ["salt"], "matchCharacterDescription": True, "content": "Salt."},
        {"constant": True, "characterFilter": {"names": ["hob_v2"]}, "content": "Of Hob."},
        {"constant": True, "content": "{{char}} of {{group}}; heard {{groupNotMuted}}; not {{notChar}}"},
    )  # fmt: skip
    den = {"name": "Den", "entries": [{"keys": ["kite"], "content": "The den.", "enabled": True}]}
    members = (
        member("Ottoline", "ottoline", description="Salt and letters.", extensions={"world": "Quay"}),
        member("Hob", "hob_v2", description="A cook.", character_book=den),
        replace(member("Tom", "tom"), muted=True),
    )
    group = GroupChat(GroupFields(members=tuple(each.avatar for each in members), generation_mode=mode), members)
    lines = (("Wren", "A kite."), ("Ottoline", "Late!"), ("Hob", "Soup!"), ("Hob", "More."))
    chat = Chat(tuple(Message(name, text, is_user=name == "Wren") for name, text in lines), "Wren", "")
    here = Project((), VaultIndex(()), DeepLoreSettings(), chat, folder / "group chats" / "a.jsonl")
    settings = WorldInfoSettings(book=common, extra_books=f"hob_v2: {own}", worlds=str(folder), max_recursion_steps=1)
    return replace(here, setup=PromptSetup(group=group)), settings


def test_a_members_card_and_lorebooks_count_where_that_one_speaks(tmp_path: Path) -> None:
    here, settings = of_a_group(tmp_path)
    system = kind_of("world-info").make(settings, here.scene())
    simulator = Simulator(here, system)
    first, *others = asyncio.run(simulator.replay())
    texts = [lines_of(trace) for trace in (first, *others)]
    assert texts[0] == {"Salt.", "The quay.", "Ottoline of Ottoline, Hob, Tom; heard Ottoline, Hob; not Hob, Tom, Wren"}
    of_hob = {"Of Hob.", "The mill.", "Hob of Ottoline, Hob, Tom; heard Ottoline, Hob; not Ottoline, Tom, Wren"}
    assert texts[1:] == [of_hob | {"The den."}, of_hob, of_hob]  # then the kite is too far back
    fates = Journeys(first)
    silent = {first.entries[fate.entry].vault for fate in map(fates.fate, fates.rows) if fate.reason == "wi_silent"}
    assert silent == {"Mill", "Den"}
    both = first.entries.keys() & others[0].entries.keys()
    assert len(both) > 3
    assert {first.entries[number] for number in both} == {others[0].entries[number] for number in both}
    assert export_turn(simulator, simulator.generations[-1]).differing == ()


def test_a_scenario_mutes_who_is_muted_whatever_names_have_in_them(tmp_path: Path) -> None:
    here, settings = of_a_group(tmp_path)
    members = (member("Ott, the elder", "ott"), replace(member("Tom", "tom"), muted=True))
    group = GroupChat(GroupFields(members=tuple(each.avatar for each in members)), members)
    here = replace(here, setup=PromptSetup(group=group))
    cast = world_info_system(settings, here.scene()).scenario_fields()["cast"]
    assert isinstance(cast, dict)
    assert {name: each.get("muted", False) for name, each in cast.items()} == {"Ott, the elder": False, "Tom": True}


def test_a_lorebook_of_two_members_is_scanned_for_both_and_read_once(tmp_path: Path) -> None:
    here, settings = of_a_group(tmp_path)
    settings = settings.model_copy(
        update={"extra_books": f"{settings.extra_books}\nottoline: {tmp_path / 'Mill.json'}"}
    )
    system = world_info_system(settings, here.scene())
    assert system.remarks == ()
    assert all("The mill." in lines_of(trace) for trace in asyncio.run(Simulator(here, system).replay()))


def test_a_content_that_is_no_text_stops_the_scans_of_whom_its_lorebook_belongs_to(tmp_path: Path) -> None:
    here, settings = of_a_group(tmp_path)
    world(tmp_path, "Quay", {"constant": True, "content": "The quay."}, {"constant": True, "content": ["no text"]})
    system = kind_of("world-info").make(settings, here.scene())
    simulator = Simulator(here, system)
    first, second, *_ = asyncio.run(simulator.replay())
    assert lines_of(first) == set()
    fates = Journeys(first)
    told = {first.entries[fate.entry].vault: fate.reason for fate in map(fates.fate, fates.rows)}
    assert told == {"All": "wi_stopped", "Quay": "wi_stopped", "Mill": "wi_silent", "Den": "wi_silent"}
    assert "The mill." in lines_of(second)
    alone = WorldInfoSettings(book=str(tmp_path / "Quay.json"))
    (trace,) = asyncio.run(Simulator(project(tmp_path), world_info_system(alone, project(tmp_path).scene())).replay())
    assert lines_of(trace) == set()
    assert export_turn(simulator, simulator.generations[0]).differing == ()


def test_cards_of_a_group_are_joined_for_the_scan_as_for_the_prompt(tmp_path: Path) -> None:
    here, settings = of_a_group(tmp_path, mode=1)
    traces = asyncio.run(Simulator(here, kind_of("world-info").make(settings, here.scene())).replay())
    told = [lines_of(trace) for trace in traces]
    assert ["Salt." in texts for texts in told] == [True, True, True, True]
    assert ["The quay." in texts for texts in told] == [True, False, False, False]


def test_the_scenario_of_a_text_that_the_chat_has_of_its_own_is_searched(tmp_path: Path) -> None:
    common = world(tmp_path, "All", {"key": ["storm"], "matchScenario": True, "content": "Wind."})
    for own, found in (({}, []), ({"scenario": "A storm."}, ["Wind."])):
        here = project(tmp_path, CARD, **own)
        system = kind_of("world-info").make(WorldInfoSettings(book=common), here.scene())
        (trace,) = asyncio.run(Simulator(here, system).replay())
        assert [line for line in lines_of(trace) if line == "Wind."] == found


def test_only_a_book_in_sillytaverns_folder_may_be_gone(tmp_path: Path) -> None:
    """Its settings go on to name books that are gone; a file that somebody names here is expected to be there."""
    mill, gone = world(tmp_path, "Mill"), str(tmp_path / "Gone.json")
    settings = WorldInfoSettings(book=f"{mill}\n{gone}")
    with pytest.raises(InputError, match="there is no such file"):
        names(settings, project(tmp_path))
    system = world_info_system(settings.model_copy(update={"worlds": str(tmp_path)}), project(tmp_path).scene())
    assert [book.name for book in system.books or ()] == ["Mill"]
    assert [gone in remark for remark in system.remarks] == [True]


def test_the_scan_knows_card_persona_and_note(tmp_path: Path) -> None:
    file = world(
        tmp_path, "Eldoria",
        {"key": ["gale"], "matchScenario": True, "content": "Wind."},
        {"key": ["rider"], "matchPersonaDescription": True, "content": "Horse."},
        {"key": ["{{char}}"], "content": "Of {{char}}.", "matchCharacterDescription": True},
        {"constant": True, "characterFilter": {"names": ["ottoline_v2"]}, "content": "Only hers."},
        {"constant": True, "position": 3, "content": "Below."},
        {"constant": True, "position": 5, "content": "{{user}}: First\n{{char}}: Hm."},
        {"constant": True, "position": 5, "content": "{{user}}: Second\n{{char}}: Hm.", "order": 200},
        {"constant": True, "position": 6, "content": "Nobody speaks."},
    )  # fmt: skip
    here = project(tmp_path, CARD, note_prompt="{{char}} hums.", note_depth=0)
    settings = WorldInfoSettings(book=file, source=BOOKS)
    trace = asyncio.run(Simulator(here, kind_of("worldinfo").make(settings, here.scene())).replay())[-1]
    titles = {injection.title for injection in trace.injections}
    assert titles == {*(f"Eldoria {uid}" for uid in range(8)), "kite"}  # 2 by recursion: the examples name her
    assert here.chat is not None
    prompt = assemble(trace, here.chat, here.setup)
    texts = [message.text for message in prompt.messages]
    assert texts.count("Ottoline hums.\nBelow.") == 1  # the note is there once, with the entry around it
    examples = [text for text in texts if text in {"First", "Second", "Hello"}]
    assert examples == ["Second", "First", "Hello"]
    assert [left.source.label for left in prompt.left_out] == ["Eldoria 7"]


def test_texts_of_card_and_persona_lose_the_blanks_around_them_and_stand_in_no_other(tmp_path: Path) -> None:
    """They are trimmed and filled in without the card (rules: sillytavern 5.8)."""
    file = world(tmp_path, "Eldoria", {"constant": True, "content": "[{{persona}}] [{{charCreatorNotes}}]"})
    here = project(tmp_path, CARD | {"creator_notes": " Of {{char}}{{persona}}.\r\n"})
    here = replace(here, setup=replace(here.setup, persona=Persona(text="  A rider\r\nof {{char}}{{scenario}}. \n")))
    system = kind_of("worldinfo").make(WorldInfoSettings(book=file, source=BOOKS), here.scene())
    (trace,) = asyncio.run(Simulator(here, system).replay())
    assert "[A rider\nof Ottoline.] [Of Ottoline.]" in [block.text for block in trace.prompt]


def test_without_a_card_its_texts_are_empty_and_what_the_host_makes_up_is_told(tmp_path: Path) -> None:
    """As SillyTavern 1.18 fills them in where a card says nothing; what it draws or looks up cannot be known."""
    text = "[{{description}}{{charCreatorNotes}}{{if scenario}}yes{{else}}no{{/if}}] {{random::a::b}} {{time}}"
    file = world(tmp_path, "Eldoria", {"constant": True, "content": text})
    here = project(tmp_path)
    system = kind_of("worldinfo").make(WorldInfoSettings(book=file, source=BOOKS), here.scene())
    (trace,) = asyncio.run(Simulator(here, system).replay())
    assert lines_of(trace) == {"[no] {{random::a::b}} {{time}}"}
    assert trace.warnings == ("Only SillyTavern can fill in {{random::a::b}}, {{time}}; they stay as they are.",)


def test_a_scenario_has_every_text_of_the_card_that_a_macro_stands_for(tmp_path: Path) -> None:
    file = world(
        tmp_path,
        "Eldoria",
        {"constant": True, "content": "{{mesExamples}} {{charPrompt}}{{charInstruction}}"},
        {"constant": True, "content": "{{charPersonality}} {{charDepthPrompt}}"},
    )
    told = {"personality": "Late.", "system_prompt": "Be her.", "post_history_instructions": "Go on."}
    here = project(tmp_path, CARD | told | {"extensions": {"depth_prompt": {"prompt": "Sigh."}}})
    settings = WorldInfoSettings(book=file, source=BOOKS)
    simulator = Simulator(here, world_info_system(settings, here.scene()))
    (trace,) = asyncio.run(simulator.replay())
    texts = {name: text for name, text in CARD.items() if isinstance(text, str) and name != "name"}
    texts |= told | {"depth_prompt": "Sigh."}
    assert world_info_system(settings, here.scene()).scenario_fields()["card"] == texts
    assert "Late. Sigh." in lines_of(trace)
    assert export_turn(simulator, simulator.generations[0]).differing == ()


def test_sillytaverns_settings_are_taken_over(tmp_path: Path) -> None:
    file = tmp_path / "settings.json"
    document = {
        "world_info_settings": {
            "world_info": {
                "globalSelect": ["Eldoria"],
                "charLore": [{"name": "hob", "extraBooks": ["Mill", "Fog"]}, {"name": "wren"}, None],
            },
            "world_info_depth": 7, "world_info_recursive": False,
            "world_info_character_strategy": 0, "world_info_overflow_alert": True,
        },
        "extension_settings": {"note": {"allowWIScan": True}, "vectors": {"enabled_world_info": True, "query": 3}},
        "power_user": {},
    }  # fmt: skip
    file.write_text(json.dumps(document))
    settings = kind_of("world-info").read(file, ["world_info_budget=30"])
    assert isinstance(settings, WorldInfoSettings)
    assert (settings.depth, settings.recursive, settings.character_strategy, settings.budget) == (7, False, 0, 30)
    assert (settings.scan_note, settings.vectors, settings.vector_messages) == (True, True, 3)
    worlds = tmp_path / "worlds"
    assert settings.book == str(worlds / "Eldoria.json")
    assert settings.extra_books == f"hob: {worlds / 'Mill.json'}\nhob: {worlds / 'Fog.json'}"
    with pytest.raises(SettingsError, match="0, 1, 2"):
        kind_of("world-info").read(file, ["world_info_character_strategy=7"])
    file.write_text(json.dumps({"world_info_settings": {"world_info_depth": "deep"}}))
    with pytest.raises(SettingsError, match="world_info_depth"):
        kind_of("world-info").read(file)


def test_tags_and_notes_of_characters_come_out_of_sillytaverns_settings(tmp_path: Path) -> None:
    """`tag_map` by picture (rules: sillytavern 5.6 "Loop"), and the list of character-specific notes (5.7)."""
    file = tmp_path / "settings.json"
    own = {"name": "ottoline_v2", "prompt": "She hums.", "useChara": True, "position": 2}
    document = {
        "world_info_settings": {}, "tag_map": {"ottoline_v2.png": ["t1", "t2"], "hob.png": []},
        "extension_settings": {"note": {"chara": [own]}},
    }  # fmt: skip
    file.write_text(json.dumps(document))
    settings = kind_of("world-info").read(file)
    assert isinstance(settings, WorldInfoSettings)
    assert settings.tags == "ottoline_v2: t1, t2\nhob: "
    here = project(tmp_path, CARD, note_prompt="A gale.")
    around = surroundings(here.scene(), settings)
    assert (around.tags, around.note.text) == (frozenset({"t1", "t2"}), "A gale.\nShe hums.")
    for position, text in ((1, "She hums.\nA gale."), (0, "She hums.")):
        notes = json.dumps([{**own, "position": position}])
        changed = settings.model_copy(update={"character_notes": notes})
        assert surroundings(here.scene(), changed).note.text == text
    switched_off = settings.model_copy(update={"character_notes": json.dumps([{**own, "useChara": False}])})
    assert surroundings(here.scene(), switched_off).note.text == "A gale."
    hob = replace(here, setup=replace(here.setup, card_path=tmp_path / "hob.png"))
    assert surroundings(hob.scene(), settings).tags == frozenset()
    stranger = replace(here, setup=PromptSetup())
    assert surroundings(stranger.scene(), settings).tags is None
    for bad, words in (({"character_notes": "{"}, "not valid JSON"), ({"tags": "hob"}, "names no tags")):
        with pytest.raises(InputError, match=words):
            surroundings(hob.scene(), settings.model_copy(update=bad))


def test_books_in_the_place_of_a_vault_are_scanned_whatever_is_set(tmp_path: Path) -> None:
    file = world(tmp_path, "Eldoria", {"key": ["kite"]})
    alone = open_project([file])
    assert alone.system == "world-info"
    assert [entry.title for entry in alone.index.entries] == ["Eldoria 0"]
    assert names(WorldInfoSettings(source=VAULT), alone) == [("Eldoria", "global")]
    (tmp_path / "vault").mkdir()
    (tmp_path / "vault" / "Hob.md").write_text("---\ntags: [lorebook]\nkeys: [hob]\n---\nSmall.")
    both = open_project([tmp_path / "vault", file])
    assert both.system == "deeplore"
    assert names(WorldInfoSettings(), both) == [("Eldoria", "global")]
    assert names(WorldInfoSettings(source=VAULT), both) is None


def test_each_swipe_draws_lots_of_its_own_and_the_chat_goes_on_from_the_chosen_one(tmp_path: Path) -> None:
    file = world(tmp_path, "Eldoria", {"constant": True, "probability": 50, "content": "x"})
    chat = Chat((Message("Wren", "a kite", is_user=True), Message("Hob", "Yes.", swipes=("Yes.", "No.", "So."))))
    here = replace(project(tmp_path), chat=chat)
    system = kind_of("worldinfo").make(WorldInfoSettings(book=file), here.scene())
    traces = asyncio.run(Simulator(here, system).replay())
    assert len({trace.draws for trace in traces}) == len(traces) == 4


def test_the_budget_counts_what_goes_into_an_outlet(tmp_path: Path) -> None:
    always = {"constant": True, "content": "A kite is a letter that nobody has to carry."}
    file = world(tmp_path, "Quay", {**always, "position": 7, "outletName": "style"}, {**always, "position": 0})
    here = project(tmp_path)
    system = kind_of("worldinfo").make(WorldInfoSettings(book=file), here.scene())
    (trace,) = asyncio.run(Simulator(here, system).replay())
    view = budget_view(trace)
    assert [each.position for each in trace.injections].count(Position.OUTLET) == 1
    assert view.used == here.counter.count("\n".join([always["content"]] * 2))
    assert len(view.inside) == 2
    assert "outlet" not in summary(trace)


def test_entries_without_a_number_are_one_to_sillytavern_and_the_last_of_them_counts(tmp_path: Path) -> None:
    """What SillyTavern 1.18 made of this file: the text of C alone."""
    listed = {letter: {**NEW_ENTRY, "constant": True, "comment": letter, "content": letter} for letter in "ABC"}
    (tmp_path / "Quay.json").write_text(json.dumps({"entries": listed}))
    here = project(tmp_path)
    settings = WorldInfoSettings(book=str(tmp_path / "Quay.json"))
    (trace,) = asyncio.run(Simulator(here, kind_of("worldinfo").make(settings, here.scene())).replay())
    assert [injection.title for injection in trace.injections] == ["C"]
    assert [each.reason for record in trace.stages for each in record.verdicts].count("wi_replaced") == 2


def test_an_entry_that_another_of_its_number_replaced_was_not_cut_by_the_budget(tmp_path: Path) -> None:
    file = world(tmp_path, "Quay", {"key": ["kite"], "content": "One."}, {"key": ["kite"], "content": "Two.", "uid": 0})
    here = project(tmp_path)
    system = kind_of("worldinfo").make(WorldInfoSettings(book=file), here.scene())
    (trace,) = asyncio.run(Simulator(here, system).replay())
    (verdict,) = (each for record in trace.stages for each in record.verdicts if each.reason == "wi_replaced")
    fate = Journeys(trace).fate(verdict.entry)
    assert (fate.state, fate.phase, fate.reason) == (FateState.REMOVED, Phase.GATE, "wi_replaced")
    assert [each.title for each in budget_view(trace).segments] == [each.title for each in trace.injections]
    record = next(each for each in trace.stages if verdict in each.verdicts)
    assert (record.phase, counted_in(trace, record, verdict)) == (Phase.BUDGET, Phase.GATE)
