"""What Qiongli itself wrote is never evidence, whatever of it is pasted and however it was printed."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

import pytest

from qiongli.cli import run
from qiongli.document import read_document
from qiongli.document._own import OWN_KEYS
from qiongli.errors import InputError
from qiongli.markers import GUIDANCE_BEGIN, GUIDANCE_BLOCK_LIMIT, GUIDANCE_END
from qiongli.project.guidance import render_block
from qiongli.records.packet import DECISIONS
from qiongli.schemas import schema_names, schema_text


def words(text: str) -> str:
    return " ".join(word for field in read_document(text).fields for word in field.tokens.words)


def test_the_block_that_qiongli_writes_is_hidden_whole() -> None:
    from qiongli.gate.admission import installed_catalogue
    from qiongli.records.project import ManifestState

    state = ManifestState(active_subject="economics", subject_mode="confirmed")
    block = render_block(state, installed_catalogue())
    assert "economics" in block
    assert words(f"before\n{block}\nafter") == "before after"


@pytest.mark.parametrize(
    ("text", "left"),
    [
        (f"a {GUIDANCE_BEGIN} bond {GUIDANCE_END} b", "a b"),
        (f"a\r\n{GUIDANCE_BEGIN}\r\nbond\r\n{GUIDANCE_END}\r\nb", "a b"),
        (f"a {GUIDANCE_BEGIN.upper()} bond {GUIDANCE_END.upper()} b", "a b"),
        ("a <!--qiongli:managed:begin another-->bond<!--   qiongli:managed:end another--> b", "a b"),
        (
            f"a {GUIDANCE_BEGIN} bond {GUIDANCE_BEGIN} bond {GUIDANCE_END} b {GUIDANCE_BEGIN} bond {GUIDANCE_END} c",
            "a b c",
        ),
        (f"a {GUIDANCE_BEGIN} bond", "a"),
        (f"a {GUIDANCE_END} b", "a qiongli managed end subject runtime b"),
    ],
)
def test_guidance_is_hidden_between_its_markers(text: str, left: str) -> None:
    assert words(text) == left


def test_guidance_that_is_never_closed_hides_no_more_than_a_block_can_have() -> None:
    assert words(f"{GUIDANCE_BEGIN} {'bond ' * GUIDANCE_BLOCK_LIMIT} rain").endswith("bond rain")
    assert words(f"{GUIDANCE_BEGIN}{' bond' * 800}") == ""


def filled(schema: dict[str, Any]) -> dict[str, Any]:
    return dict.fromkeys(schema["properties"], "an event study of bonds")


#: Parts of packets with ordinary keys only; they stand in a packet, or say nothing of a subject by themselves.
WITHOUT_KEYS_OF_THEIR_OWN = {"resource", "resource-plan"}


@pytest.mark.parametrize("name", sorted(set(schema_names()) - WITHOUT_KEYS_OF_THEIR_OWN))
@pytest.mark.parametrize("order", ["as it is", "reversed"])
def test_an_object_of_every_published_kind_is_known_by_its_keys(name: str, order: str) -> None:
    packet = filled(json.loads(schema_text(name)))
    if order == "reversed":
        packet = dict(reversed(packet.items()))
    for printed in (json.dumps(packet), json.dumps(packet, indent=2), json.dumps(packet, sort_keys=True), repr(packet)):
        assert words(f"before {printed} after") == "before after"
        assert words(json.dumps({"note": printed, "rain": 1})) == "note rain 1"
        assert (
            words(json.dumps({"deep": json.dumps({"note": printed, "rain": 1}), "snow": 2}))
            == "deep note rain 1 snow 2"
        )


@pytest.mark.parametrize("key", OWN_KEYS)
def test_one_key_tells_an_object_wherever_it_stands(key: str) -> None:
    assert words(json.dumps({"first": "bond", "inner": {"bond": [1]}, key: [], "last": "bond {"})) == ""


@pytest.mark.parametrize("decision", DECISIONS)
def test_a_decision_tells_a_packet(decision: str) -> None:
    assert words(json.dumps({"run": "bond", "decision": decision, "bonds": 1})) == ""


def test_a_reference_to_a_resource_is_known_by_its_checksum() -> None:
    assert words(json.dumps({"kind": "overlay", "name": "event-study", "checksum": "sha256:0"})) == ""


@pytest.mark.parametrize(
    ("text", "left"),
    [
        # Somebody else's around ours, and ours within.
        ('{"a": "rain", "b": {"signal_id": "x", "snippet": "bond"}, "c": "snow"}', "a rain b c snow"),
        ('[{"a": "rain"}, {"a": "bond", "signal_id": "x"}]', "a rain"),
        # Cut off: at its end; within a text of somebody else's, which ends.
        ('rain {"mode": "auto", "context_bundle": {"parts": [{"text": "bond', "rain"),
        ('{"note": "{\\"mode\\": \\"auto\\", \\"context_bundle\\": {\\"bond", "rain": "snow"}', "note rain snow"),
        # A brace or quotation mark in a text is none of the structure.
        ('{"summary": "} bond {", "borrowed_lenses": [], "x": "\\" bond }"} rain', "rain"),
        # What is no JSON comes before it.
        ('{rain "snow} {"domain": "bond", "score_breakdown": []}', "rain snow"),
        ('M{"u}nster, 5" of rain {"domain": "bond", "score_breakdown": []} snow', "m u nster 5 of rain snow"),
        ('{"rain": 5" snow} {"domain": "bond", "score_breakdown": []}', "rain 5 snow"),
        # A word processor bent the quotation marks.
        ("rain {“decision”: “no_subject”, “signals”: [{“snippet”: “bond }”}]} snow", "rain snow"),
        # Not ours.
        ('{"decision": "accept", "review": "bond"}', "decision accept review bond"),
        ('the "method_lenses" of {bond}', "the method lenses of bond"),
    ],
)
def test_objects_end_where_they_end(text: str, left: str) -> None:
    assert words(text) == left


ANSWERS: tuple[dict[str, Any], ...] = (
    {"mode": "preview", "summary": "an event study", "context_bundle": {}},
    {"decision": "no_subject", "resource_activation_plan": {}},
    {"active_subject": "finance", "state_digest": "0"},
    {"signal_id": "finance.method.event-study", "snippet": "an event study"},
)


@pytest.mark.parametrize("packet", ANSWERS)
def test_an_answer_is_no_task(packet: dict[str, Any]) -> None:
    with pytest.raises(InputError) as caught:
        read_document(packet)
    assert caught.value.code == "invalid_task_packet"


# --- resources ----------------------------------------------------------------------------------------------------


def resource_files() -> dict[str, str]:
    found = {}
    for package in ("qiongli_subject_finance", "qiongli_subject_economics"):
        pytest.importorskip(package, reason="the subject is not installed")
        root = files(package)
        for folder in ("", "overlays", "method-packs", "venue-profiles", "skills/finance", "skills/economics"):
            place = root.joinpath(*folder.split("/")) if folder else root
            if place.is_dir():
                for file in place.iterdir():
                    if file.name.endswith(".yaml") or file.name == "SKILL.md":
                        found[f"{package}/{folder}/{file.name}"] = file.read_text(encoding="utf-8")
    return found


def test_every_resource_and_contract_of_the_shipped_subjects_is_hidden_whole() -> None:
    resources = resource_files()
    assert len(resources) > 20
    for name, text in resources.items():
        assert (name, words(text)) == (name, "")
        assert (name, words(text.replace("\n", "\r\n"))) == (name, "")
        assert (name, words(f"Rain falls.\n\n{text}")) == (name, "rain falls")
        if name.endswith(".yaml"):
            assert (name, words(f"Rain falls.\n\n{text}\nIt snows: much.")) == (name, "rain falls it snows much")


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("kind: overlay\nbonds: [a]", "kind overlay bonds a"),
        ("schema_version: 1\nkind: other\nbonds: 1", "schema version 1 kind other bonds 1"),
        ("title: rain\n\nkind: overlay\nschema_version: '1.0'\ntitle: bond\n", "title rain"),
        ("---\ntitle: Rain\ndescription: snow\n---\nfog", "title rain description snow fog"),
        ("---\nname: a skill\n---\nfog", "name a skill fog"),
    ],
)
def test_other_yaml_is_text(text: str, left: str) -> None:
    assert words(text) == left


def test_a_packet_and_a_manifest_are_known_as_yaml_too() -> None:
    yaml = pytest.importorskip("yaml")
    packet = {"decision": "no_subject", "signals": [{"signal_id": "x", "snippet": "bond"}], "schema_version": "1.0"}
    assert words(f"Rain.\n\n{yaml.safe_dump(packet)}\nIt snows.") == "rain it snows"
    manifest = "# A comment.\nschema_version: '1.0'\nactive_subject: finance\nvenue_profiles: [bond]\n"
    assert words(f"{manifest}\nIt snows.") == "it snows"


# --- printed answers ----------------------------------------------------------------------------------------------

ABSTRACT = (
    "We estimate abnormal stock returns around earnings announcements with an event study on CRSP data, and not the "
    "bond strength of cement."
)


@pytest.mark.parametrize(
    "command",
    [
        ["route", "--text", ABSTRACT],
        ["route", "--explain", "--diagnostics", "--text", ABSTRACT],
        ["route", "--explain", "--text", "We run a staggered difference-in-differences with a kriged bond."],
        ["task", "run", ABSTRACT],
        ["task", "run", ABSTRACT, "--bundle"],
        ["subject", "show", "finance"],
        ["resource", "list"],
        ["demo"],
        ["resource", "show", "finance", "method_pack", "event-study"],
        ["resource", "show", "finance", "method_pack", "event-study", "--json"],
        ["route", "--json", "--text", ABSTRACT],
        ["task", "run", ABSTRACT, "--json", "--bundle"],
        ["subject", "show", "finance", "--json"],
        ["subject", "explain", "finance", "--text", ABSTRACT, "--json"],
        ["subject", "explain", "finance", "--text", ABSTRACT],
        ["subject", "explain", "economics", "--text", ABSTRACT],
    ],
    ids=lambda command: " ".join(part for part in command if part[:3] != "We "),
)
def test_what_the_commands_print_is_hidden(command: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("qiongli_subject_finance", reason="the subject is not installed")
    assert run(command) == 0
    printed = capsys.readouterr().out
    assert len(printed) > 40
    assert words(f"Rain falls.\n\n{printed}\n\nIt snows.") == "rain falls it snows"


@pytest.mark.parametrize("name", ["finance.method.event-study", "economics.data-or-outcome.bond-yields"])
def test_the_id_of_a_signal_is_no_evidence(name: str) -> None:
    assert words(f"It names {name}, and ({name}).") == "it names and"


def test_the_status_of_a_project_is_hidden() -> None:
    status = (
        "subject: finance (confirmed)\nstrictness: standard\nlenses: event-study\nvenue profiles: journal-of-finance\n"
        "last run: run-3, suggest_subject, finance\nguidance block: current\n"
    )
    assert words(f"{status}\nSubject: rain.") == "subject rain"


@pytest.mark.parametrize(
    ("line", "left"),
    [
        ("  text:0-11 «a bond» [quoted] -> finance.method.event-study, method, subject, weight 0.08", ""),
        ("abstract:12-34 «bonds» -> economics.suppressor.bond-vocabulary (suppressor), method", ""),
        ("  «bond» finance.method.event-study: part of an order", ""),
        ("  «bond» (finance.method.event-study) lost its words to «bonds» [lost_span]", ""),
        ("  «bond» is what they say. Bonds", "bond is what they say bonds"),
    ],
)
def test_a_piece_of_evidence_is_known_by_its_line(line: str, left: str) -> None:
    assert words(line) == left
    assert words(f"rain\n{line}\nsnow").split() == ["rain", *left.split(), "snow"]


@pytest.mark.parametrize(
    "text",
    [
        "no_subject is what it said.",
        "Subject: bonds\n\nstrictness: none",
        "resources\n  bond",
        "The state declared runtime_enabled",
    ],
)
def test_who_talks_about_answers_gives_none(text: str) -> None:
    assert len(words(text).split()) >= 2
