"""What is kept of an exchange, for whom, and for how long."""

from __future__ import annotations

import asyncio
import base64
import errno
import gzip
import json
import os
import stat
import sys
from pathlib import Path
from time import time_ns
from typing import Any

import brotli
import pytest

from lorestudio.domain.records import replace
from lorestudio.exchange.problems import InputError
from lorestudio.llm.redaction import MASK
from lorestudio.settings.studio import AttachSettings
from lorestudio.studio.attach.captures import (
    Attachment,
    Capture,
    Captures,
    arrived,
    attached,
    capture_of,
    capture_text,
    capture_words,
    load_attachment,
    redacted,
    steps,
)
from lorestudio.studio.attach.endpoint import Endpoint, new_token
from lorestudio.studio.attach.exchange import MAX_REPLY, TEXT, Exchange, ExchangeEnd, read_prompt, read_replies
from tests.studio.attach.loopback import ask, provider, whole
from tests.studio.attach.test_endpoint import KEY, ROWS, request


def capture(number: int = 1, age_days: float = 0, body: str = "{}") -> Capture:
    started = time_ns() // 1_000_000 - int(age_days * 86_400_000)
    return Capture(f"{started}-{number:06x}", started, started + 5, "/v1/chat/completions", body=body)


def test_no_key_and_no_token_come_to_the_disk(tmp_path: Path) -> None:
    """Keys in headers of any name, in the address, in bodies and in the provider's complaint."""
    said = f'{{"error":{{"message":"Incorrect API key provided: {KEY}"}}}}'.encode()
    with provider(whole(gzip.compress(said), "401 No", "Content-Encoding: gzip")) as made:
        settings = AttachSettings(provider=f"http://127.0.0.1:{made.port}/v1")
        captures = Captures(tmp_path)
        endpoint = attached(tmp_path, Attachment(settings, new_token()), captures)
        body = json.dumps({"prompt": "Dusk", "api_server": endpoint.address, "own": KEY, "png": "iVBOR" * 300}).encode()
        for more in ({"authorization": f"Bearer {KEY}"}, {"x-api-key": KEY}, {"x-my-secret": KEY}, {"x-upstream": KEY}):
            ask(endpoint.port, request(endpoint, "/v1/completions", body, **more))[0].close()
        target = f"/v1beta/models/g:generateContent?key={KEY}&alt=sse"
        ask(endpoint.port, request(endpoint, target, body))[0].close()
        endpoint.stop()
        assert made.bodies == [body] * 5
        assert KEY.encode() in made.heads[-1]
    found = [path for path in tmp_path.rglob("*") if path.is_file()]
    for path in found:
        text = path.read_text("ascii")
        assert KEY not in text
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert path.name == "attach.json" or endpoint.token not in text
    assert stat.S_IMODE(captures.folder.stat().st_mode) == 0o700
    kept = [captures.read(each.id) for each in captures.list()]
    assert len(kept) == 5
    assert {each.status for each in kept} == {401}
    assert "Dusk" in kept[0].body
    assert "1500 characters of base64" in kept[0].body
    assert "•••" in kept[0].answer
    assert kept[0].query == "key=•••&alt=•••"
    again = load_attachment(tmp_path)
    assert (again.token, again.settings.port) == (endpoint.token, endpoint.port)


ODD_KEY = "sk-Lantern/0123+abc=="
BEARER = ("authorization", f"Bearer {ODD_KEY}")
PACKED = base64.b64encode(f"me:{ODD_KEY}".encode()).decode()


@pytest.mark.parametrize(
    ("header", "seen"),
    [
        (BEARER, {"status": 401, "reason": f"bad key {ODD_KEY}"}),
        (BEARER, {"problem": f"did not answer (illegal header line: {ODD_KEY})"}),
        (BEARER, {"path": f"/v1/{ODD_KEY}/completions"}),
        (BEARER, {"answer": bytearray(ODD_KEY.replace("/", r"\/").encode())}),
        (BEARER, {"answer_headers": ((b"content-encoding", ODD_KEY.encode()),)}),
        (("authorization", f"Bearer\t{ODD_KEY}"), {"answer": bytearray(ODD_KEY.encode())}),
        (("authorization", f"Basic {PACKED}"), {"answer": bytearray(ODD_KEY.encode())}),
        (("authorization", f"Basic {PACKED}"), {"answer": bytearray(PACKED.encode())}),
        (("authorization", f"Basic no base64: {ODD_KEY}"), {"answer": bytearray(ODD_KEY.encode())}),
    ],
)
def test_no_key_is_kept_in_what_is_said_of_an_exchange(header: tuple[str, str], seen: dict[str, Any]) -> None:
    headers = (tuple(each.encode() for each in header),)
    kept = capture_of(Exchange("POST", **{"path": "/v1/completions", **seen}, headers=headers), "token", "http://p")
    shown = f"{kept!r}{kept.body}{kept.answer}".replace("\\", "").casefold()
    assert MASK in shown
    assert ODD_KEY.casefold() not in shown


