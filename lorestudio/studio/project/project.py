"""A project: vaults, a chat and settings, read together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from dataclasses import field as data_field
from functools import partial
from pathlib import Path
from shutil import copyfile, copytree, rmtree
from tempfile import mkdtemp
from types import MappingProxyType
from typing import Final

from msgspec import field

from lorestudio.domain.chat import Chat
from lorestudio.domain.entry import Entry, NoteKey, VaultIndex
from lorestudio.domain.history import ChatHistory, HistoryRule
from lorestudio.domain.javascript import Json
from lorestudio.domain.records import Terse, replace
from lorestudio.domain.resources import OWN_FOLDERS, resource
from lorestudio.domain.state import ChatControls, Usage
from lorestudio.domain.tokens import CHARS_4, TokenCounter
from lorestudio.exchange.chats.attachments import attached_files
from lorestudio.exchange.chats.document import ChatDocument
from lorestudio.exchange.chats.loading import chat_in
from lorestudio.exchange.chats.metadata import control_problems, existing_folders, read_controls
from lorestudio.exchange.chats.metadata import sign_of_newer as sign_of_newer_chat
from lorestudio.exchange.chats.sillytavern import LoadedChat
from lorestudio.exchange.host_settings import HostSettings, load_host_settings
from lorestudio.exchange.json_file import read_file
from lorestudio.exchange.lorebooks.formats import another_file, may_be_chat, refusal, what_it_is
from lorestudio.exchange.lorebooks.reading import BookRole, Lorebook, as_notes, load_lorebook, lorebook_in, with_texts
from lorestudio.exchange.problems import Belongs, InputError, WrongFileError
from lorestudio.llm.messages import AnswerSource
from lorestudio.llm.stand_in import StandInAnswers
from lorestudio.settings.behaviour import Behaviour
from lorestudio.settings.declaration import Section
from lorestudio.settings.deeplore import DeepLoreSettings, Sanitised, sanitise
from lorestudio.settings.files import SettingsError, read_whole, real_path
from lorestudio.settings.rules import NEW
from lorestudio.settings.store import load
from lorestudio.studio.notes.usage import read_usage
from lorestudio.studio.project.basis import KeptBasis, basis_path, basis_problems, load_basis
from lorestudio.studio.project.library import LibraryNews, read_once, reading_key
from lorestudio.studio.project.places import is_address, vault_sources
from lorestudio.studio.project.tokens import TokenCounting, counting_for
from lorestudio.studio.prompt.card import card_in, cast_in
from lorestudio.studio.prompt.setup import REPLY_TOKENS, PromptSetup
from lorestudio.systems.base import Deciding, Scene, SystemKind
from lorestudio.systems.registry import KINDS, MAIN, kind_of
from lorestudio.trace.wording import joined, plural, quoted
from lorestudio.vault.edited_vaults import EditedVaults, NoteText
from lorestudio.vault.files import VaultError, refused
from lorestudio.vault.index import VaultState, state_of
from lorestudio.vault.lint.settings import sign_of_newer
from lorestudio.vault.sources import OnRead

_OF_BOOKS: Final = frozenset({
    ".json", ".lorebook", ".png", ".jsonl", ".charx", ".risum", ".story", ".scenario", ".csv", ".zip",
})  # fmt: skip
"""The endings of files that are lorebooks, or that people take for one: reading them says what they are."""

_OF_CHATS: Final = frozenset({".jsonl", ".txt"})

_SWITCHED_ON: Final[dict[str, Json]] = {"enabled": True}
"""DeepLore itself starts switched off; whoever opens the studio wants to see it work."""


@dataclass(frozen=True, slots=True)
class Project:
    """A snapshot of everything that a run reads; a change makes a new one.

    `vault_folders` are the vaults' folders, None for one that lies behind Obsidian's plugin; `places` names them all.
    `seed` begins the chat's stream of random numbers. `context_size` is the room of the model that writes the story, in
    tokens, where it was said for this project alone, else 0; what counts is `known_context`. `problems` are sentences
    for the person.

    `counter` counts as SillyTavern does, which decides budgets; `counting` says what it rests on, and who counts as the
    model bills.
    """

    vault_folders: tuple[Path | None, ...]
    index: VaultIndex
    settings: DeepLoreSettings
    chat: Chat | None = None
    chat_path: Path | None = None
    settings_path: Path | None = None
    places: tuple[str, ...] = ()
    controls: ChatControls = data_field(default_factory=ChatControls)
    behaviour: Behaviour = data_field(default_factory=Behaviour)
    seed: int = 0
    counter: TokenCounter = CHARS_4
    counting: TokenCounting = data_field(default_factory=TokenCounting)
    context_size: int = 0
    problems: tuple[str, ...] = ()
    host: HostSettings = data_field(default_factory=HostSettings, repr=False)
    """What the settings file says beside DeepLore's settings, where it is SillyTavern's own."""
    recorded: Mapping[str, Usage] = data_field(default_factory=dict, repr=False)
    """How often entries fired in all chats, as DeepLore counted them in its settings."""
    basis: KeptBasis = data_field(default_factory=KeptBasis)
    """What was said about the chat for looking back at it."""
    document: ChatDocument | None = data_field(default=None, repr=False)
    """The lines of the chat's file, to write the chat back into; None without a chat."""
    setup: PromptSetup = data_field(default_factory=PromptSetup, repr=False)
    """Card, persona and frame of the prompts; they decide nothing about lore."""
    vault_state: VaultState | None = data_field(default=None, repr=False, compare=False)
    """What `index` was made of, where that is known: with it, notes can be tried out before they are saved."""
    books: tuple[Lorebook, ...] = data_field(default=(), repr=False)
    """Lorebooks that were opened beside the vaults. Without a vault the index holds their entries."""
    as_notes: VaultState | None = data_field(default=None, repr=False, compare=False)
    """The notes that the entries in the index are read as, None where they are read as a lorebook's (`read_for`)."""
    book_paths: tuple[Path, ...] = ()
    given: DeepLoreSettings | None = data_field(default=None, repr=False, compare=False)
    """The settings as they were read, before anything was changed; None where `settings` are those."""
    read_only: bool = False
    """Whether the lorebooks are those of another program's folder, in which nothing is written."""

    @property
    def name(self) -> str:
        """The vaults' names, or those of the lorebooks in their place, as a title."""
        return " + ".join(self.index.vaults or tuple(book.name for book in self.books)) or "untitled"

    @property
    def given_settings(self) -> DeepLoreSettings:
        """The settings that the project came with, whatever was changed since."""
        return self.settings if self.given is None else self.given

    @property
    def bills(self) -> TokenCounter:
        """Who counts as the model bills: prompts, room and costs. Budgets are counted by `counter`."""
        return self.counting.bills if self.counting.budgets.identity == self.counter.identity else self.counter

    @property
    def of_books(self) -> bool:
        """Whether its entries are those of lorebooks, which stand in the place of a vault."""
        return bool(self.books) and not self.places

    @property
    def knows_notes(self) -> bool:
        """Whether it knows what its index was made of, so that notes and settings can be tried out on it."""
        return self.of_books or self.vault_state is not None

    @property
    def system(self) -> str:
        """The system that decides where nobody chose one: for lorebooks without notes, the one that scans such."""
        scanning = (name for name, kind in KINDS.items() if kind.books is not None)
        return next(scanning, MAIN.name) if self.of_books else MAIN.name

    def searching(self, by: Deciding | None = None) -> Deciding:
        """By whom its keys are searched: whoever decides, of lorebooks one who scans such; None for its own system."""
        if by is not None and (by.kind.books is not None or not self.of_books):
            return by
        kind = kind_of(self.system)
        return Deciding(kind, kind.settings_in(self.settings))

    def book_remarks(self, kind: SystemKind) -> tuple[str, ...]:
        """What a person has to know of its lorebooks where this system chooses from notes, and scans no lorebooks."""
        if not self.books or kind.books is not None or not kind.heeds:
            return ()
        scanning = ", ".join(other.title for other in KINDS.values() if other.books is not None)
        if self.places:
            names = joined(tuple(quoted(book.name) for book in self.books))
            told = f"{names} beside the vault {plural(len(self.books), 'takes|take')} no part"
            why = f"{kind.title} looks at notes alone, and {scanning} scans lorebooks"
            return (f"{told}: {why}. Imported into the vault, entries are notes like others.",)
        told = f"{kind.title} scans no lorebook: each entry counts as the note that importing it makes"
        out = len(self.read_for(kind).index.left_out)
        return (f"{told}, and {plural(out, '# is|# are')} left out." if out else f"{told}.",)

    @property
    def active_character(self) -> str:
        """The character that the chat is about: the one that a person chose, else the chat's, "" for nobody."""
        chosen = self.controls.character
        return chosen if chosen is not None else (self.chat or Chat()).character_name

    @property
    def known_context(self) -> int:
        """The room of the model that writes the story in tokens, 0 where nobody knows it.

        Without it no run warns of lore that takes a large share of it (rules: deeplore 6.8).
        """
        said = self.context_size or self.basis.settings.context_size
        return said or self.setup.context_size or self.host.context_size

    @property
    def reply_tokens(self) -> int:
        """The room that the host keeps for a reply: as was chosen for prompts, else as its settings say."""
        chosen = self.setup.preset is not None or self.setup.reply_tokens != REPLY_TOKENS
        return self.setup.reply_tokens if chosen else self.host.reply_tokens or REPLY_TOKENS

    @property
    def reply_setup(self) -> PromptSetup:
        """The setup of a prompt: with the context size and the regex scripts that the project knows besides."""
        setup, known = replace(self.setup, reply_tokens=self.reply_tokens), self.known_context
        if known and not setup.context_size:
            setup = replace(setup, context_size=known)
        path = self.settings_path
        if path is not None and self.host.scripts.scripts and path not in setup.regex_paths:
            setup = replace(setup, regex=(self.host.scripts, *setup.regex), regex_paths=(path, *setup.regex_paths))
        return setup

    @property
    def history(self) -> ChatHistory:
        """Which messages of the chat each generation saw."""
        return ChatHistory(self.chat or Chat(), HistoryRule(self.basis.settings.history), self.basis.hidden)

    @property
    def folders(self) -> dict[str, Path | None]:
        """The vaults' folders by their names."""
        return dict(zip(self.index.vaults, self.vault_folders, strict=False))

    @property
    def roots(self) -> list[Path]:
        """The folders alone."""
        return [folder for folder in self.vault_folders if folder is not None]

    @property
    def changed_in(self) -> list[Path]:
        """The folders in which its notes can be changed, or the lorebooks that stand in the place of a vault."""
        if self.places:
            return self.roots
        return [] if self.read_only else list(dict.fromkeys(book.parent for book in self.book_paths))

    def note_path(self, vault: str, filename: str) -> Path | None:
        """The file of a note, or the path of a lorebook's entry (see `book_entries`); None where its vault has none."""
        folder = self.folders.get(vault)
        if folder is None and not self.places and not self.read_only:
            folder = next((Path(book.place) for book in self.books if book.name == vault), None)
        return None if folder is None else folder / filename

    @property
    def note_roots(self) -> dict[str, Path]:
        """Below what the notes of each vault lie: its folder, or the file of a lorebook that stands in its place."""
        roots = {book.name: Path(book.place) for book in self.books if not self.places}
        return roots | {name: folder for name, folder in self.folders.items() if folder is not None}

    def note_place(self, path: Path) -> NoteKey | None:
        """The vault and the name of the note behind a file, None where it is in none of the vaults."""
        inside = ((name, root) for name, root in self.note_roots.items() if path.is_relative_to(root))
        return next(((name, path.relative_to(root).as_posix()) for name, root in inside), None)

    @property
    def no_entries(self) -> str:
        """What to do where there are notes and none has the tag, in a sentence; "" otherwise."""
        plain = sum(note.problem.untagged for note in self.index.left_out)
        if self.index.entries or not plain:
            return ""
        return (
            f"{plural(plain, '# note is|# notes are')} left out, none of them an entry yet: no note has the tag "
            f"“{self.settings.lorebook_tag}” in its front matter. `lorestudio entries VAULT` proposes entries."
        )

    @property
    def rules_offer(self) -> str:
        """What speaks for the rules of 2.6 while those of 2.0.2 decide, in a sentence; "" for nothing."""
        if self.settings.rules.startswith(NEW):
            return ""
        in_chat = sign_of_newer_chat(self.chat.metadata) if self.chat is not None else ""
        sign = f"The chat has {in_chat}, which only DeepLore 2.5 and later writes." if in_chat else ""
        sign = sign or sign_of_newer(self.index)
        advice = f"The rules of {self.settings.rules} decide; choose {NEW} (--rules {NEW}) if you write with that."
        return f"{sign} {advice}" if sign else ""

    def scene(self, answers: AnswerSource | None = None, model: str = "") -> Scene:
        """What a retrieval system is made for; the stand-in answers where nobody else is named."""
        chat, setup = self.chat or Chat(), self.setup
        return Scene(
            index=self.index,
            reading=self.settings,
            behaviour=self.behaviour,
            chat=self.chat,
            chat_path=self.chat_path,
            counter=self.counter,
            seed=self.seed,
            answers=StandInAnswers() if answers is None else answers,
            model=model,
            card=card_in(chat, setup.card) if setup.group is None else None,
            card_path=setup.card_path,
            persona=setup.persona.text,
            books=self.books,
            user_name=setup.user_name(chat),
            character_name=setup.character_name(chat),
            reply_tokens=self.reply_tokens,
            group_metadata=setup.group_metadata,
            cast=cast_in(chat, setup.group) if setup.group is not None else {},
        )

    def counted(self, counting: TokenCounting) -> Project:
        """The same project counted so; no note is parsed again. Counts every note that was not counted so before."""
        others = (each for each in self.problems if each not in self.counting.problems)
        problems = (*others, *counting.problems)
        if counting.budgets.identity == self.counter.identity:  # what was counted with it is known to this one
            return replace(self, counting=replace(counting, budgets=self.counter), problems=problems)
        state, index = self.vault_state, self.index
        if self.vault_state is None:  # of lorebooks, or of nobody knows what
            index = _counted(index, counting.budgets)
        else:
            vaults, assembly = self.vault_state.vaults, self.vault_state.assembly
            state = state_of(vaults, self.settings, counting.budgets, assembly)
            index = state.index
        counting.keep()
        counted = replace(self, counter=counting.budgets, counting=counting, problems=problems)
        return replace(counted, index=index, vault_state=state)

    def with_tokenizer(self, asked: str) -> Project:
        """The same project, counted as was asked for (see `tokens`). Raises TokenizerError."""
        return self.counted(counting_for(asked, (self.settings_path, self.chat_path), self.chat))

    def with_chat(self, path: Path) -> Project:
        """The same project with another chat. Raises InputError where it cannot be used."""
        loaded = read_chat(path)
        found = attached_files(loaded.chat.messages, path)
        chat = replace(loaded.chat, files=found.texts)
        controls = read_controls(loaded.chat.metadata)
        folders = existing_folders(controls.folders, self.index.folders)
        basis, problem = _kept_basis(path)
        told = (
            *loaded.problems, *control_problems(loaded.chat.metadata), *found.problems, *basis_problems(basis, chat)
        )  # fmt: skip
        problems = [f"{path.name}: {problem}" for problem in told]
        if folders != controls.folders:
            gone = ", ".join(folder for folder in controls.folders if folder not in folders)
            problems.append(f"{path.name}: the folder filter names folders that the vault does not have: {gone}.")
        changed = replace(
            self,
            chat=chat,
            chat_path=path,
            basis=basis,
            document=loaded.document,
            setup=self.setup if path == self.chat_path else PromptSetup(),
            controls=replace(controls, folders=folders),
            problems=(*self.problems, *problem, *problems),
        )
        return changed.with_tokenizer(self.counting.asked)

    def read_for(self, kind: SystemKind, on_read: OnRead | None = None) -> Project:
        """The project for a system of this kind: lorebooks in the place of a vault are read as notes by systems that
        choose from notes, and scan no lorebooks. `on_read` as for `open_project`.
        """
        if self.is_read_for(kind):
            return self
        if self.as_notes is not None:
            return replace(self, as_notes=None).with_books(self.books)
        state = as_notes(self.books, self.settings, self.counter, on_read=on_read)
        return replace(self, as_notes=state, index=state.index)

    def is_read_for(self, kind: SystemKind) -> bool:
        """Whether `read_for` leaves it as it is."""
        notes = self.of_books and kind.books is None and bool(kind.heeds)
        return notes == (self.as_notes is not None)

    def with_index_of(self, other: Project) -> Project:
        """The same project with the notes, or the entries in their place, as they were read for another one."""
        return replace(self, index=other.index, vault_state=other.vault_state, as_notes=other.as_notes)

    def with_books(self, books: tuple[Lorebook, ...]) -> Project:
        """The same project with these lorebooks; without a vault the index holds their entries."""
        if self.as_notes is not None:
            state = as_notes(books, self.settings, self.counter, self.as_notes)
            return replace(self, books=books, as_notes=state, index=state.index)
        scanned = kind_of(replace(self, books=books).system).books
        if self.places or scanned is None:
            return replace(self, books=books)
        known = {entry.content: entry.tokens for entry in self.index.entries}
        return replace(self, books=books, index=_counted(scanned.index(books), self.counter, known), vault_state=None)

    def with_books_reread(self, on_read: OnRead | None = None) -> Project:
        """The same project with its lorebooks as they are on the disk now, each in its role. Raises InputError."""
        known = {book.place: book for book in self.books}
        read = (_lorebook(path, on_read) for path in self.book_paths)
        before = ((known.get(book.place, book), book) for book in read)
        return self.with_books(tuple(replace(book, role=old.role, owners=old.owners) for old, book in before))

    def reads_alike(self, settings: DeepLoreSettings) -> bool:
        """Whether other settings leave the index as it is, because they do not decide how notes are read."""
        return reading_key(self.settings, self.counter) == reading_key(settings, self.counter)

    def with_settings(self, settings: DeepLoreSettings) -> Project:
        """The same project with other settings; the vaults are read again where these say how.

        Raises VaultError where a vault cannot be read.
        """
        told = self.problems
        if settings.rules != self.settings.rules:
            told = tuple(problem for problem in told if problem != self.rules_offer)
        alike = self.reads_alike(settings)
        if alike or self.of_books:
            changed = replace(self, settings=settings, problems=told)
            return changed if alike or self.as_notes is None else changed.with_books(self.books)
        news = read_once(vault_sources(self.places), settings, self.counter)
        if news.failures:
            raise VaultError(news.failures[0])
        return replace(self, settings=settings, index=news.index, vault_state=news.state, problems=told)

    def as_given(self) -> Project:
        """The same project with its settings and switches as it came. Raises what `with_settings` raises."""
        return replace(self.with_settings(self.given_settings), behaviour=Behaviour())

    def with_settings_of(self, kind: SystemKind, settings: Section) -> Project:
        """The project for a run with these settings of a system: as they read its notes, if they say how.

        Raises VaultError where a vault cannot be read.
        """
        reading = kind.reading(settings)
        return (self if reading is None else self.with_settings(reading)).read_for(kind)

    @property
    def known_state(self) -> VaultState:
        """What its index was made of. Raises ValueError where nobody knows, so that no note can be tried out."""
        state = self.vault_state
        if state is None or state.index is not self.index:
            message = "The project does not say what its index was made of, so no note can be tried out."
            raise ValueError(message)
        return state

    def edited_vaults(self) -> EditedVaults | None:
        """What its vaults become with other texts, None for lorebooks; looks once at every note.

        Raises what `known_state` raises.
        """
        return None if self.of_books else EditedVaults(self.known_state, self.settings, self.counter)

    def with_texts(self, notes: Iterable[NoteText], vaults: EditedVaults | None = None) -> Project:
        """The project with other texts for some notes, or for entries of lorebooks that stand in the place of a vault.

        `vaults` are its `edited_vaults`, where they were made already. Raises VaultError, and what `edited_vaults`
        raises.
        """
        vaults = vaults or self.edited_vaults()
        if vaults is None:
            return self.with_books(with_texts(self.books, notes))
        state = vaults.with_texts(notes)
        return replace(self, index=state.index, vault_state=state)

    def with_vaults(self, vaults: Sequence[Path | str]) -> Project:
        """Its chat, card and lorebooks with these vaults. Waits for the disk. Raises what `open_project` raises."""
        made = open_project(vaults, self.chat_path, self.settings_path, self.seed, tokenizer=self.counting.asked)
        return replace(
            made, books=self.books, book_paths=self.book_paths, read_only=self.read_only, setup=self.setup,
            context_size=self.context_size,
        )  # fmt: skip

    def reloaded(self, on_read: OnRead | None = None) -> Project:
        """The project read from disk again; `on_read` as for `open_project`."""
        rules, places = self.settings.rules, [*self.places, *map(str, self.book_paths)]
        again = open_project(
            places, self.chat_path, self.settings_path, self.seed, rules, self.counting.asked,
            {book.place: book.whose for book in self.books}, on_read,
        )  # fmt: skip
        if self.as_notes is not None:
            again = replace(again, as_notes=self.as_notes).with_books(again.books)
        given = again.settings.model_copy(update={"rules": self.given_settings.rules})
        return replace(again, context_size=self.context_size, setup=self.setup, read_only=self.read_only, given=given)


