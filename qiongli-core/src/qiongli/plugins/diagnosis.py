"""What `qiongli doctor` finds: facts about the installation and what to do about each problem."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Literal

import attrs

from qiongli.records._units import SCHEMA_VERSION, Record

Health = Literal["ok", "warning", "failure"]


@attrs.frozen
class Finding(Record):
    """One thing that was examined: how it is, and the next step when it is not as it should be."""

    name: str
    health: Health
    message: str
    hint: str = ""


@attrs.frozen
class Diagnosis(Record):
    """What `qiongli doctor --json` prints."""

    findings: tuple[Finding, ...]
    schema_version: str = SCHEMA_VERSION

    @property
    def healthy(self) -> bool:
        """Whether nothing failed; warnings do not count."""
        return all(finding.health != "failure" for finding in self.findings)


def examine() -> Diagnosis:
    """Examine the installation; each part in its own try, so that what is broken does not hide the rest."""
    findings: list[Finding] = []
    for name, part in _PARTS:
        try:
            findings += part()
        except Exception as error:  # doctor must run where everything else is broken
            findings.append(Finding(name, "failure", f"cannot be examined: {type(error).__name__}: {error}"))
    return Diagnosis(tuple(findings))


def _interpreter() -> list[Finding]:
    from qiongli._version import VERSION

    version = ".".join(str(part) for part in sys.version_info[:3])
    return [
        Finding("qiongli", "ok", VERSION),
        Finding("interpreter", "ok", f"{sys.executable} (Python {version}, prefix {sys.prefix})"),
        Finding("pip", "ok", "to install into this interpreter", f"{sys.executable} -m pip install NAME"),
    ]


def _libraries() -> list[Finding]:
    findings = []
    for module, purpose in (("yaml", "contracts and resources"), ("pluggy", "hooks"), ("ruamel.yaml", "project edits")):
        try:
            __import__(module)
        except ImportError:
            hint = f"{sys.executable} -m pip install --force-reinstall qiongli-core"
            findings.append(Finding(module, "failure", f"{module} is missing; it is needed for {purpose}", hint))
    try:
        import yaml

        if not hasattr(yaml, "CSafeLoader"):
            findings.append(
                Finding("yaml", "warning", "PyYAML has no C extension; contracts load slowly", "Reinstall PyYAML")
            )
    except ImportError:
        # Already reported above.
        return findings
    return findings


def _distributions() -> list[Finding]:
    from qiongli.plugins._distributions import installed

    found, warnings = installed()
    findings = []
    for distribution in found:
        groups = sorted({entry.group for entry in distribution.entry_points})
        what = ", ".join(groups) if groups else "no entry points of ours"
        health: Health = "failure" if distribution.problem else "ok"
        where = f"{distribution.name} {distribution.version} in {distribution.folder.parent}"
        message = f"{where}: {distribution.problem or what}"
        findings.append(Finding("distribution", health, message))
    findings += [Finding("distribution", "warning", warning) for warning in warnings]
    return findings


def _policy() -> list[Finding]:
    from qiongli.plugins.policy import load_policy, policy_path

    policy = load_policy()
    if policy.problem:
        return [Finding("policy", "failure", policy.problem, f"Correct or remove {policy_path()}")]
    findings = [
        Finding(
            "policy",
            "ok",
            f"allowed: {', '.join(sorted(policy.allowed)) or 'none'}; "
            f"blocked: {', '.join(sorted(policy.blocked)) or 'none'}",
            "qiongli plugins allow|block DIST",
        )
    ]
    for variable in ("QIONGLI_PLUGINS", "QIONGLI_SUBJECTS_DISABLED"):
        if os.environ.get(variable):
            findings.append(Finding(variable, "warning", f"is set to {os.environ[variable]!r}", f"Unset {variable}"))
    return findings


def _caches() -> list[Finding]:
    from qiongli.cache import cache_folder

    folder = cache_folder()
    count = len(list(folder.glob("*"))) if folder.is_dir() else 0
    parent = folder
    while not parent.exists() and parent != parent.parent:
        parent = parent.parent
    if not os.access(parent, os.W_OK):
        return [
            Finding(
                "cache", "warning", f"{folder} cannot be written; every start compiles anew", "Set QIONGLI_CACHE_DIR"
            )
        ]
    return [Finding("cache", "ok", f"{folder} ({count} files; may be deleted at any time)")]


def _subjects() -> list[Finding]:
    from qiongli.plugins.discovery import discover

    catalogue = discover()
    findings = []
    for row in catalogue.listings:
        reasons = "; ".join(f"{reason.message} [{reason.code}]" for reason in row.reasons)
        hint = next((reason.hint for reason in row.reasons if reason.hint), "")
        health: Health = "failure" if row.state in ("broken", "invalid") else "ok"
        message = f"{row.subject or row.distribution} is {row.state}" + (f": {reasons}" if reasons else "")
        findings.append(Finding("subject", health, message, hint))
    if not findings:
        hint = f"{sys.executable} -m pip install qiongli-subject-economics"
        findings.append(Finding("subject", "warning", "no subject is installed", hint))
    return findings + [Finding("discovery", "warning", warning) for warning in catalogue.warnings]


_PARTS: tuple[tuple[str, Callable[[], list[Finding]]], ...] = (
    ("interpreter", _interpreter),
    ("libraries", _libraries),
    ("distributions", _distributions),
    ("policy", _policy),
    ("cache", _caches),
    ("subjects", _subjects),
)
