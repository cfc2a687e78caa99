"""What a retrieval system is: what it is given for a turn, what it gives back, and what it says about itself.

A system is an object made with its settings and whatever it needs besides (who answers, who makes vectors). Everybody
else asks it through `System` and `SystemKind`; nobody asks which one it is. Outside of its runs it finds keys in single
messages and in the contents of notes. A system without an ability says so by the default that stands here.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Final, Protocol, Self, TypeAlias, TypeVar

from msgspec import Struct, field
from pydantic import BaseModel

from lorestudio.domain.chat import Chat, Message
from lorestudio.domain.entry import Entry, VaultIndex
from lorestudio.domain.javascript import Json, fold
from lorestudio.domain.lifecycle import Cancelled, CancelToken
from lorestudio.domain.records import Terse, replace
from lorestudio.domain.state import ChatControls
from lorestudio.domain.texts import text_digest
from lorestudio.domain.tokens import CHARS_4, TokenCounter
from lorestudio.exchange.character_card import CharacterCard, Member
from lorestudio.exchange.chats.recorded import RecordedEntry
from lorestudio.exchange.lorebooks.reading import BookFile, Lorebook
from lorestudio.exchange.settings_files import Carrier, SectionCarrier
from lorestudio.llm.messages import AnswerSource, NoAnswers
from lorestudio.llm.recorded_answers import RecordedAnswers
from lorestudio.settings.behaviour import Behaviour
from lorestudio.settings.declaration import Section, Value
from lorestudio.settings.deeplore import DeepLoreSettings
from lorestudio.settings.sections import assigned, read_section
from lorestudio.systems.differences import DifferenceKind, InputDifference, words_of
from lorestudio.systems.ideas import Option, Situation, declared_options
from lorestudio.systems.known import Known
from lorestudio.systems.offline import Unanswered
from lorestudio.trace.found_keys import FoundKey, WouldMatch, places_told
from lorestudio.trace.model import AS_STORED, Phase, SeenChat, StageRecord, Trace, Turn
from lorestudio.trace.scores import Bm25Figures
from lorestudio.trace.storage.serialize import Gist
from lorestudio.trace.vocabulary import Vocabulary
from lorestudio.trace.wording import quoted
from lorestudio.vault.lint.keyforms import KeyRules
from lorestudio.vault.lint.model import CheckedBooks

_OBSTACLES: Final = {
    "warmup_short": "too rarely for its warmup",
    "probability_zero": "but its probability is 0",
    "same_group": "but both are of one group",
}


class Wake(Struct, frozen=True):
    """The content of `source` wakes `target`; both are ids. `key` is the first of the target's keys that it holds.

    `obstacle` is the code of the reason that keeps the target out all the same: `warmup_short`, `probability_zero`, or
    `same_group` where the two never come in together.
    """

    source: int
    target: int
    key: str
    refine_key: str | None = None
    obstacle: str = ""

    @property
    def words(self) -> str:
        """The keys, and what keeps the target out all the same."""
        keys = " + ".join(map(quoted, filter(None, (self.key, self.refine_key))))
        return f"{keys}, {_OBSTACLES.get(self.obstacle, self.obstacle)}" if self.obstacle else keys


class WakeFinder:
    """Which entries' contents wake which others, for one index. As it stands here, nobody can tell. For workers."""

    tells: ClassVar[bool] = False

    def __init__(self, vault: VaultIndex, *, off: bool = False) -> None:
        """`off`: recursion is switched off, so that no text wakes anything."""
        self.vault, self.off = vault, off

    def wakes(self, entry: Entry) -> tuple[Wake, ...]:
        """What the content of the entry wakes, in index order."""
        return ()

    def woken_by(self, target: Entry, cancel: CancelToken | None = None) -> tuple[Wake, ...]:
        """Whose contents wake the entry, in index order. Raises Cancelled."""
        return ()