def test_a_parameter_of_any_name_has_a_key_where_its_value_looks_like_one() -> None:
    key = "9f86d081884c7d659a2feaa0c55ad015"
    asked = Exchange("POST", "/v1/completions", query=f"model=claude-3-5-sonnet-20241022&upstream={key}")
    assert set(asked.keys) == {key}


@pytest.mark.parametrize(
    ("name", "value", "keys"),
    [
        (b"x-upstream", b"Bearer lamplighter", ("lamplighter",)),
        (b"x-upstream", b"9f86d081884c7d659a2feaa0c55ad015", ("9f86d081884c7d659a2feaa0c55ad015",)),
        (b"x-upstream", b"1b4e28ba-2fa1-11d2-883f-0016d3cca427", ("1b4e28ba-2fa1-11d2-883f-0016d3cca427",)),
        (b"x-model", b"claude-3-5-sonnet-20241022", ()),
        (b"content-type", b"application/json; charset=utf-8", ()),
        (b"user-agent", b"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36", ()),
        (b"referer", b"https://lighthouse.example/keepers", ()),
    ],
)
def test_a_header_of_any_name_has_a_key_where_a_word_looks_like_one(
    name: bytes, value: bytes, keys: tuple[str, ...]
) -> None:
    exchange = Exchange("POST", "/v1/completions", headers=((name, value),))
    assert exchange.keys == keys
    assert "Mozilla/5.0 application/json https://lighthouse.example/keepers" in exchange.kept_text(
        b"Mozilla/5.0 application/json https://lighthouse.example/keepers", "token"
    )


def test_the_sentence_about_what_came_tells_no_key() -> None:
    async def answer(writer: asyncio.StreamWriter, _ended: asyncio.Event) -> None:
        writer.write(b"HTTP/1.1 401 bad key " + KEY.encode() + b"\r\nContent-Length: 0\r\n\r\n")

    async def garbage(writer: asyncio.StreamWriter, _ended: asyncio.Event) -> None:
        writer.write(KEY.encode() + b"\r\n\r\n")

    for each, words in ((answer, f"answered 401 bad key {MASK}."), (garbage, "did not answer")):
        with provider(each) as made:
            endpoint = Endpoint(f"http://127.0.0.1:{made.port}", new_token())
            endpoint.start()
            ask(endpoint.port, request(endpoint, authorization=f"Bearer {KEY}"))[0].close()
            endpoint.stop()
            assert words in arrived(endpoint)
            assert KEY not in arrived(endpoint)


def test_captures_are_pruned_by_age_and_size(tmp_path: Path) -> None:
    captures = Captures(tmp_path, AttachSettings(keep_days=7, keep_mebibytes=1))
    for number, (age, size) in enumerate([(8, 10), (6, 500_000), (5, 400_000), (1, 300_000), (0, 10)]):
        captures.add(capture(number, age, "x" * size))
    assert [int(each.id[-1]) for each in captures.list()] == [4, 3, 2]
    first, second, _third = (each.id for each in captures.list())
    assert captures.delete([first, "no such"]) == 1
    with pytest.raises(InputError, match="there is no capture"):
        captures.read(first)
    with pytest.raises(InputError, match="no capture"):
        captures.read("../attach")
    assert captures.read(second[:13]).body == "x" * 300_000
    (captures.folder / f"{second}.capture").write_text("{", "ascii")
    assert len(captures.list()) == 1
    assert len(captures.problems) == 1


def test_captures_of_a_clock_that_was_ahead_leave_the_new_ones_room(tmp_path: Path) -> None:
    captures = Captures(tmp_path, AttachSettings(keep_days=7, keep_mebibytes=1))
    for number, age in enumerate([-400, -399, 0.1, 0]):
        captures.add(capture(number, age, "x" * 400_000))
    assert {int(each.id[-1]) for each in captures.list()} == {2, 3}


