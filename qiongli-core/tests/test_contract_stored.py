"""A contract in the cache: read back equal, or not at all."""

from __future__ import annotations

import json
import subprocess
import sys
from hashlib import sha256
from typing import Any

import pytest
from contract_cases import contract_of
from hypothesis import given
from hypothesis import strategies as st

from qiongli.contract import contract_from_json, contract_to_json
from qiongli.errors import ContractError


def test_a_contract_comes_back_equal() -> None:
    contract = contract_of()
    assert contract_from_json(contract_to_json(contract)) == contract


def test_the_same_contract_gives_the_same_characters() -> None:
    assert contract_to_json(contract_of()) == contract_to_json(contract_of())


def test_reading_imports_neither_yaml_nor_cattrs() -> None:
    code = (
        "import sys\nfrom qiongli.contract import contract_from_json\n"
        f"contract_from_json({contract_to_json(contract_of())!r})\n"
        "print(sorted({'yaml', 'cattrs', 'packaging', 're2', 'jinja2', 'pluggy'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, encoding="utf-8", check=True)
    assert done.stdout == "[]\n"


def test_what_another_version_of_core_stored_is_judged_again(monkeypatch: pytest.MonkeyPatch) -> None:
    text = contract_to_json(contract_of())
    monkeypatch.setattr("qiongli.contract.stored.VERSION", "0.2.0")
    with pytest.raises(ContractError):
        contract_from_json(text)


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "null", "7", '{"form": 1}', '{"form": 0, "contract": {}}', "[" * 100_000]
)
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(ContractError) as caught:
        contract_from_json(text)
    assert caught.value.code == "invalid_stored_contract"


_DOCUMENT: dict[str, Any] = json.loads(contract_to_json(contract_of()))
_DOCUMENT["contract"]["body"] = json.loads(_DOCUMENT["contract"]["body"])


def _sealed(document: dict[str, Any]) -> str:
    """The document as stored text, its body a text of its own with the digest that fits."""
    contract = document["contract"]
    if isinstance(contract, dict) and "body" in contract:
        contract["body"] = json.dumps(contract["body"])
        if contract["body_digest"] == _DOCUMENT["contract"]["body_digest"]:
            contract["body_digest"] = sha256(contract["body"].encode()).hexdigest()
    return json.dumps(document)


def test_a_body_that_was_changed_by_hand_is_refused_at_once() -> None:
    document = json.loads(contract_to_json(contract_of()))
    document["contract"]["body"] += " "
    with pytest.raises(ContractError):
        contract_from_json(json.dumps(document))


def _places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path] + [place for key, item in items for place in _places(item, (*path, key))]


_PLACES = [place for place in _places(_DOCUMENT) if place]


@given(
    st.sampled_from(_PLACES),
    st.sampled_from([None, True, -1, 2, 10**9, 0.5, float("nan"), "x", [], {}, ["x"], [None], {"x": 1}]),
)
def test_a_value_of_the_wrong_type_or_range_never_becomes_a_contract_that_claims_more(
    place: tuple[Any, ...], value: Any
) -> None:
    document = json.loads(json.dumps(_DOCUMENT))
    parent = document
    for key in place[:-1]:
        parent = parent[key]
    parent[place[-1]] = value
    try:
        contract = contract_from_json(_sealed(document))
        assert contract.signals is not None
        assert contract.suppressors is not None
    except ContractError:
        return
    # What was accepted has the types of the models, and reads back as itself.
    assert contract_from_json(contract_to_json(contract)) == contract
    assert all(0 < signal.weight <= 300_000 for signal in contract.signals)
    assert contract.activation_gate.required_metrics.near_miss_false_positives == 0
