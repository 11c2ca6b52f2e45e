"""Starting an agent's command line: no shell, an environment of named variables, a time limit, nothing left behind."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO, Final

from qiongli.diagnostics import redact_text
from qiongli.errors import EnvironmentBrokenError, StateRefusedError
from qiongli.hookspecs import AgentAdapter
from qiongli.records.task import AgentOutcome
from qiongli.task.consent import NESTED_VARIABLE

#: Seconds that an agent may take unless the caller says otherwise.
DEFAULT_TIMEOUT: Final = 600.0
#: Bytes that are kept of what an agent prints, of each stream the last ones.
KEPT_OUTPUT: Final = 16_384
#: Where the path of the prompt goes in an adapter's arguments; without it the prompt is the standard input.
PROMPT_FILE: Final = "{prompt_file}"

#: Variables that every program may need; what else is in this process's environment stays here.
_USUAL: Final = (
    *("PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR"),
    *("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR"),
    *("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy"),
    *("SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS"),
    *("SYSTEMROOT", "SYSTEMDRIVE", "COMSPEC", "PATHEXT", "TEMP", "TMP", "USERPROFILE", "APPDATA", "LOCALAPPDATA"),
)
_GRACE_SECONDS: Final = 5.0
_LOOK_EVERY: Final = 0.05
_DRAIN_SECONDS: Final = 2.0


def agent_environment(adapter: AgentAdapter, environment: Mapping[str, str]) -> dict[str, str]:
    """The variables that the agent gets: the usual ones, those that its adapter names, and the mark of being inside."""
    names = (*_USUAL, *adapter.environment)
    return {name: environment[name] for name in names if name in environment} | {NESTED_VARIABLE: "1"}


def find_executable(adapter: AgentAdapter, cwd: Path, environment: Mapping[str, str]) -> Path:
    """The program of an adapter on the search path; one that lies in the project is not the user's choice.

    Raises `EnvironmentBrokenError` (`agent_not_found`) or `StateRefusedError` (`agent_inside_project`).
    """
    found = shutil.which(adapter.executable, path=environment.get("PATH", os.defpath))
    if found is None:
        raise EnvironmentBrokenError(
            f"the program {adapter.executable!r} of the agent {adapter.name} is not on the search path",
            code="agent_not_found",
            hint=f"Install {adapter.name}, or add its folder to PATH",
        )
    path = Path(found).absolute()
    project = cwd.resolve()
    if path.is_relative_to(project) or path.resolve().is_relative_to(project):
        raise StateRefusedError(
            f"the program {adapter.executable!r} that was found lies inside the project",
            code="agent_inside_project",
            hint="Take the project's folder out of PATH",
        )
    return path


def launch_agent(
    adapter: AgentAdapter,
    prompt: str,
    *,
    cwd: Path,
    environment: Mapping[str, str],
    timeout: float = DEFAULT_TIMEOUT,
    stop: Callable[[], bool] = lambda: False,
) -> AgentOutcome:
    """Run an agent in the folder `cwd` until it ends, `timeout` seconds have passed, or `stop` answers true.

    Whoever calls this has a verdict that allows it. Raises as `find_executable` does, and `EnvironmentBrokenError`
    (`agent_not_started`) when the system refuses to start it.
    """
    executable = find_executable(adapter, cwd, environment)
    with tempfile.TemporaryDirectory(prefix="qiongli-") as folder:
        prompt_file = Path(folder, "prompt.md")
        prompt_file.write_text(prompt, encoding="utf-8", errors="backslashreplace", newline="\n")
        arguments = [argument.replace(PROMPT_FILE, str(prompt_file)) for argument in adapter.arguments]
        by_file = any(PROMPT_FILE in argument for argument in adapter.arguments)
        with Path(os.devnull if by_file else prompt_file).open("rb") as given:
            try:
                process = subprocess.Popen(  # noqa: S603  # no shell; the program and its arguments are an adapter's
                    [str(executable), *arguments],
                    stdin=given,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    cwd=cwd,
                    env=agent_environment(adapter, environment),
                    start_new_session=True,
                )
            except OSError as error:
                raise EnvironmentBrokenError(
                    f"the agent {adapter.name} could not be started: {error.strerror or error}",
                    code="agent_not_started",
                    place=adapter.executable,
                ) from error
        return _attend(process, adapter.name, timeout, stop)


def _attend(process: subprocess.Popen[bytes], agent: str, timeout: float, stop: Callable[[], bool]) -> AgentOutcome:
    """Wait for the process, and end it with everything that it started when it takes too long."""
    assert process.stdout is not None
    assert process.stderr is not None
    output, errors = _Tail(process.stdout), _Tail(process.stderr)
    until = time.monotonic() + timeout
    ended = ""
    try:
        while process.poll() is None:
            if stop():
                ended = "stopped"
            elif time.monotonic() >= until:
                ended = "timed_out"
            if ended:
                _end(process)
                break
            with suppress(subprocess.TimeoutExpired):
                process.wait(_LOOK_EVERY)
    except BaseException:
        _end(process)
        raise
    finally:
        for tail in (output, errors):
            tail.join(_DRAIN_SECONDS)
        if output.is_alive() or errors.is_alive():
            # Something that the agent started in the background still holds its output.
            _signal(process, hard=True)
            for tail in (output, errors):
                tail.join(_DRAIN_SECONDS)
    if ended == "timed_out":
        return AgentOutcome(agent, "timed_out", None, output.text(), errors.text())
    if ended == "stopped":
        return AgentOutcome(agent, "stopped", None, output.text(), errors.text())
    status = "finished" if process.returncode == 0 else "failed"
    return AgentOutcome(agent, status, process.returncode, output.text(), errors.text())  # type: ignore[arg-type]


def _end(process: subprocess.Popen[bytes]) -> None:
    _signal(process, hard=False)
    try:
        process.wait(_GRACE_SECONDS)
    except subprocess.TimeoutExpired:
        pass
    finally:
        # Also what ignores the first signal, and what the agent itself started.
        _signal(process, hard=True)
        process.wait()


def _signal(process: subprocess.Popen[bytes], *, hard: bool) -> None:
    with suppress(OSError):
        if sys.platform == "win32":
            process.kill() if hard else process.terminate()
        else:
            # The agent leads a session of its own, whose number is its process's.
            os.killpg(process.pid, signal.SIGKILL if hard else signal.SIGTERM)


class _Tail(threading.Thread):
    """Reads a stream to its end and keeps the last bytes of it."""

    def __init__(self, stream: IO[bytes]) -> None:
        super().__init__(daemon=True)
        self._stream = stream
        self._kept = b""
        self.start()

    def run(self) -> None:
        with suppress(OSError, ValueError), self._stream:
            while chunk := self._stream.read1(4096):  # type: ignore[attr-defined]  # a pipe is buffered
                self._kept = (self._kept + chunk)[-KEPT_OUTPUT:]

    def text(self) -> str:
        """What was kept, with secrets masked."""
        return redact_text(self._kept.decode("utf-8", "replace"))
