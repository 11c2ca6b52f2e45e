"""Diagnostics: invariants H1 to H6."""

from __future__ import annotations

import base64
import codecs
import json
import string
import unicodedata
import urllib.parse
from typing import Any

import attrs
import pytest
from engine_cases import GARBAGE, SUBJECTS, Scene, covering, each_kind, labels_of, view
from hypothesis import given
from hypothesis import strategies as st

from qiongli import diagnostics
from qiongli.diagnostics import (
    EVENTS,
    FIELDS,
    MAX_EVENTS,
    MAX_FIELD,
    MAX_PAYLOAD,
    WORDS,
    Recorder,
    digest,
    observe,
)
from qiongli.limits import DEFAULT_LIMITS
from qiongli.records import to_json
from qiongli.records.evidence import ACTIVATIONS, DIMENSIONS
from qiongli.records.packet import DECISIONS, REFUSAL_CODES
from qiongli.records.project import SUBJECT_MODES
from qiongli.records.subjects import SUBJECT_STATES

KEY = b"a local key"

#: Random secrets of 16 to 40 characters.
secrets = st.text(string.ascii_letters + string.digits + "-_/:@ ", min_size=16, max_size=40)


def forms(secret: str) -> set[str]:
    """The secret, its usual disguises, and every slice of eight characters of each."""
    data = secret.encode()
    whole = {
        secret,
        secret[::-1],
        secret.lower(),
        secret.upper(),
        secret.swapcase(),
        codecs.encode(secret, "rot13"),
        data.hex(),
        base64.b64encode(data).decode(),
        base64.urlsafe_b64encode(data).decode(),
        urllib.parse.quote(secret, safe=""),
        "".join(f"%{byte:02X}" for byte in data),
        repr(secret)[1:-1],
        json.dumps(secret)[1:-1],
    }
    return {form[start : start + 8] for form in whole for start in range(len(form) - 7)}


class Named(str):
    """A text that says that it is a registry id."""

    __slots__ = ()

    def __hash__(self) -> int:
        return hash("finance")

    def __eq__(self, other: object) -> bool:
        return True


@pytest.mark.parametrize("key", [None, KEY])
@given(secrets, st.sampled_from(sorted(EVENTS)), st.integers(10**8, 10**30))
def test_h1_a_secret_never_comes_out_wherever_it_was_planted(
    key: bytes | None, secret: str, event: str, number: int
) -> None:
    told: list[dict[str, object]] = []
    recorder = Recorder(SUBJECTS, key=key, sink=told.append)
    planted: tuple[Any, ...] = (
        secret,
        [secret],
        {secret: secret},
        secret.encode(),
        ValueError(secret),
        Named(secret),
        type(secret, (), {})(),
        float(number),
        number,
        -number,
        (secret,),
        f"finance {secret}",
        secret + "\nfinance",
    )
    for value in planted:
        for name in sorted(FIELDS):
            recorder.record(event, **{name: value})
            recorder.record(event, subject="finance", **({name: value} if name != "subject" else {}))
    recorder.record(event, **{secret: "finance"})
    recorder.record(secret, subject="finance")
    recorder.record(event, subject="finance", score=600_000)
    shown = json.dumps([recorder.to_packet(), told], ensure_ascii=False) + repr(recorder.to_packet())
    hidden = {form for form in forms(secret) if form not in "finance"}
    # Text that is printed anyway proves nothing against a slice that looks like it.
    usual = json.dumps([sorted(EVENTS), sorted(FIELDS), sorted(WORDS)])
    assert not [form for form in hidden if form in shown and form not in usual]
    assert str(number) not in shown
    assert recorder.dropped > 0


@given(st.text(max_size=60))
def test_h1_only_listed_words_registry_ids_small_integers_and_keyed_digests_are_emitted(text: str) -> None:
    recorder = Recorder(SUBJECTS, key=KEY)
    recorder.record("evidence", subject=text, count=7, outcome=True, code=None)
    for event in recorder.to_packet()["events"]:
        assert event["subject"] in {*WORDS, *SUBJECTS, digest(text, KEY)}
        assert (event["count"], event["outcome"], event["code"]) == (7, True, None)


def test_h1_a_digest_depends_on_its_key_and_is_no_bare_hash() -> None:
    assert digest("finance", KEY) == digest("finance", KEY)
    assert digest("finance", KEY) != digest("finance", b"another key")
    assert digest("\ud800", KEY).startswith("hmac:")


