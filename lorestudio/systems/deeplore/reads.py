"""What a generation reads of its inputs, so that one that reads nothing new need not be run again.

The claim: a run is a function of what it reads. Let `run(c)` and `run(d)` be two generations at the same place of a
chat. Then `run(d)` makes the trace of `run(c)`, but for the times and the names of its inputs (`Trace.digests`), when

1. `Reads.digest` is the same for both. It covers the settings that are declared to affect a stage of the mode, the
   behaviour switches, the chat's controls, where the generation stands (turn, clock, length of the chat, the last
   message's swipe), the messages of the deepest window that anybody scans, and of the state everything that decides;
2. the random numbers are the same, or none was drawn. A run that draws none is the same up to where it would draw the
   first, whatever the stream; so it draws none from another stream either, and hands on the stream as it got it;
3. `Unaffected` says so of the entries (see below).

Proof, by induction over the reads of `run(c)` in their order: a run is deterministic (design rule 2), so its first read
is the same in `run(d)`; if all reads before have given the same values, the next one is at the same place too, and 1 to
3 say that it gives the same value. So both runs take the same steps. That the lists here are complete is not believed
but tested: `tests/systems/deeplore/test_reads.py` runs random worlds with settings, messages and entries that say what
is read of them, and `tests/studio/replay/test_reuse.py` compares with full replays.

What is left out on purpose is counted, not decided on: `EngineState.chat_counts`, `swipe_keys` and `analytics` are read
by nobody but the counting itself, which is done again from the run's `Tally`. So an edit whose effect on the trackers
has died out stops a replay early, though the counts differ for ever.

`Unaffected` compares the entries of two indexes of equal length, place by place, and answers for one finished run
whether it would have gone the same way with the later ones. A run reads of

* every entry: title, vault, and whether it is a constant, seed, bootstrap or guide (`OF_ALL`). They order the index,
  are looked up by name, and decide who is exempt. An edit of these leaves no run as it is;
* every entry, through the key matcher: keys, refine keys with their logic, and scan depth (`OF_SEARCHED`). All that the
  matcher tells a stage is which entries have a primary key in a searched text. For an entry with such a hit the stage
  writes a verdict, or the entry's window is too short and it goes on as if there had been none. So an entry without a
  verdict in the finished run had no influence through its keys; and with other keys it still has none where none of the
  new ones occurs in any text that the run searched: the scan window, and with recursion the contents of candidates.
  Every candidate has a verdict, so the contents of all entries with a verdict hold all that was searched;
* an entry with a verdict: everything but `NEVER_READ`;
* other entries: nothing else.

Where a run reads all of every entry (`reads_all_entries`) `Unaffected` is not asked: there the entries are part of
`Reads.digest`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from functools import cache, cached_property
from typing import Final

from lorestudio.domain.chat import Message
from lorestudio.domain.entry import Entry
from lorestudio.domain.javascript import length
from lorestudio.domain.records import field_names, replace
from lorestudio.settings.deeplore import DeepLoreSettings, declarations
from lorestudio.systems.deeplore import pipeline
from lorestudio.systems.deeplore.counts import COUNTS
from lorestudio.systems.deeplore.inputs import Inputs
from lorestudio.systems.deeplore.matching.keys import KeyMatcher
from lorestudio.systems.deeplore.stages.recursion import TEXT_LIMIT
from lorestudio.systems.deeplore.stages.snapshot import scan_window, swipe_key
from lorestudio.trace.storage.serialize import Gist

ALWAYS_READ: Final = frozenset({"rules", "enabled", "ai_search_enabled", "ai_search_mode"})
"""Settings that decide which stages there are and by whose rules they go, and so are read before any."""


@cache
def settings_of(stages: frozenset[str]) -> tuple[str, ...]:
    """Names of the settings that these stages may read, as they are declared."""
    return tuple(item.name for item in declarations() if item.name in ALWAYS_READ or stages.intersection(item.affects))


def reads_all_entries(settings: DeepLoreSettings) -> bool:
    """Whether a run looks at everything of every entry: BM25 counts all words, and a model is shown a list of all."""
    return settings.uses_ai or settings.fuzzy_search_enabled


class Reads:
    """Digests of what generations read that share index, settings and all other inputs of `ctx` but the chat's own."""

    def __init__(self, ctx: Inputs) -> None:
        settings, vault, moment = ctx.settings, ctx.index.vault, ctx.moment
        self._asks_model = settings.uses_ai
        self._whole_chat = ctx.is_fixed("window_filter")
        self._depth = 0
        depths = (settings.scan_depth, *ctx.index.scan_depths)
        if any(0 < depth < 1 for depth in depths):  # (rules: deeplore 3.3); such a window is the whole chat
            self._whole_chat = True
        self._depth = int(max(*depths, 0)) if not self._whole_chat else 0
        if self._asks_model:  # the reply that ends the chat is hidden from the model, which then sees one more
            self._depth = max(self._depth, settings.ai_search_scan_depth + 1)
        self._constant = hashlib.blake2b(digest_size=20)
        self._add(
            self._constant,
            [(name, getattr(settings, name)) for name in settings_of(pipeline.stage_names(settings))],
            ctx.behaviour,
            (ctx.character, moment.context_size, moment.seed, moment.counter.identity, moment.for_claude),
            (ctx.answers.name, ctx.model) if self._asks_model else (),
            vault.fields,
            (len(vault.entries), len(vault.left_out), sorted(ctx.index.scan_depths)),
        )
        if reads_all_entries(settings):
            self._add(self._constant, vault.digest, *vault.entries)

    @staticmethod
    def _add(digest: hashlib.blake2b, *parts: object) -> None:
        for part in parts:
            digest.update(repr(part).encode("utf-8", "surrogatepass"))
            digest.update(b"\0")

    @staticmethod
    def state(ctx: Inputs) -> str:
        """What it reads of the state; of that part of it which is of another place only where that is told."""
        state = replace(COUNTS.without(ctx.state), random_state=0)
        if state.snapshot is not None and state.snapshot.swipe_key != swipe_key(ctx):
            state = replace(state, snapshot=None)  # of another place: it is looked at no further, and replaced
        cache = state.ai.cache
        candidates: Iterable[str] = ()
        if cache is not None:  # a set has no order of its own
            candidates = sorted(cache.candidates)
            state = replace(state, ai=replace(state.ai, cache=replace(cache, candidates=frozenset())))
        digest = hashlib.blake2b(digest_size=20)
        Reads._add(digest, state, list(candidates))
        return digest.hexdigest()

    def around(self, ctx: Inputs) -> str:
        """What it reads of all but the state; where its swipe stands tells which part of the state is of its place."""
        digest = self._constant.copy()
        moment, chat = ctx.moment, ctx.moment.chat
        turn, last = replace(moment.turn, number=0), _tail(chat[-1]) if chat else ()
        fixed = (turn, moment.clock_ms, moment.held, moment.controls, moment.seen, len(chat), last, swipe_key(ctx))
        self._add(digest, *fixed)
        for place in range(0 if self._whole_chat else max(0, len(chat) - self._depth), len(chat)):
            self._add(digest, moment.position(place), _line(chat[place]))
        return digest.hexdigest()


