"""Where Obsidian's Local REST API plugin listens."""

from __future__ import annotations

import ipaddress
from typing import Final
from urllib.parse import unquote, urlsplit

from msgspec import Struct

from lorestudio.vault.files import VaultError

HTTP_PORT: Final = 27123
HTTPS_PORT: Final = 27124


class ObsidianAddress(Struct, frozen=True):
    """Where a vault's plugin listens (rules: deeplore-tools 4.5).

    `any_certificate` accepts certificates that nobody vouches for; on this computer, where the plugin makes its own,
    they are always accepted.
    """

    name: str
    host: str = "127.0.0.1"
    port: int = HTTP_PORT
    https: bool = False
    any_certificate: bool = False

    @property
    def url(self) -> str:
        """The address without a path."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{'https' if self.https else 'http'}://{host}:{self.port}"

    @property
    def local(self) -> bool:
        """Whether the host is this computer."""
        if self.host.lower() == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False


def obsidian_address(place: str) -> ObsidianAddress:
    """`http://127.0.0.1:27123/Name`: the last part is what the vault is called here. Raises VaultError."""
    try:
        parts = urlsplit(place)
        port = parts.port or (HTTPS_PORT if parts.scheme == "https" else HTTP_PORT)
    except ValueError as error:
        raise VaultError(f"{place} is no address ({error}). Write it as http://127.0.0.1:27123") from error
    if not parts.hostname or parts.username or parts.password or parts.query:
        raise VaultError(f"{place} is no address of Obsidian's plugin. Write it as http://127.0.0.1:27123")
    name = unquote(parts.path.strip("/")) or "Obsidian"
    return ObsidianAddress(name, parts.hostname, port, parts.scheme == "https")
