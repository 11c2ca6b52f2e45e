"""The resources of subjects: named by (subject, kind, name), read inside their package, planned under a budget.

Overlay, skill and domain profile speak with the authority of a subject and are loaded only when it is active. A
method pack, and a venue profile that the user pinned, need no activation. A resource's text is never evidence.
"""

from __future__ import annotations

from qiongli.resources.planning import AUTHORITY, PRIORS, PlanRequest, plan_resources
from qiongli.resources.references import (
    BYTES_PER_TOKEN,
    SUBJECT_KINDS,
    estimate_tokens,
    list_resources,
    load_resource,
    may_load,
    read_resource,
    resolve_resource,
    subject_resolves,
)

__all__ = [
    "AUTHORITY",
    "BYTES_PER_TOKEN",
    "PRIORS",
    "SUBJECT_KINDS",
    "PlanRequest",
    "estimate_tokens",
    "list_resources",
    "load_resource",
    "may_load",
    "plan_resources",
    "read_resource",
    "resolve_resource",
    "subject_resolves",
]
