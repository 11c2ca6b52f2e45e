"""Calling hooks: one method for each, implementation by implementation; a failure is recorded, never raised."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

import attrs

from qiongli import hookspecs
from qiongli.hookspecs import AgentAdapter, BlockingFailure, Request, SignalGroup, ToolSpec, Veto
from qiongli.plugins._distributions import canonical
from qiongli.plugins._evidence import accepted_evidence
from qiongli.plugins._isolation import Outcome, run_isolated
from qiongli.plugins.catalogue import Catalogue, CatalogueSubject
from qiongli.plugins.permission import AFTER_SUBJECTS, HookModule, hook_modules
from qiongli.plugins.policy import Policy
from qiongli.records.evidence import Evidence
from qiongli.records.resources import ResourceRef

if TYPE_CHECKING:
    import pluggy

    from qiongli.document import Document
    from qiongli.records.gate import GateReport

__all__ = ["HOOK_LIMIT_SECONDS", "IMPORT_LIMIT_SECONDS", "ContractSubject", "HookCaller", "HookFailure", "load_hooks"]

#: Seconds that one implementation of a hook may take; a slower one counts as failed, and is not called again.
HOOK_LIMIT_SECONDS: Final = 5.0
#: Seconds that the import of a plugin may take.
IMPORT_LIMIT_SECONDS: Final = 10.0
#: Most items that one implementation may return; the rest of a longer answer is dropped and counts as a failure.
MAXIMUM_ITEMS: Final = 10_000

#: Turns a subject into references to its resources; injected, because planning resources stands right of plugins.
ResourceReader = Callable[[CatalogueSubject], Sequence[ResourceRef]]


@attrs.frozen
class HookFailure:
    """What one distribution's implementation of one hook did wrong; `hook` is `import` or `register` before any."""

    distribution: str
    hook: str
    message: str


class ContractSubject:
    """The plugin that core builds from a contract, so that a data-only subject is a plugin like any other."""

    def __init__(self, subject: CatalogueSubject, resources: ResourceReader | None = None) -> None:
        self._subject = subject
        self._resources = resources

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

    @hookspecs.hookimpl
    def qiongli_resources(self) -> Sequence[ResourceRef]:
        """References to the files that the contract names."""
        return () if self._resources is None else self._resources(self._subject)


@attrs.frozen
class _Plugin:
    """A registered plugin: whose it is, its place in the order of calls, and whether its code is core's own."""

    distribution: str
    order: tuple[int, str, str]
    trusted: bool