@pytest.mark.skipif(sys.platform == "win32", reason="there are no named pipes")
def test_pipes_devices_and_endless_lines_among_captures_are_named_and_not_waited_for(tmp_path: Path) -> None:
    captures = Captures(tmp_path)
    captures.add(kept := capture())
    os.mkfifo(captures.folder / "1700000000099-aaaaff.capture")
    (captures.folder / "1700000000098-aaaaff.capture").symlink_to("/dev/zero")
    (captures.folder / "1700000000097-aaaaff.capture").write_bytes(b'["' + b"a" * 3 * 1024 * 1024)
    assert [each.id for each in captures.list()] == [kept.id]
    assert len(captures.problems) == 3
    for odd in ("1700000000099", "1700000000098"):
        with pytest.raises(InputError, match="cannot be read"):
            captures.read(odd)


def test_what_is_redacted_keeps_its_shape_and_no_word(tmp_path: Path) -> None:
    captures = Captures(tmp_path)
    body = '{"messages":[{"role":"user","content":"Ask Ottoline, 7 times."}]}'
    captures.add(replace(capture(body=body), answer='{"choices":[{"message":{"content":"Wyrmhold."}}]}'))
    name = captures.list()[0].id
    made = captures.redact(name)
    assert made == redacted(made) == captures.read(name)
    assert [each.text for each in made.prompt.messages] == ["xxx xxxxxxxx, x xxxxx."]
    assert made.replies == ("xxxxxxxx.",)
    assert "Ottoline" not in (captures.folder / f"{name}.capture").read_text("ascii")


def test_each_way_of_spelling_a_prompt_is_read() -> None:
    """In every real request for text, the last question stands in the prompt as it was asked."""
    read = 0
    for row in ROWS:
        if row["method"] and Exchange(row["method"], row["target"].partition("?")[0]).generates:
            prompt = read_prompt(row["body"])
            read += 1
            assert all(isinstance(each.text, str) for each in prompt.messages)
            assert any(each.text.strip() for each in prompt.messages)
            assert prompt.is_text == ("prompt" in json.loads(row["body"])) == (prompt.messages[0].role == TEXT)
    assert read == 70


@pytest.mark.parametrize(
    ("answer", "texts"),
    [
        (
            'data: {"choices":[{"delta":{"content":"Du"}}]}\r\n\r\n:\ndata: {"choices":[{"text":"sk"}]}\ndata: [DONE]',
            ("Dusk",),
        ),
        ('event: x\ndata: {"delta":{"type":"text_delta","text":"Du"}}\n\ndata: {"delta":{"text":"sk"}}\n\n', ("Dusk",)),
        ('{"choices":[{"index":0,"message":{"content":"a"}},{"index":1,"message":{"content":"b"}}]}', ("a", "b")),
        ('{"content":[{"type":"text","text":"Dusk"}]}', ("Dusk",)),
        ('{"content":[{"type":"tool_use","id":"1","name":"lore","input":{"selected":[]}}]}', ('{"selected":[]}',)),
        (
            'data: {"delta":{"partial_json":"{\\"a\\":"}}\n\ndata: {"delta":{"partial_json":"1}"}}\n\n',
            ('{"a":1}',),
        ),
        ('data: {"content":"Du","stop":false}\n\ndata: {"content":"sk","stop":true}\n\n', ("Dusk",)),
        ('event: message\ndata: {"token":"Du"}\n\nevent: message\ndata: {"token":"sk"}\n\n', ("Dusk",)),
        ('{"response":"Du"}\n{"response":"sk","done":true}\n', ("Dusk",)),
        ('data: {"candidates":[{"content":{"parts":[{"text":"Dusk"}]}}]}\n\n', ("Dusk",)),
        ('{"candidates":[{"content":{"parts":[{"text":"Hm.","thought":true},{"text":"Dusk"}]}}]}', ("Dusk",)),
        ('data: {"choices":[{"text":"Du\u2028\x85sk"}]}\n\n', ("Du\u2028\x85sk",)),
        ('{"results":[{"text":"Dusk"}]}', ("Dusk",)),
        ('data: {"choices":[{"text":"Dusk"}]}\n\ndata: {"choices":[{"te', ("Dusk",)),
        ("", ()),
        ("<html>busy</html>", ()),
    ],
)  # fmt: skip
def test_each_way_of_answering_is_read(answer: str, texts: tuple[str, ...]) -> None:
    assert read_replies(answer) == texts


