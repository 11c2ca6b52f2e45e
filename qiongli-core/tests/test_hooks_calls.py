"""Hooks: only permitted code is imported, and nothing that it does costs the host or the other plugins anything."""

from __future__ import annotations

import signal
import sys
import textwrap
import time
from collections.abc import Callable
from pathlib import Path

import attrs
import pytest

from qiongli.document import read_document
from qiongli.gate.record import Verdict
from qiongli.hookspecs import AgentAdapter, BlockingFailure, SignalGroup, ToolSpec, Veto
from qiongli.plugins import Catalogue
from qiongli.plugins._isolation import run_isolated
from qiongli.plugins.hooks import HookCaller, HookFailure, hook_caller, load_hooks
from qiongli.plugins.permission import HookModule, hook_modules
from qiongli.plugins.policy import Policy
from qiongli.records.evidence import Evidence
from qiongli.records.gate import GateReport
from qiongli.records.resources import ResourceRef
from qiongli.testing import FakeDistributions, example_contract, imports_nothing_from

HEAD = (
    "from qiongli.hookspecs import AgentAdapter, BlockingFailure, ToolSpec, Veto, hookimpl\n"
    "from qiongli.records.evidence import Evidence\n"
    "from qiongli.records.resources import ResourceRef\n"
)

#: An implementation of one hook whose answer is the same in all tests.
GOOD = "@hookimpl\ndef qiongli_agents():\n    return [AgentAdapter('{name}', 'run', ())]\n"

REPORT = GateReport("law", "eval_ready", False, {"accuracy": 0.5}, (), "fail")


def add_plugin(fake: FakeDistributions, name: str, code: str, *, version: str = "1.0") -> None:
    """Add a distribution with one plugin module of the given code."""
    module = f"plugin_{name.replace('-', '_')}"
    (fake.folder / f"{module}.py").write_text(HEAD + textwrap.dedent(code), encoding="utf-8")
    fake.add(name, version, entry_points=f"[qiongli.plugins]\n{name} = {module}\n")


def hooks_of(fake: FakeDistributions, *, limit_seconds: float = 5.0, **options: object) -> HookCaller:
    """The hooks of what is installed and permitted."""
    caller = load_hooks(fake.discover(), limit_seconds=limit_seconds, environment={}, **options)  # type: ignore[arg-type]
    assert caller is not None
    return caller


def names(caller: HookCaller) -> list[str]:
    """Names of the agents that the hooks offer."""
    return [agent.name for agent in caller.agents()]


class TestWhoMayRun:
    """Decided from metadata and policy, before anything is imported."""

    def test_without_plugins_there_are_no_hooks_and_no_pluggy(self, fake_distributions: FakeDistributions) -> None:
        fake_distributions.add_subject("law")
        assert load_hooks(fake_distributions.discover(), environment={}) is None

    def test_an_installed_plugin_runs(self, fake_distributions: FakeDistributions) -> None:
        add_plugin(fake_distributions, "one", GOOD.format(name="one"))
        assert names(hooks_of(fake_distributions)) == ["one"]

    @pytest.mark.parametrize("value", ["none", "", "other, names"])
    def test_outside_the_allow_list_it_is_not_imported(self, fake_distributions: FakeDistributions, value: str) -> None:
        add_plugin(fake_distributions, "one", GOOD.format(name="one"))
        with imports_nothing_from(fake_distributions.folder):
            catalogue = fake_distributions.discover()
            assert load_hooks(catalogue, environment={"QIONGLI_PLUGINS": value}) is None

    @pytest.mark.parametrize("value", ["one", "ONE", "two;one"])
    def test_inside_the_allow_list_it_runs(self, fake_distributions: FakeDistributions, value: str) -> None:
        add_plugin(fake_distributions, "one", GOOD.format(name="one"))
        add_plugin(fake_distributions, "three", "raise SystemExit")
        caller = load_hooks(fake_distributions.discover(), environment={"QIONGLI_PLUGINS": value})
        assert caller is not None
        assert names(caller) == ["one"]
        assert caller.failures == []

    @pytest.mark.parametrize("policy", [Policy(blocked=frozenset({"one"})), Policy(problem="malformed")])
    def test_blocked_or_under_an_unreadable_policy_it_is_not_imported(
        self, fake_distributions: FakeDistributions, policy: Policy
    ) -> None:
        add_plugin(fake_distributions, "one", GOOD.format(name="one"))
        with imports_nothing_from(fake_distributions.folder):
            assert load_hooks(fake_distributions.discover(), environment={}, policy=policy) is None

    def test_a_distribution_with_unreadable_metadata_does_not_run(self, fake_distributions: FakeDistributions) -> None:
        add_plugin(fake_distributions, "one", GOOD.format(name="one"))
        (fake_distributions.folder / "one-1.0.dist-info" / "METADATA").write_text("", encoding="utf-8")
        assert load_hooks(fake_distributions.discover(), environment={}) is None


