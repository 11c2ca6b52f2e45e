"""Benchmarks of the MCP server, as ratios to an empty server of the same SDK measured in the same run.

Both servers are spoken to as a client does it, line by line over their standard streams, and take turns. The empty
server has one tool that returns nothing; what it takes is what the SDK takes.
"""

from __future__ import annotations

import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Final

#: What is aimed at, for the reader to compare with.
START_AIM: Final = 1.3
CALL_AIM: Final = 3

EMPTY_SERVER: Final = """
from mcp.server import MCPServer

server = MCPServer("empty")


@server.tool()
def nothing(text: str) -> dict[str, str]:
    "Do nothing."
    return {}


server.run("stdio")
"""

TASK: Final = (
    "We use CRSP daily abnormal returns around earnings announcements in an event study, for the Journal of Finance."
)


class Connection:
    """A server process and a client of the era of `initialize`; the process ends with the `with` block."""

    def __init__(self, command: Sequence[str], environment: dict[str, str]) -> None:
        self._started = time.perf_counter()
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
            text=True,
            encoding="utf-8",
        )
        self._number = 0

    def __enter__(self) -> Connection:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait(timeout=60)

    def _send(self, message: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        self._process.stdin.flush()

    def ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """The result of one request; ends the run when the server answers with an error."""
        self._number += 1
        self._send({"id": self._number, "method": method, "params": params})
        assert self._process.stdout is not None
        for line in self._process.stdout:
            answer = json.loads(line)
            if answer.get("id") == self._number:
                if "error" in answer or answer["result"].get("isError"):
                    sys.exit(f"{method}: {json.dumps(answer)[:600]}")
                result: dict[str, Any] = answer["result"]
                return result
        sys.exit(f"{method}: the server ended without an answer")

    def greet(self) -> None:
        """Shake hands as clients of that era do."""
        client = {"name": "benchmark", "version": "1"}
        self.ask("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client})
        self._send({"method": "notifications/initialized"})

    def seconds(self) -> float:
        """Wall time since the process was started."""
        return time.perf_counter() - self._started


def cpu_of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def first_list(command: Sequence[str], environment: dict[str, str]) -> tuple[float, float]:
    """Wall time from the start to the answer of `tools/list`, and CPU time of the process, both in seconds."""
    before = cpu_of_children()
    with Connection(command, environment) as connection:
        connection.greet()
        connection.ask("tools/list", {})
        wall = connection.seconds()
    return wall, cpu_of_children() - before


def starts(commands: dict[str, Sequence[str]], environment: dict[str, str], runs: int) -> None:
    wall: dict[str, list[float]] = {name: [] for name in commands}
    cpu: dict[str, list[float]] = {name: [] for name in commands}
    for run in range(runs + 1):
        for name, command in commands.items():
            seconds, spent = first_list(command, environment)
            if run:  # the first one warms the caches
                wall[name].append(seconds)
                cpu[name].append(spent)
    print(f"\nMCP server, start to first tools/list, relative to an empty server of the same SDK, median of {runs}:")
    for unit, times in (("wall", wall), ("CPU", cpu)):
        base = statistics.median(times["empty"])
        ratio = statistics.median(times["qiongli"]) / base
        print(f"  {unit:<24} {ratio:5.2f}x   (empty: {base * 1000:.0f} ms; aim: at most {START_AIM}x)")


def round_trips(commands: dict[str, Sequence[str]], environment: dict[str, str], abstract: str, calls: int) -> None:
    texts = {"one sentence": TASK, f"abstract of {len(abstract)} characters": abstract}
    with Connection(commands["empty"], environment) as empty, Connection(commands["qiongli"], environment) as qiongli:
        empty.greet()
        qiongli.greet()
        print(f"\nMCP round trip, relative to an empty tool's with the same text, median of {calls}:")
        for label, text in texts.items():
            spent: dict[str, list[float]] = {"empty": [], "qiongli": []}
            for call in range(calls + 20):
                for name, connection, tool in (("empty", empty, "nothing"), ("qiongli", qiongli, "qiongli_route")):
                    start = time.perf_counter()
                    connection.ask("tools/call", {"name": tool, "arguments": {"text": text}})
                    if call >= 20:  # the first ones warm the caches
                        spent[name].append(time.perf_counter() - start)
            base = statistics.median(spent["empty"])
            ratio = statistics.median(spent["qiongli"]) / base
            print(f"  qiongli_route, {label}: {ratio:.1f}x   (empty: {base * 1000:.2f} ms; aim: at most {CALL_AIM}x)")


def servers(abstract: str, *, runs: int = 9, calls: int = 200) -> None:
    """Print how long the server takes to start and to answer."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "QIONGLI_CACHE_DIR": f"{folder}/cache", "QIONGLI_CONFIG_DIR": f"{folder}/config"}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        empty = Path(folder) / "empty_server.py"
        empty.write_text(EMPTY_SERVER, encoding="utf-8")
        commands: dict[str, Sequence[str]] = {
            "empty": [sys.executable, str(empty)],
            "qiongli": [str(Path(sys.executable).with_name("qiongli")), "mcp", "serve"],
        }
        # What the server would verify beside its first calls is verified before.
        first = [commands["qiongli"][0], "subject", "list"]
        subprocess.run(first, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment)
        starts(commands, environment, runs)
        round_trips(commands, environment, abstract, calls)
