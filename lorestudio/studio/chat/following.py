"""The chat's file while another program writes it: what it says now."""

from __future__ import annotations

from lorestudio.exchange.chats.document import LineKind
from lorestudio.exchange.problems import InputError
from lorestudio.studio.project.project import Project
from lorestudio.vault.writer import digest_of


def with_chat_reread(project: Project) -> Project | None:
    """The project with its chat as the file has it now; None where that is the same, or not whole at the moment.

    Waits for the disk. A file that is gone, or whose last line is still being written, will be heard of again.
    """
    path, document = project.chat_path, project.document
    try:
        if path is None or document is None or digest_of(path.read_bytes()) == document.digest:
            return None
        read = project.with_chat(path)
    except (OSError, InputError):
        return None
    lines = read.document.lines if read.document is not None else ()
    return None if not lines or lines[-1].kind is LineKind.BROKEN else read