class TestHooksOfSubjects:
    """A subject's own code runs only when it is allowed on this machine and the gate lets the subject act."""

    @pytest.fixture
    def mark(self, fake_distributions: FakeDistributions, tmp_path: Path) -> Path:
        """A subject whose import writes a file, and that file; the subject has a record that holds."""
        written = tmp_path / "written"
        code = f"open({str(written)!r}, 'a', encoding='utf-8').close()\n"
        contract = example_contract("economics", status="runtime_enabled", hooks="checks.hooks")
        hooks = HEAD + GOOD.format(name="economics")
        fake_distributions.add_subject(
            "economics",
            status="runtime_enabled",
            distribution="qiongli-subject-economics",
            code=code,
            files={"runtime-subject.yaml": contract, "checks/__init__.py": "", "checks/hooks.py": hooks},
        )
        fake_distributions.admit("economics")
        return written

    def loaded(self, fake: FakeDistributions, policy: Policy, **environment: str) -> HookCaller | None:
        catalogue = fake.discover(policy=policy, environment=environment)
        return load_hooks(catalogue, policy=policy, environment=environment)

    def test_they_run_when_allowed_and_active(self, fake_distributions: FakeDistributions, mark: Path) -> None:
        caller = self.loaded(fake_distributions, Policy(allowed=frozenset({"qiongli-subject-economics"})))
        assert caller is not None
        assert names(caller) == ["economics"]
        assert caller.distributions == ("qiongli-subject-economics",)
        assert mark.exists()

    @pytest.mark.parametrize(
        "policy",
        [
            Policy(),
            Policy(allowed=frozenset({"another"})),
            Policy(allowed=frozenset({"qiongli-subject-economics"}), blocked=frozenset({"qiongli-subject-economics"})),
        ],
        ids=["no word", "another", "blocked"],
    )
    def test_without_leave_they_are_not_imported(
        self, fake_distributions: FakeDistributions, mark: Path, policy: Policy
    ) -> None:
        assert self.loaded(fake_distributions, policy) is None
        assert not mark.exists()

    def test_allowed_and_not_active_they_are_not_imported(
        self, fake_distributions: FakeDistributions, mark: Path
    ) -> None:
        (fake_distributions.folder / "fake_subject_economics" / "overlays" / "economics.yaml").unlink()
        assert self.loaded(fake_distributions, Policy(allowed=frozenset({"qiongli-subject-economics"}))) is None
        assert not mark.exists()

    def test_without_plugins_they_are_not_imported(self, fake_distributions: FakeDistributions, mark: Path) -> None:
        policy = Policy(allowed=frozenset({"qiongli-subject-economics"}))
        assert self.loaded(fake_distributions, policy, QIONGLI_PLUGINS="none") is None
        assert not mark.exists()

    def test_the_same_word_is_given_on_the_command_line(
        self, fake_distributions: FakeDistributions, mark: Path
    ) -> None:
        from qiongli.plugins.settings import allow

        allow("economics")
        assert load_hooks(fake_distributions.discover(), environment={}) is not None
        assert mark.exists()


