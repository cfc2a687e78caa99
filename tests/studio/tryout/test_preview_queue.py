"""While somebody types: one preview at a time, and always of the newest text."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any, cast

import pytest

from lorestudio.domain.lifecycle import Cancelled, CancelToken
from lorestudio.studio.tryout.preview import Preview, Previewer
from lorestudio.studio.tryout.preview_queue import PreviewQueue
from lorestudio.vault.edited_vaults import NoteText
from tests.studio.previews import note


class Slow:
    """Stands for a previewer: what is previewed is the text itself, after `during` was called with it."""

    def __init__(self, during: Callable[[str], object] = lambda _: None, *, looks: bool = True) -> None:
        self.during = during
        self.looks = looks
        self.begun: list[str] = []

    def preview(self, notes: Sequence[NoteText], cancel: CancelToken, _settings: object = None) -> Preview:
        text = notes[0].text or ""
        self.begun.append(text)
        self.during(text)
        if self.looks and cancel.cancelled:
            raise Cancelled
        return cast("Preview", text)


def submit(queue: PreviewQueue, slow: Slow, text: str) -> bool:
    return queue.submit(cast("Previewer", slow), [note("a.md", text)])


def test_one_text_after_another() -> None:
    queue, slow, told = PreviewQueue(), Slow(), list[Any]()
    for text in "ab":
        assert submit(queue, slow, text)
        assert not queue.idle
        queue.work(told.append)
        assert queue.idle
    assert told == ["a", "b"]


def test_a_newer_text_takes_the_place_of_one_that_waits() -> None:
    queue, slow, told = PreviewQueue(), Slow(), list[Any]()
    assert [submit(queue, slow, text) for text in "abc"] == [True, False, False]
    queue.work(told.append)
    assert (slow.begun, told) == (["c"], ["c"])


@pytest.mark.parametrize("looks", [True, False])
def test_a_newer_text_stops_the_preview_under_way(looks: bool) -> None:
    """Also where the preview comes to its end before it looks."""
    queue, told = PreviewQueue(), list[Any]()
    slow = Slow(lambda text: text == "a" and [submit(queue, slow, newer) for newer in "bc"], looks=looks)
    submit(queue, slow, "a")
    queue.work(told.append)
    assert (slow.begun, told) == (["a", "c"], ["c"])
    assert queue.idle


def test_what_is_cancelled_is_not_reported() -> None:
    queue, told = PreviewQueue(), list[Any]()
    slow = Slow(lambda _: queue.cancel(), looks=False)
    submit(queue, slow, "a")
    queue.work(told.append)
    assert (slow.begun, told, queue.idle) == (["a"], [], True)
    submit(queue, slow, "b")
    queue.cancel()
    queue.work(told.append)
    assert (slow.begun, told, queue.idle) == (["a"], [], True)


def test_a_failure_is_told_and_the_next_text_starts_afresh() -> None:
    def fail(text: str) -> None:
        if text == "a":
            raise OSError("gone")

    queue, slow, told = PreviewQueue(), Slow(fail), list[Any]()
    submit(queue, slow, "a")
    with pytest.raises(OSError, match="gone"):
        queue.work(told.append)
    assert queue.idle
    assert submit(queue, slow, "b")
    queue.work(told.append)
    assert told == ["b"]


def test_the_failure_of_an_overtaken_preview_does_not_count() -> None:
    def fail(text: str) -> None:
        if text == "a":
            submit(queue, slow, "b")
            raise OSError("gone")

    queue, slow, told = PreviewQueue(), Slow(fail), list[Any]()
    submit(queue, slow, "a")
    queue.work(told.append)
    assert (told, queue.idle) == (["b"], True)


def test_typing_in_one_thread_and_previews_in_others() -> None:
    """However the threads interleave, at most one is at work, reports never go back, and the last text is shown."""
    queue, told, threads = PreviewQueue(), list[Any](), list[threading.Thread]()
    at_work = threading.Semaphore(1)

    def during(_text: str) -> None:
        assert at_work.acquire(blocking=False)
        at_work.release()

    slow = Slow(during)
    for number in range(300):
        if submit(queue, slow, str(number)):
            threads.append(threading.Thread(target=queue.work, args=(told.append,)))
            threads[-1].start()
    for thread in threads:
        thread.join()
    numbers = [int(text) for text in told]
    assert numbers == sorted(set(numbers))
    assert numbers[-1] == 299
    assert queue.idle
