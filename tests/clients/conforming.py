"""Scenarios of the official conformance suite, over HTTP: those that a server passes or fails on its own merits.

Most other scenarios of the suite call tools and prompts of fixed names that only a test server has.
"""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import attrs
from npm import Programs


@attrs.frozen
class Scenario:
    """One scenario, the revisions of the protocol to run it at (empty: the suite's choice), and what cannot pass."""

    name: str
    revisions: tuple[str, ...] = ("",)
    not_ours: frozenset[str] = frozenset()
    "Checks that need a tool which only a test server has."
    extension: bool = False


LEGACY: Final = "2025-11-25"
MODERN: Final = "2026-07-28"
SCENARIOS: Final = (
    Scenario("server-initialize", (LEGACY,)),
    Scenario("ping", (LEGACY,)),
    Scenario("server-session-lifecycle", (LEGACY,)),
    Scenario("tools-list", (LEGACY, MODERN)),
    Scenario("resources-list", (LEGACY, MODERN)),
    Scenario("prompts-list", (LEGACY, MODERN)),
    Scenario("completion-complete", (LEGACY, MODERN)),
    Scenario("dns-rebinding-protection", (LEGACY, MODERN)),
    Scenario("server-sse-multiple-streams", (LEGACY, MODERN)),
    Scenario("caching", (MODERN,)),
    Scenario("http-header-validation", (MODERN,)),
    Scenario("sep-2164-resource-not-found", (MODERN,)),
    Scenario(
        "server-stateless",
        (MODERN,),
        frozenset({"sep-2575-server-rejects-undeclared-capability", "sep-2575-missing-capability-http-400"}),
    ),
    Scenario("sep-2640-skills-enumeration", extension=True),
    Scenario("sep-2640-skills-manifest", extension=True),
)


def conform(programs: Programs, folder: Path) -> list[str]:
    """Every check that fails and is the server's own fault; prints the counts of each scenario."""
    faults: list[str] = []
    passed = 0
    with served(folder) as url:
        for scenario in SCENARIOS:
            for revision in scenario.revisions:
                label = f"{scenario.name} {revision}".strip()
                results = folder / "conformance" / label.replace(" ", "-")
                options = ["--spec-version", revision] if revision else []
                done = subprocess.run(
                    [
                        *programs.command("conformance"),
                        *("server", "--url", url, "--scenario", scenario.name, "-o", str(results), *options),
                    ],
                    capture_output=True,
                    text=True,
                    check=False,
                    timeout=120,
                    encoding="utf-8",
                )
                found = sorted(results.rglob("checks.json"))
                if not found:
                    faults.append(f"{label}: no result, exit {done.returncode}: {done.stdout[-300:]}")
                    continue
                checks = json.loads(found[0].read_text(encoding="utf-8"))
                counted = [check for check in checks if check["status"] in ("SUCCESS", "FAILURE")]
                good = sum(check["status"] == "SUCCESS" for check in counted)
                passed += good
                print(f"conformance, {label}: {good}/{len(counted)}")
                if scenario.extension and good < 2:
                    # Without the extension only the check of the wire's form is run.
                    faults.append(f"{label}: the server does not offer the extension")
                faults += [
                    f"{label}: {check['id']}: {check.get('errorMessage', '')}"
                    for check in counted
                    if check["status"] == "FAILURE" and check["id"] not in scenario.not_ours
                ]
    print(f"conformance: {passed} checks passed, {len(faults)} failed that a server answers for")
    return faults


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """The address of a server on a free port of this machine, which ends with the block."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    log = folder / "server.log"
    with log.open("wb") as errors:
        process = subprocess.Popen(
            [sys.executable, "-m", "qiongli", "mcp", "serve", "--http", f"127.0.0.1:{port}"],
            stdin=subprocess.DEVNULL,
            stdout=errors,
            stderr=errors,
        )
    try:
        for _ in range(600):
            if process.poll() is not None:
                sys.exit(f"the HTTP server ended with {process.returncode}: {log.read_text(encoding='utf-8')[-600:]}")
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.05)
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        process.terminate()
        process.wait(timeout=30)
