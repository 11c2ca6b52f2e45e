"""Whoever looks at the engine changes nothing: with a recorder, without one, or with one that fails."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import attrs
import pytest
from packet_cases import write_packages
from task_cases import AMBIGUOUS, BORROWS_ALPHA, DENIES_ALPHA, GATED_GAMMA, NOTHING, SUGGESTS_ALPHA, make_runtime

from qiongli.cli._app import run_application
from qiongli.diagnostics import Recorder
from qiongli.refinement import recorder_for
from qiongli.runtime import Runtime, default_runtime, infer_subject_refinement

TASKS = (SUGGESTS_ALPHA, AMBIGUOUS, BORROWS_ALPHA, GATED_GAMMA, DENIES_ALPHA, NOTHING, "", "\ud800 is no text")


class Failing:
    """A recorder that cannot even be asked."""

    def record(self, event: str, **fields: object) -> None:
        raise RuntimeError(event)


@pytest.fixture(scope="module")
def runtime(tmp_path_factory: pytest.TempPathFactory) -> Runtime:
    folder = tmp_path_factory.mktemp("packages")
    write_packages(folder)
    return make_runtime(folder)


@pytest.mark.parametrize("task", TASKS)
def test_the_packet_is_the_same_whoever_looks(runtime: Runtime, task: str) -> None:
    plain = infer_subject_refinement(task, runtime=runtime)
    full = Recorder(("alpha",))
    for _ in range(100):
        full.record("resource", count=1)
    for recorder in (Recorder(), recorder_for(runtime.catalogue), full, Failing(), object()):
        seen = infer_subject_refinement(task, runtime=runtime, recorder=recorder)
        assert attrs.evolve(seen, diagnostics=plain.diagnostics) == plain
        assert seen.diagnostics.items() >= plain.diagnostics.items()


def test_the_events_tell_the_decision_and_never_the_text(runtime: Runtime) -> None:
    secret = "Zanzibarquatsch"
    task = {"title": SUGGESTS_ALPHA, "abstract": f"The password of {secret} is hunter2."}
    packet = infer_subject_refinement(task, runtime=runtime, recorder=recorder_for(runtime.catalogue))
    events = packet.diagnostics["events"]
    assert packet.diagnostics["dropped"] == 0
    assert {"event": "decision", "decision": "suggest_subject", "mode": "auto", "subject": "alpha"} in events
    assert {"event": "precheck", "outcome": "pass"} in events
    assert any(event["event"] == "evidence" and event["subject"] == "alpha" for event in events)
    text = json.dumps(packet.diagnostics)
    for word in (secret, "hunter2", "quorl", "ledger"):
        assert word not in text


def test_a_refusal_is_among_the_events(runtime: Runtime) -> None:
    small = attrs.evolve(runtime, limits=attrs.evolve(runtime.limits, input_size=20))
    packet = infer_subject_refinement(SUGGESTS_ALPHA, runtime=small, recorder=recorder_for(runtime.catalogue))
    assert packet.refusal is not None
    assert packet.refusal.code == "input_too_large"
    assert "limit of 20" in packet.refusal.message
    assert {"event": "precheck", "outcome": "fail", "code": "input_too_large"} in packet.diagnostics["events"]


def test_the_command_shows_the_events_on_request(isolated_qiongli: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def route(*options: str) -> str:
        assert run_application(["route", "--text", "a text about nothing", *options]) == 0
        return capsys.readouterr().out

    events = json.loads(route("--diagnostics", "--json"))["diagnostics"]["events"]
    assert {"event": "document", "count": 1, "size": 20} in events
    assert "events" not in json.loads(route("--json"))["diagnostics"]
    assert "\n  document: count 1, size 20\n" in route("--diagnostics")


@pytest.mark.parametrize(("limit", "code"), [("19", "input_too_large"), ("20", None), ("", None)])
def test_the_largest_task_is_set_by_the_environment(
    isolated_qiongli: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    limit: str,
    code: str | None,
) -> None:
    packet = route_with(limit, monkeypatch, capsys)
    assert (packet["refusal"] or {}).get("code") == code


@pytest.mark.parametrize("limit", ["0", "-1", "1e6", "many", "\N{ARABIC-INDIC DIGIT THREE}", "9" * 13])
def test_a_limit_that_is_no_number_of_bytes_is_an_error(
    isolated_qiongli: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], limit: str
) -> None:
    error = route_with(limit, monkeypatch, capsys)["error"]
    assert error["code"] == "invalid_input_limit"
    assert error["place"] == "QIONGLI_INPUT_LIMIT"


def route_with(limit: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
    monkeypatch.setenv("QIONGLI_INPUT_LIMIT", limit)
    default_runtime.cache_clear()
    try:
        run_application(["route", "--text", "a text about nothing", "--json"])
    finally:
        default_runtime.cache_clear()
    return json.loads(capsys.readouterr().out)


class Twisted(Recorder):
    """A recorder whose own account fails."""

    def to_packet(self) -> dict[str, Any]:
        raise RuntimeError("no account")


class Hollow(Recorder):
    """A recorder that was never made."""

    def __init__(self) -> None:
        pass


@pytest.mark.parametrize("recorder", [Twisted, Hollow], ids=["raises", "never initialised"])
@pytest.mark.parametrize("task", TASKS)
def test_h3_a_recorder_that_cannot_give_an_account_changes_no_decision(
    runtime: Runtime, task: str, recorder: type[Recorder]
) -> None:
    plain = infer_subject_refinement(task, runtime=runtime)
    looked_at = infer_subject_refinement(task, runtime=runtime, recorder=recorder())
    assert attrs.evolve(looked_at, diagnostics=plain.diagnostics) == plain
