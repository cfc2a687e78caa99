"""What one run works on while it runs, and the conditions of an entry on every way in (rules: deeplore 3)."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from msgspec import Struct, field

from lorestudio.domain.entry import Entry
from lorestudio.domain.javascript import Json
from lorestudio.domain.state import AiState, Counters, EngineState, LoggedGeneration, Prompt, Tally
from lorestudio.systems.deeplore.ai.prompts import Manifest, is_forced
from lorestudio.systems.deeplore.gating import Policy
from lorestudio.systems.deeplore.inputs import Inputs, RandomSource
from lorestudio.systems.deeplore.matching.keys import KeyMatcher, ScanWindow
from lorestudio.systems.ledger import Ledger
from lorestudio.systems.runner import Holding
from lorestudio.trace.model import AiCall, Injection, PromptBlock, RunOutcome


class Accepted(Struct, frozen=True):
    """An entry that the budget let in: a truncated copy where it did not fit whole."""

    entry: Entry
    original_tokens: int | None = None

    @property
    def truncated(self) -> bool:
        """Whether only a part of the entry went in."""
        return self.original_tokens is not None


class RunState(Struct):
    """The candidates and everything that stages hand to later stages. Made anew for every run.

    `labels` are the match labels by bare title, as DeepLore 2.0.2 keeps them, or by tracker key where equal titles are
    kept apart. `outcome` is set by the stage that ends the run early. `keyword_matches` are the matches of two-stage
    mode, None in the others; `match_now` asks for the matching stages after an AI selection that failed in AI-only
    mode, and says whether their labels count. `ai_cached` is None where no model was to choose, and True where its
    choice came from the cache; `confidence` ranks its picks. `switches` says where behaviour switches made a
    difference. `holding` is there only where the run is asked what would become of an entry.
    """

    random: RandomSource
    counters: Counters
    injection_log: tuple[LoggedGeneration, ...]
    prompts: tuple[Prompt, ...]
    before: EngineState
    candidates: list[Entry] = []
    matched: set[int] = set()
    labels: dict[str, str] = {}
    draws: list[float] = []
    window: ScanWindow | None = None
    regenerated: bool = False
    swipe_key: str = ""
    bootstrapping: bool = False
    policy: Policy = field(default_factory=lambda: Policy({}))
    outcome: RunOutcome | None = None
    ai: AiState = field(default_factory=AiState)
    ai_cached: bool | None = None
    keyword_matches: list[Entry] | None = None
    manifest: Manifest | None = None
    match_now: str = ""
    ai_calls: list[AiCall] = []
    reached_budget: list[Entry] = []
    accepted: list[Accepted] = []
    injections: tuple[Injection, ...] = ()
    blocks: tuple[PromptBlock, ...] = ()
    after: EngineState | None = None
    tally: Tally | None = None
    warnings: list[str] = []
    confidence: dict[int, int] = {}
    separate_titles: bool = False
    switches: list[dict[str, Json]] = []
    facts: dict[str, Json] = {}
    holding: Holding | None = None
    recorded: bool = True
    lots: Callable[[Entry], float] | None = None

    def bootstraps_exempt(self, ctx: Inputs) -> bool:
        """Whether bootstrap entries pass all gates: always in 2.0.2, while the chat is short in 2.6."""
        return self.bootstrapping or not ctx.rules.bootstrap_ends

    def policy_at_hand(self, ctx: Inputs) -> Policy:
        """Who is exempt from a gate: drawn from the candidates in 2.0.2, once from all entries in 2.6."""
        if ctx.rules.one_policy:
            return self.policy
        return Policy.of(self.candidates, ctx.moment.controls.pins, bootstraps=self.bootstraps_exempt(ctx))

    def put_back(self, candidates: list[Entry]) -> None:
        """Make the candidates these again, which they were before a stage that failed."""
        self.matched.difference_update(
            {entry.id for entry in self.candidates}.difference(each.id for each in candidates)
        )
        self.candidates = candidates

    def note_switch(self, switch: str, stage: str, effect: str) -> None:
        """A behaviour switch that is set to fixed changed the outcome here: say what is different."""
        self.switches.append({"switch": switch, "stage": stage, "effect": effect})

    def has_noted(self, switch: str) -> bool:
        """Whether a difference that this switch made is on record already."""
        return any(note["switch"] == switch for note in self.switches)

    def draw(self, entry: Entry) -> float:
        """The next random number of the chat, put on record; where the entry's lot is known, that."""
        roll = self.random.next() if self.lots is None else self.lots(entry)
        self.draws.append(roll)
        return roll

    def let_in(self, entry: Entry, label: str) -> None:
        """Make the entry a candidate under `label`."""
        self.candidates.append(entry)
        self.matched.add(entry.id)
        self.set_label(entry, label)

    def cooling(self, entry: Entry) -> float:
        """Generations for which the entry still pauses; 0 when it does not."""
        return self.counters.cooldown.get(entry.tracker_key, 0)

    def is_forced(self, entry: Entry) -> bool:
        """Whether the entry goes in without being chosen."""
        return is_forced(entry, bootstrapping=self.bootstrapping)

    def sureness(self, entry: Entry) -> int:
        """How sure the model was of the entry: 1 is surest, 0 stands for one that it did not choose."""
        return self.confidence.get(entry.id, 0)

    def set_label(self, entry: Entry, label: str) -> None:
        """Put the entry's match label on record."""
        self.labels[self._label_key(entry)] = label

    def has_label(self, entry: Entry) -> bool:
        """Whether the entry has a match label."""
        return self._label_key(entry) in self.labels

    def label(self, entry: Entry) -> str:
        """The entry's match label, `?` where it has none."""
        return self.labels.get(self._label_key(entry), "?")

    def _label_key(self, entry: Entry) -> str:
        return entry.tracker_key if self.separate_titles else entry.title


