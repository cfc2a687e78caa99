"""The doctor: whether everything that the studio needs is here and works."""

from __future__ import annotations

import asyncio
import operator
import os
import platform
import re
import sys
import tempfile
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from typing import Final

from msgspec import Struct

from lorestudio.domain.history import HistoryRule
from lorestudio.settings.files import SettingsError
from lorestudio.settings.rules import OLD
from lorestudio.settings.studio import HANDED
from lorestudio.studio.project.answering import KeySource, Profile, default_profiles_path, load_profiles
from lorestudio.studio.project.files import own_folders
from lorestudio.studio.project.project import Project, demo_project
from lorestudio.studio.prompt.setup import scripts_of
from lorestudio.studio.replay.run_store import default_folder
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.systems.registry import KINDS, kind_of
from lorestudio.trace.model import StageStatus
from lorestudio.trace.storage.store import TraceStore
from lorestudio.trace.summary import summary
from lorestudio.trace.wording import plural


class CheckResult(Struct, frozen=True):
    """One thing that was looked at; `message` says what was found, and what to do where it is not fine."""

    subject: str
    ok: bool
    message: str


TOKENS: Final = "Tokens"

_BOUND: Final = re.compile(r"(>=|<|!=)([\d.]+)")
_COMPARED: Final = {">=": operator.ge, "<": operator.lt, "!=": operator.ne}


class Basis(Struct, frozen=True):
    """One thing that the answers of a project rest on, in a few words and in a sentence; `ok` is False for a doubt."""

    subject: str
    words: str
    sentence: str
    ok: bool = True


def basis_of(project: Project, system: str = "") -> tuple[Basis, ...]:
    """What the answers of a project rest on: rules, who counts tokens, and the chat as it was or is, and as it reads.

    `system` names the one that decides, "" for the project's own. `words` are "" where it is as nobody needs to be told
    in passing.
    """
    counting, kind = project.counting, kind_of(system or project.system)
    name = project.counter.name.removeprefix("estimate for ").removeprefix("estimate ").replace(" completion)", ")")
    told = " ".join(each for each in (counting.sentence, counting.agreement, *counting.problems) if each)
    return (
        _rules(project) if kind.in_project else Basis("Rules", "", f"As {kind.title} decides. {kind.summary}"),
        Basis(TOKENS, name if project.counter.exact else f"≈ {name}", told, not counting.problems),
        _history(project),
        _texts(project),
    )


def _rules(project: Project) -> Basis:
    rules = project.settings.rules or OLD
    return Basis("Rules", "" if rules == OLD else rules, f"As DeepLore {rules} decides, its quirks included.")


def _history(project: Project) -> Basis:
    history = project.history
    told = plural(len(history.hidden), "# message that is hidden today counts|# messages that are hidden today count")
    if not history.hidden:
        return Basis("History", "", "No message of the chat is hidden.")
    if history.rule is HistoryRule.NOW:
        return Basis("History", "as it is now", f"{told} as hidden all along.")
    assumed = sum(each[2] for each in history.when)
    since = f" Since when is only assumed for {assumed}." if assumed else ""
    return Basis("History", "", f"As it was then: {told} as seen until it was hidden.{since}")


def _texts(project: Project) -> Basis:
    scripts = [each for each in scripts_of(project.reply_setup) if not each.disabled]
    if project.basis.settings.scan_text != HANDED:
        return Basis("Texts", "texts as stored", "Messages are searched as they are stored.")
    if not scripts:
        return Basis("Texts", "", "Messages are searched as SillyTavern hands them over; no regex script is known.")
    told = plural(len(scripts), "# regex script|# regex scripts")
    return Basis("Texts", told, f"Messages are searched as SillyTavern hands them over, changed by {told}.")


def rests_on(project: Project) -> tuple[CheckResult, ...]:
    """The same as lines of the doctor's."""
    return tuple(
        CheckResult(f"Answers: {each.subject.lower()}", each.ok, f"{each.words}. {each.sentence}".removeprefix(". "))
        for each in basis_of(project)
    )