class KeySearch:
    """Finds keys by a system's settings. As it stands here: as plain texts, whatever the case."""

    rules = KeyRules()
    """How the keys of notes are searched, in words that can be compared."""

    def line(self, message: Message) -> str:
        """The message as it is searched, "" for one that is not."""
        return fold(f"{message.name or ''}: {message.text}") if message.scannable else ""

    def finder(self, keys: Sequence[str]) -> Callable[[str], Sequence[int]]:
        """Tells which of the keys are in a line that `line` made, by their places."""
        folded = [(place, fold(key)) for place, key in enumerate(keys) if key.strip()]
        return lambda line: [place for place, key in folded if key in line]

    def of(self, rules: KeyRules) -> KeySearch:
        """The same for entries that say themselves how their keys are searched."""
        return self


State: TypeAlias = Any
"""What a system remembers from one generation to the next: its own affair, None for one that remembers nothing."""

Tally: TypeAlias = Any
"""What one generation adds to the counts of a state, None for a system that counts nothing."""


class Watcher(Protocol):
    """Somebody who looks on while a run is under way; what it does has no influence on what the run decides.

    A run that nobody waits for any more can be given up between two stages: what `began` raises ends it.
    """

    def began(self, name: str, phase: Phase) -> None:
        """A stage begins."""

    def finished(self, record: StageRecord) -> None:
        """A stage is over."""


class StopBetweenStages(Struct, frozen=True):
    """A watcher of a run that looks for a request to stop whenever a stage begins."""

    token: CancelToken

    def look(self) -> None:
        """Raises Cancelled after a request to stop."""
        if self.token.cancelled:
            raise Cancelled

    def began(self, _name: str, _phase: Phase) -> None:
        """A stage begins."""
        self.look()

    def finished(self, _record: StageRecord) -> None:
        """A stage is over."""


class Hold(Struct, frozen=True):
    """Which entry a run holds in, by its number, and the stage that stopped it; "" for one that was no candidate."""

    entry: int
    stopped_by: str = ""


class Moment(Struct, frozen=True):
    """The immutable inputs of one generation, whatever the system.

    `chat` is the prompt view: what counts as hidden and the reply being replaced are not in it, and texts are as the
    host hands them over; `positions` gives each of its messages' index in the chat file (its own index where empty).
    `seen` says what of that is not as the file says, for all of the view. `context_size` is in tokens, 0 where nobody
    knows it; `clock_ms` is milliseconds since the epoch. `timer` measures stages in seconds, `watcher` sees them come
    and go. `digests` name the inputs and go into the trace. `held` asks what would become of an entry that was stopped;
    such a run is none of the chat's. `forced` are the entries, by their
    names, that the host activates from outside; `quiet_prompt` is the text that a quiet generation is asked with.
    `for_claude`: the host's settings say that one of Claude's models writes. What is not `recorded` decides the same
    and says less: its trace has no details but those of the budget, and no stage that only tells.
    """

    index: VaultIndex
    chat: tuple[Message, ...]
    turn: Turn
    controls: ChatControls = field(default_factory=ChatControls)
    positions: tuple[int, ...] = ()
    character: str = ""
    user: str = "User"
    counter: TokenCounter = CHARS_4
    context_size: int = 0
    clock_ms: int = 0
    seed: int = 0
    timer: Callable[[], float] = time.perf_counter
    watcher: Watcher | None = None
    digests: Mapping[str, str] = {}
    held: Hold | None = None
    seen: SeenChat = AS_STORED
    forced: tuple[str, ...] = ()
    quiet_prompt: str = ""
    for_claude: bool = False
    recorded: bool = True

    @property
    def numbers(self) -> tuple[int, ...]:
        """Each message's index in the chat file."""
        return self.positions or tuple(range(len(self.chat)))

    def position(self, message: int) -> int:
        """Index in the chat file of the prompt view's message number `message`."""
        return self.positions[message] if self.positions else message


class Decided(Terse, frozen=True):
    """What a system made of a moment, and the state that its next generation starts from.

    `tally` is what it added to the counts of the state before it, None where it counts nothing.
    """

    unprinted = ("state", "tally")

    trace: Trace
    state: State = None
    tally: Tally = None


