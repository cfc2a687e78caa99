"""What is chosen for a chat, as chips: a word or two each, with everything that a person should know of it.

What each choice does in the chosen reply is found out in a job whenever either of them changes, and said in words.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from types import MappingProxyType
from typing import Final, TypeAlias

from msgspec import Struct
from PySide6.QtCore import QObject, Signal

from lorestudio.domain.entry import Entry, NoteKey
from lorestudio.domain.javascript import to_string
from lorestudio.domain.lifecycle import Cancelled, CancelToken
from lorestudio.domain.records import replace
from lorestudio.domain.state import ChatControls, EntryRule
from lorestudio.domain.texts import shorten
from lorestudio.studio.chat.controls import (
    UNHEEDED,
    ContextField,
    ControlsPart,
    changed_parts,
    context_fields,
    context_values,
    heeds,
    unusable,
    without_field,
    without_rule,
)
from lorestudio.studio.project.project import Project
from lorestudio.studio.tryout.control_trials import Change, Effect, Trials, effects_of_adding, effects_of_removing
from lorestudio.systems.registry import kind_of
from lorestudio.trace.wording import joined
from lorestudio.ui.shell.jobs import Newest
from lorestudio.ui.shell.qt import later
from lorestudio.ui.shell.words import count, number, tr
from lorestudio.ui.state.selection import Selection
from lorestudio.ui.state.session import Session


def effect_words(found: Effect | None) -> str:
    """The effect on a chip, "" where it is not known."""
    if found is None:
        return ""
    if found.lets_in and not found.filters:
        return tr("lets in {amount}", amount=len(found.lets_in))
    return tr("filters {amount}", amount=len(found.filters))


def with_effect(tip: str, found: Effect | None, project: Project) -> str:
    """A tip with the effect in a line below."""
    return f"{tip}\n{effect_sentence(found, project)}" if found is not None else tip


def effect_sentence(found: Effect, project: Project) -> str:
    """What a choice does in the chosen reply, found by running that reply with it and without it."""

    def named(entries: tuple[int, ...]) -> str:
        return joined([project.index.entries[entry].title for entry in entries])

    parts = []
    for entries, words in (
        (found.filters, tr("filters {entries}: {titles}.")),
        (found.lets_in, tr("lets {entries} through: {titles}.")),
    ):
        if entries:
            parts.append(words.format(entries=count(len(entries), "entry", "entries"), titles=named(entries)))
    text = tr("In the chosen reply it {what}", what=" ".join(parts) or tr("filters no entry."))
    if found.keeps_out:
        text += " " + tr("Without it {titles} would go in.", titles=named(found.keeps_out))
    if found.brings_in:
        text += " " + tr("Without it {titles} would not go in.", titles=named(found.brings_in))
    return text


Key: TypeAlias = tuple[str, ...]
"""What a chip stands for: the part, and what of it."""

LONGEST: Final = 34
"""Characters of a title or value that a chip shows."""

CHANGED: Final[Key] = ("changed",)
UNUSABLE: Final[Key] = ("unusable",)
FOLDERS: Final[Key] = (ControlsPart.FOLDERS.value,)

PART_WORDS: Final = {
    ControlsPart.PINS: "pins",
    ControlsPart.BLOCKS: "blocks",
    ControlsPart.FOLDERS: "folder filter",
    ControlsPart.CONTEXT: "context",
    ControlsPart.NOTEBOOK: "Author's Notebook",
    ControlsPart.NOTEPAD: "AI Notepad",
    ControlsPart.CHARACTER: "active character",
}


def why_unheeded(project: Project | None, system: str, part: ControlsPart) -> str:
    """Why a part of the choices counts for nothing where this system decides, "" where it counts."""
    kind = kind_of(system)
    if project is None or heeds(project, kind, part):
        return ""
    return tr(UNHEEDED[part]).format(system=tr(kind.title))


NOTE_SETTINGS: Final = {ControlsPart.NOTEBOOK: "notebook", ControlsPart.NOTEPAD: "ai_notepad"}
"""How the names of the settings begin that are about a text of the chat."""


class NotedNames:
    """What the chips ask about one vault again and again, worked out once somebody asks."""

    def __init__(self, project: Project) -> None:
        self.index = project.index
        self._counter = project.counter
        self._tokens: dict[str, int] = {}

    @cached_property
    def fields(self) -> dict[str, ContextField]:
        """The properties of notes that the chat's context is compared with, by their keys."""
        return {field.key: field for field in context_fields(self.index)}

    @cached_property
    def folders(self) -> dict[str, int]:
        """How many entries each folder has, by its path."""
        return {folder.path: folder.entry_count for folder in self.index.folders}

    @cached_property
    def _by_title(self) -> dict[str, list[Entry]]:
        found: dict[str, list[Entry]] = {}
        for entry in self.index.entries:
            found.setdefault(entry.title.lower(), []).append(entry)
        return found

    def fitting(self, rule: EntryRule) -> tuple[Entry, ...]:
        """The entries that a pin or block is about."""
        return tuple(entry for entry in self._by_title.get(rule.title.lower(), ()) if rule.matches(entry))

    def tokens(self, text: str) -> int:
        """How many tokens a text has; the last few are remembered, as counting a long one takes a while."""
        if text not in self._tokens:
            if len(self._tokens) > 4:
                self._tokens.clear()
            self._tokens[text] = self._counter.count(text)
        return self._tokens[text]


