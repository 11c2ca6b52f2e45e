"""Discovery: from installed distributions to subjects with states, by reading files only; no subject is imported."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

import attrs

from qiongli.cache import read_cached, write_cached
from qiongli.contract.models import CONTRACT_FILE, SubjectContract
from qiongli.errors import ContractError, QiongliError
from qiongli.gate.record import grandfathered
from qiongli.plugins._distributions import SUBJECTS_GROUP, Distribution, EntryPoint, canonical, installed
from qiongli.plugins.catalogue import CORE_ORDER, Catalogue, CatalogueSubject, Verdict, VerificationRequest
from qiongli.plugins.policy import Policy, disabled_subjects, load_policy, plugin_filter
from qiongli.records.subjects import Reason, SubjectListing, SubjectState

Verifier = Callable[[VerificationRequest], Verdict]

_MAXIMUM_CONTRACT = 1_048_576


@attrs.frozen
class _Found:
    """A subject's entry point with what could be read of it."""

    distribution: Distribution
    entry: EntryPoint
    root: Path | None = None
    contract: SubjectContract | None = None
    state: SubjectState = "active"
    reasons: tuple[Reason, ...] = ()

    def lowered(self, state: SubjectState, reason: Reason) -> _Found:
        order = ("broken", "invalid", "inactive", "lens_only", "active")
        worst = min(self.state, state, key=order.index)
        return attrs.evolve(self, state=worst, reasons=(*self.reasons, reason))


def discover(
    *,
    environment: Mapping[str, str] | None = None,
    policy: Policy | None = None,
    verifier: Verifier | None = None,
    paths: Sequence[str] | None = None,
) -> Catalogue:
    """Every installed subject with its effective state and the reasons for it; the order never depends on the disk.

    `environment` and `policy` default to this machine's; `paths` are the folders to search, `sys.path` when None.
    `verifier` decides whether a runtime-enabled subject's record holds; without one, only the development policy does.
    """
    environment = os.environ if environment is None else environment
    policy = load_policy() if policy is None else policy
    search = list(sys.path if paths is None else paths)
    distributions, warnings = installed(search)
    if policy.problem:
        warnings = (*warnings, f"local policy: {policy.problem}; nothing third-party is allowed")
    rows: list[_Found] = []
    for distribution in distributions:
        if distribution.problem:
            found = _Found(distribution, EntryPoint(SUBJECTS_GROUP, "", ""))
            rows.append(
                found.lowered("broken", Reason("unreadable_metadata", distribution.problem, _reinstall(distribution)))
            )
            continue
        for group in distribution.misspelt:
            warnings = (
                *warnings,
                f"{distribution.name} declares the unknown entry-point group {group!r}; {_near(group)}",
            )
        rows += [
            _read(distribution, entry, search) for entry in distribution.entry_points if entry.group == SUBJECTS_GROUP
        ]
    rows = [_apply_local_rules(row, environment, policy) for row in _without_duplicates(rows, policy)]
    subjects = _admit(rows, policy, verifier)
    listed = {(item.contract.subject, canonical(item.listing.distribution)): item.listing for item in subjects}
    listings = [
        listed.get((row.contract.subject if row.contract else "", row.distribution.key)) or _listing(row)
        for row in rows
    ]
    listings.sort(key=lambda row: (row.subject or "", row.distribution, row.location))
    return Catalogue(tuple(subjects), tuple(listings), warnings, distributions)


def _reinstall(distribution: Distribution) -> str:
    return f"Run: {sys.executable} -m pip install --force-reinstall {distribution.name}"


def _near(group: str) -> str:
    from difflib import get_close_matches

    near = get_close_matches(group, (SUBJECTS_GROUP, "qiongli.plugins", "qiongli.commands"), n=1)
    return (
        f"did you mean {near[0]}?" if near else "known groups are qiongli.subjects, qiongli.plugins, qiongli.commands"
    )


