"""The relationship graph of the vault: a picture, its list twin, and what seems to be missing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from functools import cached_property, partial
from pathlib import Path
from typing import Final

from PySide6.QtCore import QPoint, QTimer, Signal
from PySide6.QtGui import QGuiApplication, QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QMenu, QWidget

from lorestudio.domain.entry import VaultIndex
from lorestudio.domain.lifecycle import Progress
from lorestudio.domain.records import replace
from lorestudio.domain.texts import comparable
from lorestudio.studio.graph.analysis import local_graph, shortest_path
from lorestudio.studio.graph.graph import NoteGraph, Point
from lorestudio.studio.graph.layout import (
    GraphWish,
    LayoutStore,
    PreparedGraph,
    SavedLayout,
    drawn_places,
    prepare,
    rings,
)
from lorestudio.studio.project.files import write_bytes
from lorestudio.systems.base import Deciding
from lorestudio.ui.features.graph.bar import ColourLegend, EdgeLegend, GraphBar
from lorestudio.ui.features.graph.items import shown_graph
from lorestudio.ui.features.graph.lists import GapList, GraphLists
from lorestudio.ui.features.graph.looks import StrokeSet, graph_looks, node_sentence
from lorestudio.ui.features.graph.view import ZOOM_STEP, GraphKeeper, GraphView, graph_bytes
from lorestudio.ui.shell.jobs import Job, Newest
from lorestudio.ui.shell.qt import later
from lorestudio.ui.shell.theme import Theme
from lorestudio.ui.shell.words import Notice, count, number, sentence_of, tr
from lorestudio.ui.state.selection import Selection
from lorestudio.ui.state.session import Session
from lorestudio.ui.state.traces import FiringCounts
from lorestudio.ui.widgets import dialogs
from lorestudio.ui.widgets.layouts import filling, holding, label, named, show_words, tabbed, tight
from lorestudio.ui.widgets.pane import Pane
from lorestudio.ui.widgets.rows import passing_menu
from lorestudio.ui.widgets.work_pane import ProgressStrip

MOST_LOCAL: Final = 600
"""A local graph shows so many entries, the nearest first; the list shows all."""

WIDE: Final = 440
"""From this width on (device-independent pixels) the depth has room for words."""

PICTURE, LIST, GAPS = range(3)


class GraphPane(Pane):
    """Follows and sets the chosen entry. `opened` follows the wish to read the chosen note.

    The graph is made in a job when the pane is first looked at, and again when the vault has changed; the picture
    before stays until then.
    """

    opened = Signal()

    def __init__(
        self,
        theme: Theme,
        session: Session,
        selection: Selection,
        keep_in: Path | None = None,
        parent: QWidget | None = None,
    ) -> None:
        """`keep_in` is the folder where positions survive the window; without it they are kept until its end."""
        super().__init__("graph", tr("Graph"), theme, parent)
        self._session, self._selection = session, selection
        self._store = LayoutStore(keep_in)
        self._index: VaultIndex | None = None
        self._by: Deciding | None = None
        self._places: tuple[str, ...] = ()
        self._prepared: PreparedGraph | None = None
        self._strokes: StrokeSet | None = None
        self._shown = NoteGraph()
        self._centre: int | None = None
        self._fired: Mapping[int, int] = {}
        self._firing = FiringCounts()
        self._search: Mapping[int, str] = {}
        self._hits: tuple[int, ...] = ()
        self._newest = Newest(session.jobs)
        self._large = False
        self._fired_stale = True
        self._count_soon = later(self, self._count_fired)
        self._build()
        self._keeper = GraphKeeper(session, self._store, self._to_keep, self)
        self._connect()
        self._show_project()

    def _build(self) -> None:
        theme = self.theme
        self.bar = GraphBar(theme, self)
        self.search_field = self.bar.search
        self.strip = ProgressStrip(self)
        self.strip.stop.setToolTip(tr("Stop laying out the graph"))
        self.view = GraphView(theme, self)
        self.note = named(label(self, kind="small", margins=(10, 2, 10, 2)), tr("About what is shown"))
        self.edges, self.colours = EdgeLegend(theme, self), ColourLegend(theme, self)
        self._legend = holding(tight(self.edges, self.colours, 1))
        self._picture = tight((self.or_empty("graph", self.view), 1), self._legend)
        picture = holding(tight((self._picture, 1), self.note))
        self._lists_place, self.gaps = QWidget(self), GapList(theme, self)
        pages = (picture, tr("Picture")), (self._lists_place, tr("List")), (self.gaps, tr("Gaps"))
        self.tabs = tabbed(self, tr("Views of the graph"), *pages)
        self.tabs.setCornerWidget(self.bar.scope)
        self.view.lay_upon(self.bar.zoom)
        self.column.addWidget(self.bar)
        self.column.addWidget(self.strip)
        self.column.addWidget(self.tabs, 1)

    @cached_property
    def lists(self) -> GraphLists:
        """All that the picture shows, as tables; made when somebody first turns to them, or asks for them."""
        made = filling(self._lists_place, GraphLists(self.theme, self._lists_place))
        made.chosen.connect(self._selection.choose_entry)
        made.opened.connect(self._open)
        made.entries.filtered_by(self.bar.search)
        self._fill(made)
        made.search(self.bar.search.text().strip())
        return made

    @property
    def _made_lists(self) -> GraphLists | None:
        return vars(self).get("lists")

    def _connect(self) -> None:
        session, bar, view = self._session, self.bar, self.view
        self.looked_at.connect(self._make)
        self.tabs.currentChanged.connect(lambda page: self.lists if page == LIST else None)
        session.project_changed.connect(self._show_project)
        session.choice_changed.connect(self._make)
        session.traces_changed.connect(lambda _generations: self._traces_changed())
        self._selection.entry_changed.connect(self._show_entry)
        self.theme.changed.connect(self._show_looks)
        self.strip.cancelled.connect(self._stop_job)
        bar.searched.connect(self._find)
        bar.search.returnPressed.connect(self._next_hit)
        bar.coloured.connect(lambda _colour: self._show_looks())
        bar.scope.changed.connect(self._show_picture)
        bar.zoom.zoomed.connect(lambda way: view.zoom(ZOOM_STEP**way))
        bar.zoom.fitted.connect(view.fit)
        bar.option_changed.connect(self._option_changed)
        bar.command.connect(self._do)
        self.edges.changed.connect(self._show_edges)
        view.chosen.connect(self._selection.choose_entry)
        view.opened.connect(self._open)
        self.gaps.chosen.connect(self._show_gap)
        view.moved.connect(self._moved)
        view.menu_wanted.connect(self._open_menu)

    # ---- what can be done -------------------------------------------------------------------------------------------

    def focus_target(self) -> QWidget:
        """The picture, the list or the gaps, whatever is in front."""
        if self.tabs.currentIndex() == PICTURE:
            return self.view if self.pages.currentWidget() is self.view else self.bar.search
        return self.lists.entries if self.tabs.currentIndex() == LIST else self.gaps

    def stop(self) -> None:
        """Save what is to be kept; for the end of the window."""
        self._keeper.finish()

    @property
    def working(self) -> bool:
        """Whether the graph is being made."""
        return self._newest.busy

    def save_picture(self, path: Path, kind: str) -> None:
        """Write the graph as `png`, `svg` or `json`. Raises InputError where it cannot be written."""
        write_bytes(path, graph_bytes(self.view, self._prepared or PreparedGraph(), self._fired, kind))

    # ---- making the graph -------------------------------------------------------------------------------------------

    def _show_project(self) -> None:
        project = self._session.project
        places = drawn_places(project) if project is not None else ()
        if project is None or places != self._places:
            self._keeper.finish()
            self._stop_job()
            self._prepared, self._index, self._large = None, None, False
            self._places = places
            if project is not None:
                self.bar.choose_colour(project.settings.graph_default_color_mode)
                settings = project.settings
                self.bar.scope.steps.setValue(settings.graph_focus_tree_depth)
                self.view.set_light(
                    settings.graph_hover_dim_distance, settings.graph_hover_falloff, settings.graph_hover_ambient
                )
            self._take(None)
        self._fired_stale = True
        self._make()

    def _make(self, *, fresh: bool = False, again: bool = False) -> None:
        """Make the graph where it is not that of the vault, or `again`; only while somebody looks."""
        project = self._session.project
        if project is None or not self.isVisible():
            return
        if self._fired_stale:
            self._count_soon.start()
        # In lorebooks nobody refers to others; there the graph always tells what wakes what.
        wakes = project.of_books or self.bar.option("wakes")
        by = self._session.choice.deciding(project) if wakes else None
        if project.index is self._index and by == self._by and not again and not fresh:
            return
        self._stop_job()
        self._index, self._by = project.index, by
        wish = GraphWish(self.bar.option("everything"), self._large, fresh, by)
        store = self._store

        def work(job: Job) -> PreparedGraph:
            def tell(news: PreparedGraph | Progress) -> None:
                if isinstance(news, PreparedGraph):  # so many strokes take longer than the window may stand still
                    graph = news.found.graph
                    job(StrokeSet(graph, {entry: row for row, entry in enumerate(graph.nodes)}))
                job(news)

            made = prepare(project, store, wish, tell, job.token)
            if made.positions is not None:
                store.save(drawn_places(project), made.layout())
            return made

        title = tr("Making the graph")
        self._newest.start(title, work, done=self._made, failed=self._failed, reported=self._reported)
        self.strip.start(tr("Reading how the notes are connected…"), stoppable=True)
        if self._prepared is None:
            self._say_loading()

    def _stop_job(self) -> None:
        if self.working:
            self._newest.cancel()
            self.strip.finish()
            self._index = None
            if self._prepared is None or self._prepared.positions is None:
                self._show_picture()

    def _reported(self, news: object) -> None:
        if isinstance(news, Progress):
            self.strip.bar.setRange(0, news.total)
            self.strip.bar.setValue(news.done)
            self.strip.label.setText(tr("Laying out the graph…"))
        elif isinstance(news, StrokeSet):
            self._strokes = news
        elif isinstance(news, PreparedGraph):
            if news.problem:
                self._session.notice.emit(Notice(news.problem, "warning", key="graph"))
            before = self._prepared
            known = before.positions if before is not None else None
            fits = before is not None and _same_nodes(before, news)
            self._take(replace(news, positions=known if fits else None))

    def _made(self, made: PreparedGraph) -> None:
        self.strip.finish()
        if self.bar.search.hasFocus() and not self.bar.search.text():
            QTimer.singleShot(0, self, lambda: self.focus_target().setFocus())
        self._take(made, fit=self._prepared is None or self._prepared.positions is None)

    def _failed(self, error: Exception) -> None:
        self.strip.finish()
        self._session.notice.emit(Notice(sentence_of(error), "error", key="graph"))
        self._show_picture()

    def _take(self, prepared: PreparedGraph | None, *, fit: bool = False) -> None:
        """Show a graph, None for none. One that only has its places by now is drawn; its lists stand already."""
        before, self._prepared = self._prepared, prepared
        drawn = self._draw_study if before and prepared and prepared.found is before.found else self._show_study
        self.view.show_pinned(prepared.pinned if prepared is not None else ())
        self._show_gaps_in_picture()
        drawn(fit=fit)
        self._say_note()

    def _show_study(self, *, fit: bool) -> None:
        """After what was found out changed."""
        found = (self._prepared or PreparedGraph()).found
        project = self._session.project
        entries = project.index.entries if project is not None else ()
        self._search = {
            entry: comparable("\n".join((node.title, *entries[entry].keys, *entries[entry].tags)))
            for entry, node in found.graph.nodes.items()
            if entry < len(entries)
        }
        self.edges.set_counts(Counter(edge.kind for edge in found.graph.edges))
        self.gaps.show_gaps(found)
        amount = number(found.gaps.count + found.gaps.more_missing)
        self.tabs.setTabText(GAPS, tr("Gaps ({amount})", amount=amount) if self._prepared else tr("Gaps"))
        self._show_edges(fit=fit)

    # ---- showing it -------------------------------------------------------------------------------------------------

    def _show_edges(self, *, fit: bool = False) -> None:
        """After the shown edges changed."""
        found = (self._prepared or PreparedGraph()).found
        self._shown = shown_graph(found, self.edges.shown(), remarkable=self.bar.option("remarkable"))
        if self._made_lists is not None:
            self._fill(self._made_lists)
        self._draw_study(fit=fit)

    def _fill(self, lists: GraphLists) -> None:
        lists.show_graph((self._prepared or PreparedGraph()).found, self._shown, self._search)
        lists.show_fired(self._fired)
        lists.show_entry(self._selection.entry)

    def _draw_study(self, *, fit: bool) -> None:
        self._show_picture(fit=fit)
        self._show_looks()
        self._find(self.bar.search.text())

    def _show_picture(self, *, fit: bool = False) -> None:
        """Show the whole or the surroundings of the chosen entry, or say why there is nothing to show."""
        prepared = self._prepared
        if self._session.project is None:
            self._say_nothing(tr("No vault"), tr("Open the folder with your notes to see how they are connected."))
        elif prepared is None:
            self._say_loading()
        elif not prepared.found.graph.nodes:
            self._say_no_nodes(prepared)
        elif self.bar.scope.local.isChecked():
            self._show_local(prepared)
        elif prepared.positions is None:
            self._say_no_positions(prepared)
        else:
            fit = fit or self._centre is not None
            self._centre = None
            self._draw(prepared, prepared.positions, tr(prepared.silence), fit=fit)

    def _show_local(self, prepared: PreparedGraph) -> None:
        centre = self._selection.entry
        if centre is None:
            text = tr("Choose an entry in the vault or in the list; its surroundings appear here.")
            self._say_nothing(tr("No entry is chosen"), text)
            return
        if centre not in prepared.found.graph.nodes:
            button = (("everything", tr("Show such entries too")),)
            self._say_nothing(tr("This entry is kept out of the graph"), tr("Its note says “graph: false”."), button)
            return
        hops = local_graph(self._shown.neighbours, centre, self.bar.scope.steps.value())
        shown = dict(list(hops.items())[:MOST_LOCAL])
        positions = rings(self._shown.neighbours, shown, prepared.found.community_of)
        self._centre, text = centre, ""
        if len(shown) < len(hops):
            some, every = number(len(shown)), number(len(hops))
            text = tr("The nearest {shown} of {all} entries are shown.", shown=some, all=every)
        elif len(shown) == 1:
            text = tr("Nothing is connected with this entry by the kinds of edges that are shown.")
        self._draw(prepared, positions, text, fit=True)

    def _draw(self, prepared: PreparedGraph, positions: Mapping[int, Point], below: str, *, fit: bool) -> None:
        self.view.show_graph(prepared.found, positions, self._strokes, fit=fit)
        self.view.show_edges(self._shown, self.edges.shown(), remarkable=self.bar.option("remarkable"))
        self.view.choose(self._selection.entry)
        self.pages.setCurrentWidget(self.view)
        show_words(self.note, below)

    def _show_entry(self) -> None:
        entry = self._selection.entry
        if self.bar.scope.local.isChecked() and entry != self._centre:
            self._show_picture()
        self.view.choose(entry)
        if self._made_lists is not None:
            self._made_lists.show_entry(entry)

    def _show_looks(self) -> None:
        prepared = self._prepared or PreparedGraph()
        looks = graph_looks(prepared.found, self.bar.colour_by(), self._fired, self.theme.palette)
        self.view.show_looks(looks.of, self._fired)
        self.colours.set_legend(looks.legend)

    def _show_gaps_in_picture(self) -> None:
        prepared = self._prepared
        wanted = prepared is not None and self.bar.option("gaps")
        self.view.show_gaps(prepared.found.gaps if wanted and prepared is not None else None)

    def _traces_changed(self) -> None:
        self._fired_stale = True
        if self.isVisible():
            self._count_soon.start()

    def _count_fired(self) -> None:
        self._fired_stale = False
        self._firing.take(self._session.runs.traces, None)
        fired = self._firing.injected()
        if fired != self._fired:
            self._fired = fired
            if self._made_lists is not None:
                self._made_lists.show_fired(fired)
            self._show_looks()

    # ---- saying why there is nothing --------------------------------------------------------------------------------

    def _say_nothing(self, title: str, text: str, buttons: tuple[tuple[str, str], ...] = ()) -> None:
        self._centre = None
        self.say_empty(title, text, buttons)
        show_words(self.note, "")

    def _say_loading(self) -> None:
        if self.working or not self.isVisible():
            self._say_nothing(tr("Making the graph"), tr("Links, groups and places are being worked out."))
        else:
            self._say_nothing(tr("No graph"), tr("It was not finished."), (("again", tr("Make the graph")),))

    def _say_no_nodes(self, prepared: PreparedGraph) -> None:
        if prepared.found.graph.hidden:
            text = tr("Every note of this vault says “graph: false”.")
            self._say_nothing(tr("Nothing to draw"), text, (("everything", tr("Show such entries too")),))
        else:
            ways = ("note.entries", tr("Make entries of notes…")), ("note.new", tr("New note…"))
            self._say_nothing(tr("No entries"), tr("This vault has no notes with the lorebook tag."), ways)

    def _say_no_positions(self, prepared: PreparedGraph) -> None:
        nodes = len(prepared.found.graph.nodes)
        amount = number(nodes)
        if prepared.too_large and not self._large:
            text = tr(
                "A picture of {amount} entries takes a while and is hard to read. The surroundings of one entry are "
                "there at once, and the list has all entries.",
                amount=amount,
            )
            ways = ("local", tr("Around the chosen entry")), ("large", tr("Lay out all {amount}", amount=amount))
            self._say_nothing(tr("A large vault"), text, ways)
        elif self.working:
            text = count(nodes, "entry is finding its place.", "entries are finding their places.")
            text += " " + tr("The list is ready.")
            self._say_nothing(tr("Laying out the graph"), text)
        else:
            text = tr("The layout is unfinished. The list and the surroundings of single entries work without it.")
            ways = ("again", tr("Lay out the graph")), ("local", tr("Around the chosen entry"))
            self._say_nothing(tr("Not laid out"), text, ways)

    def _press(self, name: str) -> None:
        if name == "local":
            self.bar.scope.local.setChecked(True)
        elif name == "everything":
            self.bar.options["everything"].setChecked(True)
        elif name in {"again", "large"}:
            self._large = self._large or name == "large"
            self._make(again=True)
        else:
            super()._press(name)

    def _say_note(self) -> None:
        if self._prepared is None:
            self.note_changed.emit("")
            return
        graph = self._prepared.found.graph
        parts = [count(len(graph.nodes), "entry", "entries"), count(len(graph.edges), "edge", "edges")]
        parts.append(count(len(self._prepared.found.communities), "community", "communities"))
        if graph.hidden:
            parts.append(tr("{hidden} kept out", hidden=number(graph.hidden)))
        self.note_changed.emit(" · ".join(parts))

    # ---- search -----------------------------------------------------------------------------------------------------

    def _find(self, text: str) -> None:
        wanted = comparable(text).strip()
        if self._made_lists is not None:
            self._made_lists.search(text.strip())
        self._hits = tuple(entry for entry, known in self._search.items() if wanted and wanted in known)
        self.bar.hits.setText(count(len(self._hits), "hit", "hits") if wanted else "")
        self.view.show_hits(self._hits)

    def _next_hit(self) -> None:
        if self._hits:
            chosen = self._selection.entry
            place = self._hits.index(chosen) + 1 if chosen in self._hits else 0
            self._selection.choose_entry(self._hits[place % len(self._hits)])

    # ---- following the person ---------------------------------------------------------------------------------------

    def _open(self, entry: int) -> None:
        self._selection.choose_entry(entry)
        self.opened.emit()

    def _show_gap(self, entries: object) -> None:
        if isinstance(entries, tuple) and entries:
            self._selection.choose_entry(entries[0])
            self.view.show_path(tuple(entry for entry in entries if entry in self.view.drawing.rows))

    def _moved(self, entry: int) -> None:
        """A node was dragged: it stays there."""
        prepared = self._prepared
        if prepared is None or self._centre is not None or prepared.positions is None:
            return
        point = self.view.drawing.points[entry]
        prepared.positions[entry] = (point.x(), point.y())
        self._pin(entry, on=True)

    def _pin(self, entry: int, *, on: bool) -> None:
        prepared = self._prepared
        if prepared is not None:
            pinned = prepared.pinned | {entry} if on else prepared.pinned - {entry}
            self._prepared = replace(prepared, pinned=pinned)
            self.view.show_pinned(pinned)
            self._keeper.later.start()

    def _open_menu(self, entry: object, where: QPoint) -> None:
        menu = self.make_menu(entry) if isinstance(entry, int) else self.bar.menu_button.menu()
        menu.popup(where)

    def make_menu(self, entry: int) -> QMenu:
        """What can be done with a node."""
        prepared = self._prepared or PreparedGraph()
        title = prepared.found.graph.nodes[entry].title
        chosen = self._selection.entry
        menu = passing_menu(self)
        menu.addAction(tr("Open the note"), partial(self._open, entry))
        menu.addAction(tr("Show its surroundings"), partial(self._go_local, entry))
        if chosen is not None and chosen != entry and chosen in prepared.found.graph.nodes:
            text = tr("Show the way from {title}", title=prepared.found.graph.nodes[chosen].title)
            menu.addAction(text, partial(self.show_way, chosen, entry))
        if self._centre is None:
            pinned = entry in prepared.pinned
            menu.addAction(tr("Unpin its place") if pinned else tr("Pin its place"),
                           partial(self._pin, entry, on=not pinned))  # fmt: skip
        menu.addSeparator()
        copy = QGuiApplication.clipboard().setText
        menu.addAction(tr("Copy the title"), partial(copy, title))
        sentence = node_sentence(prepared.found, entry, self._fired)
        menu.addAction(tr("Copy what is known"), partial(copy, sentence))
        return menu

    def show_way(self, start: int, end: int) -> None:
        """Draw the shortest way from one entry to another, and say it."""
        nodes = self._shown.nodes
        path = shortest_path(self._shown, start, end)
        titles = tr(" → ").join(nodes[entry].title for entry in path)
        if not path:
            first, second = nodes[start].title, nodes[end].title
            show_words(self.note, tr("No way leads from {first} to {second}.", first=first, second=second))
        else:
            show_words(self.note, tr("{steps}: {titles}", steps=count(len(path) - 1, "step", "steps"), titles=titles))
        self.view.show_path(path if all(entry in self.view.drawing.rows for entry in path) else ())

    def _go_local(self, entry: int) -> None:
        self._selection.choose_entry(entry)
        self.bar.scope.local.setChecked(True)

    def _option_changed(self, name: str) -> None:
        if name == "titles":
            self.view.drawing.titles = self.bar.option(name)
            self.view.redraw()
        elif name == "gaps":
            self._show_gaps_in_picture()
        elif name == "remarkable":
            self._show_edges()
        else:
            self._make(again=True)

    def _do(self, name: str) -> None:
        if name == "layout":
            self._large = True
            self._make(fresh=True)
        elif name == "unpin" and self._prepared is not None:
            self._prepared = replace(self._prepared, pinned=frozenset())
            self.view.show_pinned(())
            self._keeper.later.start()
        elif name in {"png", "svg", "json"}:
            project = self._session.project
            start = f"{project.name if project is not None else 'vault'} graph.{name}"
            write, filters = partial(self._write, kind=name), f"{name.upper()} (*.{name})"
            dialogs.choose_new_file(self, tr("Save the graph"), start, filters, name, write)

    def _to_keep(self) -> tuple[tuple[str, ...], SavedLayout] | None:
        prepared = self._prepared
        return (self._places, prepared.layout()) if prepared is not None and prepared.positions is not None else None

    def _write(self, path: Path, kind: str) -> None:
        try:
            self.save_picture(path, kind)
        except Exception as error:  # noqa: BLE001  # whatever it is must reach the person
            self._session.notice.emit(Notice(sentence_of(error), "error", key="graph"))
        else:
            show_words(self.note, tr("{name} was written.", name=path.name))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Qt: a narrow pane keeps room for its tabs, a flat one for its picture: the legend stands beside it."""
        self.bar.scope.set_narrow(event.size().width() < WIDE)
        ways, flat = QBoxLayout.Direction, self.is_flat
        self._legend.setMaximumWidth(self.edges.minimumSizeHint().width() if flat else self.maximumWidth())
        self._picture.setDirection(ways.LeftToRight if flat else ways.TopToBottom)


def _same_nodes(before: PreparedGraph, now: PreparedGraph) -> bool:
    """Whether the entries of two graphs are the same, so that places by id still hold."""
    first, second = ({entry: node.key for entry, node in one.found.graph.nodes.items()} for one in (before, now))
    return first == second
