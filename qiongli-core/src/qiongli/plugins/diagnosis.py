"""What `qiongli doctor` finds: facts about the installation and what to do about each problem.

Every part is examined in its own `try` and imports what it needs itself, so that whatever is broken or missing is
reported and hides nothing else. No plugin and no subject is imported.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Final, Literal

import attrs

from qiongli.records._units import SCHEMA_VERSION, Record
from qiongli.records.subjects import SubjectListing

Health = Literal["ok", "warning", "failure"]

#: Import name to what core needs it for; without one of these core is broken.
_LIBRARIES: Final = {
    "attrs": "every structure",
    "typer": "the command line",
    "yaml": "contracts and resources",
    "cattrs": "contracts",
    "packaging": "version requirements of subjects",
    "pluggy": "hooks",
    "re2": "contracts with regular expressions",
    "ruamel.yaml": "changing contracts with their comments kept",
    "filelock": "writing a project's state",
    "platformdirs": "finding the user's folders",
    "importlib_metadata": "installations in archives",
    "jinja2": "templates",
}

#: Environment variables that change what takes part or where files are.
_VARIABLES: Final = ("QIONGLI_PLUGINS", "QIONGLI_SUBJECTS_DISABLED", "QIONGLI_CONFIG_DIR", "QIONGLI_CACHE_DIR")


@attrs.frozen
class Finding(Record):
    """One thing that was examined: how it is, and the next step when it is not as it should be."""

    #: What was examined, such as `core`, `library` or `distribution`.
    name: str
    #: How it is; only a `failure` makes the command exit with 4.
    health: Health
    #: What was found.
    message: str
    #: The next step; empty when nothing has to be done.
    hint: str = ""


@attrs.frozen
class Interpreter(Record):
    """The interpreter that runs this, and the line that installs into it and no other."""

    #: Path of the interpreter that runs this.
    executable: str
    #: Its version.
    version: str
    #: The environment that it belongs to.
    prefix: str
    #: The command line that installs into that environment and no other.
    pip: str


@attrs.frozen
class Diagnosis(Record):
    """What `qiongli doctor --json` prints; a `failure` is a fault of core's own installation."""

    #: Version of core.
    core_version: str
    #: The interpreter that runs this.
    interpreter: Interpreter
    #: Everything that was examined, in a fixed order.
    findings: tuple[Finding, ...]
    #: The installed subjects with their states.
    subjects: tuple[SubjectListing, ...] = ()
    #: Version of this structure, `major.minor`; fields may be added within a major version.
    schema_version: str = SCHEMA_VERSION

    @property
    def healthy(self) -> bool:
        """Whether core itself can work; a broken plugin is a warning, because everything else does."""
        return all(finding.health != "failure" for finding in self.findings)

    @property
    def spotless(self) -> bool:
        """Whether there is nothing to mend at all."""
        return all(finding.health == "ok" for finding in self.findings)


def examine() -> Diagnosis:
    """Examine the installation, part by part."""
    from qiongli._version import VERSION

    findings: list[Finding] = []
    subjects: list[SubjectListing] = []
    for name, part in _PARTS:
        try:
            findings += part()
        except Exception as error:  # doctor must run where everything else is broken
            findings.append(Finding(name, "failure", f"cannot be examined: {type(error).__name__}: {error}"))
    try:
        found, listed = _subjects()
        findings += found
        subjects += listed
    except Exception as error:  # the same
        findings.append(Finding("subjects", "failure", f"cannot be examined: {type(error).__name__}: {error}"))
    version = ".".join(str(part) for part in sys.version_info[:3])
    interpreter = Interpreter(sys.executable, version, sys.prefix, f"{sys.executable} -m pip install NAME")
    return Diagnosis(VERSION, interpreter, tuple(findings), tuple(subjects))


def _mend(name: str = "qiongli-core") -> str:
    return f"Run: {sys.executable} -m pip install --force-reinstall {name}"


