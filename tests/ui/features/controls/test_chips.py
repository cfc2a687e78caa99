"""The chips as data: what they say, and what each takes away."""

from __future__ import annotations

from typing import Any

from lorestudio.domain.chat import Chat
from lorestudio.domain.entry import Entry, Folder, VaultIndex
from lorestudio.domain.records import replace
from lorestudio.domain.resources import resource
from lorestudio.domain.state import ChatControls, EntryRule
from lorestudio.settings.deeplore import DeepLoreSettings
from lorestudio.studio.chat.controls import ControlsPart
from lorestudio.studio.project.project import Project
from lorestudio.studio.tryout.control_trials import Effect
from lorestudio.ui.features.controls.chips import (
    CHANGED,
    FOLDERS,
    UNUSABLE,
    ControlChip,
    NotedNames,
    control_chips,
    effect_sentence,
    removals,
)

INDEX = VaultIndex(
    (
        Entry(0, "Lamp.md", "v", "Lamp", custom_fields={"era": ["after"]}),
        Entry(1, "a/Tide.md", "v", "Tide", folder="a", custom_fields={"era": ["before"]}),
        Entry(2, "Two.md", "w", "tide"),
    ),
    folders=(Folder("a", 1), Folder("b", 4)),
    vaults=("v", "w"),
)
FULL = ChatControls(
    pins=(EntryRule("lamp"), EntryRule("Wasp", "v")),
    blocks=(EntryRule("Tide"),),
    folders=("a", "b"),
    context={"era": ["before", "never"], "mood": "calm", "unset": []},
    notebook="Keep it short.",
    notepad="- noted",
)


def project(controls: ChatControls = FULL, **more: Any) -> Project:
    settings = DeepLoreSettings(**more.pop("settings", {}))
    return Project((), INDEX, settings, controls=controls, **more)


def chips(made: Project, file: ChatControls | None = None, **effects: Effect) -> dict[tuple[str, ...], ControlChip]:
    keys = {"era": ("context", "era"), "folders": FOLDERS}
    found = control_chips(made, NotedNames(made), file, {keys[name]: each for name, each in effects.items()})
    assert len({chip.key for chip in found}) == len(found)
    return {chip.key: chip for chip in found}


def test_everything_chosen_has_a_chip_that_takes_exactly_that_away() -> None:
    found = chips(project())
    after = {key: chip.change(FULL) for key, chip in found.items() if chip.change is not None}
    assert after == {
        ("pins", "lamp", ""): replace(FULL, pins=(EntryRule("Wasp", "v"),)),
        ("pins", "Wasp", "v"): replace(FULL, pins=(EntryRule("lamp"),)),
        ("blocks", "Tide", ""): replace(FULL, blocks=()),
        ("context", "era"): replace(FULL, context={"mood": "calm", "unset": []}),
        ("context", "mood"): replace(FULL, context={"era": ["before", "never"], "unset": []}),
        ("folders",): replace(FULL, folders=()),
        ("notebook",): replace(FULL, notebook=""),
        ("notepad",): replace(FULL, notepad=""),
    }
    assert all(chip.undo for chip in found.values())


def test_each_chip_has_a_picture_and_says_in_words_what_it_is() -> None:
    found = chips(replace(project(), chat=Chat(character_name="Ann")), replace(FULL, notebook="Otherwise."))
    pictures = {path.stem for path in resource("icons").glob("*.svg")}
    assert [chip for chip in found.values() if chip.icon not in pictures or chip.text in pictures] == []
    said = {key[0]: (chip.text, chip.icon) for key, chip in found.items() if key[0] in {"notebook", "notepad"}}
    assert said == {"notebook": ("Author's Notebook", "pencil"), "notepad": ("AI Notepad", "ai")}


def test_what_the_vault_does_not_know_is_a_warning() -> None:
    found = chips(project())
    tones = {key: chip.tone for key, chip in found.items() if chip.tone != "neutral"}
    assert tones == {("pins", "Wasp", "v"): "warning", ("context", "mood"): "warning"}
    assert found["pins", "Wasp", "v"].detail == "not in the vault"
    assert "no entry of “v” called “Wasp”" in found["pins", "Wasp", "v"].tip


def test_titles_are_spelled_as_the_entries_are_and_equal_ones_counted() -> None:
    found = chips(project())
    assert found["pins", "lamp", ""].text == "Pin: Lamp"
    assert "2 entries have this title" in found["blocks", "Tide", ""].tip


def test_values_say_how_many_entries_have_them() -> None:
    era = chips(project())["context", "era"]
    assert era.text == "Era: before +1"
    assert era.tip.splitlines() == ["“before”: 1 entry has it", "“never”: no entry has it"]


