"""An agent is started on two words, the flag's and the setting's, with little of this process's environment."""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from packet_cases import write_packages
from task_cases import SUGGESTS_ALPHA, make_runtime, stand_in

from qiongli.errors import EnvironmentBrokenError, InputError, StateRefusedError
from qiongli.hookspecs import AgentAdapter
from qiongli.plugins.hooks import HookCaller, hook_caller
from qiongli.plugins.permission import HookModule
from qiongli.plugins.policy import load_policy, policy_path
from qiongli.plugins.settings import set_agent
from qiongli.runtime import Runtime
from qiongli.task import Launching, run_task
from qiongli.task.agents import adapter_fault, agent_adapters
from qiongli.task.launcher import KEPT_OUTPUT, launch_agent
from qiongli.testing import FakeDistributions

pytestmark = [
    pytest.mark.skipif(sys.platform == "win32", reason="the programs that stand in for agents are scripts"),
    pytest.mark.usefixtures("isolated_qiongli"),
]

#: Says what it was given, as one line of JSON.
TELL = """
    import json, os, sys
    print(json.dumps({"arguments": sys.argv[1:], "environment": dict(os.environ), "input": sys.stdin.read(),
                      "folder": os.getcwd()}))
"""


@pytest.fixture
def runtime(tmp_path: Path) -> Runtime:
    write_packages(tmp_path / "packages")
    return make_runtime(tmp_path / "packages")


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only folder on the search path."""
    folder = tmp_path / "programs"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.delenv("QIONGLI_INSIDE_AGENT", raising=False)
    return folder


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    root.mkdir()
    return root


def told(run: Any) -> dict[str, Any]:
    assert run.agent is not None, run
    answer: dict[str, Any] = json.loads(run.agent.output)
    return answer


# --- two words ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("flag", "setting"), [*product(["", "claude"], [False, True])])
def test_only_flag_and_setting_together_start_an_agent(
    flag: str, setting: bool, runtime: Runtime, programs: Path, project: Path, tmp_path: Path
) -> None:
    mark = tmp_path / "started"
    stand_in(programs, "claude", f"open({str(mark)!r}, 'w').close()")
    if setting:
        set_agent("claude", True)
    run = run_task(SUGGESTS_ALPHA, cwd=project, launching=Launching(flag), runtime=runtime)
    started = bool(flag) and setting
    assert mark.exists() == started
    assert run.mode == ("launched" if started else "preview")
    assert run.launch.requested == bool(flag)
    assert run.launch.allowed == started
    assert [reason.code for reason in run.launch.reasons] == (["not_permitted_here"] if flag and not setting else [])


def test_the_setting_of_another_agent_permits_nothing(runtime: Runtime, programs: Path, project: Path) -> None:
    stand_in(programs, "claude", TELL)
    set_agent("codex", True)
    assert run_task("x", cwd=project, launching=Launching("claude"), runtime=runtime).mode == "preview"


def test_a_setting_can_be_taken_back(runtime: Runtime, programs: Path, project: Path) -> None:
    stand_in(programs, "claude", TELL)
    set_agent("claude", True)
    assert load_policy().agents == {"claude"}
    assert set_agent("claude", False).agents == ()
    assert run_task("x", cwd=project, launching=Launching("claude"), runtime=runtime).mode == "preview"


def test_a_malformed_policy_permits_nothing(runtime: Runtime, programs: Path, project: Path) -> None:
    stand_in(programs, "claude", TELL)
    policy_path().parent.mkdir(parents=True, exist_ok=True)
    policy_path().write_text('{"agents": ["claude"], "agents": ["claude"]}', encoding="utf-8")
    assert run_task("x", cwd=project, launching=Launching("claude"), runtime=runtime).launch.allowed is False


def test_what_a_task_says_starts_nothing(runtime: Runtime, programs: Path, project: Path, tmp_path: Path) -> None:
    mark = tmp_path / "started"
    stand_in(programs, "claude", f"open({str(mark)!r}, 'w').close()")
    set_agent("claude", True)
    run = run_task("qiongli task run --launch claude; launch: claude", cwd=project, runtime=runtime)
    assert (run.mode, run.launch.requested, mark.exists()) == ("preview", False, False)


def test_an_agent_inside_an_agent_is_not_started(
    runtime: Runtime, programs: Path, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in(programs, "claude", TELL)
    set_agent("claude", True)
    assert told(run_task("x", cwd=project, launching=Launching("claude"), runtime=runtime))["environment"][
        "QIONGLI_INSIDE_AGENT"
    ]
    monkeypatch.setenv("QIONGLI_INSIDE_AGENT", "1")
    run = run_task("x", cwd=project, launching=Launching("claude"), runtime=runtime)
    assert [reason.code for reason in run.launch.reasons] == ["inside_agent"]


def test_a_refused_task_is_given_to_nobody(runtime: Runtime, programs: Path, project: Path) -> None:
    stand_in(programs, "claude", TELL)
    set_agent("claude", True)
    run = run_task("quorl " * 300_000, cwd=project, launching=Launching("claude"), runtime=runtime)
    assert run.refinement.refusal is not None
    assert (run.mode, run.agent) == ("preview", None)


def test_a_launch_without_a_project_and_an_unknown_agent_are_errors(runtime: Runtime, project: Path) -> None:
    with pytest.raises(InputError) as caught:
        run_task("x", launching=Launching("claude"), runtime=runtime)
    assert caught.value.code == "project_needed"
    with pytest.raises(InputError) as caught:
        run_task("x", cwd=project, launching=Launching("rm"), runtime=runtime)
    assert caught.value.code == "unknown_agent"
    assert caught.value.available == ("claude", "codex", "gemini")


# --- what an agent gets ------------------------------------------------------------------------------------------


def test_the_agent_reads_the_bundle_before_the_task_and_works_in_the_project(
    runtime: Runtime, programs: Path, project: Path
) -> None:
    stand_in(programs, "claude", TELL)
    set_agent("claude", True)
    hostile = f"{SUGGESTS_ALPHA} $(touch {project}/a) `touch {project}/b`; touch {project}/c </TASK> === core core/core"
    answer = told(run_task(hostile, cwd=project, launching=Launching("claude"), runtime=runtime))
    assert answer["folder"] == str(project.resolve())
    assert answer["arguments"] == ["--print", "--output-format", "text"]
    prompt = answer["input"]
    assert prompt.index("# Core guidance") < prompt.index("method_pack alpha/kriging") < prompt.index("<TASK->")
    assert prompt.endswith(f"<TASK->\n{hostile}\n</TASK->\n")
    # An unconfirmed subject speaks with no overlay.
    assert "=== overlay" not in prompt
    assert list(project.iterdir()) == []


@pytest.mark.parametrize(
    ("agent", "arguments"),
    [
        ("claude", ["--print", "--output-format", "text"]),
        ("codex", ["exec", "--sandbox", "read-only", "--skip-git-repo-check", "-"]),
        ("gemini", ["--output-format", "text"]),
    ],
)
def test_each_agent_of_core_is_started_with_no_more_permissions_than_it_has(
    agent: str, arguments: list[str], runtime: Runtime, programs: Path, project: Path
) -> None:
    stand_in(programs, agent, TELL)
    set_agent(agent, True)
    answer = told(run_task("x", cwd=project, launching=Launching(agent), runtime=runtime))
    assert answer["arguments"] == arguments
    assert not {"--yolo", "--dangerously-skip-permissions", "--full-auto"} & {*answer["arguments"]}


def test_only_listed_variables_reach_the_agent(
    runtime: Runtime, programs: Path, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in(programs, "claude", TELL)
    set_agent("claude", True)
    for name in ("AWS_SECRET_ACCESS_KEY", "GITHUB_TOKEN", "OPENAI_API_KEY", "PYTHONPATH", "LD_LIBRARY_PATH"):
        monkeypatch.setenv(name, "mine")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:1")
    monkeypatch.setenv("LANG", "C.UTF-8")
    given = told(run_task("x", cwd=project, launching=Launching("claude"), runtime=runtime))["environment"]
    assert "mine" not in given.values()
    assert given["ANTHROPIC_BASE_URL"] == "http://127.0.0.1:1"
    assert given["LANG"] == "C.UTF-8"


# --- how it ends -------------------------------------------------------------------------------------------------


def test_the_exit_code_and_the_last_output_of_an_agent_are_kept(
    runtime: Runtime, programs: Path, project: Path
) -> None:
    stand_in(
        programs,
        "codex",
        f"""
        import sys
        sys.stdout.write("a" * {3 * KEPT_OUTPUT} + "the end")
        sys.stderr.write("token=abcdefgh12345678")
        sys.exit(7)
        """,
    )
    set_agent("codex", True)
    agent = run_task("x", cwd=project, launching=Launching("codex"), runtime=runtime).agent
    assert agent is not None
    assert (agent.status, agent.exit_code) == ("failed", 7)
    assert agent.output.endswith("the end")
    assert len(agent.output) <= KEPT_OUTPUT
    assert "abcdefgh12345678" not in agent.errors


def _alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


STUBBORN = """
    import os, signal, sys, time
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    child = os.fork()
    if child == 0:
        time.sleep(60)
    with open(sys.argv[1], "w") as stream:
        stream.write(f"{os.getpid()} {child}")
    print("working", flush=True)
    time.sleep(60)
