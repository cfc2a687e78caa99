"""What a lorebook would do with a chat in the place of the vault that it is made of: both are run, and compared."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from msgspec import Struct

from lorestudio.domain.javascript import Json, to_string
from lorestudio.domain.lifecycle import CancelToken
from lorestudio.domain.records import replace
from lorestudio.exchange.lorebooks.notes import Raw
from lorestudio.exchange.lorebooks.reading import read_lorebook
from lorestudio.llm.messages import AnswerSource
from lorestudio.studio.project.project import Project
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.systems.registry import kind_of, system_of
from lorestudio.trace.model import Trace, Turn
from lorestudio.trace.wording import plural


class TriedTurn(Struct, frozen=True):
    """A reply that gets other entries from the book: those that only the vault gives, and those that only the book."""

    turn: Turn
    vault_only: tuple[str, ...]
    book_only: tuple[str, ...]


class Tried(Struct, frozen=True):
    """How a book and the vault agree over a chat. `counts` has, by title, in how many replies each gives an entry."""

    replies: int
    turns: tuple[TriedTurn, ...]
    counts: Mapping[str, tuple[int, int]]

    @property
    def sentence(self) -> str:
        """How far they agree."""
        same = self.replies - len(self.turns)
        return f"In {plural(self.replies, '# reply|# replies')} the book gives the same entries in {same:,}."

    def as_json(self) -> dict[str, Json]:
        """For reports."""
        return {
            "replies": self.replies,
            "same": self.replies - len(self.turns),
            "differing": [
                {"message": one.turn.message, "vault_only": list(one.vault_only), "book_only": list(one.book_only)}
                for one in self.turns
            ],
            "entries": [{"title": title, "vault": vault, "book": book} for title, (vault, book) in self.counts.items()],
        }


async def try_book(
    project: Project,
    entries: Mapping[str, Raw],
    answers: AnswerSource | None = None,
    cancel: CancelToken | None = None,
) -> Tried:
    """Run the project's chat with the vault, and again with these entries alone (by file name of their notes).

    Notes that did not become entries are not counted. Raises Cancelled and InputError.
    """
    by_uid = {f"uid {to_string(raw.get('uid'))}": filename for filename, raw in entries.items()}
    whole: dict[str, Json] = {to_string(raw.get("uid")): raw for raw in entries.values()}
    book = read_lorebook({"entries": whole}, "book")
    alone = replace(project, books=(book,), places=(), vault_folders=(), vault_state=None)
    kind = kind_of(alone.system)
    if kind.books is not None:
        alone = replace(alone, index=kind.books.index(alone.books))
    runs = [Simulator(each, system_of(each.scene(answers), kind_of(each.system))) for each in (project, alone)]
    here, there = [await simulator.replay(None, cancel) for simulator in runs]
    turns: list[TriedTurn] = []
    counts: Counter[tuple[str, bool]] = Counter()
    for one, other in zip(here, there, strict=True):
        left = frozenset(_files(one)) & entries.keys()
        right = frozenset(by_uid[name] for name in _files(other) if name in by_uid)
        counts.update((name, False) for name in left)
        counts.update((name, True) for name in right)
        if left != right:
            turns.append(TriedTurn(one.turn, tuple(sorted(left - right)), tuple(sorted(right - left))))
    differing = {name for turn in turns for name in (*turn.vault_only, *turn.book_only)}
    return Tried(
        len(here), tuple(turns), {name: (counts[name, False], counts[name, True]) for name in sorted(differing)}
    )  # fmt: skip


def _files(trace: Trace) -> Iterator[str]:
    return (trace.entries[injection.entry].filename for injection in trace.injections)
