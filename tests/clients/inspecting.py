"""The Inspector's command line against the server on standard streams, in both protocol eras."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

from npm import Programs

ERAS: Final = ("legacy", "modern")
TASK: Final = "We use CRSP abnormal returns in an event study for the Journal of Finance"

#: Arguments that each known tool answers without an error; a tool that is not here is listed and linted only.
#: `{cwd}` stands for the folder of an empty project.
ARGUMENTS: Final[dict[str, dict[str, Any]]] = {
    "qiongli_route": {"text": TASK},
    "qiongli_task_run": {"text": TASK, "cwd": "{cwd}"},
    "qiongli_subject_status": {"cwd": "{cwd}"},
    "qiongli_subject_list": {},
    "qiongli_subject_explain": {"subject": "finance", "text": TASK},
    "qiongli_subject_update": {"cwd": "{cwd}", "action": "confirm", "subject": "finance"},
    "qiongli_resource_read": {"subject": "finance", "kind": "overlay"},
    "qiongli_gate_report": {"subject": "finance"},
    "qiongli_observe": {"cwd": "{cwd}", "text": TASK},
    "qiongli_trace": {"cwd": "{cwd}"},
}


def inspect(programs: Programs, folder: Path) -> list[str]:
    """Every fault that the Inspector finds; prints what it counted."""
    faults: list[str] = []
    # A server verifies new subjects beside its first calls; here the answers must not depend on how far it is.
    subprocess.run([sys.executable, "-m", "qiongli", "subject", "list", "--json"], check=True, capture_output=True)
    for era in ERAS:
        project = folder / f"project-{era}"
        project.mkdir()
        inspector = Inspector(programs, era, faults)
        tools = inspector.rows("tools/list", "tools", "--strict")
        print(f"inspector, {era}: {len(tools)} tools, schemas accepted by --strict")
        called = [tool["name"] for tool in tools if tool["name"] in ARGUMENTS]
        for name in called:
            arguments = json.dumps(ARGUMENTS[name]).replace("{cwd}", str(project))
            inspector.call(name, arguments)
        print(f"inspector, {era}: called {len(called)} tools, {', '.join(called)}")
        if missing := sorted({tool["name"] for tool in tools} - set(called)):
            faults.append(f"no arguments are known to call {', '.join(missing)} with")
        for method, key in (
            ("resources/list", "resources"),
            ("resources/templates/list", "resourceTemplates"),
            ("prompts/list", "prompts"),
        ):
            rows = inspector.rows(method, key)
            print(f"inspector, {era}: {method} {len(rows)}")
            if method == "resources/list":
                for row in rows:
                    inspector.run("resources/read", "--uri", row["uri"])
    # Skills over MCP exist in the modern era only; the client reads every file and compares the digests.
    verified = Inspector(programs, "modern", faults).text("skills/list", "--verify", "--require-digests")
    skills = [line for line in verified.splitlines() if line.startswith("{")]
    print(f"inspector, modern: {len(skills)} skills, digests verified")
    if not skills:
        faults.append("the server offers no skills")
    return faults


class Inspector:
    """The client in one era; collects what goes wrong instead of stopping at the first fault."""

    def __init__(self, programs: Programs, era: str, faults: list[str]) -> None:
        self._command = [*programs.command("mcp-inspector"), "--cli", sys.executable, "-m", "qiongli", "mcp", "serve"]
        self._era = era
        self._faults = faults

    def text(self, method: str, *options: str) -> str:
        """What the client prints for one method; nothing when it failed."""
        done = subprocess.run(
            [*self._command, "--method", method, *options, "--protocol-era", self._era, "--format", "json", "-q"],
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
            encoding="utf-8",
        )
        if done.returncode:
            said = f"{done.stdout[-400:]}{done.stderr[-400:]}".strip()
            self._faults.append(f"{self._era} {method} {' '.join(options)}: exit {done.returncode}: {said}")
            return ""
        return done.stdout

    def run(self, method: str, *options: str) -> dict[str, Any]:
        """What the server answers to one method; nothing when the client failed."""
        document = json.loads(self.text(method, *options) or "{}")
        result: dict[str, Any] = document.get("result", document)
        return result

    def rows(self, method: str, key: str, *options: str) -> list[dict[str, Any]]:
        """The rows of a list method."""
        rows: list[dict[str, Any]] = self.run(method, *options).get(key, [])
        return rows

    def call(self, name: str, arguments: str) -> None:
        """Call a tool; the client exits with 5 when the tool answers with an error."""
        answer = self.run("tools/call", "--tool-name", name, "--tool-args-json", arguments)
        found = answer.get("structuredContent", {})
        if answer and name == "qiongli_route" and found.get("decision") != "suggest_subject":
            self._faults.append(f"{self._era} {name}: no suggestion of a subject: {json.dumps(answer)[:400]}")
        # The client cannot ask anybody here, so a change must wait for a second call.
        if answer and name == "qiongli_subject_update" and found.get("outcome") != "needs_confirmation":
            self._faults.append(f"{self._era} {name}: not asked for a confirmation: {json.dumps(answer)[:400]}")