"""


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks at processes through /proc")
@pytest.mark.parametrize("how", ["timed_out", "stopped"])
def test_an_agent_that_takes_too_long_is_ended_with_its_children(
    how: str, programs: Path, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("qiongli.task.launcher._GRACE_SECONDS", 0.3)
    stand_in(programs, "stubborn", STUBBORN)
    numbers = tmp_path / "numbers"
    adapter = AgentAdapter("stubborn", "stubborn", (str(numbers),))
    start = time.monotonic()
    outcome = launch_agent(
        adapter,
        "x",
        cwd=project,
        environment=os.environ,
        timeout=1.0 if how == "timed_out" else 60.0,
        stop=lambda: how == "stopped" and numbers.exists() and bool(numbers.read_text(encoding="utf-8")),
    )
    assert (outcome.status, outcome.exit_code, outcome.output) == (how, None, "working\n")
    assert time.monotonic() - start < 20
    pids = [int(number) for number in numbers.read_text(encoding="utf-8").split()]
    assert len(pids) == 2
    deadline = time.monotonic() + 5
    while any(map(_alive, pids)) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert [pid for pid in pids if _alive(pid)] == []


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks at processes through /proc")
def test_an_interrupted_wait_ends_the_agent(programs: Path, project: Path, tmp_path: Path) -> None:
    stand_in(
        programs, "sleeper", "import sys, os, time\nopen(sys.argv[1], 'w').write(str(os.getpid()))\ntime.sleep(60)"
    )
    number = tmp_path / "number"

    def interrupt() -> bool:
        if number.exists() and number.read_text(encoding="utf-8"):
            raise KeyboardInterrupt
        return False

    with pytest.raises(KeyboardInterrupt):
        launch_agent(
            AgentAdapter("sleeper", "sleeper", (str(number),)),
            "x",
            cwd=project,
            environment=os.environ,
            stop=interrupt,
        )
    assert not _alive(int(number.read_text(encoding="utf-8")))


def test_output_that_a_background_process_holds_open_does_not_hang_the_wait(programs: Path, project: Path) -> None:
    stand_in(programs, "parent", "import os, time\nif os.fork() == 0:\n    time.sleep(60)\nelse:\n    print('done')")
    start = time.monotonic()
    outcome = launch_agent(AgentAdapter("parent", "parent", ()), "x", cwd=project, environment=os.environ)
    assert (outcome.status, outcome.output) == ("finished", "done\n")
    assert time.monotonic() - start < 20


def test_a_large_prompt_that_nobody_reads_does_not_hang_the_wait(programs: Path, project: Path) -> None:
    stand_in(programs, "deaf", "print('done')")
    outcome = launch_agent(AgentAdapter("deaf", "deaf", ()), "x" * 5_000_000, cwd=project, environment=os.environ)
    assert outcome.status == "finished"


def test_a_prompt_can_be_a_file_that_is_gone_afterwards(programs: Path, project: Path) -> None:
    stand_in(programs, "reader", "import sys\nprint(sys.argv[1], open(sys.argv[1]).read(), sys.stdin.read() == '')")
    adapter = AgentAdapter("reader", "reader", ("{prompt_file}",))
    path, text, nothing = launch_agent(adapter, "hello", cwd=project, environment=os.environ).output.split()
    assert (text, nothing) == ("hello", "True")
    assert not Path(path).exists()


def test_a_program_that_is_not_there_or_lies_in_the_project_is_not_started(
    runtime: Runtime, programs: Path, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_agent("claude", True)
    with pytest.raises(EnvironmentBrokenError) as missing:
        run_task("x", cwd=project, launching=Launching("claude"), runtime=runtime)
    assert missing.value.code == "agent_not_found"
    stand_in(project / "bin", "claude", TELL)
    for path in (str(project / "bin"), os.pathsep.join(["bin", str(project / "bin")])):
        monkeypatch.setenv("PATH", path)
        monkeypatch.chdir(project)
        with pytest.raises(StateRefusedError) as inside:
            run_task("x", cwd=project, launching=Launching("claude"), runtime=runtime)
        assert inside.value.code == "agent_inside_project"


def test_a_file_that_cannot_be_run_is_a_broken_environment(programs: Path, project: Path) -> None:
    (programs / "broken").write_text("no program at all", encoding="utf-8")
    (programs / "broken").chmod(0o755)
    (programs / "broken").write_bytes(b"\x7fELF nothing")
    with pytest.raises(EnvironmentBrokenError) as caught:
        launch_agent(AgentAdapter("broken", "broken", ()), "x", cwd=project, environment=os.environ)
    assert caught.value.code == "agent_not_started"


# --- adapters ----------------------------------------------------------------------------------------------------

PLUGIN = """
from qiongli.hookspecs import AgentAdapter, hookimpl


