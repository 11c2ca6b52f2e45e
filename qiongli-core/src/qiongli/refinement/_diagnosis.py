"""Facts for the maintainers of the engine: counts and registry ids only, never text.

Failures of hooks are not among them: they belong to the process, and the same task must give the same packet.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from qiongli.diagnostics import Recorder, observe
from qiongli.records.evidence import Evidence
from qiongli.records.packet import Clarification
from qiongli.records.resources import ResourceActivationPlan
from qiongli.routing import Routing

if TYPE_CHECKING:
    from qiongli.plugins import Catalogue


def recorder_for(catalogue: Catalogue) -> Recorder:
    """A recorder of one run that may name the subjects, lenses and resources of a catalogue, and nothing else."""
    named: set[str] = set()
    for subject in catalogue.subjects:
        slug = subject.contract.subject
        named.add(slug)
        named.update(f"{slug}/{lens.slug}" for lens in subject.contract.method_lenses)
    return Recorder(named)


def diagnose(routing: Routing) -> dict[str, Any]:
    """What was rejected, withheld or replaced on the way to the decision."""
    rejected = sum(standing.scored.breakdown.rejected for standing in routing.ranked)
    rejected += sum(lens.scored.breakdown.rejected for lens in routing.lenses)
    diagnostics: dict[str, Any] = {"rejected_contributions": rejected}
    if routing.withheld_lenses:
        diagnostics["withheld_lenses"] = [
            {"lens": lens, "reasons": [reason.code for reason in reasons]} for lens, reasons in routing.withheld_lenses
        ]
    if routing.replaced:
        diagnostics["replaced_by_composite"] = [standing.subject for standing in routing.replaced]
    return diagnostics


def report(
    recorder: object,
    routing: Routing,
    found: Sequence[Evidence],
    clarification: Clarification | None,
    plan: ResourceActivationPlan,
) -> None:
    """Tell a recorder what the decision itself does not: evidence by subject and polarity, lenses, question, plan."""
    counts = Counter((item.subject, item.dimension, item.polarity) for item in found)
    for subject, dimension, polarity in sorted(counts):
        count = counts[subject, dimension, polarity]
        observe(recorder, "evidence", subject=subject, dimension=dimension, polarity=polarity, count=count)
    for lens in routing.lenses:
        outcome = "pass" if lens.lent else "fail"
        observe(recorder, "lens", lens=f"{lens.subject}/{lens.lens}", score=lens.scored.total, outcome=outcome)
    if clarification is not None:
        kind = clarification.id.partition(":")[0]
        observe(recorder, "clarification", kind=kind, round=clarification.round, count=len(clarification.options))
    observe(recorder, "resource", count=len(plan.resources))


def recorded(recorder: object) -> dict[str, Any]:
    """What a recorder kept, for the packet; nothing of a recorder that cannot say it."""
    if not isinstance(recorder, Recorder):
        return {}
    try:
        return Recorder.to_packet(recorder)  # not what a subclass makes of it, which could be anything
    except Exception:  # one that was never initialised; nothing that was being looked at may break the run
        return {}