def _read(distribution: Distribution, entry: EntryPoint, search: Sequence[str]) -> _Found:
    found = _Found(distribution, entry)
    if not entry.value.isidentifier():
        reason = Reason(
            "bad_entry_point",
            f"the entry point's value {entry.value!r} is no top-level package",
            "Name the import package alone",
        )
        return found.lowered("invalid", reason)
    root, problem = _package_folder(entry.value, search)
    if root is None:
        return found.lowered("broken", Reason("package_not_found", problem, _reinstall(distribution)))
    found = attrs.evolve(found, root=root)
    try:
        contract = _contract(root / CONTRACT_FILE)
    except ContractError as error:
        first = error.problems[0] if error.problems else error
        more = f" (and {len(error.problems) - 1} more)" if len(error.problems) > 1 else ""
        reason = Reason("invalid_contract", f"{first}{more}", f"Run: qiongli contract validate {root}")
        return found.lowered("invalid", reason)
    except (OSError, QiongliError) as error:
        return found.lowered(
            "broken", Reason("unreadable_contract", f"{CONTRACT_FILE}: {error}", _reinstall(distribution))
        )
    found = attrs.evolve(found, contract=contract)
    if contract.subject != entry.name:
        reason = Reason("name_differs", f"the entry point says {entry.name!r}, the contract {contract.subject!r}")
        return found.lowered("invalid", reason)
    return _check_version(found, contract)


def _package_folder(package: str, search: Sequence[str]) -> tuple[Path | None, str]:
    """The one folder of a top-level package, without importing it; a namespace or a zip is no folder."""
    from importlib.machinery import PathFinder

    try:
        spec = PathFinder.find_spec(package, list(search))
    except Exception as error:  # a broken path entry hook must not end discovery
        return None, f"the package {package} cannot be searched for: {type(error).__name__}"
    if spec is None:
        return None, f"the package {package} is not there"
    if spec.origin is None or spec.submodule_search_locations is None:
        return None, f"{package} is no regular package (a namespace portion or a module)"
    root = Path(spec.origin).parent
    if not root.is_dir():
        return None, f"{package} is inside a zip file; install it unpacked"
    return root, ""


def _contract(path: Path) -> SubjectContract:
    """The contract, from the cache of parsed contracts when its bytes were seen before."""
    if path.stat().st_size > _MAXIMUM_CONTRACT:
        raise OSError("too large")
    data = path.read_bytes()
    digest = sha256(data).hexdigest()
    from qiongli.contract.stored import contract_from_json, contract_to_json

    name = f"contract-{digest}.json"
    cached = read_cached(name)
    if cached is not None:
        with suppress(ValueError, TypeError, KeyError, QiongliError):
            contract = contract_from_json(cached)
            if contract.digest == digest:
                return contract
    from qiongli.contract.loader import load_contract

    contract = load_contract(path)
    write_cached(name, contract_to_json(contract))
    return contract


def _check_version(found: _Found, contract: SubjectContract) -> _Found:
    from qiongli._version import VERSION

    required = contract.requires_qiongli
    if required == ">=0.1,<0.2" and VERSION.startswith("0.1."):
        # The common case, answered without importing the library for version specifiers.
        return found
    from packaging.specifiers import InvalidSpecifier, SpecifierSet

    try:
        if required and SpecifierSet(required).contains(VERSION, prereleases=True):
            return found
        problem = f"it requires Qiongli {required}" if required else "its contract has no requires_qiongli"
    except InvalidSpecifier:
        problem = f"its requires_qiongli {required!r} is no version specifier"
    return found.lowered(
        "invalid", Reason("excluded_version", f"{problem}; this is {VERSION}", "Install a version that fits")
    )


def _without_duplicates(rows: Sequence[_Found], policy: Policy) -> list[_Found]:
    owners: dict[str, list[_Found]] = {}
    for row in rows:
        if row.contract is not None:
            owners.setdefault(row.contract.subject, []).append(row)
    checked = []
    for row in rows:
        same = owners.get(row.contract.subject, []) if row.contract else []
        pinned = policy.pinned.get(row.contract.subject) if row.contract else None
        if len(same) > 1 and not (
            pinned == row.distribution.key and sum(o.distribution.key == pinned for o in same) == 1
        ):
            names = ", ".join(sorted(f"{other.distribution.name} {other.distribution.version}" for other in same))
            reason = Reason(
                "duplicate_subject",
                f"several distributions provide {row.entry.name!r}: {names}",
                f"Uninstall one, or run: qiongli plugins allow --pin {row.entry.name} DISTRIBUTION",
            )
            row = row.lowered("invalid", reason)
        checked.append(row)
    return checked


