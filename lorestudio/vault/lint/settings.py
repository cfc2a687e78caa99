"""DeepLore's settings, alone and against the vault (rules: deeplore-tools 3.3)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct

from lorestudio.domain.entry import VaultIndex
from lorestudio.domain.javascript import Json, trim, truthy
from lorestudio.settings.deeplore import DeepLoreSettings, declarations, setting_value
from lorestudio.settings.rules import NEW
from lorestudio.vault.entries import NEWER_FIELDS
from lorestudio.vault.lint.model import Hit

SMALL_BUDGET: Final = 200
PROMPTS: Final = "DeepLore/prompts/"


class SettingsFile(Struct, frozen=True):
    """A settings file as it was read: what DeepLore makes of it, and its list of vaults, None where it has none."""

    settings: DeepLoreSettings
    vaults: Json = None


def settings_checks(
    settings: DeepLoreSettings, index: VaultIndex, file: SettingsFile | None, about: str = "≈ "
) -> Iterator[Hit]:
    """S01 to S10, S51 to S56, Z03, Z52. With an empty index only what concerns the settings themselves is looked at."""
    if file is not None:
        yield from _vaults(file.vaults)
        yield from _connections(file.settings)
    yield from _values(settings)
    yield from _tags(settings)
    yield from _versions(settings, index)
    if index.entries:
        yield from _constants(settings, index, about)


def _vaults(vaults: Json) -> Iterator[Hit]:
    if not isinstance(vaults, Sequence) or isinstance(vaults, str):
        return
    known = [vault for vault in vaults if isinstance(vault, Mapping)]
    enabled = [vault for vault in known if truthy(vault.get("enabled"))]
    if not enabled:
        yield Hit("S01", "No vault is switched on in the settings.", "vaults")
    for vault in enabled:
        key = vault.get("apiKey")
        if not (isinstance(key, str) and trim(key)):
            yield Hit("S02", f"The vault “{vault.get('name') or 'without a name'}” has no key.", "vaults")


def _connections(settings: DeepLoreSettings) -> Iterator[Hit]:
    if settings.ai_search_enabled:
        mode = settings.ai_search_connection_mode
        if mode == "profile" and not settings.ai_search_profile_id:
            if settings.ai_search_mode == "ai-only":
                yield Hit("S04", "AI selection uses a connection profile, and none is named.", "aiSearchProfileId")
            else:
                yield Hit("S52", "AI selection uses a connection profile, and none is named.", "aiSearchProfileId")
        if mode == "proxy" and not trim(settings.ai_search_proxy_url):
            yield Hit("S05", "AI selection uses a proxy, and its address is empty.", "aiSearchProxyUrl")
    if settings.scribe_enabled:
        if settings.scribe_connection_mode == "profile" and not settings.scribe_profile_id:
            yield Hit("S06", "The scribe uses a connection profile, and none is named.", "scribeProfileId")
        if settings.scribe_connection_mode == "proxy" and not trim(settings.scribe_proxy_url):
            yield Hit("S07", "The scribe uses a proxy, and its address is empty.", "scribeProxyUrl")


def _values(settings: DeepLoreSettings) -> Iterator[Hit]:
    if settings.scan_depth == 0 and not settings.ai_search_enabled:
        yield Hit("S03", "The scan depth is 0 and AI selection is off, so no entry can match.", "scanDepth")
    elif settings.scan_depth == 0 and settings.ai_search_mode == "two-stage":
        yield Hit("S53", "The scan depth is 0, so the AI is offered constants at most.", "scanDepth")
    if not settings.unlimited_budget and settings.max_tokens_budget < SMALL_BUDGET:
        yield Hit("S08", f"The token budget is {settings.max_tokens_budget}.", "maxTokensBudget")
    if settings.recursive_scan and settings.max_recursion_steps == 1:
        yield Hit("S09", "Recursion is on with a single step.", "maxRecursionSteps")
    if settings.cache_ttl == 0:
        yield Hit("S10", "The vault is fetched before every generation.", "cacheTTL")


def _versions(settings: DeepLoreSettings, index: VaultIndex) -> Iterator[Hit]:
    """S54 to S56: what only the rules of another version know."""
    if settings.rules.startswith(NEW):
        if settings.ai_search_enabled and settings.ai_search_connection_mode == "proxy":
            yield Hit("S56", "AI selection uses a proxy, and DeepLore 2.6 has none.", "aiSearchConnectionMode")
        return
    for each in declarations():
        if each.since and each.affects and setting_value(settings, each) != each.default:
            told = f"“{each.title}” has no effect under the rules of {settings.rules}."
            yield Hit("S54", told, each.alias)
    sign = sign_of_newer(index)
    if sign:
        yield Hit("S55", sign, "rules")


def sign_of_newer(index: VaultIndex) -> str:
    """What in the vault shows DeepLore 2.5 or later, in a sentence; "" for nothing (rules: deeplore-newer 4)."""
    for entry in index.entries:
        field = next((name for name in entry.system_fields if name in NEWER_FIELDS), "")
        if field:
            return f"“{entry.filename}” has the field {field}, which only DeepLore 2.5 and later reads."
    files = [*(each.filename for each in index.entries), *(each.filename for each in index.left_out)]
    prompt = next((name for name in files if name.startswith(PROMPTS)), "")
    return f"There is “{prompt}”: only DeepLore 2.5 and later reads instructions there." if prompt else ""


def _tags(settings: DeepLoreSettings) -> Iterator[Hit]:
    meanings: dict[str, list[str]] = {}
    for title, tag in (
        ("entries", settings.lorebook_tag), ("constants", settings.constant_tag),
        ("notes that are never inserted", settings.never_insert_tag), ("seeds", settings.seed_tag),
        ("bootstrap entries", settings.bootstrap_tag), ("guides", settings.librarian_guide_tag),
    ):  # fmt: skip
        if tag:
            meanings.setdefault(tag.lower(), []).append(title)
    for tag, titles in meanings.items():
        if len(titles) > 1:
            yield Hit("S51", f"The tag “{tag}” stands for {' and '.join(titles)}.")


def _constants(settings: DeepLoreSettings, index: VaultIndex, about: str) -> Iterator[Hit]:
    constants = [entry for entry in index.entries if entry.constant and not entry.guide and not entry.outlet]
    tokens = sum(entry.tokens for entry in constants)
    if not settings.unlimited_budget and tokens > settings.max_tokens_budget:
        told = f"The {len(constants)} constants have {about}{tokens:,} tokens"
        yield Hit("Z03", f"{told}; the budget is {settings.max_tokens_budget:,}.", "maxTokensBudget")
    if not settings.unlimited_entries and len(constants) >= settings.max_entries:
        told = f"There are {len(constants)} constants, and at most {settings.max_entries} entries go in."
        yield Hit("Z52", told, "maxEntries")
