"""Carrying a point of a search back: as a settings profile, as a file, and as a list for whoever does it by hand."""

from __future__ import annotations

from lorestudio.exchange.problems import InputError
from lorestudio.settings.files import json_bytes
from lorestudio.settings.sections import dump_section
from lorestudio.settings.store import SettingsProfile, SettingsProfiles, new_document
from lorestudio.studio.tuning.space import Point, value_words
from lorestudio.studio.tuning.trials import TuningTrial
from lorestudio.systems.registry import kind_of


def keep_as_profile(trial: TuningTrial, point: Point, name: str) -> SettingsProfile:
    """Keep the settings of a point under a name. Raises InputError for a system without profiles, SettingsError for a
    name that is taken.
    """
    settings = kind_of(trial.system).reading(trial.space.settings_at(trial.settings, point))
    if settings is None:
        raise InputError(
            "--keep", "this system has no settings profiles. Write its settings into a file with --output."
        )
    return SettingsProfiles().save(name, settings)


def settings_file(trial: TuningTrial, point: Point) -> bytes:
    """The settings of a point as a file that `--settings` or `--run SYSTEM:FILE` takes."""
    settings = trial.space.settings_at(trial.settings, point)
    reading = kind_of(trial.system).reading(settings)
    return json_bytes(dump_section(settings) if reading is None else new_document(reading))


def to_carry_over(trial: TuningTrial, point: Point) -> tuple[tuple[str, str, str], ...]:
    """What is another one there: what it is called, what it was, and what it becomes."""
    return tuple(
        (axis.label, value_words(axis.now), value_words(point[axis.label]))
        for axis in trial.space.axes
        if axis.label in point and point[axis.label] != axis.now
    )
