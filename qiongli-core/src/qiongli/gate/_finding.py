"""A finding of the gate: what one check says, and how it is made so that a check that breaks cannot pass."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import attrs

from qiongli.errors import QiongliError
from qiongli.gate.measured import Measured
from qiongli.records.gate import CheckOutcome, GateCheck

#: Names that a finding lists at most; the count of the rest follows.
MOST_DETAILS: Final = 25


@attrs.frozen
class Finding:
    """A check's outcome, and the lines under which it blocks."""

    name: str
    outcome: CheckOutcome
    message: str
    hint: str = ""
    details: tuple[str, ...] = ()
    #: What is listed among the blocking failures; the message when empty.
    blocking: tuple[str, ...] = ()

    @property
    def blocks(self) -> tuple[str, ...]:
        """The lines of this finding among the blocking failures."""
        return () if self.outcome == "pass" else self.blocking or (self.message,)

    def to_record(self) -> GateCheck:
        """The finding as it is published."""
        details = self.details
        if len(details) > MOST_DETAILS:
            details = (*details[:MOST_DETAILS], f"and {len(details) - MOST_DETAILS} more")
        return GateCheck(self.name, self.outcome, self.message, self.hint, details)


Check = Callable[[Measured], Finding]


def run_check(name: str, check: Check, measured: Measured) -> Finding:
    """The finding of one check; one that raises could not be made, which is no pass."""
    try:
        return check(measured)
    except Exception as error:  # a check that breaks must neither stop the others nor pass
        message = f"{name} could not be checked: {type(error).__name__}: {error}"
        return Finding(name, "not_checked", message)


def of_faults(name: str, right: str, what: str, faults: Sequence[QiongliError], hint: str = "") -> Finding:
    if not faults:
        return Finding(name, "pass", right)
    lines = tuple(str(fault) for fault in faults)
    shown = (*lines[:5], f"and {len(lines) - 5} more faults in {what}") if len(lines) > 5 else lines
    return Finding(name, "fail", f"{len(lines)} faults in {what}", hint, details=lines, blocking=shown)
