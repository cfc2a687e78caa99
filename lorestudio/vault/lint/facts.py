"""What the checks have to know about all entries together, worked out once for an index.

Along chains of requires, excludes and cascade links (rules: deeplore 3.6, 5.1, 5.5) titles stand for entries.
Where several entries share a title, only what all of them ask for is taken as asked, so that nothing is claimed which
one of them would disprove.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from itertools import chain, islice
from typing import TYPE_CHECKING, Final

from lorestudio.domain.entry import Entry, LeftOutNote, NoteKey, VaultIndex
from lorestudio.domain.lifecycle import heed, heeding
from lorestudio.domain.records import grouped
from lorestudio.trace.wording import first_few
from lorestudio.vault.lint.keyforms import KeyForm, contained, covers, is_short, key_form
from lorestudio.vault.lint.model import NAMED, Rules, quoted, usable_keys

if TYPE_CHECKING:
    import networkx as nx


FOLLOWED: Final = 300
"""A chain of requirements is followed to so many entries: longer ones are no one's intention, and cost time."""

MOST_STEPS: Final = 12
"""Of a longer chain the steps between are counted and not named."""

SMALL_CIRCLE: Final = 40
"""In a tangle of up to so many entries, each is told its own shortest circle; in a larger one, all the same."""


class Chains:
    """Circles, contradictions and hopeless cases among the entries; ids lead to sentences or to lists of titles."""

    def __init__(self, entries: Sequence[Entry], titles: Mapping[str, Sequence[Entry]], rules: Rules) -> None:
        self._entries, self._titles, self._rules = entries, titles, rules

    # ---- circles ----------------------------------------------------------------------------------------------------

    @cached_property
    def circles(self) -> Mapping[str, tuple[str, ...]]:
        """For each title in a circle of requirements: the titles from it back to itself, itself at both ends."""
        return self._circles(lambda entry: () if entry.is_exempt else entry.requires)

    @cached_property
    def cascade_circles(self) -> Mapping[str, tuple[str, ...]]:
        """The same for cascade links."""
        return self._circles(lambda entry: entry.cascade_links)

    def _circles(self, targets: Callable[[Entry], Sequence[str]]) -> Mapping[str, tuple[str, ...]]:
        common = ((title, _common(list(map(targets, entries)))) for title, entries in heeding(self._titles.items()))
        graph = {
            title: [one for one in found if one != title and one in self._titles] for title, found in common if found
        }
        heed()
        try:
            TopologicalSorter(graph).prepare()
        except CycleError:
            return self._tangles(graph)
        return {}

    def _tangles(self, targets: Mapping[str, Sequence[str]]) -> Mapping[str, tuple[str, ...]]:
        import networkx as nx  # noqa: PLC0415  # loading it takes longer than checking most vaults, and few have circles

        graph = nx.DiGraph((title, target) for title, named in targets.items() for target in named)
        found: dict[str, tuple[str, ...]] = {}
        for tangle in nx.strongly_connected_components(graph):
            if len(tangle) > 1:
                part = graph.subgraph(tangle)
                if len(tangle) <= SMALL_CIRCLE:
                    found |= {title: self._spell(_shortest(part, title)) for title in tangle}
                else:
                    found |= dict.fromkeys(tangle, self._spell(_shortest(part, min(tangle))))
        return found

    def _spell(self, titles: Sequence[str]) -> tuple[str, ...]:
        """Lower-cased titles as their entries write them."""
        return tuple(self._titles[title][0].title for title in titles)

    # ---- entries that can never come in -----------------------------------------------------------------------------

    @cached_property
    def hopeless(self) -> Mapping[int, tuple[str, ...]]:
        """Entries that can never come in because of what they require.

        The value is the chain of titles from the entry to the one at fault, and what is wrong with that one.
        """
        found: dict[int, tuple[str, ...]] = {
            entry.id: (entry.title, why) for entry in heeding(self._entries) if (why := self._own_fault(entry))
        }
        own = frozenset(found)
        needing = grouped(
            (title.lower(), entry)
            for entry in self._entries
            if not entry.is_exempt and (not entry.guide)
            for title in entry.requires
        )
        queue = deque(entry.title.lower() for entry in self._entries if entry.id in found)
        while queue:
            title = queue.popleft()
            copies = self._titles[title]
            if not all(copy.id in found for copy in copies):
                continue
            for entry in needing.get(title, ()):
                if entry.id not in found:
                    found[entry.id] = (entry.title, *found[copies[0].id])
                    queue.append(entry.title.lower())
        return {entry: chain for entry, chain in found.items() if entry not in own}

    def _own_fault(self, entry: Entry) -> str:
        """Why the entry itself can never be in the prompt, "" where it can."""
        settings = self._rules.settings
        if entry.guide:
            # The fuzzy search lets guides in, against all intention.
            return "" if settings.fuzzy_search_enabled else "is a guide, which never goes into the prompt"
        if entry.is_exempt:
            return ""
        fault = self._contradiction(entry)
        if fault or settings.uses_ai or settings.character_context_scan:
            return fault
        if entry.probability == 0:
            return "has the probability 0"
        if not usable_keys(entry) and not settings.fuzzy_search_enabled and entry.title.lower() not in self._cascaded:
            return "has no keys, and nothing else brings it in"
        return ""

    def _contradiction(self, entry: Entry) -> str:
        excludes = {title.lower() for title in entry.excludes}
        if entry.title.lower() in excludes:
            return "excludes itself"
        if both := [title for title in entry.requires if title.lower() in excludes]:
            return f"requires and excludes “{both[0]}”"
        if constant := next((copy for title in sorted(excludes) for copy in self.constants(title)), None):
            return f"excludes the constant “{constant.title}”"
        return ""

    def constants(self, title: str) -> tuple[Entry, ...]:
        """The constants of that title, in any case, that are not guides."""
        return tuple(copy for copy in self._titles.get(title.lower(), ()) if copy.constant and not copy.guide)

    @cached_property
    def _cascaded(self) -> frozenset[str]:
        """Lower-cased titles that some entry names as a cascade link."""
        return frozenset(title.lower() for entry in self._entries for title in entry.cascade_links)

    # ---- requirements that exclude each other -----------------------------------------------------------------------

    @cached_property
    def contradictions(self) -> Mapping[int, str]:
        """Entries whose chain of requirements holds two entries that cannot be there together, and how that is."""
        found: dict[int, str] = {}
        if not any(entry.excludes for entry in self._entries):
            return found
        for entry in self._entries:
            if entry.requires and not entry.is_exempt and not entry.guide and (told := self._clash(entry)):
                found[entry.id] = told
        return found

    def _clash(self, entry: Entry) -> str:
        start = entry.title.lower()
        parents: dict[str, str] = {start: ""}
        members = {start: entry}
        queue = deque([start])
        while queue and len(members) < FOLLOWED:
            title = queue.popleft()
            member = members[title]
            if title != start and member.is_exempt:
                continue  # it is there whatever it requires itself
            for name in member.requires:
                target = name.lower()
                copies = self._titles.get(target, ())
                if target not in parents and len(copies) == 1 and not copies[0].guide:
                    parents[target] = title
                    members[target] = copies[0]
                    queue.append(target)
        direct = {title.lower() for title in entry.requires}
        for title, member in members.items():
            if member.is_exempt:
                continue
            for name in member.excludes:
                other = name.lower()
                if other not in members or other == title or (title == start and other in direct):
                    continue
                chain = self._story(parents, title)
                second = self._story(parents, other)
                parts = [part for part in dict.fromkeys((*chain, *second)) if part]
                clash = f"“{member.title}” excludes “{members[other].title}”"
                return f"{first_few(parts, MOST_STEPS)}, but {clash}" if parts else clash
        return ""

    def _story(self, parents: Mapping[str, str], title: str) -> list[str]:
        """How the chain comes to a title, as sentences."""
        steps: list[str] = []
        while parents[title]:
            before = parents[title]
            steps.append(f"“{self._titles[before][0].title}” requires “{self._titles[title][0].title}”")
            title = before
        return steps[::-1]