@pytest.mark.parametrize(
    "value", [item for item in GARBAGE if type(item) not in (bool, type(None))], ids=lambda item: type(item).__name__
)
def test_h1_garbage_is_dropped_and_counted(value: Any) -> None:
    recorder = Recorder(SUBJECTS)
    recorder.record("score", score=value)
    if type(value) is int and abs(value) < 10**7:
        assert recorder.dropped == 0
    else:
        assert (recorder.to_packet()["events"], recorder.dropped) == ([], 1)


def test_the_closed_words_cover_the_published_enums() -> None:
    for words in (DIMENSIONS, ACTIVATIONS, DECISIONS, REFUSAL_CODES, SUBJECT_MODES, SUBJECT_STATES):
        assert set(words) <= WORDS


def test_the_bounds_are_those_of_the_limits() -> None:
    limits = DEFAULT_LIMITS
    assert (MAX_EVENTS, MAX_FIELD, MAX_PAYLOAD) == (64, 200, 16_384)
    assert (limits.diagnostics_events, limits.diagnostics_field, limits.diagnostics_payload) == (64, 200, 16_384)


class TestBounds:
    """H2 and H6: events, fields, payload, characters."""

    def test_h2_the_65th_event_is_dropped_and_counted(self) -> None:
        recorder = Recorder(SUBJECTS)
        for number in range(100):
            recorder.record("score", score=number)
        packet = recorder.to_packet()
        assert (len(packet["events"]), packet["dropped"]) == (64, 36)
        assert packet["events"][-1]["score"] == 63

    @given(st.integers(190, 210), st.sampled_from(["a", "\u4e00", "\U0001d54f"]))
    def test_h2_a_long_id_is_cut_on_a_code_point_and_marked(self, length: int, character: str) -> None:
        recorder = Recorder([character * length])
        recorder.record("evidence", signal=character * length)
        (event,) = recorder.to_packet()["events"]
        if length <= 200:
            assert event["signal"] == character * length
        else:
            assert event["signal"] == character * 199 + "\u2026"
        event["signal"].encode()

    def test_h2_what_is_cut_was_redacted_before(self) -> None:
        # Were it cut first, the rest of the id would be a registry id.
        recorder = Recorder(["x" * 199 + "\u2026"])
        recorder.record("evidence", signal="x" * 300)
        assert (recorder.to_packet()["events"], recorder.dropped) == ([], 1)

    @given(st.integers(1, 14), st.sampled_from(["a", "\u4e00", "\U0001d54f"]))
    def test_h2_the_payload_stays_within_its_bytes(self, number: int, character: str) -> None:
        recorder = Recorder([character * 200])
        names = sorted(FIELDS)[:number]
        for _ in range(70):
            recorder.record("evidence", **dict.fromkeys(names, character * 200))
        packet = recorder.to_packet()
        assert len(to_json({"diagnostics": packet}).encode()) <= MAX_PAYLOAD
        assert len(packet["events"]) + packet["dropped"] == 70
        assert len(packet["events"]) < 64 or number == 1

    @pytest.mark.parametrize(
        "character",
        ["\x00", "\n", "\r", "\x1b", "\x7f", "\x85", "\u202e", "\u2066", "\u200b", "\u2028", "\ud800", "\ue000", " "],
    )
    def test_h6_an_id_with_a_control_bidi_or_separator_character_is_not_named(self, character: str) -> None:
        name = f"fin{character}ance"
        plain, keyed = Recorder([name]), Recorder([name], key=KEY)
        plain.record("evidence", subject=name)
        keyed.record("evidence", subject=name)
        assert plain.dropped == 1
        assert keyed.to_packet()["events"] == [{"event": "evidence", "subject": digest(name, KEY)}]

    @given(st.text(max_size=30), st.text(max_size=30))
    def test_h6_nothing_unprintable_is_ever_emitted(self, first: str, second: str) -> None:
        recorder = Recorder([first, second], key=KEY)
        recorder.record("evidence", subject=first, signal=second)
        for event in recorder.to_packet()["events"]:
            for value in event.values():
                assert all(unicodedata.category(character)[0] not in "CZ" for character in value)


class Raising:
    """A recorder that breaks."""

    def __init__(self, error: type[Exception]) -> None:
        self.error = error

    def record(self, *_: object, **__: object) -> None:
        raise self.error("broken")


