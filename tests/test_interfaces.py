"""Real output of the command line fits the published schemas, and errors are one JSON document."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest

from qiongli.schemas import schema_names, schema_text

FINANCE = (
    "We use CRSP daily abnormal returns around earnings announcements in an event study, for the Journal of Finance"
)


def run(*arguments: str, stdin: str | None = None, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "qiongli", *arguments],
        input=stdin,
        capture_output=True,
        text=True,
        encoding="utf-8",
        cwd=cwd,
        check=False,
    )


def checked(name: str, text: str) -> dict:
    document = json.loads(text)
    jsonschema.validate(document, json.loads(schema_text(name)))
    return document


def test_every_schema_is_a_valid_schema() -> None:
    for name in schema_names():
        jsonschema.Draft202012Validator.check_schema(json.loads(schema_text(name)))


def test_the_four_tasks_that_the_first_issue_shows() -> None:
    suggested = checked("packet", run("route", FINANCE, "--json").stdout)
    assert (suggested["decision"], suggested["primary_subject"]) == ("suggest_subject", "finance")
    assert "event-study" in suggested["method_lenses"]

    denied = "we do not use an event study or stock returns; this is an ethnography of nurses"
    assert checked("packet", run("route", denied, "--json").stdout)["decision"] == "no_subject"

    borrowed = checked(
        "packet",
        run(
            "route",
            "a staggered difference-in-differences design for a school-meals reform, for a public-health journal",
            "--json",
        ).stdout,
    )
    assert borrowed["decision"] == "borrow_lens"
    assert [lens["lens"] for lens in borrowed["borrowed_lenses"]] == ["difference-in-differences"]

    asked = checked("packet", run("route", "WHAT DID THE PARTICIPANTS SAY?", "--json").stdout)
    assert (asked["decision"], asked["borrowed_lenses"]) == ("no_subject", [])


def test_several_inputs_and_lines(tmp_path: Path) -> None:
    (tmp_path / "task.txt").write_text(FINANCE, encoding="utf-8")
    several = run("route", "nothing here", "task.txt", "--json", cwd=tmp_path)
    assert [packet["decision"] for packet in checked("packets", several.stdout)["packets"]] == [
        "no_subject",
        "suggest_subject",
    ]
    lines = run("route", "nothing here", "task.txt", "--jsonl", cwd=tmp_path).stdout.splitlines()
    assert [checked("packet", line)["decision"] for line in lines] == ["no_subject", "suggest_subject"]
    forced = run("route", "--text", "task.txt", "--json", cwd=tmp_path)
    assert checked("packet", forced.stdout)["decision"] == "no_subject"
    piped = run("route", "-", "--json", stdin=FINANCE)
    assert checked("packet", piped.stdout)["decision"] == "suggest_subject"


def test_the_subject_list_fits_its_schema() -> None:
    listed = checked("subject-list", run("subject", "list", "--json").stdout)
    states = {row["subject"]: row["state"] for row in listed["subjects"]}
    assert (states["economics"], states["finance"]) == ("active", "active")


def test_a_project_confirms_a_subject(tmp_path: Path) -> None:
    action = run("subject", "confirm", "finance", "--cwd", str(tmp_path), "--json")
    assert checked("action", action.stdout)["after"]["active_subject"] == "finance"
    status = checked("status", run("subject", "status", "--cwd", str(tmp_path), "--json").stdout)
    assert (status["active_subject"], status["subject_mode"]) == ("finance", "confirmed")
    packet = checked("packet", run("route", "nothing here", "--cwd", str(tmp_path), "--json").stdout)
    assert (packet["decision"], packet["primary_subject"], packet["domain"]) == (
        "confirm_subject",
        "finance",
        "finance",
    )


@pytest.mark.parametrize(
    ("arguments", "code", "exit_code"),
    [
        (["rout", "--json"], "usage", 2),
        (["route", "--json"], "usage", 2),
        (["route", "--file", "no-such-file.txt", "--json"], "file_not_found", 2),
        (["subject", "show", "alchemy", "--json"], "unknown_subject", 2),
        (["subject", "confirm", "alchemy", "--cwd", ".", "--json"], "unknown_subject", 2),
        (["schema", "alchemy", "--json"], "unknown_schema", 2),
    ],
)
def test_errors_are_one_json_document_with_a_stable_code(
    tmp_path: Path, arguments: list[str], code: str, exit_code: int
) -> None:
    done = run(*arguments, cwd=tmp_path)
    assert checked("error", done.stdout)["error"]["code"] == code
    assert done.returncode == exit_code
    assert not (tmp_path / ".qiongli").exists()


def test_the_demo_shows_eight_tasks_and_every_kind_of_open_decision() -> None:
    packets = json.loads(run("demo", "--json").stdout)["packets"]
    assert len(packets) == 8
    assert {packet["decision"] for packet in packets} == {"suggest_subject", "borrow_lens", "no_subject"}


def test_the_same_input_gives_the_same_bytes_whatever_the_hash_seed_and_locale() -> None:
    import os

    outputs = set()
    for seed, locale in (("0", "C"), ("1", "tr_TR.UTF-8"), ("4711", "C.UTF-8")):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "LC_ALL": locale, "TZ": "Pacific/Auckland"}
        done = subprocess.run(
            [sys.executable, "-m", "qiongli", "demo", "--json"], capture_output=True, env=environment, check=True
        )
        outputs.add(done.stdout)
    assert len(outputs) == 1
