"""`qiongli doctor`: what the installation is like, and how to mend it."""

from __future__ import annotations

from contextlib import suppress
from typing import Annotated

import typer

from qiongli.cli._output import emit
from qiongli.errors import ExitCode

_MARKS = {"ok": "ok  ", "warning": "warn", "failure": "FAIL"}


def doctor(
    strict: Annotated[bool, typer.Option("--strict", help="Exit 1 when anything at all is to be mended.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Examine the installation and say how to mend it; exit 4 when core itself cannot work."""
    from qiongli.plugins.diagnosis import examine

    with suppress(Exception):
        # Records that this machine has not seen are verified first; doctor itself runs where nothing else does.
        from qiongli.gate.admission import installed_catalogue

        installed_catalogue()
    diagnosis = examine()
    lines = [
        f"qiongli {diagnosis.core_version} on Python {diagnosis.interpreter.version}",
        f"interpreter: {diagnosis.interpreter.executable}",
        f"prefix:      {diagnosis.interpreter.prefix}",
        f"to install:  {diagnosis.interpreter.pip}",
    ]
    for finding in diagnosis.findings:
        lines.append(f"{_MARKS[finding.health]}  {finding.name}: {finding.message}")
        if finding.hint:
            lines.append(f"      {finding.hint}")
    emit(diagnosis.to_packet(), "\n".join(lines), as_json)
    if not diagnosis.healthy:
        raise typer.Exit(int(ExitCode.BROKEN_ENVIRONMENT))
    if strict and not diagnosis.spotless:
        raise typer.Exit(int(ExitCode.ANSWER_IS_NO))
