"""The context bundle: the texts that guide a task, whole, in order of authority, within a budget of tokens.

What speaks for a subject as a whole enters only once the user has confirmed or locked it. Which resources are worth
their tokens is decided where every plan is made; here they are read and put in order.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from hashlib import sha256
from importlib.resources import files
from typing import TYPE_CHECKING, Final

import attrs

from qiongli.errors import InputError, QiongliError
from qiongli.limits import DEFAULT_LIMITS, Limits
from qiongli.records.packet import RefinementPacket
from qiongli.records.project import ManifestState
from qiongli.records.resources import PlannedResource, ResourceRef
from qiongli.records.task import BundlePart, ContextBundle, LeftOutPart
from qiongli.resources import PlanRequest, estimate_tokens, plan_resources, read_resource

if TYPE_CHECKING:
    from qiongli.plugins import Catalogue

_CORE_FILE: Final = "core_guidance.md"
SETTLED: Final = ("confirm_subject", "lock_subject")


@lru_cache(maxsize=1)
def core_part() -> BundlePart:
    """The guidance that holds for every task, as core ships it."""
    data = files("qiongli.task").joinpath(_CORE_FILE).read_bytes()
    return BundlePart(
        kind="core",
        subject="core",
        name="core",
        source=f"qiongli-core/task/{_CORE_FILE}",
        checksum=f"sha256:{sha256(data).hexdigest()}",
        tokens=estimate_tokens(data),
        activation="always",
        text=data.decode("utf-8"),
    )


def room_beside_core(budget: int | None) -> int | None:
    """The tokens that are left for resources; raises `InputError` (`budget_too_small`) when core does not fit."""
    if budget is None:
        return None
    core = core_part().tokens
    if budget < core:
        raise InputError(
            f"a budget of {budget} tokens has no room for the core guidance",
            code="budget_too_small",
            place="budget",
            expected=f"at least {core} tokens",
        )
    return budget - core


def plan_request(packet: RefinementPacket, manifest_state: ManifestState) -> PlanRequest:
    """What the decision of a packet asks to be loaded, as the packet's own plan was asked for."""
    has_subject = packet.decision in ("suggest_subject", *SETTLED)
    own = tuple((packet.primary_subject, lens) for lens in packet.method_lenses)
    return PlanRequest(
        subject=packet.primary_subject if has_subject else None,
        applied=packet.decision in SETTLED,
        lenses=(*own, *((lens.subject, lens.lens) for lens in packet.borrowed_lenses)),
        pinned_lenses=manifest_state.method_lenses,
        pinned_venues=manifest_state.venue_profiles,
    )


def make_bundle(
    packet: RefinementPacket,
    manifest_state: ManifestState,
    catalogue: Catalogue,
    *,
    budget: int | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> ContextBundle:
    """The bundle of a routed task, its parts together at most `budget` tokens; a refused task has none.

    Raises `InputError` (`budget_too_small`) when not even the core guidance fits.
    """
    room = room_beside_core(budget)
    if packet.refusal is not None:
        return ContextBundle(budget, 0, ())
    request = plan_request(packet, manifest_state)
    wanted = plan_resources(catalogue, request, limits=limits)[0].resources
    waiting = [item for item in wanted if _waits(item)]
    now = [item for item in wanted if not _waits(item)]
    if room is not None:
        chosen = _affordable(catalogue, request, room, limits)
        kept = {_key(item) for item in chosen}
    else:
        kept = {_key(item) for item in now}
    parts = [core_part()]
    left_out = [
        _left_out(
            item,
            "unconfirmed",
            f"waits until you confirm {item.subject}: an unconfirmed suggestion loads nothing of its subject",
        )
        for item in waiting
    ]
    for item in now:
        if _key(item) not in kept:
            left_out.append(
                _left_out(item, "over_budget", f"its {item.tokens} tokens do not fit into the budget of {budget}")
            )
            continue
        try:
            parts.append(_part(catalogue, item))
        except QiongliError as error:
            left_out.append(_left_out(item, "missing", error.message))
    return ContextBundle(budget, sum(part.tokens for part in parts), tuple(parts), tuple(left_out))


def _affordable(catalogue: Catalogue, request: PlanRequest, room: int, limits: Limits) -> Sequence[PlannedResource]:
    """What the common chooser takes within the room; what is pinned takes its tokens first, but no more than there is.

    A plan always holds what is pinned. A bundle is what somebody's model has to read, so that its limit holds.
    """
    if room == 0:
        return ()
    plan = plan_resources(catalogue, attrs.evolve(request, only_loadable=True), budget=room, limits=limits)[0]
    chosen = list(plan.resources)
    while sum(item.tokens or 0 for item in chosen) > room:
        chosen.pop()
    return chosen


def _waits(item: PlannedResource) -> bool:
    """Whether the resource speaks for a subject that the user has not confirmed."""
    return item.activation == "suggested" and item.kind != "method_pack"


def _key(item: PlannedResource) -> tuple[str, str, str]:
    return item.subject, item.kind, item.name


def _left_out(item: PlannedResource, code: str, message: str) -> LeftOutPart:
    return LeftOutPart(item.kind, item.subject, item.name, code, message, item.tokens)  # type: ignore[arg-type]


def _part(catalogue: Catalogue, item: PlannedResource) -> BundlePart:
    subject = catalogue.get(item.subject)
    assert subject is not None  # it was planned from this catalogue
    reference = ResourceRef(item.kind, item.subject, item.name, item.path, item.checksum, item.tokens)
    text = read_resource(subject.root, reference)
    return BundlePart(
        kind=item.kind,
        subject=item.subject,
        name=item.name,
        source=f"{subject.listing.distribution or subject.root.name}/{item.path}",
        checksum=item.checksum,
        tokens=item.tokens or estimate_tokens(text.encode()),
        activation=item.activation,
        text=text,
    )
