"""What SillyTavern's own folder has, and what of it belongs to a chat there. It is only read.

Rules: sillytavern 5.1, 5.4.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Final

from msgspec import Struct

from lorestudio.domain.javascript import Json
from lorestudio.domain.json_text import items_in, mapping_in, object_in, objects_in, parse_json
from lorestudio.domain.records import Terse, replace
from lorestudio.domain.texts import reading_order
from lorestudio.exchange.character_card import CARDS, load_card, load_group
from lorestudio.exchange.chat_preset import load_preset
from lorestudio.exchange.host_settings import load_host_settings
from lorestudio.exchange.json_file import parse_document, read_file
from lorestudio.exchange.lorebooks.reading import BookFile, BookRole
from lorestudio.exchange.problems import InputError
from lorestudio.settings.declaration import Section
from lorestudio.settings.files import SettingsError, read_whole, real_path
from lorestudio.settings.store import load
from lorestudio.studio.project.places import user_folders
from lorestudio.studio.project.project import Project, open_project
from lorestudio.studio.prompt.setup import Persona, PromptSetup, with_group, with_preset
from lorestudio.systems.registry import KINDS, MAIN, kind_of
from lorestudio.trace.wording import calendar_time
from lorestudio.vault.files import refused

_KINDS: Final = ("characters", "groups", "worlds", "OpenAI Settings")
_GROUP_CHATS: Final = "group chats"
_ENDINGS: Final = frozenset({".png", ".json"})


class FoundChat(Struct, frozen=True):
    """A chat of an installation; `when` is the time of its file, in UTC. `group` is the file of a group that has it."""

    path: Path
    character: str
    when: datetime
    group: Path | None = None


class FoundPersona(Terse, frozen=True):
    """A persona by its picture. `book` is the lorebook that belongs to it, `owners` are those whose chats it is for."""

    unprinted = ("text",)

    avatar: str
    name: str
    text: str = ""
    book: str = ""
    owners: frozenset[str] = frozenset()


class SillyTavernFolder(Terse, frozen=True):
    """What there is in the folder of a user: chats, the newest first, and files by their names.

    `settings` is the `settings.json`, None where DeepLore's settings are not in it, `vaults` are the names of those
    that DeepLore reads there; `host` is what the file says, and `problem` why it cannot be read. `others` are the
    folders of other users beside.
    """

    unprinted = ("host",)

    user: Path
    chats: tuple[FoundChat, ...]
    settings: Path | None = None
    characters: tuple[Path, ...] = ()
    groups: tuple[Path, ...] = ()
    books: tuple[Path, ...] = ()
    presets: tuple[Path, ...] = ()
    personas: tuple[FoundPersona, ...] = ()
    host: Mapping[str, Json] = {}
    problem: str = ""
    vaults: tuple[str, ...] = ()
    others: tuple[Path, ...] = ()

    @property
    def told(self) -> tuple[str, ...]:
        """Sentences on what is not seen of it."""
        more = f"Other users have folders of their own, to be opened by themselves: {', '.join(map(str, self.others))}."
        return (*([self.problem] if self.problem else ()), *([more] if self.others else ()))

    def chat(self, name: str = "", character: str = "") -> FoundChat:
        """The newest chat of this name and this character, by a part of them where nothing is called so.

        Raises InputError where there is none, and where a part of a name fits several.
        """
        found = _called(self.chats, character, lambda each: each.character, "--character", "character with a chat")
        if not name:
            return found[0]
        found = _called(found, name, lambda each: each.path.stem, "--chat", "chat")
        if len({each.path for each in found}) > 1 and len({each.character for each in found}) > 1:
            names = ", ".join(dict.fromkeys(each.character for each in found))
            raise InputError("--chat", f"several characters have such a chat: {names}. Say --character, too.")
        return found[0]


def _called(
    chats: Iterable[FoundChat], name: str, called: Callable[[FoundChat], str], option: str, what: str
) -> list[FoundChat]:
    every = list(chats)
    names = list(dict.fromkeys(map(called, every)))
    fitting = [each for each in names if each == name] or [each for each in names if name.lower() in each.lower()]
    if not every:
        raise InputError(option, "there is no chat in this folder yet.")
    if not fitting or (name and len(fitting) > 1):
        shown = ", ".join(fitting[:5] or names[:5])
        told = f"several fit “{name}”" if fitting else f"there is no {what} called “{name}”; there are"
        raise InputError(option, f"{told}: {shown}{', …' if len(fitting or names) > 5 else ''}.")
    return [each for each in every if called(each) in fitting]


def look_into(folder: Path) -> SillyTavernFolder:
    """Find what a folder of SillyTavern has. Waits for the disk. Raises InputError where it is none."""
    users = tuple(dict.fromkeys(map(real_path, user_folders(folder))))
    if not users:
        expected = "expected is a folder with “chats” in it, such as SillyTavern/data/default-user."
        raise InputError(folder, f"this is no folder of SillyTavern: {expected}")
    user = users[0]
    with refused(partial(InputError, folder), "its files cannot be listed: {reason}."):
        files = {kind: _files(user / kind) for kind in _KINDS}
        of_groups = _group_chats(files["groups"])
        chats = [_found(path, path.parent.name) for path in (user / "chats").glob("*/*.jsonl") if path.is_file()]
        for path in filter(Path.is_file, (user / _GROUP_CHATS).glob("*.jsonl")):
            group, name = of_groups.get(path.stem, (None, "group"))
            chats.append(_found(path, name, group))
    settings = user / "settings.json"
    host, problem = _document(settings), ""
    if not host and settings.is_file():
        try:
            parse_document(read_file(settings), settings, "settings")
        except InputError as error:
            problem = str(error)
    chats.sort(key=lambda chat: chat.when, reverse=True)
    deeplore, vaults = _usable(settings)
    return SillyTavernFolder(
        user, tuple(chats), deeplore, files["characters"], files["groups"], files["worlds"],
        files["OpenAI Settings"], _personas(host), host, problem, vaults, users[1:],
    )  # fmt: skip


def _files(folder: Path) -> tuple[Path, ...]:
    found = (path for path in folder.glob("*") if path.suffix.lower() in _ENDINGS and path.is_file())
    return tuple(sorted(found, key=lambda path: (reading_order(path.stem), path.name)))


def _found(path: Path, character: str, group: Path | None = None) -> FoundChat:
    return FoundChat(path, character, calendar_time(1000 * path.stat().st_mtime), group)


def _group_chats(groups: Iterable[Path]) -> dict[str, tuple[Path | None, str]]:
    """The group that has a chat, and its name, by the chat's name."""
    found: dict[str, tuple[Path | None, str]] = {}
    for path in groups:
        document = _document(path)
        chats = document.get("chats")
        for chat in chats if isinstance(chats, list) else ():
            found[str(chat)] = path, str(document.get("name") or path.stem)
    return found


