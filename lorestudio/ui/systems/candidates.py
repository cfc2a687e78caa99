"""What can be compared (systems, DeepLore with a profile, settings of files), and comparing it in a worker."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from lorestudio.settings.profiles import SettingsProfile
from lorestudio.studio.answering import AnswerKind, load_recorded
from lorestudio.studio.comparing import Candidate, Comparison, RunKeeper, compare_candidates
from lorestudio.studio.jobs import CancelToken, Progress
from lorestudio.studio.keeping import ChatRuns
from lorestudio.studio.kept_comparison import ComparisonKeeper, in_slot
from lorestudio.studio.project import Project
from lorestudio.studio.systems import DEEPLORE, KINDS
from lorestudio.ui.choices import system_help, system_title
from lorestudio.ui.running import StoppableRun
from lorestudio.ui.session import Session
from lorestudio.ui.words import sentence_of, tr


@dataclass(frozen=True, slots=True)
class Offer:
    """One run that can be compared. `key` names it from one moment to the next; `run` has run it already."""

    key: str
    label: str
    help: str
    candidate: Candidate
    run: ChatRuns | None = field(default=None, repr=False)


def offers(
    session: Session, profiles: Sequence[SettingsProfile], files: Sequence[tuple[str, Path]]
) -> tuple[Offer, ...]:
    """All that can be compared now; `files` are settings files that were added, each with its system."""
    found = []
    for name in (DEEPLORE, *KINDS):
        choice = session.choices.with_settings(replace(session.choice, system=name))
        candidate = Candidate(system_title(name), name, choice.settings)
        found.append(Offer(name, system_title(name), system_help(name), candidate, session.runs.complete(choice)))
    for profile in profiles:
        if profile.settings is not None:
            label = tr("DeepLore: {profile}", profile=profile.name)
            on = profile.settings.model_copy(update={"enabled": True})
            candidate = Candidate(label, DEEPLORE, on, profile.path)
            found.append(Offer(f"profile:{profile.name}", label, str(profile.path), candidate))
    for name, path in files:
        label = tr("{system}: {file}", system=system_title(name), file=path.name)
        found.append(Offer(f"file:{name}:{path}", label, str(path), Candidate(label, name, settings_path=path)))
    return tuple(found)


@dataclass(frozen=True, slots=True)
class Step:
    """How far a comparison came: which run it is at, and how far that is."""

    label: str
    number: int
    of: int
    progress: Progress | None = None


@dataclass(frozen=True, slots=True)
class Compared:
    """What came of a comparison: None where only kept runs were to be compared, and some are missing.

    `stale` says that it is of runs from before the last change; `problems` are about keeping.
    """

    comparison: Comparison | None
    stale: bool = False
    problems: tuple[str, ...] = ()


class Comparing:
    """One comparison, run by a worker; `stop` may be called from any thread.

    With `keep_in`, the folder of kept runs, nothing is run that was kept. `only_kept` runs nothing at all.
    """

    def __init__(
        self,
        project: Project,
        chosen: Sequence[Offer],
        answers: AnswerKind,
        keep_in: Path | None = None,
        *,
        only_kept: bool = False,
    ) -> None:
        self._project, self._chosen, self._kind = project, tuple(chosen), answers
        self._keep_in, self.only_kept = keep_in, only_kept
        self._token, self._run = CancelToken(), StoppableRun()

    def stop(self) -> None:
        """End it, also in the middle of a question."""
        self._token.cancel()
        self._run.stop()

    def work(self, report: Callable[[object], None]) -> Compared:
        """Run what was not run yet, with recorded answers or else the stand-in's; vectors are made as settings say.

        Raises Cancelled, InputError, SettingsError and VaultError.
        """
        candidates = [_with_traces(offer) for offer in self._chosen]
        if self._keep_in is None:
            return Compared(None if self.only_kept else self._compare(candidates, report, None))
        try:
            keeper = ComparisonKeeper(self._keep_in)
        except OSError as error:
            found = None if self.only_kept else self._compare(candidates, report, None)
            return Compared(found, problems=(sentence_of(error),))
        with keeper:
            if self.only_kept:
                recorded = None if self._kind is AnswerKind.STAND_IN else load_recorded(self._project.chat_path)
                kept = keeper.last(self._project, candidates, recorded)
                return Compared(kept.comparison, kept.stale) if kept is not None else Compared(None)
            found = self._compare(candidates, report, keeper)
            keeper.remember(self._project, [offer.key for offer in self._chosen])
            return Compared(found, problems=tuple(keeper.problems))

    def _compare(
        self, candidates: Sequence[Candidate], report: Callable[[object], None], keeping: RunKeeper | None
    ) -> Comparison:
        recorded = None if self._kind is AnswerKind.STAND_IN else load_recorded(self._project.chat_path)
        step = Step("", 0, len(candidates))

        def begun(candidate: Candidate) -> None:
            nonlocal step
            step = Step(candidate.label, step.number + 1, step.of)
            report(step)

        def progressed(progress: Progress) -> None:
            report(replace(step, progress=progress))

        return self._run.run(
            lambda: compare_candidates(self._project, candidates, recorded, progressed, self._token, begun, keeping)
        )


def _with_traces(offer: Offer) -> Candidate:
    if offer.run is None:
        return _with_file(in_slot(offer.candidate, offer.key))
    return replace(offer.candidate, traces=tuple(offer.run.traces[each] for each in offer.run.generations))


def _with_file(candidate: Candidate) -> Candidate:
    """A system's settings are read from its file now; DeepLore's are when it is run."""
    if candidate.settings is None and candidate.settings_path is not None and candidate.system in KINDS:
        return replace(candidate, settings=KINDS[candidate.system].read(candidate.settings_path))
    return candidate
