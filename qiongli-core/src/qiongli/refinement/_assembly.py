"""From evidence to candidates: who has evidence, which gates they meet, what the user's words exclude."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import attrs

from qiongli._value import Value
from qiongli.records.evidence import Evidence
from qiongli.records.packet import NearMissProtection
from qiongli.routing import LensCandidate, RouteCandidate
from qiongli.safety import lens_gates, subject_gates
from qiongli.signals import select_spans

if TYPE_CHECKING:
    from qiongli.plugins import Catalogue


@attrs.frozen(repr=False)
class Directives(Value):
    """The user's explicit words in the task: subjects to leave out, and subjects to keep to."""

    excluded: frozenset[str] = frozenset()
    kept: frozenset[str] = frozenset()

    def excludes(self, subject: str) -> bool:
        """Whether the words exclude the subject; being kept never adds anything to a subject."""
        return subject in self.excluded or (bool(self.kept) and subject not in self.kept)

    def reason(self, subject: str) -> str:
        """The exclusion in words."""
        if subject in self.excluded:
            return f"the task says not to treat it as {subject}"
        return f"the task says to keep it in {', '.join(sorted(self.kept))}"


def read_directives(evidence: Iterable[Evidence]) -> Directives:
    """The directives among the evidence; quoted or negated ones direct nothing."""
    excluded = set()
    kept = set()
    for item in evidence:
        if item.role == "exclude" and item.polarity == "excluded":
            excluded.add(item.subject)
        elif item.role == "keep" and item.polarity == "asserted":
            kept.add(item.subject)
    return Directives(frozenset(excluded), frozenset(kept))


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
    for subject in catalogue.subjects:
        slug = subject.contract.subject
        parts = subject.contract.composes
        evidence = _of_composite((slug, *parts), counted) if parts else counted.get(slug, ())
        if not evidence and slug != active_subject:
            continue
        advisory = advisories.get(slug)
        candidates.append(
            RouteCandidate(
                subject=slug,
                priority=subject.priority,
                evidence=evidence,
                gates=subject_gates(
                    state=subject.listing.state,
                    excluded=(excluded := directives.excludes(slug)),
                    state_reasons=subject.listing.reasons,
                    exclusion_reason=directives.reason(slug) if excluded else "",
                ),
                final_gates=(),
                single_dimension_proved=subject.single_dimension_proved,
                session=None if advisory is None else advisory,  # type: ignore[arg-type]  # millionths
                repeated_failure=slug in failures,
                composes=parts,
            )
        )
    return tuple(candidates)


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


def near_miss_protections(evidence: Iterable[Evidence]) -> tuple[NearMissProtection, ...]:
    """What matched and was kept from counting, and why."""
    return tuple(
        NearMissProtection(item.signal_id, item.subject, item.polarity, item.snippet, _WHY_KEPT[item.polarity])
        for item in evidence
        if item.polarity in _WHY_KEPT
    )


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
