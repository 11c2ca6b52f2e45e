"""`qiongli doctor`: what the installation is like, and how to mend it."""

from __future__ import annotations

from typing import Annotated

import typer

from qiongli.cli._output import emit
from qiongli.errors import ExitCode


def doctor(as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False) -> None:
    """Examine the installation and say how to mend it; exit 4 when something is broken."""
    from qiongli.plugins.diagnosis import examine

    diagnosis = examine()
    mark = {"ok": "ok  ", "warning": "warn", "failure": "FAIL"}
    lines = []
    for finding in diagnosis.findings:
        lines.append(f"{mark[finding.health]}  {finding.name}: {finding.message}")
        if finding.hint:
            lines.append(f"      {finding.hint}")
    emit(diagnosis.to_packet(), "\n".join(lines), as_json)
    if not diagnosis.healthy:
        raise typer.Exit(int(ExitCode.BROKEN_ENVIRONMENT))
