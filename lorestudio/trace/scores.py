"""How the numbers about an entry came about, as a tree, and how similar all candidates were to the end of the chat.

Everything is read off the run. What the run does not keep, how a BM25 score is made term by term, comes as
`Bm25Figures` from the same index that the run used.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from lorestudio.domain.javascript import Json
from lorestudio.domain.json_text import number_in
from lorestudio.trace.ai_selection import RESULT_WORDS, match_words, selection_of
from lorestudio.trace.explain import explain
from lorestudio.trace.model import ItemResult, Phase, StageRecord, Trace, Verdict
from lorestudio.trace.wording import is_list, number_words, plural, quoted


class ScoreNode(Struct, frozen=True):
    """One line: what it is about, its value as text, how it came about, and the lines that it is made of.

    `entry` is the entry that the line leads to, None where it leads nowhere.
    """

    title: str
    value: str = ""
    description: str = ""
    details: tuple[ScoreNode, ...] = ()
    entry: int | None = None


class TermFigures(Struct, frozen=True):
    """One word of the query in the entry's text: its `score` is idf * tf * (k1 + 1) / (tf + k1 * weight)."""

    term: str
    frequency: int
    documents_with: int
    idf: float
    score: float


class Bm25Figures(Struct, frozen=True):
    """All numbers of a BM25 score (rules: deeplore 3.8).

    `words` is the length of the entry's document, `average` that of all `documents`; `weight` is the length norm
    1 - b + b * words / average. `asked` is how many different words the query has.
    """

    score: float
    terms: tuple[TermFigures, ...]
    words: int
    average: float
    weight: float
    documents: int
    asked: int
    k1: float
    b: float


def score_tree(trace: Trace, entry: int, figures: Bm25Figures | None = None) -> tuple[ScoreNode, ...]:
    """What decided about an entry in numbers: matches, BM25, the AI's confidence, its places in the orders, the budget.

    Parts that have nothing to say about the entry are not there.
    """
    nodes = (
        _matches(trace, entry),
        _bm25(trace, entry, figures),
        _confidence(trace, entry),
        _orders(trace, entry),
        _budget(trace, entry),
    )
    return tuple(node for node in nodes if node is not None)


def tree_text(nodes: Sequence[ScoreNode], depth: int = 0) -> str:
    """The tree as indented lines, for copying."""
    lines = []
    for node in nodes:
        head = f"{node.title}: {node.value}" if node.value else node.title
        lines.append("  " * depth + (f"{head} ({node.description})" if node.description else head))
        if node.details:
            lines.append(tree_text(node.details, depth + 1).rstrip("\n"))
    return "\n".join(lines) + "\n" if lines else ""


def _matches(trace: Trace, entry: int) -> ScoreNode | None:
    """Every way in that was found, in the order of the stages."""
    found = []
    for record in trace.stages:
        for verdict in record.verdicts:
            if verdict.entry == entry and record.phase is Phase.MATCH and record.name != trace.words.score_stage:
                source = verdict.details.get("source_id")
                found.append(
                    ScoreNode(
                        record.name,
                        trace.words.label(verdict.reason),
                        explain(verdict, trace).sentence,
                        entry=source if isinstance(source, int) else None,
                    )
                )
    return ScoreNode("Match", plural(len(found), "# decision|# decisions"), details=tuple(found)) if found else None


def _bm25(trace: Trace, entry: int, figures: Bm25Figures | None) -> ScoreNode | None:
    record = trace.ran(trace.words.score_stage)
    if record is None:
        return None
    recorded = _recorded_score(record, entry)
    threshold = _number(record.details.get("threshold"))
    if figures is None and recorded is None:
        return ScoreNode("BM25", "not among the best", _enough(threshold))
    score = recorded if recorded is not None else figures.score if figures is not None else 0.0
    description = _enough(threshold)
    if recorded is not None and figures is not None and recorded != figures.score:
        description += f"; worked out again it is {figures.score!r}, so the vault is not the run's any more"
    details = () if figures is None else _figures(figures)
    kept = _of_entry(record, entry)
    if not details and kept is not None:
        details = _kept_terms(kept)
    return ScoreNode("BM25", _score(score), description, details)


def _recorded_score(record: StageRecord, entry: int) -> float | None:
    scores = record.details.get("scores")
    for row in scores if is_list(scores) else ():
        if is_list(row) and len(row) == 2 and row[0] == entry:
            return _number(row[1])
    return None


def _figures(figures: Bm25Figures) -> tuple[ScoreNode, ...]:
    norm = ScoreNode(
        "length norm",
        _score(figures.weight),
        f"1 − b + b × words ÷ average, b = {figures.b:g}",
        (
            ScoreNode("words", number_words(figures.words), "in title, keys and text"),
            ScoreNode("average", _score(figures.average), plural(figures.documents, "of # entry|of # entries")),
        ),
    )
    terms = tuple(
        ScoreNode(
            quoted(term.term),
            _score(term.score),
            f"tf {term.frequency}, idf {_score(term.idf)}",
            (
                ScoreNode("tf", number_words(term.frequency), "how often it occurs in the entry"),
                ScoreNode(
                    "idf",
                    _score(term.idf),
                    f"ln(1 + (N − n + 0.5) ÷ (n + 0.5)), N = {number_words(figures.documents)}, "
                    f"n = {number_words(term.documents_with)}",
                ),
            ),
        )
        for term in sorted(figures.terms, key=lambda term: -term.score)
    )
    words = f"{len(terms)} of {plural(figures.asked, '# word|# words')} of the recent chat occur"
    formula = f"each idf × tf × (k1 + 1) ÷ (tf + k1 × length norm), k1 = {figures.k1:g}"
    total = ScoreNode("words in common", _score(figures.score), f"{words}; the sum of {formula}", terms)
    return total, norm


