"""Release automation: stale records stop it, and leaving the gates out says so."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """The tool and one subject, in a workspace of their own."""
    (tmp_path / "tools").mkdir()
    shutil.copy(ROOT / "tools" / "check_gates.py", tmp_path / "tools")
    source = ROOT / "subjects" / "economics"
    shutil.copytree(source, tmp_path / "subjects" / "economics", ignore=shutil.ignore_patterns("__pycache__", "tests"))
    return tmp_path


def check(workspace: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(workspace / "tools" / "check_gates.py"), *arguments],
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
        env={**os.environ, "QIONGLI_SKIP_GATES": "", **environment},
    )


def overlay(workspace: Path) -> Path:
    (path,) = workspace.glob("subjects/economics/src/*/overlays/economics.yaml")
    return path


def test_a_record_that_fits_lets_a_release_pass(workspace: Path) -> None:
    done = check(workspace)
    assert (done.returncode, done.stdout) == (0, "economics: its record holds\n")


def test_a_stale_record_stops_a_release_and_names_the_file(workspace: Path) -> None:
    with overlay(workspace).open("a", encoding="utf-8") as stream:
        stream.write("# one more line\n")
    done = check(workspace)
    assert done.returncode != 0
    assert "economics: its record is stale: changed: overlays/economics.yaml" in done.stdout


def test_without_a_record_there_is_no_release(workspace: Path) -> None:
    (record,) = workspace.glob("subjects/economics/src/*/activation.json")
    record.unlink()
    done = check(workspace)
    assert done.returncode != 0
    assert "economics: it has no record that can be read" in done.stdout


def test_leaving_the_gates_out_passes_and_says_so(workspace: Path) -> None:
    overlay(workspace).write_text("broken", encoding="utf-8")
    done = check(workspace, QIONGLI_SKIP_GATES="1")
    assert done.returncode == 0
    assert done.stdout.startswith("SKIPPED: QIONGLI_SKIP_GATES is set; no gate was checked")
    assert "holds" not in done.stdout


def test_a_stale_record_is_renewed_by_promoting_again(workspace: Path) -> None:
    with overlay(workspace).open("a", encoding="utf-8") as stream:
        stream.write("# one more line\n")
    assert check(workspace, "--promote").returncode == 0
    assert check(workspace).returncode == 0
