"""The one table of checks, out of `resources/lint/checks.toml`, and what it says of a code."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from types import MappingProxyType

from lorestudio.domain.resources import resource
from lorestudio.vault.lint.model import Check, CheckGroup, Severity


@cache
def all_checks() -> Mapping[str, Check]:
    """Every check by its code, in the order of the reference page."""
    groups = tomllib.loads(resource("lint", "checks.toml").read_text(encoding="utf-8"))
    return MappingProxyType({
        code: Check(code, CheckGroup[group], Severity(said.pop("severity")), **said)
        for group, checks in groups.items()
        for code, said in checks.items()
    })  # fmt: skip


def check_of(code: str) -> Check:
    """The check with that code; a parser warning of a kind that the table lacks is a warning by itself."""
    known = all_checks().get(code)
    return known if known is not None else Check(code, CheckGroup.PARSER, Severity.WARNING, "Parser warning", "", "")
