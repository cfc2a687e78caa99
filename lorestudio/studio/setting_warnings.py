"""What speaks against settings: the checks on them, what their file says oddly, and what a run warned about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from lorestudio.domain.entry import VaultIndex
from lorestudio.settings import DeepLoreSettings, declarations
from lorestudio.trace.model import Trace
from lorestudio.vault.lint import CHECKS, Severity
from lorestudio.vault.lint.settings import settings_checks

_NOT_HERE: Final = frozenset({"S10"})
"""Checks that concern the extension's network traffic only."""


@dataclass(frozen=True, slots=True)
class SettingWarning:
    """One sentence against a setting. `alias` is DeepLore's key, "" where it concerns several or none."""

    alias: str
    text: str
    advice: str = ""
    is_error: bool = False


def setting_warnings(
    settings: DeepLoreSettings, index: VaultIndex, problems: Sequence[str] = (), trace: Trace | None = None
) -> tuple[SettingWarning, ...]:
    """All warnings. Of `problems`, those count that are about a setting, as from reading a file: `scanDepth: ...`."""
    found = [SettingWarning("", text) for text in (trace.warnings if trace is not None else ())]
    for hit in settings_checks(settings, index, None, None):
        if hit.code not in _NOT_HERE:
            check = CHECKS[hit.code]
            found.append(SettingWarning(hit.field, hit.message, check.advice, check.severity is Severity.ERROR))
    known = {each.alias for each in declarations()}
    for problem in problems:
        alias, colon, text = problem.partition(": ")
        if colon and alias in known:
            found.append(SettingWarning(alias, text))
    return tuple(found)
