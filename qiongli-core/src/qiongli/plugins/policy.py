"""The local policy: which distributions are allowed, blocked or pinned on this machine, and the switches around it."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, Literal

import attrs

from qiongli._value import Value
from qiongli.folders import config_folder
from qiongli.plugins._distributions import canonical
from qiongli.records._units import SCHEMA_VERSION

Setting = Literal["allowed", "blocked", "none"]

POLICY_FILE: Final = "plugins.json"
#: Environment variable with the only distributions whose plugins take part; `none` for no one's.
PLUGINS_VARIABLE: Final = "QIONGLI_PLUGINS"
#: Environment variable that lowers subjects to candidates: `1` for all but core's own, or a list of slugs.
DISABLED_VARIABLE: Final = "QIONGLI_SUBJECTS_DISABLED"

_KEYS: Final = ("schema_version", "allowed", "blocked", "pinned", "candidate_only", "agents")
_MAXIMUM_BYTES: Final = 1_048_576
_YES: Final = ("1", "true", "yes", "on", "all")
_NO: Final = ("", "0", "false", "no", "off")


@attrs.frozen(repr=False)
class Policy(Value):
    """Names are canonical; `pinned` maps a slug to the distribution that owns it here.

    `allowed` lets the hooks of a subject run; `blocked` keeps a distribution from taking part; `candidate_only` lowers
    all subjects but core's own; `agents` are those that may be started when a command asks for one. `problem` is set
    when the file is malformed: then nobody takes part, because what it blocked cannot be known.
    """

    allowed: frozenset[str] = frozenset()
    blocked: frozenset[str] = frozenset()
    pinned: Mapping[str, str] = attrs.field(factory=dict)
    candidate_only: bool = False
    agents: frozenset[str] = frozenset()
    problem: str = ""

    def setting(self, name: str) -> Setting:
        """What the policy says of a distribution."""
        key = canonical(name)
        return "blocked" if key in self.blocked else "allowed" if key in self.allowed else "none"


@attrs.frozen(repr=False)  # making a repr costs every start more than printing it is worth
class Switches:
    """What the environment says, whatever the policy: None for `listed` means that everybody may take part."""

    listed: frozenset[str] | None = None
    #: Slugs that are lowered by name.
    disabled: frozenset[str] = frozenset()
    all_disabled: bool = False

    def lists(self, *names: str) -> bool:
        """Whether one of a distribution's names may take part."""
        return self.listed is None or any(canonical(name) in self.listed for name in names)


def read_switches(environment: Mapping[str, str]) -> Switches:
    """The switches in an environment."""
    plugins = environment.get(PLUGINS_VARIABLE)
    listed = None
    if plugins is not None:
        listed = frozenset(canonical(name) for name in _words(plugins)) - {"none"}
    disabled = environment.get(DISABLED_VARIABLE, "").strip()
    if disabled.casefold() in _NO:
        return Switches(listed)
    if disabled.casefold() in _YES:
        return Switches(listed, all_disabled=True)
    return Switches(listed, frozenset(_words(disabled)))


def _words(text: str) -> list[str]:
    return text.replace(",", " ").replace(";", " ").split()


def policy_path() -> Path:
    """The policy file: in `QIONGLI_CONFIG_DIR`, else in the user's configuration folder."""
    return config_folder() / POLICY_FILE


def load_policy(path: Path | None = None) -> Policy:
    """The local policy; a missing file is an empty one, and in a malformed one `problem` says what is wrong."""
    path = path or policy_path()
    try:
        with path.open("rb") as stream:
            data = stream.read(_MAXIMUM_BYTES + 1)
    except FileNotFoundError:
        return Policy()
    except OSError as error:
        return Policy(problem=f"{path} cannot be read ({error.strerror or type(error).__name__})")
    try:
        if len(data) > _MAXIMUM_BYTES:
            raise ValueError(f"it has more than {_MAXIMUM_BYTES} bytes")
        return _structure(json.loads(data.decode("utf-8-sig"), object_pairs_hook=_without_duplicates))
    except (TypeError, ValueError, RecursionError) as error:
        return Policy(problem=f"{path} is malformed: {error}")


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key stands twice")
    return found


def _structure(raw: Any) -> Policy:
    if not isinstance(raw, dict):
        raise TypeError("it is no JSON object")
    for key in raw:
        if key not in _KEYS:
            raise ValueError(f"the key {key!r} is unknown; known are {', '.join(_KEYS)}")
    if raw.get("schema_version", SCHEMA_VERSION) != SCHEMA_VERSION:
        raise ValueError(f"its schema version {raw['schema_version']!r} is not known here")
    pinned = raw.get("pinned", {})
    if not isinstance(pinned, dict) or not all(isinstance(name, str) for name in pinned.values()):
        raise TypeError("'pinned' does not map subjects to distributions")
    if not isinstance(raw.get("candidate_only", False), bool):
        raise TypeError("'candidate_only' is neither true nor false")
    return Policy(
        allowed=_names(raw, "allowed"),
        blocked=_names(raw, "blocked"),
        pinned={slug: canonical(pinned[slug]) for slug in sorted(pinned)},
        candidate_only=raw.get("candidate_only", False),
        agents=_names(raw, "agents"),
    )


def _names(raw: dict[str, Any], key: str) -> frozenset[str]:
    value = raw.get(key, [])
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise TypeError(f"{key!r} is no list of names")
    return frozenset(canonical(name) for name in value)


def save_policy(policy: Policy, path: Path | None = None) -> Path:
    """Write the policy, whole or not at all, and return its path; raises `OSError` when it cannot be written."""
    path = path or policy_path()
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    document = {
        "schema_version": SCHEMA_VERSION,
        "allowed": sorted(policy.allowed),
        "blocked": sorted(policy.blocked),
        "candidate_only": policy.candidate_only,
        "agents": sorted(policy.agents),
        "pinned": dict(sorted(policy.pinned.items())),
    }
    try:
        with temporary.open("w", encoding="utf-8", newline="\n") as stream:
            stream.write(json.dumps(document, indent=2) + "\n")
            stream.flush()
            os.fsync(stream.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
    return path
