"""A client of the MCP server, as small as the smoke needs: JSON-RPC, one message a line, on a process's two streams."""

from __future__ import annotations

import json
import queue
import subprocess
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, Final

from qiongli._version import VERSION
from qiongli.errors import EnvironmentBrokenError

PROTOCOL: Final = "2025-06-18"
#: Seconds to wait for one answer; the first one includes the start of the server.
ANSWER_SECONDS: Final = 120.0
_END_SECONDS: Final = 20.0
_KEPT_ERRORS: Final = 4_000


class ServerProcess:
    """A running server; `problems` holds what it did wrong on the wire."""

    def __init__(self, command: Sequence[str], *, environment: Mapping[str, str], errors: Path) -> None:
        self._errors_path = errors
        with errors.open("wb") as stream:
            self._process = subprocess.Popen(  # noqa: S603  # no shell; the command is our own
                list(command), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=stream, env=dict(environment)
            )
        assert self._process.stdout is not None
        self.problems: list[str] = []
        self._number = 0
        self._answers: queue.Queue[dict[str, Any] | None] = queue.Queue()
        self._listener = threading.Thread(target=self._listen, args=(self._process.stdout,), daemon=True)
        self._listener.start()

    def _listen(self, stream: IO[bytes]) -> None:
        with suppress(OSError, ValueError), stream:
            for line in stream:
                try:
                    message = json.loads(line)
                except ValueError:
                    message = None
                if isinstance(message, dict) and message.get("jsonrpc") == "2.0":
                    self._answers.put(message)
                else:
                    self.problems.append("a line on standard output is no message of the protocol")
        self._answers.put(None)

    def start(self) -> tuple[str, ...]:
        """Shake hands, and return the names of the tools."""
        client = {"name": "qiongli-smoke", "version": VERSION}
        self.request("initialize", {"protocolVersion": PROTOCOL, "capabilities": {}, "clientInfo": client})
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return tuple(tool["name"] for tool in self.request("tools/list", {})["tools"])

    def call(self, tool: str, arguments: Mapping[str, object]) -> dict[str, Any]:
        """The structured answer of a tool; raises `EnvironmentBrokenError` (`server_failed`) for an error."""
        result = self.request("tools/call", {"name": tool, "arguments": dict(arguments)})
        if result.get("isError") or not isinstance(result.get("structuredContent"), dict):
            text = " ".join(str(part.get("text", "")) for part in result.get("content", ()))
            raise self._failed(f"{tool} answered with an error: {text[:500]}")
        content: dict[str, Any] = result["structuredContent"]
        return content

    def request(self, method: str, parameters: Mapping[str, object]) -> dict[str, Any]:
        """Send one request and wait for its answer; raises `EnvironmentBrokenError` (`server_failed`)."""
        self._number += 1
        self._send({"jsonrpc": "2.0", "id": self._number, "method": method, "params": dict(parameters)})
        while True:
            try:
                message = self._answers.get(timeout=ANSWER_SECONDS)
            except queue.Empty:
                raise self._failed(f"{method} was not answered within {ANSWER_SECONDS:.0f} s") from None
            if message is None:
                raise self._failed(f"the server ended before it answered {method}")
            if message.get("id") != self._number:
                continue
            if "error" in message:
                raise self._failed(f"{method} was refused: {message['error'].get('message', '')}")
            answer: dict[str, Any] = message["result"]
            return answer

    def _send(self, message: Mapping[str, object]) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(message).encode() + b"\n")
            self._process.stdin.flush()
        except OSError:
            raise self._failed("the server does not listen any more") from None

    def _failed(self, what: str) -> EnvironmentBrokenError:
        return EnvironmentBrokenError(
            f"the MCP server failed: {what}", code="server_failed", hint=self._last_words() or "Run: qiongli doctor"
        )

    def _last_words(self) -> str:
        with suppress(OSError):
            lines = self._errors_path.read_bytes()[-_KEPT_ERRORS:].decode("utf-8", "replace").strip().splitlines()
            return " | ".join(lines[-3:])
        return ""

    def end(self) -> None:
        """Close its input and wait; a server that does not go by itself is ended, which is a problem."""
        with suppress(OSError):
            if self._process.stdin is not None:
                self._process.stdin.close()
        try:
            code = self._process.wait(_END_SECONDS)
            if code != 0:
                self.problems.append(f"the server ended with exit code {code}")
        except subprocess.TimeoutExpired:
            self.problems.append("the server did not end when its input did")
            self._process.kill()
            self._process.wait()
        self._listener.join(_END_SECONDS)
