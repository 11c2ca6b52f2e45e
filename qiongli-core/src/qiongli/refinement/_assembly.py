"""From evidence to candidates: who has evidence, which gates they meet, what the user's words exclude."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Final

import attrs

from qiongli._value import Value
from qiongli.records.evidence import Evidence
from qiongli.records.packet import NearMissProtection
from qiongli.records.subjects import Reason
from qiongli.refinement._wording import one_line
from qiongli.resources import subject_resolves
from qiongli.routing import LensCandidate, RouteCandidate
from qiongli.safety import Outcome, lens_gates, subject_gates
from qiongli.signals import select_spans

if TYPE_CHECKING:
    from qiongli.plugins import Catalogue, CatalogueSubject
    from qiongli.refinement._senses import Senses


@attrs.frozen(repr=False)
class Directives(Value):
    """The user's explicit words in the task: subjects to leave out, and subjects to keep to."""

    excluded: frozenset[str] = frozenset()
    kept: frozenset[str] = frozenset()
    #: Those of the kept ones that the user named in an answer.
    answered: frozenset[str] = frozenset()

    def excludes(self, subject: str) -> bool:
        """Whether the words exclude the subject; being kept never adds anything to a subject."""
        return subject in self.excluded or (bool(self.kept) and subject not in self.kept)

    def reason(self, subject: str) -> str:
        """The exclusion in words."""
        if subject in self.excluded:
            return f"the task says not to treat it as {subject}"
        who = "the user's answer keeps" if self.kept == self.answered else "the task says to keep"
        return f"{who} it in {', '.join(sorted(self.kept))}"


def read_directives(evidence: Iterable[Evidence]) -> Directives:
    """The directives among the evidence; quoted or negated ones direct nothing."""
    excluded = set()
    kept = set()
    answered = set()
    for item in evidence:
        if item.role == "exclude" and item.polarity == "excluded":
            excluded.add(item.subject)
        elif item.role == "keep" and item.polarity == "asserted":
            kept.add(item.subject)
            if item.source == "user":
                answered.add(item.subject)
    return Directives(frozenset(excluded), frozenset(kept), frozenset(answered))


def counted_by_subject(evidence: Sequence[Evidence]) -> dict[str, tuple[Evidence, ...]]:
    """By subject, the evidence that may count: asserted signals on disjoint spans, and suppressors."""
    grouped: dict[str, list[Evidence]] = {}
    for item in evidence:
        if item.role in ("signal", "suppressor"):
            grouped.setdefault(item.subject, []).append(item)
    return {subject: _disjoint(items) for subject, items in grouped.items()}


def _disjoint(items: Sequence[Evidence]) -> tuple[Evidence, ...]:
    return (*select_spans(items), *(item for item in items if item.role == "suppressor"))


def _of_composite(parts: Sequence[str], counted: Mapping[str, tuple[Evidence, ...]]) -> tuple[Evidence, ...]:
    """A composite's own and its parts' evidence, on spans that are disjoint across all of them."""
    pooled = [item for part in parts for item in counted.get(part, ())]
    by_relabelled = {
        attrs.evolve(item, subject="", signal_id=f"{item.subject}\0{item.signal_id}"): item for item in pooled
    }
    return tuple(by_relabelled[item] for item in _disjoint(tuple(by_relabelled)))