class Scene(Terse, frozen=True):
    """What a system may be made for: a person's vault, chat and choices, beside the moments of the chat.

    `reading` are the settings that say how notes are read. `answers` is asked where a model decides; `model` is its
    model where settings name none. `names` are what files may call the chat's character, None for those of card and
    chat. `books` are lorebooks beside those that settings and card name. `tags` are the ids of the character's tags,
    None where the settings say them. `reply_tokens` is the room that the host keeps for a reply. `group_metadata` is
    what a group keeps for a chat whose file holds none of its own. `cast` are the group's members by name, each with
    the card that is in the prompt where that one speaks.
    """

    unprinted = ("reading", "behaviour", "chat", "answers", "card", "persona", "books", "group_metadata", "cast")

    index: VaultIndex
    reading: DeepLoreSettings = field(default_factory=DeepLoreSettings)
    behaviour: Behaviour = field(default_factory=Behaviour)
    chat: Chat | None = None
    chat_path: Path | None = None
    counter: TokenCounter = CHARS_4
    seed: int = 0
    answers: AnswerSource = field(default_factory=NoAnswers)
    model: str = ""
    card: CharacterCard | None = None
    card_path: Path | None = None
    persona: str = ""
    names: tuple[str, ...] | None = None
    tags: tuple[str, ...] | None = None
    books: tuple[Lorebook, ...] = ()
    user_name: str = "User"
    character_name: str = ""
    reply_tokens: int = 0
    group_metadata: Mapping[str, Json] = {}
    cast: Mapping[str, Member] = {}

    @property
    def metadata(self) -> Mapping[str, Json]:
        """What is kept for the chat, in its file or in its group's."""
        return (self.chat.metadata if self.chat is not None else None) or self.group_metadata


class Counting(Protocol):
    """The part of a system's states that is only counted, never decided on, and grows with the chat."""

    def without(self, state: State) -> State:
        """The state without its counts."""

    def only(self, state: State) -> State:
        """The counts of a state."""

    def after(self, counts: State, tally: Tally) -> State:
        """The counts after a generation that added `tally`."""

    def joined(self, state: State, counts: State) -> State:
        """The state with these counts."""


class Generated(Terse, frozen=True):
    """A generation of a replay: its moment, and how to get at the state before it, which may have to be unpacked.

    `gist` is that of its run and `read_after` gets the state after it, both None before it is run. States may lack what
    is only counted (`Counting`).
    """

    unprinted = ("read_state", "read_after")

    place: int
    moment: Moment
    read_state: Callable[[], State]
    gist: Gist | None = None
    read_after: Callable[[], State] | None = None


class Carried(Struct, frozen=True):
    """A run that is taken over: the names of its inputs as they are now, None where they are as they were.

    The state after it is the one that the run left, or where `same_after` is not set, `state`, without its counts.
    """

    digests: Mapping[str, str] | None = None
    state: State = None
    same_after: bool = True


class RunInputs(Protocol):
    """Everything that a run was made of; a dataclass, so that a part can be replaced."""

    @property
    def system(self) -> Any: ...  # noqa: ANN401, D102  # the system whose own inputs these are knows which it is
    @property
    def moment(self) -> Moment: ...  # noqa: D102  # its type says it
    @property
    def state(self) -> State: ...  # noqa: D102  # as above
    def begun_from(self, state: State) -> Self:
        """The same, beginning from another state."""

    def decided_by(self, **fields: Any) -> Self:  # noqa: ANN401  # as above
        """The same by the system with these fields changed."""


class Reuse:
    """Tells whether a generation comes out as another one that was run, so that it need not be run. One a replay.

    As it stands here, it does where all inputs are the same.
    """

    def again(self, before: Generated, mine: Reuse, now: Generated, *, same_state: bool) -> Carried | None:
        """What `now`, of the replay with `mine`, comes to by what `before` of this replay did; None where unknown.

        `same_state` says that both begin from the same state; otherwise that has to be seen.
        """
        same = before.moment.digests.get(INPUTS) == now.moment.digests.get(INPUTS)
        if not same or mine is self or before.gist is None or before.gist.failed:
            return None
        return Carried() if same_state or before.read_state() == now.read_state() else None

    def cut(self, length: int) -> None:
        """The generations from place `length` on were forgotten."""


class Given(Terse, frozen=True):
    """Answers of models for a run that asks nobody: those in `before`, a trace of the same generation, and `recorded`.

    `unanswered` says what is done with another question; without a word on it, it fails, except where the stand-in
    answers anyway.
    """

    unprinted = ("before", "recorded")

    before: Trace | None = None
    recorded: RecordedAnswers | None = None
    unanswered: Unanswered | None = None


