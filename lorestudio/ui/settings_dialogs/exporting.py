"""What an export says: the text for each target, and what does not go along. Qt is not needed here."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from enum import StrEnum

from lorestudio.exchange.settings_export import changes_list, prepared, snippet
from lorestudio.settings import DeepLoreSettings
from lorestudio.settings.differences import SettingChange
from lorestudio.settings.files import json_bytes
from lorestudio.settings.store import new_document
from lorestudio.ui.words import count, tr


class Target(StrEnum):
    """Where settings go."""

    SILLYTAVERN = "sillytavern"
    SNIPPET = "snippet"
    FILE = "file"
    LIST = "list"


def export_text(
    target: Target, settings: DeepLoreSettings, changes: Sequence[SettingChange], chosen: Collection[str]
) -> str:
    """The text of the chosen settings; `changes` are those that differ, `chosen` DeepLore's keys."""
    values, _remarks = prepared(settings, chosen)
    if target is Target.LIST:
        return changes_list([each for each in changes if each.declaration.alias in values])
    if target is Target.SNIPPET:
        return snippet(values)
    return json_bytes({**new_document(settings), "settings": dict(values)}).decode()


def left_behind(changes: Sequence[SettingChange], chosen: Collection[str], fixed: int) -> list[str]:
    """What does not go along, in sentences; `fixed` is how many behaviour switches are set to fixed."""
    said = []
    stay = [each for each in changes if each.declaration.alias not in chosen]
    local = sum(each.declaration.local for each in stay)
    if local:
        amount = count(local, "setting stays", "settings stay")
        said.append(tr("{amount} here because they belong to this computer: tick them to take them.", amount=amount))
    if len(stay) > local:
        amount = count(len(stay) - local, "other difference is", "other differences are")
        said.append(tr("{amount} not ticked.", amount=amount))
    if fixed:
        amount = count(fixed, "behaviour switch", "behaviour switches")
        said.append(tr("{amount} set to fixed cannot go along: DeepLore keeps its own behaviour.", amount=amount))
    return said
