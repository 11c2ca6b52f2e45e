"""Running the smoke: projects are prepared here, tasks go through the server, and nothing may have changed after."""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

import attrs

from qiongli.errors import EnvironmentBrokenError, InputError, QiongliError, StateRefusedError
from qiongli.records.smoke import SmokeCaseResult, SmokeReport
from qiongli.smoke.wire import ServerProcess

TOOL: Final = "qiongli_task_run"
_VERIFICATION_SECONDS: Final = 120.0
_LOOK_EVERY: Final = 0.2
#: Lowers subjects by name; a case that shows the gate at work sets it for its server.
_LOWERED: Final = "QIONGLI_SUBJECTS_DISABLED"
_AUTHORITY: Final = ("core", "overlay", "skill", "domain_profile", "method_pack", "venue_profile")
_AGENT_TASK: Final = (
    "This is a test of the connection. Answer with the single word READY, and neither read nor change any file."
)


@attrs.frozen
class SmokeCase:
    """One task, the state of its project, and what the preview must say.

    `project` are actions on the project before: `record`, `confirm`, `dismiss`, `lock`, each with its subject.
    `lowered` names a subject that is only a candidate for this case; `launch` an agent that the call asks for.
    """

    name: str
    category: str
    text: str
    expected: Mapping[str, Any]
    project: tuple[tuple[str, str], ...] = ()
    lowered: str = ""
    launch: str = ""


def load_cases() -> tuple[SmokeCase, ...]:
    """The shipped cases."""
    found = json.loads(files("qiongli.smoke").joinpath("cases.json").read_text(encoding="utf-8"))
    return tuple(
        SmokeCase(**{**entry, "project": tuple((action, subject) for action, subject in entry.get("project", ()))})
        for entry in found
    )


def run_preview(cases: Sequence[SmokeCase]) -> SmokeReport:
    """Every case through the real MCP server in a process that cannot start another.

    Raises `EnvironmentBrokenError`: `mcp_missing` without the server's distribution, `server_failed` when it breaks.
    """
    from qiongli.plugins.commands import list_commands

    if "mcp" not in dict(list_commands()):
        raise EnvironmentBrokenError(
            "the MCP server is not installed, or is kept out here",
            code="mcp_missing",
            hint="Run: pip install qiongli-mcp",
        )
    results: dict[str, SmokeCaseResult] = {}
    spawned: list[str] = []
    problems: list[str] = []
    with tempfile.TemporaryDirectory(prefix="qiongli-smoke-") as folder:
        for lowered in dict.fromkeys(case.lowered for case in cases):
            own = Path(folder, lowered or "usual")
            own.mkdir()
            group = [case for case in cases if case.lowered == lowered]
            for result in _run_group(group, own, lowered, spawned, problems):
                results[result.name] = result
    ordered = tuple(results[case.name] for case in cases)
    failed = sum(not result.passed for result in ordered)
    return SmokeReport(
        mode="preview",
        passed=not failed and not spawned and not problems,
        total=len(ordered),
        failed=failed,
        cases=ordered,
        spawned=tuple(spawned),
        problems=tuple(dict.fromkeys(problems)),
    )


def _run_group(
    cases: Sequence[SmokeCase], folder: Path, lowered: str, spawned: list[str], problems: list[str]
) -> Iterator[SmokeCaseResult]:
    projects = {case.name: _prepared(case, folder) for case in cases}
    report = folder / "processes.txt"
    report.touch()
    environment = {**os.environ, "PYTHONUTF8": "1"}
    if lowered:
        environment[_LOWERED] = lowered
    server = ServerProcess(
        [sys.executable, "-m", "qiongli.smoke.guard", str(report), "mcp", "serve"],
        environment=environment,
        errors=folder / "errors.txt",
    )
    try:
        if TOOL not in server.start():
            problems.append(f"the server offers no tool {TOOL}")
            return
        _wait_until_verified(server)
        for case in cases:
            yield _result(case, projects[case.name], server)
    finally:
        server.end()
        problems += server.problems
        spawned += report.read_text(encoding="utf-8").split()


def _prepared(case: SmokeCase, folder: Path) -> Path:
    """The folder of a case's project, with its actions done."""
    from qiongli.gate.admission import installed_catalogue
    from qiongli.project import apply_action
    from qiongli.runtime import open_router

    project = folder / case.name
    project.mkdir()
    for action, subject in case.project:
        if action == "record":
            open_router(project).route(case.text, record=True)
        else:
            apply_action(action, project, subject, catalogue=installed_catalogue)
    return project


