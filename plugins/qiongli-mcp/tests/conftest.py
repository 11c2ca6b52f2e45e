"""A client in both protocol eras, and a runtime whose verification is done."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp_types import ElicitResult

from qiongli_mcp.runtime_access import HOLDER
from qiongli_mcp.server import build_server

ERAS = ("legacy", "2026-07-28")


@pytest.fixture(scope="session", autouse=True)
def _verified() -> None:
    HOLDER.get()
    HOLDER.wait()


@pytest.fixture(params=ERAS, ids=["legacy", "modern"])
def era(request: pytest.FixtureRequest) -> str:
    """The mode of the client."""
    return str(request.param)


@pytest.fixture(scope="session")
def shared_server() -> Any:
    """One server for all tests that need none of their own: it keeps nothing between clients but waiting plans."""
    return build_server()


@pytest.fixture
def ask(era: str, shared_server: Any) -> Callable[..., Any]:
    """Run one exchange: a function of a connected client, whose user answers `says` (None: it cannot ask)."""

    def run(exchange: Callable[[Client], Any], says: str | None = None, server: Any = None) -> Any:
        async def answer(_: Any, params: Any) -> ElicitResult:
            assert set(params.requested_schema) <= {"$schema", "type", "properties", "required"}
            assert not params.requested_schema.get("required")
            run.asked.append(params.message)  # type: ignore[attr-defined]
            return ElicitResult(action=says, content={} if says == "accept" else None)  # type: ignore[arg-type]

        async def main() -> Any:
            callback = {} if says is None else {"elicitation_callback": answer}
            async with Client(server or shared_server, mode=era, **callback) as client:  # type: ignore[arg-type]
                return await exchange(client)

        return anyio.run(main)

    run.asked = []  # type: ignore[attr-defined]
    return run


@pytest.fixture
def call(ask: Callable[..., Any]) -> Callable[..., Any]:
    """Call one tool of a new server."""

    def run(tool: str, arguments: dict[str, Any], says: str | None = None) -> Any:
        return ask(lambda client: client.call_tool(tool, arguments), says)

    run.asked = ask.asked  # type: ignore[attr-defined]
    return run
