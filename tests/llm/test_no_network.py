from __future__ import annotations

import socket

import pytest


@pytest.mark.parametrize("address", ["192.0.2.1", "2001:db8::1"])
def test_tests_connect_to_this_machine_only(address: str) -> None:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.socket(family) as line, pytest.raises(AssertionError, match="tried to connect"):
        line.connect((address, 80))


def test_tests_look_up_no_names() -> None:
    with pytest.raises(AssertionError, match="asked for the address"):
        socket.getaddrinfo("api.example.com", 443)
