"""A pytest plugin for authors of subjects: isolation from what is installed, fake distributions, contract checks.

pytest loads it by itself wherever `qiongli-core` is installed; its fixtures are used by name. Importing it imports
nothing of Qiongli: a test that uses no fixture pays nothing.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from qiongli.errors import QiongliError
    from qiongli.plugins import Catalogue

__all__ = ["FakeDistributions", "check_package", "fake_distributions", "isolated_qiongli"]


def check_package(package_root: Path) -> tuple[QiongliError, ...]:
    """Everything that is wrong with a subject's package: contract, resources, examples and near misses.

    `package_root` is the folder of the import package, with `runtime-subject.yaml` in it.
    """
    from qiongli.contract import validate_package
    from qiongli.signals.auditing import audit_contract

    contract, problems = validate_package(package_root)
    return problems if contract is None else (*problems, *audit_contract(contract))


class FakeDistributions:
    """Builds distributions in a folder of their own; `discover()` looks there and nowhere else."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def add(
        self,
        name: str,
        version: str = "1.0",
        *,
        entry_points: str = "",
        metadata: str | None = None,
        suffix: str = ".dist-info",
    ) -> Path:
        """Write the metadata folder of a distribution and return it; `metadata` None writes a minimal METADATA."""
        folder = self.folder / f"{name.replace('-', '_')}-{version}{suffix}"
        folder.mkdir(parents=True)
        text = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n" if metadata is None else metadata
        (folder / ("METADATA" if suffix == ".dist-info" else "PKG-INFO")).write_text(text, encoding="utf-8")
        if entry_points:
            (folder / "entry_points.txt").write_text(entry_points, encoding="utf-8")
        return folder

    def add_subject(
        self, slug: str, contract: str, *, distribution: str = "", version: str = "1.0", code: str = ""
    ) -> Path:
        """Write a subject's package with the contract's text and its distribution; return the package's folder."""
        package = f"fake_subject_{slug.replace('-', '_')}"
        root = self.folder / package
        root.mkdir(parents=True)
        (root / "__init__.py").write_text(code, encoding="utf-8")
        (root / "runtime-subject.yaml").write_text(contract, encoding="utf-8")
        name = distribution or f"fake-subject-{slug}"
        self.add(name, version, entry_points=f"[qiongli.subjects]\n{slug} = {package}\n")
        return root

    def discover(self) -> Catalogue:
        """Discover what is in the folder, and check that nothing of it was imported."""
        from qiongli.plugins import discover

        before = set(sys.modules)
        catalogue = discover(environment={}, paths=[str(self.folder)])
        imported = self.imported(set(sys.modules) - before)
        assert not imported, f"discovery imported {', '.join(imported)}"
        return catalogue

    def imported(self, modules: Sequence[str] | set[str]) -> list[str]:
        """Which of the modules come from the folder."""
        found = []
        for name in sorted(modules):
            origin = getattr(sys.modules.get(name), "__file__", None)
            if origin and Path(origin).is_relative_to(self.folder):
                found.append(name)
        return found


@pytest.fixture
def isolated_qiongli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Keep the user's cache and configuration out of a test; returns the folder that stands in for both."""
    folder = tmp_path / "qiongli-user"
    for variable in ("QIONGLI_PLUGINS", "QIONGLI_SUBJECTS_DISABLED"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("QIONGLI_CACHE_DIR", str(folder / "cache"))
    monkeypatch.setenv("QIONGLI_CONFIG_DIR", str(folder / "config"))
    return folder


@pytest.fixture
def fake_distributions(tmp_path: Path, isolated_qiongli: Path) -> FakeDistributions:  # noqa: ARG001  # for its effect
    """An empty folder for fake distributions, blocked off from what is really installed."""
    folder = tmp_path / "site"
    folder.mkdir()
    return FakeDistributions(folder)
