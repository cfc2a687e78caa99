"""No test of this folder reaches beyond the machine it runs on."""

from __future__ import annotations

import ipaddress
import socket
from typing import Any

import pytest


def _refuse_others(host: object) -> None:
    name = host.decode() if isinstance(host, bytes) else str(host)
    if name != "localhost" and not (name[:1].isdigit() or ":" in name):
        raise AssertionError(f"a test asked for the address of {name}")
    if name != "localhost" and not ipaddress.ip_address(name).is_loopback:
        raise AssertionError(f"a test tried to connect to {name}")


@pytest.fixture(autouse=True)
def loopback_only(monkeypatch: pytest.MonkeyPatch) -> None:
    connect, getaddrinfo = socket.socket.connect, socket.getaddrinfo

    def guarded_connect(self: socket.socket, address: Any) -> None:
        if self.family in (socket.AF_INET, socket.AF_INET6):
            _refuse_others(address[0])
        connect(self, address)

    def guarded_getaddrinfo(host: Any, *rest: Any, **options: Any) -> Any:
        _refuse_others(host)
        return getaddrinfo(host, *rest, **options)

    monkeypatch.setattr(socket.socket, "connect", guarded_connect)
    monkeypatch.setattr(socket, "getaddrinfo", guarded_getaddrinfo)
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
