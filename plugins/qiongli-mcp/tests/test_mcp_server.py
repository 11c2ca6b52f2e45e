"""The server answers in both protocol eras with the packets that the library gives."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import anyio
import jsonschema
import pytest
from mcp import Client

from qiongli.schemas import schema_text
from qiongli_mcp.server import build_server

TASK = "We use CRSP daily abnormal returns around earnings announcements in an event study, for the Journal of Finance"


def call(mode: str, tool: str, arguments: dict[str, Any]) -> Any:
    async def run() -> Any:
        async with Client(build_server(), mode=mode) as client:
            return await client.call_tool(tool, arguments)

    return anyio.run(run)


@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
def test_route_suggests_finance_and_fits_its_schema(mode: str) -> None:
    result = call(mode, "qiongli_route", {"text": TASK})
    assert not result.is_error
    assert result.structured_content["decision"] == "suggest_subject"
    assert result.structured_content["primary_subject"] == "finance"
    jsonschema.validate(result.structured_content, json.loads(schema_text("packet")))


@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
def test_status_of_a_new_project_is_auto(mode: str, tmp_path: Path) -> None:
    result = call(mode, "qiongli_subject_status", {"cwd": str(tmp_path)})
    assert result.structured_content["active_subject"] == "auto"
    assert not (tmp_path / ".qiongli").exists()


def test_unknown_arguments_are_refused() -> None:
    assert call("legacy", "qiongli_route", {"text": TASK, "subject": "finance"}).is_error


def test_a_missing_folder_is_an_error_and_creates_nothing(tmp_path: Path) -> None:
    result = call("legacy", "qiongli_subject_status", {"cwd": str(tmp_path / "none")})
    assert result.is_error
    assert json.loads(result.content[0].text.splitlines()[-1])["code"] == "no_such_folder"
    assert not (tmp_path / "none").exists()
