"""What a stage of a replay with memories decides, collected into its record."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from lorestudio.domain.javascript import Json
from lorestudio.trace.model import Outcome, Phase, StageRecord, StageStatus, Verdict


class Choosing(Protocol):
    """A run with its candidates, by their places."""

    candidates: list[int]

    def candidate_ids(self) -> tuple[int, ...]:
        """The candidates now."""
        ...


class Book:
    """Collects a stage's verdicts."""

    def __init__(self, name: str, phase: Phase, run: Choosing) -> None:
        self._name, self._phase, self._run = name, phase, run
        self._entered = run.candidate_ids()
        self._verdicts: list[Verdict] = []

    def note(self, place: int, outcome: Outcome, reason: str, details: Mapping[str, Json]) -> None:
        """Say something of a memory."""
        self._verdicts.append(Verdict(place, outcome, reason, details))

    def add(self, place: int, reason: str, details: Mapping[str, Json]) -> None:
        """The memory becomes a candidate."""
        self._run.candidates.append(place)
        self.note(place, Outcome.ADDED, reason, details)

    def drop(self, place: int, reason: str, details: Mapping[str, Json]) -> None:
        """The memory is no candidate any more."""
        self._run.candidates.remove(place)
        self.note(place, Outcome.REMOVED, reason, details)

    def close(
        self, note: str = "", status: StageStatus = StageStatus.RAN, details: Mapping[str, Json] | None = None,
        error: str = "", default_reason: str = "",
    ) -> StageRecord:  # fmt: skip
        """The stage's record."""
        return StageRecord(
            self._name, self._phase, status, self._entered, self._run.candidate_ids(), tuple(self._verdicts), note,
            default_reason, details or {}, error=error,
        )  # fmt: skip