def _kept_terms(verdict: Verdict) -> tuple[ScoreNode, ...]:
    """The words that the run itself put on record."""
    terms = verdict.details.get("terms")
    nodes = []
    for row in terms if is_list(terms) else ():
        if is_list(row) and len(row) == 4:
            word, frequency, idf, score = row
            parts = (ScoreNode("tf", number_words(_number(frequency))), ScoreNode("idf", _score(_number(idf))))
            nodes.append(ScoreNode(quoted(str(word)), _score(_number(score)), "", parts))
    return tuple(nodes)


def _confidence(trace: Trace, entry: int) -> ScoreNode | None:
    record = selection_of(trace)
    if record is None or record.ai is None:
        return None
    offered = trace.stage(trace.words.offer_stage)
    listed = offered.details.get("offered") if offered is not None else ()
    was_offered = is_list(listed) and entry in listed
    for place, item in enumerate(record.ai.items, 1):
        if entry in item.entries and item.result is not ItemResult.REPEATED:
            details = [
                ScoreNode("asked for", quoted(item.asked), match_words(item)),
                ScoreNode("place in the reply", f"{place} of {len(record.ai.items)}"),
            ]
            if item.reason:
                details.append(ScoreNode("the AI's reason", item.reason))
            verdict = _of_entry(record, entry)
            if verdict is not None and verdict.reason in trace.words.unsure:
                details.append(ScoreNode("least confidence", str(verdict.details.get("threshold", ""))))
            return ScoreNode(
                "AI confidence", item.confidence or "none given", RESULT_WORDS[item.result], tuple(details)
            )
    if was_offered:
        return ScoreNode("AI confidence", "none", "offered to the AI, which did not name it")
    return ScoreNode("AI confidence", "none", "not offered to the AI")


def _orders(trace: Trace, entry: int) -> ScoreNode | None:
    places = []
    for record in trace.stages:
        node = _order(trace, record, entry)
        if node is not None:
            places.append(node)
    ref = trace.entries.get(entry)
    if not places or ref is None:
        return None
    first = f"a {'higher' if trace.facts.get('higher_first') else 'lower'} number comes first"
    return ScoreNode(trace.words.rank_word(trace).capitalize(), number_words(ref.priority), first, tuple(places))


def _order(trace: Trace, record: StageRecord, entry: int) -> ScoreNode | None:
    """The entry's place in one ordering stage, and what put its neighbours before and after it."""
    rows, by = record.details.get("order"), record.details.get("order_by")
    if not is_list(rows) or not is_list(by):
        return None
    order = [row for row in rows if is_list(row) and row]
    place = next((at for at, row in enumerate(order) if row[0] == entry), None)
    if place is None:
        return None
    names = [str(name) for name in by]
    details = []
    for word, at in (("after", place - 1), ("before", place + 1)):
        if 0 <= at < len(order):
            other = order[at][0]
            ref = trace.entries.get(other) if isinstance(other, int) else None
            title = ref.title if ref is not None else str(other)
            reason = _tie(order[place], order[at], names)
            details.append(ScoreNode(word, title, reason, entry=other if isinstance(other, int) else None))
    return ScoreNode(record.name, f"{place + 1} of {len(order)}", f"by {', then '.join(names)}", tuple(details))


def _tie(mine: Sequence[Json], other: Sequence[Json], names: Sequence[str]) -> str:
    """Which number decided between two neighbours; the title where all are equal."""
    for name, one, two in zip(names, mine[1:], other[1:], strict=False):
        if one != two:
            return f"{name} {number_words(_number(one))} against {number_words(_number(two))}"
    return "the same numbers, so the title decides"


def _budget(trace: Trace, entry: int) -> ScoreNode | None:
    for record in trace.stages:
        verdict = _of_entry(record, entry) if record.phase is Phase.BUDGET else None
        if verdict is None:
            continue
        explained = explain(verdict, trace)
        names = {"tokens": "tokens", "original_tokens": "of its own", "free": "free", "needs": "needs more",
                 "total": "so far", "cap": "entry limit"}  # fmt: skip
        figures = tuple(
            ScoreNode(word, number_words(_number(verdict.details[name])))
            for name, word in names.items()
            if isinstance(verdict.details.get(name), int | float)
        )
        return ScoreNode("Budget", explained.label, explained.sentence, figures)
    return None


def _of_entry(record: StageRecord, entry: int) -> Verdict | None:
    return next((verdict for verdict in record.verdicts if verdict.entry == entry), None)


def _enough(threshold: float) -> str:
    return f"{number_words(threshold)} is enough, and the best twenty are taken"


def _score(value: float) -> str:
    return f"{value:.4f}"


def _number(value: Json) -> float:
    return value if isinstance(value, int | float) else 0.0


class Similarity(Struct, frozen=True):
    """One candidate: its score, its place in the order of all scores from 1, whether it was taken, and why not."""

    entry: int
    title: str
    score: float
    rank: int
    taken: bool
    result: str


class Similarities(Struct, frozen=True):
    """All candidates with a score, the most similar first."""

    threshold: float
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
    threshold = number_in(trace.facts.get("threshold"))
    if record is None or threshold is None:
        return None
    scored = [
        (score, verdict)
        for verdict in record.verdicts
        if (score := number_in(verdict.details.get("score"))) is not None
    ]
    if not scored:
        return None
    scored.sort(key=lambda each: -each[0])
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
    return Similarities(threshold, entries)