NOTHING_GIVEN: Final = Given()


class Offline(Struct, frozen=True):
    """A system for trying things out: it decides as the real one does and asks nobody; what nobody knows, it lacks.

    `lacks` gives sentences on what the runs so far lacked; `answers` says where a model's answers came from. In a
    replay `turn_to` tells before each generation what gets the trace of it that has the answers that were given; that
    is asked for once there is a question.
    """

    system: System
    lacks: Callable[[], tuple[str, ...]] = tuple
    answers: Callable[[], tuple[str, ...]] = tuple
    """Sentences on where the answers of a model came from, one for each question."""
    turn_to: Callable[[Callable[[], Trace]], None] = lambda _trace: None


class VectorCount(Struct, frozen=True):
    """A system for a dry run, and in `texts`, after it, what `maker` would be asked to make vectors of."""

    system: System
    maker: str
    texts: Mapping[str, None]


class WrittenNote(Terse, frozen=True):
    """A note of what has happened in a chat, "" where there is none; `said` tells the person what was done.

    `fine` is False where what was asked for was not done. `kept` is what the chat's metadata holds of it from then on,
    `file` where it lies in a vault, if it does.
    """

    unprinted = ("text", "kept")

    text: str
    said: str
    fine: bool
    kept: Mapping[str, Json] = {}
    file: Path | None = None


class LastNote(Terse, frozen=True):
    """The last note of what has happened that a chat keeps, "" for none, and how many messages came since.

    `due` says that the settings want the next one now, `folder` where such notes lie in a vault.
    """

    unprinted = ("text",)

    text: str
    since: int
    due: bool
    folder: str


class NotedReply(Terse, frozen=True):
    """What was noted from a reply, "" for nothing, and the reply with its notes, as it reads from then on.

    `said` tells the person what was done; `fine` is False where what was asked for was not done.
    """

    unprinted = ("message", "notes")

    message: Message
    notes: str
    said: str
    fine: bool