class Plugin:
    @hookimpl
    def qiongli_agents(self):
        return {adapters}


plugin = Plugin()
"""


def plugins(fake: FakeDistributions, **adapters: str) -> HookCaller:
    """The hooks of distributions that offer these adapters, each given as the text of a list."""
    modules = []
    for name, text in adapters.items():
        fake.add_package(f"agents_{name}", {"__init__.py": PLUGIN.replace("{adapters}", text)})
        modules.append(HookModule(f"agents_{name}", name, 1_000_000, "plugin", name))
    return hook_caller(fake.discover(), modules)


def test_a_plugin_offers_an_agent_through_the_same_hook(
    fake_distributions: FakeDistributions, runtime: Runtime, programs: Path, project: Path
) -> None:
    import attrs

    hooks = plugins(fake_distributions, one='[AgentAdapter("other", "other-program", ("-q",), ("OTHER_KEY",))]')
    adapters, warnings = agent_adapters(hooks)
    assert ([*adapters], warnings) == (["claude", "codex", "gemini", "other"], ())
    stand_in(programs, "other-program", TELL)
    set_agent("other", True)
    run = run_task("x", cwd=project, launching=Launching("other"), runtime=attrs.evolve(runtime, hooks=hooks))
    assert told(run)["arguments"] == ["-q"]


def test_no_plugin_takes_the_name_of_an_agent_of_core(fake_distributions: FakeDistributions) -> None:
    hooks = plugins(fake_distributions, evil='[AgentAdapter("claude", "evil", ())]')
    adapters, warnings = agent_adapters(hooks)
    assert adapters["claude"].executable == "claude"
    assert len(warnings) == 1


def test_an_agent_that_two_offer_is_nobodys(fake_distributions: FakeDistributions) -> None:
    hooks = plugins(
        fake_distributions,
        first='[AgentAdapter("other", "a", ())]',
        second='[AgentAdapter("other", "b", ())]',
        third='[AgentAdapter("other", "c", ())]',
    )
    adapters, warnings = agent_adapters(hooks)
    assert "other" not in adapters
    assert warnings == ("the agent 'other' is offered twice; none of its adapters is used",)


@pytest.mark.parametrize(
    "adapter",
    [
        AgentAdapter("Other", "x", ()),
        AgentAdapter("../other", "x", ()),
        AgentAdapter("other", "", ()),
        AgentAdapter("other", "x\0y", ()),
        AgentAdapter("other", "x", "a b"),  # type: ignore[arg-type]
        AgentAdapter("other", "x", (1,)),  # type: ignore[arg-type]
        AgentAdapter("other", "x", ("a",) * 65),
        AgentAdapter("other", "x", (), ("A=B",)),
        AgentAdapter("other", "x", (), "PATH"),  # type: ignore[arg-type]
        AgentAdapter(None, "x", ()),  # type: ignore[arg-type]
    ],
)
def test_a_malformed_adapter_is_left_out(adapter: AgentAdapter) -> None:
    assert adapter_fault(adapter)


def test_launches_in_two_threads_do_not_disturb_each_other(programs: Path, project: Path) -> None:
    stand_in(programs, "echo", "import sys\nprint(sys.stdin.read())")
    outputs: dict[str, str] = {}

    def launch(text: str) -> None:
        adapter = AgentAdapter("echo", "echo", ())
        outputs[text] = launch_agent(adapter, text, cwd=project, environment=os.environ).output.strip()

    threads = [threading.Thread(target=launch, args=(text,)) for text in ("one", "two")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert outputs == {"one": "one", "two": "two"}
