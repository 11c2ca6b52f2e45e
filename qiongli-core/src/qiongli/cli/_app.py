"""The tree of commands: static names and help lines, modules imported only when their command runs."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from typing import Any, Final

import typer
from typer import _click as click
from typer.core import TyperGroup

from qiongli.cli._output import emit_error, message
from qiongli.errors import EnvironmentBrokenError, ExitCode, InputError, QiongliError

#: Command name to (target `module:attribute`, help line). A target is a function, a `typer.Typer` or a nested table.
Commands = Mapping[str, tuple[Any, str]]

SUBJECT_COMMANDS: Final[Commands] = {
    "list": ("qiongli.cli.subject:list_subjects", "List installed subjects, their states and the reasons."),
    "show": ("qiongli.cli.subject:show", "Show one subject: contract, signals, lenses, resources."),
    "explain": ("qiongli.cli.subject:explain", "Say why a subject is, or is not, suggested for a text."),
    "status": ("qiongli.cli.subject_actions:status", "Show the subject of a project."),
    "confirm": ("qiongli.cli.subject_actions:confirm", "Confirm a subject for a project."),
    "dismiss": ("qiongli.cli.subject_actions:dismiss", "Turn a suggested subject down."),
    "reset": ("qiongli.cli.subject_actions:reset", "Return a project to the adaptive core."),
    "lock": ("qiongli.cli.subject_actions:lock", "Lock a project to a subject."),
    "unlock": ("qiongli.cli.subject_actions:unlock", "Turn a lock into a confirmation."),
}

COMMANDS: Final[Commands] = {
    "route": ("qiongli.cli.route:route", "Route a research task: text, files or standard input."),
    "task": ("qiongli.cli.task:app", "Preview a task: plan, guidance, what stands in the way."),
    "demo": ("qiongli.cli.demo:demo", "Route eight shipped example tasks and show the table."),
    "subject": (SUBJECT_COMMANDS, "List subjects, and decide on the subject of a project."),
    "project": ("qiongli.cli.project:app", "Create, show and edit a project's manifest."),
    "guidance": ("qiongli.cli.guidance:app", "Show, check and apply the managed guidance block."),
    "trace": ("qiongli.cli.trace:app", "List, show and prune recorded runs."),
    "apply": ("qiongli.cli.apply:apply", "Apply a proposal of this project."),
    "undo": ("qiongli.cli.apply:undo", "Revert the last action on this project."),
    "resource": ("qiongli.cli.resource:app", "List and show the resources of subjects."),
    "contract": ("qiongli.cli.contract:app", "Validate, compare and scaffold subject contracts."),
    "evaluate": ("qiongli.cli.evaluate:evaluate", "Measure the router on fixtures or labelled text."),
    "gate": ("qiongli.cli.gate:app", "Check, promote, verify, revoke and explain activation."),
    "smoke": ("qiongli.cli.smoke:smoke", "Run the shipped cases through the real MCP server."),
    "plugins": ("qiongli.cli.plugins:app", "List, allow and block plugin distributions."),
    "schema": ("qiongli.cli.schema:schema", "Print the JSON Schema of a published structure."),
    "doctor": ("qiongli.cli.doctor:doctor", "Examine the installation and say how to mend it."),
}

#: Options that are understood anywhere on the command line, before anything is imported.
_NO_PLUGINS: Final = "--no-plugins"


class LazyGroup(TyperGroup):
    """A group that knows its commands by name and imports the module of a command only to run it."""

    def __init__(self, table: Commands, *, with_plugins: bool = False, **attributes: Any) -> None:
        super().__init__(rich_markup_mode=None, no_args_is_help=True, **attributes)
        self._table = table
        self._with_plugins = with_plugins

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  # the signature is typer's
        """Name every command, plugins' last."""
        return [*self._table, *(name for name, _ in self._plugin_commands())]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Import and build one command."""
        if cmd_name in self._table:
            target, text = self._table[cmd_name]
            if not isinstance(target, str):
                return LazyGroup(target, name=cmd_name, help=text)
            return _build(cmd_name, _load(target))
        if self._with_plugins:
            from qiongli.plugins.commands import load_command

            plugin_target = load_command(cmd_name)
            if plugin_target is not None:
                return _build(cmd_name, plugin_target)
        return None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command, or say which names are near."""
        try:
            return super().resolve_command(ctx, args)
        except click.exceptions.UsageError as error:
            near = get_close_matches(args[0], self.list_commands(ctx))
            if near and "Did you mean" not in error.message:
                error.message = f"{error.message.rstrip('.')}. Did you mean {', '.join(near)}?"
            raise

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """Print the static help lines, so that help imports no command."""
        rows = [(name, text) for name, (_, text) in self._table.items()]
        rows += [(name, f"From {distribution}.") for name, distribution in self._plugin_commands()]
        with formatter.section("Commands"):
            formatter.write_dl(rows)

    def _plugin_commands(self) -> Iterator[tuple[str, str]]:
        if self._with_plugins:
            from qiongli.plugins.commands import list_commands

            yield from list_commands()