class ReadSettings(Terse, frozen=True):
    """Settings as the studio uses them, what the person should know about them, and what else their file says."""

    unprinted = ("host", "recorded")

    settings: DeepLoreSettings
    problems: tuple[str, ...] = ()
    host: HostSettings = field(default_factory=HostSettings)
    recorded: Mapping[str, Usage] = {}


def _kept_basis(chat: Path) -> tuple[KeptBasis, tuple[str, ...]]:
    """What was said about a chat, and a sentence where that cannot be read, so that the defaults hold."""
    try:
        return load_basis(basis_path(chat)), ()
    except SettingsError as error:
        return KeptBasis(), (f"{error} Until then hidden messages count as visible for the replies before them.",)


def load_settings(path: Path, rules: str = "") -> Sanitised:
    """What `load` reads from a file. Raises SettingsError, which says of a card, chat or lorebook what it is."""
    try:
        return load(path, rules)
    except SettingsError:
        other = another_file(read_file(path), path, "settings file") if path.is_file() else None
        if other is None or (isinstance(other, WrongFileError) and other.belongs is Belongs.SETTINGS):
            raise
        raise SettingsError(str(other)) from None


def read_settings(path: Path | None, rules: str = "") -> ReadSettings:
    """The settings of a file, or DeepLore's own, by these rules where they are given.

    Raises SettingsError where the file cannot be used.
    """
    said: dict[str, Json] = {"rules": rules} if rules else {}
    loaded = load_settings(path, rules) if path is not None else sanitise({**_SWITCHED_ON, **said})
    host, recorded = HostSettings(), read_usage(loaded.unknown.get("analyticsData"))
    if path is not None:
        try:
            host = load_host_settings(path)
        except InputError as error:
            raise SettingsError(str(error)) from error
    told = (*loaded.problems, *host.problems)
    if loaded.settings.enabled:
        return ReadSettings(loaded.settings, told, host, recorded)
    off = "DeepLore is switched off in these settings; the studio simulates it as switched on."
    return ReadSettings(loaded.settings.switched_on(), (*told, off), host, recorded)


