"""The runtime that the tools share, without waiting for the gate: what must be measured first is measured beside them.

Until that is done a subject is lens-only with the reason `verifying`; then everybody sees the verified runtime.
"""

from __future__ import annotations

import logging
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Final

from qiongli_mcp.edge import opened

if TYPE_CHECKING:
    from qiongli.plugins import Catalogue, HookCaller, HookFailure
    from qiongli.runtime import Router, Runtime

logger: Final = logging.getLogger(__name__)

#: Longest wait for the verification, which takes about a second for all subjects.
VERIFICATION_SECONDS: Final = 10.0


class RuntimeHolder:
    """The runtime of this process, made at the first call and replaced once, when every record is verified."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._runtime: Runtime | None = None
        self._verification: threading.Thread | None = None
        #: The hook failures that were said already.
        self._said: set[HookFailure] = set()

    def get(self) -> Runtime:
        """The runtime as it stands now."""
        runtime = self._runtime
        if runtime is not None:
            return runtime
        with self._lock:
            if self._runtime is None:
                from qiongli.gate.admission import installed_catalogue

                catalogue = installed_catalogue(deferred=True)
                self._runtime = _runtime(catalogue)
                if _waits(catalogue):
                    self._verification = threading.Thread(target=self._verify, name="verification", daemon=True)
                    self._verification.start()
            return self._runtime

    def prepare(self) -> None:
        """Make the runtime now, so that the first call need not; a fault is left to that call."""
        try:
            self.get()
        except Exception:
            logger.exception("the installed subjects cannot be found")

    def say_hook_failures(self) -> None:
        """Say on standard error, once each, what plugins did wrong so far; they cost nobody an answer."""
        hooks = None if self._runtime is None else self._runtime.hooks
        for failure in () if hooks is None else tuple(hooks.failures):
            if failure not in self._said:
                self._said.add(failure)
                logger.warning("the plugin %s failed in %s: %s", failure.distribution, failure.hook, failure.message)

    def wait(self, seconds: float | None = None) -> None:
        """Wait until nothing is left to verify."""
        if self._verification is not None:
            self._verification.join(seconds)

    def forget(self) -> None:
        """Find everything anew at the next call."""
        self.wait()
        with self._lock:
            self._runtime = self._verification = None
            self._said.clear()

    def _verify(self) -> None:
        try:
            from qiongli.gate.admission import installed_catalogue

            verified = _runtime(installed_catalogue())
        except Exception:
            # Fail closed: what could not be verified stays lens-only.
            logger.exception("the verification of the installed subjects failed; they stay lens-only")
            return
        self._runtime = verified


def _runtime(catalogue: Catalogue) -> Runtime:
    from qiongli.plugins.permission import hook_modules
    from qiongli.runtime import build_runtime

    hooks = None
    if hook_modules(catalogue):
        from qiongli.plugins.hooks import load_hooks
        from qiongli.resources import list_resources

        hooks = load_hooks(catalogue, resources=lambda subject: list_resources(subject.contract, subject.root)[0])
    return build_runtime(catalogue, hooks=hooks, cached=True)


def _waits(catalogue: Catalogue) -> bool:
    return any(reason.code == "verifying" for listing in catalogue.listings for reason in listing.reasons)


HOLDER: Final = RuntimeHolder()


def current_runtime() -> Runtime:
    """The runtime of this server."""
    return HOLDER.get()


def settled_catalogue() -> Catalogue:
    """The subjects once every record is verified: for what one subject ships, and for what a project has decided.

    Routing does not wait: it answers with lenses until then, and says so. Hand this function, not its answer, to what
    may not need the subjects.
    """
    HOLDER.get()
    HOLDER.wait(VERIFICATION_SECONDS)
    return HOLDER.get().catalogue


def current_catalogue() -> Catalogue:
    """The subjects as they stand now."""
    return current_runtime().catalogue


def router_for(cwd: Path | None) -> Router:
    """A router over the current runtime, for a project or for none."""
    from qiongli.runtime import open_router

    return open_router(None if cwd is None else opened(cwd), runtime=current_runtime())


def hooks_at_start() -> HookCaller | None:
    """The hooks of plugins, or None; subjects are looked for only where some plugin may run at all."""
    from qiongli.plugins import Catalogue
    from qiongli.plugins.permission import hook_modules
    from qiongli.plugins.policy import load_policy

    if not load_policy().allowed and not hook_modules(Catalogue()):
        return None
    return current_runtime().hooks
