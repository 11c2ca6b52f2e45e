"""A router that records answers each task for the project as it is at that moment."""

from __future__ import annotations

from pathlib import Path

from packet_cases import write_packages
from task_cases import SUGGESTS_ALPHA, make_runtime

from qiongli.project import apply_action
from qiongli.runtime import open_router


def test_a_decision_made_after_the_router_was_opened_is_kept_to(tmp_path: Path) -> None:
    packages, project = tmp_path / "packages", tmp_path / "project"
    project.mkdir()
    write_packages(packages)
    runtime = make_runtime(packages)
    router = open_router(project, runtime=runtime)
    assert router.route(SUGGESTS_ALPHA, record=True).decision == "suggest_subject"
    apply_action("confirm", project, "beta", catalogue=runtime.catalogue)
    recorded = router.route(SUGGESTS_ALPHA, record=True)
    assert (recorded.decision, recorded.primary_subject) == ("confirm_subject", "beta")


def test_the_tasks_of_one_router_are_counted_one_after_the_other(tmp_path: Path) -> None:
    packages, project = tmp_path / "packages", tmp_path / "project"
    project.mkdir()
    write_packages(packages)
    router = open_router(project, runtime=make_runtime(packages))
    first = router.route(SUGGESTS_ALPHA, record=True)
    second = router.route(f"{SUGGESTS_ALPHA} Another one.", record=True)
    assert first.promotion_recommendation is None
    assert second.promotion_recommendation is not None
    assert second.promotion_recommendation.status == "recommend_confirmation"
