"""The two subject packages of the test suite: a composite subject, and one with suppressors."""

from __future__ import annotations

from pathlib import Path

import pytest
from contract_cases import changed, summary

from qiongli.contract import load_contract, validate_package
from qiongli.contract.packaging import check_portability
from qiongli.signals.auditing import audit_contract

PACKAGES = Path(__file__).parents[2] / "tests" / "packages"


def package(kind: str) -> Path:
    return PACKAGES / f"qiongli-subject-{kind}-example/src/qiongli_subject_{kind}_example"


@pytest.mark.parametrize("kind", ["composite", "suppressor"])
def test_the_package_is_valid_and_its_examples_hold(kind: str) -> None:
    contract, problems = validate_package(package(kind))
    assert contract is not None
    found = (*problems, *check_portability(package(kind)), *audit_contract(contract))
    assert [str(problem) for problem in found] == []


def test_the_composite_names_its_parts_and_has_signals_of_its_own() -> None:
    contract = load_contract(package("composite"))
    assert contract.composes == ("economics", "finance")
    assert {signal.subject for signal in contract.signals} == {"composite-example"}


def test_suppressors_go_from_mild_to_a_veto_with_a_reason() -> None:
    contract = load_contract(package("suppressor"))
    assert [suppressor.weight for suppressor in contract.suppressors] == [60_000, 100_000, 300_000]
    assert [bool(suppressor.reason) for suppressor in contract.suppressors] == [False, False, True]


@pytest.mark.parametrize(
    ("composes", "code"),
    [
        ("[zoology]", "invalid_composite"),
        ("[zoology, zoology]", "invalid_value"),
        ("[botany, zoology]", "invalid_composite"),
        ("[Zoology, ecology]", "invalid_value"),
        ("zoology", "wrong_type"),
    ],
)
def test_a_composite_that_could_never_be_eligible_is_refused(composes: str, code: str) -> None:
    found = summary(changed("composes: []", f"composes: {composes}"))
    assert code in {problem[0] for problem in found}
    assert all(line == 52 for _, line, _ in found)
