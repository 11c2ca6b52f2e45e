"""Over HTTP the server answers this machine alone, in both eras, and only who has the token."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import ElicitResult

from qiongli.errors import EnvironmentBrokenError, InputError
from qiongli_mcp.http import listen, parse_address, read_token

TOKEN = "a-token-of-more-than-16-characters"
TASK = "We use CRSP abnormal returns in an event study, for the Journal of Finance"


@contextmanager
def serving(*options: str, **environment: str) -> Iterator[str]:
    """The address of a server on a free port."""
    command = [sys.executable, "-m", "qiongli", "mcp", "serve", "--http", "127.0.0.1:0", *options]
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        env={**os.environ, **environment},
    )
    assert process.stderr is not None
    assert process.stdout is not None
    # Nobody may fill the pipe, or the server would wait for its reader.
    drain = threading.Thread(target=process.stderr.read, daemon=True)
    try:
        said = ""
        for line in process.stderr:
            said += line
            if found := re.search(r"http://\S+", line):
                break
        else:
            raise AssertionError(said)
        drain.start()
        yield found[0]
    finally:
        process.terminate()
        process.wait(20)
        assert process.stdout.read() == ""
        process.stdout.close()
        if drain.ident is not None:
            drain.join(20)
        process.stderr.close()


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """A server that wants a token."""
    with serving("--token-env", "QIONGLI_TEST_TOKEN", QIONGLI_TEST_TOKEN=TOKEN) as found:
        yield found


def post(address: str, **headers: str) -> tuple[int, str, dict[str, str]]:
    """One `initialize` of the older era, by hand."""
    body = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        },
    }
    given = {
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        **{name.replace("_", "-"): value for name, value in headers.items()},
    }
    request = urllib.request.Request(address, json.dumps(body).encode(), given)
    try:
        with urllib.request.urlopen(request, timeout=20) as response:
            return response.status, response.read().decode(), dict(response.headers)
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode(), dict(error.headers)


def test_a_tool_is_called_over_http_in_both_eras(address: str, era: str) -> None:
    async def main() -> Any:
        async with httpx2.AsyncClient(headers={"Authorization": f"Bearer {TOKEN}"}, timeout=30) as http:
            transport = streamable_http_client(address, http_client=http)
            async with Client(transport, mode=era) as client:  # type: ignore[arg-type]
                tools = (await client.list_tools()).tools
                return tools, await client.call_tool("qiongli_route", {"text": TASK})

    tools, result = anyio.run(main)
    assert "qiongli_subject_update" in [tool.name for tool in tools]
    assert not result.is_error
    assert result.structured_content["decision"] in ("suggest_subject", "borrow_lens")


def test_the_user_is_asked_over_http_in_both_eras(address: str, era: str, tmp_path: Path) -> None:
    async def answer(_: Any, __: Any) -> ElicitResult:
        return ElicitResult(action="accept", content={})

    async def main() -> Any:
        async with httpx2.AsyncClient(headers={"Authorization": f"Bearer {TOKEN}"}, timeout=30) as http:
            transport = streamable_http_client(address, http_client=http)
            async with Client(transport, mode=era, elicitation_callback=answer) as client:  # type: ignore[arg-type]
                wish = {"cwd": str(tmp_path), "action": "confirm", "subject": "finance"}
                return await client.call_tool("qiongli_subject_update", wish)

    assert anyio.run(main).structured_content["outcome"] == "applied"
    assert (tmp_path / ".qiongli" / "guidance_manifest.yaml").exists()


def test_the_right_token_is_let_in(address: str) -> None:
    status, body, _ = post(address, Authorization=f"Bearer {TOKEN}")
    assert status == 200
    assert '"serverInfo"' in body


@pytest.mark.parametrize("given", [None, "Bearer wrong", f"bearer {TOKEN}x", TOKEN, f"Basic {TOKEN}", "Bearer "])
def test_without_the_token_nobody_is_let_in_and_nothing_is_said(address: str, given: str | None) -> None:
    headers = {} if given is None else {"Authorization": given}
    status, body, answered = post(address, **headers)
    assert status == 401
    assert answered["www-authenticate"].startswith("Bearer ")
    assert TOKEN not in body + str(answered)


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({"Host": "evil.example.com"}, 421),
        ({"Host": "127.0.0.1.evil.example.com:80"}, 421),
        ({"Origin": "http://evil.example.com"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "http://localhost:3000"}, 200),
    ],
)
def test_host_and_origin_are_checked(address: str, headers: dict[str, str], expected: int) -> None:
    assert post(address, Authorization=f"Bearer {TOKEN}", **headers)[0] == expected


@pytest.mark.parametrize("name", ["127.0.0.1:8765", "127.0.0.2:1", "localhost:0", "[::1]:8765"])
def test_names_of_this_machine_are_accepted(name: str) -> None:
    host, port = parse_address(name)
    assert host in ("127.0.0.1", "127.0.0.2", "localhost", "::1")
    assert port in (0, 1, 8765)


@pytest.mark.parametrize(
    "name", ["0.0.0.0:80", "192.168.1.2:80", "[::]:80", "example.com:80", "localhost.x:80", "1:80"]
)
def test_another_address_is_refused(name: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_address(name)
    assert caught.value.code == "not_loopback"


@pytest.mark.parametrize("name", ["", "127.0.0.1", ":80", "127.0.0.1:", "127.0.0.1:99999", "::1:80", "a b:1"])
def test_what_is_no_address_is_a_usage_error(name: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_address(name)
    assert caught.value.code == "usage"


@pytest.mark.parametrize("token", [None, "", "short", "with a space in the middle", "x" * 20 + "\n"])
def test_a_missing_or_weak_token_is_refused(monkeypatch: pytest.MonkeyPatch, token: str | None) -> None:
    monkeypatch.delenv("QIONGLI_TEST_TOKEN", raising=False)
    if token is not None:
        monkeypatch.setenv("QIONGLI_TEST_TOKEN", token)
    with pytest.raises(InputError) as caught:
        read_token("QIONGLI_TEST_TOKEN")
    assert caught.value.code == "token_missing"
    assert token is None or not token.strip() or token not in str(caught.value)


def test_a_taken_port_is_an_error_in_words() -> None:
    with listen("127.0.0.1", 0) as taken:
        taken.listen()
        with pytest.raises(EnvironmentBrokenError) as caught:
            listen("127.0.0.1", taken.getsockname()[1])
    assert caught.value.code == "port_unusable"


def run(*options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "qiongli", "mcp", "serve", *options]
    return subprocess.run(
        command, capture_output=True, text=True, encoding="utf-8", check=False, timeout=60, stdin=subprocess.DEVNULL
    )


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (["--http", "0.0.0.0:80"], "not_loopback"),
        (["--http", "nonsense"], "usage"),
        (["--profile", "everything"], "usage"),
        (["--token-env", "X"], "usage"),
        (["--http", "127.0.0.1:0", "--token-env", "QIONGLI_NO_SUCH_TOKEN"], "token_missing"),
    ],
)
def test_a_server_that_would_be_unsafe_does_not_start(options: list[str], code: str) -> None:
    done = run(*options)
    assert done.returncode == 2
    assert done.stdout == ""
    assert f"error[{code}]" in done.stderr
    assert "Traceback" not in done.stderr