class ControlChip(Struct, frozen=True):
    """One chip. `tone` is neutral, good or warning; `detail` stands behind the text in smaller letters.

    `change` takes the choice away, None where the chip cannot be removed; `undo` is what that step is called. `short`
    stands for the text where there is little room.
    """

    key: Key
    icon: str
    text: str
    tip: str
    detail: str = ""
    tone: str = "neutral"
    change: Change | None = None
    undo: str = ""
    short: str = ""

    @property
    def name(self) -> str:
        """The chip in words, for those who do not see it."""
        said = f"{self.text}, {self.detail}" if self.detail else self.text
        return tr("{chip}. Delete removes it.", chip=said) if self.change is not None else said


def control_chips(
    project: Project,
    facts: NotedNames,
    file: ChatControls | None,
    effects: Mapping[Key, Effect],
    unheeded: Mapping[ControlsPart, str] = MappingProxyType({}),
) -> tuple[ControlChip, ...]:
    """The chips in reading order. `file` are the choices of the chat's file, None where there is no chat.

    `unheeded` says why a part counts for nothing, "" where it counts.
    """
    return (
        *_changed(project, file),
        *_unusable(project),
        *_rules(project, facts, ControlsPart.PINS, unheeded.get(ControlsPart.PINS, "")),
        *_rules(project, facts, ControlsPart.BLOCKS, unheeded.get(ControlsPart.BLOCKS, "")),
        *_context(project, facts, effects, unheeded.get(ControlsPart.CONTEXT, "")),
        *_folders(project, facts, effects, unheeded.get(ControlsPart.FOLDERS, "")),
        *_note(project, facts, ControlsPart.NOTEBOOK, unheeded.get(ControlsPart.NOTEBOOK, "")),
        *_note(project, facts, ControlsPart.NOTEPAD, unheeded.get(ControlsPart.NOTEPAD, "")),
        *_character(project, unheeded.get(ControlsPart.CHARACTER, "")),
    )


def removals(chips: tuple[ControlChip, ...]) -> dict[Key, Change]:
    """The choices that filter entries, each with how it is taken away, for finding out what it does."""
    parts = {ControlsPart.FOLDERS.value, ControlsPart.CONTEXT.value}
    return {chip.key: chip.change for chip in chips if chip.change is not None and chip.key[0] in parts}


# ---- the chips of each part ------------------------------------------------------------------------------------------


def _rules(project: Project, facts: NotedNames, part: ControlsPart, unheeded: str) -> Iterator[ControlChip]:
    pins = part is ControlsPart.PINS
    for rule in dict.fromkeys(getattr(project.controls, part.value)):
        entries = facts.fitting(rule)
        title = entries[0].title if entries else rule.title
        words = tr("Pin: {title}") if pins else tr("Block: {title}")
        if not entries:
            place = tr(" of “{vault}”", vault=rule.vault) if rule.vault else ""
            tip = tr("There is no entry{place} called “{title}”, so this does nothing.", place=place, title=rule.title)
        elif unheeded:
            tip = unheeded
        elif pins:
            tip = tr("“{title}” always goes in in this chat, as far as the budget lets it.", title=title)
        else:
            tip = tr("“{title}” never goes in in this chat, not even as a constant or a pin.", title=title)
        if len(entries) > 1:
            tip += " " + tr("{entries} have this title.", entries=count(len(entries), "entry", "entries"))
        yield ControlChip(
            (part.value, rule.title, rule.vault or ""),
            "star" if pins else "slash",
            words.format(title=shorten(title or tr("(no title)"), LONGEST)),
            tip,
            (tr("no effect") if unheeded else "") if entries else tr("not in the vault"),
            "neutral" if entries and not unheeded else "warning",
            partial(without_rule, part=part, rule=rule),
            tr("unpin {title}", title=title) if pins else tr("unblock {title}", title=title),
        )


