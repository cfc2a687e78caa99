"""The provider profiles that a window knows, read off the GUI thread."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lorestudio.studio.answering import ProfileFile
from lorestudio.ui.choices import RunChoice
from lorestudio.ui.notices import Notice
from lorestudio.ui.words import sentence_of, tr

if TYPE_CHECKING:
    from lorestudio.ui.session import Session


class Providers:
    """`file` holds the profiles as they were read or written last."""

    def __init__(self, session: Session) -> None:
        self._session = session
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

    def take(self, file: ProfileFile) -> None:
        """These are the profiles from now on; they were read or written by somebody else."""
        before, self.file = self.file, file

        def talks_otherwise(choice: RunChoice) -> bool:
            known = before.find(choice.source.profile)
            return known is not None and known != file.find(choice.source.profile)

        self._session.runs.drop(talks_otherwise)
        self._session.profiles_changed.emit()

    def _read(self, file: ProfileFile) -> None:
        self.take(file)
        for problem in file.problems:
            self._session.notice.emit(Notice(problem, "warning"))
