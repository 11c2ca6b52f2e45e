"""Calling hooks: one method for each, implementation by implementation; a failure is recorded, never raised."""

from __future__ import annotations

import importlib
import threading
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final

import attrs

from qiongli import hookspecs
from qiongli.hookspecs import AgentAdapter, BlockingFailure, Request, SignalGroup, ToolSpec, Veto
from qiongli.plugins.catalogue import Catalogue, CatalogueSubject
from qiongli.plugins.permission import hook_modules
from qiongli.plugins.policy import Policy
from qiongli.records.evidence import Evidence
from qiongli.records.resources import ResourceRef

if TYPE_CHECKING:
    import pluggy

    from qiongli.document import Document
    from qiongli.records.gate import GateReport

#: Seconds that one implementation of a hook may take; a slower one counts as failed and its answer is dropped.
HOOK_LIMIT_SECONDS: Final = 5.0


@attrs.frozen
class HookFailure:
    """What one distribution's implementation of one hook did wrong."""

    distribution: str
    hook: str
    message: str


class ContractSubject:
    """The plugin that core builds from a contract, so that a data-only subject is a plugin like any other."""

    def __init__(self, subject: CatalogueSubject) -> None:
        self._subject = subject

    @hookspecs.hookimpl
    def qiongli_signal_groups(self) -> tuple[SignalGroup, ...]:
        """The contract's signals, one group a dimension."""
        contract = self._subject.contract
        dimensions = dict.fromkeys(signal.dimension for signal in contract.signals)
        return tuple(
            SignalGroup(
                contract.subject,
                dimension,
                tuple(signal for signal in contract.signals if signal.dimension == dimension),
            )
            for dimension in dimensions
        )


