"""What a search came to as one HTML page: the scores before and after, what to carry over, and the other points.

A point becomes a candidate to compare, a profile, a file, and changes of notes.
"""

from __future__ import annotations

from html import escape

from lorestudio.exchange.problems import InputError
from lorestudio.settings.files import json_bytes
from lorestudio.settings.sections import dump_section
from lorestudio.settings.store import SettingsProfile, SettingsProfiles, new_document
from lorestudio.studio.compare.comparison import Candidate
from lorestudio.studio.notes.book_entries import file_changes, read_text
from lorestudio.studio.notes.changes.change_set import ChangeSet, DiffLineKind, NoteFileChange, difference
from lorestudio.studio.notes.vault_notes import Planned
from lorestudio.studio.report.page import html_table, page_of
from lorestudio.studio.report.pictures import fill, svg
from lorestudio.studio.tuning.scores import METRICS
from lorestudio.studio.tuning.scoring import metric_words
from lorestudio.studio.tuning.search import SearchOutcome, TriedPoint, between, change_words
from lorestudio.studio.tuning.space import Point, point_words, value_words
from lorestudio.studio.tuning.trials import TuningTrial
from lorestudio.systems.registry import kind_of
from lorestudio.trace.wording import plural


def keep_as_profile(trial: TuningTrial, point: Point, name: str) -> SettingsProfile:
    """Keep the settings of a point under a name. Raises InputError for a system without profiles, SettingsError for a
    name that is taken.
    """
    settings = kind_of(trial.system).reading(trial.space.settings_at(trial.settings, point))
    if settings is None:
        raise InputError(
            "profile", "this system has no settings profiles. Write its settings into a file (--output, Export…)."
        )
    return SettingsProfiles().save(name, settings)


def settings_file(trial: TuningTrial, point: Point) -> bytes:
    """The settings of a point as a file that `--settings` or `--run SYSTEM:FILE` takes."""
    settings = trial.space.settings_at(trial.settings, point)
    reading = kind_of(trial.system).reading(settings)
    return json_bytes(dump_section(settings) if reading is None else new_document(reading))


def candidate_at(trial: TuningTrial, point: Point, label: str) -> Candidate:
    """The point as one of the runs that a comparison puts side by side."""
    space = trial.space
    return Candidate(label, trial.system, space.settings_at(trial.settings, point), notes=space.notes_at(point))


def note_changes(trial: TuningTrial, point: Point) -> ChangeSet:
    """What the point turns in notes as one step that can be undone; each note from the text it was searched with."""
    project, changes = trial.projects[0], []
    for note in trial.space.notes_at(point):
        path = project.note_path(note.vault, note.filename)
        assert path is not None  # noqa: S101  # the space takes no note without a file
        changes.append(NoteFileChange(path, trial.space.texts[note.note_key], note.text))
    return ChangeSet(f"Tune {plural(len(changes), '# note|# notes')}", tuple(changes))


def plan_notes(trial: TuningTrial, point: Point) -> Planned:
    """`note_changes` for the notes as they are on disk now; those that have the text already are left alone.

    Raises VaultError, and InputError for a note that is another one than the one searched with.
    """
    wanted, left = note_changes(trial, point), []
    for change in wanted.changes:
        text, _ = read_text(change.path)
        if text not in (change.before, change.after):
            raise InputError(change.path, "the note was changed since it was searched with. Search again.")
        left += [] if text == change.after else [change]
    return Planned(ChangeSet(wanted.title, file_changes(left)))


def to_carry_over(trial: TuningTrial, point: Point) -> tuple[tuple[str, str, str], ...]:
    """What is another one there: what it is called, what it was, and what it becomes."""
    return tuple(
        (axis.label, value_words(axis.now), value_words(point[axis.label]))
        for axis in trial.space.axes
        if axis.label in point and point[axis.label] != axis.now
    )


_WIDTH, _HEIGHT, _EDGE = 640, 260, 36
_CHANGING = frozenset({DiffLineKind.GONE, DiffLineKind.NEW})


