"""Comparing two contracts by what they say."""

from __future__ import annotations

from contract_cases import changed, contract_of

from qiongli.contract.diff import Change, diff_contracts, render_diff
from qiongli.records import to_packet


def changes(*pairs: tuple[str, str]) -> tuple[Change, ...]:
    text = None
    for old, new in pairs:
        text = changed(old, new) if text is None else changed(old, new, text)
    assert text is not None
    return diff_contracts(contract_of(), contract_of(text)).changes


def test_a_contract_is_the_same_as_itself() -> None:
    diff = diff_contracts(contract_of(), contract_of())
    assert diff.same
    assert diff.changes == ()
    assert render_diff(diff) == "botany: no difference"


def test_comments_blank_lines_and_the_order_of_patterns_are_no_difference() -> None:
    assert changes(("subject: botany\ndisplay", "# a comment\n\nsubject: botany\ndisplay")) == ()
    assert changes(("[graft, scion]", "[graft,  scion]")) == ()
    assert (
        changes(
            ("        - grafting trial\n", ""), ("        - {regex:", "        - grafting trial\n        - {regex:")
        )
        == ()
    )


def test_status_and_thresholds_are_named() -> None:
    assert changes(("activation_status: candidate", "activation_status: disabled")) == (
        Change("changed", "contract", "botany", "activation_status", "candidate", "disabled"),
    )
    assert changes(("primary_subject_accuracy: 0.95", "primary_subject_accuracy: 0.97")) == (
        Change("changed", "contract", "botany", "primary_subject_accuracy", 0.95, 0.97),
    )


def test_weights_are_compared_as_numbers_of_the_contract() -> None:
    assert changes(("weight: 0.20", "weight: 0.18")) == (
        Change("changed", "signal", "botany.data-or-outcome.herbarium", "weight", 0.2, 0.18),
    )


def test_patterns_that_are_gone_and_new_are_listed() -> None:
    assert changes(("- {acronym: GT, near: [graft, scion]}", "- {acronym: GT, near: [graft]}")) == (
        Change(
            "changed",
            "signal",
            "botany.method.grafting",
            "patterns",
            ("acronym GT near graft, scion",),
            ("acronym GT near graft",),
        ),
    )


def test_signals_suppressors_and_lenses_added_and_removed_are_named() -> None:
    found = changes(
        ("botany.data-or-outcome.herbarium", "botany.data-or-outcome.sheet"),
        ("botany.suppressor.skin", "botany.suppressor.bone"),
        ("  grafting: {pack", "  budding: {pack"),
    )
    assert [(change.kind, change.what, change.name) for change in found] == [
        ("removed", "signal", "botany.data-or-outcome.herbarium"),
        ("added", "signal", "botany.data-or-outcome.sheet"),
        ("added", "suppressor", "botany.suppressor.bone"),
        ("removed", "suppressor", "botany.suppressor.skin"),
        ("added", "method_lens", "budding"),
        ("removed", "method_lens", "grafting"),
    ]


def test_the_packet_is_plain_json_and_the_text_one_change_a_line() -> None:
    diff = diff_contracts(contract_of(), contract_of(changed("weight: 0.20", "weight: 0.18")))
    packet = to_packet(diff)
    assert packet["schema_version"] == "1.0"
    assert packet["same"] is False
    assert packet["changes"] == [
        {
            "kind": "changed",
            "what": "signal",
            "name": "botany.data-or-outcome.herbarium",
            "field": "weight",
            "before": 0.2,
            "after": 0.18,
        }
    ]
    assert render_diff(diff) == "~ signal botany.data-or-outcome.herbarium weight: 0.2 -> 0.18"
