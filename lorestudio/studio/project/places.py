"""Where a vault is: a folder, or Obsidian with its Local REST API plugin."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from lorestudio.exchange.problems import Belongs, WrongFileError
from lorestudio.llm.errors import LlmError
from lorestudio.llm.keys import Keys
from lorestudio.llm.profiles import KeySource, Profile
from lorestudio.settings.files import real_path
from lorestudio.vault.files import VaultError
from lorestudio.vault.obsidian_host import CircuitBreakers, ObsidianAddress, obsidian_address
from lorestudio.vault.sources import FolderSource, ObsidianSource, VaultSource, vault_name

KEY_VARIABLE: Final = "LORESTUDIO_OBSIDIAN_KEY"
"""The environment variable with the plugin's key, where it is not in the keyring."""


_USERS: Final = ("", "default-user", "data/default-user", "public")
"""Where the files of a user lie below the folder that people name: as it is, or as versions of it arrange it."""


def user_folders(folder: Path) -> Iterator[Path]:
    """The folders of SillyTavern's users in a folder that may be SillyTavern's. Waits for the disk."""
    users = (*(folder / name for name in _USERS), *sorted(folder.glob("data/*")))
    return (user for user in users if (user / "chats").is_dir())


def is_address(place: str) -> bool:
    """Whether the place is the address of Obsidian's plugin and no folder."""
    return place.startswith(("http://", "https://"))


def vault_sources(places: Sequence[str], keys: Keys | None = None) -> list[VaultSource]:
    """The sources of these places, each with a name of its own.

    Raises VaultError for an address that cannot be one, InputError for SillyTavern.
    """
    for folder in (Path(place) for place in places if not is_address(place)):
        if any((user / name).exists() for user in user_folders(folder) for name in ("settings.json", "worlds")):
            raise WrongFileError(folder, "this is SillyTavern's folder, and no vault", Belongs.SILLYTAVERN)
    breakers = CircuitBreakers()
    sources: dict[str, VaultSource] = {
        place: _obsidian(place, breakers, keys or Keys()) for place in places if is_address(place)
    }
    for place in places:
        if place not in sources:
            folder = real_path(Path(place))
            sources[place] = FolderSource(folder, vault_name(folder, {source.name for source in sources.values()}))
    return [sources[place] for place in places]


def obsidian_profile(address: ObsidianAddress) -> Profile:
    """Under what name the key of this vault's plugin is kept: by host and port, as several vaults need several keys."""
    name = f"Obsidian {address.host}:{address.port}"
    if os.environ.get(KEY_VARIABLE):
        return Profile(name, url=address.url, key_source=KeySource.ENVIRONMENT, key_variable=KEY_VARIABLE)
    return Profile(name, url=address.url, key_source=KeySource.KEYRING)


def keep_key(place: str, key: str, keys: Keys | None = None) -> None:
    """Keep the key of the plugin at this address in the keyring. Raises VaultError; waits for the keyring."""
    try:
        (keys or Keys()).store(obsidian_profile(obsidian_address(place)).name, key)
    except LlmError as error:
        raise VaultError(f"{error} Or set the environment variable {KEY_VARIABLE}.") from error


def _obsidian(place: str, breakers: CircuitBreakers, keys: Keys) -> ObsidianSource:
    from lorestudio.vault.obsidian import ObsidianVault  # noqa: PLC0415  # most vaults are folders

    address = obsidian_address(place)

    def read_key() -> str:
        try:
            secret = keys.read(obsidian_profile(address))
        except LlmError as error:
            advice = f"Enter it under “Open Obsidian vault…”, or set the environment variable {KEY_VARIABLE}."
            raise VaultError(f"The key for {address.url} cannot be read. {advice}") from error
        return "" if secret is None else secret.reveal()

    return ObsidianSource(ObsidianVault(address, read_key, breakers))
