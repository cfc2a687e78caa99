"""What a person said about a chat for looking back at it, in a small file beside the chat's own.

The file is JSON: the settings of `ChatBasis` by their keys where they differ from the defaults, and under `hidden` a
list of `[first, last, since]`: these messages are hidden for replies from message `since` on.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path

from msgspec import Struct, field

from lorestudio.domain.chat import Chat, first_difference
from lorestudio.domain.history import ChatHistory, HiddenSince, ranges_of, ranges_words
from lorestudio.domain.javascript import Json
from lorestudio.domain.records import grouped, replace
from lorestudio.exchange.problems import InputError
from lorestudio.settings.files import SettingsError, bytes_if_there, json_bytes, parse_json
from lorestudio.settings.sections import dump_section, section_of
from lorestudio.settings.studio import ChatBasis
from lorestudio.studio.project.files import write_bytes
from lorestudio.trace.wording import plural
from lorestudio.vault.files import LOOK_THERE, refused


class KeptBasis(Struct, frozen=True):
    """The settings, and since when messages are hidden, the last word last."""

    settings: ChatBasis = field(default_factory=ChatBasis)
    hidden: tuple[HiddenSince, ...] = ()

    def saying(self, first: int, last: int, since: int | None) -> KeptBasis:
        """The same with another word on these messages; None takes back what was said of them."""
        rest: list[HiddenSince] = []
        for each in self.hidden:
            if each.first < first:
                rest.append(replace(each, last=min(each.last, first - 1)))
            if each.last > last:
                rest.append(replace(each, first=max(each.first, last + 1)))
        said = [] if since is None else [HiddenSince(first, last, since)]
        return replace(self, hidden=tuple(sorted(rest + said)))

    def until(self, messages: int) -> KeptBasis:
        """The same for the first messages of the chat, which a branch begins with."""
        kept = (replace(each, last=min(each.last, messages - 1)) for each in self.hidden)
        return replace(self, hidden=tuple(each for each in kept if each.first <= each.last))

    def followed(self, before: Chat, after: Chat) -> KeptBasis:
        """The same for the chat after an edit that put in or took out messages at one place."""
        more = len(after.messages) - len(before.messages)
        if not more or not self.hidden:
            return self
        place = first_difference(before, after)

        def moved(number: int) -> int:
            return number if number < place else max(place, number + more)

        kept = (HiddenSince(moved(each.first), moved(each.last + 1) - 1, moved(each.since)) for each in self.hidden)
        return replace(self, hidden=tuple(each for each in kept if each.first <= each.last))


def basis_path(chat: Path) -> Path:
    """The file that belongs to the chat file `chat`."""
    return chat.with_name(f"{chat.stem}.lorestudio.json")


def load_basis(path: Path) -> KeptBasis:
    """What is kept in a file, the defaults without one. Waits for the disk. Raises SettingsError."""
    data = bytes_if_there(path)
    if data is None:
        return KeptBasis()
    document = parse_json(data, path)
    if not isinstance(document, Mapping):
        raise SettingsError(f"{path}: the file holds no object of settings. Expected something like {{}}.")
    values = {key: value for key, value in document.items() if key != "hidden"}
    return KeptBasis(section_of(values, ChatBasis, str(path)), _marks(document.get("hidden"), path))


def keep_basis(path: Path, basis: KeptBasis) -> None:
    """Keep it; a file that says nothing any more goes. Waits for the disk. Raises InputError."""
    if basis == KeptBasis():
        with refused(partial(InputError, path), f"the file cannot be removed: {{reason}}. {LOOK_THERE}"):
            path.unlink(missing_ok=True)
        return
    marks: list[Json] = [[each.first, each.last, each.since] for each in basis.hidden]
    write_bytes(path, json_bytes({**dump_section(basis.settings), **({"hidden": marks} if marks else {})}))


def basis_problems(basis: KeptBasis, chat: Chat) -> tuple[str, ...]:
    """Sentences about words on messages that are not hidden, so that they say nothing."""
    most = len(chat.messages) + 1000  # a file may say any number
    shown = [
        place
        for each in basis.hidden
        for place in range(each.first, min(each.last, max(each.first, most)) + 1)
        if place >= len(chat.messages) or not chat.messages[place].was_hidden
    ]
    if not shown:
        return ()
    shown = sorted(set(shown))
    are = plural(len(shown), "is hidden, but it is|are hidden, but they are")
    return (f"It is said since when {ranges_words(ranges_of(shown))} {are} not.",)


def _marks(value: Json, path: Path) -> tuple[HiddenSince, ...]:
    if value is None:
        return ()
    marks = [_mark(each) for each in value] if isinstance(value, list) else [None]
    if None in marks:
        raise SettingsError(f"{path}, “hidden”: expected a list of [first, last, since], three message numbers each.")
    return tuple(each for each in marks if each is not None)


def _mark(value: Json) -> HiddenSince | None:
    numbers = value if isinstance(value, list) else []
    if len(numbers) != 3:
        return None
    whole: list[int] = [each for each in numbers if isinstance(each, int) and not isinstance(each, bool) and each >= 0]
    return HiddenSince(*whole) if len(whole) == 3 and whole[0] <= whole[1] else None


class HiddenRow(Struct, frozen=True, order=True):
    """Messages that are hidden today, one after the other, of which the same is known.

    Replies from message `since` on did not see them; None: no reply saw them, because they were hidden at once.
    """

    first: int
    last: int
    since: int | None
    assumed: bool
    at_end: bool = False

    @property
    def messages(self) -> str:
        """Which ones, in words."""
        return ranges_words([(self.first, self.last)])

    @property
    def words(self) -> str:
        """Since when, in words."""
        text = "after the last reply" if self.at_end else f"for replies from #{self.since} on"
        if self.since is None:
            text = "since it was said" if self.first == self.last else "since they were said"
        return f"{text} (assumed)" if self.assumed else text


def hidden_rows(history: ChatHistory) -> tuple[HiddenRow, ...]:
    """What is known of all messages that are hidden today, in order."""
    found = grouped(((None if since <= place else since, assumed), place) for place, since, assumed in history.when)
    size = len(history.chat.messages)
    rows = (
        HiddenRow(first, last, since, assumed, since is not None and since >= size)
        for (since, assumed), places in found.items()
        for first, last in ranges_of(places)
    )
    return tuple(sorted(rows, key=lambda row: row.first))
