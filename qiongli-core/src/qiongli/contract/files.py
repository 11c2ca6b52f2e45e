"""Which of the files that a contract names are there: looks at the package's folder, reads and imports nothing."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

import attrs

from qiongli._value import Value
from qiongli.contract.models import SubjectContract
from qiongli.contract.paths import Located, locate
from qiongli.records.resources import ResourceKind

#: Largest resource file, in bytes.
MAXIMUM_RESOURCE: Final = 262_144

#: Kinds without which a subject cannot be suggested, only lend lenses.
REQUIRED_KINDS: Final[tuple[ResourceKind, ...]] = ("overlay", "skill")


@attrs.frozen(repr=False)
class DeclaredResource(Value):
    """A resource as the contract declares it; `field` is the place of its path in the contract."""

    kind: ResourceKind
    name: str
    path: str
    field: str
    optional: bool = False


@attrs.frozen(repr=False)
class MissingResource(Value):
    """A declared, or required and undeclared, resource that cannot be read; `path` is empty when undeclared.

    `lowers` is true when the subject may not be active without it; `escapes` when its path leaves the package.
    """

    kind: ResourceKind
    name: str
    path: str
    reason: str
    lowers: bool = False
    escapes: bool = False


@attrs.frozen(repr=False)
class ResourceState(Value):
    """Which of a contract's files are there; contents are not judged.

    `available_lenses` are the slugs whose pack resolves; `notes` say which lenses are disabled, and why.
    """

    available_lenses: frozenset[str]
    missing: tuple[MissingResource, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def can_be_active(self) -> bool:
        """Whether nothing is missing that an active subject must have: an overlay and a skill."""
        return not any(missing.lowers for missing in self.missing)


def declared_resources(contract: SubjectContract) -> tuple[DeclaredResource, ...]:
    """Every resource that the contract names, in the order of authority: overlay, skill, profile, packs, venues."""
    found = [
        DeclaredResource(kind, contract.subject, path, field)
        for kind, field, path in _single_resources(contract)
        if path is not None
    ]
    found += [
        DeclaredResource("method_pack", lens.slug, lens.pack, f"method_lenses.{lens.slug}", lens.optional)
        for lens in contract.method_lenses
    ]
    found += [
        DeclaredResource("venue_profile", slug, path, f"venue_profiles.{slug}")
        for slug, path in contract.venue_profiles.items()
    ]
    return tuple(found)


def _single_resources(contract: SubjectContract) -> tuple[tuple[ResourceKind, str, str | None], ...]:
    return (
        ("overlay", "overlay", contract.overlay),
        ("skill", "subject_skill", contract.subject_skill),
        ("domain_profile", "domain_profile", contract.domain_profile),
    )


def declares(contract: SubjectContract, kind: ResourceKind) -> bool:
    """Whether the contract names the one overlay, skill or domain profile of its subject."""
    return any(path is not None for own, _, path in _single_resources(contract) if own == kind)


def locate_resource(root: Path, path: str) -> Located:
    """Find a resource's file inside the package; too large a file is not found."""
    return locate(root, path, limit=MAXIMUM_RESOURCE)


def resource_state(contract: SubjectContract, root: Path) -> ResourceState:
    """See which declared resources resolve inside the package in `root`; reads no file and imports nothing.

    A method pack that does not resolve disables its lens, whether it is optional or not; an overlay or skill that is
    missing or undeclared lowers the subject.
    """
    lenses: set[str] = set()
    missing: list[MissingResource] = []
    notes: list[str] = []
    declared = declared_resources(contract)
    for kind in REQUIRED_KINDS:
        if not any(resource.kind == kind for resource in declared):
            missing.append(MissingResource(kind, contract.subject, "", f"the contract names no {kind}", lowers=True))
    base = os.path.realpath(root)
    for resource in declared:
        located = locate(root, resource.path, limit=MAXIMUM_RESOURCE, base=base)
        if located.path is not None:
            if resource.kind == "method_pack":
                lenses.add(resource.name)
            continue
        missing.append(
            MissingResource(
                resource.kind,
                resource.name,
                resource.path,
                located.reason,
                lowers=resource.kind in REQUIRED_KINDS,
                escapes=located.escapes,
            )
        )
        if resource.kind == "method_pack":
            notes.append(f"the lens {resource.name} is disabled: {located.reason}")
    return ResourceState(frozenset(lenses), tuple(missing), tuple(notes))
