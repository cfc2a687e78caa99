"""`lorestudio basis`: what the answers about a chat rest on, and since when its messages are hidden."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from lorestudio.cli.command import Limits
from lorestudio.cli.options import JsonOption, NeededChat
from lorestudio.cli.output import print_json, say, say_all
from lorestudio.cli.screen import Screen, figure, filled, fixed, fold, listing
from lorestudio.domain.history import ChatHistory, HistoryRule
from lorestudio.domain.records import picked, replace
from lorestudio.exchange.problems import InputError
from lorestudio.settings.declaration import declared
from lorestudio.settings.sections import assigned
from lorestudio.settings.studio import ChatBasis
from lorestudio.studio.project.basis import KeptBasis, basis_path, basis_problems, hidden_rows, keep_basis, load_basis
from lorestudio.studio.project.project import read_chat
from lorestudio.studio.replay.ranges import MessageRange


def basis(
    chat: NeededChat,
    *,
    hidden: Annotated[str | None, "A-B", "Messages that you say more about with --since."] = None,
    since: Annotated[int | None, Limits(0), "Replies from message N on did not see them; 0: none did."] = None,
    forget: Annotated[str | None, "A-B", "Take back what was said of these messages."] = None,
    assignments: Annotated[
        list[str] | None, "--set", "NAME=VALUE", "Keep a setting of the chat: history, scanText, records, contextSize."
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Show or change what answers about a chat rest on: since when messages are hidden, texts, context size.

    It is kept in a file beside the chat; the chat's own file is left as it is.
    """
    loaded = read_chat(chat.expanduser())
    path = basis_path(chat.expanduser())
    before = kept = load_basis(path)
    if (hidden is None) != (since is None):
        raise InputError("--hidden", "it goes together with --since: these messages, hidden since that one.")
    count = len(loaded.chat.messages)
    if since is not None and since > count:
        raise InputError("--since", f"the chat has no message #{since}; #{count} is the reply to come.")
    if hidden is not None:
        first, last = MessageRange.parse(hidden, "--hidden").ends(count)
        if last >= count:
            raise InputError("--hidden", f"the chat has no message #{last}; its last one is #{count - 1}.")
        kept = kept.saying(first, last, since)
    if forget is not None:
        kept = kept.saying(*MessageRange.parse(forget, "--forget").ends(count), None)
    kept = replace(kept, settings=assigned(assignments or (), ChatBasis, kept.settings))
    if kept != before:
        keep_basis(path, kept)
        say(f"kept in {path}.")
    say_all(basis_problems(kept, loaded.chat))
    history = ChatHistory(loaded.chat, HistoryRule(kept.settings.history), kept.hidden)
    rows = hidden_rows(history)
    if as_json:
        told = [picked(each, "first", "last", "since", "assumed") for each in rows]
        print_json({"settings": kept.settings.model_dump(), "hidden": told})
        return
    console = Screen()
    console.print(
        filled(
            listing(fixed("name"), fold("setting"), fixed("value"), fold("what it means")),
            ((each.alias, each.title, *_value(kept, each.name, each.choices)) for each in declared(ChatBasis)),
        )
    )
    if rows:
        shown = listing(fixed("hidden today"), figure("messages"), fold("since when"))
        console.print(filled(shown, ((each.messages, str(each.last - each.first + 1), each.words) for each in rows)))
    else:
        say("no message that was said in the story is hidden.")


def _value(kept: KeptBasis, name: str, choices: Mapping[str | int, str]) -> tuple[str, str]:
    value = getattr(kept.settings, name)
    return str(value), choices.get(value, "as the prompt's settings or SillyTavern's say" if not value else "tokens")