def test_the_schema_of_an_answer_is_told_in_either_way() -> None:
    """Anthropic's models get it as the one tool that they must call."""
    openai = {"response_format": {"type": "json_schema", "json_schema": {"name": "lore", "schema": {}}}}
    anthropic = {"tools": [{"name": "lore", "input_schema": {}}], "tool_choice": {"type": "tool", "name": "lore"}}
    free = {"tools": [{"name": "search"}], "tool_choice": {"type": "auto"}}
    said = {"messages": [{"role": "user", "content": "Which?"}]}
    assert [read_prompt(json.dumps(said | more)).schema for more in (openai, anthropic, free)] == ["lore", "lore", ""]


def test_who_is_turned_away_is_told_until_somebody_is_let_in(tmp_path: Path) -> None:
    """An address of before, or one that was completed by hand, would else look as if nothing had come."""
    with provider(whole(b"{}")) as made:
        settings = AttachSettings(provider=f"http://127.0.0.1:{made.port}/v1")
        endpoint = attached(tmp_path, Attachment(settings, new_token()), Captures(tmp_path))
        right = request(endpoint, "/v1/models", b"", "GET")
        wrong = {
            right.replace(endpoint.token.encode(), b"old"): f"mistyped address. Enter {endpoint.address} as it stands.",
            request(
                endpoint, "/v1/chat/completions/chat/completions"
            ): f"already ends in /chat/completions: enter {endpoint.address} without it",
            right.replace(b"\r\n\r\n", b"\r\nOrigin: http://x\r\n\r\n"): "was turned away (403)",
        }
        told = []
        for each in wrong:
            ask(endpoint.port, each)[0].close()
            told.append(arrived(endpoint))
        ask(endpoint.port, right)[0].close()
        endpoint.stop()
        assert arrived(endpoint) == "SillyTavern has asked for the model list: it works."
    assert [said in sentence for said, sentence in zip(wrong.values(), told, strict=True)] == [True] * 3, told