def _installation() -> list[Finding]:
    from qiongli import _version

    findings = [Finding("core", "ok", f"qiongli is imported from {os.path.dirname(str(_version.__file__))}")]  # noqa: PTH120
    copies = _copies_of_core()
    if len(copies) > 1:
        message = f"{copies[0]} hides {', '.join(copies[1:])}"
        findings.append(Finding("core", "warning", message, "Uninstall the copies that are not wanted"))
    return findings


def _copies_of_core() -> list[str]:
    found = []
    for path in dict.fromkeys(os.path.realpath(entry or os.curdir) for entry in sys.path):
        folder = os.path.join(path, "qiongli")  # noqa: PTH118  # doctor needs nothing beyond os for this
        if os.path.isfile(os.path.join(folder, "__init__.py")):  # noqa: PTH113, PTH118  # the same
            found.append(folder)
    return found


def _libraries() -> list[Finding]:
    from importlib import import_module

    findings = []
    for module, purpose in _LIBRARIES.items():
        try:
            import_module(module)
        except Exception as error:  # a half-installed library may raise anything
            what = "is missing" if isinstance(error, ImportError) else f"cannot be imported ({type(error).__name__})"
            findings.append(Finding("library", "failure", f"{module} {what}; it is needed for {purpose}", _mend()))
    if not findings:
        findings.append(Finding("library", "ok", f"all {len(_LIBRARIES)} libraries of core can be imported"))
    yaml = sys.modules.get("yaml")
    if yaml is not None and not hasattr(yaml, "CSafeLoader"):
        message = "PyYAML has no C extension; contracts are read correctly, and about ten times slower"
        findings.append(Finding("library", "warning", message, _mend("PyYAML")))
    return findings


def _distributions() -> list[Finding]:
    from qiongli.plugins._distributions import scan

    found = scan(neighbours=True)
    findings = []
    for distribution in found.distributions:
        provides = ", ".join(f"{entry.group}:{entry.name}" for entry in distribution.entry_points) or "nothing known"
        where = f"{distribution.name} {distribution.version} in {distribution.folder}"
        if distribution.problem is None:
            findings.append(Finding("distribution", "ok", f"{where} provides {provides}"))
        else:
            message = f"{where}: {distribution.problem.message}"
            findings.append(Finding("distribution", "warning", message, _mend(distribution.name)))
    for loser, winner in found.hidden:
        hint = f"Remove {loser}, or reinstall the distribution"
        findings.append(Finding("shadowed", "warning", f"{loser} is ignored: {winner} is the same distribution", hint))
    for folder in found.leftovers:
        message = f"{folder} was left behind by an interrupted pip and is ignored"
        findings.append(Finding("leftover", "warning", message, f"Remove {folder}"))
    for folder, message in found.neighbours:
        findings.append(Finding("neighbour", "warning", f"{folder}: {message}", "Reinstall or uninstall it"))
    return findings


def _plugins() -> list[Finding]:
    from qiongli.plugins._distributions import SUBJECTS_GROUP, scan
    from qiongli.plugins.listing import list_plugins

    distributions = scan().distributions
    findings = []
    for row in list_plugins(distributions):
        name = row.distribution
        if row.reasons:
            message = f"nothing of {name} runs: {row.reasons[0].message}"
            findings.append(Finding("plugin", "warning", message, row.reasons[0].hint))
        elif row.permission == "runs":
            kinds = ", ".join(sorted({item.kind for item in row.provides if item.kind != "subject"}))
            hint = f"To keep it out: qiongli plugins block {name}"
            findings.append(Finding("plugin", "ok", f"{name} may run its code ({kinds})", hint))
    commands: dict[str, list[str]] = {}
    for distribution in distributions:
        for entry in distribution.entry_points:
            if entry.group not in (SUBJECTS_GROUP, "qiongli.plugins"):
                commands.setdefault(entry.name, []).append(distribution.name)
    for command, owners in sorted(commands.items()):
        if len(owners) > 1:
            hint = f"Run: qiongli plugins block {owners[-1]}"
            message = f"the command {command!r} is provided by {' and by '.join(owners)}, so it belongs to neither"
            findings.append(Finding("command", "warning", message, hint))
    return findings


