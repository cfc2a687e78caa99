"""Opening a chat file, whatever its kind."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from lorestudio.domain.records import replace
from lorestudio.exchange.chats.plain_text import read_plain_text
from lorestudio.exchange.chats.sillytavern import LoadedChat, parse_chat
from lorestudio.exchange.problems import InputError
from lorestudio.settings.files import read_whole
from lorestudio.vault.data_folder import refused
from lorestudio.vault.writer import digest_of


def chat_of_text(text: str, source: Path | str) -> LoadedChat:
    """A chat from its text: SillyTavern's lines of JSON where it begins so, else plain text. Raises InputError."""
    lines = text.removeprefix("\ufeff").lstrip().startswith("{")
    return parse_chat(text, source) if lines else read_plain_text(text, source)


def load_chat(path: Path) -> LoadedChat:
    """Read a SillyTavern chat (JSON lines) or plain text: by the file's ending, else by how its text begins.

    Raises InputError naming the file, and the line where its text is no UTF-8; in a `.jsonl` that line is broken, and
    the others are read.
    """
    with refused(partial(InputError, path), "the chat cannot be read: {reason}."):
        data = read_whole(path)
    if b"\0" in data:
        raise InputError(path, "this is no text. Open a SillyTavern chat file (.jsonl) or plain text (.txt).")
    jsonl = path.suffix.lower() == ".jsonl"
    try:
        # In lines of JSON a bad byte spoils its own line only.
        text = data.decode("utf-8", "surrogateescape" if jsonl else "strict")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        message = f"byte {error.start} of the file is not UTF-8. Save the chat as UTF-8 and open it again."
        raise InputError(path, message, line) from error
    plain = path.suffix.lower() == ".txt"
    loaded = parse_chat(text, path) if jsonl else read_plain_text(text, path) if plain else chat_of_text(text, path)
    return replace(loaded, document=replace(loaded.document, digest=digest_of(data)))
