"""Who answers for the model on the command line, what that costs, and whether the person agrees."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from lorestudio.cli.output import ask_first, echo, say, say_all
from lorestudio.exchange.problems import InputError
from lorestudio.studio.project.answering import (
    AnswerKind,
    AnswerSource,
    Connections,
    CostEstimate,
    LlmError,
    Profile,
    Source,
    default_profiles_path,
    load_recorded,
    make_answers,
)
from lorestudio.studio.project.project import Project

OPTION = "--answers"


@dataclass(frozen=True, slots=True)
class Answering:
    """A source of answers, and the model that its requests name. `profile` is whose provider may be asked."""

    source: AnswerSource
    model: str = ""
    profile: Profile | None = None


def connections() -> Connections:
    """The person's provider profiles."""
    return Connections(default_profiles_path())


def answering(
    name: str,
    project: Project,
    beside: Path | None = None,
    *,
    fresh: bool = False,
    keeps_asking: bool = False,
    option: str = OPTION,
) -> Answering:
    """The source called `name`: stand-in, recorded, or a profile, whose answers are recorded beside the chat.

    `beside` is another file that they lie beside; `fresh` and `keeps_asking` are those of `make_answers`. `option` is
    the one that named the source.

    Raises InputError, AnsweringError or SettingsError, all before anything is sent. Lines of the recording that cannot
    be read are told.
    """
    source = Source.named(name)
    if source.kind is AnswerKind.TYPED:
        raise InputError(option, "answers are typed in the window. Here, name a profile, stand-in or recorded.")
    known = connections()
    beside = beside or project.chat_path
    profile = _profile(known, name, option) if source.kind is AnswerKind.PROVIDER else None
    if source.kind is not AnswerKind.STAND_IN:
        recorded = load_recorded(beside)
        say_all(recorded.problems)
        if source.kind is AnswerKind.RECORDED and not recorded.path.exists():
            raise InputError(
                recorded.path, "no answers are recorded yet. Record them with --answers and the name of a profile."
            )
        if source.kind is AnswerKind.RECORDED and len(recorded.models) > 1:
            others = ", ".join(recorded.models[:-1])
            say(f"answers of {recorded.models[-1]} are used, the model asked last; also recorded: {others}.")
    answers, model = make_answers(source, beside, known, fresh=fresh, keeps_asking=keeps_asking)
    return Answering(answers, model, profile)


def _profile(known: Connections, name: str, option: str) -> Profile:
    file = known.load()
    profile = file.find(name)
    if profile is not None:
        return profile
    say_all(file.problems)
    names = ", ".join(
        [
            *(kind.value for kind in (AnswerKind.STAND_IN, AnswerKind.RECORDED)),
            *(profile.name for profile in file.profiles),
        ]
    )
    raise InputError(
        option, f"there is no profile “{name}”. There are: {names}. To add one: lorestudio profiles add --help"
    )


def agree_to_vectors(cost: str, *, yes: bool) -> None:
    """Say which texts go to whom for their vectors, where any do, and go on only where the person agrees."""
    if cost:
        echo(cost, err=True)
        ask_first("Go on?", yes=yes, nothing="nothing was sent")


def agree(asked: Answering, find_cost: Callable[[], CostEstimate], *, yes: bool, kept: str = "beside the chat") -> None:
    """Say whom the questions go to and what they cost, and go on only where the person agrees.

    Nothing is said where nobody can be asked. `kept` says where answers are recorded. Raises InputError where the
    profile's key cannot be read, before anything is sent.
    """
    profile = asked.profile
    if profile is None:
        return
    cost = find_cost()
    if not cost.calls:
        echo(cost.sentence, err=True)
        return
    try:
        connections().keys.read(profile)
    except LlmError as error:
        raise InputError(f"profile “{profile.name}”", f"{error.advice} Nothing was sent.") from error
    models = ", ".join(cost.models) or profile.model  # one that the settings name wins over the profile's
    model = f", model {models}" if models else ""
    echo(f"“{profile.name}” at {profile.host}{model}. {cost.sentence}", err=True)
    echo(f"The requests hold texts of the chat and of notes. Answers are recorded {kept}.", err=True)
    ask_first("Go on?", yes=yes, nothing="nothing was sent")
