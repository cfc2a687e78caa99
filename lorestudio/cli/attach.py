"""`lorestudio attach`: listen between SillyTavern and its provider; `lorestudio captures`: what was kept of it."""

from __future__ import annotations

import asyncio
import signal
import threading
from typing import Annotated

from lorestudio.cli.answering import Answering
from lorestudio.cli.command import Limits, command, command_group
from lorestudio.cli.options import ChatOptions, DoItOption, JsonOption, OfflineRun
from lorestudio.cli.output import ask_first, echo, print_json, say, say_all
from lorestudio.cli.screen import Screen, filled, fixed, fold, listing, table
from lorestudio.domain.javascript import Json
from lorestudio.domain.records import picked, replace
from lorestudio.exchange.problems import InputError
from lorestudio.settings.sections import assigned
from lorestudio.settings.studio import AttachSettings
from lorestudio.studio.attach.captures import (
    Capture,
    Captures,
    arrived,
    attached,
    capture_text,
    capture_words,
    default_folder,
    load_attachment,
    steps,
)
from lorestudio.studio.attach.comparing import (
    ComparedCapture,
    PromptComparison,
    answered_words,
    beside_replies,
    captured_answers,
)
from lorestudio.studio.attach.endpoint import new_token
from lorestudio.studio.attach.finding import FoundLore
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.systems.registry import kind_of
from lorestudio.trace.wording import plural, time_words

captures = command_group(
    "What went through “lorestudio attach”: real prompts and answers, kept on this computer for you alone."
)

Names = Annotated[list[str], "<ID...>", "Ids as “captures list” shows them."]
Name = Annotated[str, "<ID>", "An id as “captures list” shows it, or its beginning."]


def attach(
    *,
    provider: Annotated[str, "URL", "The provider's real address. Default: the one used last."] = "",
    port: Annotated[int | None, Limits(0, 65535), "Default: the one used last."] = None,
    assignments: Annotated[
        list[str] | None, "--set", "NAME=VALUE", "Change keepDays, keepMebibytes or keepAuxiliary."
    ] = None,
    renew: Annotated[bool, "Make a new token: earlier addresses lead nowhere."] = False,
) -> None:
    """Listen on this computer between SillyTavern and its provider, until Ctrl+C.

    Give SillyTavern the address that is shown in the provider's place. Every byte goes on unchanged, to that provider
    alone; requests for text and their answers are kept for “lorestudio captures”, keys never are.
    """
    folder = default_folder()
    attachment = load_attachment(folder)
    settings = assigned(assignments or (), AttachSettings, attachment.settings)
    changed = {"provider": provider or settings.provider, "port": settings.port if port is None else port}
    attachment = replace(attachment, settings=settings.model_copy(update=changed))
    if renew:
        attachment = replace(attachment, token=new_token())
    kept = Captures(folder, attachment.settings)
    ended = threading.Event()
    told: list[str] = []

    def tell() -> None:
        sentence = arrived(endpoint)
        if told[-1:] != [sentence]:
            told.append(sentence)
            say(sentence)

    endpoint = attached(folder, attachment, kept, lambda: tell() if told else None)
    try:
        echo(f"{endpoint.address} passes everything on to {endpoint.provider}, unchanged.")
        for number, step in enumerate(steps(endpoint), 1):
            echo(f"{number}. {step}")
        tell()
        signal.signal(signal.SIGTERM, lambda *_what: ended.set())
        ended.wait()
    finally:
        endpoint.stop()
        say(f"{endpoint.address} leads nowhere now. Give SillyTavern its old address, or start this again.")


@command(captures, "list")
def list_captures(*, as_json: JsonOption = False) -> None:
    """List what was kept, the newest first."""
    store = Captures(default_folder())
    found = store.list()
    say_all(store.problems)
    if as_json:
        print_json([_json(each) for each in found])
    elif found:
        rows = ((f"{time_words(one.started_ms)}\n{one.id}", f"{one.path}\n{capture_words(one)}") for one in found)
        Screen().print(filled(listing(fixed("when, id"), fold("asked, what came")), rows))
        say(f"{plural(len(found), '# capture|# captures')}, {store.size() / 2**20:.1f} MiB in {store.folder}.")
    else:
        _say_none(store)


def _say_none(store: Captures) -> None:
    say(f"nothing was captured yet ({store.folder}). “lorestudio attach --provider URL” begins.")


@command(captures, "show")
def show_capture(name: Name, *, as_json: JsonOption = False) -> None:
    """Print a captured prompt message by message, and the answer."""
    capture = Captures(default_folder()).read(name)
    if as_json:
        print_json({**_json(capture), **picked(capture, "body", "answer")})
        return
    echo(f"{time_words(capture.started_ms)}  {capture.path}  {capture_words(capture)}")
    echo(f"\n{capture_text(capture)}")


