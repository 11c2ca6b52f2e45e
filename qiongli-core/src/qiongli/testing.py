"""A pytest plugin for authors of subjects: isolation from what is installed, fake distributions, contract checks.

pytest loads it by itself wherever `qiongli-core` is installed; its fixtures are used by name. Importing it imports
nothing of Qiongli: a test that uses no fixture pays nothing.

- `isolated_qiongli` keeps a test away from everything that is installed, and from the user's own files;
- `fake_distributions` builds distributions in a folder of their own, which alone is then discovered;
- `check_package` says everything that is wrong with a subject's package;
- `imports_nothing_from` fails when anything of a folder is imported inside it.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from qiongli.errors import QiongliError
    from qiongli.plugins import Catalogue
    from qiongli.plugins.policy import Policy
    from qiongli.plugins.states import Verifier

__all__ = [
    "FakeDistributions",
    "check_package",
    "example_contract",
    "example_resources",
    "fake_distributions",
    "imports_nothing_from",
    "isolated_qiongli",
]

#: Environment variables that would let the machine that runs the tests decide their outcome.
_SWITCHES = ("QIONGLI_PLUGINS", "QIONGLI_SUBJECTS_DISABLED")


def check_package(package_root: Path) -> tuple[QiongliError, ...]:
    """Everything that is wrong with a subject's package: contract, resources, examples and near misses.

    `package_root` is the folder of the import package, with `runtime-subject.yaml` in it.
    """
    from qiongli.contract import validate_package
    from qiongli.signals.auditing import audit_contract

    contract, problems = validate_package(package_root)
    return problems if contract is None else (*problems, *audit_contract(contract))


def example_contract(
    slug: str, *, status: str = "candidate", requires: str = ">=0.1,<1", hooks: str = "", extra: str = ""
) -> str:
    """The text of a small valid contract, for tests in which only the package around it matters.

    `extra` is appended: further keys, or whatever a test wants to go wrong.
    """
    lines = [
        'schema_version: "1.0"',
        f"subject: {slug}",
        f"display_name: {slug.replace('-', ' ').title()}",
        f"activation_status: {status}",
        "extends: core",
        *([f'requires_qiongli: "{requires}"'] if requires else []),
        "documentation: README.md",
        "domain_profile: domain-profile.yaml",
        f"overlay: overlays/{slug}.yaml",
        f"subject_skill: skills/{slug}/SKILL.md",
        "evaluation_pack: evaluation/",
        "signal_groups:",
        "  method:",
        f"    - id: {slug}.method.example",
        "      value: example",
        "      weight: 0.10",
        "      activation: method_only",
        f"      patterns: [{slug} trial design]",
        f'      examples: ["We ran a {slug} trial design."]',
        '      near_misses: ["A trial of two lawyers."]',
        "method_lenses:",
        "  example: {pack: method-packs/example.yaml}",
        f"hooks: {hooks or 'null'}",
    ]
    return "\n".join(lines) + "\n" + extra


def example_resources(slug: str, *, status: str = "candidate") -> dict[str, str]:
    """Path and text of every file that `example_contract` names; all of them are valid."""
    name = slug.replace("-", " ").title()
    sources = 'sources: [{author: "A, B.", year: 2001, title: "T", venue: "V"}]\n'
    kind = 'schema_version: "1.0"\n'
    return {
        "README.md": f"# {name}\n\nActivation status: `{status}`\n",
        "domain-profile.yaml": f"kind: domain_profile\n{kind}subject: {slug}\ndisplay_name: {name}\nscope: Examples.\n"
        "subfields: [One]\ndata_sources: [{name: Archive, note: Small.}]\noutcomes: [Yield]\nclassifications: []\n"
        + sources,
        f"overlays/{slug}.yaml": f"kind: overlay\n{kind}subject: {slug}\ntitle: {name}\n"
        "standards: [{id: one, title: One, guidance: Do it., sources: []}]\n"
        'review_questions: ["Was it done?"]\n' + sources,
        f"skills/{slug}/SKILL.md": f"---\nname: {slug}\ndescription: Plan work on {slug}.\n---\n\n# {name}\n\nLook.\n",
        "method-packs/example.yaml": f"kind: method_pack\n{kind}slug: example\ntitle: Example\nsubject: {slug}\n"
        "purpose: Showing.\nwhen_to_use: [Tests]\nassumptions: [None]\nsteps: [Run]\ndiagnostics: [Look]\n"
        "pitfalls: [Haste]\nreporting: [Dates]\n" + sources,
        "evaluation/one.json": "{}\n",
    }


@contextmanager
def imports_nothing_from(folder: Path) -> Iterator[None]:
    """Fail the test when a module whose file lies in `folder` is imported inside the context."""
    before = set(sys.modules)
    yield
    imported = _from_folder(folder, set(sys.modules) - before)
    assert not imported, f"imported from {folder}: {', '.join(imported)}"


def _from_folder(folder: Path, modules: set[str]) -> list[str]:
    found = []
    for name in sorted(modules):
        origin = getattr(sys.modules.get(name), "__file__", None)
        if origin and Path(origin).is_relative_to(folder):
            found.append(name)
    return found


class FakeDistributions:
    """Builds distributions in a folder of their own; `discover()` looks there and nowhere else."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def add(
        self,
        name: str,
        version: str = "1.0",
        *,
        entry_points: str | bytes = "",
        metadata: str | None = None,
        suffix: str = ".dist-info",
        folder_name: str = "",
    ) -> Path:
        """Write the metadata folder of a distribution and return it.

        `metadata` None writes a minimal METADATA, an empty text an empty one. `folder_name` is the folder's whole
        name, when it shall not be made of `name`, `version` and `suffix`.
        """
        folder = self.folder / (folder_name or f"{name.replace('-', '_')}-{version}{suffix}")
        folder.mkdir(parents=True)
        text = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n" if metadata is None else metadata
        file = "METADATA" if folder.suffix == ".dist-info" else "PKG-INFO"
        (folder / file).write_text(text, encoding="utf-8")
        if entry_points:
            data = entry_points.encode() if isinstance(entry_points, str) else entry_points
            (folder / "entry_points.txt").write_bytes(data)
        return folder

    def add_package(self, package: str, files: Mapping[str, str]) -> Path:
        """Write an import package with the given files (path to text) and return its folder."""
        root = self.folder / package
        for path, text in {"__init__.py": "", **files}.items():
            target = root / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8")
        return root

    def add_subject(
        self,
        slug: str,
        contract: str | None = None,
        *,
        distribution: str = "",
        version: str = "1.0",
        code: str = "",
        package: str = "",
        status: str = "candidate",
        files: Mapping[str, str] | None = None,
    ) -> Path:
        """Write a subject's package and its distribution; return the package's folder.

        Without `contract`, the package is complete and valid and declares `status`. `code` is the text of its
        `__init__.py`; `files` are further files, or replace some.
        """
        package = package or f"fake_subject_{slug.replace('-', '_')}"
        complete = {} if contract is not None else example_resources(slug, status=status)
        text = example_contract(slug, status=status) if contract is None else contract
        every = {"__init__.py": code, "runtime-subject.yaml": text, **complete, **(files or {})}
        root = self.add_package(package, every)
        name = distribution or f"fake-subject-{slug}"
        self.add(name, version, entry_points=f"[qiongli.subjects]\n{slug} = {package}\n")
        return root

    def admit(self, *slugs: str) -> None:
        """Let subjects act that declare themselves enabled: write records that fit their files as they are now.

        The verdict that the records hold is kept in the cache, as if the gate had measured them; any change of a
        file, of a record or of an admitted peer makes it void.
        """
        from qiongli.gate.record import POLICY_VERSION, Verdict, content_digest, write_record
        from qiongli.plugins import discover
        from qiongli.records.gate import ActivationRecord

        for subject in discover(environment={}, paths=[str(self.folder)]).subjects:
            slug, listing = subject.contract.subject, subject.listing
            if slug in slugs:
                digest = content_digest(subject.root)
                record = ActivationRecord(
                    slug, listing.distribution, listing.version, digest, "", POLICY_VERSION, {}, {}, {}, {}, ()
                )
                write_record(subject.root, record)
        discover(environment={}, paths=[str(self.folder)], verifier=lambda _: Verdict(True))

    def discover(
        self,
        *,
        environment: Mapping[str, str] | None = None,
        policy: Policy | None = None,
        verifier: Verifier | None = None,
    ) -> Catalogue:
        """Discover what is in the folder, and check that nothing of it was imported.

        Without `policy`, that of the isolated configuration folder holds, which is empty unless the test wrote one.
        """
        from qiongli.plugins import discover

        # What was written a moment ago must be found by the import that a test may do next.
        importlib.invalidate_caches()
        with imports_nothing_from(self.folder):
            return discover(environment=environment or {}, policy=policy, verifier=verifier, paths=[str(self.folder)])

    def imported(self) -> list[str]:
        """The modules that were imported from the folder so far."""
        return _from_folder(self.folder, set(sys.modules))