class TestFailingImports:
    @pytest.mark.parametrize(
        ("code", "message"),
        [
            ("raise RuntimeError('no good')", "bad raised RuntimeError: no good"),
            ("raise SystemExit(3)", "bad raised SystemExit: 3"),
            ("raise KeyboardInterrupt", "bad raised KeyboardInterrupt"),
            ("raise GeneratorExit", "bad raised GeneratorExit"),
            ("def f(:", "bad raised SyntaxError"),
            ("import surely_not_installed.inner", "bad needs the module 'surely_not_installed'"),
            ("x = 1", "implements no hook of Qiongli"),
            ("@hookimpl\ndef qiongli_agent(): ...", "implements qiongli_agent, which is no hook of Qiongli"),
            ("def __getattr__(name): raise SystemExit", "implements no hook of Qiongli"),
        ],
    )
    def test_a_failing_import_is_recorded_against_its_distribution_and_the_others_work(
        self, fake_distributions: FakeDistributions, code: str, message: str
    ) -> None:
        add_plugin(fake_distributions, "bad", code)
        add_plugin(fake_distributions, "good", GOOD.format(name="good"))
        caller = hooks_of(fake_distributions)
        assert names(caller) == ["good"]
        (failure,) = caller.failures
        assert failure.distribution == "bad"
        assert failure.hook in ("import", "register")
        assert message in failure.message

    def test_a_hook_with_a_similar_name_is_suggested(self, fake_distributions: FakeDistributions) -> None:
        add_plugin(fake_distributions, "bad", "@hookimpl\ndef qiongli_detct(document): ...")
        (failure,) = hooks_of(fake_distributions).failures
        assert "did you mean qiongli_detect?" in failure.message

    @pytest.mark.parametrize("value", ["not a module!!", "missing_module", "plugin_x:missing", "1", "os:path:join"])
    def test_a_value_that_leads_nowhere_is_recorded(self, fake_distributions: FakeDistributions, value: str) -> None:
        (fake_distributions.folder / "plugin_x.py").write_text("", encoding="utf-8")
        fake_distributions.add("bad", entry_points=f"[qiongli.plugins]\nbad = {value}\n")
        caller = hooks_of(fake_distributions)
        (failure,) = caller.failures
        assert (failure.distribution, failure.hook) == ("bad", "import")

    def test_a_plugin_may_be_an_object_in_a_module(self, fake_distributions: FakeDistributions) -> None:
        code = (
            HEAD
            + "class P:\n    @hookimpl\n    def qiongli_agents(self): return [AgentAdapter('p', 'p', ())]\np = P()\n"
        )
        (fake_distributions.folder / "plugin_o.py").write_text(code, encoding="utf-8")
        fake_distributions.add("obj", entry_points="[qiongli.plugins]\nobj = plugin_o : p [extra]\n")
        assert names(hooks_of(fake_distributions)) == ["p"]

    def test_one_distribution_may_have_several_plugins(self, fake_distributions: FakeDistributions) -> None:
        for name in ("a", "b"):
            (fake_distributions.folder / f"plugin_{name}.py").write_text(
                HEAD + GOOD.format(name=name), encoding="utf-8"
            )
        fake_distributions.add("two", entry_points="[qiongli.plugins]\nb = plugin_b\na = plugin_a\n")
        assert names(hooks_of(fake_distributions)) == ["a", "b"]

    def test_an_import_that_hangs_is_left_behind(
        self, fake_distributions: FakeDistributions, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("qiongli.plugins.hooks.IMPORT_LIMIT_SECONDS", 0.2)
        add_plugin(fake_distributions, "bad", "import time\ntime.sleep(2)")
        add_plugin(fake_distributions, "good", GOOD.format(name="good"))
        caller = hooks_of(fake_distributions)
        assert names(caller) == ["good"]
        assert caller.failures == [HookFailure("bad", "import", "bad took longer than 0.2 s")]

    def test_an_unknown_argument_leaves_no_half_registered_plugin(self, fake_distributions: FakeDistributions) -> None:
        code = GOOD.format(name="half") + "@hookimpl\ndef qiongli_detect(document, wishes): return ()\n"
        add_plugin(fake_distributions, "half", code)
        caller = hooks_of(fake_distributions)
        assert names(caller) == []
        assert caller.distributions == ()
        (failure,) = caller.failures
        assert (failure.distribution, failure.hook) == ("half", "register")
        assert "wishes" in failure.message


class TestFailingCalls:
    @pytest.mark.parametrize(
        ("body", "message"),
        [
            ("raise ValueError('no')", "raised ValueError: no"),
            ("raise SystemExit(1)", "raised SystemExit: 1"),
            ("return 'text'", "returned str, not a sequence of AgentAdapter"),
            ("return 7", "returned int, not a sequence of AgentAdapter"),
            ("return {'a': 1}", "returned dict, not a sequence of AgentAdapter"),
            ("return [1]", "returned int, not AgentAdapter"),
            ("yield AgentAdapter('x', 'x', ()); raise KeyError('late')", "raised KeyError: 'late'"),
            ("import itertools; return itertools.repeat(3)", "returned more than 10000 items"),
        ],
    )
    def test_what_one_implementation_does_wrong_costs_the_others_nothing(
        self, fake_distributions: FakeDistributions, body: str, message: str
    ) -> None:
        add_plugin(fake_distributions, "a-good", GOOD.format(name="a"))
        add_plugin(fake_distributions, "bad", f"@hookimpl\ndef qiongli_agents():\n    {body}\n")
        add_plugin(fake_distributions, "z-good", GOOD.format(name="z"))
        caller = hooks_of(fake_distributions)
        assert names(caller) == ["a", "z"]
        failure = caller.failures[0]
        assert (failure.distribution, failure.hook) == ("bad", "qiongli_agents")
        assert failure.message.startswith(message)

    def test_none_is_no_answer_to_a_hook_that_asks_for_several(self, fake_distributions: FakeDistributions) -> None:
        # pluggy drops None silently; one implementation called by itself is told apart.
        add_plugin(fake_distributions, "bad", "@hookimpl\ndef qiongli_agents(): return None\n")
        caller = hooks_of(fake_distributions)
        assert names(caller) == []
        assert caller.failures == [
            HookFailure("bad", "qiongli_agents", "returned NoneType, not a sequence of AgentAdapter")
        ]

    def test_one_that_hangs_is_given_up_and_not_called_again(self, fake_distributions: FakeDistributions) -> None:
        add_plugin(fake_distributions, "bad", "import time\n@hookimpl\ndef qiongli_agents(): time.sleep(3)\n")
        add_plugin(fake_distributions, "good", GOOD.format(name="good"))
        caller = hooks_of(fake_distributions, limit_seconds=0.2)
        started = time.monotonic()
        for _ in range(20):
            assert names(caller) == ["good"]
        assert time.monotonic() - started < 2
        assert caller.failures[0] == HookFailure("bad", "qiongli_agents", "took longer than 0.2 s")

    def test_the_same_failure_is_noted_once(self, fake_distributions: FakeDistributions) -> None:
        add_plugin(fake_distributions, "bad", "@hookimpl\ndef qiongli_agents(): raise ValueError\n")
        caller = hooks_of(fake_distributions)
        for _ in range(3):
            caller.agents()
        assert caller.failures == [HookFailure("bad", "qiongli_agents", "raised ValueError")]

    def test_what_a_plugin_prints_does_not_reach_standard_output(
        self, fake_distributions: FakeDistributions, capsys: pytest.CaptureFixture[str]
    ) -> None:
        add_plugin(
            fake_distributions,
            "loud",
            "print('import')\n@hookimpl\ndef qiongli_agents():\n    print('call')\n    return []\n",
        )
        hooks_of(fake_distributions).agents()
        print("mine")
        captured = capsys.readouterr()
        assert captured.out == "mine\n"
        assert captured.err == "import\ncall\n"

    def test_a_real_interrupt_reaches_the_host(self) -> None:
        class Interrupted:
            def __call__(self) -> None:
                # As the terminal does it: the system's signal, which only the main thread takes.
                signal.raise_signal(signal.SIGINT)
                time.sleep(0.5)

        def host() -> None:
            run_isolated(Interrupted(), limit_seconds=5)
            # Python may take it a moment later.
            time.sleep(0.5)

        # A job that a shell starts in the background ignores the signal, and hands that down to its children.
        before = signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            with pytest.raises(KeyboardInterrupt):
                host()
        finally:
            signal.signal(signal.SIGINT, before)
        assert sys.stdout is not sys.stderr


class TestOrder:
    def test_calls_follow_priority_and_name_whatever_the_order_of_installation(
        self, fake_distributions: FakeDistributions
    ) -> None:
        for name in ("c-dist", "A.dist", "b_dist"):
            add_plugin(fake_distributions, name.replace(".", "-"), GOOD.format(name=name))
        caller = hooks_of(fake_distributions)
        assert names(caller) == ["A.dist", "b_dist", "c-dist"]

    def test_subjects_come_first_in_the_order_of_admission(self, fake_distributions: FakeDistributions) -> None:
        add_plugin(fake_distributions, "aaa", GOOD.format(name="aaa"))
        fake_distributions.add_subject("law")
        caller = hooks_of(fake_distributions, resources=_one_resource)
        assert [resource.subject for resource in caller.resources()] == ["law"]
        groups = caller.signal_groups()
        assert [(group.subject, group.dimension) for group in groups] == [("law", "method")]
        assert groups[0].signals[0].id == "law.method.example"
        assert isinstance(groups[0], SignalGroup)

    def test_every_readable_subject_is_a_plugin_without_any_code(self, fake_distributions: FakeDistributions) -> None:
        fake_distributions.add_subject("law")
        fake_distributions.add_subject("art")
        fake_distributions.add_subject("off", status="disabled")
        caller = hook_caller(fake_distributions.discover())
        assert [group.subject for group in caller.signal_groups()] == ["art", "law"]
        assert caller.resources() == ()
        assert caller.distributions == ()


def _one_resource(subject: object) -> list[ResourceRef]:
    slug = subject.contract.subject  # type: ignore[attr-defined]
    return [ResourceRef("overlay", slug, slug, f"overlays/{slug}.yaml", "sha256:" + "0" * 64)]


DETECT = """
@hookimpl
def qiongli_detect(document):
    return [Evidence("law.method.x", "law", "method", "x", "method_only", 100_000, {fields})]
"""


class TestDetectors:
    """They return evidence about places of the text, and nothing else."""

    document = read_document({"title": "A study of courts", "abstract": "Judges decide."})

    def detect(self, fake: FakeDistributions, fields: str) -> tuple[tuple[Evidence, ...], list[HookFailure]]:
        add_plugin(fake, "finder", DETECT.format(fields=fields))
        caller = hooks_of(fake)
        return caller.detect(self.document), caller.failures

    def test_evidence_is_taken_with_its_true_source_and_snippet(self, fake_distributions: FakeDistributions) -> None:
        fields = "field='title', start=2, end=7, snippet='ignore all rules', source='text'"
        (item,), failures = self.detect(fake_distributions, fields)
        assert (item.snippet, item.source, item.weight) == ("study", "finder", 100_000)
        assert failures == []

    @pytest.mark.parametrize(
        "fields",
        [
            "field='title', start=2, end=7, role='keep'",
            "field='title', start=2, end=7, role='exclude'",
            "field='nowhere', start=2, end=7",
            "field='title', start=7, end=2",
            "field='title', start=-2, end=7",
            "field='title', start=2, end=999",
            "field='title', start=2.0, end=7",
            "field='title', start=2, end=7, polarity='certain'",
        ],
    )
    def test_what_does_not_fit_the_text_or_is_a_directive_is_dropped(
        self, fake_distributions: FakeDistributions, fields: str
    ) -> None:
        found, failures = self.detect(fake_distributions, fields)
        assert found == ()
        assert [failure.hook for failure in failures] == ["qiongli_detect"]

    @pytest.mark.parametrize("weight", ["200_001", "59_999", "-1", "True", "1e5", "float('nan')", "'1'", "None"])
    def test_a_weight_that_no_contract_could_have_is_dropped(
        self, fake_distributions: FakeDistributions, weight: str
    ) -> None:
        code = DETECT.replace("100_000", weight).format(fields="field='title', start=2, end=7")
        add_plugin(fake_distributions, "finder", code)
        assert hooks_of(fake_distributions).detect(self.document) == ()

    def test_the_message_of_an_exception_may_quote_the_task_and_is_not_kept(
        self, fake_distributions: FakeDistributions
    ) -> None:
        code = "@hookimpl\ndef qiongli_detect(document): raise ValueError(document.fields[0].text)\n"
        add_plugin(fake_distributions, "finder", code)
        caller = hooks_of(fake_distributions)
        assert caller.detect(self.document) == ()
        assert caller.failures == [HookFailure("finder", "qiongli_detect", "raised ValueError")]


class TestVetoes:
    def test_objections_are_collected_and_silence_is_no_approval(self, fake_distributions: FakeDistributions) -> None:
        code = "@hookimpl\ndef qiongli_gate_checks(subject, report):\n    return [BlockingFailure('late', subject)]\n"
        add_plugin(fake_distributions, "strict", code)
        caller = hooks_of(fake_distributions)
        assert caller.gate_checks("law", REPORT) == (BlockingFailure("late", "law"),)

    @pytest.mark.parametrize(
        "body", ["raise ValueError", "return None", "return True", "return 'fine'", "return [True]"]
    )
    def test_a_gate_hook_that_fails_is_an_objection_every_time(
        self, fake_distributions: FakeDistributions, body: str
    ) -> None:
        add_plugin(fake_distributions, "bad", f"@hookimpl\ndef qiongli_gate_checks(subject, report):\n    {body}\n")
        caller = hooks_of(fake_distributions)
        for _ in range(2):
            (objection,) = caller.gate_checks("law", REPORT)
            assert objection.code == "gate_hook_failed"
            assert "bad" in objection.message

    def test_a_gate_hook_that_hangs_objects_also_when_it_is_not_called_again(
        self, fake_distributions: FakeDistributions
    ) -> None:
        code = "import time\n@hookimpl\ndef qiongli_gate_checks(subject, report): time.sleep(2)\n"
        add_plugin(fake_distributions, "slow", code)
        caller = hooks_of(fake_distributions, limit_seconds=0.1)
        assert [len(caller.gate_checks("law", REPORT)) for _ in range(3)] == [1, 1, 1]

    def test_no_hook_can_change_the_report_that_others_see(self, fake_distributions: FakeDistributions) -> None:
        code = (
            "@hookimpl\ndef qiongli_gate_checks(subject, report):\n"
            "    report.metrics['accuracy'] = 1.0\n    return []\n"
        )
        add_plugin(fake_distributions, "greedy", code)
        before = attrs.evolve(REPORT, metrics=dict(REPORT.metrics))
        hooks_of(fake_distributions).gate_checks("law", REPORT)
        assert before == REPORT

    @pytest.mark.parametrize(
        ("body", "expected"),
        [
            ("return None", ()),
            ("return Veto('night', 'not at night')", (Veto("night", "not at night"),)),
            ("return False", (Veto("policy_failed", "the request policy of policy failed"),)),
            ("raise ValueError", (Veto("policy_failed", "the request policy of policy failed"),)),
        ],
    )
    def test_a_request_policy_vetoes_when_it_says_so_and_when_it_fails(
        self, fake_distributions: FakeDistributions, body: str, expected: tuple[Veto, ...]
    ) -> None:
        add_plugin(fake_distributions, "policy", f"@hookimpl\ndef qiongli_request_policy(request):\n    {body}\n")
        assert hooks_of(fake_distributions).request_vetoes(read_document("text")) == expected

    def test_a_request_holds_facts_and_no_text(self, fake_distributions: FakeDistributions) -> None:
        code = "@hookimpl\ndef qiongli_request_policy(request): return Veto('seen', repr(request))\n"
        add_plugin(fake_distributions, "policy", code)
        (veto,) = hooks_of(fake_distributions).request_vetoes(read_document({"title": "secret words"}))
        assert "secret" not in veto.message
        assert "'title'" in veto.message


def test_tools_and_agents_are_passed_on(fake_distributions: FakeDistributions) -> None:
    code = GOOD.format(name="agent") + "@hookimpl\ndef qiongli_mcp_tools(): return (ToolSpec('t', 'm:a'),)\n"
    add_plugin(fake_distributions, "tools", code)
    caller = hooks_of(fake_distributions)
    assert caller.mcp_tools() == (ToolSpec("t", "m:a"),)
    assert caller.agents() == (AgentAdapter("agent", "run", ()),)


def test_a_plugin_of_one_name_cannot_be_registered_twice() -> None:
    class Plugin:
        pass

    caller = HookCaller()
    caller.register(_agents("a"), "dist", name="x")
    assert not caller.register(_agents("b"), "Dist", name="x")
    assert names(caller) == ["a"]
    assert caller.failures == [HookFailure("Dist", "register", "the plugin 'x' is registered already")]
    assert not caller.register(Plugin(), "other")


def _agents(name: str) -> object:
    from qiongli.hookspecs import hookimpl

    class Plugin:
        @hookimpl
        def qiongli_agents(self) -> list[AgentAdapter]:
            return [AgentAdapter(name, name, ())]

    return Plugin()


@pytest.mark.parametrize("distributions", [None, ()])
def test_modules_are_named_without_importing_them(
    fake_distributions: FakeDistributions, distributions: tuple[()] | None
) -> None:
    add_plugin(fake_distributions, "one", "raise SystemExit")
    found = hook_modules(Catalogue(), environment={}, policy=Policy(), distributions=distributions)
    expected = () if distributions == () else (HookModule("plugin_one", "one", 1_000_000, "", "one"),)
    assert found == expected


def test_an_exception_that_cannot_be_printed_is_described() -> None:
    class OddError(Exception):
        def __str__(self) -> str:
            raise SystemError

    def fail() -> None:
        raise OddError

    assert run_isolated(fail, limit_seconds=5).failure == "raised OddError"


def test_a_long_message_is_cut() -> None:
    def fail() -> None:
        raise ValueError("x" * 10_000)

    assert len(run_isolated(fail, limit_seconds=5).failure) < 250


def test_verdicts_of_hooks_are_not_verdicts_of_the_gate() -> None:
    # There is no return value of any hook that grants anything: the specifications name none.
    from qiongli import hookspecs

    returns: list[Callable[..., object]] = [
        function for name, function in vars(hookspecs).items() if name.startswith("qiongli_")
    ]
    assert len(returns) == 7
    assert not any(Verdict.__name__ in str(function.__annotations__["return"]) for function in returns)
