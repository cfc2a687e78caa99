"""How the BM25 score of an entry in a run comes about: the numbers of the run's own index, for any entry."""

from __future__ import annotations

from lorestudio.domain.chat import Generation
from lorestudio.studio.replay.rerun import trace_of
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.systems.deeplore.bm25 import K1, B, tokenize
from lorestudio.systems.deeplore.stages.bm25 import DEFAULT_THRESHOLD
from lorestudio.systems.deeplore.stages.snapshot import scan_window
from lorestudio.trace.model import StageStatus, Trace
from lorestudio.trace.scores import BM25_STAGE, Bm25Figures, TermFigures


class Scorer:
    """Explains scores of one generation. It takes what it needs at once, and may then be used in any thread.

    Raises ValueError for a generation that was not run.
    """

    def __init__(self, simulator: Simulator, generation: Generation) -> None:
        self.trace: Trace = trace_of(simulator.traces, generation)
        self._context = simulator.context(generation)

    @property
    def has_scores(self) -> bool:
        """Whether the run compared words at all."""
        record = self.trace.stage(BM25_STAGE)
        return record is not None and record.status is StageStatus.RAN

    def figures(self, entry: int) -> Bm25Figures | None:
        """The numbers of an entry's score, None where the run compared no words.

        For a worker: the index of words is built on first use, which takes a moment on a large vault.
        """
        ctx = self._context
        entries = ctx.index.vault.entries
        if not self.has_scores or not 0 <= entry < len(entries):
            return None
        query = scan_window(ctx).raw_tail(ctx.settings.scan_depth)
        found = ctx.index.bm25.figures(entries[entry], query)
        if found is None:
            return None
        terms = tuple(
            TermFigures(term.term, term.frequency, count, term.idf, term.score)
            for term, count in zip(found.terms, found.documents_with, strict=True)
        )
        return Bm25Figures(
            found.score,
            ctx.settings.fuzzy_search_min_score or DEFAULT_THRESHOLD,
            terms,
            found.words,
            found.average,
            found.weight,
            found.documents,
            len(dict.fromkeys(tokenize(query))),
            K1,
            B,
        )
