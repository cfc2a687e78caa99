"""lorestudio: see, for every turn of a chat, which lore reached the prompt, which did not, and why.

What scripts and notebooks use stands here (`studio.scripting`), and is loaded when it is asked for:

>>> import lorestudio
>>> traces = lorestudio.replay(lorestudio.demo_project())
>>> lorestudio.summary(traces[-1])
'7 entries matched, 1 was pinned, 1 was gated out, 7 were injected (744 of 1,300 tokens, and 89 in outlets).'
"""

TYPE_CHECKING = False  # as of typing, which would be loaded before anybody can hear Ctrl+C
if TYPE_CHECKING:
    from lorestudio.domain.entry import Entry
    from lorestudio.exchange.problems import InputError
    from lorestudio.settings.files import SettingsError
    from lorestudio.studio.project.project import Project, demo_project
    from lorestudio.studio.project.tokens import TokenizerError
    from lorestudio.studio.scripting import (
        check,
        explain,
        fate,
        find_entry,
        open_project,
        replay,
        score,
        system_names,
        tune,
    )
    from lorestudio.studio.tuning.checking import CheckedChat
    from lorestudio.studio.tuning.scoring import ScoredChat
    from lorestudio.studio.tuning.search import Plan, SearchOutcome, SearchWay
    from lorestudio.trace.journey import Fate
    from lorestudio.trace.model import Injection, Trace
    from lorestudio.trace.summary import summary
    from lorestudio.trace.vocabulary import Explanation
    from lorestudio.vault.files import VaultError

    __version__: str

_PLACES = {
    "CheckedChat": "studio.tuning.checking",
    "Entry": "domain.entry",
    "Explanation": "trace.vocabulary",
    "Fate": "trace.journey",
    "Injection": "trace.model",
    "InputError": "exchange.problems",
    "Plan": "studio.tuning.search",
    "Project": "studio.project.project",
    "ScoredChat": "studio.tuning.scoring",
    "SearchOutcome": "studio.tuning.search",
    "SearchWay": "studio.tuning.search",
    "SettingsError": "settings.files",
    "TokenizerError": "studio.project.tokens",
    "Trace": "trace.model",
    "VaultError": "vault.files",
    "check": "studio.scripting",
    "demo_project": "studio.project.project",
    "explain": "studio.scripting",
    "fate": "studio.scripting",
    "find_entry": "studio.scripting",
    "open_project": "studio.scripting",
    "replay": "studio.scripting",
    "score": "studio.scripting",
    "summary": "trace.summary",
    "system_names": "studio.scripting",
    "tune": "studio.scripting",
}

__all__ = [
    "CheckedChat", "Entry", "Explanation", "Fate", "Injection", "InputError", "Plan", "Project", "ScoredChat",
    "SearchOutcome", "SearchWay", "SettingsError", "TokenizerError", "Trace", "VaultError", "__version__", "check",
    "demo_project", "explain", "fate", "find_entry", "open_project", "replay", "score", "summary", "system_names",
    "tune",
]  # fmt: skip

if not TYPE_CHECKING:  # mypy would take any name for one of the package's

    def __getattr__(name: str) -> object:
        """What is asked for, from the module that has it."""
        from importlib import import_module  # noqa: PLC0415  # the same

        if name == "__version__":
            return import_module("lorestudio.domain.resources").VERSION
        if name not in _PLACES:
            raise AttributeError(f"module 'lorestudio' has no attribute {name!r}")
        return getattr(import_module(f"lorestudio.{_PLACES[name]}"), name)

    def __dir__() -> list[str]:
        """Everything, whether it was asked for or not."""
        return sorted({*globals(), *__all__})
