"""`qiongli route`: texts, files or standard input in, packets out."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from qiongli.cli._arguments import tasks_of
from qiongli.cli._folder import FindProject, OptionalCwd, look_above
from qiongli.cli._output import say_what_failed, write
from qiongli.errors import InputError
from qiongli.records._units import SCHEMA_VERSION, to_json

if TYPE_CHECKING:
    from qiongli.diagnostics import Recorder
    from qiongli.records.packet import RefinementPacket
    from qiongli.runtime import Router


def route(
    inputs: Annotated[
        list[str] | None,
        typer.Argument(help="Texts or files; - is standard input. What is named as a file must be one."),
    ] = None,
    text: Annotated[list[str] | None, typer.Option("--text", help="A text, even if a file has that name.")] = None,
    file: Annotated[list[Path] | None, typer.Option("--file", help="A file; it is an error if it is missing.")] = None,
    cwd: OptionalCwd = None,
    find_project: FindProject = False,
    record: Annotated[bool, typer.Option("--record", help="Record the run in the project's memory and trace.")] = False,
    budget: Annotated[int | None, typer.Option("--budget", min=1, help="Tokens that resources may take.")] = None,
    answer: Annotated[list[str] | None, typer.Option("--answer", help="ID=SUBJECT: answer a clarification.")] = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Show evidence, the sum of the score, what would change it.")
    ] = False,
    diagnostics: Annotated[
        bool, typer.Option("--diagnostics", help="Add redacted events of the engine to the packet's diagnostics.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
    as_jsonl: Annotated[bool, typer.Option("--jsonl", help="Print one packet a line.")] = False,
) -> None:
    """Route research tasks to the discipline whose standards apply, or leave them alone."""
    if record and cwd is None:
        raise InputError("--record needs a project", code="usage", hint="Add: --cwd DIR")
    tasks = tasks_of(inputs or [], text or [], file or [], cwd)
    look_above(cwd, find_project)
    router = _router(cwd, find_project)
    answers = answers_of(answer or [])
    packets: list[RefinementPacket] = []
    for task in tasks:
        recorder = _recorder(router) if diagnostics else None
        packet = router.route(task, budget=budget, answers=answers, record=record, recorder=recorder)
        if explain:
            from qiongli.refinement.explanation import explained

            packet = explained(packet)
        if as_jsonl:
            write(to_json(packet.to_packet(), indent=None))
        packets.append(packet)
    say_what_failed(router.runtime.hooks)
    if as_jsonl:
        return
    if as_json:
        documents = [packet.to_packet() for packet in packets]
        write(
            to_json(documents[0] if len(documents) == 1 else {"packets": documents, "schema_version": SCHEMA_VERSION})
        )
        return
    from qiongli.cli._explain import events, explanation, summary

    show = explanation if explain else summary
    write("\n\n".join(f"{show(packet)}\n{events(packet)}" if diagnostics else show(packet) for packet in packets))


def _router(cwd: Path | None, find_project: bool) -> Router:
    from qiongli.runtime import open_router

    return open_router(cwd, find_project=find_project)


def _recorder(router: Router) -> Recorder:
    from qiongli.refinement import recorder_for

    return recorder_for(router.runtime.catalogue)


def answers_of(arguments: list[str]) -> dict[str, str]:
    """Answers to clarifications by the id of the question; raises `InputError` for what is not ID=SUBJECT."""
    answers = {}
    for argument in arguments:
        identifier, separator, subject = argument.rpartition("=")
        if not separator or not identifier or not subject:
            raise InputError(f"{argument!r} is no answer", code="usage", expected="ID=SUBJECT")
        answers[identifier] = subject
    return answers