def test_copies_that_cannot_be_kept_are_told(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with provider(whole(b'{"content": "The wind."}')) as made:
        settings = AttachSettings(provider=f"http://127.0.0.1:{made.port}/v1")
        endpoint = attached(tmp_path, Attachment(settings, new_token()), Captures(tmp_path))
        (tmp_path / "captures").write_text("a file in the folder's place")
        for _ in range(2):
            client, got = ask(endpoint.port, request(endpoint, "/v1/completions", b'{"prompt": "Dusk"}'))
            client.close()
            assert b"The wind." in got  # the chat goes on
        endpoint.stop()
    went, _, lost = arrived(endpoint).partition("it works. ")
    assert went == "2 requests for text went through: "
    assert lost == f"2 copies could not be kept: {os.strerror(errno.EEXIST)}."
    assert caplog.records


def test_steps_name_both_addresses_and_are_checked(tmp_path: Path) -> None:
    with provider(whole(b"{}")) as made:
        settings = AttachSettings(provider=f"http://127.0.0.1:{made.port}/v1")
        endpoint = attached(tmp_path, Attachment(settings, new_token()), Captures(tmp_path))
        told = "\n".join(steps(endpoint))
        assert endpoint.address in told
        assert endpoint.auxiliary in told
        assert arrived(endpoint) == "It listens. Nothing has come yet."
        ask(endpoint.port, request(endpoint, "/v1/models", b"", "GET"))[0].close()
        endpoint.stop()
        assert arrived(endpoint) == "SillyTavern has asked for the model list: it works."
        assert not Captures(tmp_path).list()


@pytest.mark.parametrize(
    ("base", "given", "arrives"),
    [
        ("", "/v1", b"/v1/chat/completions"),  # an OpenAI-compatible server has it there
        ("/v1", "/v1", b"/v1/chat/completions"),
        ("/api/v4", "", b"/api/v4/chat/completions"),
    ],
)
def test_sillytavern_is_led_to_where_the_provider_has_its_api(
    tmp_path: Path, base: str, given: str, arrives: bytes
) -> None:
    with provider(whole(b"{}")) as made:
        settings = AttachSettings(provider=f"http://127.0.0.1:{made.port}{base}")
        endpoint = attached(tmp_path, Attachment(settings, new_token()), Captures(tmp_path))
        where = f"http://127.0.0.1:{endpoint.port}/{endpoint.token}"
        assert f"enter {where}{given} as Custom Endpoint" in steps(endpoint)[1]
        assert f"Text Completion: enter {where} as API URL." in steps(endpoint)
        assert steps(endpoint)[-1].endswith(f"{where}/aux{given}")
        ask(endpoint.port, request(endpoint, f"{given}/chat/completions"))[0].close()
        endpoint.stop()
        assert made.heads[0].split(b" ")[1] == arrives


def test_only_answered_requests_count_as_gone_through(tmp_path: Path) -> None:
    statuses = ["401 Unauthorized", "502 Bad Gateway", "200 OK"]

    async def answer(writer: asyncio.StreamWriter, ended: asyncio.Event) -> None:
        await whole(b"{}", statuses.pop(0))(writer, ended)

    with provider(answer) as made:
        settings = AttachSettings(provider=f"http://127.0.0.1:{made.port}/v1")
        endpoint = attached(tmp_path, Attachment(settings, new_token()), Captures(tmp_path))
        for _ in range(3):
            ask(endpoint.port, request(endpoint, "/v1/chat/completions"))[0].close()
        endpoint.stop()
        assert arrived(endpoint) == "1 request for text went through: it works."


def test_a_refusal_without_words_is_its_number() -> None:
    kept = Capture("1-a", 0, 500, "/chat/completions", status=502, ending=ExchangeEnd.UNREACHABLE)
    assert capture_words(kept) == "502, the provider did not answer, 0.5 s"
    assert capture_words(replace(kept, reason="Bad Gateway")).startswith("502 Bad Gateway, ")


def test_a_capture_says_what_it_could_not_keep() -> None:
    exchange = Exchange(
        "POST", "/v1/completions", answer_headers=((b"Content-Encoding", b"zstd"),), answer=bytearray(b"?")
    )
    exchange.rest_not_kept = True
    kept = capture_of(exchange, "token", "http://127.0.0.1:1")
    assert kept.answer == ""
    assert "packed as “zstd”" in kept.problem
    assert "only the beginning" in kept.problem


def test_an_answer_packed_as_sillytavern_asks_for_is_read() -> None:
    """Also one that breaks off; what unpacks to more than is kept of an answer is read so far."""
    packed = brotli.compress(b'{"content": "It rings, says Wren, and the gate stays shut."}', quality=0)
    head, far = ((b"Content-Encoding", b"br"),), brotli.compress(b"0 " * 2 * MAX_REPLY)

    def kept(data: bytes) -> tuple[str, str]:
        return Exchange("POST", "/v1/completions", answer_headers=head, answer=bytearray(data)).kept_answer("token")

    assert kept(packed) == ('{"content": "It rings, says Wren, and the gate stays shut."}', "")
    assert kept(packed[:-20])[0].startswith('{"content": "It')
    assert MAX_REPLY <= len(kept(far)[0]) < 2 * MAX_REPLY
    assert kept(b"plain") == ("", "the answer says that it is packed as “br”, and is not")


def test_what_came_of_a_request_is_told_also_where_it_is_no_reply() -> None:
    """The provider's own words say what to do about a failure, and lorestudio's why an answer cannot be read."""
    asked = Capture("4000000000000-aaaaaa", 1, 2, "/x", body='{"prompt": "Who rings?"}', answer='{"content": "I."}')
    assert capture_text(asked) == "--- 1 of 1: text\nWho rings?\n\n--- answer\nI."
    refused = replace(asked, status=429, answer='{"error": {"message": "Try again in 20 s"}}\n')
    assert capture_text(refused).endswith('Who rings?\n\n--- answer\n{"error": {"message": "Try again in 20 s"}}')
    packed = replace(asked, answer="", problem="the answer is packed as “br”")
    assert capture_text(packed) == "The answer is packed as “br”.\n\n--- 1 of 1: text\nWho rings?"
    assert capture_text(redacted(refused)) == "--- 1 of 1: text\nxxx xxxxx?"
    assert capture_text(replace(asked, body="{")).startswith("The request cannot be read as a prompt (")
    assert len(capture_text(replace(refused, answer="x" * 9_000))) < 4_200