class System(ABC):
    """A retrieval system, ready to decide: immutable, the same inputs give the same result."""

    kind: ClassVar[SystemKind]
    settings: Any
    """Its settings, of the type `kind.settings`."""

    swipes_go_on: ClassVar[bool] = False
    """Whether a swipe begins from the state that the swipe before it left, or from that of the reply's first one."""

    counting: ClassVar[Counting | None] = None
    traced: ClassVar[Callable[[Any, Moment], Trace] | None] = None
    """Makes the trace of a run in a moment, where that is all it depends on and nobody is asked."""

    model: str = ""
    """The model of whoever answers, where the settings name none."""

    remarks: tuple[str, ...] = ()
    """Sentences for the person on what it was made of."""

    @property
    def name(self) -> str:
        """The name in traces, files and on the command line."""
        return self.kind.name

    @property
    def title(self) -> str:
        """What people call it."""
        return self.kind.title

    @property
    def inputs(self) -> str:
        """The digest of all that it decides by besides the moment: its settings and what it was made with."""
        return inputs_digest(self.settings)

    @abstractmethod
    async def decide(self, moment: Moment, state: State = None) -> Decided:
        """Run one generation. `state` is what the generation before left, that of `first_state` for the first one."""

    @property
    def asks_model(self) -> bool:
        """Whether a model that answers questions takes part in deciding."""
        return False

    def first_state(self, seed: int) -> State:  # most remember nothing
        """The state that a chat begins with."""
        return None

    def controls_at(self, controls: ChatControls, chat: Chat, message: int) -> ChatControls:
        """The chat's choices as they stood when the message at this index was written."""
        return controls

    def scanned(self, moment: Moment) -> VaultIndex:
        """The entries from which it chooses: the project's, where it has no lorebooks of its own."""
        return moment.index

    def searched(self, moment: Moment) -> int:
        """How many of the newest messages a run reads at most, so that a trace keeps what was read of them."""
        return min(len(moment.chat), READ_AT_MOST)

    def reads_of(self, message: Message) -> str:
        """Everything that it may read of a message, for digests."""
        return repr(message)

    def reads_of_chat(self, chat: Chat, controls: ChatControls) -> str:
        """What it reads of the whole chat, whichever generation runs, for digests."""
        return ""

    def changed(self, **fields: Any) -> Self:  # noqa: ANN401  # each system has its own
        """The same system with these fields changed. Raises TypeError for one that it does not have."""
        return replace(self, **fields)  # type: ignore[type-var]  # every system is a dataclass

    def knowing(self, other: System) -> Self:
        """The same system with what `other`, one of its kind, has prepared: quicker, never another decision.

        That is what `shared` holds: each system says there what its runs have in common. One without it has nothing in
        common with itself under other settings.
        """
        shared: Known | None = getattr(other, "shared", None)
        if shared is None or type(other) is not type(self):
            return self
        return self.changed(shared=shared)

    def differences(self, before: RunInputs, after: RunInputs) -> Iterator[InputDifference]:
        """What differs between two of its runs besides settings, notes, choices and chat: what it knew and remembered.

        `after` is a run by another one of its kind.
        """
        if before.system.settings == after.system.settings and before.system.inputs != after.system.inputs:
            yield InputDifference(
                DifferenceKind.OTHER, self.kind.knows, "", "not those of the first run",
                lambda target, source: replace(target, system=target.system.with_knowledge_of(source.system)),
            )  # fmt: skip
        if before.state != after.state:
            yield InputDifference(
                DifferenceKind.TRACKERS, self.kind.remembers_what, "", "as earlier turns left them",
                lambda target, source: target.begun_from(source.state),
            )  # fmt: skip
        if before.moment.seed != after.moment.seed:
            yield InputDifference(
                DifferenceKind.OTHER, "Random seed", words_of(before.moment.seed), words_of(after.moment.seed),
                lambda target, source: replace(target, moment=replace(target.moment, seed=source.moment.seed)),
            )  # fmt: skip

    def with_chat_of(self, other: System) -> System:
        """The same with what `other`, one of its kind, knows of the chat's messages."""
        return self

    def with_knowledge_of(self, other: System) -> System:
        """The same with what `other`, one of its kind, knows besides the chat's messages."""
        return other

    def reuse(self) -> Reuse:
        """Tells which generations of a new replay need not be run."""
        return Reuse()

    def not_in_scenario(self) -> str:
        """Why a run cannot be given away as a scenario, "" where it can."""
        return ""

    def scenario_fields(self) -> Mapping[str, Json]:
        """What a scenario of its runs says besides chat, notes and settings."""
        return {}

    def with_settings(self, settings: Section, scene: Scene) -> System:
        """The system with other settings of its kind. Raises InputError where one of them cannot be used."""
        return self.kind.make(settings, scene).knowing(self)

    def offline(self, given: Given = NOTHING_GIVEN, known: System | None = None) -> Offline:
        """The system for a run that asks nobody; `known` is one of its kind whose vectors are taken over."""
        return Offline(self)

    def counting_vectors(self) -> VectorCount | None:
        """The system for a dry run that notes of which texts somebody would make vectors; None where nobody would."""
        return None

    def with_made_vectors(self) -> System:
        """The same, but nobody is asked for a vector: those that there are already are used."""
        return self if self.counting_vectors() is None else self.offline().system

    def saying(self, messages: Sequence[Message]) -> System:
        """The same where these are the messages of the chat's file; what it remembers of the chat stays."""
        return self

    def following(self, recorded: Sequence[RecordedEntry], went_in: Sequence[Entry]) -> System:
        """The same, for a generation of which this is recorded: what no file keeps is decided as it was then.

        `went_in` are the entries that the record speaks of.
        """
        return self

    def recalled(
        self, moment: Moment, before: State, went_in: Sequence[Entry], decided: Decided | None = None
    ) -> State:
        """The state after a generation in which these notes went in, whatever was decided or would be."""
        return before if decided is None else decided.state

    def as_recorded(self, entry: Entry, recorded: RecordedEntry) -> Entry:
        """The note as a record says that it was: its tokens, its priority, and what brought it in."""
        tokens = entry.tokens if recorded.tokens is None else recorded.tokens
        return replace(
            entry, tokens=tokens, priority=entry.priority if recorded.priority is None else recorded.priority
        )

    def unrecorded(self, run: RunInputs) -> Iterator[tuple[str, Any]]:
        """What else may have been and no file keeps: each in words, and the run's inputs by it."""
        yield from ()

    async def write_note(
        self, chat: Chat, controls: ChatControls, focus: str = "", vault: Path | None = None
    ) -> WrittenNote | None:
        """Have a model write a note of what has happened in a chat; None where it writes none.

        `focus` is what to pay attention to, `vault` the folder where the note is put, if one is named.
        """
        return None

    def last_note(self, chat: Chat, controls: ChatControls) -> LastNote | None:
        """The last of these notes; None where it writes none."""
        return None

    async def take_notes(self, chat: Chat, controls: ChatControls, place: int) -> NotedReply | None:
        """Have a model take notes from the reply at this place; None where it takes none, or asks nobody for them."""
        return None

    # ---- what it says about a generation that it decided on `moment`, beginning from `state` ------------------------

    def options(self, situation: Situation, moment: Moment, state: State) -> tuple[Option, ...]:
        """Which single changes may bring an entry in, or keep it out; whether one does, a run with it tells."""
        return declared_options(situation)

    def key_places(self, moment: Moment, state: State, trace: Trace) -> tuple[FoundKey, ...]:
        """Where keys of entries stand in what was searched, at least in the newest message."""
        newest = len(moment.chat) - 1
        return tuple(places_told(trace, moment.position(newest), moment.chat[newest].text)) if moment.chat else ()

    def would_match(self, moment: Moment, state: State, entry: Entry) -> WouldMatch | None:
        """Key by key, what an entry's keys find; None where only the run can tell."""
        return None

    def entry_text(self, moment: Moment, entry: Entry) -> str | None:
        """The text of an entry as it would stand in the prompt; None where that depends on more than the entry."""
        return None

    def explain_score(self, moment: Moment, state: State, trace: Trace, entry: int) -> Bm25Figures | None:
        """How an entry's lexical score comes about; None where the run compared no words."""
        return None


