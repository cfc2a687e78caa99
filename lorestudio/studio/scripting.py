"""What scripts and notebooks do with the studio: open a project, replay its chat, read the traces.

Everything here is a plain function that waits until it is done, also where a notebook runs a loop of its own. The
examples use the small world that comes with the program. `import lorestudio` has all of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from lorestudio.domain.entry import Entry
from lorestudio.domain.javascript import Json
from lorestudio.domain.lifecycle import run_whole
from lorestudio.domain.texts import comparable, meant
from lorestudio.exchange.problems import InputError
from lorestudio.llm.messages import AnswerSource
from lorestudio.settings.declaration import Section
from lorestudio.settings.sections import section_of
from lorestudio.studio.compare.comparison import candidate
from lorestudio.studio.project import project as opening
from lorestudio.studio.project.project import Project
from lorestudio.studio.replay.runs import TraceBook
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.studio.tuning.checking import CheckedChat, checked
from lorestudio.studio.tuning.expectations import Expectation, expectations_path, load
from lorestudio.studio.tuning.scoring import ScoredChat, scored
from lorestudio.studio.tuning.search import Plan, SearchOutcome, search
from lorestudio.studio.tuning.trials import Workers, trial_of
from lorestudio.systems.registry import KINDS, kind_of, system_of
from lorestudio.trace.journey import Fate, Journeys
from lorestudio.trace.model import Trace
from lorestudio.trace.vocabulary import Explanation


def open_project(
    vaults: Path | str | Sequence[Path | str],
    chat: Path | str | None = None,
    settings: Path | str | None = None,
    seed: int = 0,
    rules: str = "",
    tokenizer: str = "",
) -> Project:
    """Read a vault, or several in order, with a chat and a file of DeepLore's settings where they are given.

    A vault is a folder, the address of Obsidian's plugin, or a lorebook. `rules` names DeepLore's rules, "2.0.2" or
    "2.6"; without it the settings show them. `tokenizer` is a name or a file, "" for as SillyTavern's settings say.
    Raises InputError, SettingsError, VaultError or TokenizerError, each with a sentence on what to mend; what could be
    read nevertheless is told in `Project.problems`.

    >>> from lorestudio.domain.resources import resource
    >>> project = open_project(resource("demo", "vault"), resource("demo", "chat.jsonl"))
    >>> len(project.index.entries), len(project.chat.messages)
    (67, 49)
    """
    several = [vaults] if isinstance(vaults, str | Path) else vaults
    chosen = None if settings is None else Path(settings).expanduser()
    return opening.open_project(several, None if chat is None else Path(chat), chosen, seed, rules, tokenizer)


def system_names() -> tuple[str, ...]:
    """The retrieval systems there are, installed ones among them.

    >>> "hybrid" in system_names()
    True
    """
    return tuple(KINDS)


def replay(
    project: Project,
    system: str = "",
    settings: Section | Mapping[str, Json] | None = None,
    *,
    answers: AnswerSource | None = None,
    model: str = "",
) -> tuple[Trace, ...]:
    """Run every generation of the project's chat with a system, "" for the project's own: of a lorebook the one that
    scans such; the traces, the last one of the reply to come.

    `settings` are the system's, whole or as a mapping of those that differ, by their names in Python or in files: from
    the project's settings for its own system, from the defaults for another. Without `answers` the offline stand-in
    answers where a model decides, and nothing leaves the computer; it is an object that answers, such as
    `studio.project.answering.load_recorded` gives. Raises InputError and SettingsError.

    >>> from lorestudio import demo_project
    >>> project = demo_project()
    >>> [len(trace.injections) for trace in replay(project)[:3]]
    [10, 10, 10]
    >>> [len(trace.injections) for trace in replay(project, settings={"max_tokens_budget": 500})[:3]]
    [7, 7, 7]
    >>> [each.title for each in replay(project, "hybrid", {"limit": 2})[0].injections]
    ['The Brume', 'House Style', 'Spoken Numbers', 'Ottoline Quay', 'What Everyone Knows']
    """
    if answers is not None and not hasattr(answers, "answer"):
        raise InputError("answers", "give an object that answers, such as load_recorded(project.chat_path).")
    kind = kind_of(system or project.system, "system")
    used = kind.settings_in(project.settings)
    if isinstance(settings, Section):
        used = settings
    elif settings is not None:
        given = section_of(settings, kind.settings, "settings")
        used = used.model_copy(update={name: getattr(given, name) for name in given.model_fields_set})
    if not isinstance(used, kind.settings):
        raise InputError("settings", f"{kind.title} takes {kind.settings.__name__}, not {type(used).__name__}.")
    project = project.with_settings_of(kind, used)
    simulator = Simulator(project, system_of(project.scene(answers, model), kind, used))
    return run_whole(simulator.replay())


def check(project: Project, expectations: Path | str | None = None, system: str = "", run: str = "") -> CheckedChat:
    r"""Run the project's chat with a system and judge what should be in the prompt; `run` names the run in the result.

    `expectations` is a file of them, by default the one beside the notes. Raises InputError where there is none, or
    where it is no such file; items that cannot be read are told in `studio.tuning.expectations.load(…).problems`.

    >>> import tempfile
    >>> from lorestudio import demo_project
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "mine.yaml")
    ...     _ = file.write_text("expectations:\n  - {note: The Brume, should: be in}\n")
    ...     print(check(demo_project(), file).every[0].verdict)
    met in 24 replies
    """
    system = system or project.system
    read = project.read_for(kind_of(system, "system"))
    return checked(read, _expected(project, expectations), run or system, replay(read, system))


def score(
    project: Project,
    expectations: Path | str | None = None,
    system: str = "",
    settings: Section | Mapping[str, Json] | None = None,
    run: str = "",
) -> ScoredChat:
    r"""Run the project's chat with a system and score it: `scores.value("f1")` and `scores.interval("f1")`.

    Without a file of expectations there is what can be said anyway: tokens, churn, which notes replies have used
    (`uses`, `dead`), and names that no note answers to (`gaps`). `settings` are as `replay` takes them. Raises
    InputError and SettingsError.

    >>> from lorestudio import demo_project
    >>> found = score(demo_project(), settings={"max_tokens_budget": 500})
    >>> found.scores.value("met"), round(found.scores.value("tokens"))
    (None, 566)
    """
    expected = () if expectations is None and not _has_file(project) else _expected(project, expectations)
    system = system or project.system
    read = project.read_for(kind_of(system, "system"))
    return scored(read, expected, [(run or system, TraceBook.of(replay(read, system, settings)))])[0]


def _has_file(project: Project) -> bool:
    path = expectations_path(project.roots)
    return path is not None and path.exists()


def _expected(project: Project, file: Path | str | None) -> tuple[Expectation, ...]:
    """The expectations of a file, by default of the one beside the notes. Raises InputError where there is none."""
    path = expectations_path(project.roots) if file is None else Path(file)
    if path is None or not path.exists():
        raise InputError(path or "expectations", "there is no such file. Name the one that says what should be in.")
    return load(path).every


def tune(
    projects: Project | Sequence[Project],
    over: Sequence[str],
    expectations: Path | str | None = None,
    system: str = "",
    plan: Plan = Plan(),  # frozen
    *,
    workers: int = 1,
    dask: str = "",
    journal: Path | str | None = None,
) -> SearchOutcome:
    r"""Search for settings and note properties that do what is expected, over one or several chats of the same vault.

    `over` says what may be turned, as `lorestudio tune --over` does; `plan` how, how long and what for. With `workers`
    or the address of a `dask` scheduler other processes run the points; a script that is not imported again starts them
    under `if __name__ == "__main__":`. Needs what `lorestudio[tune]` installs. Raises InputError and SettingsError.

    >>> import tempfile
    >>> from lorestudio import Plan, SearchWay, demo_project
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "mine.yaml")
    ...     _ = file.write_text("expectations:\n  - {note: The Brume, should: be in}\n")
    ...     found = tune(demo_project(), ["maxTokensBudget=200,3000"], file, plan=Plan(SearchWay.GRID, runs=2))
    >>> [dict(each.point) for each in found.front()]
    [{'maxTokensBudget': 200}]
    """
    chats = [projects] if isinstance(projects, Project) else list(projects)
    if not chats:
        raise InputError("projects", "there is none. Give a project with a chat, or several of the same vault.")
    trial = trial_of(chats, candidate(system or chats[0].system, "system"), _expected(chats[0], expectations), over)
    return search(trial, plan, Workers(workers, dask), None if journal is None else Path(journal))


def find_entry(project: Project, name: str) -> Entry:
    """The entry with this title or file name. Raises InputError, which names similar ones, where there is none.

    >>> from lorestudio import demo_project
    >>> find_entry(demo_project(), "the brume").filename
    'The Brume.md'
    """
    wanted = comparable(name)
    for entry in project.index.entries:
        if wanted in {comparable(entry.title), comparable(entry.filename)}:
            return entry
    hint = meant(name, (entry.title for entry in project.index.entries))
    raise InputError(project.name, f"no entry is called “{name}”.{hint}")


def fate(trace: Trace, entry: Entry | int) -> Fate:
    """How a run ended for an entry: its `state`, and the `stage` and `reason` that settled it.

    The entry is one of the project's, or a number that the trace names (`Injection.entry`).

    >>> from lorestudio import demo_project
    >>> last = replay(demo_project())[-1]
    >>> str(fate(last, last.injections[0].entry).state)
    'injected'
    """
    return Journeys(trace).fate(entry if isinstance(entry, int) else _number(trace, entry))


def _number(trace: Trace, entry: Entry) -> int:
    """The entry's number in a run, which may have read the project's lorebooks otherwise; -1 where it knows it not."""
    found = (number for number, ref in trace.entries.items() if ref.note_key == entry.note_key)
    return next(found, -1 if entry.id in trace.entries else entry.id)


def explain(trace: Trace, entry: Entry | int) -> Explanation:
    """What a run did with an entry, in words: `label`, `sentence`, and `fix` where there is something to change.

    >>> from lorestudio import demo_project
    >>> project = demo_project()
    >>> explain(replay(project)[-1], find_entry(project, "First Morning")).sentence
    'None of the keys of this entry is in the last 4 messages (1,948 characters).'
    """
    return fate(trace, entry).explain(trace)