def open_project(
    vaults: Sequence[Path | str],
    chat: Path | None = None,
    settings: Path | None = None,
    seed: int = 0,
    rules: str = "",
    tokenizer: str = "",
    roles: Mapping[str, str] = MappingProxyType({}),
    on_read: OnRead | None = None,
) -> Project:
    """Read vaults, chat and settings. A vault is a folder, or the address of Obsidian's plugin (see `places`).

    A file among them is a lorebook, in the role that `roles` has for it (see `Lorebook.whose`), else as its content
    tells. `on_read` hears how many of how many notes, or entries of a lorebook, are read; what it raises ends that.
    `rules` names DeepLore's rules; without it, the settings say whose hold, or show
    it, else those of 2.0.2 do. `tokenizer` says how tokens are counted (see `tokens`). Notes that cannot be read are
    part of the index as such. Raises InputError, SettingsError, VaultError or TokenizerError (all with a sentence for
    the person) where the chat, the settings, a vault or the tokenizer cannot be used at all.
    """
    every = place_names(vaults)
    files = tuple(map(Path, filter(is_lorebook, every)))
    places = tuple(place for place in every if not is_lorebook(place))
    read = read_settings(settings, rules)
    counting = counting_for(tokenizer, (settings, chat))
    news = read_once(vault_sources(places), read.settings, counting.budgets, on_read=on_read)
    if news.failures:
        raise VaultError(news.failures[0])
    project = assembled(places, news, read, chat, settings, seed, counting)
    known = [(str(file), *roles.get(str(file), "").split("\n")) for file in files]
    books = tuple(
        Lorebook("", role=BookRole(role), place=place, owners=frozenset(owners))
        for place, role, *owners in known
        if role in {*BookRole}
    )
    return replace(project, book_paths=files, books=books).with_books_reread(on_read) if files else project