def tuning_page(trial: TuningTrial, found: SearchOutcome, chosen: TriedPoint) -> str:
    """The page. Nothing of the chat's text is in it, and of notes the lines that a point changes."""
    replies = len(found.now.training.turns), len(found.now.held.turns)
    names = ", ".join(escape(name) for name in trial.chats() if name)
    head = (
        f"<p class='muted'>{escape(kind_of(trial.system).title)}{f', {names}' if names else ''}. "
        f"{plural(len(found.tried), '# point|# points')} run; {plural(replies[0], '# reply|# replies')} to search by, "
        f"{replies[1]:,} held out.</p>"
    )
    warnings = "".join(f"<p><strong>Beware:</strong> {escape(each)}</p>" for each in found.warnings(chosen))
    carried = to_carry_over(trial, chosen.point)
    importance = [(label, f"{share:.0%}") for label, share in found.importance.items()]
    parts = (
        ("Scores before and after", warnings + _scores(found, chosen)),
        (
            "To carry over",
            html_table("What is another one", ("What", "Was", "Becomes"), carried) or "<p>Nothing: all stays.</p>",
        ),
        ("In the notes", "".join(map(_note, note_changes(trial, chosen.point).changes))),
        ("The points", _picture(found, chosen) + _front(found, chosen)),
        ("What mattered", html_table("Share of reaching the good points", ("Turned", "Importance"), importance, (1,))),
    )
    body = "".join(f"<section class='part'><h2>{title}</h2>{text}</section>" for title, text in parts if text)
    return page_of(f"Tuning report: {trial.projects[0].name}", head, f"<main>{body}</main>")


def _note(change: NoteFileChange) -> str:
    lines = (f"{each.kind.value} {each.text}" for each in difference(change) if each.kind in _CHANGING)
    return f"<h3>{escape(change.path.name)}</h3><pre>{escape(chr(10).join(lines))}</pre>"


def _scores(found: SearchOutcome, chosen: TriedPoint) -> str:
    rows = []
    for name, metric in METRICS.items():
        cells = [metric_words(part, name) for each in (found.now, chosen) for part in (each.training, each.held)]
        if any(cells):
            gain = found.gain(chosen, name)
            told = "" if gain.held is None else change_words(gain.held, metric.unit)
            if gain.held_interval is not None:
                told += f" ({between(gain.held_interval, metric.unit)})"
            rows.append((metric.title, cells[0], cells[2], cells[1], cells[3], told))
    columns = ("Score", "Searched: before", "after", "Held out: before", "after", "Gain on held out")
    return html_table("Scores with 95 % intervals", columns, rows, (1, 2, 3, 4, 5))


def _front(found: SearchOutcome, chosen: TriedPoint) -> str:
    goals = found.plan.goals
    rows = []
    for each in {each.number: each for each in (found.now, chosen, *found.front())}.values():
        name = "now" if each is found.now else f"{each.number}{' (chosen)' if each is chosen else ''}"
        cells = (metric_words(part, goal) for goal in goals for part in (each.training, each.held))
        rows.append((name, point_words(each.point), *cells))
    heads = [head for goal in goals for head in (METRICS[goal].title, "held out")]
    return html_table("None of these is beaten in everything", ("Point", "Settings", *heads), rows)


def _picture(found: SearchOutcome, chosen: TriedPoint) -> str:
    """Every point by the first two goals, those that nothing beats filled."""
    if len(found.plan.goals) == 1:
        return ""
    up, across = found.plan.goals[:2]
    places = found.places()
    lows = [min(place[axis] for place in places.values()) for axis in (0, 1)]
    spans = [(max(place[axis] for place in places.values()) - lows[axis]) or 1 for axis in (0, 1)]
    front, marks = {each.number for each in found.front()}, []
    for number, place in places.items():
        left = _EDGE + (_WIDTH - 2 * _EDGE) * (place[0] - lows[0]) / spans[0]
        top = _HEIGHT - _EDGE - (_HEIGHT - 2 * _EDGE) * (place[1] - lows[1]) / spans[1]
        colour = "vermilion" if number == chosen.number else "blue" if number in front else "grey"
        marks.append(
            f"<circle class='edge' cx='{left:.1f}' cy='{top:.1f}' r='{7 if number == chosen.number else 5}' "
            f"style='fill:{fill(colour)}'><title>{'now' if number < 0 else number}</title></circle>"
        )
    titles = [escape(METRICS[goal].title) for goal in (up, across)]
    marks += [
        f"<text class='ink' x='{_EDGE}' y='16'>{titles[0]} ↑</text>",
        f"<text class='ink' x='{_WIDTH - _EDGE}' y='{_HEIGHT - 8}' text-anchor='end'>{titles[1]} →</text>",
    ]
    points = plural(len(places), "# point|# points")
    words = f"{titles[0]} against {titles[1].lower()}: {points}; {len(front)} beaten by none"
    picture = svg("".join(marks), _HEIGHT, words, _WIDTH)
    return f"<figure tabindex='0' role='group' aria-label='points, a picture'>{picture}</figure>"
