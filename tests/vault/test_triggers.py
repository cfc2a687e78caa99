"""How often the vaults are looked at unasked."""

from __future__ import annotations

from lorestudio.settings.deeplore import sanitise
from lorestudio.vault.index import polling_seconds


def test_polling() -> None:
    assert polling_seconds(sanitise({}).settings) is None
    assert polling_seconds(sanitise({"syncPollingInterval": 30}).settings) == 30