def _counted(index: VaultIndex, counter: TokenCounter, known: Mapping[str, int] = MappingProxyType({})) -> VaultIndex:
    """The index with the tokens of its entries as this one counts them; those of texts in `known` are known."""

    def counted(entry: Entry) -> Entry:
        tokens = known[entry.content] if entry.content in known else counter.count(entry.content)
        return entry if entry.tokens == tokens else replace(entry, tokens=tokens)

    return replace(index, entries=tuple(map(counted, index.entries)))


def _lorebook(path: Path, on_read: OnRead | None) -> Lorebook:
    """The lorebook in a file that was given as a vault. Raises InputError, which says what another file is."""
    try:
        return load_lorebook(path, on_read=on_read)
    except InputError:
        data = read_file(path) if path.is_file() else b""
        if path.suffix == ".jsonl" and data.strip() and may_be_chat(data):
            raise WrongFileError(path, "this is a chat, and no vault", Belongs.CHAT) from None
        raise


def read_chat(path: Path) -> LoadedChat:
    """The chat in a file. Raises InputError, which says so of a lorebook and of other files that are known."""
    if path.is_dir():
        raise WrongFileError(path, "this is a folder, and no chat", Belongs.VAULT)
    error = InputError(
        path,
        "this is JSON, and no chat. Open a SillyTavern chat file (.jsonl) or plain text (.txt). A chat of another "
        "program becomes one where SillyTavern imports it.",
    )
    with refused(partial(InputError, path), "the chat cannot be read: {reason}."):
        data = read_whole(path)
    if not data.strip():
        raise InputError(path, "the file is empty. Give a chat with at least one message.")
    told = path.suffix.lower() in _OF_CHATS or not path.is_file()
    if wrong := refusal(data, path) if told else what_it_is(data, path):
        raise wrong
    if told or may_be_chat(data):
        try:
            return chat_in(data, path)
        except InputError as refused_chat:
            error = refused_chat
    try:
        lorebook_in(data, path)
    except WrongFileError as other:
        raise other from None
    except InputError:
        raise error from None
    raise another_file(data, path, "chat") or error


