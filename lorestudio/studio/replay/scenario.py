"""Running scenarios: what a system decides, in the format of its scenarios."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

from lorestudio.domain.entry import VaultIndex
from lorestudio.domain.tokens import BYTES_3_35, CHARS_3_35, CHARS_4, TokenCounter
from lorestudio.exchange.problems import InputError
from lorestudio.exchange.scenario_file import Scenario, ScenarioVault, index_report, read_records
from lorestudio.settings.behaviour import FIXED
from lorestudio.settings.deeplore import sanitise
from lorestudio.settings.files import SettingsError, read_whole, real_path
from lorestudio.studio.project.tokens import BY_SCRIPT, TokenizerError, counter_by_word, word_of
from lorestudio.systems.registry import kind_of, scenario_format
from lorestudio.vault.files import NoteFile, VaultFiles
from lorestudio.vault.folder import MAX_FILE_BYTES
from lorestudio.vault.index import kept_as_indexed, state_of_files

COUNTERS: Final[Mapping[str, TokenCounter]] = {
    "chars4": CHARS_4, "st335": CHARS_3_35, "bytes335": BYTES_3_35, "script": BY_SCRIPT,
}  # fmt: skip


def counter_of(tokenizer: str) -> TokenCounter:
    """Who counts by the format's word for it. Raises TokenizerError, also where the tokenizer's file is not here."""
    return COUNTERS[tokenizer] if tokenizer in COUNTERS else counter_by_word(tokenizer)


def word_for(counter: TokenCounter) -> str:
    """The format's word for a counter, "" where it has none."""
    known = (name for name, each in COUNTERS.items() if each.identity == counter.identity)
    return next(known, None) or word_of(counter)


def run_scenarios(
    path: Path,
    vault_root: Path | None = None,
    rules: str = "",
    tell: Callable[[Sequence[str]], object] = lambda _: None,
) -> list[dict[str, Any]]:
    """Run all scenarios of a file, in order, by these rules of DeepLore where they are given.

    `tell` is given sentences about fields and settings that no run knows, before the first one.

    Raises InputError, naming line and field, before anything is run where the file is wrong or a vault is missing.
    """
    records = read_records(path)
    for record in records:
        for number, vault in enumerate(record.scenario.vaults):
            problem = _vault_problem(vault, vault_root)
            if problem:
                raise record.error(problem, f"vaults.{number}.ref")
        try:
            counter_of(record.scenario.tokenizer)
        except TokenizerError as error:
            raise record.error(str(error), "tokenizer") from None
        try:
            kind = kind_of(record.scenario.system)
            scenario_format(kind).settings(kind, record.scenario)
        except (InputError, SettingsError) as error:
            field = "system" if isinstance(error, InputError) else "system_settings"
            raise record.error(getattr(error, "message", str(error)), field) from None
    tell([told for record in records for told in record.unheeded])
    given = {"rules": rules} if rules else {}
    return [run_scenario(record.scenario.model_copy(update=given), vault_root) for record in records]


def run_scenario(scenario: Scenario, vault_root: Path | None = None) -> dict[str, Any]:
    """Run all generations of a scenario; `{"id", "expected"}` in the format of the recorded runs.

    `vault_root` is the folder that holds the vaults that a scenario refers to. Raises InputError where one is missing.
    """
    return asyncio.run(_run(scenario, vault_root))


async def _run(scenario: Scenario, vault_root: Path | None) -> dict[str, Any]:
    sanitised = sanitise(scenario.raw_settings)
    settings, counter = sanitised.settings, counter_of(scenario.tokenizer)
    files = [_files(vault, vault_root) for vault in scenario.vaults]
    indexes = _indexes(scenario, files, counter)
    expected: dict[str, Any] = {"index": index_report(indexes[0], settings)}
    corrected = {key: value for key, value in sanitised.corrected.items() if key in scenario.settings}
    if corrected:
        expected["settings_corrected"] = corrected
    kind = kind_of(scenario.system)
    expected |= await scenario_format(kind).decided(kind, scenario, indexes, counter)
    for report, (before, now) in zip(expected["generations"], pairwise(indexes), strict=True):
        if now is not before:
            report["index"] = index_report(now, settings)
    return {"id": scenario.id, "expected": expected}


def _indexes(scenario: Scenario, files: Sequence[VaultFiles], counter: TokenCounter) -> list[VaultIndex]:
    """The vaults as they were read first, and then as each generation finds them."""
    raw = scenario.raw_settings
    state = state_of_files(files, sanitise(raw).settings, counter)
    found = [state.index]
    for generation in scenario.generations:
        raw |= generation.settings_patch
        files = [_edited(vault, generation.vault_patch, first=not place) for place, vault in enumerate(files)]
        if generation.reindex == "changes" and scenario.behaviour.kept_notes != FIXED:
            state = kept_as_indexed(state, files, sanitise(raw).settings, counter)
        elif generation.reindex:
            state = state_of_files(files, sanitise(raw).settings, counter)
        found.append(state.index)
    return found


def _edited(
    vault: VaultFiles, patch: Mapping[str, str | Mapping[str, str | None] | None], *, first: bool
) -> VaultFiles:
    """The vault's files with new texts in them, without those that are gone; new ones come last."""
    own = patch.get(vault.name)
    texts = {path: text for path, text in patch.items() if first and not isinstance(text, Mapping)}
    texts |= own if isinstance(own, Mapping) else {}
    if not texts:
        return vault
    after = {file.filename: file.text for file in vault.files} | texts
    notes = tuple(NoteFile(path, text) for path, text in after.items() if text is not None)
    return VaultFiles(vault.name, notes)


def _vault_problem(vault: ScenarioVault, root: Path | None) -> str:
    """Why the vault's files cannot be had, "" where they can."""
    if vault.ref is None:
        return ""
    if root is None:
        return (
            f"the vault “{vault.name}” is only referred to. Say with --vault-root in which folder “{vault.ref}” lies."
        )
    if not (root / vault.ref).is_dir():
        return f"there is no folder {root / vault.ref}. Name the folder that “{vault.ref}” lies in with --vault-root."
    if not real_path(root / vault.ref).is_relative_to(real_path(root)):
        return f"“{vault.ref}” leads out of {root}, and a scenario may read what lies in there only."
    return ""


def _files(vault: ScenarioVault, root: Path | None) -> VaultFiles:
    """The files of a scenario's vault, read from below `root` where it only refers to them."""
    if vault.files is not None:
        texts = dict(vault.files)  # of a path that stands twice, the last text counts
        return VaultFiles(vault.name, tuple(NoteFile(path, text) for path, text in texts.items()))
    problem = _vault_problem(vault, root)
    if problem or root is None or vault.ref is None:
        raise InputError("scenario", problem, field="vaults")
    return VaultFiles(vault.name, tuple(_walk(root / vault.ref, "")))


def _walk(folder: Path, prefix: str) -> Iterator[NoteFile]:
    """Files of a folder in code-unit order, then those of its sub-folders; a byte order mark stays."""
    try:
        children = sorted(folder.iterdir(), key=lambda path: path.name.encode("utf-16-be", "surrogatepass"))
        for path in children:
            if path.is_file() and path.name != "LICENSE":
                yield NoteFile(prefix + path.name, read_whole(path, MAX_FILE_BYTES).decode("utf-8", "replace"))
    except OSError as error:
        place = error.filename or folder
        raise InputError(place, f"the scenario's vault cannot be read: {error.strerror or error}.") from error
    for path in children:
        if path.is_dir() and not path.is_symlink():
            yield from _walk(path, f"{prefix}{path.name}/")