@pytest.fixture
def isolated_qiongli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Keep a test away from what is installed and from the user's cache and configuration.

    Discovery finds nothing in it, unless folders are named or `fake_distributions` is used. Returns the folder that
    stands in for the user's.
    """
    from qiongli.plugins._distributions import searching

    folder = tmp_path / "qiongli-user"
    for variable in _SWITCHES:
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("QIONGLI_CACHE_DIR", str(folder / "cache"))
    monkeypatch.setenv("QIONGLI_CONFIG_DIR", str(folder / "config"))
    with searching([]):
        yield folder


@pytest.fixture
def fake_distributions(
    tmp_path: Path,
    isolated_qiongli: Path,  # noqa: ARG001  # for its effect
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[FakeDistributions]:
    """An empty folder for fake distributions; it alone is discovered, and what is in it can be imported."""
    from qiongli.plugins._distributions import searching

    fake = FakeDistributions(tmp_path / "site")
    fake.folder.mkdir()
    monkeypatch.syspath_prepend(str(fake.folder))
    # A package of the same name that another test imported would be taken for this one's.
    for name in [name for name in sys.modules if name.partition(".")[0].startswith("fake_subject_")]:
        del sys.modules[name]
    before = set(sys.modules)
    with searching([str(fake.folder)]):
        yield fake
    for name in _from_folder(fake.folder, set(sys.modules) - before):
        del sys.modules[name]
