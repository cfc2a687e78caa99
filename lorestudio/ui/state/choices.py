"""What a person chose for a project's runs: system, mode, answer source and switches, remembered per chat."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final, TypedDict

from msgspec import Struct, field
from PySide6.QtCore import QSettings

from lorestudio.domain.javascript import Json
from lorestudio.domain.json_text import json_or_none, mapping_in, texts_in
from lorestudio.domain.records import replace
from lorestudio.domain.texts import shorten, text_digest
from lorestudio.settings.behaviour import FIXED, fixed, switches
from lorestudio.settings.declaration import Section
from lorestudio.studio.project.answering import AnswerKind, Profile, Source
from lorestudio.studio.project.project import Project
from lorestudio.studio.project.settings import Mode, mode_of, with_mode
from lorestudio.systems.base import Deciding
from lorestudio.systems.registry import KINDS, MAIN, in_project, kind_of
from lorestudio.ui.shell.words import tr


def mode_caption(mode: Mode) -> str:
    """What a person reads of a mode."""
    return tr(_MODES[mode][0])


def mode_help(mode: Mode) -> str:
    """What the mode does, in one sentence."""
    return tr(_MODES[mode][1])


_MODES: Final = {
    Mode.KEYWORDS: ("Keywords only", "Keys alone decide; no model is asked."),
    Mode.TWO_STAGE: ("Two-stage", "Keys match first; a model chooses from what matched and what that links to."),
    Mode.AI_ONLY: ("AI only", "A model chooses from the whole vault."),
}


def system_title(system: str) -> str:
    """What a person reads of a retrieval system."""
    return tr(KINDS.title(system))


def system_help(system: str) -> str:
    """What the system does, in one sentence."""
    return tr(KINDS.summary(system))


def source_title(source: Source) -> str:
    """What a person reads of an answer source."""
    if source.kind is AnswerKind.PROVIDER:
        return tr("Provider: {profile}", profile=source.profile)
    return tr(_SOURCES[source.kind][0])


def short_source(source: Source, stand_in: str) -> str:
    """An answer source as short as a button needs it; `stand_in` is what works without a model."""
    if source.kind is AnswerKind.PROVIDER:
        return shorten(source.profile, 18)
    return {AnswerKind.STAND_IN: stand_in, AnswerKind.RECORDED: tr("Recorded")}.get(source.kind, tr("I type"))


def source_help(source: Source) -> str:
    """What choosing the source means."""
    return tr(_SOURCES[source.kind][1])


SOURCE_ICONS: Final = {
    AnswerKind.STAND_IN: "dash", AnswerKind.RECORDED: "save", AnswerKind.PROVIDER: "server", AnswerKind.TYPED: "pencil",
}  # fmt: skip


def sources(profiles: Iterable[Profile], chosen: Source) -> list[Source]:
    """Who can be asked, as menus have them; a chosen profile that there is no more is among them."""
    kinds = AnswerKind
    asked = [Source(kinds.PROVIDER, each.name) for each in profiles]
    gone = [chosen] if chosen.kind is kinds.PROVIDER and chosen not in asked else []
    return [Source(kinds.STAND_IN), Source(kinds.RECORDED), *asked, *gone, Source(kinds.TYPED)]


_SOURCES: Final = {
    AnswerKind.STAND_IN: (
        "Offline stand-in (no model)",
        "A stand-in, no model: it compares words on this computer, so that everything works without a provider.",
    ),
    AnswerKind.RECORDED: (
        "Recorded answers",
        "Answers from the file beside the chat; exact and free. Requests without a recorded answer fail.",
    ),
    AnswerKind.PROVIDER: (
        "Provider",
        "A provider is asked, at its cost. Answers are recorded beside the chat and not asked for twice.",
    ),
    AnswerKind.TYPED: (
        "I type the answers",
        "You see every request and type the reply. Answers are recorded beside the chat.",
    ),
}


class ChoiceChanges(TypedDict, total=False):
    """What a person chooses of a `RunChoice`."""

    mode: Mode
    source: Source
    fixed: tuple[str, ...]
    system: str


class RunChoice(Struct, frozen=True):
    """How a project is run. `fixed` names the behaviour switches that are set to fixed, in reading order.

    Mode, source and switches are the main system's; `settings` are those of another system, None for its defaults.
    """

    mode: Mode = Mode.KEYWORDS
    source: Source = field(default_factory=Source)
    fixed: tuple[str, ...] = ()
    system: str = MAIN.name
    settings: Section | None = None

    def deciding(self, project: Project) -> Deciding:
        """The system and its settings, for a project where those are the project's."""
        kind = kind_of(self.system)
        return Deciding(kind, self.settings or kind.settings_in(project.settings))

    @classmethod
    def of(cls, project: Project) -> RunChoice:
        """What the project's own settings say, answered by the stand-in."""
        names = tuple(switch.name for switch in switches() if getattr(project.behaviour, switch.name) == FIXED)
        return cls(mode_of(project.settings), Source(), names, project.system)

    def applied(self, project: Project) -> Project:
        """The project, run as chosen; the same one where that changes nothing."""
        own = RunChoice.of(project)
        project = with_mode(project.read_for(kind_of(self.system)), self.mode)
        return project if own.fixed == self.fixed else replace(project, behaviour=fixed(self.fixed))

    @property
    def is_main(self) -> bool:
        """Whether the main system decides, whose modes and settings are those of the project."""
        return in_project(self.system)

    @property
    def asks_model(self) -> bool:
        """Whether the mode puts questions to the answer source."""
        return self.is_main and self.mode.asks_model

    @property
    def effective(self) -> RunChoice:
        """The choice without what makes no difference: where no model is asked, nobody answers.

        No other system knows DeepLore's modes and switches.
        """
        if not self.is_main:
            return RunChoice(system=self.system, settings=self.settings)
        return self if self.asks_model else replace(self, source=Source())

    def with_profile(self, before: str, now: str) -> RunChoice:
        """The same choice where the provider profile `before` is called `now`."""
        return replace(self, source=replace(self.source, profile=now)) if self.source.profile == before else self

    @property
    def title(self) -> str:
        """Mode and answer source in a few words; the system where it is another one."""
        if not self.is_main:
            return system_title(self.system)
        return (
            f"{mode_caption(self.mode)} · {source_title(self.source)}" if self.asks_model else mode_caption(self.mode)
        )


