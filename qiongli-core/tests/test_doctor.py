"""`qiongli doctor`: says what is wrong and how to mend it, and runs where everything else is broken."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from qiongli.cli import run
from qiongli.plugins.diagnosis import Diagnosis, examine
from qiongli.plugins.policy import policy_path
from qiongli.schemas import schema_text
from qiongli.testing import FakeDistributions


def findings(diagnosis: Diagnosis, name: str) -> list[tuple[str, str, str]]:
    """Health, message and hint of the findings of that name."""
    return [(item.health, item.message, item.hint) for item in diagnosis.findings if item.name == name]


class TestWhatItSays:
    def test_interpreter_prefix_and_the_exact_pip_line(
        self, fake_distributions: FakeDistributions, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert run(["doctor"]) == 0
        shown = capsys.readouterr().out
        assert f"interpreter: {sys.executable}" in shown
        assert f"prefix:      {sys.prefix}" in shown
        assert f"to install:  {sys.executable} -m pip install NAME" in shown

    def test_the_document_follows_its_schema(
        self, fake_distributions: FakeDistributions, capsys: pytest.CaptureFixture[str]
    ) -> None:
        fake_distributions.add_subject("law")
        assert run(["doctor", "--json"]) == 0
        document = json.loads(capsys.readouterr().out)
        jsonschema.validate(document, json.loads(schema_text("doctor")))
        assert [row["subject"] for row in document["subjects"]] == ["law"]

    def test_the_state_of_each_subject_and_how_to_change_it(self, fake_distributions: FakeDistributions) -> None:
        fake_distributions.add_subject("law")
        fake_distributions.add_subject("economics", status="runtime_enabled", distribution="qiongli-subject-economics")
        fake_distributions.admit("economics")
        found = findings(examine(), "subject")
        assert found == [
            (
                "ok",
                "economics of qiongli-subject-economics 1.0 is active",
                "To switch it off: qiongli plugins block qiongli-subject-economics",
            ),
            (
                "ok",
                "law of fake-subject-law 1.0 is lens_only: its contract declares it candidate [below_runtime_enabled]",
                "Run: qiongli gate check law",
            ),
        ]

    def test_a_broken_subject_is_a_warning_and_the_exit_code_stays_zero(
        self, fake_distributions: FakeDistributions
    ) -> None:
        fake_distributions.add("bad-dist", "2.0", entry_points=b"[qiongli.subjects]\nbad = \xff\n")
        assert run(["doctor"]) == 0
        assert run(["doctor", "--strict"]) == 1
        diagnosis = examine()
        assert ("warning", "? of bad-dist 2.0 is broken") in [
            (health, message.partition(":")[0]) for health, message, _ in findings(diagnosis, "subject")
        ]
        (finding,) = findings(diagnosis, "distribution")
        assert finding[0] == "warning"
        assert "bad_dist-2.0.dist-info: its entry_points.txt is not UTF-8" in finding[1]
        assert finding[2] == f"Run: {sys.executable} -m pip install --force-reinstall bad-dist"

    def test_leftovers_shadows_misspelt_groups_and_foreign_damage_are_named(
        self, fake_distributions: FakeDistributions
    ) -> None:
        fake_distributions.add_subject("law", version="2.0")
        fake_distributions.add("x", folder_name="~aw-1.0.dist-info")
        fake_distributions.add(
            "fake-subject-law", folder_name="fake_subject_law.egg-info", entry_points="[qiongli.subjects]\n"
        )
        fake_distributions.add("typo", entry_points="[qiongli.subject]\nx = y\n")
        fake_distributions.add("farther", entry_points="[qionlgi.plugins]\nx = y\n")
        fake_distributions.add("foreign", entry_points=b"[x]\n\xff\n")
        diagnosis = examine()
        ((_, leftover, remove),) = findings(diagnosis, "leftover")
        assert "~aw-1.0.dist-info was left behind by an interrupted pip" in leftover
        assert remove.startswith("Remove ")
        ((_, shadowed, _),) = findings(diagnosis, "shadowed")
        assert "fake_subject_law.egg-info is ignored" in shadowed
        assert "fake_subject_law-2.0.dist-info" in shadowed
        neighbours = " ".join(message for _, message, _ in findings(diagnosis, "neighbour"))
        assert "'qionlgi.plugins' is read by nobody here; did you mean qiongli.plugins?" in neighbours
        assert "foreign-1.0.dist-info: its entry_points.txt is not UTF-8" in neighbours
        discovery = " ".join(message for _, message, _ in findings(diagnosis, "discovery"))
        assert "did you mean qiongli.subjects?" in discovery

    def test_who_may_run_code_and_commands_claimed_twice(self, fake_distributions: FakeDistributions) -> None:
        fake_distributions.add("one", entry_points="[qiongli.commands]\nhello = m:a\n[qiongli.plugins]\nx = y\n")
        fake_distributions.add("two", entry_points="[qiongli.commands]\nhello = m:a\n")
        run(["plugins", "block", "two"])
        diagnosis = examine()
        assert [message for _, message, _ in findings(diagnosis, "plugin")] == [
            "one may run its code (command, plugin)",
            "nothing of two runs: two is blocked here",
        ]
        ((health, message, hint),) = findings(diagnosis, "command")
        assert health == "warning"
        assert "one and by two" in message
        assert hint == "Run: qiongli plugins block two"

    @pytest.mark.parametrize(("text", "words"), [("{", "is malformed"), ('{"candidate_only": true}', "is in force")])
    def test_the_policy_is_shown_also_when_it_is_malformed(
        self, fake_distributions: FakeDistributions, text: str, words: str
    ) -> None:
        policy_path().parent.mkdir(parents=True)
        policy_path().write_text(text, encoding="utf-8")
        shown = " ".join(f"{message} {hint}" for _, message, hint in findings(examine(), "policy"))
        assert words in shown
        assert str(policy_path()) in shown

    def test_switches_in_the_environment_are_shown(
        self, fake_distributions: FakeDistributions, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("QIONGLI_PLUGINS", "none")
        monkeypatch.setenv("QIONGLI_SUBJECTS_DISABLED", "1")
        shown = findings(examine(), "environment")
        assert ("warning", "QIONGLI_PLUGINS is 'none'", "Unset QIONGLI_PLUGINS to undo it") in shown
        assert ("warning", "QIONGLI_SUBJECTS_DISABLED is '1'", "Unset QIONGLI_SUBJECTS_DISABLED to undo it") in shown

    def test_a_cache_that_cannot_be_used_is_a_warning(
        self, fake_distributions: FakeDistributions, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        (tmp_path / "file").write_text("", encoding="utf-8")
        monkeypatch.setenv("QIONGLI_CACHE_DIR", str(tmp_path / "file" / "cache"))
        ((health, message, _),) = findings(examine(), "cache")
        assert health == "warning"
        assert "cannot be written" in message

    def test_no_subject_at_all_is_answered_with_how_to_install_some(self, isolated_qiongli: Path) -> None:
        ((health, message, hint),) = findings(examine(), "subject")
        assert (health, message) == ("warning", "no subject is installed")
        assert "pip install qiongli-subject-economics" in hint

    def test_two_copies_of_core_are_named(
        self, isolated_qiongli: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / "qiongli").mkdir()
        (tmp_path / "qiongli" / "__init__.py").write_text("", encoding="utf-8")
        monkeypatch.syspath_prepend(str(tmp_path))
        warnings = [message for health, message, _ in findings(examine(), "core") if health == "warning"]
        assert len(warnings) == 1
        assert str(tmp_path / "qiongli") in warnings[0]

    def test_a_part_that_fails_does_not_hide_the_others(
        self, isolated_qiongli: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def fail(*_arguments: object, **_options: object) -> None:
            raise RuntimeError("out of order")

        monkeypatch.setattr("qiongli.plugins._distributions.scan", fail)
        monkeypatch.setattr("qiongli.plugins.discovery.discover", fail)
        diagnosis = examine()
        assert not diagnosis.healthy
        assert findings(diagnosis, "distributions") == [
            ("failure", "cannot be examined: RuntimeError: out of order", "")
        ]
        assert findings(diagnosis, "policy")
        assert findings(diagnosis, "cache")


def doctor_without(folder: Path, *modules: str) -> tuple[int, dict[str, Any]]:
    """Run doctor in a process in which the modules cannot be imported."""
    hide = "; ".join(f"sys.modules[{name!r}] = None" for name in modules)
    code = f"import sys; {hide}; from qiongli.cli import run; sys.exit(run(['doctor', '--json']))"
    environment = {**os.environ, "QIONGLI_CACHE_DIR": str(folder / "c"), "QIONGLI_CONFIG_DIR": str(folder / "k")}
    result = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, encoding="utf-8", timeout=60, check=False
    )
    assert "Traceback" not in result.stderr
    return result.returncode, json.loads(result.stdout)


class TestWithoutWhatItRepairs:
    @pytest.mark.parametrize(
        "module", ["yaml", "pluggy", "cattrs", "re2", "packaging", "ruamel.yaml", "filelock", "importlib_metadata"]
    )
    def test_it_runs_and_says_so_when_a_library_is_missing(self, tmp_path: Path, module: str) -> None:
        code, document = doctor_without(tmp_path, module)
        assert code == 4
        (finding,) = [item for item in document["findings"] if item["health"] == "failure"]
        assert finding["message"].startswith(f"{module} is missing; it is needed for")
        assert finding["hint"] == f"Run: {sys.executable} -m pip install --force-reinstall qiongli-core"

    def test_it_runs_without_all_of_them(self, tmp_path: Path) -> None:
        hidden = ("yaml", "pluggy", "cattrs", "re2", "packaging", "ruamel.yaml", "filelock", "importlib_metadata")
        code, document = doctor_without(tmp_path, *hidden, "platformdirs", "jinja2")
        assert code == 4
        assert document["interpreter"]["executable"] == sys.executable

    def test_a_missing_c_extension_is_only_a_warning(self, tmp_path: Path) -> None:
        code, document = doctor_without(tmp_path, "yaml._yaml")
        assert code == 0
        messages = [item["message"] for item in document["findings"] if item["health"] == "warning"]
        assert any("PyYAML has no C extension" in message for message in messages)
