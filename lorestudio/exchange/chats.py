"""Opening a chat file, whatever its kind."""

from __future__ import annotations

from pathlib import Path

from lorestudio.exchange.plain_text_chat import parse_plain_text
from lorestudio.exchange.problems import InputError
from lorestudio.exchange.sillytavern_chat import LoadedChat, parse_chat


def load_chat(path: Path) -> LoadedChat:
    """Read a SillyTavern chat (JSON lines), or plain text where the first line is no JSON.

    Raises InputError naming the file, and the byte where its text is no UTF-8.
    """
    try:
        text = path.read_bytes().decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(path, f"byte {error.start} is not UTF-8. Save the chat as UTF-8 and open it again.") from error
    except OSError as error:
        raise InputError(path, f"the chat cannot be read: {error.strerror or error}.") from error
    if text.removeprefix("\ufeff").lstrip().startswith("{"):
        return parse_chat(text, path)
    return LoadedChat(parse_plain_text(text, path))
