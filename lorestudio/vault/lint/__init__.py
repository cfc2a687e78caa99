"""Checks of a vault: everything in its notes and settings that a person should look at, with the fixes that are safe.

Pure: notes and settings in, findings out. What needs the chat is in `studio.problems`.
"""

from lorestudio.vault.lint.fixes import Repair, repair, unified_diff
from lorestudio.vault.lint.linter import LintCancelled, Linter, Report, Scope, lint, ordered
from lorestudio.vault.lint.model import Check, Finding, Fix, Group, NoteKey, Severity
from lorestudio.vault.lint.settings import SettingsFile
from lorestudio.vault.lint.table import CHECKS, as_markdown, check_of

__all__ = [
    "CHECKS",
    "Check",
    "Finding",
    "Fix",
    "Group",
    "LintCancelled",
    "Linter",
    "NoteKey",
    "Repair",
    "Report",
    "Scope",
    "SettingsFile",
    "Severity",
    "as_markdown",
    "check_of",
    "lint",
    "ordered",
    "repair",
    "unified_diff",
]
