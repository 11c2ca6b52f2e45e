"""The effective state of a subject: every step that lowers it leaves a reason, and no step raises it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Final

import attrs

from qiongli.contract.models import SubjectContract
from qiongli.gate.record import Verdict
from qiongli.plugins._distributions import Distribution, EntryPoint
from qiongli.plugins.catalogue import VerificationRequest, is_core_subject
from qiongli.plugins.policy import DISABLED_VARIABLE, PLUGINS_VARIABLE, Policy, Switches
from qiongli.records.subjects import SUBJECT_STATES, Reason, SubjectListing, SubjectState

#: Decides whether a record holds on this machine; it is asked once for all bytes that its answer depends on.
Verifier = Callable[[VerificationRequest], Verdict]

#: Code of a reason to what it means, by the state to which it lowers; stable, and documented from here.
STATE_REASONS: Final[Mapping[str, tuple[SubjectState, str]]] = MappingProxyType(
    {
        "metadata_missing": ("broken", "The distribution has no METADATA; an installation was interrupted."),
        "metadata_unreadable": ("broken", "Its METADATA cannot be read, or states no name and version."),
        "metadata_contradictory": ("broken", "Its METADATA names another distribution than its folder."),
        "entry_points_unreadable": ("broken", "Its entry_points.txt is not UTF-8, too large, or cannot be read."),
        "entry_points_malformed": ("broken", "A line in one of our groups is not `name = value`."),
        "entry_point_not_package": ("broken", "The value is dotted, hyphenated or otherwise no top-level package."),
        "package_missing": ("broken", "The import package is not on the path."),
        "no_package": ("broken", "The value names a single module, which cannot hold a contract."),
        "namespace_package": ("broken", "The folder has no __init__.py, so anybody could extend the package."),
        "zip_import": ("broken", "The package is inside a zip file; resources are read from folders."),
        "contract_missing": ("broken", "The package has no runtime-subject.yaml."),
        "contract_unreadable": ("broken", "The contract is no regular file, leaves the package or is too large."),
        "library_missing": ("broken", "A library that core needs to read contracts is not installed."),
        "unexpected": ("broken", "Reading it failed in a way that core does not know."),
        "invalid_contract": ("invalid", "The contract has faults; the first is shown."),
        "newer_schema": ("invalid", "The contract follows a newer schema than this core reads."),
        "name_differs": ("invalid", "Entry point and contract name different subjects."),
        "requires_missing": ("invalid", "The contract has no requires_qiongli, so nothing proves that it fits."),
        "requires_unparsable": ("invalid", "requires_qiongli is no version specifier."),
        "core_excluded": ("invalid", "requires_qiongli excludes this version of core."),
        "duplicate_subject": ("invalid", "Several distributions claim the slug and none is pinned here."),
        "pinned_elsewhere": ("invalid", "The slug is pinned to another distribution here."),
        "declared_disabled": ("inactive", "The contract declares the subject disabled."),
        "blocked": ("inactive", "The distribution is blocked here."),
        "not_listed": ("inactive", "QIONGLI_PLUGINS or --no-plugins leaves the distribution out."),
        "policy_unreadable": ("inactive", "The local policy is malformed, so what it blocks cannot be known."),
        "below_runtime_enabled": ("lens_only", "The contract declares it candidate or eval_ready."),
        "kill_switch": ("lens_only", "QIONGLI_SUBJECTS_DISABLED lowers it to a candidate."),
        "candidate_only": ("lens_only", "The local policy lowers all subjects but core's own to candidates."),
        "resource_missing": ("lens_only", "An overlay or skill that an active subject must have does not resolve."),
        "no_record": ("lens_only", "It declares runtime_enabled and the gate has not recorded that."),
        "record_malformed": ("lens_only", "Its activation record cannot be read."),
        "record_foreign": ("lens_only", "Its record was written for another subject or distribution."),
        "record_outdated": ("lens_only", "Its files were changed after the record was written."),
        "record_for_other_files": ("lens_only", "Its record was written for other files than those of the package."),
        "record_other_rules": ("lens_only", "Its record was written under other rules of the gate."),
        "unverified": ("lens_only", "Its record was not verified on this machine."),
        "verifying": ("lens_only", "Its record is being verified; a server does that beside its work."),
        "evaluation_pack_missing": ("lens_only", "It has no evaluation pack that its record could be measured with."),
        "verification_failed": ("lens_only", "Verifying its record ended in an error."),
        "record_does_not_hold": ("lens_only", "Measured here, it does not pass the gate."),
    }
)


@attrs.frozen(repr=False, eq=False)  # a row is compared by identity: comparing contracts would read them whole
class Row:
    """A subject's entry point with what could be read of it, and how far it was lowered."""

    distribution: Distribution
    entry: EntryPoint
    root: Path | None = None
    contract: SubjectContract | None = None
    state: SubjectState = "active"
    reasons: tuple[Reason, ...] = ()

    def lowered(self, reason: Reason, state: SubjectState | None = None) -> Row:
        """The row in the state that the reason stands for, if that is lower than its own."""
        to = state or STATE_REASONS[reason.code][0]
        return attrs.evolve(self, state=min(self.state, to, key=SUBJECT_STATES.index), reasons=(*self.reasons, reason))

    @property
    def slug(self) -> str:
        """The slug as the contract states it, else as the entry point claims it."""
        return self.contract.subject if self.contract else self.entry.name

    @property
    def is_core(self) -> bool:
        """Whether this is one of core's own subjects, from its own distribution."""
        return is_core_subject(self.slug, self.distribution.key)

    def listing(self) -> SubjectListing:
        """The row as it is published."""
        contract = self.contract
        return SubjectListing(
            subject=self.slug or None,
            display_name=contract.display_name if contract else self.slug,
            distribution=self.distribution.name,
            version=self.distribution.version,
            location=str(self.root or self.distribution.folder),
            activation_status=contract.activation_status if contract else "",
            state=self.state,
            reasons=self.reasons,
        )


