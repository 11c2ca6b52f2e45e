"""Ten thousand random and hostile texts end in a packet, or in an error with a code, never in a traceback."""

from __future__ import annotations

import json
import random

import jsonschema
import pytest
from hostile_pieces import hostile_text

from qiongli.errors import QiongliError
from qiongli.runtime import infer_subject_refinement
from qiongli.schemas import schema_text


@pytest.mark.parametrize("seed", range(10))
def test_a_thousand_hostile_texts(seed: int) -> None:
    generator = random.Random(seed)
    validator = jsonschema.Draft202012Validator(json.loads(schema_text("packet")))
    for number in range(1_000):
        given = hostile_text(generator)
        packet = infer_subject_refinement(given).to_packet()
        json.dumps(packet, allow_nan=False)
        if number % 25 == 0:
            validator.validate(packet)
        for signal in packet["signals"]:
            assert given[signal["start"] : signal["end"]] == signal["snippet"]


@pytest.mark.parametrize(
    "packet",
    [
        {},
        {"topic": None},
        {"topic": 3},
        {"keywords": []},
        {"": "x"},
        {"topic": ["a", "b"]},
        {"nested": {"text": "finance"}},
    ],
)
def test_odd_packets_are_answered(packet: dict) -> None:
    assert infer_subject_refinement(packet).decision == "no_subject"


@pytest.mark.parametrize("packet", [{1: "x"}, {"topic": [1]}, {"topic": object()}, [], 3, None])
def test_impossible_packets_are_errors_with_a_code(packet: object) -> None:
    with pytest.raises(QiongliError) as caught:
        infer_subject_refinement(packet)  # type: ignore[arg-type]
    assert caught.value.code == "invalid_task_packet"


def test_too_large_and_undecodable_are_refusals() -> None:
    large = infer_subject_refinement("event study " * 200_000)
    assert large.refusal is not None
    assert large.refusal.code == "input_too_large"
    broken = infer_subject_refinement("event study \ud800")
    assert broken.refusal is not None
    assert broken.refusal.code == "undecodable"
