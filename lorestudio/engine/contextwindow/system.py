"""The context window as a retrieval system: one generation as stages with verdicts (spec: context-window 6, 7, 12, 21).

What is decided is decided by `pages.fit_pages`; the stages here tell it entry by entry.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Final

from lorestudio.domain.tokens import TokenCounter
from lorestudio.engine.contextwindow.counting import WordListCounter
from lorestudio.engine.contextwindow.run import Run
from lorestudio.engine.systems import Decided, Moment, inputs_digest
from lorestudio.settings.contextwindow import ContextWindowSettings
from lorestudio.trace.model import (
    Limit,
    RunOutcome,
    StageRecord,
    StageStatus,
    Trace,
)
from lorestudio.trace.wording import joined, plural, quoted

NAME: Final = "context-window"


@dataclass(frozen=True, slots=True)
class ContextWindowSystem:
    """Decides by the rules of the context window. `counter` None counts as the moment's own counter does."""

    settings: ContextWindowSettings = field(default_factory=ContextWindowSettings)
    counter: TokenCounter | None = None

    @property
    def name(self) -> str:
        """The name in traces."""
        return NAME

    @property
    def title(self) -> str:
        """What people call it."""
        return "Context window"

    @property
    def inputs(self) -> str:
        """The digest of the settings, and of who counts."""
        words = self.counter.words.digest if isinstance(self.counter, WordListCounter) else None
        return inputs_digest(self.settings, self.counter.name if self.counter is not None else None, words)

    async def decide(self, moment: Moment, state: object = None) -> Decided:
        """Run one generation; nothing is remembered from one to the next."""
        run = Run(moment, self.settings, self.counter or moment.counter)
        return Decided(_trace(run, await run.told.run(run.steps())), state)


def _trace(run: Run, records: tuple[StageRecord, ...]) -> Trace:
    """Everything that was decided."""
    failed = any(record.status is StageStatus.FAILED for record in records)
    warnings = []
    used, budget = sum(page.fit.tokens for page in run.pages), run.whole_budget
    if used > max(0, budget):
        over = plural(used - max(0, budget), "# token|# tokens")
        unshared = [quoted(page.name) for page in run.pages if page.fit.is_whole and page.fit.whole]
        if len(run.pages) > 1 and unshared:
            warnings.append(
                f"No budget was left for {joined(unshared)}, so what is there goes in whole. Raise the budget, or set "
                "“How pages share” to EQUAL_SPLIT."
            )
        warnings.append(
            f"The window holds {over} more than its budget of {budget}: parts without a share of their own stay whole."
        )
    trace = run.told.trace(NAME, _mode(run.settings), records)
    return replace(
        trace,
        outcome=RunOutcome.FAILED if failed else trace.outcome,
        limits=_limits(run),
        warnings=tuple(warnings),
        facts={"counter": run.counter.name, "counted_exactly": run.counter.exact},
    )


def _limits(run: Run) -> tuple[Limit, ...]:
    used = sum(page.fit.tokens for page in run.pages)
    limits = [Limit("token budget", used, run.whole_budget, "tokens")]
    for page in run.pages:
        before = f"{page.name}: " if len(run.pages) > 1 else ""
        if page.fit.is_whole and before:
            limits.append(Limit(f"{before}left whole", page.fit.tokens, 0, "tokens"))
        limits += [
            Limit(before + share.part, page.used(share.part), share.limit, "tokens") for share in page.fit.fitted.shares
        ]
    return tuple(limits)


def _mode(settings: ContextWindowSettings) -> str:
    if settings.fill_and_split_mode:
        return "fill half"
    return "fill" if settings.fill_mode else "select"