def _folders(
    project: Project, facts: NotedNames, effects: Mapping[Key, Effect], unheeded: str
) -> Iterator[ControlChip]:
    folders = project.controls.folders
    if folders:
        found = effects.get(FOLDERS)
        inside = joined([f"{folder} ({number(facts.folders.get(folder, 0))})" for folder in folders])
        tip = tr("Only entries of these folders go in, and those at the root: {folders}.", folders=inside)
        words = tr("Folder: {names}") if len(folders) == 1 else tr("Folders: {names}")
        yield ControlChip(
            FOLDERS,
            "folder",
            words.format(names=_listed(folders)),
            unheeded or with_effect(tip, found, project),
            tr("no effect") if unheeded else effect_words(found),
            "warning" if unheeded else "neutral",
            partial(replace, folders=()),
            undo=tr("no folder filter"),
        )


def _context(
    project: Project, facts: NotedNames, effects: Mapping[Key, Effect], unheeded: str
) -> Iterator[ControlChip]:
    for name, value in project.controls.context.items():
        texts = [to_string(each) for each in context_values(value)]
        if not texts:
            continue
        key = (ControlsPart.CONTEXT.value, name)
        field, found = facts.fields.get(name), effects.get(key)
        label = field.label if field is not None else name
        yield ControlChip(
            key,
            "gate",
            tr("{label}: {values}", label=label, values=_listed(texts)),
            unheeded or with_effect(_context_tip(field, name, texts), found, project),
            tr("no effect") if unheeded else tr("no field") if field is None else effect_words(found),
            "warning" if unheeded or field is None else "neutral",
            partial(without_field, key=name),
            tr("{label} not set", label=label),
        )


def _context_tip(field: ContextField | None, name: str, texts: Sequence[str]) -> str:
    if field is None:
        return tr("No gating field of the vault looks at “{name}”, so this does nothing.", name=name)
    lines = []
    for text in texts:
        known = field.value(text)
        having = known.entries if known is not None else 0
        words = tr("“{value}”: {entries}") if having else tr("“{value}”: no entry has it")
        lines.append(words.format(value=text, entries=count(having, "entry has it", "entries have it")))
    return "\n".join(lines)


def _note(project: Project, facts: NotedNames, part: ControlsPart, unheeded: str) -> Iterator[ControlChip]:
    text = getattr(project.controls, part.value)
    if not text:
        return
    on = getattr(project.settings, f"{NOTE_SETTINGS[part]}_enabled")
    words = tr(PART_WORDS[part])
    tokens = count(facts.tokens(text), "token", "tokens")
    about = "" if project.counter.exact else "≈ "
    tip = tr("“{beginning}”", beginning=shorten(text, 200))
    if unheeded:
        tip += "\n" + unheeded
    elif not on:
        tip += "\n" + tr("{name} is off in the settings, so this goes into no prompt.", name=words)
    yield ControlChip(
        (part.value,),
        "pencil" if part is ControlsPart.NOTEBOOK else "ai",
        words,
        tip,
        tr("no effect") if unheeded else about + tokens if on else tr("off"),
        "warning" if unheeded and on else "neutral",
        partial(replace, **{part.value: ""}),
        undo=tr("empty {name}", name=words),
    )


def _character(project: Project, unheeded: str) -> Iterator[ControlChip]:
    chosen, name = project.controls.character, project.active_character
    on = project.settings.character_context_scan
    if chosen is None and not name:
        return
    if unheeded:
        tip = unheeded
    elif on:
        tip = tr("The entry whose title or key is “{name}” comes in by itself.", name=name or tr("nobody"))
    else:
        tip = tr("“Match the active character” is off in the settings, so this brings nothing in.")
    if chosen is not None:
        own = project.chat.character_name if project.chat is not None else ""
        tip += "\n" + tr("Chosen here instead of the chat's own, “{own}”; it is kept in no file.", own=own or "?")
    yield ControlChip(
        (ControlsPart.CHARACTER.value,),
        "chat",
        tr("Character: {name}", name=shorten(name, LONGEST) or tr("nobody")),
        tip,
        tr("no effect") if unheeded else "" if on else tr("off"),
        "warning" if unheeded and chosen is not None else "neutral",
        partial(replace, character=None) if chosen is not None else None,
        undo=tr("the chat's own character"),
    )