def _load(target: str) -> Any:
    module, _, attribute = target.partition(":")
    return getattr(importlib.import_module(module), attribute)


def _build(name: str, target: Any) -> click.Command:
    if isinstance(target, typer.Typer):
        application = target
    else:
        application = typer.Typer()
        application.command(name=name)(target)
    application.rich_markup_mode = None
    application.pretty_exceptions_enable = False
    # Completion options belong to the root alone.
    application._add_completion = False
    command = typer.main.get_command(application)
    command.name = name
    return command


def application() -> LazyGroup:
    """The root of the tree of commands."""
    return LazyGroup(
        COMMANDS,
        with_plugins=True,
        name="qiongli",
        help="Route research tasks to the discipline whose standards apply. "
        "Every command takes --json; --no-plugins anywhere runs without third-party plugins; --version.",
    )


def run_application(arguments: list[str]) -> int:
    """Parse and run; every foreseen failure becomes a message and an exit code, never a traceback."""
    plain = arguments[: arguments.index("--")] if "--" in arguments else arguments
    as_json = "--json" in plain or "--jsonl" in plain
    if _NO_PLUGINS in plain:
        arguments = [argument for argument in arguments if argument != _NO_PLUGINS]
        os.environ["QIONGLI_PLUGINS"] = "none"
    try:
        result = application().main(args=arguments, prog_name="qiongli", standalone_mode=False)
    except QiongliError as error:
        emit_error(error, as_json)
        return int(error.exit_code)
    except click.exceptions.NoArgsIsHelpError as error:
        message(error.format_message())
        return int(ExitCode.INVALID_INPUT)
    except click.exceptions.UsageError as error:
        command = error.ctx.command_path if error.ctx else "qiongli"
        emit_error(InputError(error.format_message(), code="usage", hint=f"Run: {command} --help"), as_json)
        return int(ExitCode.INVALID_INPUT)
    except click.exceptions.ClickException as error:
        emit_error(InputError(error.format_message(), code="usage"), as_json)
        return int(ExitCode.INVALID_INPUT)
    except (typer.Abort, KeyboardInterrupt):
        message("interrupted")
        return int(ExitCode.INTERRUPTED)
    except BrokenPipeError:
        # The reader is gone, as in `qiongli ... | head`; keep the interpreter from complaining at shutdown.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return int(ExitCode.FINE)
    except OSError as error:
        emit_error(
            EnvironmentBrokenError(
                f"the operating system refused: {error.strerror or error}",
                code="operating_system",
                place=str(error.filename or ""),
                hint="Run: qiongli doctor",
            ),
            as_json,
        )
        return int(ExitCode.BROKEN_ENVIRONMENT)
    return result if isinstance(result, int) else int(ExitCode.FINE)