def _policy() -> list[Finding]:
    from qiongli.plugins.policy import load_policy, policy_path

    policy, path = load_policy(), policy_path()
    findings = []
    if policy.problem:
        hint = f"Correct {path}, or move it away to start with an empty policy"
        findings.append(Finding("policy", "warning", f"{policy.problem}; no subject acts and no plugin runs", hint))
    else:
        state = "does not exist, which allows and blocks nobody" if not path.exists() else "is in force"
        names = {"allowed": policy.allowed, "blocked": policy.blocked}
        lists = "; ".join(f"{label}: {', '.join(sorted(found)) or 'nobody'}" for label, found in names.items())
        pins = ", ".join(f"{slug} = {owner}" for slug, owner in sorted(policy.pinned.items())) or "nothing"
        hint = "To change it: qiongli plugins allow|block|forget NAME"
        findings.append(Finding("policy", "ok", f"{path} {state} ({lists}; pinned: {pins})", hint))
    if policy.candidate_only:
        message = "candidate-only is on: all subjects but economics and finance are candidates"
        findings.append(Finding("policy", "warning", message, "Run: qiongli plugins candidate-only off"))
    return findings


def _environment() -> list[Finding]:
    findings = []
    for variable in _VARIABLES:
        value = os.environ.get(variable)
        if value is not None:
            switch = variable in ("QIONGLI_PLUGINS", "QIONGLI_SUBJECTS_DISABLED")
            hint = f"Unset {variable} to undo it" if switch else ""
            findings.append(Finding("environment", "warning" if switch else "ok", f"{variable} is {value!r}", hint))
    return findings


def _caches() -> list[Finding]:
    from qiongli.folders import cache_folder

    folder = cache_folder()
    files = [path for path in folder.glob("*") if path.is_file()] if folder.is_dir() else []
    parent = folder
    while not parent.exists() and parent != parent.parent:
        parent = parent.parent
    if not os.access(parent, os.W_OK) or not parent.is_dir():
        message = f"{folder} cannot be written; every start reads all contracts anew"
        return [Finding("cache", "warning", message, "Set QIONGLI_CACHE_DIR to a folder that can be written")]
    size = sum(path.stat().st_size for path in files)
    return [Finding("cache", "ok", f"{folder} holds {len(files)} files, {size} bytes; it may be deleted at any time")]


def _subjects() -> tuple[list[Finding], tuple[SubjectListing, ...]]:
    from qiongli.plugins.discovery import discover

    catalogue = discover()
    findings = []
    for row in catalogue.listings:
        reasons = "; ".join(f"{reason.message} [{reason.code}]" for reason in row.reasons)
        health: Health = "warning" if row.state in ("broken", "invalid") else "ok"
        message = f"{row.subject or '?'} of {row.distribution} {row.version} is {row.state}"
        hint = next((reason.hint for reason in row.reasons if reason.hint), "")
        if row.state == "active":
            hint = f"To switch it off: qiongli plugins block {row.distribution}"
        findings.append(Finding("subject", health, f"{message}: {reasons}" if reasons else message, hint))
    if not findings:
        hint = f"Run: {sys.executable} -m pip install qiongli-subject-economics qiongli-subject-finance"
        findings.append(Finding("subject", "warning", "no subject is installed", hint))
    findings += [Finding("discovery", "warning", warning) for warning in catalogue.warnings]
    return findings, catalogue.listings


_PARTS: tuple[tuple[str, Callable[[], list[Finding]]], ...] = (
    ("installation", _installation),
    ("libraries", _libraries),
    ("distributions", _distributions),
    ("plugins", _plugins),
    ("policy", _policy),
    ("environment", _environment),
    ("cache", _caches),
)