def _document(path: Path) -> Mapping[str, Json]:
    """The object in a file, none where it cannot be read: it only serves to show what there is."""
    try:
        document = parse_json(read_whole(path).decode("utf-8-sig"))
    except (OSError, ValueError):
        return {}
    return document if isinstance(document, Mapping) else {}


def _personas(host: Mapping[str, Json]) -> tuple[FoundPersona, ...]:
    user = object_in(host, "power_user")
    found = []
    for avatar, name in object_in(user, "personas").items():
        said = object_in(object_in(user, "persona_descriptions"), avatar)
        ids = (mapping_in(each).get("id") for each in items_in(said.get("connections")))
        text, book = (str(said.get(key) or "") for key in ("description", "lorebook"))
        found.append(FoundPersona(avatar, str(name), text, book, frozenset(map(str, ids))))
    return tuple(found)


def _usable(settings: Path) -> tuple[Path | None, tuple[str, ...]]:
    """The file where DeepLore's settings are in it, and where it is on the names of its vaults."""
    try:
        loaded = load(settings)
    except (OSError, SettingsError):
        return None, ()
    vaults = loaded.unknown.get("vaults") if loaded.settings.enabled else None
    on = (each for each in objects_in(vaults) if each.get("enabled"))
    return settings, tuple(str(each.get("name") or each.get("port")) for each in on)


# ---- what belongs to a chat -----------------------------------------------------------------------------------------


class BroughtChat(Terse, frozen=True):
    """A chat of an installation with its card or group, persona, preset, settings, and the lorebooks in play.

    `systems` are settings of systems that SillyTavern's file has, too; `remarks` say what is not there.
    """

    unprinted = ("systems",)

    project: Project
    systems: Mapping[str, Section] = {}
    remarks: tuple[str, ...] = ()


