"""Commands for provider profiles: who can be asked, and how."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Final

import typer

from lorestudio.cli.answering import connections
from lorestudio.cli.command import command, command_group
from lorestudio.cli.options import DoItOption, JsonOption
from lorestudio.cli.output import FAILED, ask_first, echo, print_json, say, say_all, waited
from lorestudio.cli.screen import Screen, filled, fold, listing
from lorestudio.domain.records import picked
from lorestudio.exchange.problems import InputError
from lorestudio.settings.sections import naming_profile
from lorestudio.studio.project.answering import (
    PRESETS,
    RESERVED_NAMES,
    Api,
    Connections,
    KeySource,
    LlmError,
    Profile,
    try_profile,
)
from lorestudio.studio.project.files import own_folders
from lorestudio.studio.project.settings import SystemSettingsFiles
from lorestudio.systems.registry import KINDS
from lorestudio.trace.wording import plural

profiles = command_group(
    "Provider profiles: who can be asked, and how. Keys stay in the system's keyring or in your environment."
)

Name = Annotated[str, "<NAME>", "The name of the profile."]

_TOLD: Final = ("name", "api", "url", "model", "timeout_ms", "max_tokens")
_SHOWN: Final = 80
"""Characters of an answer that the test shows."""


@command(profiles, "list")
def list_profiles(*, as_json: JsonOption = False) -> None:
    """Show all profiles."""
    file = connections().load()
    if as_json:
        print_json([{**picked(each, *_TOLD), "key": _key_words(each)} for each in file.profiles], 1)
    elif not file.profiles:
        echo("There is no profile yet. To add one: lorestudio profiles add --help")
    else:
        rows = ((each.name, each.api.value, each.url, each.model, _key_words(each)) for each in file.profiles)
        Screen().print(filled(listing(*map(fold, ("name", "API", "URL", "model", "key"))), rows))
    say_all(file.problems)


def _key_words(profile: Profile) -> str:
    """Where the profile's key is; the key itself is never looked at."""
    if profile.key_source is KeySource.ENVIRONMENT:
        return f"{profile.key_variable} ({'set' if os.environ.get(profile.key_variable) else 'not set'})"
    return "in the keyring" if profile.key_source is KeySource.KEYRING else "none"


@command(profiles)
def add(
    name: Name,
    *,
    url: Annotated[
        str,
        "ADDRESS",
        "The server's address, such as http://127.0.0.1:11434/v1. Known by name: "
        f"{', '.join(preset.name for preset in PRESETS)}.",
    ] = "",
    model: Annotated[str, "The model's name at the provider."] = "",
    api: Annotated[
        Api | None, typer.Option(help="The kind of API the server speaks. Default: openai.", show_default=False)
    ] = None,
    key_variable: Annotated[str, "The name of the environment variable with the key."] = "",
    ask_key: Annotated[bool, "Ask for the key and keep it in the keyring."] = False,
    timeout_ms: Annotated[int | None, "How long to wait for an answer."] = None,
    max_tokens: Annotated[int | None, "The longest reply it may give."] = None,
    replace: Annotated[bool, "Put it in place of the profile of this name."] = False,
) -> None:
    """Add a profile."""
    known = connections()
    earlier = known.load().find(name)
    _check_new(name, earlier, replace=replace, ask_key=ask_key, key_variable=key_variable)
    preset = next((preset for preset in PRESETS if preset.name.lower() == name.lower()), None)
    if not url and preset is None:
        names = ", ".join(preset.name for preset in PRESETS)
        raise InputError("--url", f"the server's address is missing. Only these are known by name: {names}.")
    source = KeySource.ENVIRONMENT if key_variable else KeySource.KEYRING if ask_key else KeySource.NONE
    profile = Profile(
        name,
        api or (preset.api if preset is not None and not url else Api.OPENAI),
        url or (preset.url if preset is not None else ""),
        model,
        source,
        key_variable,
        timeout_ms,
        max_tokens,
    )
    profile.check_variable()
    if ask_key:
        _ask_key(known, name)
    elif earlier is not None and earlier.key_source is KeySource.KEYRING:
        with _keyring("keyring"):
            known.keys.delete(name)
    known.put(profile, name)
    echo(f"The profile “{name}” is kept in {known.path}; {_KEPT[source].format(variable=key_variable)}.")
    if not model:
        say("it names no model, and most servers want one: add --model and --replace.")
    if preset is not None and preset.key_source is not KeySource.NONE and source is KeySource.NONE:
        say(f"{preset.name} asks for a key: add --ask-key or --key-variable, and --replace.")