def _common(lists: Sequence[Sequence[str]]) -> list[str]:
    """What all lists name, in lower case and in the order of the first."""
    first, *others = ([title.lower() for title in one] for one in lists)
    return [title for title in first if all(title in other for other in others)]


def _shortest(graph: nx.DiGraph[str], title: str) -> list[str]:
    """The shortest way from a title of a tangle back to itself."""
    import networkx as nx  # noqa: PLC0415  # as above

    ways = [nx.shortest_path(graph, follower, title) for follower in sorted(graph.successors(title))]
    return [title, *min(ways, key=len)]


NEAR: Final = 88
"""Titles that resemble each other so much (0 to 100) are likely the same name, once misspelled."""


class Titles:
    """Titles in lower case, kept by first character, for the most similar one to be asked for.

    Texts are as alike as `fuzz.ratio` says: the fewer characters have to be taken out of both until the rest is the
    same, the more alike they are. Of 10,000 titles with the same first character one is found in half a millisecond.
    """

    def __init__(self, titles: Iterable[str]) -> None:
        self._by_start = grouped((title[:1], title) for title in sorted(titles, key=len))

    def nearest(self, title: str) -> str:
        """The title most like this one, of equals the shortest and then the first; "" where none is near.

        The first letter has to be right.
        """
        from rapidfuzz import fuzz, process  # noqa: PLC0415  # no vault is checked while the window begins

        names = self._by_start.get(title[:1], ())
        best = process.extractOne(title, names, scorer=fuzz.ratio, score_cutoff=NEAR)
        return "" if best is None else str(best[0])


