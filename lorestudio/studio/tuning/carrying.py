"""What becomes of a point of a search: a candidate to compare, a profile, a file, and changes of notes."""

from __future__ import annotations

from lorestudio.exchange.problems import InputError
from lorestudio.settings.files import json_bytes
from lorestudio.settings.sections import dump_section
from lorestudio.settings.store import SettingsProfile, SettingsProfiles, new_document
from lorestudio.studio.compare.comparing import Candidate
from lorestudio.studio.notes.changes.change_set import ChangeSet, NoteFileChange
from lorestudio.studio.notes.vault_notes import Planned
from lorestudio.studio.tuning.space import Point, value_words
from lorestudio.studio.tuning.trials import TuningTrial
from lorestudio.systems.registry import kind_of
from lorestudio.trace.wording import plural
from lorestudio.vault.writer import read_note


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
        changes.append(NoteFileChange(path, trial.space.texts[note.vault, note.filename], note.text))
    return ChangeSet(f"Tune {plural(len(changes), '# note|# notes')}", tuple(changes))


def plan_notes(trial: TuningTrial, point: Point) -> Planned:
    """`note_changes` for the notes as they are on disk now; those that have the text already are left alone.

    Raises VaultError, and InputError for a note that is another one than the one searched with.
    """
    wanted, left = note_changes(trial, point), []
    for change in wanted.changes:
        text, _ = read_note(change.path)
        if text not in (change.before, change.after):
            raise InputError(change.path, "the note was changed since it was searched with. Search again.")
        left += [] if text == change.after else [change]
    return Planned(ChangeSet(wanted.title, tuple(left)))


def to_carry_over(trial: TuningTrial, point: Point) -> tuple[tuple[str, str, str], ...]:
    """What is another one there: what it is called, what it was, and what it becomes."""
    return tuple(
        (axis.label, value_words(axis.now), value_words(point[axis.label]))
        for axis in trial.space.axes
        if axis.label in point and point[axis.label] != axis.now
    )
