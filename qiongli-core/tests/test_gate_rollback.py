"""The way back: each switch lowers the newcomers alone, and touches neither their content nor anybody's project."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

import pytest
from gate_cases import write_package

from qiongli.contract import load_contract
from qiongli.evaluation.catalogue import as_subject
from qiongli.gate.check import check_subject
from qiongli.gate.promotion import make_record
from qiongli.gate.record import write_record
from qiongli.gate.verification import GateVerifier
from qiongli.plugins import discover
from qiongli.plugins.catalogue import CORE_SUBJECTS, Catalogue
from qiongli.plugins.policy import Policy
from qiongli.records.packet import RefinementPacket
from qiongli.records.project import ManifestState
from qiongli.runtime import build_runtime, infer_subject_refinement, open_router
from qiongli.testing import FakeDistributions

WORD: Final = "zorblat"
NEWCOMER: Final = f"We use the {WORD} specimen ledger for the {WORD} drift conjecture."
LENT: Final = f"Walkers follow the {WORD} transect protocol."
FINANCE: Final = "We use CRSP daily abnormal returns around earnings announcements in an event study of stock returns."
ECONOMICS: Final = "Minimum wages and employment: a difference-in-differences of labor demand and wage growth."

SWITCHES: Final[Mapping[str, tuple[dict[str, str], Policy]]] = {
    "environment": ({"QIONGLI_SUBJECTS_DISABLED": "1"}, Policy()),
    "one by name": ({"QIONGLI_SUBJECTS_DISABLED": WORD}, Policy()),
    "local policy": ({}, Policy(candidate_only=True)),
}


@pytest.fixture(scope="module")
def originals(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Economics and finance as they are installed here, and a newcomer with a record."""
    folder = tmp_path_factory.mktemp("originals") / "site"
    folder.mkdir()
    site = FakeDistributions(folder)
    installed = discover(environment={})
    for slug, name in CORE_SUBJECTS.items():
        found = installed.get(slug)
        assert found is not None, f"{slug} is not installed"
        shutil.copytree(found.root, folder / found.root.name, ignore=shutil.ignore_patterns("__pycache__"))
        site.add(name, found.listing.version, entry_points=f"[qiongli.subjects]\n{slug} = {found.root.name}\n")
    root = write_package(folder / f"fake_subject_{WORD}", WORD, status="runtime_enabled")
    site.add(f"fake-subject-{WORD}", entry_points=f"[qiongli.subjects]\n{WORD} = fake_subject_{WORD}\n")
    subject = as_subject(load_contract(root), root, distribution=f"fake-subject-{WORD}", version="1.0")
    write_record(root, make_record(check_subject(subject, (), depth="fast"), root))
    return folder


@pytest.fixture
def see(originals: Path, tmp_path: Path, isolated_qiongli: Path) -> Callable[[Mapping[str, str], Policy], Catalogue]:
    folder = Path(shutil.copytree(originals, tmp_path / "site"))

    def discovered(environment: Mapping[str, str], policy: Policy) -> Catalogue:
        return discover(environment=environment, policy=policy, paths=[str(folder)], verifier=GateVerifier())

    return discovered


def states(catalogue: Catalogue) -> dict[str, str]:
    return {row.subject or "": row.state for row in catalogue.listings}


def route(catalogue: Catalogue, text: str, manifest: ManifestState | None = None) -> RefinementPacket:
    return infer_subject_refinement(text, manifest_state=manifest or ManifestState(), runtime=build_runtime(catalogue))


def contents(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


class TestSwitches:
    @pytest.mark.parametrize("switch", SWITCHES)
    def test_newcomers_are_candidates_and_economics_and_finance_go_on(
        self, see: Callable[..., Catalogue], switch: str
    ) -> None:
        before, after = see({}, Policy()), see(*SWITCHES[switch])
        assert states(before) == dict.fromkeys(("economics", "finance", WORD), "active")
        assert states(after) == {"economics": "active", "finance": "active", WORD: "lens_only"}
        for text, slug in ((FINANCE, "finance"), (ECONOMICS, "economics")):
            assert route(before, text).primary_subject == slug
            assert route(after, text) == route(before, text)
        assert route(before, NEWCOMER).primary_subject == WORD
        assert route(after, NEWCOMER).decision == "no_subject"

    def test_content_stays_and_still_lends_a_method(self, see: Callable[..., Catalogue], tmp_path: Path) -> None:
        before = contents(tmp_path / "site")
        after = see(*SWITCHES["environment"])
        assert [lens.lens for lens in route(after, LENT).borrowed_lenses] == ["transect-protocol"]
        assert contents(tmp_path / "site") == before

    def test_the_files_of_a_project_need_no_migration_there_or_back(
        self, see: Callable[..., Catalogue], tmp_path: Path
    ) -> None:
        """A project that was locked on the newcomer keeps its decision, with a warning; its files stay as they are."""
        state = tmp_path / "project" / ".qiongli"
        state.mkdir(parents=True)
        text = f"active_subject: {WORD}  # ours\nsubject_mode: locked\n"
        (state / "guidance_manifest.yaml").write_text(text, encoding="utf-8")
        answers = []
        for environment, policy in (({}, Policy()), SWITCHES["environment"], ({}, Policy())):
            router = open_router(tmp_path / "project", runtime=build_runtime(see(environment, policy)))
            answers.append(router.route("Shorten it."))
        assert [answer.decision for answer in answers] == ["lock_subject"] * 3
        assert {answer.primary_subject for answer in answers} == {WORD}
        assert answers[0] == answers[2]
        assert len(answers[1].warnings) > len(answers[0].warnings)
        assert contents(tmp_path / "project") == {".qiongli/guidance_manifest.yaml": text.encode()}