class ChoiceStore:
    """The choices by chat. Kept in memory, and in a file once `keep_in` names one.

    `systems` are the settings of the systems beside DeepLore, which are the same for all chats.
    """

    def __init__(self) -> None:
        self.systems: dict[str, Section] = {}
        self._known: dict[str, RunChoice] = {}
        self._settings: QSettings | None = None

    def keep_in(self, settings: QSettings) -> None:
        """Remember the choices there from now on."""
        self._settings = settings

    def tokenizer(self, places: Sequence[str]) -> str:
        """How the project of these vaults is counted (see `studio.project.tokens`), "" where nobody chose."""
        return str(self._settings.value(_tokenizer_key(places), "")) if self._settings is not None else ""

    def keep_tokenizer(self, places: Sequence[str], tokenizer: str) -> None:
        """Remember how the project of these vaults is counted."""
        if self._settings is not None:
            self._settings.setValue(_tokenizer_key(places), tokenizer)

    def changes(self, chat: str, origin: str) -> dict[str, Json]:
        """The settings that were changed for a chat, by DeepLore's keys; `origin` is what they were changed from."""
        found = self._changes(chat).get(origin)
        return found if isinstance(found, dict) else {}

    def keep_changes(self, chat: str, origin: str, changes: Mapping[str, Json]) -> None:
        """Remember the settings that are changed for a chat, beside those that were changed from something else."""
        if self._settings is not None:
            known = {**self._changes(chat), origin: dict(changes)}
            self._settings.setValue(f"settings_changes/{chat}", json.dumps(known))

    def forget_changes(self, chat: str) -> None:
        """The chat begins anew: nothing was changed for it."""
        if self._settings is not None:
            self._settings.remove(f"settings_changes/{chat}")

    def _changes(self, chat: str) -> dict[str, Json]:
        kept = str(self._settings.value(f"settings_changes/{chat}", "")) if self._settings is not None else ""
        return dict(mapping_in(json_or_none(kept)))  # somebody else may have written there

    def place_before(self, chat: str, place: Path, mark: str) -> Path | None:
        """Where a chat was that is new in this place: the only other one that is known; None where there are more.

        `mark` is what the chat says of itself wherever its file lies, and so do its copies. The place is known now.
        """
        if self._settings is None:
            return None
        known = texts_in(json_or_none(str(self._settings.value(_places_key(mark), ""))))
        if str(place) in known:
            return None
        self._settings.setValue(_places_key(mark), json.dumps([*known, str(place)]))
        new = not any(each.endswith(f"/{chat}") for each in self._settings.allKeys())
        return Path(known[0]) if new and len(known) == 1 else None

    def move(self, chat: str, to: str, place: Path, mark: str) -> None:
        """The file of a chat was moved to this place: what is remembered of it goes along."""
        if self._settings is None:
            return
        self._known.pop(chat, None)
        self._settings.setValue(_places_key(mark), json.dumps([str(place)]))
        for key in self._settings.allKeys():
            if key.endswith(f"/{chat}"):
                self._settings.setValue(key.removesuffix(chat) + to, self._settings.value(key))
                self._settings.remove(key)

    def load(self, chat: str) -> RunChoice | None:
        """What was chosen for a chat, None where nothing was; what is not known any more counts as not chosen."""
        if chat not in self._known and self._settings is not None:
            found = _read(str(self._settings.value(f"runs/{chat}", "")))
            if found is not None:
                self._known[chat] = found
        known = self._known.get(chat)
        return self.with_settings(known) if known is not None else None

    def with_settings(self, choice: RunChoice) -> RunChoice:
        """The choice with the settings that its system has now."""
        settings = None if choice.is_main else self.systems.get(choice.system) or KINDS[choice.system].settings()
        return replace(choice, settings=settings)

    def save(self, chat: str, choice: RunChoice) -> None:
        """Remember what was chosen for a chat."""
        self._known[chat] = choice
        if self._settings is not None:
            how = choice.mode.value if choice.is_main else f"{choice.mode.value}@{choice.system}"
            parts = (how, choice.source.kind.value, ",".join(choice.fixed), choice.source.profile)
            self._settings.setValue(f"runs/{chat}", "|".join(parts))

    def rename_profile(self, before: str, now: str) -> None:
        """What was chosen by the name `before` of a provider profile is chosen by `now`, in every chat."""
        for chat, known in self.choosing(before).items():
            self.save(chat, known.with_profile(before, now))

    def choosing(self, profile: str) -> dict[str, RunChoice]:
        """By chat, the choices of this provider profile."""
        kept = self._settings.allKeys() if self._settings is not None else []
        chats = {*self._known, *(key.removeprefix("runs/") for key in kept if key.startswith("runs/"))}
        known = {chat: self.load(chat) for chat in chats}
        return {chat: each for chat, each in known.items() if each is not None and each.source.profile == profile}


def _places_key(mark: str) -> str:
    return f"places/{text_digest(mark)[:24]}"


def _tokenizer_key(places: Sequence[str]) -> str:
    return f"tokenizers/{hashlib.sha256(chr(0).join(places).encode('utf-8', 'surrogatepass')).hexdigest()[:16]}"


def _read(text: str) -> RunChoice | None:
    parts = text.split("|", 3)  # a profile's name comes last, because it may hold anything
    mode, _, system = parts[0].partition("@")
    if len(parts) != 4 or mode not in set(Mode) or parts[1] not in set(AnswerKind):
        return None
    known = {switch.name for switch in switches()}
    names = tuple(name for name in parts[2].split(",") if name in known)
    known_system = system if system in KINDS else MAIN.name
    return RunChoice(Mode(mode), Source(AnswerKind(parts[1]), parts[3]), names, known_system)
