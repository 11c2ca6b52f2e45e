"""Other distributions add tools through the hook; a bad one is named on standard error and costs nobody else."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest

from qiongli.testing import FakeDistributions
from qiongli_mcp.plugin_tools import MAXIMUM_DEFAULT_TOOLS
from qiongli_mcp.runtime_access import HOLDER, hooks_at_start
from qiongli_mcp.server import Profile, build_server

HEAD = "from qiongli.hookspecs import hookimpl, ToolSpec\n"

GOOD = (
    HEAD
    + '''
@hookimpl
def qiongli_mcp_tools():
    return [ToolSpec("weather", "fake_tools:weather", annotations={"read_only_hint": True, "openWorldHint": False})]

def weather(place: str) -> dict:
    """Say what the weather is."""
    print("a stray line")
    return {"place": place, "sky": "blue"}

weather.output_schema = {"type": "object", "properties": {"sky": {"type": "string"}}, "required": ["sky"]}
'''
)


@pytest.fixture(autouse=True)
def _anew() -> Iterator[None]:
    HOLDER.forget()
    yield
    HOLDER.forget()


def install(fake: FakeDistributions, name: str, code: str) -> None:
    package = name.replace("-", "_")
    fake.add_package(package, {"__init__.py": code})
    fake.add(name, entry_points=f"[qiongli.plugins]\n{package} = {package}\n")


def names(profile: Profile = "default") -> list[str]:
    return [tool.name for tool in build_server(profile)._tool_manager.list_tools()]


def specs(*tools: str, profile: str = "default", module: str = "fake_many") -> str:
    listed = ", ".join(f"ToolSpec({name!r}, '{module}:tool', {profile!r})" for name in tools)
    return (
        HEAD
        + f"@hookimpl\ndef qiongli_mcp_tools():\n    return [{listed}]\n"
        + "def tool(text: str = '') -> dict:\n    'A tool.'\n    return {'text': text}\n"
    )


def test_a_plugins_tool_is_listed_strict_and_called(fake_distributions: FakeDistributions, ask: Any) -> None:
    install(fake_distributions, "fake-tools", GOOD)
    server = build_server()
    tool = next(tool for tool in ask(lambda client: client.list_tools(), None, server).tools if tool.name == "weather")
    assert tool.input_schema["additionalProperties"] is False
    assert tool.output_schema["required"] == ["sky"]
    hints = tool.annotations
    # What the plugin does not say counts as the worst.
    assert (hints.read_only_hint, hints.destructive_hint, hints.open_world_hint) == (True, True, False)
    called = ask(lambda client: client.call_tool("weather", {"place": "x"}), None, server)
    assert called.structured_content == {"place": "x", "sky": "blue"}
    refused = ask(lambda client: client.call_tool("weather", {"where": "x"}), None, server)
    assert json.loads(refused.content[0].text.splitlines()[-1])["code"] == "invalid_arguments"


def test_without_plugins_no_subject_is_looked_for_at_the_start(fake_distributions: FakeDistributions) -> None:
    assert fake_distributions.imported() == []
    assert hooks_at_start() is None
    build_server()
    assert HOLDER._runtime is None


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("raise ImportError('broken on purpose')", "broken on purpose"),
        ("import sys; sys.exit(3)", "SystemExit"),
        (HEAD + "@hookimpl\ndef qiongli_mcp_tools():\n    raise ValueError('hook fails')\n", "hook fails"),
        (HEAD + "@hookimpl\ndef qiongli_mcp_tools():\n    return 7\n", "not a sequence of ToolSpec"),
        (HEAD + "@hookimpl\ndef qiongli_mcp_tools():\n    return [{'name': 'x'}]\n", "not ToolSpec"),
        (specs("nowhere", module="no_such_module"), "no_such_module"),
        (specs("absent", module="json"), "tool"),
        (specs("qiongli_route"), "this server has a tool of that name"),
        (specs("twice", "twice"), "more than one plugin claims"),
        (specs("Bad-Name"), "its name must be"),
        (specs("x" * 37), "its name must be"),
        (specs("listy").replace("def tool(text: str = '')", "def tool(*texts)"), "listy"),
    ],
)
def test_a_bad_plugin_is_left_out_by_name_and_the_server_serves(
    fake_distributions: FakeDistributions, caplog: pytest.LogCaptureFixture, ask: Any, code: str, said: str
) -> None:
    install(fake_distributions, "fake-many", code)
    install(fake_distributions, "fake-tools", GOOD)
    with caplog.at_level(logging.WARNING):
        server = build_server()
    found = [tool.name for tool in server._tool_manager.list_tools()]
    assert found.count("qiongli_route") == 1
    assert "weather" in found
    assert not {"nowhere", "absent", "twice", "Bad-Name", "listy"} & set(found)
    assert said in caplog.text
    assert not ask(lambda client: client.call_tool("qiongli_subject_list", {}), None, server).is_error


def test_a_tool_of_a_plugin_that_fails_is_an_error_in_words(fake_distributions: FakeDistributions, ask: Any) -> None:
    install(
        fake_distributions, "fake-many", specs("fails").replace("return {'text'", "raise OSError('inside'); {'text'")
    )
    result = ask(lambda client: client.call_tool("fails", {}), None, build_server())
    assert result.is_error
    assert json.loads(result.content[0].text.splitlines()[-1])["code"] == "internal_error"
    assert "inside" not in result.content[0].text


def test_an_error_that_a_plugins_tool_means_to_show_is_shown(fake_distributions: FakeDistributions, ask: Any) -> None:
    raising = "from mcp.server.mcpserver.exceptions import ToolError; raise ToolError('no such place'); {'text'"
    install(fake_distributions, "fake-many", specs("fails").replace("return {'text'", raising))
    result = ask(lambda client: client.call_tool("fails", {}), None, build_server())
    prose, facts = result.content[0].text.split("\n")
    assert prose == "no such place"
    assert json.loads(facts)["code"] == "tool_failed"


def test_the_default_profile_never_holds_more_than_clients_show(
    fake_distributions: FakeDistributions, caplog: pytest.LogCaptureFixture
) -> None:
    install(fake_distributions, "fake-many", specs(*(f"extra_{number:02}" for number in range(20))))
    found = names()
    assert len(found) == MAXIMUM_DEFAULT_TOOLS
    assert "extra_19" not in found
    assert "at most 15 tools" in caplog.text


def test_tools_of_the_evolution_profile_are_offered_there_only(fake_distributions: FakeDistributions) -> None:
    install(fake_distributions, "fake-many", specs("evolve", profile="evolution"))
    assert "evolve" not in names()
    HOLDER.forget()
    evolution = names("evolution")
    assert "evolve" in evolution
    assert "qiongli_route" in evolution


def test_a_hook_that_fails_while_a_task_is_routed_is_named_once(
    fake_distributions: FakeDistributions, caplog: pytest.LogCaptureFixture, call: Any
) -> None:
    code = HEAD + "@hookimpl\ndef qiongli_detect(document):\n    raise ValueError('of the text')\n"
    install(fake_distributions, "fake-many", code)
    for _ in range(2):
        assert not call("qiongli_route", {"text": "an event study"}).is_error
    said = [record.getMessage() for record in caplog.records if "qiongli_detect" in record.getMessage()]
    assert len(said) == 1
    assert "fake-many" in said[0]
    # What a plugin says may hold the task's text.
    assert "of the text" not in said[0]
