"""Two windows on one vault know of each other."""

from __future__ import annotations

from pathlib import Path

from lorestudio.vault.file_lock import OpenVaults


def test_the_second_window_hears_of_the_first(tmp_path: Path) -> None:
    vault, other = tmp_path / "vault", tmp_path / "other"
    first, second = OpenVaults(tmp_path / "open"), OpenVaults(tmp_path / "open")
    assert first.show([vault]) == ()
    assert first.show([vault]) == ()  # it knows its own
    assert second.show([vault, other]) == (vault,)
    first.show([])
    assert second.show([vault, other]) == ()
    assert first.show([other]) == (other,)


def test_links_to_a_vault_are_the_same_vault(tmp_path: Path) -> None:
    (tmp_path / "real" / "vault").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "real")
    first, second = OpenVaults(tmp_path / "open"), OpenVaults(tmp_path / "open")
    assert not first.show([tmp_path / "real" / "vault"])
    assert second.show([tmp_path / "link" / "vault"])


def test_where_no_lock_can_be_made_nothing_is_said(tmp_path: Path) -> None:
    (tmp_path / "open").write_text("a file")
    assert OpenVaults(tmp_path / "open").show([tmp_path]) == ()
