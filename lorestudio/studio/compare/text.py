"""A comparison of two runs in words: lines for lists and tables, Markdown to copy, and JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from msgspec import Struct

from lorestudio.domain.javascript import Json
from lorestudio.studio.compare.causes import Causes, DifferenceCause, Effect, RunSide, What, effects
from lorestudio.systems.differences import InputDifference
from lorestudio.trace.diff import EntryChange, TraceDiff
from lorestudio.trace.journey import Fate
from lorestudio.trace.model import Injection, Trace
from lorestudio.trace.summary import summary
from lorestudio.trace.wording import first_few, lowered, number_words, place, plural, signed_words

HEADINGS: Final = {
    What.ENTERED: "Entered",
    What.LEFT: "Left",
    What.MOVED: "Moved",
    What.RESIZED: "Shortened or longer",
    What.REWRITTEN: "Another text",
}
SIGNS: Final = {What.ENTERED: "+", What.LEFT: "−", What.MOVED: "↕", What.RESIZED: "~", What.REWRITTEN: "≠"}


class ChangeLine(Struct, frozen=True):
    """One change. `words` say what happened, `tokens` by how many tokens the prompt grew; `by` who did it."""

    effect: Effect
    title: str
    words: str
    tokens: int
    by: tuple[str, ...] = ()
    together: bool = False

    @property
    def what(self) -> What:
        """What happened to the entry."""
        return self.effect[0]

    @property
    def sign(self) -> str:
        """The sign that stands before it in lists."""
        return SIGNS[self.what]

    @property
    def who(self) -> str:
        """Who did it, in words; "" where nobody looked."""
        if not self.by:
            return ""
        return f"by {' together with '.join(self.by)}" if self.together else f"by {' or '.join(self.by)}"


def change_lines(diff: TraceDiff, causes: Causes | None = None) -> tuple[ChangeLine, ...]:
    """All changes of what was injected: entered, left, moved, shortened, rewritten."""
    found = []
    for effect, change in effects(diff).items():
        makers = causes.of(effect) if causes is not None else ()
        by = tuple(cause.difference.sentence for cause in makers)
        together = bool(makers) and not any(effect in cause.alone for cause in makers)
        words, tokens = _words(effect[0], change, diff)
        found.append(ChangeLine(effect, change.title, words, tokens, by, together))
    return tuple(found)


def refated_lines(diff: TraceDiff) -> tuple[str, ...]:
    """Entries that went in neither time, but were stopped by something else: a line for all that went alike."""
    alike: dict[str, list[str]] = {}
    for change in diff.refated:
        words = f"{_why(change.before_fate, diff.before)} → {_why(change.after_fate, diff.after)}"
        alike.setdefault(words, []).append(change.title)
    return tuple(f"{first_few(titles, 3)}: {words}" for words, titles in alike.items())


def tokens_words(diff: TraceDiff) -> str:
    """`1,264 → 980 tokens (−284)`."""
    before, after = diff.tokens
    return f"{before:,} → {after:,} tokens ({signed_words(after - before)})"


def _words(what: What, change: EntryChange, diff: TraceDiff) -> tuple[str, int]:
    old, new, grown = change.before, change.after, change.growth
    if what is What.ENTERED and new is not None:
        short = ", shortened" if new.truncated else ""
        return f"{new.tokens:,} tokens{short}; before: {_why(change.before_fate, diff.before)}", grown
    if what is What.LEFT and old is not None:
        return f"{old.tokens:,} tokens; now: {_why(change.after_fate, diff.after)}", grown
    if old is None or new is None:
        return "", grown
    if what is What.MOVED:
        before, after = _place(old), _place(new)
        return (f"{before} → {after}" if before != after else f"in another order, {after}"), 0
    if what is What.RESIZED:
        how = "shortened now" if new.truncated and not old.truncated else "whole now" if old.truncated else ""
        how = "shortened otherwise" if old.truncated and new.truncated else how
        return f"{old.tokens:,} → {new.tokens:,} tokens{f', {how}' if how else ''}", grown
    return "as long, but other words", grown


def _place(injection: Injection) -> str:
    return place(injection.position, injection.depth, injection.role)


def _why(fate: Fate, trace: Trace) -> str:
    return lowered(trace.words.label(fate.reason))


# ---- Markdown -------------------------------------------------------------------------------------------------------


def comparison_markdown(before: RunSide, after: RunSide, diff: TraceDiff, causes: Causes | None = None) -> str:
    """The comparison as Markdown to paste into a note or a report. Titles of entries are in it, no texts."""
    lines = [
        f"# {_escaped(before.title)} → {_escaped(after.title)}",
        "",
        f"- A, {_escaped(before.title)}: {_escaped(summary(before.trace))}",
        f"- B, {_escaped(after.title)}: {_escaped(summary(after.trace))}",
        f"- {tokens_words(diff)}, {number_words(diff.unchanged)} unchanged",
    ]
    if causes is not None:
        told = (f"- {_escaped(cause.difference.sentence)} ({cause_words(cause)})" for cause in causes.causes)
        lines += ["", "## What was different", "", *told]
    lines += _sections(change_lines(diff, causes))
    if not diff:
        alike = "The same entries went in, in the same order."
        lines += ["", alike if diff.unchanged else "No entry went in, in either run."]
    refated = refated_lines(diff)
    if refated:
        lines += ["", "## Stopped by something else", "", *(f"- {_escaped(line)}" for line in refated)]
    return "\n".join(lines) + "\n"


def cause_words(cause: DifferenceCause) -> str:
    """What a difference did, in a few words."""
    if cause.alone:
        return f"did {plural(len(cause.alone), '# change|# changes')} by itself"
    if cause.together:
        return f"had a part in {plural(len(cause.together), '# change|# changes')}"
    if cause.besides:
        return "changes nothing of this, but would change something else alone"
    return "changes nothing"


def _sections(lines: Sequence[ChangeLine]) -> Iterator[str]:
    for what, heading in HEADINGS.items():
        mine = [line for line in lines if line.what is what]
        if mine:
            yield from ("", f"## {heading}", "")
            for line in mine:
                who = f" ({_escaped(line.who)})" if line.who else ""
                yield f"- **{_escaped(line.title)}**: {_escaped(line.words)}{who}"


def _escaped(text: str) -> str:
    return "".join(f"\\{letter}" if letter in "\\`*_[]<>|" else letter for letter in " ".join(text.split()))


# ---- JSON -----------------------------------------------------------------------------------------------------------


def comparison_json(diff: TraceDiff, titles: tuple[str, str], causes: Causes | None = None) -> dict[str, Json]:
    """The comparison of two runs with these titles as data: entries by vault and file name; `alone` and `together` list
    changes as `[what, vault, file name]`.
    """
    lines = change_lines(diff, causes)
    document: dict[str, Json] = {
        "before": _side_json(diff.before, titles[0]),
        "after": _side_json(diff.after, titles[1]),
        "tokens": list(diff.tokens),
        "unchanged": diff.unchanged,
    }
    for what in What:
        document[what.value] = [_line_json(line, effects(diff)[line.effect]) for line in lines if line.what is what]
    document["refated"] = [
        {
            "vault": change.key[0], "filename": change.key[1], "title": change.title,
            "before": change.before_fate.reason, "after": change.after_fate.reason,
        }
        for change in diff.refated
    ]  # fmt: skip
    if causes is not None:
        document["differences"] = [_cause_json(cause) for cause in causes.causes]
        document["unexplained"] = [_effect_json(effect) for effect in sorted(causes.unexplained)]
    return document


def _side_json(trace: Trace, title: str) -> Json:
    return {"title": title, "message": trace.turn.message, "swipe": trace.turn.swipe, "tokens": trace.total_tokens}


def _line_json(line: ChangeLine, change: EntryChange) -> Json:
    vault, filename = change.key
    return {
        "vault": vault, "filename": filename, "title": line.title, "words": line.words,
        "tokens": [None if side is None else side.tokens for side in (change.before, change.after)],
        "by": list(line.by), "together": line.together,
    }  # fmt: skip


def difference_json(difference: InputDifference) -> dict[str, Json]:
    """One difference between inputs as data."""
    return {
        "kind": difference.kind.value, "title": difference.title, "before": difference.before,
        "after": difference.after, "affects": list(difference.affects),
    }  # fmt: skip


def _cause_json(cause: DifferenceCause) -> Json:
    return {
        **difference_json(cause.difference),
        "alone": [_effect_json(effect) for effect in sorted(cause.alone)],
        "together": [_effect_json(effect) for effect in sorted(cause.together)],
    }


def _effect_json(effect: Effect) -> Json:
    what, (vault, filename) = effect
    return [what.value, vault, filename]
