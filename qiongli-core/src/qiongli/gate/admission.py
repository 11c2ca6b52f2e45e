"""What is installed here, each subject in the state that gate and local policy leave it: discovery with a verifier."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from qiongli.gate.record import Verdict
    from qiongli.gate.verification import GateVerifier
    from qiongli.plugins.catalogue import Catalogue, VerificationRequest


def installed_catalogue(*, deferred: bool = False) -> Catalogue:
    """Discover the subjects of this machine, and verify every record that it has not seen.

    That takes up to a second a subject, once for each change of anything that the verdict rests on, and is said on
    standard error. With `deferred` such a subject stays lens-only with the reason `verifying`.
    """
    from qiongli.plugins.discovery import discover

    verifier: GateVerifier | None = None

    def verify(request: VerificationRequest) -> Verdict:
        nonlocal verifier
        if verifier is None:
            # Only an unseen record is worth importing the gate and everything that it measures with.
            from qiongli.gate.verification import GateVerifier

            verifier = GateVerifier(announce=_announce, deferred=deferred)
        return verifier(request)

    return discover(verifier=verify)


def _announce(text: str) -> None:
    sys.stderr.write(f"qiongli: {text}\n")
    sys.stderr.flush()