SettingsT = TypeVar("SettingsT", bound=Section)


class ScannedBooks(Struct, frozen=True):
    """How a system scans lorebooks.

    `files` gives those that settings name, `naming` the settings that name others; `in_play` reads all that a scene has
    by them, none where the vault is scanned, and says in sentences which are not there (raises InputError); `index`
    holds the entries of books as they are scanned without notes; `checked` has what the checks see of those of a scene,
    the number being the size of the context, 0 where nobody knows it; it tells how many entries it has looked at, and
    of how many, and raises Cancelled. `folder` is the setting that says where the books are that chats and cards name.
    """

    files: Callable[[Any], tuple[BookFile, ...]]
    naming: Callable[[Any, Iterable[BookFile]], Section]
    in_play: Callable[[Any, Scene], tuple[tuple[Lorebook, ...], tuple[str, ...]]]
    index: Callable[[tuple[Lorebook, ...]], VaultIndex]
    checked: Callable[[Any, Scene, int, Callable[[int, int], None] | None], CheckedBooks]
    folder: str


class SystemKind(Terse, frozen=True):
    """A kind of system, and what it says about itself.

    `make` makes one for a scene that is ready to decide; it raises InputError where a setting cannot be used. `words`
    tell its traces.
    `summary` says in a sentence or two what it does. `state` and `tally` are the types of what it remembers and counts,
    None for nothing. `of_vault` says that its candidates are always the notes of the vault; `remembers` that it looks
    at what is kept of the chat, so that a text that stands alone is said after all of it. `not_held` says why no entry
    can be held in behind the stage that stopped it, "" where one can; `no_text` why it is all the same to it what is
    said, "" where it is not. `passed_over` are pairs of what made an entry a candidate and what settled it, of entries
    that are told by their number because so many end so. `filters` are the reasons by which a chat's choices keep
    entries out; `heeds` are the parts of those choices (`pins`, `blocks`, `folders`, `context`, `notebook`, `notepad`,
    `character`) that count for it, as long as it chooses from notes. `budget` names the setting that limits its tokens,
    which counts alone once the settings `budget_alone` have these values; `no_budget` says why there is none.
    `key_search` tells how its settings find keys, `wakes` which entries of a scene its recursion would bring in by the
    contents of which. `reads_file` takes settings out of another program's file, None where
    it is none of that program's; `carrier` carries them back. `reading` are those of its settings that say how notes
    are read, None where they leave that to the project's; `in_project` says that the project's settings are its own.
    `books` tells how its settings name lorebooks, None where it scans none.
    `reads_setup` says that it looks at the card and the persona of the prompts. `records` are the keys under which
    chats keep what such a system put in (`exchange.chats.recorded`). `asked_about` takes out of the texts of a question
    to a model what it is about, which is the same in another program's words.
    """

    unprinted = (
        "make",
        "words",
        "budget_alone",
        "key_search",
        "wakes",
        "reads_file",
        "carrier",
        "reading",
        "books",
        "asked_about",
    )

    name: str
    title: str
    summary: str
    settings: type[Section]
    make: Callable[[Any, Scene], System]
    words: Vocabulary[Trace]
    in_project: bool = False
    state: type | None = None
    tally: type | None = None
    of_vault: bool = False
    remembers: bool = False
    not_held: str = ""
    knows: str = "What it was made of"
    of_one_computer: frozenset[str] = frozenset()
    remembers_what: str = "What it remembers"
    no_text: str = ""
    passed_over: frozenset[tuple[str, str]] = frozenset()
    filters: frozenset[str] = frozenset()
    heeds: frozenset[str] = frozenset()
    budget: str = ""
    budget_alone: Mapping[str, Value] = {}
    no_budget: str = ""
    key_search: Callable[[Any], KeySearch] = lambda _settings: KeySearch()
    wakes: Callable[[Any, Scene], WakeFinder] = lambda _settings, scene: WakeFinder(scene.index)
    reads_file: Callable[[Path], Section | None] = lambda _path: None
    carrier: Callable[[Any], Carrier] = SectionCarrier
    reading: Callable[[Any], DeepLoreSettings | None] = lambda _settings: None
    books: ScannedBooks | None = None
    reads_setup: bool = False
    records: tuple[str, ...] = ()
    asked_about: Callable[[Sequence[str]], tuple[str, ...]] = tuple

    def settings_in(self, project: Section) -> Section:
        """Its settings where nobody gave others: the project's where those are its own, else its defaults."""
        return project if self.in_project else self.settings()

    def read(self, path: Path | None = None, assignments: Sequence[str] = ()) -> Section:
        """Settings from a file, its defaults without one, changed by `NAME=VALUE`. Raises SettingsError."""
        return assigned(assignments, self.settings, self.settings() if path is None else self.read_file(path))

    def read_file(self, path: Path) -> Section:
        """Settings from a file of their keys, or from one that `reads_file` knows. Raises SettingsError."""
        return self.reads_file(path) or read_section(path, self.settings)

    def with_budget(self, settings: SettingsT, tokens: int) -> SettingsT:
        """The settings with a budget of so many tokens, for a kind that has a `budget`."""
        return settings.model_copy(update={**self.budget_alone, self.budget: tokens})


class Deciding(Struct, frozen=True):
    """A kind of system and settings for it: what is known of one before it is made for a scene."""

    kind: SystemKind
    settings: Section

    @property
    def key_search(self) -> KeySearch:
        """How it finds keys."""
        return self.kind.key_search(self.settings)

    def wakes(self, scene: Scene) -> WakeFinder:
        """Which entries' contents wake which others."""
        return self.kind.wakes(self.settings, scene)

    def silence(self, finder: WakeFinder) -> str:
        """Why its finder names no entry that a text wakes, in a sentence; "" where it may name some."""
        if not finder.tells:
            return f"{self.kind.title} does not say what wakes these entries."
        return "Recursion is off in the settings, so no text wakes an entry." if finder.off else ""


READ_AT_MOST: Final = 100
"""Messages that a system is taken to read where it does not say how many."""

INPUTS: Final = "inputs"
"""The name of the digest of everything that a generation and the ones before it depend on, in `Moment.digests`."""


def inputs_digest(settings: BaseModel, *others: object) -> str:
    """The SHA-256 of settings and of other things by which a system decides, told by their `repr`."""
    return text_digest(settings.model_dump_json(), *map(repr, others))