def examine(*, has_display: bool, window_problem: str = "") -> tuple[CheckResult, ...]:
    """Look at Python, the libraries, the folders, and the way from the demo vault to a stored trace.

    The front end says whether there is a display, and in `window_problem` why its window does not load ("" = it does).
    """
    return (
        CheckResult(
            "Python", sys.version_info >= (3, 11), f"{platform.python_version()} on {platform.platform(terse=True)}"
        ),
        *(_library(name, bounds) for name, bounds in libraries().items()),
        *(_folder(name, path) for name, path in own_folders().items()),
        _answers(),
        _systems(),
        _demo(),
        _store(),
        _kept_runs(),
        CheckResult("Window", not window_problem, window_problem or "Qt loads"),
        CheckResult(
            "Display",
            True,
            "a window can be opened" if has_display else "none; “demo” and “replay” work in the terminal",
        ),
    )


def libraries() -> dict[str, str]:
    """What the program needs at run time, and in which versions, as its package says; nothing in a mere source tree."""
    try:
        wanted = requires("lorestudio") or ()
    except PackageNotFoundError:
        return {}
    return dict(re.findall(r"([\w.-]+)(.*)", each)[0] for each in wanted if "extra ==" not in each)


def _library(name: str, bounds: str) -> CheckResult:
    try:
        found = version(name)
    except PackageNotFoundError:
        return CheckResult(name, False, f"not installed. Run: pip install {name}")
    if all(_COMPARED[sign](_numbers(found), _numbers(bound)) for sign, bound in _BOUND.findall(bounds)):
        return CheckResult(name, True, found)
    return CheckResult(name, False, f'{found} does not do. Run: pip install "{name}{bounds}"')


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d+", text)))


def _folder(name: str, path: Path) -> CheckResult:
    try:
        path.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=path):
            return CheckResult(name, True, str(path))
    except OSError as error:
        return CheckResult(name, False, f"{path} cannot be written ({error.strerror or error}). Check its permissions.")


def _answers() -> CheckResult:
    """Who can answer for a model. No key is looked at, so that no keyring asks to be unlocked."""
    path = default_profiles_path()
    try:
        file = load_profiles(path)
    except SettingsError as error:
        return CheckResult("Answers", False, str(error))
    told = ["offline stand-in", *(f"“{profile.name}” ({_key_words(profile)})" for profile in file.profiles)]
    return CheckResult("Answers", not file.problems, ". ".join((", ".join(told), *file.problems)))


def _key_words(profile: Profile) -> str:
    if profile.key_source is KeySource.ENVIRONMENT:
        state = "" if os.environ.get(profile.key_variable) else ", which is not set"
        return f"{profile.host}, key in {profile.key_variable}{state}"
    return f"{profile.host}, {'key in the keyring' if profile.key_source is KeySource.KEYRING else 'no key'}"


def _systems() -> CheckResult:
    told = (", ".join(KINDS), *KINDS.problems)
    return CheckResult("Systems", not KINDS.problems, ". ".join(each.rstrip(".") for each in told))


def _demo() -> CheckResult:
    try:
        project = demo_project()
        traces = asyncio.run(Simulator(project).replay())
    except Exception as error:  # noqa: BLE001  # any failure of the demo is a line of the list, none may end the list
        return CheckResult("Demo", False, f"{type(error).__name__}: {error} Install the program again.")
    failed = sorted({record.name for trace in traces for record in trace.stages if record.status is StageStatus.FAILED})
    if failed:
        return CheckResult("Demo", False, f"These stages failed: {', '.join(failed)}. Install the program again.")
    return CheckResult(
        "Demo", True, f"{len(project.index.entries)} entries, {len(traces)} generations. {summary(traces[-1])}"
    )


def _store() -> CheckResult:
    with tempfile.TemporaryDirectory() as folder:
        try:
            with TraceStore(Path(folder) / "traces.sqlite") as store:
                store.counts("doctor")
        except Exception as error:  # noqa: BLE001  # as above
            return CheckResult("Trace store", False, f"SQLite does not work here: {error}")
    return CheckResult("Trace store", True, "SQLite keeps traces")


def _kept_runs() -> CheckResult:
    folder = default_folder()
    try:
        size = sum(path.stat().st_size for path in folder.glob("traces.sqlite*"))
    except OSError as error:
        told = f"{folder} cannot be read ({error.strerror or error}). Check its permissions."
        return CheckResult("Kept runs", False, told)
    told = f"{size / 2**20:.1f} MiB in {folder}. “lorestudio runs --prune” deletes those of chats that are gone."
    return CheckResult("Kept runs", True, told if size else "none")
