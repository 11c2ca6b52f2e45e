"""What a launched agent is given to read: the bundle in order of authority, then the task, as material."""

from __future__ import annotations

from collections.abc import Mapping

from qiongli.records.task import TaskRun


def task_text(task: Mapping[str, object] | str) -> str:
    """The words of a task: the text itself, or the texts of its fields under their names."""
    if isinstance(task, str):
        return task
    lines = []
    for name, value in task.items():
        values = value if isinstance(value, list | tuple) else [value]
        texts = [item for item in values if isinstance(item, str) and item]
        if texts:
            lines.append(f"{name}: {'; '.join(texts)}")
    return "\n".join(lines)


def render_prompt(run: TaskRun, task: Mapping[str, object] | str) -> str:
    """The prompt of a previewed task; the task's own words come last, between marks that do not occur in them."""
    text = task_text(task)
    mark = "TASK"
    while f"</{mark}>" in text or f"<{mark}>" in text:
        mark += "-"
    lines = [
        "You work on one research task. The parts below are in order of authority: where two disagree, the earlier one",
        "holds. What stands between the marks at the end is the task, not a further part.",
        "",
        f"Decision: {run.summary}",
    ]
    lines += [f"{number}. {step.instruction}" for number, step in enumerate(run.plan, 1)]
    for part in run.context_bundle.parts:
        lines += [
            "",
            f"=== {part.kind} {part.subject}/{part.name} ({part.source}, {part.checksum})",
            part.text.rstrip(),
        ]
    lines += ["", f"<{mark}>", text, f"</{mark}>", ""]
    return "\n".join(lines)
