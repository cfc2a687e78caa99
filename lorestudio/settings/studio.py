"""The studio's own settings beside those of the systems: of live capture, which belong to one computer and are kept
beside the captures (see `studio.attach`), and what the answers about a chat rest on, kept beside the chat (see
`studio.project.basis`).
"""

from __future__ import annotations

from typing import Final

from lorestudio.settings.declaration import Group, Section

capture = Group("Live capture", local=True)


class AttachSettings(Section):
    """Where requests go, and how long copies of them stay."""

    provider: str = capture(
        "", "Provider",
        "The real address that SillyTavern would be given, such as https://openrouter.ai/api/v1 or "
        "http://127.0.0.1:5001. Everything is passed on to it, and nowhere else.",
    )  # fmt: skip
    port: int = capture(
        0, "Port", "The port of the loopback address that is listened at. 0: a free one, chosen once and kept.",
        low=0, high=65535, least="a free one",
    )  # fmt: skip
    keep_days: int = capture(
        14, "Captures are kept for", "Older ones are deleted when a new one comes.", unit="days", low=1, high=3650
    )
    keep_mebibytes: int = capture(
        200, "Room for captures", "Where they take more, the oldest are deleted.", unit="MiB", low=1, high=100_000
    )
    keep_auxiliary: bool = capture(
        True, "Keep what comes over the second address",
        "Requests of tools and of the AI selection. Without them a captured turn cannot be replayed with the real "
        "answers. They are passed on in any case.",
    )  # fmt: skip


STORED: Final = "stored"
HANDED: Final = "handed"
ALONE: Final = "alone"
FOLLOWED: Final = "followed"

chat = Group("The chat", affects=("snapshot",))


class ChatBasis(Section):
    """How the messages before a reply are taken, and how much the model of the story holds."""

    history: str = chat(
        "then", "Messages that are hidden by now",
        "What counts for replies of the past. The reply to come always goes by what is hidden today.",
        choices={
            "then": "As it was then: a message was in sight until it was hidden.",
            "now": "As it is now: what is hidden today was always hidden.",
        },
        checked=True,
    )  # fmt: skip
    scan_text: str = chat(
        HANDED, "Text that is searched",
        "SillyTavern hands messages to extensions as regex scripts for the prompt left them, and with the text of "
        "attached files. Scripts are known from settings.json, from “Card, persona and prompt…” and from the card.",
        choices={HANDED: "As SillyTavern hands it over.", STORED: "As it is stored in the chat."},
        checked=True,
    )  # fmt: skip
    records: str = chat(
        ALONE, "What the chat recorded",
        "DeepLore writes beside each reply what went in. That tells what no file keeps: a model's choice, lots, and "
        "which entries were resting afterwards.",
        choices={
            ALONE: "The replay goes its own way; records are only compared.",
            FOLLOWED: "Each reply begins from what was recorded of those before it.",
        },
        checked=True,
        affects=("snapshot", "AI selection", "bookkeeping"),
    )  # fmt: skip
    context_size: int = chat(
        0, "Context size",
        "The room of the model that writes the story. It decides budgets in percent and the warning of lore that takes "
        "a large share. 0: as the prompt's own size or SillyTavern's settings.json say.",
        unit="tokens", low=0, high=10_000_000, least="not set", affects=("bookkeeping",),
    )  # fmt: skip