def check_requirement(row: Row) -> Row:
    """Lower a subject that this core does not provably suit."""
    from qiongli._version import VERSION

    assert row.contract is not None
    required = row.contract.requires_qiongli.strip()
    name = row.distribution.name
    if not required:
        reason = Reason(
            "requires_missing",
            f"its contract has no requires_qiongli; this is {VERSION}",
            f"Ask the makers of {name} to state one",
        )
        return row.lowered(reason)
    fits = specifier_admits(required, VERSION)
    if fits is None:
        message = f"its requires_qiongli {required!r} is no version specifier; this is {VERSION}"
        return row.lowered(Reason("requires_unparsable", message, f"Ask the makers of {name} to correct it"))
    if not fits:
        hint = f"Run: python -m pip install --upgrade qiongli-core {name}"
        return row.lowered(Reason("core_excluded", f"it requires Qiongli {required}; this is {VERSION}", hint))
    return row


#: Longer operators first, so that `>=` is not read as `>`.
_OPERATORS: Final = (">=", "<=", "==", "!=", ">", "<")


def specifier_admits(specifier: str, version: str) -> bool | None:
    """Whether a PEP 440 specifier admits a version, pre-releases included; None when it is no specifier.

    Plain comparisons of release numbers, the common case, are answered without the library for them.
    """
    here = _release(version)
    clauses = [_plain_clause(clause.strip()) for clause in specifier.split(",")]
    if here is not None and all(clauses):
        return all(_compare(clause[0], here, clause[1]) for clause in clauses if clause)
    from packaging.specifiers import InvalidSpecifier, SpecifierSet
    from packaging.version import InvalidVersion

    try:
        return SpecifierSet(specifier).contains(version, prereleases=True)
    except (InvalidSpecifier, InvalidVersion):
        return None


def _plain_clause(text: str) -> tuple[str, tuple[int, ...]] | None:
    """Operator and release of a clause that needs no library, or None."""
    operator = next((operator for operator in _OPERATORS if text.startswith(operator)), None)
    release = None if operator is None else _release(text[len(operator) :].strip())
    return None if operator is None or release is None else (operator, release)


