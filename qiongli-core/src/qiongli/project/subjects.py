"""What a project's subject, lenses and venue profiles need of the installed subjects, and what is missing here."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from qiongli.errors import StateRefusedError, UnknownSubjectError
from qiongli.records.project import AUTO, ManifestState

if TYPE_CHECKING:
    from qiongli.plugins import Catalogue, CatalogueSubject


def known_subjects(catalogue: Catalogue) -> tuple[str, ...]:
    """The names of all installed subjects, broken ones included, sorted."""
    return tuple(sorted({row.subject for row in catalogue.listings if row.subject is not None}))


def require_known(catalogue: Catalogue, subject: str, place: str = "subject") -> None:
    """Raise `UnknownSubjectError`, with the available and the near names, for a subject that is not installed."""
    names = known_subjects(catalogue)
    if subject in names:
        return
    from difflib import get_close_matches

    near = get_close_matches(subject, names, n=1)
    raise UnknownSubjectError(
        f"no subject {subject[:80]!r} is installed",
        place=place,
        available=names,
        hint=f"Did you mean {near[0]}?" if near else "Run: qiongli subject list",
    )


def require_usable(catalogue: Catalogue, subject: str) -> tuple[str, ...]:
    """Raise unless a subject may be decided on: installed, readable, with overlay and skill; return warnings.

    A subject that is not active may be confirmed: the decision is the user's, while the gate still decides what may be
    loaded. The warning names its state and the reasons.
    """
    require_known(catalogue, subject)
    found = catalogue.get(subject)
    rows = [row for row in catalogue.listings if row.subject == subject]
    if found is None:
        raise StateRefusedError(
            f"the subject {subject!r} is installed but {rows[0].state}: {_reasons(rows[0].reasons)}",
            code="subject_unusable",
            place="subject",
            hint="Run: qiongli doctor",
        )
    if found.listing.state == "active":
        return ()
    missing = missing_resources(found.root, {"overlay": found.contract.overlay, "skill": found.contract.subject_skill})
    if missing:
        raise StateRefusedError(
            f"the subject {subject!r} is {found.listing.state} and lacks its {' and its '.join(missing)}",
            code="resources_missing",
            place="subject",
            hint=f"Run: qiongli subject show {subject}",
        )
    return (
        f"{subject} is {found.listing.state}, not active: {_reasons(found.listing.reasons)}; "
        "its overlay and skill are not loaded until the gate lets it act",
    )


def _reasons(reasons: tuple[object, ...]) -> str:
    return "; ".join(str(getattr(reason, "message", reason)) for reason in reasons) or "no reason is known"


def missing_resources(root: Path, paths: dict[str, str | None]) -> list[str]:
    """Which of the named files are not inside the package."""
    missing = []
    for name, path in paths.items():
        try:
            present = (
                path is not None and (root / path).resolve().is_relative_to(root.resolve()) and (root / path).is_file()
            )
        except (OSError, ValueError):
            present = False
        if not present:
            missing.append(name)
    return missing


def find_lender(subjects: Iterable[CatalogueSubject], lens: str) -> CatalogueSubject | None:
    """The first subject that can lend a pinned lens, named as `lens` or `subject/lens`."""
    owner, _, slug = lens.rpartition("/")
    return next(
        (found for found in subjects if slug in found.available_lenses and owner in ("", found.contract.subject)), None
    )


def find_venue_holder(subjects: Iterable[CatalogueSubject], venue: str) -> CatalogueSubject | None:
    """The first subject with a pinned venue profile, named as `venue` or `subject/venue`, that may give it."""
    owner, _, slug = venue.rpartition("/")
    return next(
        (
            found
            for found in subjects
            if slug in found.contract.venue_profiles
            and owner in ("", found.contract.subject)
            and found.listing.state in ("lens_only", "active")
        ),
        None,
    )


def catalogue_warnings(state: ManifestState, catalogue: Catalogue) -> tuple[str, ...]:
    """What a confirmed or locked project, and its pinned parts, lack on this machine; nothing is substituted."""
    warnings = []
    subject = state.active_subject
    if state.subject_mode != "auto" and subject != AUTO:
        found = catalogue.get(subject)
        rows = [row for row in catalogue.listings if row.subject == subject]
        if found is not None and found.listing.state != "active":
            warnings.append(
                f"{subject} is {state.subject_mode} here but its state is {found.listing.state}: "
                f"{_reasons(found.listing.reasons)}; its overlay and skill are not loaded, nothing takes their place"
            )
        elif found is None and rows:
            warnings.append(
                f"{subject} is {state.subject_mode} here but its package is {rows[0].state}: "
                f"{_reasons(rows[0].reasons)}"
            )
        elif found is None:
            warnings.append(
                f"{subject} is {state.subject_mode} here but no package provides it; nothing takes its place. "
                f"Run: pip install qiongli-subject-{subject}"
            )
    for lens in state.method_lenses:
        if find_lender(catalogue.subjects, lens) is None:
            warnings.append(f"the pinned lens {lens} is not available here")
    for venue in state.venue_profiles:
        if find_venue_holder(catalogue.subjects, venue) is None:
            warnings.append(f"the pinned venue profile {venue} is not available here")
    return tuple(warnings)