def _unusable(project: Project) -> Iterator[ControlChip]:
    told = unusable(project)
    if told:
        text = tr("{things} not usable", things=count(len(told), "choice", "choices"))
        tip = tr("In the chat's file:") + "\n" + "\n".join(told)
        short = tr("{amount} unusable", amount=len(told))
        yield ControlChip(UNUSABLE, "warning", text, tip, tone="warning", short=short)


def _changed(project: Project, file: ChatControls | None) -> Iterator[ControlChip]:
    parts = changed_parts(project.controls, file) if file is not None else ()
    if parts:
        names = joined([tr(PART_WORDS[part]) for part in parts])
        tip = tr("Changed here and not in the chat's file: {parts}. Files change only when you save.", parts=names)
        yield ControlChip(
            CHANGED, "pencil", tr("Changed, not in the chat file"), tip, tone="warning", short=tr("Changed")
        )


def _listed(texts: Sequence[str]) -> str:
    """The first of several, and how many more there are."""
    shown = shorten(texts[0], LONGEST)
    return tr("{first} +{more}", first=shown, more=len(texts) - 1) if len(texts) > 1 else shown


logger = logging.getLogger(__name__)

PAUSE_MS: Final = 120
"""Whoever walks through the chat is not reading the chips yet."""


class EffectWatch(QObject):
    """Runs the chosen reply without each of the choices. `changed` says that `effects` are other ones."""

    changed = Signal()

    def __init__(
        self, session: Session, selection: Selection, choices: Callable[[], Mapping[Key, Change]], parent: QObject
    ) -> None:
        super().__init__(parent)
        self._session, self._selection, self._choices = session, selection, choices
        self.effects: Mapping[Key, Effect] = {}
        self._entries: Sequence[NoteKey] = ()  # those that the effects number
        self._newest = Newest(session.jobs)
        self._pause = later(self, self._look, PAUSE_MS)
        session.project_changed.connect(self._project_changed)
        session.traces_changed.connect(lambda _generations: self.ask())
        session.state_changed.connect(self._state_changed)
        selection.generation_changed.connect(self.ask)

    def ask(self) -> None:
        """Find out anew, unless something newer comes within a moment."""
        self._newest.cancel()
        if self._choices():
            self._pause.start()
        else:
            self._pause.stop()
            self._take({})

    def trials(self) -> Trials | None:
        """Trials of the chosen reply, None where it was not run as is chosen now."""
        generation = self._selection.generation
        simulator = self._session.runs.simulator(generation)
        return Trials(simulator, generation) if simulator is not None and generation is not None else None

    def try_adding(
        self, changes: Mapping[Key, Change], heard: Callable[[dict[Key, Effect]], object], cancel: CancelToken
    ) -> None:
        """Tell of each of these changes what it would do, as it is found out."""
        trials = self.trials()
        if trials is not None and changes:
            title = tr("Trying values")
            self._session.jobs.start(
                title, lambda report: effects_of_adding(trials, changes, cancel, report), failed=_failed, reported=heard
            )

    def _project_changed(self) -> None:
        project = self._session.project
        entries = [each.note_key for each in project.index.entries] if project is not None else []
        if not self._session.renewed or entries != self._entries:
            self._take({})
        self._entries = entries
        self.ask()

    def _state_changed(self) -> None:
        if not self._session.busy and not self._pause.isActive() and self._choices().keys() - self.effects.keys():
            self.ask()

    def _look(self) -> None:
        trials, choices = self.trials(), self._choices()
        if trials is None:
            self._take({key: found for key, found in self.effects.items() if key in choices})
            return
        title = tr("Looking what the choices for the chat do")
        self._newest.start(
            title, lambda job: effects_of_removing(trials, choices, job.token), done=self._take, failed=_failed
        )

    def _take(self, effects: Mapping[Key, Effect]) -> None:
        if effects != self.effects:
            self.effects = effects
            self.changed.emit()


def _failed(error: Exception) -> None:
    if not isinstance(error, Cancelled):
        logger.warning("what a choice for the chat does was not found out: %s", error)
