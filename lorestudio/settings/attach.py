"""Settings of live capture. They belong to one computer and are kept beside the captures, see `studio.attach`."""

from __future__ import annotations

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
        low=0, high=65535,
    )  # fmt: skip
    keep_days: int = capture(
        14, "Days that captures are kept", "Older ones are deleted when a new one comes.", low=1, high=3650
    )
    keep_mebibytes: int = capture(
        200, "Room for captures, in MiB", "Where they take more, the oldest are deleted.", low=1, high=100_000
    )
    keep_auxiliary: bool = capture(
        True, "Keep what comes over the second address",
        "Requests of tools and of the AI selection. Without them a captured turn cannot be replayed with the real "
        "answers. They are passed on in any case.",
    )  # fmt: skip
