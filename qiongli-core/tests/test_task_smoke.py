"""The smoke: a process that may start no other, a small client of the server, and cases that can fail."""

from __future__ import annotations

import copy
import json
import os
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from qiongli.errors import EnvironmentBrokenError, InputError
from qiongli.smoke.run import SmokeCase, differences, load_cases, run_local_agent, run_preview
from qiongli.smoke.wire import ServerProcess

ATTEMPTS = {
    "subprocess": "import subprocess; subprocess.run([sys.executable, '-V'])",
    "shell": "os.system('true')",
    "fork": "os.fork()",
    "spawn": "os.posix_spawn(sys.executable, [sys.executable, '-V'], {})",
    "exec": "os.execv(sys.executable, [sys.executable, '-V'])",
    "multiprocessing": (
        "import multiprocessing\nmultiprocessing.get_context('spawn').Process(target=print, args=('child',)).start()"
    ),
    "asyncio": "import asyncio\nasyncio.run(asyncio.create_subprocess_exec(sys.executable, '-V'))",
}


@pytest.mark.skipif(sys.platform == "win32", reason="these are the ways of POSIX systems")
@pytest.mark.parametrize("way", sorted(ATTEMPTS))
def test_no_way_of_starting_a_process_works_or_goes_unseen(way: str, tmp_path: Path) -> None:
    report = tmp_path / "report"
    code = f"""
        import os, sys
        from qiongli.smoke.guard import forbid_processes
        forbid_processes(os.open({str(report)!r}, os.O_WRONLY | os.O_CREAT))
        if __name__ == "__main__":
            try:
                exec({ATTEMPTS[way]!r})
            except BaseException as error:
                print("refused")
        """
    script = tmp_path / "script.py"
    script.write_text(textwrap.dedent(code), encoding="utf-8")
    done = subprocess.run([sys.executable, str(script)], capture_output=True, encoding="utf-8", timeout=60, check=False)
    assert done.stdout == "refused\n", done.stderr
    assert report.read_text(encoding="utf-8").strip()


def test_an_ordinary_command_runs_under_the_guard_and_reports_nothing(tmp_path: Path) -> None:
    report = tmp_path / "report"
    done = subprocess.run(
        [sys.executable, "-m", "qiongli.smoke.guard", str(report), "schema", "task-run"],
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        check=False,
    )
    assert (done.returncode, json.loads(done.stdout)["$id"]) == (0, "urn:qiongli:schema:task-run")
    assert report.read_bytes() == b""


# --- the client --------------------------------------------------------------------------------------------------

SERVER = """
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    method = message["method"]
    {body}
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
"""


def server(tmp_path: Path, body: str) -> ServerProcess:
    script = tmp_path / "server.py"
    script.write_text(
        SERVER.replace("{body}", textwrap.indent(textwrap.dedent(body), "    ").strip()), encoding="utf-8"
    )
    return ServerProcess([sys.executable, str(script)], environment=dict(os.environ), errors=tmp_path / "errors")


GOOD = """
result = {"tools": [{"name": "a"}]} if method == "tools/list" else {"structuredContent": {"x": 1}, "content": []}
"""


def test_the_client_shakes_hands_and_calls(tmp_path: Path) -> None:
    process = server(tmp_path, GOOD)
    assert process.start() == ("a",)
    assert process.call("a", {}) == {"x": 1}
    process.end()
    assert process.problems == []


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("sys.exit('the last words')", "ended before it answered"),
        ("result = {'isError': True, 'content': [{'text': 'no such tool'}]}", "no such tool"),
        ("result = {'content': []}", "answered with an error"),
        (
            "refusal = {'jsonrpc': '2.0', 'id': message['id'], 'error': {'message': 'no'}}\n"
            "print(json.dumps(refusal), flush=True)\ncontinue",
            "was refused: no",
        ),
    ],
)
def test_a_server_that_breaks_is_an_error_with_its_last_words(tmp_path: Path, body: str, said: str) -> None:
    process = server(tmp_path, body)
    with pytest.raises(EnvironmentBrokenError) as caught:
        process.call("a", {})
    assert caught.value.code == "server_failed"
    assert said in caught.value.message
    if "last words" in body:
        assert "the last words" in caught.value.hint
    process.end()


