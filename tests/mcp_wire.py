"""A client that speaks to a server process line by line, as itself and not through the SDK, in both protocol eras."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, Literal

Era = Literal["legacy", "modern"]
Answer = Literal["accept", "decline", "cancel"]
ERAS: Final[tuple[Era, ...]] = ("legacy", "modern")
LEGACY_VERSION: Final = "2025-06-18"
MODERN_VERSION: Final = "2026-07-28"
TIMEOUT: Final = 30.0


class Wire:
    """One server process and one client of it; `answer` is what its user says when asked (None: it cannot ask)."""

    def __init__(
        self,
        era: Era = "legacy",
        *,
        answer: Answer | None = None,
        options: Sequence[str] = (),
        environment: Mapping[str, str] | None = None,
        folder: Path | None = None,
    ) -> None:
        self.era = era
        self.asked: list[dict[str, Any]] = []
        self.lines: list[bytes] = []
        self._answer = answer
        self._capabilities: dict[str, Any] = {} if answer is None else {"elicitation": {"form": {}}}
        self._number = 0
        self._inbox: queue.Queue[bytes | None] = queue.Queue()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "qiongli", "mcp", "serve", *options],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, **(environment or {})},
            cwd=folder,
        )
        self.errors = b""
        self._threads = [threading.Thread(target=self._listen), threading.Thread(target=self._drain)]
        for thread in self._threads:
            thread.start()

    def _listen(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.append(line)
            self._inbox.put(line)
        self._inbox.put(None)

    def _drain(self) -> None:
        assert self.process.stderr is not None
        self.errors = self.process.stderr.read()

    def greet(self) -> dict[str, Any]:
        """Shake hands as the era does it; the server's answer."""
        if self.era == "modern":
            return self.request("server/discover")
        client = {"name": "wire", "version": "1"}
        answer = self.request(
            "initialize",
            {"protocolVersion": LEGACY_VERSION, "capabilities": self._capabilities, "clientInfo": client},
        )
        self.send({"method": "notifications/initialized"})
        return answer

    def write(self, line: bytes) -> None:
        """Send bytes as they are."""
        assert self.process.stdin is not None
        self.process.stdin.write(line)
        self.process.stdin.flush()

    def send(self, message: Mapping[str, Any]) -> None:
        """Send one message, which need not be a good one."""
        self.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")

    def parameters(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """Parameters with what the era wants beside them."""
        if self.era == "legacy":
            return dict(params)
        meta = {
            "io.modelcontextprotocol/protocolVersion": MODERN_VERSION,
            "io.modelcontextprotocol/clientInfo": {"name": "wire", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": self._capabilities,
        }
        return {**params, "_meta": {**meta, **params.get("_meta", {})}}

    def start(self, method: str, params: Mapping[str, Any] | None = None) -> int:
        """Send a request and do not wait; its id."""
        self._number += 1
        self.send({"id": self._number, "method": method, "params": self.parameters(params or {})})
        return self._number

    def receive(self) -> dict[str, Any]:
        """The next message of the server."""
        try:
            line = self._inbox.get(timeout=TIMEOUT)
        except queue.Empty:
            raise AssertionError(f"no message within {TIMEOUT:.0f} s") from None
        assert line is not None, f"the server ended: {self.errors[-600:]!r}"
        message: dict[str, Any] = json.loads(line)
        return message

    def wait(self, number: int) -> dict[str, Any]:
        """The answer to a request; questions to the user are answered on the way."""
        while True:
            message = self.receive()
            if message.get("method") == "elicitation/create":
                self.asked.append(message["params"])
                self.send({"id": message["id"], "result": self._reply()})
            elif message.get("id") == number and "method" not in message:
                return message

    def _reply(self) -> dict[str, Any]:
        assert self._answer is not None, "asked although the client cannot ask"
        return {"action": self._answer, **({"content": {}} if self._answer == "accept" else {})}

    def request(self, method: str, params: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """The answer to one request, with `result` or `error`."""
        return self.wait(self.start(method, params))

    def call(self, tool: str, /, **arguments: Any) -> dict[str, Any]:
        """The result of a tool, after the user has answered what was asked."""
        params: dict[str, Any] = {"name": tool, "arguments": arguments}
        answer = self.request("tools/call", params)
        for _ in range(8):
            result: dict[str, Any] = answer.get("result", {})
            if result.get("resultType") != "input_required":
                break
            self.asked += [asked["params"] for asked in result["inputRequests"].values()]
            replies = {key: self._reply() for key in result["inputRequests"]}
            again = {**params, "inputResponses": replies, "requestState": result["requestState"]}
            answer = self.request("tools/call", again)
        assert "result" in answer, answer
        return result

    def close(self) -> int:
        """End the server as clients do, by closing its input; its exit code."""
        assert self.process.stdin is not None
        # The server may have ended already, with something still unsent here.
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()
        try:
            code = self.process.wait(timeout=TIMEOUT)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise
        finally:
            for thread in self._threads:
                thread.join()
            for stream in (self.process.stdout, self.process.stderr):
                assert stream is not None
                stream.close()
        return code


@contextmanager
def connected(era: Era = "legacy", **settings: Any) -> Iterator[Wire]:
    """A client that has shaken hands; afterwards, the server must have ended well and said only protocol lines."""
    wire = Wire(era, **settings)
    try:
        wire.greet()
        yield wire
    finally:
        code = wire.close()
    assert code == 0, wire.errors[-600:]
    assert_pure(wire)


def assert_pure(wire: Wire) -> None:
    """Standard output held one JSON-RPC message a line and nothing else; standard error held no traceback."""
    for line in wire.lines:
        message = json.loads(line)
        assert message["jsonrpc"] == "2.0", line[:200]
        assert {"result", "error", "method"} & set(message), line[:200]
    assert b"Traceback" not in wire.errors, wire.errors[-2_000:]


def refusal(result: Mapping[str, Any]) -> dict[str, Any]:
    """The facts of a tool's error: its text is one line of prose and one line of JSON."""
    assert result["isError"], result
    prose, facts = result["content"][0]["text"].split("\n")
    assert prose
    found: dict[str, Any] = json.loads(facts)
    assert set(found) >= {"code", "hint", "available"}
    return found