class Holders:
    """Entries that have a key, or keys that contain it, by their notes, each with the first of these keys as written.

    Half a vault may share a key, so nothing is gone through for each of its notes, and only what is told is kept.
    """

    __slots__ = ("_amount", "_first", "_owners")

    def __init__(self, having: Iterable[tuple[str, Entry]] = ()) -> None:
        first: dict[NoteKey, tuple[str, Entry]] = {}
        only: dict[str, NoteKey | None] = {}  # the one note that has a key, None where several have it
        for pair in having:
            key, entry = pair
            note = entry.note_key
            first.setdefault(note, pair)
            if only.setdefault(key, note) != note:
                only[key] = None
        self._amount = len(first)
        self._first = tuple(islice(first.items(), NAMED + 1))
        # Of three owners two are others than the one who asks, and so are two keys of one of two.
        owners = islice(Counter(only.values()).items(), 3)
        self._owners = tuple(owner for owner, keys in owners for _ in range(min(keys, 2)))

    def besides(self, note: NoteKey, is_one: Callable[[], bool]) -> tuple[str, str]:
        """The titles of other notes' entries, quoted, and their key, "" for several; both "" where there are none.

        `is_one` says of the note whether it is among them, where they are many.
        """
        many = self._amount > len(self._first)
        amount = self._amount - (any(own == note for own, _ in self._first) or (many and is_one()))
        if not amount:
            return "", ""
        others = [pair for own, pair in self._first if own != note][:NAMED]
        titles = quoted([entry.title for _key, entry in others], amount=amount)
        several = sum(owner != note for owner in self._owners) > 1
        return titles, "" if several else others[0][0]


NOBODY: Final = Holders()


