"""A run of a chat, scored against what is expected, with names that no note answers to, and what replies used.

Names are told that recur in the chat. A name is a word with a capital letter that also stands where none is due, within
a sentence; words that the chat writes small too are none. Scripts without capital letters show no names in this way.

What of the prompt a reply used is told by names, keys and rare words. A model may be guided by a note without a word of
it, so this is a sign and no proof; what is never used over many replies costs its tokens all the same, and is worth a
look.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import reduce
from typing import Final, TypeAlias

from msgspec import Struct, field

from lorestudio.domain.chat import Chat, Generation, Message
from lorestudio.domain.entry import VaultIndex
from lorestudio.domain.javascript import fold
from lorestudio.domain.records import replace
from lorestudio.domain.texts import reading_order
from lorestudio.studio.compare.comparison import Candidate, run_candidate
from lorestudio.studio.project.project import Project
from lorestudio.studio.replay.timeline import TimelineMaker
from lorestudio.studio.tuning.checking import chat_name
from lorestudio.studio.tuning.expectations import Expectation, TurnOutcome, judge, shown_swipes, turn_outcome
from lorestudio.studio.tuning.scores import METRICS, Scores, score, score_by_labels
from lorestudio.systems.base import KeySearch
from lorestudio.systems.registry import kind_of
from lorestudio.trace.model import Trace

FEWEST_MESSAGES: Final = 3
"""A name in fewer messages is passed over."""

_NAME_WORD: Final = re.compile(r"[^\W\d_](?:[\w'’-]*\w)?")
_POSSESSIVE: Final = re.compile(r"['’]s$")
_I: Final = re.compile(r"I(?:['’].*)?$")
_WITHIN: Final = re.compile(r"[\w,;)]['’]?[ \t]+$")
"""What stands before a word within a sentence."""
_NEAR: Final = 4


class Gap(Struct, frozen=True):
    """A name without an answer, and the indices of the messages that say it.

    `near` is the title of a note that is called so and has no key for it, "" where there is none.
    """

    name: str
    messages: tuple[int, ...]
    near: str = ""


def gaps(chat: Chat, index: VaultIndex, search: KeySearch) -> tuple[Gap, ...]:
    """The names without an answer, those in the most messages first. Whose chat it is is no gap."""
    told = [(place, message.text) for place, message in enumerate(chat.messages) if message.scannable]
    small = {word for _, text in told for word in _NAME_WORD.findall(text) if word[0].islower()}
    names: dict[str, list[int]] = defaultdict(list)
    sure: set[str] = set()
    for place, text in told:
        for name, within in _named(text, small):
            if within:
                sure.add(name)
            if names[name][-1:] != [place]:
                names[name].append(place)
    people = (chat.user_name, chat.character_name, *(message.name or "" for message in chat.messages))
    known = {fold(word) for name in people for word in _NAME_WORD.findall(name)}
    found_in = search.finder([key for entry in index.entries for key in entry.keys])
    titles = {fold(entry.title): entry.title for entry in index.entries}
    found = [
        Gap(name, tuple(messages), next((title for words, title in titles.items() if fold(name) in words), ""))
        for name, messages in names.items()
        if name in sure
        and len(messages) >= FEWEST_MESSAGES
        and not known.issuperset(map(fold, name.split()))
        and not found_in(search.line(Message("", name)))
    ]
    whole = [gap for gap in found if not any(_part_of(gap, other) for other in found)]
    return tuple(sorted(whole, key=lambda gap: (-len(gap.messages), gap.name)))


def _part_of(gap: Gap, other: Gap) -> bool:
    """Whether it is said only as a part of the other name."""
    return gap is not other and gap.name in other.name and set(gap.messages) <= set(other.messages)


def _named(text: str, small: Collection[str]) -> Iterator[tuple[str, bool]]:
    """Words with a capital letter, those side by side as one name, and whether it stands within a sentence.

    One that begins a sentence is also told without its first word.
    """
    runs: list[tuple[bool, list[str]]] = []
    end = -1
    for word in _NAME_WORD.finditer(text):
        one = _POSSESSIVE.sub("", word[0])
        if not one[0].isupper() or len(one) < 2 or fold(one) in small or _I.match(one):
            continue
        if not runs or text[end : word.start()] != " ":
            before = text[max(0, word.start() - _NEAR) : word.start()]
            runs.append((_WITHIN.search(before) is not None, []))
        runs[-1][1].append(one)
        end = word.end()
    for within, words in runs:
        yield " ".join(words), within
        if not within and len(words) > 1:
            yield " ".join(words[1:]), True


RARE_NOTES: Final = 2
"""A word is rare where no more notes than these have it."""

RARE_WORDS: Final = 2
"""So many rare words of a note in a reply, none of them said before, tell that it was used."""

FEWEST_REPLIES: Final = 3
"""A note that was in fewer replies is not called dead weight."""

_LONG_WORD: Final = re.compile(r"[^\W\d_]{4,}")
_ARTICLE: Final = re.compile(r"^(?:the|a|an) ", re.IGNORECASE)


class EntryUse(Struct, frozen=True):
    """An entry over a chat: the replies that it was in for, how many used it, and the tokens of those that did not."""

    entry: int
    title: str
    replies: int
    used: int
    tokens: int
    idle: int
    constant: bool = False

    @property
    def dead(self) -> bool:
        """Whether it was in several replies and used in none."""
        return not self.used and self.replies >= FEWEST_REPLIES


def words_of(text: str) -> frozenset[str]:
    """The words of four letters or more, folded."""
    return frozenset(_LONG_WORD.findall(fold(text)))


class UseReader:
    """Reads of replies which entries they use; what the vault says is looked through once. For workers."""

    def __init__(self, index: VaultIndex, search: KeySearch) -> None:
        self._entries = {entry.id: entry for entry in index.entries}
        self._search = search
        words = {entry.id: words_of(entry.content) for entry in index.entries}
        often = Counter(word for of in words.values() for word in of)
        self._rare = {entry: frozenset(word for word in of if often[word] <= RARE_NOTES) for entry, of in words.items()}
        names = [
            (name, entry.id)
            for entry in index.entries
            for name in (_ARTICLE.sub("", entry.title), *entry.keys)
            if name.strip()
        ]
        self._owners = [entry for _, entry in names]
        self._find = search.finder([name for name, _ in names])

    def used(self, chat: Chat, outcomes: Sequence[TurnOutcome]) -> dict[Generation, frozenset[int]]:
        """For each reply that was written, which of the entries in its prompt it uses; `outcomes` are in order."""
        found = {}
        said: set[str] = set()
        done = 0
        for outcome in outcomes:
            if outcome.message >= len(chat.messages):
                continue
            for message in chat.messages[done : outcome.message]:
                said |= words_of(message.text)
            done = max(done, outcome.message)
            reply = chat.messages[outcome.message]
            named = {self._owners[place] for place in self._find(self._search.line(Message("", reply.text)))}
            fresh = words_of(reply.text) - said
            found[Generation(outcome.message, outcome.swipe)] = frozenset(
                entry
                for entry, _ in outcome.injected
                if entry in named or len(self._rare.get(entry, frozenset()) & fresh) >= RARE_WORDS
            )
        return found

    def uses(
        self, chat: Chat, outcomes: Sequence[TurnOutcome], used: Mapping[Generation, frozenset[int]] | None = None
    ) -> tuple[EntryUse, ...]:
        """Every entry that went in, those with the most idle tokens first; entries that are no notes are left out.

        `used` is what somebody else says that each reply has used.
        """
        used = self.used(chat, outcomes) if used is None else used
        replies, times, tokens, idle = Counter[int](), Counter[int](), Counter[int](), Counter[int]()
        for outcome in outcomes:
            using = used.get(Generation(outcome.message, outcome.swipe))
            for entry, size in outcome.injected if using is not None else ():
                replies[entry] += 1
                tokens[entry] += size
                if using is not None and entry in using:
                    times[entry] += 1
                else:
                    idle[entry] += size
        known = ((each, self._entries[each]) for each in replies if each in self._entries)
        rows = (
            EntryUse(of.id, of.title, replies[each], times[each], tokens[each], idle[each], of.constant)
            for each, of in known
        )
        return tuple(sorted(rows, key=lambda row: (-row.idle, reading_order(row.title))))


UseJudge: TypeAlias = Callable[
    [VaultIndex, Sequence[TurnOutcome]], Awaitable[tuple[Mapping[Generation, frozenset[int]], str]]
]
"""Tells which entries of an index each reply has used, and who says so."""


class ScoredChat(Struct, frozen=True):
    """A chat with one system and its settings. `scores` are against expectations.

    `silver` are the scores against what a model has selected where a run asked one, and `silver_by` says who answered
    in which run, "" where nobody did. `uses` are the entries that went in, the most idle tokens first.
    """

    chat: str
    run: str
    scores: Scores
    uses: tuple[EntryUse, ...] = ()
    gaps: tuple[Gap, ...] = ()
    silver: Scores = field(default_factory=Scores)
    silver_by: str = ""
    used_by: str = ""
    """Which model says what was used, "" where words do."""

    @property
    def dead(self) -> tuple[EntryUse, ...]:
        """Entries that were in several replies and used in none."""
        return tuple(use for use in self.uses if use.dead)


async def score_chat(
    project: Project,
    expectations: Sequence[Expectation],
    chosen: Sequence[Candidate],
    judge_use: UseJudge | None = None,
) -> tuple[ScoredChat, ...]:
    """Run the project's chat with each candidate and score it; offline, as every comparison.

    The silver labels of all are the selections of the first run in which a model was asked to choose. With `judge_use`
    it says what each reply of a run has used, and by whom. Raises what `run_candidate` and `judge_use` raise.
    """
    runs = [(each.label, await run_candidate(project, each)) for each in chosen]
    read = [project.read_for(kind_of(each.system)) for each in chosen]
    if len({of.index.digest for of in read}) > 1:  # nobody's labels say anything of what is numbered otherwise
        found = [scored(of, expectations, [run])[0] for of, run in zip(read, runs, strict=True)]
    else:
        found = [*scored(read[0], expectations, runs)]
    if judge_use is None:
        return tuple(found)
    chat = project.chat or Chat()
    judged = []
    for each, of, (_, traces) in zip(found, read, runs, strict=True):
        shown = shown_swipes(chat, tuple(map(turn_outcome, traces.values())))
        used, by = await judge_use(of.index, shown)
        reader = UseReader(of.index, of.searching().key_search)
        judged.append(replace(each, uses=reader.uses(chat, shown, used), used_by=by))
    return tuple(judged)


def scored(
    project: Project, expectations: Sequence[Expectation], runs: Sequence[tuple[str, Mapping[Generation, Trace]]]
) -> tuple[ScoredChat, ...]:
    """As `score_chat`, for runs that were made: each its name, and the traces of the whole chat."""
    chat, index = project.chat or Chat(), project.index
    search = project.searching().key_search
    reader, missing = UseReader(index, search), gaps(chat, index, search)
    constants = frozenset(entry.id for entry in index.entries if entry.constant)
    outcomes_of = [tuple(map(turn_outcome, traces.values())) for _, traces in runs]
    labels, labelled_by = _labels(chat, runs, outcomes_of)
    found = []
    for (run, traces), outcomes in zip(runs, outcomes_of, strict=True):
        shown = shown_swipes(chat, outcomes)
        judged = judge(expectations, chat, chat_name(project), index, outcomes)
        scores, uses = score(shown, judged, _read_again(project, traces)), reader.uses(chat, shown)
        by_labels = score_by_labels(shown, labels, constants)
        found.append(ScoredChat(chat_name(project), run, scores, uses, missing, by_labels, labelled_by))
    return tuple(found)


def _labels(
    chat: Chat, runs: Sequence[tuple[str, Mapping[Generation, Trace]]], outcomes_of: Sequence[Sequence[TurnOutcome]]
) -> tuple[dict[Generation, frozenset[int]], str]:
    """What a model chose in the first run where one was asked to, and who: one that makes vectors chooses nothing."""
    for (run, traces), outcomes in zip(runs, outcomes_of, strict=True):
        labels, who = {}, dict[str, None]()
        for each in shown_swipes(chat, outcomes):
            trace = traces[place := Generation(each.message, each.swipe)]
            if asked := [call for call in trace.ai_calls if call.kind in trace.words.asks]:
                labels[place] = frozenset(each.selected)
                who.update(dict.fromkeys(call.source for call in asked if not call.error))
        if labels:
            return labels, f"{', '.join(who)} in {run}"
    return {}, ""


def _read_again(project: Project, traces: Mapping[Generation, Trace]) -> dict[Generation, int]:
    """For each reply the tokens that lore made a prompt cache read again, as the timeline has them."""
    maker = TimelineMaker(project.chat, tuple(traces), project.counter, project.setup)
    turns = maker.turns(traces, maker.generations)
    return {turn.generation: turn.cache.by_lore for turn in turns if turn.cache is not None}


def pooled(scores: Iterable[Scores]) -> Scores:
    """Several chats as one."""
    return reduce(Scores.__add__, scores, Scores())


def value_words(value: float, unit: str) -> str:
    """A figure of this unit, "" for a share: `83 %`, `1,204`, `2.4`."""
    if not unit:
        return f"{100 * value:.0f} %"
    return f"{value:,.0f}" if value == 0 or abs(value) >= _WHOLE_FROM else f"{value:,.1f}"


def metric_words(scores: Scores, name: str, seed: int = 0) -> str:
    """A metric with its interval: `83 % (71 to 92)`; "" where there is none."""
    value, unit = scores.value(name), METRICS[name].unit
    if value is None:
        return ""
    interval = scores.interval(name, seed)
    if interval is None:
        return value_words(value, unit)
    low, high = (value_words(each, unit).removesuffix(" %") for each in (interval.low, interval.high))
    return f"{value_words(value, unit)} ({low} to {high})"


_WHOLE_FROM: Final = 20
"""Larger figures are told without decimals."""
