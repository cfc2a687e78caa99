"""The six settings that every AI tool of DeepLore has for its connection, worded once; and what a host is."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import urlsplit

from lorestudio.settings.declaration import Group

PROXY_URL: Final = "http://127.0.0.1:42069"

_MODES = {
    "profile": "A connection profile of SillyTavern.",
    "proxy": "A local proxy that speaks the Anthropic message format.",
}
_INHERITING = {"inherit": "The connection of AI selection.", **_MODES}


_REFUSED: Final = re.compile(
    r"localhost|metadata\.google\.internal|0\.0\.0\.0|10\..*|127\.(?!0\.0\.1$).*|169\.254\..*|192\.168\..*"
    r"|172\.(?:1[6-9]|2\d|3[01])\..*|100\.(?:6[4-9]|[7-9]\d|1[01]\d|12[0-7])\..*|::1|::ffff:.*|f[cd][\da-f]{2}:.*"
    r"|fe[89ab][\da-f]:.*|\d+|0x[\da-f]+|0\d+\..*",
    re.IGNORECASE,
)


def proxy_problem(url: str) -> str:
    """Why DeepLore refuses a proxy's address, "" where it takes it (rules: deeplore-tools 1.3.2)."""
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
    except ValueError:
        return f"“{url}” is no address."
    if parts.scheme not in ("http", "https") or not host:
        return f"“{url}” is no address of http or https."
    return f"The proxy's host “{host}” is refused; write 127.0.0.1." if _REFUSED.fullmatch(host) else ""


def own_mode(group: Group) -> str:
    """Declare which way requests of AI selection go."""
    return group("profile", "Connection", "Which way requests go.", choices=_MODES, advanced=True)


def inherited_mode(group: Group, *, checked: bool = False) -> str:
    """Declare which way a tool's requests go when it may share the connection of AI selection."""
    text = "Which way this tool's requests go."
    return group("inherit", "Connection", text, choices=_INHERITING, checked=checked, advanced=True)


def profile_id(group: Group) -> str:
    """Declare the connection profile's id."""
    text = "Identifies the SillyTavern connection profile that answers. Ids differ from installation to installation."
    return group("", "Profile id", text, advanced=True, local=True)


def proxy_url(group: Group) -> str:
    """Declare the proxy's address."""
    text = "Where the proxy listens. Write 127.0.0.1: the name localhost is refused."
    return group(PROXY_URL, "Proxy address", text, affects=(), advanced=True, local=True)


def model(group: Group) -> str:
    """Declare a model in place of the connection's own."""
    return group("", "Model", "Asks this model; empty means the connection's own.", advanced=True, local=True)


def reply_limit(group: Group, default: int, low: int, high: int) -> int:
    """Declare the longest answer, in tokens."""
    text = "Longest answer the model may give. An answer that is cut off cannot be read, so leave room."
    return group(default, "Reply limit", text, unit="tokens", low=low, high=high, advanced=True)


def timeout(group: Group, default: int, low: int) -> int:
    """Declare how long to wait for an answer, in milliseconds."""
    text = "How long to wait for an answer before the request counts as failed."
    return group(default, "Timeout", text, unit="ms", low=low, high=999_999, advanced=True)
