"""The local policy: which distributions are allowed, blocked or pinned on this machine, and the kill switches."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final, Literal

import attrs

from qiongli.plugins._distributions import canonical
from qiongli.records._units import SCHEMA_VERSION, Record

Setting = Literal["allowed", "blocked", "none"]

POLICY_FILE: Final = "plugins.json"


@attrs.frozen
class Policy:
    """Names are canonical; `pinned` maps a slug to the distribution that owns it here.

    `problem` is set when the file is malformed: then nothing third-party is allowed.
    """

    allowed: frozenset[str] = frozenset()
    blocked: frozenset[str] = frozenset()
    pinned: Mapping[str, str] = attrs.field(factory=dict)
    candidate_only: bool = False
    problem: str = ""

    def setting(self, name: str) -> Setting:
        """What the policy says of a distribution."""
        key = canonical(name)
        return "blocked" if key in self.blocked else "allowed" if key in self.allowed else "none"


@attrs.frozen
class PluginListing(Record):
    """One row of `qiongli plugins list`; `may_run` is whether its own code could run here at all."""

    distribution: str
    version: str
    location: str
    entry_points: tuple[str, ...]
    setting: Setting
    may_run: bool
    problem: str = ""


@attrs.frozen
class PluginList(Record):
    """What `qiongli plugins list --json` prints."""

    plugins: tuple[PluginListing, ...]
    schema_version: str = SCHEMA_VERSION


def policy_path() -> Path:
    """The policy file: in `QIONGLI_CONFIG_DIR`, else in the user's configuration folder."""
    configured = os.environ.get("QIONGLI_CONFIG_DIR")
    if configured:
        return Path(configured) / POLICY_FILE
    from platformdirs import user_config_path

    return user_config_path("qiongli", appauthor=False) / POLICY_FILE


def load_policy(path: Path | None = None) -> Policy:
    """The local policy; a malformed file allows nothing and lowers all subjects but economics and finance."""
    path = path or policy_path()
    try:
        raw = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return Policy()
    except (OSError, ValueError, RecursionError) as error:
        return Policy(candidate_only=True, problem=f"{path} cannot be read ({type(error).__name__})")
    try:
        return _structure(raw)
    except (TypeError, ValueError, AttributeError):
        return Policy(candidate_only=True, problem=f"{path} is malformed")


def _structure(raw: Any) -> Policy:
    if not isinstance(raw, dict) or not isinstance(raw.get("candidate_only", False), bool):
        raise TypeError
    pinned = raw.get("pinned", {})
    return Policy(
        allowed=frozenset(canonical(name) for name in _names(raw.get("allowed", []))),
        blocked=frozenset(canonical(name) for name in _names(raw.get("blocked", []))),
        pinned={str(slug): canonical(str(pinned[slug])) for slug in sorted(pinned)},
        candidate_only=raw.get("candidate_only", False),
    )


def _names(value: Any) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise TypeError
    return value


def save_policy(policy: Policy, path: Path | None = None) -> Path:
    """Write the policy atomically and return its path."""
    path = path or policy_path()
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    document = {
        "allowed": sorted(policy.allowed),
        "blocked": sorted(policy.blocked),
        "candidate_only": policy.candidate_only,
        "pinned": dict(sorted(policy.pinned.items())),
    }
    temporary.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
    temporary.replace(path)
    return path


def plugin_filter(environment: Mapping[str, str], policy: Policy) -> Callable[[str], bool]:
    """Which distributions' code may run: those in `QIONGLI_PLUGINS`, if it is set, and not blocked here."""
    listed = environment.get("QIONGLI_PLUGINS")
    names = None
    if listed is not None:
        names = {canonical(name) for name in listed.replace(",", " ").split()} - {"none"}
    # The server is part of Qiongli, but its code is third-party to core: --no-plugins switches it off as well.
    return lambda name: canonical(name) not in policy.blocked and (names is None or canonical(name) in names)


def disabled_subjects(environment: Mapping[str, str]) -> Callable[[str], bool]:
    """The kill switch `QIONGLI_SUBJECTS_DISABLED`: `1` for all but economics and finance, else a list of slugs."""
    value = environment.get("QIONGLI_SUBJECTS_DISABLED", "").strip()
    if value.casefold() in ("", "0", "false", "no"):
        return lambda _slug: False
    if value.casefold() in ("1", "true", "yes", "all"):
        return lambda slug: slug not in ("economics", "finance")
    slugs = set(value.replace(",", " ").split())
    return lambda slug: slug in slugs