def route_candidates(
    catalogue: Catalogue,
    counted: Mapping[str, tuple[Evidence, ...]],
    directives: Directives,
    *,
    advisories: Mapping[str, int],
    failures: frozenset[str],
    active_subject: str,
) -> tuple[RouteCandidate, ...]:
    """Every installed subject with evidence, and the project's own, with its gates."""
    candidates = []
    # A composite that the task is kept in rests on its parts, which may not act by themselves.
    spared = {
        part
        for subject in (catalogue.subjects if directives.kept else ())
        if subject.contract.subject in directives.kept
        for part in subject.contract.composes
    } - directives.excluded
    for subject in catalogue.subjects:
        slug = subject.contract.subject
        parts = subject.contract.composes
        evidence = _of_composite((slug, *parts), counted) if parts else counted.get(slug, ())
        if not evidence and slug != active_subject:
            continue
        advisory = advisories.get(slug)
        excluded = directives.excludes(slug)
        why = directives.reason(slug) if excluded else ""
        candidates.append(
            RouteCandidate(
                subject=slug,
                priority=subject.priority,
                evidence=evidence,
                gates=subject_gates(
                    state=subject.listing.state,
                    excluded=excluded and slug not in spared,
                    state_reasons=subject.listing.reasons,
                    exclusion_reason=why,
                ),
                final_checks=(("resources", partial(_resources_outcome, subject), _RESOURCE_MISSING),),
                only_as_part=(Reason("excluded", why),) if excluded and slug in spared else (),
                single_dimension_proved=subject.single_dimension_proved,
                session=None if advisory is None else advisory,  # type: ignore[arg-type]  # millionths
                repeated_failure=slug in failures,
                composes=parts,
            )
        )
    return tuple(candidates)


_RESOURCE_MISSING: Final = (
    Reason("resource_missing", "The subject's overlay or skill is gone", "Install its package again"),
)


def _resources_outcome(subject: CatalogueSubject) -> Outcome:
    """The last look before a subject acts: whoever is suggested has its resources, now and not only when found."""
    return Outcome.PASS if subject_resolves(subject.contract, subject.root) else Outcome.FAIL


def lens_candidates(catalogue: Catalogue, counted: Mapping[str, tuple[Evidence, ...]]) -> tuple[LensCandidate, ...]:
    """Every declared lens that evidence of its subject names, with its gates; exclusion does not concern lenses."""
    candidates = []
    for subject in catalogue.subjects:
        slug = subject.contract.subject
        evidence = counted.get(slug, ())
        named = {item.value for item in evidence}
        candidates += [
            LensCandidate(
                subject=slug,
                lens=lens.slug,
                priority=subject.priority,
                evidence=evidence,
                gates=lens_gates(state=subject.listing.state, pack_resolves=lens.slug in subject.available_lenses),
            )
            for lens in subject.contract.method_lenses
            if lens.slug in named
        ]
    return tuple(candidates)


_WHY_KEPT = {
    "negated": "the text denies it",
    "excluded": "the text excludes it",
    "quoted": "the text quotes it",
    "everyday": "the words have an everyday or other-field sense here",
}


def near_miss_protections(evidence: Sequence[Evidence]) -> tuple[NearMissProtection, ...]:
    """What matched and was kept from counting, and why; an everyday sense is told by the suppressor that found it."""
    kept = [item for item in evidence if item.polarity in _WHY_KEPT]
    if not kept:
        return ()
    senses = None
    if any(item.polarity == "everyday" for item in kept):
        from qiongli.refinement._senses import Senses

        senses = Senses(evidence)
    return tuple(
        [
            NearMissProtection(item.signal_id, item.subject, item.polarity, item.snippet, _why_kept(item, senses))
            for item in kept
        ]
    )


def _why_kept(item: Evidence, senses: Senses | None) -> str:
    why = _WHY_KEPT[item.polarity]
    if senses is None or item.polarity != "everyday" or item.role != "signal":
        return why
    takers = {taker.signal_id: f"{taker.signal_id} («{one_line(taker.snippet)}»)" for taker in senses.takers(item)}
    return f"{why}: {', '.join(takers.values())}" if takers else why


def project_warnings(catalogue: Catalogue, active_subject: str, directives: Directives) -> tuple[str, ...]:
    """What a confirmed or locked project should know of its subject."""
    found = catalogue.get(active_subject)
    if found is None:
        return (f"the project's subject {active_subject!r} is not installed or not readable; nothing of it is loaded",)
    warnings = []
    if found.listing.state != "active":
        why = "; ".join(reason.message for reason in found.listing.reasons) or found.listing.state
        warnings.append(f"the project's subject {active_subject!r} is {found.listing.state}: {why}")
    if directives.excludes(active_subject):
        warnings.append(f"{directives.reason(active_subject)}; the project's own decision outranks that")
    return tuple(warnings)