def is_lorebook(place: str) -> bool:
    """Whether a place names a file that is to be opened as a lorebook. Waits for the disk."""
    path = Path(place)
    return path.suffix.lower() in _OF_BOOKS and path.is_file()


def opens_as(path: Path) -> Belongs:
    """Whether a file or folder is opened as a vault, a lorebook or a chat. Waits for the disk.

    Raises InputError for what is none of them. What is wrong with a file of the right kind, opening it says.
    """
    ending = path.suffix.lower()
    if path.is_dir():
        return Belongs.VAULT
    if ending in _OF_CHATS:
        return Belongs.CHAT
    if ending not in _OF_BOOKS:
        raise InputError(
            path,
            "this cannot be opened. Take a folder of notes, a chat (.jsonl, .txt), or a lorebook or card (.json, "
            ".lorebook, .png, .charx).",
        )
    if ending == ".json":
        with suppress(InputError):
            read_chat(path)
            return Belongs.CHAT
    return Belongs.BOOK


def place_names(vaults: Sequence[Path | str]) -> tuple[str, ...]:
    """Vaults by their places, each once: whole paths of folders, addresses as they are."""
    every = (str(vault) if is_address(str(vault)) else str(real_path(Path(vault))) for vault in vaults)
    return tuple(dict.fromkeys(every))


