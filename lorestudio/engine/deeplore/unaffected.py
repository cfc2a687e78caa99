"""Which generations an edit of notes leaves as they are.

`Unaffected` compares the entries of two indexes of equal length, place by place, and answers for one finished run
whether it would have gone the same way with the later ones. A run reads of

* every entry: title, vault, and whether it is a constant, seed, bootstrap or guide (`OF_ALL`). They order the index,
  are looked up by name, and decide who is exempt. An edit of these leaves no run as it is;
* every entry, through the key matcher: keys, refine keys and scan depth (`OF_SEARCHED`). All that the matcher tells a
  stage is which entries have a primary key in a searched text. For an entry with such a hit the stage writes a verdict,
  or the entry's window is too short and it goes on as if there had been none. So an entry without a verdict in the
  finished run had no influence through its keys; and with other keys it still has none where none of the new ones
  occurs in any text that the run searched: the scan window, and with recursion the contents of candidates. Every
  candidate has a verdict, so the contents of all entries with a verdict hold all that was searched;
* an entry with a verdict: everything but `NEVER_READ`;
* other entries: nothing else.

Where a run reads all of every entry (`reads.reads_all_entries`) this module is not asked: there the entries are part of
`Reads.digest`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from functools import cached_property
from typing import Final

from lorestudio.domain.entry import Entry
from lorestudio.domain.javascript import length
from lorestudio.engine.context import RunContext
from lorestudio.engine.deeplore.keys import KeyMatcher
from lorestudio.engine.deeplore.stages.recursion import TEXT_LIMIT
from lorestudio.engine.deeplore.stages.snapshot import scan_window
from lorestudio.trace.model import Trace

OF_ALL: Final = frozenset({"id", "title", "vault", "constant", "seed", "bootstrap", "guide"})
OF_SEARCHED: Final = frozenset({"keys", "refine_keys", "scan_depth"})
NEVER_READ: Final = frozenset(
    {"summary", "links", "resolved_links", "tags", "graph", "warnings", "written_requires", "written_excludes"}
    | {"written_cascade_links"}
)
"""What keyword matching, gates, budget and placement have no use for."""

_READ: Final = tuple(field.name for field in fields(Entry) if field.name not in NEVER_READ)


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

    def leaves(self, trace: Trace, ctx: RunContext) -> bool:
        """Whether the run that made `trace` would go the same way in `ctx`, which has the later entries."""
        if self._everything or not trace.entries.keys().isdisjoint(self._changed):
            return False
        if not self._searched or trace.skip_reason or ctx.settings.scan_depth <= 0:
            return True
        if ctx.settings.character_context_scan or self._has_line_feed:  # a name may be a key; texts are joined
            return False
        return not self._occurs(trace, ctx)

    @cached_property
    def _has_line_feed(self) -> bool:
        keys = (key for place in self._searched for key in self._after[place].keys)
        return any("\n" in key for key in keys)

    def _occurs(self, trace: Trace, ctx: RunContext) -> bool:
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
        contents = [self._after[place] for place in trace.entries]
        if sum(length(entry.content) + 1 for entry in contents) > TEXT_LIMIT:
            return True  # a step may have cut one short in the middle of a word; nobody looks closer
        texts = (entry.content if settings.case_sensitive else ctx.index.folded(entry) for entry in contents)
        return bool(matcher.find("\n".join(texts)).last)


def _changed(one: Entry, other: Entry) -> frozenset[str]:
    return frozenset(name for name in _READ if getattr(one, name) != getattr(other, name))