def counters_as_json(counters: Counters) -> Mapping[str, Json]:
    """The counters in a trace's terms."""
    tracked = {
        name: dict(getattr(counters, name)) for name in ("cooldown", "decay", "consecutive", "injection_history")
    }
    return {"generation_count": counters.generation_count, **tracked}


def passes(state: RunState, ledger: Ledger, entry: Entry, matcher: KeyMatcher, text: str | None) -> bool:
    """The one gate of every way in: cooldown, warmup, and the roll last (rules: deeplore-newer 1.2).

    `text` is where the warmup counts; None where it is not asked. Refusals are put on record.
    """
    if entry.cooldown is not None and not is_rested(state, ledger, entry):
        return False
    asked = text is not None and entry.warmup is not None and 0 < entry.warmup < math.inf
    return not (asked and not is_warm(ledger, entry, matcher, text or "")) and luck_decides(state, ledger, entry)


def is_rested(state: RunState, ledger: Ledger, entry: Entry) -> bool:
    """Whether the entry's cooldown is over; the refusal is put on record."""
    left = state.cooling(entry)
    resting = left > 0
    if resting:
        ledger.refuse(entry, "cooling_down", left=left)
    return not resting


def is_warm(ledger: Ledger, entry: Entry, matcher: KeyMatcher, text: str) -> bool:
    """Whether the entry's keys occur in the text as often as its warmup asks; the refusal is put on record."""
    if entry.warmup is None:
        return True
    found = matcher.occurrences(entry.id, text)
    short = found < entry.warmup
    if short:
        ledger.refuse(entry, "warmup_short", needed=entry.warmup, found=found)
    return not short


def luck_decides(state: RunState, ledger: Ledger, entry: Entry) -> bool:
    """Whether the roll lets the entry in; the refusal is put on record. Nothing is rolled where no chance is left."""
    if entry.probability == 0:
        ledger.refuse(entry, "probability_zero")
        return False
    if entry.probability is not None and entry.probability < 1:
        roll = state.draw(entry)
        if roll > entry.probability:
            ledger.refuse(entry, "probability_lost", probability=entry.probability, roll=roll)
            return False
    return True
