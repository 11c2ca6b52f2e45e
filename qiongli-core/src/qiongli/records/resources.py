"""References to a subject's resources, and the plan of which of them a task activates."""

from __future__ import annotations

from typing import Final, Literal

import attrs

from qiongli.records._units import Record

ResourceKind = Literal["domain_profile", "overlay", "skill", "method_pack", "venue_profile"]
RESOURCE_KINDS: Final[tuple[ResourceKind, ...]] = (
    "domain_profile",
    "overlay",
    "skill",
    "method_pack",
    "venue_profile",
)

#: Why a resource is in the plan: its subject is only suggested, the user's project applies it, a single lens is
#: borrowed, or the manifest pins it.
ResourceActivation = Literal["suggested", "applied", "borrowed", "pinned"]


@attrs.frozen(repr=False)
class ResourceRef(Record):
    """One resource of a subject package; `path` is relative to the package, with forward slashes."""

    #: Which kind of resource it is.
    kind: ResourceKind
    #: Slug of the subject that ships it.
    subject: str
    #: Name among those of its kind: the lens's or venue's slug, or the subject's own.
    name: str
    #: Path inside the subject's package, with forward slashes.
    path: str
    #: `sha256:` and 64 hexadecimal digits of the file's bytes.
    checksum: str
    #: Estimated size in tokens of a language model, at least 1; null when it was not measured.
    tokens: int | None = None


@attrs.frozen(repr=False)
class PlannedResource(Record):
    """A resource that a task activates, and why."""

    #: Which kind of resource it is.
    kind: ResourceKind
    #: Slug of the subject that ships it.
    subject: str
    #: Name among those of its kind: the lens's or venue's slug, or the subject's own.
    name: str
    #: Path inside the subject's package, with forward slashes.
    path: str
    #: `sha256:` and 64 hexadecimal digits of the file's bytes when it was planned.
    checksum: str
    #: Estimated size in tokens of a language model, at least 1; null when it was not measured.
    tokens: int | None
    #: Why it is planned: suggested with its subject, applied by the project, borrowed, or pinned.
    activation: ResourceActivation


@attrs.frozen(repr=False)
class ResourceActivationPlan(Record):
    """What would be loaded for the task, in order of authority.

    `levels` names the layers in use, of `core`, `subject`, `lens`, `venue`.
    """

    #: The layers in use, of `core`, `subject`, `lens` and `venue`.
    levels: tuple[str, ...] = ("core",)
    #: The resources in order of authority: where two disagree, the earlier one holds.
    resources: tuple[PlannedResource, ...] = ()