class TestNonInterference:
    """H3 to H5: nobody's looking changes what is seen."""

    def test_h3_the_decision_is_the_same_with_diagnostics_on_off_full_or_raising(self) -> None:
        full = Recorder(SUBJECTS)
        for number in range(100):
            full.record("score", score=number)

        def sink(_event: object) -> None:
            raise RuntimeError("disk full")

        @covering(each_kind(), suggest_subject=0.1, blocked=0.1)
        def prove(scene: Scene) -> set[str]:
            routing = scene.decide(recorder=None)
            recorders = (
                Recorder(SUBJECTS),
                full,
                Recorder(SUBJECTS, sink=sink),
                Recorder(),
                Raising(OSError),
                object(),
                7,
            )
            for recorder in recorders:
                assert view(scene.decide(recorder=recorder)) == view(routing)
            return labels_of(routing)

        prove()

    def test_h3_a_decision_is_seen(self) -> None:
        recorder = Recorder(SUBJECTS)
        from engine_cases import ACTIVE, candidate, shaped

        Scene(
            (
                candidate("finance", shaped("finance", [200_000], [200_000])),
                candidate("economics", shaped("economics", [200_000]), gates=ACTIVE[:1]),
            )
        ).decide(recorder=recorder)
        assert recorder.to_packet() == {
            "events": [
                {"event": "eligibility", "outcome": "fail", "subject": "economics"},
                {"event": "score", "rejected": 0, "score": 600_000, "subject": "finance"},
                {"event": "decision", "decision": "suggest_subject", "mode": "auto", "subject": "finance"},
            ],
            "dropped": 0,
        }

    def test_h4_a_redaction_that_fails_drops_the_event_and_counts_it(self) -> None:
        """Wherever it fails: in looking at an id, in making a digest, in measuring what would be kept."""
        values = st.sampled_from(["finance", "economics", "a planted secret", "\ud800 secret", 7])
        step = st.tuples(values, st.booleans())
        errors = st.sampled_from([ValueError, MemoryError, RecursionError, UnicodeError, KeyError, ZeroDivisionError])
        places = ("_printable", "digest", "_size")

        def generator(place: str) -> st.SearchStrategy[Any]:
            return st.tuples(st.just(place), st.lists(step, min_size=1, max_size=12), errors, st.booleans())

        @covering([generator(place) for place in places], failed=0.3, kept=0.3, **dict.fromkeys(places, 0.1))
        def prove(example: tuple[str, list[tuple[Any, bool]], type[Exception], bool]) -> set[str]:
            place, steps, error, with_key = example
            told: list[Any] = []
            recorder = Recorder(SUBJECTS, key=KEY if with_key else None, sink=told.append)
            working = getattr(diagnostics, place)
            breaks = False

            def breaking(value: Any, *more: Any) -> Any:
                if breaks:
                    raise error(f"while redacting {value}")
                return working(value, *more)

            expected: list[dict[str, object]] = []
            failed = 0
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(diagnostics, place, breaking)
                for value, breaks in steps:
                    recorder.record("evidence", subject=value, count=1)
                    known = value in SUBJECTS
                    asked = {"_printable": known, "digest": with_key and not known, "_size": True}[place]
                    broken = breaks and asked and (value != 7 or place == "_size")
                    if broken or not (known or value == 7 or with_key):
                        failed += 1
                        continue
                    shown = value if known or value == 7 else digest(value, KEY)
                    expected.append({"event": "evidence", "count": 1, "subject": shown})
            assert recorder.to_packet() == {"events": expected, "dropped": failed}
            assert told == expected
            assert "secret" not in repr([recorder.to_packet(), told])
            labels = {"kept"} if expected else set()
            return labels | ({"failed", place} if failed else set())

        prove()

    def test_h4_a_raising_sink_is_counted(self) -> None:
        recorder = Recorder(SUBJECTS, sink=lambda event: event["nothing"])
        recorder.record("score", score=1)
        assert (len(recorder.to_packet()["events"]), recorder.dropped) == (1, 1)

    def test_h5_what_is_handed_out_is_a_copy(self) -> None:
        told: list[Any] = []
        recorder = Recorder(SUBJECTS, sink=told.append)
        fields = {"subject": "finance", "score": 5}
        recorder.record("score", **fields)
        told[0]["subject"] = "changed"
        recorder.to_packet()["events"][0]["subject"] = "changed"
        recorder.to_packet()["events"].clear()
        assert recorder.to_packet()["events"] == [{"event": "score", "score": 5, "subject": "finance"}]
        assert fields == {"subject": "finance", "score": 5}

    def test_h5_a_routing_is_not_changed_by_being_looked_at(self) -> None:
        @covering(each_kind(kinds=("suggest", "blocked")), suggest_subject=0.3)
        def prove(scene: Scene) -> set[str]:
            kept = attrs.asdict(scene)
            routing = scene.decide(recorder=Recorder(SUBJECTS, key=KEY))
            assert attrs.asdict(scene) == kept
            return labels_of(routing)

        prove()

    def test_observing_needs_no_recorder(self) -> None:
        observe(None, "score", score=1)
        observe(Raising(ValueError), "score", score=1)
