"""Arguments and options that several commands have, each declared once, and what they choose.

Those that go together are one dataclass, which a command takes as one parameter (see `command`). What is chosen raises
InputError with its option's name.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar, Final

from lorestudio.cli.answering import Answering, answering
from lorestudio.cli.command import Limits, OutputFile, RulesOption, rules_named
from lorestudio.cli.output import STANDARD_STREAM, json_bytes, print_json, say, say_all
from lorestudio.domain.chat import Generation
from lorestudio.domain.entry import Entry, LeftOutNote
from lorestudio.domain.file_names import same_name
from lorestudio.domain.records import replace
from lorestudio.domain.texts import called_alike
from lorestudio.exchange.character_card import load_card, load_group
from lorestudio.exchange.lorebooks.reading import book_file
from lorestudio.exchange.problems import InputError
from lorestudio.exchange.regex_scripts import load_scripts
from lorestudio.settings.behaviour import fixed
from lorestudio.settings.declaration import Section
from lorestudio.settings.sections import SectionT, assigned
from lorestudio.settings.studio import ChatBasis
from lorestudio.studio.project.answering import AnswerKind, RecordedAnswers, load_recorded
from lorestudio.studio.project.files import write_bytes
from lorestudio.studio.project.project import Project, open_project
from lorestudio.studio.project.settings import Mode, settings_path, with_mode
from lorestudio.studio.prompt.setup import read_persona, with_group
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.systems.base import Given, System, SystemKind
from lorestudio.systems.offline import Unanswered
from lorestudio.systems.registry import KINDS, MAIN, kind_of, system_of
from lorestudio.trace.wording import plural


def in_mode(project: Project, mode: str | None) -> Project:
    """The project in the mode of that name; as it is without one."""
    if mode is None:
        return project
    if mode not in set(Mode):
        raise InputError("--mode", f"there is no mode “{mode}”. There are: {', '.join(Mode)}.")
    return with_mode(project, Mode(mode))


def with_fixed(project: Project, switches: Sequence[str] | None) -> Project:
    """The project with these quirks of DeepLore mended, and no others."""
    try:
        return replace(project, behaviour=fixed(switches or ()))
    except ValueError as error:
        raise InputError("--fixed", str(error)) from error


def answering_offline(answers: str, project: Project) -> Answering:
    """Who answers in a command that asks no provider."""
    if answers not in {AnswerKind.STAND_IN, AnswerKind.RECORDED}:
        raise InputError("--answers", "this asks no provider. Choose stand-in, or recorded after a replay with one.")
    return answering(answers, project)


def chosen_generation(
    simulator: Simulator, message: int | None, swipe: int | None = None, option: str = ""
) -> Generation:
    """The generation of that reply and swipe (from 1).

    By default the reply to come, and the active swipe. `option` is the one that says both in one.
    """
    generation = simulator.generations[-1] if message is None else simulator.shown(message)
    if generation is None:  # a chat may call a swipe active that it does not have
        generation = next((each for each in reversed(simulator.generations) if each.message == message), None)
    if generation is None:
        replies = dict.fromkeys(each.message for each in simulator.generations)
        numbers = ", ".join(f"#{reply}" for reply in replies)
        raise InputError(option or "--message", f"#{message} is no reply of the chat's. There are: {numbers}.")
    if swipe is None:
        return generation
    chosen = Generation(generation.message, swipe - 1)
    if chosen not in simulator.generations:
        count = sum(each.message == generation.message for each in simulator.generations)
        swipes = plural(count, "# swipe|# swipes")
        raise InputError(option or "--swipe", f"reply #{generation.message} has {swipes}, and none is {swipe}.")
    return chosen


def notes_called(project: Project, name: str) -> list[Entry | LeftOutNote]:
    """The note of that file name; else those of that title, or of that name without its ending where they are none,
    or of that file name in any folder.

    An accent may be typed otherwise than it stands in the name, as a part of its letter or behind it.
    """
    wanted = same_name(name)
    notes = project.index.notes
    by_file = [note for note in notes if same_name(note.filename) == wanted]
    if by_file:
        return [next((note for note in by_file if note.filename == name), by_file[0])]
    titles = [note.title or Path(note.filename).stem for note in notes]
    titled = [note for note, title in zip(notes, titles, strict=True) if same_name(title) == wanted]
    return titled or [note for note in notes if same_name(note.filename).rpartition("/")[2] == wanted]


def note_called(project: Project, name: str, option: str, advice: str = "") -> Entry | LeftOutNote:
    """The note that a person means by a title or a file name. Raises InputError where there is none, or several."""
    found = notes_called(project, name)
    titled = [note for note in found if isinstance(note, Entry)]
    if len(titled) > 1:
        names = ", ".join(note.filename for note in titled)
        raise InputError(option, f"several notes are called “{name}”. Name the file: {names}.")
    if not found:
        hint = called_alike(name, (each.title for each in project.index.entries)) or advice
        raise InputError(option, f"no note has the title or the file name “{name}”.{hint}")
    return found[0]


def with_books(kind: SystemKind, settings: Section, books: Sequence[str]) -> Section:
    """The settings with these lorebooks besides those they name. Raises InputError for a system that scans none."""
    if not books:
        return settings
    if kind.books is None:
        scanning = " or ".join(name for name, each in KINDS.items() if each.books is not None)
        raise InputError("--book", f"lorebooks are scanned by --system {scanning}.")
    return kind.books.naming(settings, (*kind.books.files(settings), *map(book_file, books)))


SYSTEMS: Final = ", ".join(KINDS)

VaultArgument = Annotated[
    list[str],
    "<VAULT...>",
    "Folders of Markdown notes, or Obsidian's REST plugin as http://127.0.0.1:27123; merged in order. "
    "A lorebook may stand in their place.",
]

_CHAT: Final = "A SillyTavern chat (.jsonl) or plain text."
ChatOption = Annotated[Path | None, _CHAT]
NeededChat = Annotated[Path, _CHAT]
"""The chat of commands that are about one."""

ReplyOption = Annotated[int | None, Limits(0), "The number of a reply. Default: the reply to come."]
SwipeOption = Annotated[int | None, Limits(1), "A swipe of the reply, from 1. Default: the active one."]
SettingsOption = Annotated[Path | None, "DeepLore settings, or SillyTavern's settings.json."]
TokenizerOption = Annotated[
    str,
    "NAME|FILE",
    "How tokens are counted: a tokenizer's name or file, estimate, or SillyTavern's settings or preset; "
    "chat: or plain: before it says over which way. Default: as SillyTavern's settings beside the chat say.",
]


SeedOption = Annotated[int, Limits(0, 2**32 - 1), "Seed of the probability rolls."]
SizeOption = Annotated[
    int, "--context-size", "TOKENS", Limits(0), "Context size of the story's model, to be warned of too much lore."
]
ModeOption = Annotated[str | None, f"How entries are selected: {', '.join(Mode)}. Default: as the settings say."]
FixedOption = Annotated[
    list[str] | None, "--fixed", "SWITCH", "Mend this quirk of DeepLore (“all”: every one). May be repeated."
]
AnswersOption = Annotated[str, "Who answers for the model: stand-in (offline), recorded, or a profile's name."]
OfflineAnswersOption = Annotated[str, "Who answers for the model: stand-in (offline) or recorded."]
"""The same for commands that ask no provider."""

YesOption = Annotated[bool, "Ask the provider without asking you first."]
AskAgainOption = Annotated[bool, "Ask the provider also for what it answered before, and record that."]
DoItOption = Annotated[bool, "Do it without asking you first."]
JsonOption = Annotated[bool, "--json", "Print it as JSON."]
ProfileOption = Annotated[str | None, "A settings profile, in place of a file."]
BookOption = Annotated[
    list[str] | None,
    "[ROLE:]FILE",
    "A lorebook for world-info: World Info JSON, or a card with a book inside. ROLE is global, character, "
    "chat or persona. May be repeated.",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultOptions:
    """Where a result goes: into a file, as JSON to standard output, or else to be read."""

    rank: ClassVar[int] = 0
    """Help lists these with the command's own."""

    output: Annotated[
        Path | None, "-o", "--output", "Write it there: FILE.json as JSON, else CSV.", OutputFile((".csv", ".json"))
    ] = None
    as_json: JsonOption = False

    @property
    def tabled(self) -> bool:
        """Whether the file gets a table; what is not for a spreadsheet gets JSON with --json."""
        ending = self.output.suffix.lower() if self.output is not None else ".json"
        return ending == ".csv" or (ending != ".json" and not self.as_json)

    @property
    def json(self) -> bool:
        """Whether JSON is wanted, printed or in the file."""
        return self.as_json or (self.output is not None and not self.tabled)

    def give(
        self, document: Callable[[], object], table: Callable[[], bytes], show: Callable[[], object], indent: int = 0
    ) -> None:
        """Write and print what is wanted, or else `show` it; JSON has so many blanks a step. Raises InputError."""
        if self.output is not None:
            write_bytes(self.output, table() if self.tabled else json_bytes(document(), indent or None))
            say(f"{self.output} was written.")
        if self.as_json and (self.output is None or self.tabled):
            print_json(document(), indent or None)
        elif self.output is None:
            show()


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenOptions:
    """What counts for replies of the past, with which texts messages are searched (by default as it is kept), and who
    speaks.
    """

    rank: ClassVar[int] = 2
    """Help lists these last."""

    history: Annotated[str | None, "then|now", "Messages hidden by now: in sight until hidden, or always hidden."] = (
        None
    )
    scan_text: Annotated[
        str | None,
        "handed|stored",
        "Search texts as regex scripts and attached files make them, or as they are stored.",
    ] = None
    regex: Annotated[
        list[Path] | None, "Regex scripts: SillyTavern's settings.json, or what it exported. May be repeated."
    ] = None
    embedded_regex: Annotated[
        bool, "--embedded-regex/--no-embedded-regex", "Run the regex scripts in card and preset."
    ] = True
    card: Annotated[Path | None, "The character's card: PNG, CharX or JSON, V1 to V3."] = None
    persona: Annotated[str, "TEXT|FILE", "Your persona. A first line “# Name” names it."] = ""
    group: Annotated[Path | None, "The chat's group: a file of SillyTavern's groups."] = None
    cards: Annotated[Path | None, "FOLDER", "Where the group's cards lie. Default: characters/ beside."] = None
    speaker: Annotated[str, "Who of the group speaks next. Default: as the group says."] = ""

    def looking(self, project: Project) -> Project:
        """The project looked at in this way. Raises InputError, SettingsError."""
        settings = project.basis.settings
        for option, name, value in (
            ("--history", "history", self.history),
            ("--scan-text", "scanText", self.scan_text),
        ):
            texts = () if value is None else (f"{name}={value}",)
            settings = assigned(texts, ChatBasis, settings, option)
        paths = tuple(self.regex or ())
        setup = replace(
            project.setup, regex=tuple(map(load_scripts, paths)), regex_paths=paths, embedded_regex=self.embedded_regex
        )
        if self.card is not None:
            setup = replace(setup, card=load_card(self.card), card_path=self.card)
        if self.persona:
            setup = replace(setup, persona=read_persona(self.persona))
        if self.group is not None:
            group = load_group(self.group, self.cards)
            setup = with_group(replace(setup, speaker=self.speaker), group, self.group, project.chat_path)
            if self.speaker and not setup.speaker:
                names = ", ".join(each.name for each in group.members)
                raise InputError(self.group, f"there is no “{self.speaker}” in this group. Its members are {names}.")
        elif self.speaker or self.cards is not None:
            raise InputError("--speaker and --cards", "they say more about a group; give it with --group.")
        return replace(project, basis=replace(project.basis, settings=settings), setup=setup)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectOptions(SeenOptions):
    """The vaults and settings of a project, and how it is looked at."""

    vault: VaultArgument
    settings: SettingsOption = None
    profile: ProfileOption = None
    rules: RulesOption = None
    seed: SeedOption = 0
    tokenizer: TokenizerOption = ""

    def opened(self, chat: Path | None = None) -> Project:
        """The project with this chat. Raises InputError, SettingsError, VaultError and TokenizerError."""
        if chat is not None and (chat.is_fifo() or (str(chat) == STANDARD_STREAM and not chat.exists())):
            told = "a chat is read more than once, and files lie beside it. Write it to a file, and give that."
            raise InputError("--chat", told)
        path = settings_path(self.settings, self.profile)
        project = open_project(self.vault, chat, path, self.seed, rules_named(self.rules), self.tokenizer)
        return self.looking(project)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatOptions(ProjectOptions):
    """A project of which a chat is run."""

    chat: NeededChat
    mode: ModeOption = None

    def project(self) -> Project:
        """The project in its mode. Raises InputError, SettingsError and VaultError."""
        return in_mode(self.opened(self.chat), self.mode)


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingsOfSystem:
    """A system, and where its settings are."""

    system: Annotated[
        str | None, f"The system that decides: {SYSTEMS}. Default: {MAIN.name}, for a lorebook what scans it."
    ] = None
    system_settings: Annotated[Path | None, "Settings of a system other than deeplore: a JSON object."] = None
    assignments: Annotated[list[str] | None, "--set", "NAME=VALUE", "A setting of the system. May be repeated."] = None

    def over(self, settings: SectionT) -> SectionT:
        """A project's settings with what was assigned. Raises InputError and SettingsError."""
        if self.system_settings is not None:
            told = "it holds settings of another system. Name it with --system, or use --settings."
            raise InputError("--system-settings", told)
        for name in (text.partition("=")[0].strip() for text in self.assignments or ()):
            whose = [kind.name for kind in KINDS.values() if kind.settings.has(name)]
            if whose and not settings.has(name):
                raise InputError("--set", f"“{name}” is a setting of {' or '.join(whose)}. Name it with --system.")
        return assigned(self.assignments or (), type(settings), settings)


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemOptions(SettingsOfSystem):
    """The system that decides, and its settings."""

    book: BookOption = None

    def named(self, project: Project) -> str:
        """The name of the system."""
        return self.system or project.system

    def adjusted(self, project: Project) -> Project:
        """The project with what was assigned, where its own settings decide; `made` and `asking` are given this one.

        Raises InputError, SettingsError, VaultError.
        """
        in_project = kind_of(self.named(project)).in_project
        return project.with_settings(self.over(project.settings)) if in_project else project

    def made(self, project: Project, asked: Answering | None = None) -> System:
        """As `asking`, but with the vectors that there are already where a provider makes them."""
        return self.asking(project, asked).with_made_vectors()

    def asking(self, project: Project, asked: Answering | None = None) -> System:
        """The system for a project; without `asked` the offline stand-in answers.

        Says what there is to say of what it was made of. Raises InputError and SettingsError.
        """
        kind = kind_of(self.named(project))
        settings: Section = project.settings
        if not kind.in_project:
            settings = kind.read(self.system_settings, self.assignments or ())
        scene = project.scene() if asked is None else project.scene(asked.source, asked.model)
        system = system_of(scene, kind, with_books(kind, settings, self.book or ()))
        say_all((*system.remarks, *project.book_remarks(kind)))
        return system

    def offline(self, project: Project, answers: str = AnswerKind.STAND_IN) -> System:
        """As `made`, for a command that asks no provider: neither for an answer nor for a vector."""
        chosen = self.made(project, answering_offline(answers, project))
        if answers == AnswerKind.STAND_IN:
            given = Given(unanswered=Unanswered.STAND_IN)
        else:
            given = Given(recorded=load_recorded(project.chat_path), unanswered=Unanswered.FAIL)
        return chosen.offline(given).system


@dataclass(frozen=True, slots=True, kw_only=True)
class OfflineRun(SystemOptions):
    """Who decides and answers in a command that asks no provider."""

    answers: OfflineAnswersOption = AnswerKind.STAND_IN.value

    def simulator(self, project: Project) -> Simulator:
        """Who runs the project's chat, adjusted. Raises InputError, SettingsError and VaultError."""
        project = self.adjusted(project).read_for(kind_of(self.named(project)))
        return Simulator(project, self.made(project, answering_offline(self.answers, project)))

    def recorded(self, project: Project) -> RecordedAnswers | None:
        """The recorded answers where these are chosen."""
        return load_recorded(project.chat_path) if self.answers == AnswerKind.RECORDED else None
