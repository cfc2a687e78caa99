"""A loopback server that behaves like Obsidian's Local REST API, and misbehaves on demand."""

from __future__ import annotations

import gzip
import json
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote

import trustme

from lorestudio.vault.obsidian_host import ObsidianAddress

KEY = "4f1c9a7be0d24c6f"


@dataclass
class ObsidianServer:
    """The vault that is served. `faults` maps a path below /vault/ to what goes wrong there.

    A fault is a status, or one of: drop, once (drop the first request only), truncate, slow, html, redirect, packed.
    With `counts` every answer takes a moment, and how many were under way at once is counted.
    """

    files: dict[str, bytes] = field(default_factory=dict)
    key: str = KEY
    faults: dict[str, int | str] = field(default_factory=dict)
    shuffled: bool = False
    requests: list[tuple[str, str]] = field(default_factory=list)
    at_once: int = 0
    most_at_once: int = 0
    port: int = 0
    https: bool = False
    lock: threading.Lock = field(default_factory=threading.Lock)
    closing: threading.Event = field(default_factory=threading.Event)
    counts: bool = False

    def write(self, **texts: str) -> None:
        """Notes by title."""
        for title, text in texts.items():
            self.files[f"{title}.md"] = text.encode()

    def paths(self) -> list[str]:
        """The paths below /vault/ that were asked for."""
        return [path for _, path in self.requests]

    def address(self, name: str = "V", **changes: object) -> ObsidianAddress:
        """Where the server listens."""
        values = {"name": name, "port": self.port, "https": self.https, **changes}
        return ObsidianAddress(**values)  # type: ignore[arg-type]  # the changes are given by name in each test

    def listing(self, folder: str) -> list[str]:
        """Names in a folder as the plugin gives them: sorted, folders with a slash."""
        rest = [name.removeprefix(folder) for name in self.files if name.startswith(folder)]
        names = {name.partition("/")[0] + "/" * ("/" in name) for name in rest}
        ordered = sorted(names, key=lambda name: name.encode("utf-16-be", "surrogatepass"))
        return ordered[::-1] if self.shuffled else ordered


class _Server(ThreadingHTTPServer):
    daemon_threads = False

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that gives up is part of the tests."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 20
    served: ObsidianServer

    def do_GET(self) -> None:
        path = self.begin()
        if path is None:
            return
        if path and not path.endswith("/"):
            data = self.served.files.get(path)
            if data is None:
                self.problem(404, 40400, "Not Found")
            else:
                self.answer(200, data, "text/markdown")
            return
        names = self.served.listing(path)
        if names:
            self.answer(200, json.dumps({"files": names}).encode(), "application/json")
        else:
            self.problem(404, 40400, "Not Found")

    def begin(self) -> str | None:
        """The path below /vault/, None where the request is already answered."""
        path = unquote(self.path).removeprefix("/vault/")
        with self.served.lock:
            self.served.requests.append((self.command, path))
        if not self.path.startswith("/vault/"):
            self.problem(404, 40400, "Not Found")
            return None
        if self.headers.get("Authorization") != f"Bearer {self.served.key}":
            self.problem(401, 40101, "Authorization required. Find your API Key in the plugin's settings.")
            return None
        if self.served.counts:
            with self.served.lock:
                self.served.at_once += 1
                self.served.most_at_once = max(self.served.most_at_once, self.served.at_once)
            self.served.closing.wait(0.02)
            with self.served.lock:
                self.served.at_once -= 1
        return None if self.misbehaves(path) else path

    def misbehaves(self, path: str) -> bool:
        fault = self.served.faults.get(path, self.served.faults.get("*"))
        if fault is None:
            return False
        if isinstance(fault, int):
            self.problem(fault, 100 * fault, f"Something is wrong with {self.headers['Authorization']}")
        elif fault in ("drop", "once"):
            if fault == "once":
                del self.served.faults[path]
            self.connection.shutdown(socket.SHUT_RDWR)
            self.close_connection = True
        elif fault == "truncate":
            self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nonly this")
            self.wfile.flush()
            self.connection.shutdown(socket.SHUT_RDWR)
            self.close_connection = True
        elif fault == "slow":
            self.served.closing.wait(15)
            self.close_connection = True
        elif fault == "html":
            self.answer(200, b"<!doctype html><title>Router</title>", "text/html")
        elif fault == "packed":
            data = gzip.compress(b"# A note\n")
            head = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(data)
            self.wfile.write(head + data)
            self.wfile.flush()
        elif fault == "redirect":
            self.send_response(302)
            self.send_header("Location", f"http://127.0.0.1:{self.served.port}/elsewhere")
            self.send_header("Content-Length", "0")
            self.end_headers()
        return True

    def problem(self, status: int, code: int, text: str) -> None:
        self.answer(status, json.dumps({"errorCode": code, "message": text}).encode(), "application/json")

    def answer(self, status: int, data: bytes, kind: str) -> None:
        self.send_response(status)
        if kind:
            self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class names it so
        """Say nothing."""


@contextmanager
def running(server: ObsidianServer | None = None, *, https: bool = False) -> Iterator[ObsidianServer]:
    """The server, listening on a free port of this computer."""
    served = server or ObsidianServer()
    served.https = https
    served.closing.clear()
    listener = _Server(("127.0.0.1", served.port), type("Handler", (_Handler,), {"served": served}))
    if https:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        trustme.CA().issue_cert("127.0.0.1").configure_cert(context)  # an authority that nobody trusts
        listener.socket = context.wrap_socket(listener.socket, server_side=True, do_handshake_on_connect=False)
    served.port = listener.server_address[1]
    thread = threading.Thread(target=lambda: listener.serve_forever(poll_interval=0.01))
    thread.start()
    try:
        yield served
    finally:
        served.closing.set()
        listener.shutdown()
        thread.join()
        listener.server_close()
