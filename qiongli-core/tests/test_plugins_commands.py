"""`qiongli plugins`, plugin commands, and the commands that must work whatever is installed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from qiongli.cli import run
from qiongli.plugins.commands import list_commands, load_command
from qiongli.plugins.policy import load_policy, policy_path
from qiongli.schemas import schema_text
from qiongli.testing import FakeDistributions, example_contract, imports_nothing_from


def answer(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> dict[str, Any]:
    """Run a command with --json and return its document."""
    capsys.readouterr()
    assert run([*arguments, "--json"]) == code
    document: dict[str, Any] = json.loads(capsys.readouterr().out)
    return document


def process(fake: FakeDistributions, *arguments: str, before: str = "") -> subprocess.CompletedProcess[str]:
    """Run a command in a process of its own, with the fake distributions on the path."""
    code = f"{before}\nimport sys\nfrom qiongli.cli import run\nsys.exit(run({list(arguments)!r}))"
    paths = os.pathsep.join([str(fake.folder), *(path for path in sys.path if path)])
    return subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": paths},
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        check=False,
    )


class TestList:
    def test_every_kind_of_distribution_is_shown_with_what_may_run(
        self, fake_distributions: FakeDistributions, capsys: pytest.CaptureFixture[str]
    ) -> None:
        fake_distributions.add_subject("law")
        fake_distributions.add(
            "tool", entry_points="[qiongli.plugins]\na = tool_a\n[qiongli.commands]\nb = tool_b:app\n"
        )
        fake_distributions.add("bad-dist", entry_points=b"[qiongli.plugins]\n\xff\n")
        document = answer(capsys, "plugins", "list")
        jsonschema.validate(document, json.loads(schema_text("plugin-list")))
        assert document["interpreter"] == sys.executable
        rows = {item["distribution"]: item for item in document["plugins"]}
        assert {name: item["permission"] for name, item in rows.items()} == {
            "bad-dist": "kept_out",
            "fake-subject-law": "data_only",
            "tool": "runs",
        }
        assert rows["tool"]["provides"] == [
            {"kind": "command", "name": "b", "target": "tool_b:app"},
            {"kind": "plugin", "name": "a", "target": "tool_a"},
        ]
        assert rows["bad-dist"]["reasons"][0]["code"] == "entry_points_unreadable"

    def test_the_table_names_versions_reasons_and_the_interpreter(
        self, fake_distributions: FakeDistributions, capsys: pytest.CaptureFixture[str]
    ) -> None:
        fake_distributions.add("tool", "4.2", entry_points="[qiongli.plugins]\na = tool_a\n")
        fake_distributions.add("tool", "4.1", entry_points="[qiongli.plugin]\na = tool_a\n")
        fake_distributions.add("typo", entry_points="[qiongli.plugin]\na = tool_a\n")
        assert run(["plugins", "block", "tool"]) == 0
        assert run(["plugins", "list"]) == 0
        shown = capsys.readouterr().out
        assert "tool          4.2" in shown
        assert "tool is blocked here [blocked]. Run: qiongli plugins allow tool" in shown
        assert "tool-4.1.dist-info is ignored as an older copy" in shown
        assert "typo: nobody reads the entry-point group 'qiongli.plugin'" in shown
        assert sys.executable in shown

    def test_nothing_installed_is_an_answer(self, isolated_qiongli: Path, capsys: pytest.CaptureFixture[str]) -> None:
        assert run(["plugins", "list"]) == 0
        assert "no distribution takes part" in capsys.readouterr().out


class TestSettings:
    @pytest.mark.parametrize("name", ["fake-subject-law", "Fake.Subject__LAW", "law"])
    def test_block_takes_the_distribution_in_any_spelling_and_the_slug(
        self, fake_distributions: FakeDistributions, capsys: pytest.CaptureFixture[str], name: str
    ) -> None:
        fake_distributions.add_subject("law")
        document = answer(capsys, "plugins", "block", name)
        jsonschema.validate(document, json.loads(schema_text("plugin-policy")))
        assert (document["distribution"], document["changed"]) == ("fake-subject-law", True)
        assert load_policy().blocked == {"fake-subject-law"}
        assert not answer(capsys, "plugins", "block", name)["changed"]

    def test_an_unknown_name_is_answered_with_near_ones(
        self, fake_distributions: FakeDistributions, capsys: pytest.CaptureFixture[str]
    ) -> None:
        fake_distributions.add_subject("law")
        error = answer(capsys, "plugins", "block", "fake-subject-lwa", code=2)["error"]
        assert error["code"] == "unknown_distribution"
        assert error["hint"] == "Did you mean fake-subject-law?"
        assert error["available"] == ["fake-subject-law"]
        assert not policy_path().exists()

    def test_a_name_of_two_is_answered_with_both(
        self, fake_distributions: FakeDistributions, capsys: pytest.CaptureFixture[str]
    ) -> None:
        fake_distributions.add_subject("law", distribution="one", package="law_one")
        fake_distributions.add_subject("law", distribution="two", package="law_two")
        error = answer(capsys, "plugins", "allow", "law", code=2)["error"]
        assert (error["code"], error["available"]) == ("ambiguous_name", ["one", "two"])

    def test_allow_block_and_forget_undo_each_other(
        self, fake_distributions: FakeDistributions, capsys: pytest.CaptureFixture[str]
    ) -> None:
        fake_distributions.add_subject("law")
        assert answer(capsys, "plugins", "allow", "law", "--pin", "law")["pinned"] == {"law": "fake-subject-law"}
        blocked = answer(capsys, "plugins", "block", "law")
        assert (blocked["allowed"], blocked["blocked"]) == ([], ["fake-subject-law"])
        allowed = answer(capsys, "plugins", "allow", "law")
        assert (allowed["allowed"], allowed["blocked"]) == (["fake-subject-law"], [])
        forgotten = answer(capsys, "plugins", "forget", "law")
        assert (forgotten["allowed"], forgotten["blocked"], forgotten["pinned"]) == ([], [], {})

    def test_a_pin_needs_a_subject_of_that_distribution(
        self, fake_distributions: FakeDistributions, capsys: pytest.CaptureFixture[str]
    ) -> None:
        fake_distributions.add_subject("law")
        error = answer(capsys, "plugins", "allow", "law", "--pin", "finance", code=2)["error"]
        assert (error["code"], error["available"]) == ("unknown_subject", ["law"])

    def test_what_is_blocked_and_uninstalled_since_can_be_forgotten(
        self, fake_distributions: FakeDistributions, capsys: pytest.CaptureFixture[str]
    ) -> None:
        fake_distributions.add_subject("law")
        answer(capsys, "plugins", "block", "law")
        for path in fake_distributions.folder.glob("*.dist-info/*"):
            path.unlink()
        assert answer(capsys, "plugins", "forget", "fake_subject_law")["blocked"] == []

    def test_candidate_only_is_switched_on_and_off(
        self, fake_distributions: FakeDistributions, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert answer(capsys, "plugins", "candidate-only", "on")["candidate_only"] is True
        assert load_policy().candidate_only
        assert answer(capsys, "plugins", "candidate-only", "off")["candidate_only"] is False
        assert answer(capsys, "plugins", "candidate-only", "maybe", code=2)["error"]["code"] == "usage"

    def test_a_malformed_policy_is_not_overwritten(
        self, fake_distributions: FakeDistributions, capsys: pytest.CaptureFixture[str]
    ) -> None:
        fake_distributions.add_subject("law")
        policy_path().parent.mkdir(parents=True)
        policy_path().write_text("{ my notes", encoding="utf-8")
        error = answer(capsys, "plugins", "block", "law", code=2)["error"]
        assert error["code"] == "policy_malformed"
        assert policy_path().read_text(encoding="utf-8") == "{ my notes"
        assert answer(capsys, "plugins", "list")["plugins"][0]["permission"] == "kept_out"


class TestPluginCommands:
    """Commands of distributions: listed from metadata, imported only to run."""

    def add(self, fake: FakeDistributions, name: str, code: str, *, command: str = "hello") -> None:
        module = f"command_{name}"
        (fake.folder / f"{module}.py").write_text(textwrap.dedent(code), encoding="utf-8")
        fake.add(name, entry_points=f"[qiongli.commands]\n{command} = {module}:app\n")

    def test_a_command_runs_and_is_listed_without_import(
        self, fake_distributions: FakeDistributions, capsys: pytest.CaptureFixture[str]
    ) -> None:
        self.add(fake_distributions, "greeter", "def app(): print('hello there')\n")
        with imports_nothing_from(fake_distributions.folder):
            assert list_commands() == (("hello", "greeter"),)
            assert run(["--help"]) == 0
        assert "From greeter." in capsys.readouterr().out
        assert run(["hello"]) == 0
        assert capsys.readouterr().out == "hello there\n"

    @pytest.mark.parametrize(
        ("code", "words"),
        [
            ("raise SystemExit(0)", "raised SystemExit"),
            ("raise ValueError('no')", "raised ValueError: no"),
            ("import surely_not_installed", "of bad needs the module 'surely_not_installed'"),
            ("x = 1", "raised AttributeError"),
        ],
    )
    def test_a_command_that_cannot_be_imported_names_its_distribution(
        self, fake_distributions: FakeDistributions, capsys: pytest.CaptureFixture[str], code: str, words: str
    ) -> None:
        self.add(fake_distributions, "bad", code)
        error = answer(capsys, "hello", code=4)["error"]
        assert error["code"] == "plugin_broken"
        assert words in error["message"]
        assert "bad" in error["message"]
        assert "qiongli plugins block bad" in error["hint"]

    def test_a_value_that_is_no_object_of_a_module_is_reported(self, fake_distributions: FakeDistributions) -> None:
        from qiongli.errors import EnvironmentBrokenError

        fake_distributions.add("bad", entry_points="[qiongli.commands]\nhello = not a module\n")
        with pytest.raises(EnvironmentBrokenError, match="module:attribute"):
            load_command("hello")

    def test_a_command_of_two_distributions_belongs_to_neither(
        self, fake_distributions: FakeDistributions, capsys: pytest.CaptureFixture[str]
    ) -> None:
        self.add(fake_distributions, "one", "def app(): print('one')\n")
        self.add(fake_distributions, "two", "def app(): print('two')\n")
        assert list_commands() == ()
        error = answer(capsys, "hello", code=4)["error"]
        assert error["code"] == "command_claimed_twice"
        assert "one and by two" in error["message"]
        assert run(["plugins", "block", "two"]) == 0
        assert load_command("hello") is not None

    def test_core_s_own_commands_cannot_be_taken(
        self, fake_distributions: FakeDistributions, capsys: pytest.CaptureFixture[str]
    ) -> None:
        self.add(fake_distributions, "greedy", "raise SystemExit(9)", command="doctor")
        assert run(["doctor", "--json"]) in (0, 4)
        assert json.loads(capsys.readouterr().out)["core_version"]

    @pytest.mark.parametrize("switch", ["--no-plugins", "QIONGLI_PLUGINS"])
    def test_without_plugins_there_is_no_such_command(
        self,
        fake_distributions: FakeDistributions,
        capsys: pytest.CaptureFixture[str],
        monkeypatch: pytest.MonkeyPatch,
        switch: str,
    ) -> None:
        self.add(fake_distributions, "greeter", "raise SystemExit(0)")
        # The switch on the command line sets the variable, which must not outlive the test.
        monkeypatch.setenv("QIONGLI_PLUGINS", "none")
        if switch == "--no-plugins":
            monkeypatch.delenv("QIONGLI_PLUGINS")
        arguments = ["hello", *(["--no-plugins"] if switch == "--no-plugins" else [])]
        with imports_nothing_from(fake_distributions.folder):
            assert answer(capsys, *arguments, code=2)["error"]["code"] == "usage"


RECOVERY = [
    ["--help"],
    ["subject", "list"],
    ["subject", "show", "law"],
    ["plugins", "list"],
    ["plugins", "block", "saboteur"],
    ["doctor"],
    ["contract", "schema"],
    ["resource", "list"],
]


@pytest.mark.parametrize("arguments", RECOVERY, ids=" ".join)
def test_recovery_commands_run_no_foreign_code(
    fake_distributions: FakeDistributions, tmp_path: Path, arguments: list[str]
) -> None:
    mark = tmp_path / "written"
    code = f"open({str(mark)!r}, 'a', encoding='utf-8').close()\nraise SystemExit(13)\n"
    fake_distributions.add_subject("law", code=code)
    (fake_distributions.folder / "saboteur.py").write_text(code, encoding="utf-8")
    fake_distributions.add(
        "saboteur", entry_points="[qiongli.plugins]\nx = saboteur\n[qiongli.commands]\ny = saboteur:app\n"
    )
    result = process(fake_distributions, *arguments)
    assert result.returncode == 0, result.stderr
    assert "Traceback" not in result.stderr
    assert not mark.exists()


@pytest.mark.parametrize(
    "arguments",
    [
        ["route", "We ran a law trial design."],
        ["subject", "explain", "law", "--text", "x"],
        ["gate", "check", "law"],
        ["gate", "verify", "law"],
        ["evaluate", "--subject", "law"],
        ["resource", "show", "law", "overlay", "law"],
        ["plugins", "allow", "law"],
    ],
    ids=" ".join,
)
def test_no_command_runs_the_code_of_a_subject_that_nobody_allowed(
    fake_distributions: FakeDistributions, tmp_path: Path, arguments: list[str]
) -> None:
    mark = tmp_path / "written"
    code = f"open({str(mark)!r}, 'a', encoding='utf-8').close()\n"
    text = example_contract("law", status="runtime_enabled", hooks="hooks")
    files = {"runtime-subject.yaml": text, "hooks.py": code}
    fake_distributions.add_subject("law", status="runtime_enabled", code=code, files=files)
    result = process(fake_distributions, *arguments)
    assert result.returncode in (0, 1, 2, 3), result.stdout + result.stderr
    assert "[usage]" not in result.stderr
    assert "Traceback" not in result.stderr
    assert not mark.exists()


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("import not_installed_anywhere", "(import): frail needs the module 'not_installed_anywhere'"),
        ("raise SystemExit(7)", "(import): frail raised SystemExit"),
        (
            "from qiongli.hookspecs import hookimpl\n"
            "@hookimpl\ndef qiongli_detect(document):\n    raise ValueError(document)\n",
            "(qiongli_detect): raised ValueError",
        ),
    ],
    ids=["lacks a dependency", "exits", "raises in a hook"],
)
def test_a_plugin_that_fails_while_routing_is_named_and_changes_no_packet(
    fake_distributions: FakeDistributions, code: str, words: str
) -> None:
    (fake_distributions.folder / "frail.py").write_text(code, encoding="utf-8")
    fake_distributions.add("frail", entry_points="[qiongli.plugins]\nx = frail\n")
    task = ["route", "--json", "A trial of two lawyers."]
    result = process(fake_distributions, *task)
    without = process(fake_distributions, "--no-plugins", *task)
    assert (result.returncode, without.returncode) == (0, 0), result.stderr + without.stderr
    assert result.stdout == without.stdout
    assert f"a plugin of frail failed {words}" in result.stderr
    assert "qiongli plugins block frail" in result.stderr
    assert "lawyers" not in result.stderr
    assert "frail" not in without.stderr


class TestStrictListing:
    """`subject list --strict` is for scripts: what is broken or invalid makes it exit 1, and is listed all the same."""

    @pytest.mark.parametrize("text", ["a: [", example_contract("law", requires=">=9")], ids=["unreadable", "excluded"])
    def test_a_subject_that_cannot_be_used_is_listed_and_counts(
        self, fake_distributions: FakeDistributions, capsys: pytest.CaptureFixture[str], text: str
    ) -> None:
        fake_distributions.add_subject("law", text)
        fake_distributions.add_subject("medicine")
        lenient = answer(capsys, "subject", "list")
        assert [row["state"] for row in lenient["subjects"]] == ["invalid", "lens_only"]
        assert answer(capsys, "subject", "list", "--strict", code=1) == lenient

    def test_a_subject_that_is_merely_not_active_does_not_count(
        self, fake_distributions: FakeDistributions, capsys: pytest.CaptureFixture[str]
    ) -> None:
        fake_distributions.add_subject("law")
        assert answer(capsys, "subject", "list", "--strict")["subjects"][0]["state"] == "lens_only"

    def test_an_unknown_subject_is_answered_with_a_near_one(
        self, fake_distributions: FakeDistributions, capsys: pytest.CaptureFixture[str]
    ) -> None:
        fake_distributions.add_subject("medicine")
        assert answer(capsys, "subject", "show", "medecine", code=2)["error"]["hint"] == "Did you mean medicine?"


def test_validating_a_package_runs_none_of_its_code(fake_distributions: FakeDistributions, tmp_path: Path) -> None:
    mark = tmp_path / "written"
    root = fake_distributions.add_subject("law", code=f"open({str(mark)!r}, 'a', encoding='utf-8').close()\n")
    result = process(fake_distributions, "contract", "validate", str(root))
    assert result.returncode == 0, result.stdout + result.stderr
    assert not mark.exists()


def test_the_list_of_subjects_imports_no_subject_no_yaml_and_no_pluggy_when_warm(
    fake_distributions: FakeDistributions,
) -> None:
    fake_distributions.add_subject("law")
    assert process(fake_distributions, "subject", "list").returncode == 0
    watch = (
        "import atexit, sys\n"
        "@atexit.register\n"
        "def show():\n"
        "    heavy = ('yaml', 'cattrs', 'pluggy', 'packaging', 'importlib_metadata', 'platformdirs', 're2', 'ruamel',\n"
        "             'filelock', 'jinja2', 'fake_subject_law', 'qiongli_subject_economics')\n"
        "    sys.stderr.write('imported: ' + ' '.join(name for name in heavy if name in sys.modules))\n"
    )
    result = process(fake_distributions, "subject", "list", "--json", before=watch)
    assert "law" in [row["subject"] for row in json.loads(result.stdout)["subjects"]]
    assert result.stderr.rpartition("imported: ")[2] == ""


@pytest.mark.parametrize("hidden", ["yaml._yaml", "yaml"])
def test_subjects_are_listed_without_the_c_extension_and_without_yaml_itself(
    fake_distributions: FakeDistributions, hidden: str
) -> None:
    fake_distributions.add_subject("law")
    result = process(
        fake_distributions, "subject", "list", "--json", before=f"import sys; sys.modules[{hidden!r}] = None"
    )
    assert result.returncode == 0, result.stderr
    (row,) = [row for row in json.loads(result.stdout)["subjects"] if row["subject"] == "law"]
    if hidden == "yaml":
        assert (row["state"], row["reasons"][0]["code"]) == ("broken", "library_missing")
        assert "pip install --force-reinstall qiongli-core" in row["reasons"][0]["hint"]
    else:
        assert row["state"] == "lens_only"
