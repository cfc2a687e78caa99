"""What a run decided, and the words for it.

`model` is the record that a run writes. Everything that people see of a run is made from it here, without a look at the
engine: `reasons` (codes in words, with what to change), `journey` (one entry through the stages), `summary` (one
sentence, and counts by stage), `selection` (what a model was asked and chose), `text` (to copy), `serialize` (JSON) and
`store` (all runs, kept).
"""

from lorestudio.trace.journey import (
    Cell,
    CellState,
    Fate,
    FateState,
    Journeys,
    explain_cell,
    fate,
    fates,
    journey,
    rows,
)
from lorestudio.trace.model import (
    AiCall,
    EntryRef,
    Injection,
    Limit,
    Outcome,
    Phase,
    PromptBlock,
    PromptPart,
    RunOutcome,
    StageRecord,
    StageStatus,
    Trace,
    Turn,
    Verdict,
)
from lorestudio.trace.reasons import (
    REASONS,
    Explanation,
    Reason,
    Tone,
    explain,
    explain_reason,
    explain_stage,
)
from lorestudio.trace.selection import AiLine, AiTotals, ai_lines, ai_totals, switch_effects
from lorestudio.trace.serialize import TraceFormatError, from_json, to_json
from lorestudio.trace.store import StoreError, StoreProblem, TraceStore
from lorestudio.trace.summary import FunnelStep, funnel, summary
from lorestudio.trace.text import CELL_WORDS, as_markdown, as_text, entry_as_text, turn_words

__all__ = [
    "CELL_WORDS",
    "REASONS",
    "AiCall",
    "AiLine",
    "AiTotals",
    "Cell",
    "CellState",
    "EntryRef",
    "Explanation",
    "Fate",
    "FateState",
    "FunnelStep",
    "Injection",
    "Journeys",
    "Limit",
    "Outcome",
    "Phase",
    "PromptBlock",
    "PromptPart",
    "Reason",
    "RunOutcome",
    "StageRecord",
    "StageStatus",
    "StoreError",
    "StoreProblem",
    "Tone",
    "Trace",
    "TraceFormatError",
    "TraceStore",
    "Turn",
    "Verdict",
    "ai_lines",
    "ai_totals",
    "as_markdown",
    "as_text",
    "entry_as_text",
    "explain",
    "explain_cell",
    "explain_reason",
    "explain_stage",
    "fate",
    "fates",
    "from_json",
    "funnel",
    "journey",
    "rows",
    "summary",
    "switch_effects",
    "to_json",
    "turn_words",
]
