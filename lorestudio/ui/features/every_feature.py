"""The features of the window, and what each needs of the others. A new one is a folder and a line here."""

from __future__ import annotations

from collections.abc import Iterator

from lorestudio.studio.verify.causes import Verified
from lorestudio.ui.features.attach.actions import AttachFeature
from lorestudio.ui.features.bench.actions import BenchFeature
from lorestudio.ui.features.budget.actions import BudgetFeature
from lorestudio.ui.features.chat.actions import ChatFeature
from lorestudio.ui.features.chat.replay import ReplayFeature
from lorestudio.ui.features.controls.actions import ControlsFeature
from lorestudio.ui.features.facts.actions import MemoriesFeature
from lorestudio.ui.features.graph.actions import GraphFeature
from lorestudio.ui.features.lorebooks.actions import LorebooksFeature
from lorestudio.ui.features.notes.actions import NotesFeature
from lorestudio.ui.features.problems.actions import ProblemsFeature
from lorestudio.ui.features.projects.actions import ProjectsFeature
from lorestudio.ui.features.proposals.actions import ProposalsFeature
from lorestudio.ui.features.providers.actions import ProvidersFeature
from lorestudio.ui.features.recap.actions import RecapFeature
from lorestudio.ui.features.reports.actions import ReportsFeature
from lorestudio.ui.features.settings.actions import SettingsFeature
from lorestudio.ui.features.systems.actions import SystemsFeature
from lorestudio.ui.features.timeline.actions import TimelineFeature
from lorestudio.ui.features.trace.actions import TraceFeature
from lorestudio.ui.features.tuning.actions import TuningFeature
from lorestudio.ui.features.tuning.searching import SearchFeature
from lorestudio.ui.features.vault.actions import VaultFeature
from lorestudio.ui.features.verify.actions import VerifyFeature, badges
from lorestudio.ui.features.why_not.actions import WhyNotFeature
from lorestudio.ui.shell.feature import Context, Feature
from lorestudio.ui.shell.window_actions import WindowFeature


class Features:
    """One of each, made for a window. Iterating gives them in the order in which they were made."""

    def __init__(self, context: Context) -> None:
        self.window = WindowFeature(context)
        self.notes = NotesFeature(context)
        self.problems = ProblemsFeature(context)
        self.vault = VaultFeature(context, self.notes.pane, self.problems.pane)
        self.chat = ChatFeature(context)
        self.trace = TraceFeature(context, self.chat.pane)
        self.settings = SettingsFeature(context)
        self.systems = SystemsFeature(context, self.chat.pane, self.settings.profiles)
        self.why_not = WhyNotFeature(context, self.trace, self.vault.work)
        self.budget = BudgetFeature(context)
        self.graph = GraphFeature(context)
        self.projects = ProjectsFeature(context)
        self.providers = ProvidersFeature(context)
        self.replay = ReplayFeature(context, self.chat.pane)
        self.controls = ControlsFeature(context, self.vault, self.chat.pane, self.trace.pane, self.why_not.pane)
        self.bench = BenchFeature(context)
        self.timeline = TimelineFeature(context, self.chat.pane, self.systems.make_page)
        self.tuning = TuningFeature(
            context, self.vault.work, self.timeline.jump, self.chat.message_menu, self.trace.pane.answers
        )
        self.verify = VerifyFeature(context, self.timeline.jump, self._show_beside)
        self.searching = SearchFeature(context, self.vault.work, self.systems.compare_with_now, self.tuning.show_change)
        self.reports = ReportsFeature(context)
        self.recap = RecapFeature(context, self.chat, self.systems.configure)
        self.memories = MemoriesFeature(context, self.chat.pane, self.trace, self.systems.open_settings)
        self.attach = AttachFeature(context)
        self.lorebooks = LorebooksFeature(context, self.vault.work)
        self.proposals = ProposalsFeature(context, self.notes.pane, self.vault.work.log_of, self.chat.message_menu)

    def _show_beside(self, found: Verified | None) -> None:
        """Show beside replies, bars and answers what a comparison with the chat's records found."""
        self.chat.pane.model.set_badges(badges(found))
        self.timeline.strip.set_agreement(found)
        self.trace.pane.set_recorded(found)

    def __iter__(self) -> Iterator[Feature]:
        return iter(vars(self).values())