class HookCaller:
    """A typed façade over pluggy; `failures` holds what went wrong so far, once each, in order.

    Implementations are called one by one in the order of priority, distribution and name, whatever the order of
    installation. One that raises, hangs, or returns something of a wrong type costs the others nothing.
    """

    def __init__(self, limit_seconds: float = HOOK_LIMIT_SECONDS) -> None:
        import pluggy

        self._manager: pluggy.PluginManager = pluggy.PluginManager(hookspecs.PROJECT_NAME)
        self._manager.add_hookspecs(hookspecs)
        self._limit = limit_seconds
        self._plugins: dict[str, _Plugin] = {}
        self._hanging: set[tuple[str, str]] = set()
        self._recent: list[HookFailure] = []
        self.failures: list[HookFailure] = []

    def register(
        self,
        plugin: object,
        distribution: str,
        priority: int = AFTER_SUBJECTS,
        *,
        name: str = "",
        trusted: bool = False,
    ) -> bool:
        """Register a plugin; one that does not validate, or has no hook of ours, leaves nothing behind.

        `name` tells several plugins of one distribution apart. A `trusted` plugin is core's own and is called without
        isolation.
        """
        identity = f"{canonical(distribution)}/{name}"
        if identity in self._plugins:
            self._fail(distribution, "register", f"the plugin {name!r} is registered already")
            return False
        outcome = run_isolated(lambda: self._validated(plugin, identity), limit_seconds=IMPORT_LIMIT_SECONDS)
        failure = outcome.failure or outcome.answer
        if failure:
            if self._manager.has_plugin(identity):
                self._manager.unregister(name=identity)
            self._fail(distribution, "register", failure)
            return False
        self._plugins[identity] = _Plugin(distribution, (priority, canonical(distribution), name), trusted)
        return True

    def _validated(self, plugin: object, identity: str) -> str:
        """Register with pluggy and return what is wrong with the plugin's hooks, or an empty text."""
        self._manager.register(plugin, name=identity)
        callers = self._manager.get_hookcallers(plugin) or []
        unknown = sorted(caller.name for caller in callers if not caller.has_spec())
        if unknown:
            return f"implements {', '.join(unknown)}, which is no hook of Qiongli{_similar(unknown[0], self._names())}"
        if not callers:
            return "implements no hook of Qiongli; hooks are marked with qiongli.hookspecs.hookimpl"
        return ""

    def _names(self) -> list[str]:
        return sorted(name for name in vars(hookspecs) if name.startswith("qiongli_"))

    def import_plugin(self, module: HookModule) -> bool:
        """Import a permitted plugin and register it; whatever its import does wrong is recorded."""

        def load() -> object:
            loaded: object = import_module(module.module)
            for attribute in filter(None, module.attribute.split(".")):
                loaded = getattr(loaded, attribute)
            return loaded

        outcome = run_isolated(load, limit_seconds=IMPORT_LIMIT_SECONDS)
        if outcome.failure:
            self._fail(module.distribution, "import", f"{module.distribution} {outcome.failure}")
            return False
        return self.register(outcome.answer, module.distribution, module.priority, name=module.name)

    @property
    def distributions(self) -> tuple[str, ...]:
        """The distributions whose code is registered, in the order in which they are called."""
        ordered = sorted(
            (plugin for plugin in self._plugins.values() if not plugin.trusted), key=lambda item: item.order
        )
        return tuple(dict.fromkeys(plugin.distribution for plugin in ordered))

    def signal_groups(self) -> tuple[SignalGroup, ...]:
        """The signal groups of all registered subjects."""
        return self._collect("qiongli_signal_groups", SignalGroup, {})

    def detect(self, document: Document) -> tuple[Evidence, ...]:
        """Further evidence; its source is the distribution that returned it, its snippet what really stands there."""
        found: list[Evidence] = []
        for plugin, item in self._answers("qiongli_detect", Evidence, {"document": document}, with_message=False):
            checked = accepted_evidence(item, document, plugin.distribution)
            if isinstance(checked, str):
                self._fail(plugin.distribution, "qiongli_detect", checked)
            else:
                found.append(checked)
        return tuple(found)

    def resources(self) -> tuple[ResourceRef, ...]:
        """References to resources."""
        return self._collect("qiongli_resources", ResourceRef, {})

    def gate_checks(self, subject: str, report: GateReport) -> tuple[BlockingFailure, ...]:
        """Plugins' reasons against a subject; an implementation that fails is a reason itself."""
        arguments = {"subject": subject, "report": report}
        reasons = self._collect("qiongli_gate_checks", BlockingFailure, arguments)
        broken = tuple(
            BlockingFailure("gate_hook_failed", f"{failure.distribution} {failure.message}")
            for failure in dict.fromkeys(self._recent)
        )
        return (*reasons, *broken)

    def request_vetoes(self, document: Document) -> tuple[Veto, ...]:
        """Vetoes of the request policies; an implementation that fails has vetoed."""
        request = Request("route", tuple(field.name for field in document.fields), document.size)
        hook = "qiongli_request_policy"
        vetoes: list[Veto] = []
        for plugin, implementation in self._implementations(hook):
            outcome = self._call(plugin, hook, implementation, {"request": request})
            if outcome.failure or not isinstance(outcome.answer, Veto | None):
                if not outcome.failure:
                    self._wrong(plugin, hook, outcome.answer, "Veto or None")
                vetoes.append(Veto("policy_failed", f"the request policy of {plugin.distribution} failed"))
            elif outcome.answer is not None:
                vetoes.append(outcome.answer)
        return tuple(vetoes)

    def agents(self) -> tuple[AgentAdapter, ...]:
        """Adapters for agents."""
        return self._collect("qiongli_agents", AgentAdapter, {})

    def mcp_tools(self) -> tuple[ToolSpec, ...]:
        """Further tools for the MCP server."""
        return self._collect("qiongli_mcp_tools", ToolSpec, {})

    def _collect(self, hook: str, kind: type, arguments: Mapping[str, Any]) -> tuple[Any, ...]:
        return tuple(item for _, item in self._answers(hook, kind, arguments))

    def _answers(
        self, hook: str, kind: type, arguments: Mapping[str, Any], *, with_message: bool = True
    ) -> Iterator[tuple[_Plugin, Any]]:
        for plugin, implementation in self._implementations(hook):
            outcome = self._call(plugin, hook, _listed(implementation), arguments, with_message=with_message)
            if outcome.failure:
                continue
            items = outcome.answer
            if not isinstance(items, list):
                self._wrong(plugin, hook, items, f"a sequence of {kind.__name__}")
                continue
            if len(items) > MAXIMUM_ITEMS:
                self._fail(plugin.distribution, hook, f"returned more than {MAXIMUM_ITEMS} items; the rest is dropped")
            for item in items[:MAXIMUM_ITEMS]:
                if isinstance(item, kind):
                    yield plugin, item
                else:
                    self._wrong(plugin, hook, item, kind.__name__)

    def _implementations(self, hook: str) -> list[tuple[_Plugin, Callable[..., Any]]]:
        self._recent.clear()
        found = [
            (self._plugins[implementation.plugin_name], _bound(implementation))
            for implementation in getattr(self._manager.hook, hook).get_hookimpls()
            if implementation.plugin_name in self._plugins
        ]
        return sorted(found, key=lambda item: item[0].order)

    def _call(
        self,
        plugin: _Plugin,
        hook: str,
        function: Callable[..., Any],
        arguments: Mapping[str, Any],
        *,
        with_message: bool = True,
    ) -> Outcome[Any]:
        """The answer of one implementation; one that hung before is not called again."""
        if plugin.trusted:
            return Outcome(function(**arguments))
        if (plugin.distribution, hook) in self._hanging:
            self._fail(plugin.distribution, hook, "hung before, and is not called again")
            return Outcome(failure="hung before")
        # What is handed out is a copy where it holds something mutable: no plugin may change what others see.
        own = {name: copy.deepcopy(value) if name == "report" else value for name, value in arguments.items()}
        outcome = run_isolated(lambda: function(**own), limit_seconds=self._limit, with_message=with_message)
        if outcome.failure:
            self._fail(plugin.distribution, hook, outcome.failure)
        if outcome.hangs:
            self._hanging.add((plugin.distribution, hook))
        return outcome

    def _wrong(self, plugin: _Plugin, hook: str, answer: object, expected: str) -> None:
        self._fail(plugin.distribution, hook, f"returned {type(answer).__name__}, not {expected}")

    def _fail(self, distribution: str, hook: str, message: str) -> None:
        failure = HookFailure(distribution, hook, message)
        self._recent.append(failure)
        if failure not in self.failures:
            self.failures.append(failure)


