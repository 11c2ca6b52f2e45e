"""Whether an agent may be started: the caller's flag and the user's setting, and nothing that was inferred.

No function here takes a packet, a score or a session, so that none of them can change a verdict.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Final

from qiongli.errors import InputError
from qiongli.records.subjects import Reason
from qiongli.records.task import LaunchVerdict

#: Set in the environment of every launched agent: what runs inside one starts no other.
NESTED_VARIABLE: Final = "QIONGLI_INSIDE_AGENT"


def launch_verdict(
    *, flag: str, permitted: Collection[str], known: Collection[str], environment: Mapping[str, str]
) -> LaunchVerdict:
    """The verdict on starting the agent that the caller's flag names.

    `permitted` are the agents that the user's own settings permit, `known` those that there are adapters for, and
    `environment` is this process's own. Raises `InputError` (`unknown_agent`) for a name without an adapter.
    """
    if not flag:
        return LaunchVerdict(requested=False, allowed=False)
    if flag not in known:
        raise InputError(
            f"there is no adapter for an agent {flag[:40]!r}",
            code="unknown_agent",
            available=tuple(sorted(known)),
            hint="Run: qiongli task agents",
        )
    reasons = []
    if flag not in permitted:
        reasons.append(
            Reason(
                "not_permitted_here",
                f"this user's settings do not permit that {flag} is started",
                f"Run: qiongli task allow {flag}",
            )
        )
    if environment.get(NESTED_VARIABLE):
        reasons.append(Reason("inside_agent", "an agent that was launched here launches no other"))
    return LaunchVerdict(requested=True, allowed=not reasons, agent=flag, reasons=tuple(reasons))
