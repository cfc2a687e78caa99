"""A run in small: its trace packed to about a twentieth, and its gist, for which nobody has to unpack it."""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from msgspec import Struct

from lorestudio.domain.records import replace
from lorestudio.trace.model import AS_STORED, SeenChat, Trace
from lorestudio.trace.storage.serialize import from_json, record_from_json, record_to_json, to_json
from lorestudio.trace.timeline import fired_in
from lorestudio.trace.vocabulary import PLAIN, Vocabulary

_QUICK: Final = 1  # of zlib's levels; the default takes three times as long for a tenth less


class Gist(Struct, frozen=True):
    """What is asked of all runs of a chat at once.

    `matched`, `injected` and `named` are ids of the entries that a run matched, that it injected, and that any stage
    said something of. `drew` says whether random numbers were used, `failed` whether a question to a model had no good
    answer, `skipped` whether the run never began.
    """

    matched: tuple[int, ...]
    injected: frozenset[int]
    named: tuple[int, ...] = ()
    drew: bool = False
    failed: bool = False
    skipped: bool = False


def gist_of(trace: Trace) -> Gist:
    """The gist of a trace."""
    matched, injected = fired_in(trace)
    failed = any(call.error for call in trace.ai_calls) or bool(trace.facts.get("ai_error"))
    return Gist(
        tuple(sorted(matched)), injected, tuple(trace.entries), bool(trace.draws), failed, bool(trace.skip_reason)
    )


@dataclass(frozen=True, slots=True)
class PackedTrace:
    """A trace as compressed JSON.

    `digests` and `seen` are those of the trace and count for what the data says: in these alone does a run that is
    taken over differ from the one that was made. None is what the data says.
    """

    data: bytes = field(repr=False)
    words: Vocabulary[Trace] = field(default=PLAIN, repr=False)
    digests: Mapping[str, str] | None = None
    seen: SeenChat | None = None

    @classmethod
    def of(cls, trace: Trace) -> PackedTrace:
        """Pack a trace."""
        return cls(packed(to_json(trace)), trace.words, trace.digests, trace.seen)

    def opened(self) -> Trace:
        """The trace. Raises ValueError, TypeError or zlib.error where the data is no trace."""
        trace = from_json(unpacked(self.data), lambda _system: self.words)
        digests = trace.digests if self.digests is None else self.digests
        seen = trace.seen if self.seen is None else self.seen
        same = digests == trace.digests and seen == trace.seen
        return trace if same else replace(trace, digests=digests, seen=seen)

    def heading(self) -> dict[str, Any]:
        """What counts for the data, as JSON."""
        told: dict[str, Any] = {} if self.digests is None else {"digests": dict(self.digests)}
        return told if self.seen in {None, AS_STORED} else {**told, "seen": record_to_json(self.seen)}

    def headed(self, heading: Mapping[str, Any]) -> PackedTrace:
        """The same with what stood beside it."""
        seen = heading.get("seen")
        return replace(
            self,
            digests=heading.get("digests"),
            seen=record_from_json(SeenChat, seen, "seen") if seen is not None else AS_STORED if heading else None,
        )


def packed(document: object) -> bytes:
    """JSON, compressed."""
    text = json.dumps(document, allow_nan=False, separators=(",", ":"))
    return zlib.compress(text.encode("ascii"), _QUICK)


def unpacked(data: bytes) -> Any:  # noqa: ANN401  # any JSON
    """What was packed. Raises ValueError or zlib.error."""
    return json.loads(zlib.decompress(data))