def test_effects_stand_on_the_chip_and_in_its_words() -> None:
    found = chips(project(), era=Effect(filters=(0,), keeps_out=(0,)), folders=Effect(lets_in=(1, 2)))
    assert found["context", "era"].detail == "filters 1"
    assert "In the chosen reply it filters 1 entry: Lamp. Without it Lamp would go in." in found["context", "era"].tip
    assert found[FOLDERS].detail == "lets in 2"
    idle = chips(project(), era=Effect())["context", "era"]
    assert (idle.detail, idle.tip.splitlines()[-1]) == ("filters 0", "In the chosen reply it filters no entry.")
    assert chips(project())["context", "era"].detail == ""
    assert effect_sentence(Effect(brings_in=(1,)), project()).endswith("Without it Tide would not go in.")


def test_only_what_filters_is_tried() -> None:
    made = project()
    found = control_chips(made, NotedNames(made), None, {})
    assert set(removals(found)) == {("context", "era"), ("context", "mood"), FOLDERS}


def test_notes_that_go_nowhere_say_so() -> None:
    assert chips(project())[("notebook",)].detail == "off"
    on = chips(project(settings={"notebook_enabled": True}))[("notebook",)]
    assert "token" in on.detail
    assert "≈" in on.detail
    made = project(settings={"notebook_enabled": True})
    unheeded = {ControlsPart.NOTEBOOK: "Hybrid retrieval takes none."}
    (chip,) = (each for each in control_chips(made, NotedNames(made), None, {}, unheeded) if each.key == ("notebook",))
    assert (chip.tip.splitlines()[1:], chip.detail, chip.tone) == (
        ["Hybrid retrieval takes none."], "no effect", "warning",
    )  # fmt: skip


def test_the_active_character_can_be_taken_back_only_where_it_was_chosen() -> None:
    chat = Chat(character_name="Ottoline")
    own = chips(project(ChatControls(), chat=chat), ChatControls())[("character",)]
    assert (own.text, own.detail, own.change) == ("Character: Ottoline", "off", None)
    made = project(ChatControls(character="Wren"), chat=chat, settings={"character_context_scan": True})
    chosen = chips(made, ChatControls())[("character",)]
    assert (chosen.text, chosen.detail) == ("Character: Wren", "")
    assert chosen.change is not None
    assert chosen.change(made.controls) == ChatControls()
    assert "“Ottoline”" in chosen.tip
    nobody = chips(project(ChatControls(character=""), chat=chat), ChatControls())[("character",)]
    assert nobody.text == "Character: nobody"
    assert ("character",) not in chips(project(ChatControls()))


def test_what_is_not_in_the_file_and_what_of_it_is_not_usable() -> None:
    chat = Chat(metadata={"deeplore_pins": [7], "deeplore_folder_filter": ["gone"]})
    found = chips(project(replace(FULL, blocks=()), chat=chat), replace(FULL, pins=(), blocks=()))
    assert "not in the chat file" in found[CHANGED].text
    assert "pins" in found[CHANGED].tip
    assert "blocks" not in found[CHANGED].tip
    assert found[UNUSABLE].text == "2 choices not usable"
    assert "“gone”" in found[UNUSABLE].tip
    assert found[CHANGED].change is found[UNUSABLE].change is None
    assert CHANGED not in chips(project(chat=Chat()), FULL)
    assert CHANGED not in chips(project(), None)


def test_the_name_says_how_to_remove_it() -> None:
    chip = chips(project())["blocks", "Tide", ""]
    assert chip.name == "Block: Tide. Delete removes it."


class Counting:
    """Counts a token a word, and how often it was asked."""

    exact = True

    def __init__(self) -> None:
        self.asked: list[str] = []

    def count(self, text: str) -> int:
        self.asked.append(text)
        return len(text.split())


def test_the_last_few_texts_are_counted_once() -> None:
    counter = Counting()
    names = NotedNames(replace(project(), counter=counter))
    assert [names.tokens("two words") for _twice in range(2)] == [2, 2]
    for number in range(4):
        names.tokens(f"text {number}")
    names.tokens("two words")
    assert counter.asked.count("two words") == 1
    names.tokens("one too many")
    names.tokens("two words")
    assert counter.asked.count("two words") == 2


def test_an_exact_count_is_said_without_a_sign() -> None:
    made = replace(project(settings={"notebook_enabled": True}), counter=Counting())
    assert chips(made)[("notebook",)].detail == "3 tokens"


def test_several_folders_are_one_chip() -> None:
    found = chips(project())[FOLDERS]
    assert found.text == "Folders: a +1"
    assert "a (1)" in found.tip
    assert "b (4)" in found.tip
    assert chips(project(replace(FULL, folders=("a",))))[FOLDERS].text == "Folder: a"
