"""Recap memory: recaps of messages and scenes, and one running recap that goes into every prompt.

Everything is kept in the chat file under the names of the original (rules: recap-memory 2, 4), so that a chat goes to
and fro between the two. Messages are handled as records, the JSON objects of the chat file; nothing here changes one in
place. Where description and extension differ, the decisions of (rules: recap-memory 22) hold.
"""

from typing import Final

NAME: Final = "recap"
TITLE: Final = "Recap memory"
SUMMARY: Final = "What the chat remembers of itself: the running recap goes in, made of recaps of scenes."
