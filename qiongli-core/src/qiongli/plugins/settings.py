"""Changing the local policy by the names that people see: distributions in any spelling, slugs, entry points."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import attrs

from qiongli.errors import EnvironmentBrokenError, InputError, StateCorruptError
from qiongli.plugins._distributions import Distribution, canonical, scan
from qiongli.plugins.policy import Policy, load_policy, policy_path, save_policy
from qiongli.records._units import SCHEMA_VERSION, Record

_LOCK_SECONDS = 30


@attrs.frozen
class PolicyPacket(Record):
    """The local policy as it stands, and what was changed; `path` is its file."""

    #: The policy's file on this machine; it need not exist.
    path: str
    #: Whether the command changed it.
    changed: bool
    #: Distributions whose subjects may run code of their own, sorted.
    allowed: tuple[str, ...]
    #: Distributions of which nothing takes part, sorted.
    blocked: tuple[str, ...]
    #: By slug, the distribution that owns it here when several provide it.
    pinned: dict[str, str]
    #: Whether all subjects but economics and finance are lowered to candidates.
    candidate_only: bool
    #: The distribution that the command was about; null when it was about none.
    distribution: str | None = None
    #: Agents that may be started here when a command asks for one.
    agents: tuple[str, ...] = ()
    #: Version of this structure, `major.minor`; fields may be added within a major version.
    schema_version: str = SCHEMA_VERSION


def find_distribution(name: str, *, known: Sequence[str] = ()) -> str:
    """The canonical name of the installed distribution that a distribution name, slug or entry point stands for.

    `known` are further canonical names that are accepted, such as those in the policy. Raises `InputError`:
    `unknown_distribution` with near names, `ambiguous_name` when several distributions provide that name.
    """
    wanted = canonical(name)
    distributions = scan().distributions
    if wanted in {item.key for item in distributions}:
        return wanted
    owners = [item for item in distributions if wanted in _entry_names(item)]
    if len(owners) == 1:
        return owners[0].key
    if owners:
        keys = tuple(item.key for item in owners)
        raise InputError(
            f"{name!r} is provided by several distributions",
            code="ambiguous_name",
            expected="the name of one distribution",
            available=keys,
        )
    if wanted in known:
        return wanted
    from difflib import get_close_matches

    names = {item.key: item.key for item in distributions}
    names |= {entry: item.key for item in distributions for entry in _entry_names(item)}
    near = get_close_matches(wanted, sorted(names), n=1)
    raise InputError(
        f"no distribution {name!r} takes part in Qiongli",
        code="unknown_distribution",
        available=tuple(sorted({item.key for item in distributions} | set(known))),
        hint=f"Did you mean {near[0]}?" if near else "Run: qiongli plugins list",
    )


def _entry_names(distribution: Distribution) -> set[str]:
    return {canonical(entry.name) for entry in distribution.entry_points}


def allow(name: str, *, pin: str | None = None) -> PolicyPacket:
    """Allow a distribution: its subjects' hooks may run once active. `pin` makes it the owner of a slug here."""
    key = find_distribution(name, known=sorted(load_policy().blocked))
    if pin is not None:
        _check_provides(key, pin)

    def change(policy: Policy) -> Policy:
        pinned = {**policy.pinned, pin: key} if pin else policy.pinned
        return attrs.evolve(policy, allowed=policy.allowed | {key}, blocked=policy.blocked - {key}, pinned=pinned)

    return _changed(change, key)


def _check_provides(key: str, slug: str) -> None:
    from qiongli.plugins._distributions import SUBJECTS_GROUP

    owner = next((item for item in scan().distributions if item.key == key), None)
    slugs = tuple(sorted(entry.name for entry in owner.in_group(SUBJECTS_GROUP))) if owner else ()
    if slug not in slugs:
        raise InputError(f"{key} provides no subject {slug!r}", code="unknown_subject", available=slugs)


def block(name: str) -> PolicyPacket:
    """Block a distribution: its subjects are inactive and none of its code runs."""
    key = find_distribution(name, known=sorted(load_policy().allowed))

    def change(policy: Policy) -> Policy:
        return attrs.evolve(policy, allowed=policy.allowed - {key}, blocked=policy.blocked | {key})

    return _changed(change, key)


def forget(name: str) -> PolicyPacket:
    """Take back whatever the policy says of a distribution, its pins included."""
    policy = load_policy()
    known = sorted(policy.allowed | policy.blocked | set(policy.pinned.values()))
    key = find_distribution(name, known=known)

    def change(policy: Policy) -> Policy:
        pinned = {slug: owner for slug, owner in policy.pinned.items() if owner != key}
        return attrs.evolve(policy, allowed=policy.allowed - {key}, blocked=policy.blocked - {key}, pinned=pinned)

    return _changed(change, key)


def set_candidate_only(on: bool) -> PolicyPacket:
    """Lower all subjects but core's own to candidates here, or stop doing so."""
    return _changed(lambda policy: attrs.evolve(policy, candidate_only=on))


def set_agent(name: str, permitted: bool) -> PolicyPacket:
    """Permit that an agent is started here when a command asks for it, or take that back."""

    def change(policy: Policy) -> Policy:
        return attrs.evolve(policy, agents=policy.agents | {name} if permitted else policy.agents - {name})

    return _changed(change)


def _changed(change: Callable[[Policy], Policy], key: str | None = None) -> PolicyPacket:
    """Read, change and write the policy under a lock; a malformed file is never overwritten."""
    from filelock import FileLock, Timeout

    path = policy_path()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(path.with_name(f"{path.name}.lock"), timeout=_LOCK_SECONDS):
            before = load_policy(path)
            if before.problem:
                raise _malformed(path, before.problem)
            after = change(before)
            if after != before:
                save_policy(after, path)
    except Timeout:
        raise EnvironmentBrokenError(
            f"another process has held the policy for {_LOCK_SECONDS} s", code="policy_locked", place=str(path)
        ) from None
    return PolicyPacket(
        path=str(path),
        changed=after != before,
        allowed=tuple(sorted(after.allowed)),
        blocked=tuple(sorted(after.blocked)),
        pinned=dict(sorted(after.pinned.items())),
        candidate_only=after.candidate_only,
        distribution=key,
        agents=tuple(sorted(after.agents)),
    )


def _malformed(path: Path, problem: str) -> StateCorruptError:
    return StateCorruptError(
        f"the local policy cannot be changed: {problem}",
        code="policy_malformed",
        place=str(path),
        hint="Correct the file, or move it away to start with an empty policy",
    )
