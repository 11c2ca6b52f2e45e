"""The one hierarchy of errors, their stable codes and the exit codes of the command line."""

from __future__ import annotations

from enum import IntEnum
from typing import Final


class ExitCode(IntEnum):
    """What a process of Qiongli answers to its caller."""

    FINE = 0
    #: The answer is no: not eligible, a threshold missed, insufficient evidence.
    ANSWER_IS_NO = 1
    #: Usage or invalid input.
    INVALID_INPUT = 2
    #: Refused by state: locked, in conflict, or in need of a confirmation.
    REFUSED_BY_STATE = 3
    #: The environment is broken.
    BROKEN_ENVIRONMENT = 4
    INTERRUPTED = 130


class QiongliError(Exception):
    """Something that the caller can understand and act upon.

    `code` is stable and documented in `docs/reference/errors.md`; `message` is one sentence; `place` says where
    (`file:line`, a dotted field, or both); `expected` says what would have been right; `hint` is the next command or
    step; `available` lists the possible values where there is a closed set of them.
    """

    #: The code of an instance that names none.
    default_code: str = "error"
    exit_code: ExitCode = ExitCode.INVALID_INPUT

    def __init__(
        self,
        message: str,
        *,
        code: str | None = None,
        place: str = "",
        expected: str = "",
        hint: str = "",
        available: tuple[str, ...] = (),
    ) -> None:
        super().__init__(message)
        self.code: Final = code or self.default_code
        self.message: Final = message
        self.place: Final = place
        self.expected: Final = expected
        self.hint: Final = hint
        self.available: Final = tuple(available)

    def __str__(self) -> str:
        text = f"{self.place}: {self.message}" if self.place else self.message
        if self.expected:
            text += f" (expected: {self.expected})"
        if self.available:
            text += f"; available: {', '.join(self.available)}"
        if self.hint:
            text += f". {self.hint}"
        return text

    def to_packet(self) -> dict[str, object]:
        """The error as one JSON-ready document, as every `--json` command prints it."""
        return {
            "schema_version": "1.0",
            "error": {
                "code": self.code,
                "message": self.message,
                "place": self.place,
                "expected": self.expected,
                "hint": self.hint,
                "available": list(self.available),
            },
        }


class InputError(QiongliError):
    """The caller gave something that cannot be read or does not fit: a flag, a file, a task packet."""

    default_code = "invalid_input"


class ContractError(QiongliError):
    """A subject's contract is malformed; `problems` holds every fault that was found, in file order."""

    default_code = "invalid_contract"

    def __init__(self, message: str, *, problems: tuple[QiongliError, ...] = (), **details: str) -> None:
        super().__init__(message, **details)  # type: ignore[arg-type]  # details are the keyword texts of the base
        self.problems: Final = problems

    def to_packet(self) -> dict[str, object]:
        """The error, with its problems, as one JSON-ready document."""
        packet = super().to_packet()
        packet["problems"] = [problem.to_packet()["error"] for problem in self.problems]
        return packet


class UnknownSubjectError(QiongliError):
    """A subject was named that is not installed; `available` lists those that are."""

    default_code = "unknown_subject"


class StateRefusedError(QiongliError):
    """The project's state forbids the action: it is locked, was changed meanwhile, or needs a confirmation."""

    default_code = "refused_by_state"
    exit_code = ExitCode.REFUSED_BY_STATE


class StateCorruptError(QiongliError):
    """A file of the project's state is malformed; it is never overwritten without a copy."""

    default_code = "state_corrupt"


class EnvironmentBrokenError(QiongliError):
    """The installation or the machine lacks something that the command needs."""

    default_code = "broken_environment"
    exit_code = ExitCode.BROKEN_ENVIRONMENT
