"""The pickers of a chat's choices alone: what each item says, and what picking it does."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from PySide6.QtCore import QObject, Signal

from lorestudio.domain.chat import Chat, Message
from lorestudio.domain.entry import Entry, Folder, VaultIndex
from lorestudio.domain.records import replace
from lorestudio.domain.state import ChatControls, EntryRule
from lorestudio.settings.deeplore import DeepLoreSettings
from lorestudio.studio.chat.controls import ControlsPart
from lorestudio.studio.project.project import Project
from lorestudio.studio.tryout.control_trials import Effect
from lorestudio.ui.features.controls.chips import NotedNames
from lorestudio.ui.features.controls.pickers import MOST_TRIED, ControlPickers

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from lorestudio.ui.widgets.picker import Choice

pytestmark = pytest.mark.usefixtures("qapp")

INDEX = VaultIndex(
    (
        Entry(
            0, "Lamp.md", "v", "Lamp", keys=("lamp", "light"), custom_fields={"era": ["before"], "location": ["pier"]}
        ),
        Entry(1, "a/Tide.md", "v", "Tide", folder="a", custom_fields={"era": ["after"]}),
        Entry(2, "a/Guide.md", "v", "Guide", guide=True),
        Entry(3, "Plain.md", "v", "Plain"),
    ),
    folders=(Folder("a", 2), Folder("b", 1)),
    vaults=("v",),
)
CHAT = Chat((Message("Ada", "Hello."), Message("Wren", "Yes.", is_user=True), Message("Bo", "No.")), "Wren", "Ada")


class Picked(QObject):
    """What stands in for a picker: what it was given."""

    wanted_new = Signal(str)

    def __init__(self, choices: Sequence[Choice], pick: Callable[[Any], object]) -> None:
        super().__init__()
        self.pick, self.hint = pick, ""
        self.replace(choices)

    def replace(self, choices: Sequence[Choice]) -> None:
        self.choices = {each.title: each for each in choices}

    def set_hint(self, hint: str) -> None:
        self.hint = hint

    @property
    def said(self) -> dict[str, tuple[str, str]]:
        return {title: (each.detail, each.hint) for title, each in self.choices.items()}


class Stage:
    """Pickers of a project; `found` is what trying says of each, `steps` what was chosen."""

    def __init__(self, controls: ChatControls = ChatControls(), **more: Any) -> None:  # noqa: B008 (frozen)
        self.project = Project((), INDEX, DeepLoreSettings(), CHAT, controls=controls, **more)
        self.found: dict[tuple[str, ...], Effect] = {}
        self.steps: list[tuple[str, ChatControls]] = []
        self.tried: list[tuple[str, ...]] = []
        context: Any = SimpleNamespace(session=SimpleNamespace(project=self.project), pick=self._pick)
        watch: Any = SimpleNamespace(try_adding=self._try)
        self.pickers = ControlPickers(context, watch, lambda title, after: self.steps.append((title, after)))

    def _pick(
        self, _title: str, _letters: str, choices: Sequence[Choice], pick: Callable[[Any], object], _hint: str = ""
    ) -> Picked:
        self.shown = Picked(choices, pick)
        return self.shown

    def _try(self, changes: Mapping[Any, Any], heard: Callable[[Any], object], _token: object) -> None:
        self.tried = list(changes)
        if self.found:
            heard(self.found)

    def take(self, title: str) -> tuple[str, ChatControls]:
        self.shown.pick(self.shown.choices[title].key)
        return self.steps[-1]


@pytest.mark.parametrize(
    ("part", "lamp", "tide"), [(ControlsPart.PINS, "pinned", "a"), (ControlsPart.BLOCKS, "", "blocked")]
)
def test_entries_say_their_keys_and_whether_they_are_chosen(part: ControlsPart, lamp: str, tide: str) -> None:
    stage = Stage(ChatControls(pins=(EntryRule("Lamp"),), blocks=(EntryRule("Tide"),)))
    picked: list[Entry] = []
    stage.pickers.entry(stage.project, part, picked.append)
    assert stage.shown.said == {"Lamp": ("lamp, light", lamp), "Tide": ("a", tide), "Plain": ("", "")}
    stage.shown.pick(stage.shown.choices["Tide"].key)
    assert picked == [INDEX.entries[1]]


def test_a_field_says_what_is_set_and_its_values_follow() -> None:
    stage = Stage(ChatControls(context={"era": ["after", "never"]}))
    facts = NotedNames(stage.project)
    stage.pickers.field(stage.project, facts)
    era, location = (facts.fields[key].label for key in ("era", "location"))
    assert stage.shown.said[era] == ("after, never", "2 entries have it")
    assert stage.shown.said[location] == ("not set", "1 entry has it")
    stage.shown.pick("era")
    takes_away = "set, Enter takes it away"
    assert stage.shown.said == {
        "never": ("in no entry", takes_away),
        "after": ("in 1 entry", takes_away),
        "before": ("in 1 entry", ""),
    }
    assert stage.take("before") == (f"{era}: before", ChatControls(context={"era": ["after", "never", "before"]}))
    assert stage.take("after") == (f"{era} without after", ChatControls(context={"era": ["never"]}))
    stage.shown.wanted_new.emit("later")
    assert stage.steps[-1] == (f"{era}: later", ChatControls(context={"era": ["after", "never", "later"]}))


@pytest.mark.parametrize(
    ("found", "set_words", "other_words"),
    [
        (Effect(), "filters 0 entries", "would filter 0 entries"),
        (Effect(lets_in=(1,)), "filters 1 entry", "would let 1 entry through"),
        (Effect(filters=(1, 2)), "lets 2 entries through", "would filter 2 entries"),
        (
            Effect(filters=(1, 2), lets_in=(3,)),
            "filters 1 entry, lets 2 entries through",
            "would filter 2 entries, would let 1 entry through",
        ),
    ],
)
def test_folders_say_what_they_do_or_would_do(found: Effect, set_words: str, other_words: str) -> None:
    stage = Stage(ChatControls(folders=("a",)))
    stage.found = {("a",): found, ("b",): found}
    stage.pickers.folder(stage.project)
    assert stage.shown.said == {
        "a": (f"2 entries · {set_words}", "set, Enter takes it away"),
        "b": (f"1 entry · {other_words}", ""),
    }
    assert stage.take("a") == ("folder filter without a", ChatControls())
    assert stage.take("b") == ("folder filter with b", ChatControls(folders=("a", "b")))


def test_only_the_first_of_very_many_are_tried() -> None:
    stage = Stage()
    folders = tuple(Folder(f"f{place:03}", 1) for place in range(MOST_TRIED + 5))
    stage.pickers.folder(replace(stage.project, index=VaultIndex(INDEX.entries, folders=folders, vaults=("v",))))
    assert len(stage.shown.choices) == MOST_TRIED + 5
    assert stage.tried == [(folder.path,) for folder in folders[:MOST_TRIED]]


@pytest.mark.parametrize(
    ("chosen", "said"),
    [
        (None, {"Ada": ("the chat's own", "chosen"), "Bo": ("speaks in the chat", "")}),
        ("Bo", {"Ada": ("the chat's own", ""), "Bo": ("speaks in the chat", "chosen")}),
        ("Eve", {"Ada": ("the chat's own", ""), "Bo": ("speaks in the chat", ""), "Eve": ("", "chosen")}),
        ("", {"Ada": ("the chat's own", ""), "Bo": ("speaks in the chat", ""), "Nobody": ("", "chosen")}),
    ],
)
def test_who_can_be_the_active_character(chosen: str | None, said: dict[str, tuple[str, str]]) -> None:
    stage = Stage(ChatControls(character=chosen))
    stage.pickers.character(stage.project)
    assert stage.shown.said == said
    assert stage.take("Ada") == ("the chat's own character", ChatControls(character=None))
    assert stage.take("Bo") == ("active character Bo", ChatControls(character="Bo"))
    stage.shown.wanted_new.emit("Eve")
    assert stage.steps[-1] == ("active character Eve", ChatControls(character="Eve"))


def test_the_only_field_is_asked_for_its_value_at_once() -> None:
    stage = Stage()
    facts = NotedNames(stage.project)
    era = facts.fields["era"]
    vars(facts)["fields"] = {"era": era}
    stage.pickers.field(stage.project, facts)
    assert set(stage.shown.choices) == {"before", "after"}
    assert stage.take("before") == (f"{era.label}: before", ChatControls(context={"era": ["before"]}))
