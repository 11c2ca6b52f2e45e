"""The page about plugins and hooks is current, and names everything that there is to name."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from qiongli import hookspecs
from qiongli.plugins._distributions import GROUPS
from qiongli.plugins.hooks import HookCaller
from qiongli.plugins.policy import load_policy
from qiongli.plugins.states import STATE_REASONS
from qiongli.records.subjects import SUBJECT_STATES

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "reference" / "hooks.md"
SOURCE = ROOT / "qiongli-core" / "src" / "qiongli"


def test_the_reference_is_what_the_generator_writes() -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "tools" / "generate_hooks_reference.py"), "--check"],
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_every_hook_group_state_and_reason_is_named() -> None:
    text = PAGE.read_text("utf-8")
    specifications = [name for name in vars(hookspecs) if name.startswith("qiongli_")]
    for name in (*specifications, *GROUPS, *SUBJECT_STATES, *STATE_REASONS):
        assert f"`{name}`" in text


def test_every_hook_has_a_method_that_calls_it() -> None:
    source = (SOURCE / "plugins" / "hooks.py").read_text("utf-8")
    for name in vars(hookspecs):
        if name.startswith("qiongli_"):
            assert f'"{name}"' in source
    assert callable(HookCaller.request_vetoes)


@pytest.mark.parametrize("group", GROUPS)
def test_every_documented_group_has_a_reader(group: str) -> None:
    constant = f"{group.rpartition('.')[2].upper()}_GROUP"
    readers = [
        path.name for path in (SOURCE / "plugins").glob("*.py") if f"in_group({constant})" in path.read_text("utf-8")
    ]
    assert readers


@pytest.mark.parametrize("code", sorted(STATE_REASONS))
def test_every_documented_reason_is_given_somewhere(code: str) -> None:
    uses = sum(
        path.read_text("utf-8").count(f'"{code}"')
        for part in ("plugins", "gate")
        for path in (SOURCE / part).glob("*.py")
    )
    assert uses > 1


def test_the_policy_on_the_page_is_one_that_loads(tmp_path: Path) -> None:
    (text,) = re.findall(r"```json\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    path = tmp_path / "plugins.json"
    path.write_text(text, encoding="utf-8")
    policy = load_policy(path)
    assert policy.problem == ""
    assert policy.pinned == json.loads(text)["pinned"]


def test_the_example_on_the_page_is_a_plugin_that_registers() -> None:
    from qiongli.document import read_document

    (text,) = re.findall(r"```python\nfrom (.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    namespace: dict[str, object] = {}
    exec("from " + text, namespace)
    plugin = type("Example", (), {"qiongli_request_policy": staticmethod(namespace["qiongli_request_policy"])})
    caller = HookCaller()
    assert caller.register(plugin, "example"), caller.failures
    assert caller.request_vetoes(read_document("short")) == ()
    (veto,) = caller.request_vetoes(read_document("long " * 50_000))
    assert veto.code == "too_long_for_us"