def open_found(
    folder: SillyTavernFolder, chat: FoundChat, tokenizer: str = "", vaults: Sequence[Path | str] = ()
) -> BroughtChat:
    """Open a chat with what belongs to it, and with vaults that DeepLore reads there.

    Waits for the disk. Raises InputError, SettingsError, VaultError or TokenizerError.
    """
    project = open_project((), chat.path, folder.settings, tokenizer=tokenizer)
    remarks: list[str] = []
    project = replace(project, setup=_setup(folder, chat, remarks))
    persona = _persona(folder, chat, project.scene().metadata)
    project = replace(project, setup=replace(project.setup, persona=Persona(persona.name, persona.text)))
    settings_file, worlds = folder.user / "settings.json", folder.user / "worlds"
    remarks += [f"Without SillyTavern's settings: {folder.problem}"] if folder.problem else []
    systems: dict[str, Section] = {}
    for name, kind in KINDS.items():
        if kind.books is None:
            continue
        read, plain = None, kind.settings()
        if folder.host:
            try:
                read = kind.reads_file(settings_file)
            except SettingsError as error:
                remarks.append(f"Without SillyTavern's settings of {kind.title}: {error}")
        if read is None:  # what chat, card and persona name is scanned all the same
            read = plain.model_copy(update={kind.books.folder: str(worlds)})
        else:
            listed = kind.of_one_computer - {kind.books.folder}  # the folder says where a missing one should be
            systems[name] = read.model_copy(update={each: getattr(plain, each) for each in listed})
        own = BookFile(str(worlds / f"{persona.book}.json"), BookRole.PERSONA)
        files = [*kind.books.files(read), *([own] if persona.book else [])]
        try:
            books, missing = kind.books.in_play(kind.books.naming(read, files), project.scene())
        except InputError as error:
            remarks.append(str(error))
            continue
        remarks += missing
        remarks += (
            f"{book.name} is scanned out of the card; SillyTavern scans it only once it was imported there."
            for book in books
            if Path(book.place).parent == folder.user / CARDS
        )
        paths = tuple(Path(book.place) for book in books)
        project = replace(project, book_paths=paths, read_only=True).with_books(books)
    if folder.vaults and not vaults:
        names = ", ".join(f"“{name}”" for name in folder.vaults)
        until = f" Until then {kind_of(project.system).title} decides." if project.books else ""
        remarks.append(f"{MAIN.title}'s notes ({names}) are in Obsidian: open the folder of that vault, too.{until}")
    brought = project.with_vaults(vaults) if vaults else project
    return BroughtChat(brought, systems, tuple(remarks))


def _persona(folder: SillyTavernFolder, chat: FoundChat, metadata: Mapping[str, Json]) -> FoundPersona:
    """Who the person is there: as the chat says, else the character's, else the usual one, else the one chosen last."""
    owner = chat.group.stem if chat.group is not None else f"{chat.path.parent.name}.png"
    usual = object_in(folder.host, "power_user").get("default_persona")
    tests: list[Callable[[FoundPersona], bool]] = [
        lambda one: one.avatar == metadata.get("persona"),
        lambda one: owner in one.owners,
        lambda one: one.avatar == usual,
        lambda one: one.avatar == folder.host.get("user_avatar"),
    ]
    found = (one for test in tests for one in folder.personas if test(one))
    return next(found, FoundPersona("", ""))


def _setup(folder: SillyTavernFolder, chat: FoundChat, remarks: list[str]) -> PromptSetup:
    """Card or group, preset, and what DeepLore's settings would bring where they are not there."""
    setup, settings = PromptSetup(), folder.user / "settings.json"
    card = folder.user / "characters" / f"{chat.path.parent.name}.png"
    in_use = object_in(folder.host, "oai_settings")
    # what is sent is what the settings say, also where the preset of that name was not saved since
    named = folder.user / "OpenAI Settings" / f"{in_use.get('preset_settings_openai')}.json"
    preset = settings if "prompts" in in_use else named
    try:
        if folder.settings is None and folder.host:
            host = load_host_settings(settings)
            setup = replace(setup, context_size=host.context_size, reply_tokens=host.reply_tokens or setup.reply_tokens)
            if host.scripts.scripts:
                setup = replace(setup, regex=(host.scripts,), regex_paths=(settings,))
        if folder.host.get("main_api", "openai") == "openai" and preset in {settings, *folder.presets}:
            setup = with_preset(setup, load_preset(preset), preset)
        if chat.group is not None:
            group = load_group(chat.group)
            setup = with_group(setup, group, chat.group, chat.path)
            remarks += group.remarks
        elif chat.path.parent.name == _GROUP_CHATS:
            remarks.append(f"No group in {folder.user / 'groups'} has this chat, so no cards come with it.")
        elif card.is_file():
            setup = replace(setup, card=load_card(card), card_path=card)
        else:
            remarks.append(f"The card of {chat.character} is not there: {card}.")
    except InputError as error:
        remarks.append(str(error))
    return setup
