"""How similar the candidates of a run were to the end of the chat, and what decided between them."""

from __future__ import annotations

from msgspec import Struct

from lorestudio.trace.model import Trace
from lorestudio.trace.wording import number_words, plural


class Similarity(Struct, frozen=True):
    """One candidate: its score, its place in the order of all scores from 1, whether it was taken, and why not."""

    entry: int
    title: str
    score: float
    rank: int
    taken: bool
    result: str


class Similarities(Struct, frozen=True):
    """All candidates with a score, the most similar first. `limit` is how many were taken at most."""

    threshold: float
    limit: int | None
    entries: tuple[Similarity, ...]

    @property
    def above(self) -> int:
        """How many are similar enough."""
        return sum(each.score >= self.threshold for each in self.entries)

    @property
    def sentence(self) -> str:
        """The threshold and what it let through."""
        taken = sum(each.taken for each in self.entries)
        amount = plural(len(self.entries), "# candidate has|# candidates have")
        reach = plural(self.above, "# reaches|# reach")
        text = f"{amount} a similarity; {reach} the threshold of {self.threshold:g}"
        limited = f", of which the first {number_words(taken)} were taken" if taken < self.above else ""
        return f"{text}{limited}."


def similarities(trace: Trace) -> Similarities | None:
    """The scores of a run, None where nothing was ranked by them."""
    record, ranked = trace.stage(trace.words.rank_stage), trace.words.ranked
    threshold = _number(trace.facts.get("threshold"))
    if record is None or threshold is None:
        return None
    scored = [
        (score, verdict) for verdict in record.verdicts if (score := _number(verdict.details.get("score"))) is not None
    ]
    if not scored:
        return None
    scored.sort(key=lambda each: -each[0])
    limit = _number(trace.facts.get("ranked_at_most"))
    if limit is None:
        limit = next((limit.maximum for limit in trace.limits if limit.unit == "entries"), None)
    entries = tuple(
        Similarity(
            verdict.entry,
            trace.title(verdict.entry),
            score,
            rank,
            verdict.reason in ranked,
            "Taken" if verdict.reason in ranked else trace.words.label(verdict.reason),
        )
        for rank, (score, verdict) in enumerate(scored, 1)
    )
    return Similarities(threshold, None if limit is None else int(limit), entries)


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
