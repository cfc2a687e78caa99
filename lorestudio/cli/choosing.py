"""What the options choose: mode, quirks, who answers, the reply. Each raises InputError with its option's name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from lorestudio.cli.asking import Answering, answering
from lorestudio.settings import fixed
from lorestudio.studio import Generation, InputError, Project
from lorestudio.studio.answering import AnswerKind
from lorestudio.studio.keeping import ChatRuns
from lorestudio.studio.modes import Mode, with_mode


def in_mode(project: Project, mode: str | None) -> Project:
    """The project in the mode of that name; as it is without one."""
    if mode is None:
        return project
    if mode not in set(Mode):
        raise InputError("--mode", f"there is no mode “{mode}”. There are: {', '.join(Mode)}.")
    return with_mode(project, Mode(mode))


def with_fixed(project: Project, switches: Sequence[str] | None) -> Project:
    """The project with these quirks of DeepLore mended, and no others."""
    try:
        return replace(project, behaviour=fixed(switches or ()))
    except ValueError as error:
        raise InputError("--fixed", str(error)) from error


def answering_offline(answers: str, project: Project) -> Answering:
    """Who answers in a command that asks no provider."""
    if answers not in {AnswerKind.STAND_IN, AnswerKind.RECORDED}:
        raise InputError("--answers", "this asks no provider. Choose stand-in, or recorded after a replay with one.")
    return answering(answers, project)


def chosen_generation(
    simulator: ChatRuns, message: int | None, swipe: int | None = None, option: str = ""
) -> Generation:
    """The generation of that reply and swipe (from 1).

    By default the reply to come, and the active swipe. `option` is the one that says both in one.
    """
    generation = simulator.generations[-1] if message is None else simulator.shown(message)
    if generation is None:  # a chat may call a swipe active that it does not have
        generation = next((each for each in reversed(simulator.generations) if each.message == message), None)
    if generation is None:
        replies = dict.fromkeys(each.message for each in simulator.generations)
        numbers = ", ".join(f"#{reply}" for reply in replies)
        raise InputError(option or "--message", f"#{message} is no reply of the chat's. There are: {numbers}.")
    if swipe is None:
        return generation
    chosen = Generation(generation.message, swipe - 1)
    if chosen not in simulator.generations:
        count = sum(each.message == generation.message for each in simulator.generations)
        swipes = f"{count} swipe{'' if count == 1 else 's'}"
        raise InputError(option or "--swipe", f"reply #{generation.message} has {swipes}, and none is {swipe}.")
    return chosen