def _tail(message: Message) -> tuple[object, ...]:
    """What the last message says of the place, and whether a generation runs after it."""
    tools = message.extra.get("tool_invocations")
    return (message.swipe, message.is_system, message.is_user, isinstance(tools, list | dict) or bool(tools))


def _line(message: Message) -> tuple[object, ...]:
    """A message of a window: a line, or only a place that it uses up."""
    return (message.name, message.text, message.is_user) if message.scannable else ()


OF_ALL: Final = frozenset({"id", "title", "vault", "constant", "seed", "bootstrap", "guide"})
OF_SEARCHED: Final = frozenset({"keys", "refine_keys", "selective_logic", "scan_depth"})
NEVER_READ: Final = frozenset(
    {"summary", "links", "resolved_links", "tags", "graph", "warnings", "written_requires", "written_excludes"}
    | {"written_cascade_links"}
)
"""What keyword matching, gates, budget and placement have no use for."""

_READ: Final = tuple(name for name in field_names(Entry) if name not in NEVER_READ)


class Unaffected:
    """Answers for runs on the entries `before` what they would be on the entries `after`."""

    def __init__(self, before: Sequence[Entry], after: Sequence[Entry]) -> None:
        self._after = after
        pairs = zip(before, after, strict=False)
        changed = {one.id: _changed(one, other) for one, other in pairs if one is not other}
        self._changed = {place: names for place, names in changed.items() if names}
        self._everything = len(before) != len(after) or any(names & OF_ALL for names in self._changed.values())
        self._searched = [place for place, names in self._changed.items() if names & OF_SEARCHED]
        self._matchers: dict[tuple[bool, bool], KeyMatcher] = {}

    def leaves(self, gist: Gist, ctx: Inputs) -> bool:
        """Whether a run with this gist would go the same way in `ctx`, which has the later entries."""
        if self._everything or not self._changed.keys().isdisjoint(gist.named):
            return False
        if not self._searched or gist.skipped or ctx.settings.scan_depth <= 0:
            return True
        if ctx.settings.character_context_scan or self._has_line_feed:  # a name may be a key; texts are joined
            return False
        return not self._occurs(gist, ctx)

    @cached_property
    def _has_line_feed(self) -> bool:
        keys = (key for place in self._searched for key in self._after[place].keys)
        return any("\n" in key for key in keys)

    def _occurs(self, gist: Gist, ctx: Inputs) -> bool:
        """Whether a key of a changed entry occurs in any text that the run searched."""
        settings = ctx.settings
        choice = (settings.case_sensitive, settings.match_whole_words)
        if choice not in self._matchers:
            changed = [self._after[place] for place in self._searched]
            self._matchers[choice] = KeyMatcher(changed, case_sensitive=choice[0], whole_words=choice[1])
        matcher = self._matchers[choice]
        if matcher.find(scan_window(ctx).text).last:
            return True
        if not settings.recursive_scan:
            return False
        contents = [self._after[place] for place in gist.named]
        if sum(length(entry.content) + 1 for entry in contents) > TEXT_LIMIT:
            return True  # a step may have cut one short in the middle of a word; nobody looks closer
        texts = (entry.content if settings.case_sensitive else ctx.index.folded(entry) for entry in contents)
        return bool(matcher.find("\n".join(texts)).last)


def _changed(one: Entry, other: Entry) -> frozenset[str]:
    return frozenset(name for name in _READ if getattr(one, name) != getattr(other, name))
