"""A window's session: the state, everything that works on it, and the provider profiles, read off the GUI thread."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from PySide6.QtCore import QObject

from lorestudio.studio.project.answering import Connections, ProfileFile
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.systems.base import SystemKind
from lorestudio.ui.shell.words import Notice, sentence_of, tr
from lorestudio.ui.state.choices import RunChoice
from lorestudio.ui.state.project_files import ChatFollower, Reading
from lorestudio.ui.state.project_parts import ProjectParts
from lorestudio.ui.state.replay import Replays
from lorestudio.ui.state.replay_worker import MakeSimulator
from lorestudio.ui.state.session_state import SessionState
from lorestudio.ui.state.traces import SessionRuns
from lorestudio.ui.state.undo import Adjustments


class Providers:
    """`file` holds the profiles as they were read or written last."""

    def __init__(self, session: SessionState, runs: SessionRuns) -> None:
        self._session, self._runs = session, runs
        self.file = ProfileFile()

    def load(self) -> None:
        """Read the profiles again."""
        session = self._session
        session.jobs.start(
            tr("Reading profiles"),
            lambda _report: session.connections.load(),
            done=self._read,
            failed=lambda error: session.notice.emit(Notice(sentence_of(error), "warning", key="profiles")),
        )

    def take(self, file: ProfileFile, renamed: tuple[str, str] | None = None) -> None:
        """These are the profiles from now on; they were read or written by somebody else.

        `renamed` is a profile's name before and now: whoever was chosen by it stays chosen.
        """
        before, self.file = self.file, file

        def talks_otherwise(choice: RunChoice) -> bool:
            known = before.find(choice.source.profile)
            return known is not None and known != file.find(choice.source.profile)

        self._runs.drop(talks_otherwise)
        if renamed is not None:
            self._rename(*renamed)
        self._session.profiles_changed.emit()

    def _rename(self, before: str, now: str) -> None:
        session = self._session
        session.choices.rename_profile(before, now)
        session.profile_renamed.emit(before, now)
        choice = session.choice.with_profile(before, now)
        if choice != session.choice:
            session.choice = choice
            session.choice_changed.emit()
            session.state_changed.emit()

    def _read(self, file: ProfileFile) -> None:
        self.take(file)
        for problem in file.problems:
            self._session.notice.emit(Notice(problem, "warning"))


class Session(SessionState):
    """Glue between the studio and the panes; it decides nothing about lore.

    What can be done is done by an object of its own, and nothing of it is repeated here: `reading` opens vaults and
    chats and follows them, `parts` changes and saves what a project consists of beside its notes, `providers` knows the
    profiles, `replays` runs the chat, and `runs` is asked about what came of that. Reading a vault and replaying run as
    jobs on snapshots, one at a time.
    """

    def __init__(
        self,
        parent: QObject | None = None,
        *,
        make_simulator: MakeSimulator = Simulator,
        connections: Connections | None = None,
        keep_in: Path | None = None,
        cache_file: Path | None = None,
        demo_in: Path | None = None,
    ) -> None:
        """`keep_in` is the folder where runs survive the window; the places of graphs are kept beside it.

        `cache_file` is the cache of parsed vaults; without it vaults are read whole, and neither they nor the chat are
        followed.
        `demo_in` is where the person's copy of the demo lies, or is made; without it the demo is shown as it comes.
        """
        super().__init__(parent, connections, keep_in)
        self.graphs_in = keep_in.parent / "graphs" if keep_in is not None else None
        steps = Adjustments()
        self.runs = SessionRuns(self)
        self.replays = Replays(self, self.runs, steps, make_simulator, self._read_for)
        self.parts = ProjectParts(self, steps, self.runs, self.replays, self._follow_anew)
        self.chat_follower = ChatFollower(self, self.parts, self) if cache_file is not None else None
        self.reading = Reading(self, self.runs, self.parts, cache_file, demo_in)
        self.providers = Providers(self, self.runs)

    def _follow_anew(self) -> None:
        self.reading.follow_anew()

    def _read_for(self, kind: SystemKind, stopped: Callable[[], None]) -> bool:
        return self.reading.read_for(kind, stopped)

    def close(self) -> None:
        """End all jobs; nothing of the session runs afterwards."""
        with closing(self.jobs):
            self.replays.close()