def _release(text: str) -> tuple[int, ...] | None:
    """The numbers of a plain release without zeros at its end, or None for any other version."""
    parts = text.split(".")
    if not all(part.isascii() and part.isdigit() and len(part) < 10 for part in parts):
        return None
    numbers = [int(part) for part in parts]
    while numbers and numbers[-1] == 0:
        numbers.pop()
    return tuple(numbers)


def _compare(operator: str, left: tuple[int, ...], right: tuple[int, ...]) -> bool:
    if operator == "==":
        return left == right
    if operator == "!=":
        return left != right
    if operator[0] == ">":
        return left > right or (operator == ">=" and left == right)
    return left < right or (operator == "<=" and left == right)


def settle_duplicates(rows: Sequence[Row], policy: Policy) -> list[Row]:
    """Lower all claimants of a slug that several distributions claim, but the one that is pinned here.

    Only readable contracts that agree with their entry point claim a slug, and a blocked distribution claims none.
    """
    claimants: dict[str, list[Row]] = {}
    for row in rows:
        if _claims(row, policy):
            claimants.setdefault(row.slug, []).append(row)
    settled = []
    for row in rows:
        same = claimants.get(row.slug, [])
        if len(same) > 1 and _claims(row, policy):
            row = _settle(row, same, policy.pinned.get(row.slug))
        settled.append(row)
    return settled


def _claims(row: Row, policy: Policy) -> bool:
    contradicts = any(reason.code == "name_differs" for reason in row.reasons)
    return row.contract is not None and not contradicts and row.distribution.key not in policy.blocked


def _settle(row: Row, same: Sequence[Row], pinned: str | None) -> Row:
    names = ", ".join(sorted(f"{item.distribution.name} {item.distribution.version}" for item in same))
    owners = [item for item in same if item.distribution.key == pinned]
    if len(owners) == 1:
        if owners[0] is row:
            return row
        message = f"{row.slug!r} is pinned to {owners[0].distribution.name} here, of: {names}"
        hint = f"Run: qiongli plugins allow {row.distribution.name} --pin {row.slug}"
        return row.lowered(Reason("pinned_elsewhere", message, hint))
    hint = (
        f"Uninstall all but one, or run: qiongli plugins allow DISTRIBUTION --pin {row.slug}"
        if len({item.distribution.key for item in same}) > 1
        else f"Ask the makers of {row.distribution.name} to declare {row.slug} once"
    )
    return row.lowered(Reason("duplicate_subject", f"several distributions provide {row.slug!r}: {names}", hint))


def apply_local_rules(row: Row, policy: Policy, switches: Switches) -> Row:
    """Lower a subject as its own declaration, the policy of this machine and the environment demand."""
    assert row.contract is not None
    name, slug, declared = row.distribution.name, row.slug, row.contract.activation_status
    if declared == "disabled":
        row = row.lowered(
            Reason("declared_disabled", "its contract declares it disabled", "Only its makers can change that")
        )
    if policy.problem:
        row = row.lowered(
            Reason(
                "policy_unreadable", f"the local policy cannot be read: {policy.problem}", "Correct or move the file"
            )
        )
    if row.distribution.key in policy.blocked:
        row = row.lowered(Reason("blocked", f"{name} is blocked here", f"Run: qiongli plugins allow {name}"))
    if not row.is_core and not switches.lists(name, slug):
        message = f"{PLUGINS_VARIABLE} (or --no-plugins) leaves {name} out"
        row = row.lowered(Reason("not_listed", message, f"Unset {PLUGINS_VARIABLE}, or add {name} to it"))
    if slug in switches.disabled or (switches.all_disabled and not row.is_core):
        message = f"{DISABLED_VARIABLE} lowers it to a candidate"
        row = row.lowered(Reason("kill_switch", message, f"Unset {DISABLED_VARIABLE}"))
    if policy.candidate_only and not row.is_core:
        message = "the local policy lowers all subjects but core's own to candidates"
        row = row.lowered(Reason("candidate_only", message, "Run: qiongli plugins candidate-only off"))
    if declared in ("candidate", "eval_ready"):
        message = f"its contract declares it {declared}"
        row = row.lowered(Reason("below_runtime_enabled", message, f"Run: qiongli gate check {slug}"))
    return row