def _apply_local_rules(row: _Found, environment: Mapping[str, str], policy: Policy) -> _Found:
    if row.contract is None:
        return row
    slug, name = row.contract.subject, row.distribution.name
    if row.contract.activation_status == "disabled":
        row = row.lowered("inactive", Reason("declared_disabled", "its contract declares it disabled"))
    if row.distribution.key in policy.blocked:
        row = row.lowered(
            "inactive", Reason("blocked", f"{name} is blocked here", f"Run: qiongli plugins allow {name}")
        )
    if slug not in CORE_ORDER and not plugin_filter(environment, attrs.evolve(policy, blocked=frozenset()))(name):
        row = row.lowered("inactive", Reason("not_listed", f"QIONGLI_PLUGINS does not list {name}"))
    if disabled_subjects(environment)(slug):
        row = row.lowered(
            "lens_only", Reason("kill_switch", "QIONGLI_SUBJECTS_DISABLED lowers it to candidate", "Unset it")
        )
    if policy.candidate_only and slug not in CORE_ORDER:
        row = row.lowered(
            "lens_only", Reason("candidate_only", "the local policy lowers all but economics and finance")
        )
    return row


def _admit(rows: Sequence[_Found], policy: Policy, verifier: Verifier | None) -> list[CatalogueSubject]:
    """Readable subjects in the order of admission; each is judged beside those admitted before it."""

    def order(row: _Found) -> tuple[int, str, str]:
        assert row.contract is not None
        slug = row.contract.subject
        rank = CORE_ORDER.index(slug) if slug in CORE_ORDER else len(CORE_ORDER) + (slug not in policy.pinned)
        return rank, row.distribution.key, slug

    admitted: list[CatalogueSubject] = []
    readable = [
        row
        for row in rows
        if row.contract is not None and row.root is not None and row.state not in ("broken", "invalid")
    ]
    for priority, row in enumerate(sorted(readable, key=order)):
        admitted.append(_subject(row, priority, tuple(admitted), verifier))
    return admitted


def _subject(
    row: _Found, priority: int, admitted: tuple[CatalogueSubject, ...], verifier: Verifier | None
) -> CatalogueSubject:
    from qiongli.contract.files import resource_state

    contract, root = row.contract, row.root
    assert contract is not None
    assert root is not None
    resources = resource_state(contract, root)
    proved = False
    status = contract.activation_status
    if status != "runtime_enabled" and status != "disabled":
        hint = f"Run: qiongli gate check {contract.subject}"
        row = row.lowered("lens_only", Reason("below_runtime_enabled", f"its contract declares it {status}", hint))
    elif status == "runtime_enabled":
        name = row.distribution
        if verifier is None:
            holds = grandfathered(contract.subject, name.key)
            verdict = Verdict(
                holds, None if holds else Reason("no_record", "it has no activation record that holds here")
            )
        else:
            verdict = verifier(VerificationRequest(contract, root, name.name, name.version, admitted))
        if verdict.holds is not True:
            reason = verdict.reason or Reason("record_does_not_hold", "its activation record does not hold")
            row = row.lowered("lens_only", reason)
        proved = verdict.holds is True and verdict.single_dimension_proved is True
    for missing in resources.missing:
        if missing.lowers:
            reason = Reason(
                "resource_missing", f"{missing.kind} {missing.path or ''}: {missing.reason}".replace(" :", ":")
            )
            row = row.lowered("lens_only", reason)
    return CatalogueSubject(contract, _listing(row), root, priority, resources.available_lenses, proved)


def _listing(row: _Found) -> SubjectListing:
    contract = row.contract
    return SubjectListing(
        subject=contract.subject if contract else (row.entry.name or None),
        display_name=contract.display_name if contract else row.entry.name,
        distribution=row.distribution.name,
        version=row.distribution.version,
        location=str(row.root or row.distribution.folder),
        activation_status=contract.activation_status if contract else "",
        state=row.state,
        reasons=row.reasons,
    )