@command(captures, "compare")
def compare_captures(
    given: ChatOptions,
    by: OfflineRun,
    *,
    keep_answers: Annotated[
        bool, "Answer AI selection from the captures, and record that beside the chat for --answers recorded."
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Say which reply of a chat each captured prompt made, and how its lore differs from the run of that turn.

    Nothing is asked of anybody. A prompt that made no reply of this chat is listed as what it seems to be.
    """
    project = given.project()
    store = Captures(default_folder())
    kept = store.list(whole=True)
    say_all((*project.problems, *store.problems))
    if keep_answers:
        project = by.adjusted(project)
        answers = captured_answers(kept, given.chat, kind_of(by.named(project)))
        simulator = Simulator(project, by.made(project, Answering(*answers)))
    else:
        simulator = by.simulator(project)
    if project.chat is None:
        raise InputError(given.chat, "there is no chat in it.")
    found = asyncio.run(beside_replies(simulator, kept, whole=keep_answers))
    if as_json:
        print_json([_matched_json(each) for each in found])
        return
    if not kept:
        _say_none(store)
        return
    rows = (
        (time_words(each.matched.capture.started_ms), each.made, each.because, "\n".join(each.lore)) for each in found
    )
    columns = (fixed("when"), fold("made"), fold("because"), fold("lore in the prompt and in the run"))
    Screen().print(filled(table(*columns), rows))
    turns = [each.turn for each in found if each.turn is not None]
    say(
        f"{plural(len(found), '# capture|# captures')}, {len(turns)} of replies in this chat; "
        f"{sum(each.agrees for each in turns)} with the same lore as the run."
    )
    if keep_answers:
        say(answered_words(simulator.traces.values()))


def _matched_json(each: ComparedCapture) -> dict[str, Json]:
    matched, turn = each.matched, each.turn
    generation = matched.generation
    found: dict[str, Json] = {
        "capture": matched.capture.id,
        "kind": matched.kind.value,
        "reply": None if generation is None else {"message": generation.message, "swipe": generation.swipe},
        "evidence": list(matched.evidence),
        "replaced": matched.replaced,
    }
    if turn is not None:
        found |= {
            "both": [_found_json(one, turn) for one in turn.both],
            "only_there": [_found_json(one, turn) for one in turn.only_there],
            "only_here": [picked(one, "entry", "title", "why") for one in turn.only_here],
            "unknown": [{"message": number, "line": line} for number, line in turn.unknown],
        }
    return found


def _found_json(one: FoundLore, turn: PromptComparison) -> dict[str, Json]:
    names = ("entry", "grade", "message", "start", "end", "role", "from_end")
    return {**picked(one, *names), "title": turn.titles[one.entry]}


@command(captures, "delete")
def delete_captures(
    names: Annotated[list[str] | None, "<ID...>", "Ids of “captures list”."] = None,
    *,
    everything: Annotated[bool, "--all", "Delete every capture."] = False,
    yes: DoItOption = False,
) -> None:
    """Delete captures for good."""
    if not (names or everything):
        raise InputError("ID", "say which captures: ids of “captures list”, or --all.")
    store = Captures(default_folder())
    wanted = store.ids() if everything else [store.path(each).stem for each in names or ()]
    if wanted:
        ask_first(f"Delete {plural(len(wanted), '# capture|# captures')} for good?", yes=yes)
    say(f"{store.delete(wanted)} deleted.")


@command(captures, "redact")
def redact_captures(names: Names) -> None:
    """Mask every letter and digit of these captures' texts for good; what was asked and how long stays."""
    store = Captures(default_folder())
    for each in names:
        say(f"{store.redact(store.read(each).id).id} was redacted.")


@command(captures, "prune")
def prune_captures(
    *,
    days: Annotated[int | None, Limits(1), "Keep those of so many days."] = None,
    mebibytes: Annotated[int | None, Limits(1), "Keep so many MiB."] = None,
) -> None:
    """Delete what is older or more than the settings say."""
    settings = load_attachment(default_folder()).settings
    given = {"keep_days": days or settings.keep_days, "keep_mebibytes": mebibytes or settings.keep_mebibytes}
    say(f"{Captures(default_folder(), settings.model_copy(update=given)).prune()} deleted.")


def _json(capture: Capture) -> dict[str, object]:
    names = ("id", "started_ms", "finished_ms", "first_byte_ms", "path", "auxiliary", "provider", "status", "reason")
    return picked(capture, *names, "ending", "problem", "redacted")
