"""No subject is suggested for a work that only sets itself apart from it."""

from __future__ import annotations

import pytest

from qiongli import infer_subject_refinement


@pytest.mark.parametrize(
    "text",
    [
        "Unlike asset pricing papers that rely on CRSP and Fama-French factors, our ethnography observes traders.",
        "Unlike the finance literature, which uses CRSP and abnormal returns, we conduct in-depth interviews.",
        "In contrast to asset pricing studies of CRSP abnormal returns, we study bees.",
        "Our bees differ from asset pricing models, CRSP and abnormal returns, which are unrelated to this study.",
        "We depart from the asset pricing literature and CRSP-based studies of abnormal returns; our case is bees.",
    ],
)
def test_the_subject_that_a_work_is_set_apart_from_is_not_suggested(text: str) -> None:
    packet = infer_subject_refinement(text)
    assert packet.decision == "no_subject"
    assert {signal.polarity for signal in packet.signals if signal.subject == "finance"} == {"negated"}
