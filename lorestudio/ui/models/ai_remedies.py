"""What a person can do about a question to a model that came to nothing: in words, and as buttons."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from lorestudio.studio.answering import ErrorKind
from lorestudio.trace.model import AiCall, StageRecord, Trace
from lorestudio.trace.reasons import Tone, explain_reason
from lorestudio.ui.models.ai_calls import STAGE_OF, stage_failure
from lorestudio.ui.words import tr

_IN_PROFILE: Final = frozenset(
    {
        ErrorKind.AUTHENTICATION,
        ErrorKind.QUOTA,
        ErrorKind.NOT_FOUND,
        ErrorKind.MODEL_UNKNOWN,
        ErrorKind.INVALID_ANSWER,
        ErrorKind.CONNECTION,
        ErrorKind.TIMED_OUT,
        ErrorKind.NO_KEY,
    }
)
"""What is mended in the provider's profile."""


@dataclass(frozen=True, slots=True)
class Remedy:
    """What to do: sentences, and the actions that do it, each with its title."""

    text: str = ""
    actions: tuple[tuple[str, str], ...] = ()


def remedy(trace: Trace) -> Remedy:
    """What to do about the stages of a run that failed at a question; empty where none did."""
    texts: dict[str, None] = {}
    actions: dict[str, str] = {}
    for record in trace.stages:
        if not stage_failure(record, trace):
            continue
        call = next((call for call in reversed(trace.ai_calls) if STAGE_OF.get(call.kind) == record.name), None)
        if call is not None:
            actions["trace.ai"] = tr("Show the call")
        if call is not None and call.error:
            texts[_advice(call, record, trace)] = None
            if call.details.get("error_kind") in _IN_PROFILE:
                actions["profiles.edit"] = tr("Profiles…")
            actions["replay.here"] = tr("Ask again")
        elif call is not None:
            texts[_unreadable(call)] = None
            # The reply is recorded by now, so an ordinary run would read the same one again.
            actions["replay.fresh"] = tr("Ask everything again…")
        else:
            texts[_fix(record, trace)] = None
    return Remedy(" ".join(filter(None, texts)), tuple(actions.items()))


def _advice(call: AiCall, record: StageRecord, trace: Trace) -> str:
    """The advice that came with the error; older traces have none, so that of the stage's reason is taken."""
    return str(call.details.get("advice") or "") or _fix(record, trace)


def _unreadable(call: AiCall) -> str:
    notes = call.details.get("notes")
    told = [str(note) for note in notes] if isinstance(notes, Sequence) and not isinstance(notes, str) else []
    cut = next((note for note in told if "cut off" in note), "")
    if cut:
        return tr("{cut} Raise the limit of the AI's reply in the settings.", cut=cut)
    return tr("Read the reply; if it is prose and no list, choose another model or shorten the instructions.")


def _fix(record: StageRecord, trace: Trace) -> str:
    """What the table of reasons advises, "" where the stage broke without a reason of its own."""
    if not record.note:
        return ""
    explanation = explain_reason(record.note, record.details, trace)
    if "paused" in str(record.details.get("error") or ""):
        return tr("After two failures in a row DeepLore asks nothing for a while. Mend the first one and replay.")
    return explanation.fix if explanation.tone is Tone.ERROR else ""