_KEPT: Final = {
    KeySource.NONE: "it uses no key",
    KeySource.KEYRING: "its key is in the keyring",
    KeySource.ENVIRONMENT: "its key is read from the environment variable {variable}",
}


def _check_new(name: str, earlier: Profile | None, *, replace: bool, ask_key: bool, key_variable: str) -> None:
    """Raise InputError where the profile should not be made like this."""
    if name in RESERVED_NAMES:
        raise InputError("NAME", f"“{name}” names another source of answers. Choose another name.")
    if earlier is not None and not replace:
        raise InputError("NAME", f"there is a profile “{name}” already. Add --replace to put this one in its place.")
    if ask_key and key_variable:
        raise InputError("--ask-key", "the key can come from the keyring or from --key-variable, not from both.")


def _ask_key(known: Connections, name: str) -> None:
    """Ask for the key and keep it; where there is no keyring, say so before anybody types."""
    with _keyring("--ask-key"):
        known.keys.check()
        known.keys.store(name, typer.prompt(f"Key for “{name}” (not shown)", hide_input=True, err=True))


@contextmanager
def _keyring(subject: str) -> Iterator[None]:
    """Raise InputError for what the keyring refuses."""
    try:
        yield
    except LlmError as error:
        hint = " On the command line: --key-variable NAME." if subject == "--ask-key" else ""
        raise InputError(subject, f"{error.advice}{hint}") from error


def _found(known: Connections, name: str) -> Profile:
    file = known.load()
    profile = file.find(name)
    if profile is None:
        say_all(file.problems)
        raise InputError("NAME", f"there is no profile “{name}”. To see all: lorestudio profiles list")
    return profile


@command(profiles)
def remove(name: Name, yes: DoItOption = False) -> None:
    """Remove a profile and its key, after asking you."""
    known = connections()
    profile = _found(known, name)
    ask_first(f"Remove the profile “{name}” and its key?", yes=yes)
    _written, key_left = known.remove(profile)
    echo(f"The profile “{name}” is removed.")
    kept = SystemSettingsFiles(own_folders()["Settings folder"] / "systems").read().values
    for system, each in kept.items():
        for naming in naming_profile(each, name):
            say(f"“{naming.title}” in the settings of {KINDS.title(system)} still names it. Choose another there.")
    chats, writes = _chosen_in_window(name)
    if chats:
        say(f"{plural(chats, '# chat|# chats')} chose it in the window for the answers. Choose another there.")
    if writes:
        say("it wrote the replies in the window. Choose at “Reply” there who writes them.")
    if key_left is not None:
        say(f"its key may still be in the keyring. {key_left.advice}")
        raise typer.Exit(FAILED)


def _chosen_in_window(name: str) -> tuple[int, bool]:
    """How many chats chose the profile in the window, and whether it writes replies.

    Its file is Qt's, which need not be installed here.
    """
    try:
        text = (own_folders()["Settings folder"] / "window.ini").read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return 0, False
    except OSError as error:
        say(f"who chose it in the window could not be read: {error}")
        return 0, False
    spelled = name.replace("\\", "\\\\").replace('"', '\\"')
    chats = sum(value.split("|", 3)[3:] == [spelled] for _, value in _window_values(text, "runs"))
    return chats, ("writer", spelled) in _window_values(text, "chat")


def _window_values(text: str, section: str) -> list[tuple[str, str]]:
    lines = f"\n{text}".partition(f"\n[{section}]\n")[2].partition("\n[")[0].split("\n")
    pairs = (line.partition("=") for line in lines)
    return [(key, value.removeprefix('"').removesuffix('"')) for key, _, value in pairs]


@command(profiles)
def test(name: Name) -> None:
    """Ask the provider for one word and say how long it took."""
    known = connections()
    profile = _found(known, name)
    reply = waited(try_profile(profile, known))
    said = " ".join(reply.text.split())[:_SHOWN] or "(nothing)"
    echo(f"“{profile.name}” answered in {reply.duration_ms:,.0f} ms: {said}")
    say_all(reply.notes)
