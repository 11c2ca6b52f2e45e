"""Resources, completions, prompts and skills give what the tools give, by address or by name, in both eras."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp_types import PromptReference, Request, ResourceTemplateReference
from pydantic import TypeAdapter

from qiongli.gate.admission import installed_catalogue
from qiongli.project import apply_action
from qiongli_mcp import resources, skills
from qiongli_mcp.runtime_access import current_catalogue
from qiongli_mcp.server import build_server

TASK = "We use CRSP abnormal returns in an event study, for the Journal of Finance"
TEMPLATE = "qiongli://subject/{subject}/{kind}/{name}"


def read(ask: Any, uri: str) -> Any:
    return ask(lambda client: client.read_resource(uri)).contents[0]


def refusal(ask: Any, uri: str) -> MCPError:
    # It arrives in the groups of the tasks that it went through.
    with pytest.raises(BaseException) as caught:
        read(ask, uri)
    error = innermost(caught.value)
    assert isinstance(error, MCPError), error
    return error


def innermost(error: BaseException) -> BaseException:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def test_the_addresses_are_listed(ask: Any) -> None:
    listed = {str(item.uri): item for item in ask(lambda client: client.list_resources()).resources}
    assert {"qiongli://subjects", "qiongli://project/status", "skill://finance/SKILL.md"} <= listed.keys()
    templates = {item.uri_template for item in ask(lambda c: c.list_resource_templates()).resource_templates}
    assert {TEMPLATE, "qiongli://project/status{?cwd}", "skill://{skill}/{+path}"} == templates
    skill = listed["skill://finance/SKILL.md"]
    assert (skill.name, skill.mime_type) == ("finance", "text/markdown")


def test_the_subjects_are_those_of_the_tool(ask: Any, call: Any) -> None:
    content = read(ask, "qiongli://subjects")
    assert content.mime_type == "application/json"
    assert json.loads(content.text) == call("qiongli_subject_list", {"detail": "full"}).structured_content


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("overlay", "finance"),
        ("skill", "finance"),
        ("method_pack", "event-study"),
        ("venue_profile", "journal-of-finance"),
        ("domain_profile", "finance"),
    ],
)
def test_a_subjects_resource_is_the_file_that_its_package_ships(ask: Any, call: Any, kind: str, name: str) -> None:
    text = read(ask, f"qiongli://subject/finance/{kind}/{name}").text
    arguments = {"subject": "finance", "kind": kind, "name": name, "detail": "full"}
    told = call("qiongli_resource_read", arguments).structured_content
    assert told["text"] == text
    assert told["truncated"] is False
    assert told["resource"]["checksum"] == "sha256:" + hashlib.sha256(text.encode()).hexdigest()


@pytest.mark.parametrize(
    "uri",
    [
        "qiongli://subject/finance/overlay/none",
        "qiongli://subject/alchemy/overlay/alchemy",
        "qiongli://subject/finance/secret/finance",
        "qiongli://subject/finance/overlay/..%2F..%2Fpyproject.toml",
        "qiongli://subject/..%2Ffinance/overlay/finance",
        "qiongli://nothing",
        "qiongli://project/status?cwd=relative",
        "qiongli://project/status?cwd=%2Fno%2Fsuch%2Ffolder",
        "skill://finance/../SKILL.md",
        "skill://finance/activation.json",
        "skill://finance/%2Fetc%2Fpasswd",
        "skill://alchemy/SKILL.md",
        "file:///etc/passwd",
    ],
)
def test_what_is_not_there_is_an_invalid_address(ask: Any, uri: str) -> None:
    error = refusal(ask, uri)
    assert error.code == -32602
    assert str(Path.cwd()) not in str(error)


def test_the_status_of_a_project_can_be_read_by_its_folder(
    ask: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    apply_action("confirm", tmp_path, "finance", catalogue=current_catalogue)
    from urllib.parse import quote

    by_folder = json.loads(read(ask, f"qiongli://project/status?cwd={quote(str(tmp_path), safe='')}").text)
    assert by_folder["active_subject"] == "finance"
    monkeypatch.chdir(tmp_path)
    assert json.loads(read(ask, "qiongli://project/status").text) == by_folder


def complete(ask: Any, ref: Any, argument: str, value: str, given: dict[str, str] | None = None) -> list[str]:
    result = ask(
        lambda client: client.complete(ref, {"name": argument, "value": value}, context_arguments=given)
    ).completion
    assert result.total == len(result.values)
    return list(result.values)


def test_subjects_kinds_and_names_are_completed(ask: Any) -> None:
    template = ResourceTemplateReference(type="ref/resource", uri=TEMPLATE)
    assert "finance" in complete(ask, template, "subject", "fin")
    assert complete(ask, template, "kind", "me") == ["method_pack"]
    finance = {"subject": "finance", "kind": "method_pack"}
    assert complete(ask, template, "name", "event", finance) == ["event-study"]
    assert complete(ask, template, "name", "event", {"subject": "finance", "kind": "overlay"}) == []
    prompt = PromptReference(type="ref/prompt", name="review_suggestion")
    assert complete(ask, prompt, "subject", "econ")[0] == "economics"
    assert complete(ask, prompt, "cwd", "/") == []


def test_names_that_may_not_be_loaded_are_not_completed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QIONGLI_SUBJECTS_DISABLED", "finance")
    lowered = installed_catalogue()
    monkeypatch.setattr(resources, "current_catalogue", lambda: lowered)
    assert resources.possible_values("name", {"subject": "finance", "kind": "overlay"}) == []
    assert resources.possible_values("name", {"subject": "economics", "kind": "overlay"}) == ["economics"]


def test_plan_task_gives_the_facts_and_the_rules(ask: Any, tmp_path: Path) -> None:
    prompts = {prompt.name: prompt for prompt in ask(lambda client: client.list_prompts()).prompts}
    assert [argument.name for argument in prompts["plan_task"].arguments] == ["task", "cwd"]
    assert all(argument.description for prompt in prompts.values() for argument in prompt.arguments)
    given = {"task": TASK, "cwd": str(tmp_path)}
    text = ask(lambda client: client.get_prompt("plan_task", given)).messages[0].content.text
    assert TASK in text
    assert '"decision": "suggest_subject"' in text
    assert "ask the user" in text
    assert str(tmp_path) not in text
    assert list(tmp_path.iterdir()) == []


def test_review_suggestion_gives_the_status_and_leaves_the_decision_to_the_user(
    ask: Any, call: Any, tmp_path: Path
) -> None:
    call("qiongli_observe", {"cwd": str(tmp_path), "text": TASK})
    given = {"cwd": str(tmp_path), "subject": "finance"}
    text = ask(lambda client: client.get_prompt("review_suggestion", given)).messages[0].content.text
    assert '"suggestion_count": 1' in text
    assert "do not decide for them" in text
    assert str(tmp_path) not in text


@pytest.mark.parametrize(
    ("name", "given", "code"),
    [
        ("review_suggestion", {"cwd": "relative"}, "cwd_not_absolute"),
        ("review_suggestion", {"cwd": "/", "subject": "alchemy"}, "unknown_subject"),
        ("review_suggestion", {}, "invalid_arguments"),
        ("plan_task", {"task": TASK, "cwd": "/no/such/folder"}, "no_such_folder"),
        ("plan_task", {"task": TASK, "nonsense": "x"}, "invalid_arguments"),
        ("plan_tasks", {"task": TASK}, "unknown_prompt"),
    ],
)
def test_a_prompt_that_cannot_be_filled_is_an_error_in_words(
    ask: Any, name: str, given: dict[str, str], code: str
) -> None:
    with pytest.raises(BaseException) as caught:
        ask(lambda client: client.get_prompt(name, given))
    error = innermost(caught.value)
    assert isinstance(error, MCPError)
    assert error.code == -32602
    assert error.error.data["code"] == code


async def extension(client: Any, method: str, **params: str) -> dict[str, Any]:
    request = Request[Any, Any](method=method, params=params)
    found: dict[str, Any] = await client.session.send_request(request, TypeAdapter(dict[str, Any]))
    return found


def test_skills_are_listed_and_given_by_address(ask: Any) -> None:
    listed = ask(lambda client: extension(client, "skills/list"))
    assert (listed["ttlMs"], listed["cacheScope"]) == (60_000, "private")
    assert listed["skills"] == [skill.entry() for skill in skills.subject_skills()]
    one = listed["skills"][0]
    assert ask(lambda client: extension(client, "skills/get", uri=one["uri"]))["skill"] == one
    for uri in ("skill://alchemy/SKILL.md", "skill://finance", "../finance"):
        with pytest.raises(BaseException) as caught:
            ask(lambda client, uri=uri: extension(client, "skills/get", uri=uri))
        assert "no such skill file" in repr(innermost(caught.value))


def test_every_file_of_a_skill_has_the_digest_and_size_that_are_listed(ask: Any) -> None:
    for skill in skills.subject_skills():
        entry = skill.entry()
        assert entry["uri"] in [item["uri"] for item in entry["resources"]]
        assert entry["uri"] == f"skill://{entry['frontmatter']['name']}/SKILL.md"
        for item in entry["resources"]:
            data = read(ask, item["uri"]).text.encode()
            assert item["size"] == len(data)
            assert item["digest"] == "sha256:" + hashlib.sha256(data).hexdigest()


def test_only_active_subjects_are_skills(monkeypatch: pytest.MonkeyPatch) -> None:
    states = {subject.contract.subject: subject.listing.state for subject in current_catalogue().subjects}
    listed = {skill.frontmatter["name"] for skill in skills.subject_skills()}
    assert listed == {slug for slug, state in states.items() if state == "active"}
    monkeypatch.setenv("QIONGLI_SUBJECTS_DISABLED", "finance")
    lowered = installed_catalogue()
    finance = lowered.get("finance")
    assert finance is not None
    assert finance.listing.state != "active"
    monkeypatch.setattr(skills, "settled_catalogue", lambda: lowered)
    assert "finance" not in {skill.frontmatter["name"] for skill in skills.subject_skills()}
    for path in ("SKILL.md", "overlays/finance.yaml"):
        with pytest.raises(MCPError, match="no such skill file"):
            skills.skill_file("finance", path)


def test_a_client_that_negotiates_learns_that_there_are_skills() -> None:
    async def read_extensions() -> Any:
        async with Client(build_server(), mode="auto") as client:
            return client.server_capabilities.extensions

    assert anyio.run(read_extensions) == {"io.modelcontextprotocol/skills": {}}
