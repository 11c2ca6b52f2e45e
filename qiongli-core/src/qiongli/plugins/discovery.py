"""Discovery: from installed distributions to subjects with states, by reading files only; no subject is imported."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import attrs

from qiongli.contract.files import resource_state
from qiongli.contract.models import CONTRACT_FILE
from qiongli.errors import ContractError, EnvironmentBrokenError
from qiongli.plugins._contracts import read_package_contract
from qiongli.plugins._distributions import (
    GROUPS,
    SUBJECTS_GROUP,
    Distribution,
    EntryPoint,
    Scan,
    canonical,
    scan,
    search_folders,
    searches_everything,
)
from qiongli.plugins._packages import Package, find_package
from qiongli.plugins.catalogue import CORE_ORDER, Catalogue, CatalogueSubject, Verdict
from qiongli.plugins.policy import DISABLED_VARIABLE, PLUGINS_VARIABLE, Policy, Switches, load_policy, read_switches
from qiongli.plugins.states import Row, Verifier, apply_local_rules, check_requirement, settle_duplicates
from qiongli.plugins.verification import judge_record
from qiongli.records.subjects import Reason

__all__ = ["discover"]

_UNREADABLE = ("unreadable", "too_large", "path_escapes")


def discover(
    *,
    environment: Mapping[str, str] | None = None,
    policy: Policy | None = None,
    verifier: Verifier | None = None,
    paths: Sequence[str] | None = None,
) -> Catalogue:
    """Every installed subject with its effective state and the reasons for it; the order never depends on the disk.

    `environment` holds the switches and `policy` the local rules, this machine's by default; `paths` are the folders
    to search, Python's own path when None. `verifier` is asked about a record that this machine has not seen; without
    one such a subject stays lens-only. Nothing that is found is imported, and nothing of it raises.
    """
    policy = load_policy() if policy is None else policy
    switches = read_switches(os.environ if environment is None else environment)
    found = scan(paths)
    search = search_folders(paths)
    warnings = [*_policy_warnings(policy), *_distribution_warnings(found)]
    rows = [
        row
        for distribution in found.distributions
        for row in _rows(distribution, search, ask_finders=searches_everything(paths), warnings=warnings)
    ]
    rows = [
        row if row.contract is None else apply_local_rules(row, policy, switches)
        for row in settle_duplicates(rows, policy)
    ]
    subjects, rows = _admit(rows, policy, verifier)
    warnings += _switch_warnings(switches, found, rows)
    rows.sort(key=lambda row: (row.slug, row.distribution.key, str(row.root or row.distribution.folder)))
    listings = tuple(row.listing() for row in rows)
    return Catalogue(tuple(subjects), listings, tuple(dict.fromkeys(warnings)), found.distributions)


def _rows(distribution: Distribution, search: Sequence[str], *, ask_finders: bool, warnings: list[str]) -> list[Row]:
    """A row for every subject of a distribution, whatever is wrong with it."""
    entries = distribution.in_group(SUBJECTS_GROUP)
    if distribution.problem is not None:
        if not entries and distribution.entry_points:
            # It provides plugins or commands only; `plugins list` and `doctor` show what is wrong.
            warnings.append(f"{distribution.name}: {distribution.problem.message}")
            return []
        reason = attrs.evolve(distribution.problem, hint=_reinstall(distribution))
        return [Row(distribution, entry).lowered(reason) for entry in entries or (EntryPoint(SUBJECTS_GROUP, "", ""),)]
    rows = []
    for entry in entries:
        row = Row(distribution, entry)
        try:
            row = _read(row, search, ask_finders=ask_finders, warnings=warnings)
        except (ImportError, EnvironmentBrokenError) as error:
            message = f"its contract cannot be read: {error.args[0] if error.args else 'a library is missing'}"
            hint = f"Run: {sys.executable} -m pip install --force-reinstall qiongli-core"
            row = row.lowered(Reason("library_missing", message, hint))
        except Exception as error:  # one subject must not cost the others
            message = f"reading it failed with {type(error).__name__}"
            row = row.lowered(Reason("unexpected", message, _reinstall(distribution)))
        rows.append(row)
    return rows


def _read(row: Row, search: Sequence[str], *, ask_finders: bool, warnings: list[str]) -> Row:
    package = row.entry.value
    if not (package.isidentifier() and package.isascii()):
        message = f"its entry point's value {package!r} is no top-level import package"
        hint = f"Ask the makers of {row.distribution.name} to name the package alone, such as qiongli_subject_x"
        return row.lowered(Reason("entry_point_not_package", message, hint))
    found = find_package(package, search, ask_finders=ask_finders)
    if not isinstance(found, Package):
        return row.lowered(found if found.hint else attrs.evolve(found, hint=_reinstall(row.distribution)))
    warnings += [f"{found.root} hides {other}, a package of the same name" for other in found.hides]
    row = attrs.evolve(row, root=found.root)
    if not os.path.lexists(found.root / CONTRACT_FILE):
        message = f"the package {package!r} has no {CONTRACT_FILE}"
        return row.lowered(Reason("contract_missing", message, _reinstall(row.distribution)))
    try:
        row = attrs.evolve(row, contract=read_package_contract(found.root))
    except ContractError as error:
        return row.lowered(_contract_reason(error, found.root))
    if row.slug != row.entry.name:
        message = f"its entry point says {row.entry.name!r}, its contract {row.slug!r}"
        hint = f"Ask the makers of {row.distribution.name} to make them agree"
        row = row.lowered(Reason("name_differs", message, hint))
    return check_requirement(row)


def _contract_reason(error: ContractError, root: Path) -> Reason:
    first = error.problems[0] if error.problems else error
    more = f" (and {len(error.problems) - 1} more)" if len(error.problems) > 1 else ""
    message = f"{first.place}: {first.message}{more}" if first.place else f"{first.message}{more}"
    hint = f"Run: qiongli contract validate {root}"
    if first.code in _UNREADABLE:
        return Reason("contract_unreadable", message, hint)
    if first.code == "newer_schema":
        return Reason("newer_schema", message, first.hint or hint)
    return Reason("invalid_contract", message, hint)


def _reinstall(distribution: Distribution) -> str:
    return f"Run: {sys.executable} -m pip install --force-reinstall {distribution.name}"


def _admit(rows: Iterable[Row], policy: Policy, verifier: Verifier | None) -> tuple[list[CatalogueSubject], list[Row]]:
    """Readable subjects in the order of admission, each judged beside those admitted before it; and all rows."""

    def order(row: Row) -> tuple[int, str, str]:
        rank = CORE_ORDER.index(row.slug) if row.slug in CORE_ORDER else len(CORE_ORDER) + (row.slug not in pinned)
        return rank, row.distribution.key, row.slug

    pinned = policy.pinned
    readable: list[Row] = []
    others: list[Row] = []
    for row in rows:
        unreadable = row.contract is None or row.state in ("broken", "invalid")
        (others if unreadable else readable).append(row)
    admitted: list[CatalogueSubject] = []
    judged: list[Row] = []
    for priority, row in enumerate(sorted(readable, key=order)):
        subject, row = _judge(row, priority, admitted, verifier)
        admitted.append(subject)
        judged.append(row)
    return admitted, [*judged, *others]


def _judge(
    row: Row, priority: int, admitted: Sequence[CatalogueSubject], verifier: Verifier | None
) -> tuple[CatalogueSubject, Row]:
    contract, root = row.contract, row.root
    assert contract is not None
    assert root is not None
    resources = resource_state(contract, root)
    for missing in resources.missing:
        if missing.lowers:
            named = f"{missing.kind}: {missing.reason}"
            row = row.lowered(Reason("resource_missing", named, f"Run: qiongli contract validate {root}"))
    proved = False
    if contract.activation_status == "runtime_enabled":
        state = "lens_only" if row.state == "active" else row.state
        listing = attrs.evolve(row.listing(), state=state)
        candidate = CatalogueSubject(contract, listing, root, priority, resources.available_lenses)
        verdict = judge_record(candidate, admitted, verifier, ask=row.state == "active")
        row = _with_verdict(row, verdict)
        proved = row.state == "active" and verdict.single_dimension_proved is True
    return CatalogueSubject(contract, row.listing(), root, priority, resources.available_lenses, proved), row


def _with_verdict(row: Row, verdict: Verdict) -> Row:
    if verdict.holds is True:
        return row
    slug = row.slug
    reason = verdict.reason or Reason(
        "record_does_not_hold", "its record does not hold here", f"Run: qiongli gate check {slug}"
    )
    return row.lowered(reason, "lens_only")


def _policy_warnings(policy: Policy) -> list[str]:
    return [f"local policy: {policy.problem}; no subject acts until it is corrected"] if policy.problem else []


def _distribution_warnings(found: Scan) -> list[str]:
    warnings = [f"{loser} is ignored: {winner} is the same distribution" for loser, winner in found.hidden]
    for distribution in found.distributions:
        for group in distribution.misspelt:
            warnings.append(
                f"{distribution.name} declares the entry-point group {group!r}, which nobody reads; {_near(group)}"
            )
    return warnings


def _near(group: str) -> str:
    from difflib import get_close_matches

    near = get_close_matches(group.casefold(), GROUPS, n=1)
    return f"did you mean {near[0]}?" if near else f"known groups are {', '.join(GROUPS)}"


def _switch_warnings(switches: Switches, found: Scan, rows: Sequence[Row]) -> list[str]:
    """Names in the environment's lists that stand for nothing installed, with near ones."""
    warnings = []
    if switches.listed:
        known = {name for item in found.distributions for name in (item.key, *_entry_names(item))}
        warnings += [
            f"{PLUGINS_VARIABLE} lists {name!r}, which is not installed{_similar(name, known)}"
            for name in sorted(switches.listed - known)
        ]
    if switches.disabled:
        slugs = {row.slug for row in rows}
        warnings += [
            f"{DISABLED_VARIABLE} names {slug!r}, which is not installed{_similar(canonical(slug), slugs)}"
            for slug in sorted(switches.disabled - slugs)
        ]
    return warnings


def _entry_names(distribution: Distribution) -> set[str]:
    return {canonical(entry.name) for entry in distribution.entry_points}


def _similar(name: str, known: Iterable[str]) -> str:
    from difflib import get_close_matches

    near = get_close_matches(name, sorted(known), n=1)
    return f"; did you mean {near[0]}?" if near else ""
