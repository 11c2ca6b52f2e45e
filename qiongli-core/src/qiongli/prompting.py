"""When a suggestion may prompt the user: dismissals silence it until new, distinct evidence, never the decision."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from qiongli.records.project import EvidenceMemory, PromotionStatus

if TYPE_CHECKING:
    from qiongli.records.packet import PromotionRecommendation

#: Suggestions for that many distinct tasks are enough to recommend a confirmation; nothing is ever confirmed by itself.
SUGGESTIONS_FOR_PROMOTION: Final = 2


def prompt_state(
    memory: EvidenceMemory | None, subject: str, fingerprint: str
) -> tuple[bool, PromotionRecommendation | None]:
    """Say whether suggesting the subject for a task may prompt, and what to recommend after it.

    Meant for a packet whose decision is `suggest_subject`; with any other decision nothing prompts. `memory` is the
    project's evidence memory (none: nothing was counted or dismissed), `fingerprint` that of the task's text.

    The count includes this task, once. A subject that was not dismissed always prompts. A dismissed one is silent for
    a task already counted, and while the count does not exceed the count at its dismissal. The recommendation is
    `suppressed` while silenced, `recommend_confirmation` from the second distinct task on, else none.
    """
    # Making the packet's classes takes longer than reading a project's status, which needs the other function only.
    from qiongli.records.packet import PromotionRecommendation

    suggestion = memory.suggestions.get(subject) if memory is not None else None
    dismissal = memory.dismissed_subjects.get(subject) if memory is not None else None
    already_counted = suggestion is not None and fingerprint in suggestion.fingerprints
    count = suggestion.suggestion_count if suggestion is not None else 0
    if not already_counted:
        count += 1
    if dismissal is not None and (already_counted or count <= dismissal.last_suggestion_count):
        return False, PromotionRecommendation(
            status="suppressed",
            subject=subject,
            suggestion_count=count,
            reason="you dismissed this subject, and this task is no new evidence for it",
        )
    if count < SUGGESTIONS_FOR_PROMOTION:
        return True, None
    return True, PromotionRecommendation(
        status="recommend_confirmation",
        subject=subject,
        suggestion_count=count,
        reason=f"suggested for {count} distinct tasks",
    )


def promotion_status(memory: EvidenceMemory, subject: str) -> PromotionStatus:
    """What the memory alone says of a subject, with no task at hand: the `promotion_status` of the status packet."""
    suggestion = memory.suggestions.get(subject)
    dismissal = memory.dismissed_subjects.get(subject)
    count = suggestion.suggestion_count if suggestion is not None else 0
    if dismissal is not None and count <= dismissal.last_suggestion_count:
        return "suppressed"
    return "recommend_confirmation" if count >= SUGGESTIONS_FOR_PROMOTION else "none"
