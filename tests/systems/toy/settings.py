"""What can be set about the toy."""

from __future__ import annotations

from lorestudio.settings.declaration import Group, Section

toy = Group("Toy")


class ToySettings(Section):
    """How far it looks, and how many notes it takes."""

    messages: int = toy(
        2, "Messages read", "So many of the newest messages are read for titles.",
        unit="messages", low=1, high=50, affects=["titles"],
    )  # fmt: skip
    most_notes: int = toy(3, "Most notes", "No more notes than this go in.", unit="entries", low=0, high=50,
                          affects=["the most urgent"])  # fmt: skip