def assembled(
    places: Sequence[str], news: LibraryNews, read: ReadSettings, chat: Path | None, settings: Path | None, seed: int,
    counting: TokenCounting,
) -> Project:  # fmt: skip
    """A project of what was read from these places. Raises InputError where the chat cannot be used."""
    counting.keep()
    project = Project(
        tuple(None if is_address(place) else Path(place) for place in places),
        news.index,
        read.settings,
        given=read.settings,
        places=tuple(places),
        settings_path=settings,
        host=read.host,
        recorded=read.recorded,
        seed=seed,
        counter=counting.budgets,
        counting=counting,
        problems=(*read.problems, *news.index.field_errors, *counting.problems),
        vault_state=news.state,
    )
    project = project if chat is None else project.with_chat(real_path(chat))
    said = filter(None, (project.no_entries, project.rules_offer))
    return replace(project, problems=(*project.problems, *said))


def demo_project(folder: Path | None = None, *, reset: bool = False, broken: bool = False) -> Project:
    """The vault, chat and settings that come with the program, or a copy of them in `folder` that may be edited.

    The copy is made where there is none yet. `reset` makes it anew; what stood there lies beside it afterwards, in a
    folder whose name ends in `before reset`. With `broken` three things in the copy are wrong on purpose, and what the
    story needs is expected of it. Raises InputError where the copy cannot be made.

    >>> demo_project().name
    'vault'
    """
    vault, chat, settings = places = _DEMO_FILES if folder is None else _COPIED
    if folder is not None and (reset or not all((folder / name).exists() for name in places)):
        with refused(partial(InputError, folder), "the demo cannot be copied there: {reason}."):
            _copy_demo(folder, broken=broken)
    demo = resource("demo") if folder is None else folder
    return open_project([demo / vault], demo / chat, demo / settings, seed=DEMO_SEED)