def _listed(implementation: Callable[..., Any]) -> Callable[..., Any]:
    """The implementation, its answer taken to the end inside the time limit even when it is a generator."""

    def call(**given: Any) -> Any:
        answer = implementation(**given)
        if not isinstance(answer, Iterable) or isinstance(answer, str | bytes | Mapping):
            return answer if not isinstance(answer, list) else list(answer)
        return list(islice(answer, MAXIMUM_ITEMS + 1))

    return call


def _bound(implementation: pluggy.HookImpl) -> Callable[..., Any]:
    names = implementation.argnames

    def call(**given: Any) -> Any:
        return implementation.function(*(given[name] for name in names))

    return call


def _similar(name: str, known: Sequence[str]) -> str:
    from difflib import get_close_matches

    near = get_close_matches(name, known, n=1)
    return f"; did you mean {near[0]}?" if near else ""


def load_hooks(
    catalogue: Catalogue,
    *,
    environment: Mapping[str, str] | None = None,
    policy: Policy | None = None,
    resources: ResourceReader | None = None,
    limit_seconds: float = HOOK_LIMIT_SECONDS,
) -> HookCaller | None:
    """The hooks of what may run code here, or None when nothing may.

    With code that may run, the data-only subjects are registered beside it, so that plugins see all subjects alike.
    `resources` turns a subject into references to its resources.
    """
    modules = hook_modules(catalogue, environment=environment, policy=policy)
    return hook_caller(catalogue, modules, resources=resources, limit_seconds=limit_seconds) if modules else None


def hook_caller(
    catalogue: Catalogue,
    modules: Sequence[HookModule] = (),
    *,
    resources: ResourceReader | None = None,
    limit_seconds: float = HOOK_LIMIT_SECONDS,
) -> HookCaller:
    """A caller over the subjects of a catalogue and the given modules, which are imported now."""
    caller = HookCaller(limit_seconds)
    for subject in catalogue.subjects:
        if subject.listing.state == "inactive":
            continue
        caller.register(
            ContractSubject(subject, resources),
            subject.listing.distribution or subject.contract.subject,
            subject.priority,
            name=f"contract:{subject.contract.subject}",
            trusted=True,
        )
    for module in modules:
        caller.import_plugin(module)
    return caller