class HookCaller:
    """A typed façade over pluggy; `failures` holds what went wrong so far, in order."""

    def __init__(self, limit_seconds: float = HOOK_LIMIT_SECONDS) -> None:
        import pluggy

        self._manager: pluggy.PluginManager = pluggy.PluginManager(hookspecs.PROJECT_NAME)
        self._manager.add_hookspecs(hookspecs)
        self._limit = limit_seconds
        self._order: dict[str, tuple[int, str]] = {}
        self.failures: list[HookFailure] = []

    def register(self, plugin: object, distribution: str, priority: int = 1_000) -> bool:
        """Register a plugin under its distribution's name; one that does not validate leaves nothing behind."""
        try:
            self._manager.register(plugin, name=distribution)
        except Exception as error:  # what a plugin gets wrong must not end the host
            if self._manager.has_plugin(distribution):
                self._manager.unregister(name=distribution)
            self._fail(distribution, "register", error)
            return False
        self._order[distribution] = (priority, distribution)
        return True

    def import_plugin(self, module: str, distribution: str, priority: int = 1_000) -> bool:
        """Import a module and register it; whatever its import raises is recorded."""
        try:
            loaded = importlib.import_module(module)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # SystemExit of a plugin included
            needs = (
                f"{distribution} needs {error.name}, which is not installed"
                if isinstance(error, ModuleNotFoundError)
                else ""
            )
            self.failures.append(HookFailure(distribution, "import", needs or type(error).__name__))
            return False
        return self.register(loaded, distribution, priority)

    @property
    def distributions(self) -> tuple[str, ...]:
        """The distributions whose plugins are registered, in the order in which they are called."""
        return tuple(sorted(self._order, key=self._order.__getitem__))

    def signal_groups(self) -> tuple[SignalGroup, ...]:
        """The signal groups of all registered subjects."""
        return self._collect("qiongli_signal_groups", SignalGroup, {})

    def detect(self, document: Document) -> tuple[Evidence, ...]:
        """Further evidence; its source is the distribution that returned it, whatever it claims."""
        found: list[Evidence] = []
        for distribution, item in self._answers("qiongli_detect", Evidence, {"document": document}):
            found.append(attrs.evolve(item, source=distribution))
        return tuple(found)

    def resources(self) -> tuple[ResourceRef, ...]:
        """Further references to resources."""
        return self._collect("qiongli_resources", ResourceRef, {})

    def gate_checks(self, subject: str, report: GateReport) -> tuple[BlockingFailure, ...]:
        """Plugins' reasons against a subject; an implementation that fails is a reason itself."""
        before = len(self.failures)
        reasons = self._collect("qiongli_gate_checks", BlockingFailure, {"subject": subject, "report": report})
        broken = tuple(
            BlockingFailure("gate_hook_failed", f"{failure.distribution}: {failure.message}")
            for failure in self.failures[before:]
        )
        return (*reasons, *broken)

    def request_vetoes(self, document: Document) -> tuple[Veto, ...]:
        """Vetoes of the request policies; an implementation that fails has vetoed."""
        request = Request("route", tuple(field.name for field in document.fields), document.size)
        vetoes: list[Veto] = []
        for distribution, implementation in self._implementations("qiongli_request_policy"):
            answer, failure = self._call(distribution, "qiongli_request_policy", implementation, {"request": request})
            if failure or not isinstance(answer, Veto | None):
                vetoes.append(Veto("policy_failed", f"the request policy of {distribution} failed"))
            elif answer is not None:
                vetoes.append(answer)
        return tuple(vetoes)

    def agents(self) -> tuple[AgentAdapter, ...]:
        """Adapters for agents."""
        return self._collect("qiongli_agents", AgentAdapter, {})

    def mcp_tools(self) -> tuple[ToolSpec, ...]:
        """Further tools for the MCP server."""
        return self._collect("qiongli_mcp_tools", ToolSpec, {})

    def _collect(self, hook: str, kind: type, arguments: Mapping[str, Any]) -> tuple[Any, ...]:
        return tuple(item for _, item in self._answers(hook, kind, arguments))

    def _answers(self, hook: str, kind: type, arguments: Mapping[str, Any]) -> Iterable[tuple[str, Any]]:
        for distribution, implementation in self._implementations(hook):
            answer, failed = self._call(distribution, hook, _listed(implementation), arguments)
            if failed:
                continue
            for item in answer:
                if isinstance(item, kind):
                    yield distribution, item
                else:
                    message = f"returned {type(item).__name__}, not {kind.__name__}"
                    self.failures.append(HookFailure(distribution, hook, message))

    def _implementations(self, hook: str) -> list[tuple[str, Callable[..., Any]]]:
        found = [
            (implementation.plugin_name, _bind(implementation))
            for implementation in getattr(self._manager.hook, hook).get_hookimpls()
        ]
        return sorted(found, key=lambda item: self._order[item[0]])

    def _call(
        self, distribution: str, hook: str, function: Callable[..., Any], arguments: Mapping[str, Any]
    ) -> tuple[Any, bool]:
        """The answer of one implementation, and whether it failed."""
        if distribution.startswith("contract:"):
            return function(**arguments), False
        outcome: dict[str, Any] = {}

        def run() -> None:
            try:
                outcome["answer"] = function(**arguments)
            except BaseException as error:  # SystemExit of a plugin included
                outcome["error"] = error

        thread = threading.Thread(target=run, name=f"hook of {distribution}", daemon=True)
        thread.start()
        thread.join(self._limit)
        if thread.is_alive():
            self.failures.append(HookFailure(distribution, hook, f"took longer than {self._limit:g} s"))
            return None, True
        if "error" in outcome:
            self._fail(distribution, hook, outcome["error"])
            return None, True
        return outcome["answer"], False

    def _fail(self, distribution: str, hook: str, error: BaseException) -> None:
        self.failures.append(HookFailure(distribution, hook, type(error).__name__))


def _listed(implementation: Callable[..., Any]) -> Callable[..., list[Any]]:
    """The implementation, its answer taken to the end inside the time limit even when it is a generator."""

    def call(**given: Any) -> list[Any]:
        return list(implementation(**given))

    return call


def _bind(implementation: pluggy.HookImpl) -> Callable[..., Any]:
    names = implementation.argnames

    def call(**given: Any) -> Any:
        return implementation.function(*(given[name] for name in names))

    return call


def load_hooks(
    catalogue: Catalogue, *, environment: Mapping[str, str] | None = None, policy: Policy | None = None
) -> HookCaller | None:
    """The hooks of what may run code here, or None when nothing may."""
    modules = hook_modules(catalogue, environment=environment, policy=policy)
    if not modules:
        return None
    caller = HookCaller()
    for subject in catalogue.subjects:
        caller.register(ContractSubject(subject), f"contract:{subject.contract.subject}", subject.priority)
    for module in modules:
        caller.import_plugin(module.module, module.distribution, module.priority)
    return caller


__all__ = ["HOOK_LIMIT_SECONDS", "ContractSubject", "HookCaller", "HookFailure", "load_hooks"]
