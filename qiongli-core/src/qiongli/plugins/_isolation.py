"""Running other people's code so that nothing it does ends or blocks the host: it raises, exits, hangs or prints."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final, Generic, TextIO, TypeVar

import attrs

Answer = TypeVar("Answer")

_MAXIMUM_MESSAGE: Final = 200


@attrs.frozen
class Outcome(Generic[Answer]):
    """What foreign code answered, or what it did wrong; `hangs` tells that it may be running still."""

    answer: Answer | None = None
    failure: str = ""
    hangs: bool = False


def run_isolated(function: Callable[[], Answer], *, limit_seconds: float, with_message: bool = True) -> Outcome[Answer]:
    """Run a function of a plugin in a thread of its own, for at most `limit_seconds`.

    Whatever it raises, `SystemExit` and `KeyboardInterrupt` of its own making included, becomes a failure. A real
    Ctrl-C goes to the caller as ever. What it prints goes to standard error, so that it cannot break a JSON document
    or a protocol on standard output. Without `with_message`, a failure names only the type of the exception: its
    message may hold text of the task. A function that hangs cannot be stopped; it is left behind in a daemon thread.
    """
    answers: list[Answer] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            answers.append(function())
        except BaseException as error:  # whatever it is, it is the plugin's
            errors.append(error)

    thread = threading.Thread(target=run, name="qiongli plugin", daemon=True)
    with _output_to_standard_error():
        thread.start()
        thread.join(limit_seconds)
    if answers:
        return Outcome(answers[0])
    if errors:
        return Outcome(failure=describe(errors[0], with_message=with_message))
    return Outcome(failure=f"took longer than {limit_seconds:g} s", hangs=True)


def describe(error: BaseException, *, with_message: bool = True) -> str:
    """What was raised, in a short line; a missing module is named with the fact that it is not installed."""
    kind = type(error).__name__
    if isinstance(error, ModuleNotFoundError) and error.name:
        return f"needs the module {error.name!r}, which is not installed"
    if not with_message:
        return f"raised {kind}"
    try:
        message = " ".join(str(error).split())
    except Exception:  # an exception may not even be printable
        message = ""
    if len(message) > _MAXIMUM_MESSAGE:
        message = message[: _MAXIMUM_MESSAGE - 1] + "…"
    return f"raised {kind}: {message}" if message else f"raised {kind}"


_lock: Final = threading.Lock()
_depth = 0
_original: TextIO | None = None


@contextmanager
def _output_to_standard_error() -> Iterator[None]:
    """Send what is printed to standard error, until the last of several simultaneous calls is over."""
    global _depth, _original
    with _lock:
        if _depth == 0:
            _original, sys.stdout = sys.stdout, sys.stderr
        _depth += 1
    try:
        yield
    finally:
        with _lock:
            _depth -= 1
            if _depth == 0 and _original is not None:
                sys.stdout, _original = _original, None