class VaultFacts:
    """An index seen as a whole. Everything is worked out on first use and holds for this index and these rules.

    What takes long of a hundred thousand entries heeds who waits for it (`stoppable`), and is not kept once stopped.
    """

    def __init__(self, index: VaultIndex, rules: Rules) -> None:
        self.index, self.rules = index, rules
        self._near: dict[str, str] = {}

    @cached_property
    def titles(self) -> Mapping[str, Sequence[Entry]]:
        """All entries, guides included, by lower-cased title."""
        return grouped((entry.title.lower(), entry) for entry in self.index.entries)

    @cached_property
    def ids(self) -> Mapping[NoteKey, int]:
        """The id of the first entry of each note."""
        return {entry.note_key: entry.id for entry in reversed(self.index.entries)}

    @cached_property
    def by_file_name(self) -> Mapping[str, Sequence[Entry]]:
        """All entries by the lower-cased name of their file, without folder and ending."""
        return grouped((base_name(entry.filename), entry) for entry in self.index.entries)

    @cached_property
    def left_out(self) -> Mapping[str, LeftOutNote]:
        """Notes that gave no entry, by the lower-cased name of their file without folder and ending."""
        return {base_name(note.filename): note for note in reversed(self.index.left_out)}

    @cached_property
    def chains(self) -> Chains:
        """What follows from requires, excludes and cascade links."""
        return Chains(self.index.entries, self.titles, self.rules)

    @cached_property
    def namesakes(self) -> Mapping[tuple[str, str], Mapping[str, None]]:
        """For each vault and lower-cased title that several have the files of the entries, guides included."""
        found: dict[tuple[str, str], dict[str, None]] = {}
        for title, entries in self.titles.items():
            for entry in entries if len(entries) > 1 else ():
                found.setdefault((entry.vault, title), {})[entry.filename] = None
        return found

    @cached_property
    def _sharers(self) -> Mapping[str, Holders]:
        """For each key in lower case that several have the entries that have it, guides left out."""
        entries = [entry for entry in self.index.entries if not entry.guide]
        times = Counter(key.lower() for entry in heeding(entries) for key in usable_keys(entry))
        pairs = ((key.lower(), (key, entry)) for entry in heeding(entries) for key in usable_keys(entry))
        having = grouped((key, pair) for key, pair in pairs if times[key] > 1)
        return {key: Holders(each) for key, each in having.items()}

    def sharers(self, note: NoteKey, key: str) -> str:
        """The titles of other notes' entries with that key in any case, quoted; guides are left out."""
        key = key.lower()

        def is_one() -> bool:
            return any(each.lower() == key for entry in self._entries_of(note) for each in usable_keys(entry))

        return self._sharers.get(key, NOBODY).besides(note, is_one)[0]

    @cached_property
    def _longer(self) -> Mapping[KeyForm, Holders]:
        """For each key the entries with keys that contain it; very short keys are left out."""
        longer = {short: forms for short, forms in contained(form for form, _ in self._forms()).items()
                  if not is_short(short.text)}  # fmt: skip
        # Gone through twice: holders of all keys take more memory than a large lorebook itself.
        told = set(chain.from_iterable(longer.values()))
        holders = grouped((form, having) for form, having in self._forms() if form in told)
        return {short: Holders(chain.from_iterable(holders[form] for form in forms)) for short, forms in longer.items()}

    def _forms(self) -> Iterator[tuple[KeyForm, tuple[str, Entry]]]:
        """The keys as they are searched, each with the key as written and the entry; guides are left out."""
        for entry in heeding(self.index.entries):
            if not entry.guide:
                rules = self.rules.keys_of(entry)
                for key in rules.plain(entry.keys):
                    yield key_form(key, rules), (key, entry)

    def longer(self, note: NoteKey, key: KeyForm) -> tuple[str, str]:
        """The titles of other notes' entries with keys that contain it, quoted, and that key, "" for several."""

        def is_one() -> bool:
            entries = ((entry, self.rules.keys_of(entry)) for entry in self._entries_of(note))
            return any(covers(key, key_form(own, rules)) for entry, rules in entries for own in rules.plain(entry.keys))

        return self._longer.get(key, NOBODY).besides(note, is_one)

    def _entries_of(self, note: NoteKey) -> Iterator[Entry]:
        """The entries of a note that are no guides."""
        named = self.by_file_name.get(base_name(note[1]), ())
        return (entry for entry in named if entry.note_key == note and not entry.guide)

    @cached_property
    def _likeness(self) -> Titles:
        return Titles(self.titles)

    def near(self, title: str) -> str:
        """The title that `title` was probably meant to be, "" where none is close; the first letter has to be right."""
        lower = title.lower()
        if lower not in self._near:
            found = self._likeness.nearest(lower)
            self._near[lower] = self.titles[found][0].title if found else ""
        return self._near[lower]


def base_name(filename: str) -> str:
    """A file's name without folder and `.md`, in lower case."""
    return filename.rpartition("/")[2].removesuffix(".md").lower()