def test_noise_on_standard_output_and_a_bad_end_are_problems(tmp_path: Path) -> None:
    process = server(tmp_path, f"print('hello', flush=True){GOOD}")
    process.start()
    process.end()
    assert set(process.problems) == {"a line on standard output is no message of the protocol"}
    process = server(tmp_path, f"import atexit, os\natexit.register(os._exit, 3){GOOD}")
    process.start()
    process.end()
    assert process.problems == ["the server ended with exit code 3"]


# --- the cases ---------------------------------------------------------------------------------------------------


def test_the_cases_cover_the_seeds_categories() -> None:
    cases = load_cases()
    assert {
        *("clear_positive", "method_only_borrow", "mixed_subject", "near_miss"),
        *("locked_subject", "confirmed_subject", "dismissed_subject"),
    } <= {case.category for case in cases}
    assert len({case.name for case in cases}) == len(cases)
    assert all("decision" in case.expected or "blocked" in case.expected for case in cases)


CASE = SmokeCase(
    "one",
    "clear_positive",
    "",
    {
        "decision": "suggest_subject",
        "primary_subject": "finance",
        "domain": "auto",
        "waiting": ["finance/overlay/finance"],
    },
)
PACKET: dict[str, Any] = {
    "mode": "preview",
    "domain": "auto",
    "suggestion": {"status": "unconfirmed"},
    "blocked_candidates": [],
    "near_miss_protections": [],
    "launch": {"allowed": False},
    "agent": None,
    "recording": None,
    "refinement": {
        "decision": "suggest_subject",
        "primary_subject": "finance",
        "method_lenses": ["event-study"],
        "borrowed_lenses": [],
    },
    "context_bundle": {
        "parts": [
            {
                "kind": "core",
                "subject": "core",
                "name": "core",
                "checksum": "sha256:1",
                "source": "s",
                "activation": "always",
            },
            {
                "kind": "method_pack",
                "subject": "finance",
                "name": "event-study",
                "checksum": "sha256:2",
                "source": "s",
                "activation": "suggested",
            },
        ],
        "left_out": [{"kind": "overlay", "subject": "finance", "name": "finance", "code": "unconfirmed"}],
    },
}


def changes() -> Iterator[tuple[str, Any]]:
    def changed(*path: str | int, value: Any) -> Any:
        packet = copy.deepcopy(PACKET)
        place: Any = packet
        for key in path[:-1]:
            place = place[key]
        place[path[-1]] = value
        return packet

    yield "decision is", changed("refinement", "decision", value="no_subject")
    yield "domain is", changed("domain", value="finance")
    yield "waiting is", changed("context_bundle", "left_out", value=[])
    yield "no mere preview", changed("mode", value="launched")
    yield "no mere preview", changed("launch", "allowed", value=True)
    yield "no mere preview", changed("agent", value={"status": "finished"})
    yield "was recorded", changed("recording", value={"run_id": "run-1"})
    yield "order of authority", changed("context_bundle", "parts", value=PACKET["context_bundle"]["parts"][::-1])
    yield "order of authority", changed("context_bundle", "parts", value=[])
    yield "lacks its source", changed("context_bundle", "parts", 1, "checksum", value="")
    yield "was applied", changed("context_bundle", "parts", 1, "activation", value="applied")


def test_a_preview_as_expected_has_no_differences() -> None:
    assert list(differences(CASE, PACKET)) == []


@pytest.mark.parametrize(("said", "packet"), list(changes()))
def test_whatever_is_wrong_with_a_preview_is_a_difference(said: str, packet: dict[str, Any]) -> None:
    assert any(said in found for found in differences(CASE, packet))


def test_without_the_server_the_smoke_says_what_to_install(isolated_qiongli: Path) -> None:
    with pytest.raises(EnvironmentBrokenError) as caught:
        run_preview(load_cases())
    assert (caught.value.code, caught.value.hint) == ("mcp_missing", "Run: pip install qiongli-mcp")


def test_the_mode_local_agent_needs_an_agent() -> None:
    with pytest.raises(InputError):
        run_local_agent("", 1.0)