def _wait_until_verified(server: ServerProcess) -> None:
    """Wait while the server measures subjects that this machine has not seen: until then nobody acts."""
    until = time.monotonic() + _VERIFICATION_SECONDS
    while time.monotonic() < until:
        rows = server.call("qiongli_subject_list", {})["subjects"]
        if not any(reason["code"] == "verifying" for row in rows for reason in row["reasons"]):
            return
        time.sleep(_LOOK_EVERY)


def _result(case: SmokeCase, project: Path, server: ServerProcess) -> SmokeCaseResult:
    before = _contents(project)
    arguments: dict[str, object] = {"text": case.text, "cwd": str(project)}
    if case.launch:
        arguments["launch"] = case.launch
    try:
        packet = server.call(TOOL, arguments)
    except QiongliError as error:
        return SmokeCaseResult(case.name, case.category, False, "", "", (str(error),))
    failures = [*differences(case, packet)]
    if _contents(project) != before:
        failures.append("the preview wrote into the project")
    refinement = packet["refinement"]
    return SmokeCaseResult(
        case.name,
        case.category,
        not failures,
        refinement["decision"],
        refinement["primary_subject"],
        tuple(failures),
    )


def _contents(project: Path) -> dict[str, bytes]:
    return {
        path.relative_to(project).as_posix(): path.read_bytes() for path in sorted(project.rglob("*")) if path.is_file()
    }


def differences(case: SmokeCase, packet: Mapping[str, Any]) -> Iterator[str]:
    """What a preview says otherwise than the case expects, or than every preview must."""
    refinement, bundle = packet["refinement"], packet["context_bundle"]
    parts = [f"{part['subject']}/{part['kind']}/{part['name']}" for part in bundle["parts"]]
    waiting = [
        f"{part['subject']}/{part['kind']}/{part['name']}"
        for part in bundle["left_out"]
        if part["code"] == "unconfirmed"
    ]
    found = {
        "decision": refinement["decision"],
        "primary_subject": refinement["primary_subject"],
        "domain": packet["domain"],
        "method_lenses": sorted(refinement["method_lenses"]),
        "borrowed_lenses": sorted(f"{lens['subject']}/{lens['lens']}" for lens in refinement["borrowed_lenses"]),
        "suggestion": (packet["suggestion"] or {}).get("status", ""),
        "protected": bool(packet["near_miss_protections"]),
        "blocked": [item["subject"] for item in packet["blocked_candidates"]],
        "bundle": parts,
        "waiting": waiting,
    }
    for name, value in case.expected.items():
        # Of lists only what is named must be there: further subjects may be installed.
        missing = (
            [item for item in value if item not in found[name]] if isinstance(value, list) else value != found[name]
        )
        if missing:
            yield f"{name} is {found[name]!r}, expected {value!r}"
    if packet["mode"] != "preview" or packet["launch"]["allowed"] or packet["agent"] is not None:
        yield "it is no mere preview"
    if packet["recording"] is not None:
        yield "a preview was recorded"
    order = [_AUTHORITY.index(part["kind"]) for part in bundle["parts"]]
    if order != sorted(order) or order[:1] != [0]:
        yield f"the bundle is not in order of authority: {parts}"
    if not all(part["checksum"].startswith("sha256:") and part["source"] for part in bundle["parts"]):
        yield "a part of the bundle lacks its source or checksum"
    if refinement["decision"] == "suggest_subject" and any(part["activation"] == "applied" for part in bundle["parts"]):
        yield "an unconfirmed suggestion was applied"


def run_local_agent(agent: str, timeout: float) -> SmokeReport:
    """Start a real agent on a small task in an empty project, with the user's flag and setting as everywhere.

    Raises `StateRefusedError` (`launch_not_permitted`) without the setting, and as launching does.
    """
    from qiongli.task import Launching, run_task

    if not agent:
        raise InputError("the mode local-agent needs an agent", code="usage", hint="Add: --agent NAME")
    with tempfile.TemporaryDirectory(prefix="qiongli-smoke-") as folder:
        done = run_task(_AGENT_TASK, cwd=Path(folder), launching=Launching(agent, timeout))
    if not done.launch.allowed:
        reason = done.launch.reasons[0]
        raise StateRefusedError(reason.message, code="launch_not_permitted", hint=reason.hint)
    outcome = done.agent
    fine = outcome is not None and outcome.status == "finished"
    failures = () if fine else (f"the agent {outcome.status if outcome else 'was not started'}",)
    case = SmokeCaseResult(
        f"agent-{agent}",
        "local_agent",
        fine,
        done.refinement.decision,
        done.refinement.primary_subject,
        failures,
    )
    return SmokeReport("local-agent", fine, 1, int(not fine), (case,), agent=outcome)
