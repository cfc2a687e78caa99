"""Wikilinks that lead to no entry (spec: deeplore-engine 1.9, 1.13)."""

from __future__ import annotations

from collections.abc import Iterator

from lorestudio.vault.lint.facts import VaultFacts, base_name
from lorestudio.vault.lint.model import Hit
from lorestudio.vault.lint.note import Note


def dead_links(note: Note, facts: VaultFacts) -> Iterator[Hit]:
    """L01: links whose target is no entry's title, each with what it leads to instead."""
    for link in note.entry.links:
        if link.lower() in facts.titles:
            continue
        shown = f"[[{link}]]" if link else "An empty link"
        yield Hit("L01", f"{shown} {_instead(link, facts)}.", "body", f"[[{link}")


def _instead(link: str, facts: VaultFacts) -> str:
    page = link.partition("#")[0].partition("^")[0].strip()
    if page != link and page.lower() in facts.titles:
        return f"names a part of “{page}”; DeepLore follows whole titles only"
    name = base_name(page)
    same_file = facts.by_file_name.get(name, ())
    if same_file:
        return f"is the file of the entry “{same_file[0].title}”; DeepLore follows titles only"
    left_out = facts.left_out.get(name)
    if left_out is not None:
        return f"leads to the note {left_out.filename}, which is no entry"
    near = facts.near(link) if link else ""
    return f"leads to no entry; there is “{near}”" if near else "leads to no entry"