def demo_folder() -> Path:
    """Where a person's own copy of the demo lies."""
    return OWN_FOLDERS.user_data_path / "demo"


def practice_folder(demo: Path) -> Path:
    """Where the copy lies that is broken on purpose, beside the person's own copy of the demo."""
    return demo.with_name("practice")


def is_demo(project: Project) -> bool:
    """Whether it is the demo, as it comes with the program or as a copy with all its names."""
    path = project.chat_path
    return path is not None and (path == resource("demo", _DEMO_FILES[1]) or path.parts[-2:] == ("demo", _COPIED[1]))


_DEMO_FILES: Final = ("vault", "chat.jsonl", "settings.json")
_COPIED: Final = ("The Brume", "The letter to Hollin.jsonl", "settings.json")
"""What they are called where a person sees them as files."""


def _copy_demo(folder: Path, *, broken: bool) -> None:
    """Copy the demo, beside what is there, and put it in its place once it is whole."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    made = Path(mkdtemp(prefix=f"{folder.name}-", dir=folder.parent))
    for source, name in zip(_DEMO_FILES, _COPIED, strict=True):
        copy = copytree if resource("demo", source).is_dir() else copyfile
        copy(resource("demo", source), made / name)
    if broken:
        copytree(resource("demo", "practice"), made, dirs_exist_ok=True)
    before = folder.with_name(f"{folder.name} before reset")
    if folder.exists():
        rmtree(before, ignore_errors=True)
        folder.rename(before)
    made.rename(folder)


DEMO_LOOK: Final = (11, "Court of Weather")
"""The reply that the demo opens with, and the entry in it: what the scene is about, and the budget cut it."""

DEMO_SEED: Final = 3
"""Chosen so that each of the demo chat's probability notes loses a roll and wins one (see resources/demo/STORY.md)."""
