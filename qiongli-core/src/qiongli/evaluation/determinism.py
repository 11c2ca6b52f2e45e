"""Whether the same fixtures get the same answers in another process, with other hash seeds and in another order.

Each replay is a new interpreter that loads contracts and packs anew: no answer of an earlier run can be served again.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

import attrs

from qiongli.errors import EnvironmentBrokenError
from qiongli.plugins.catalogue import Catalogue, CatalogueSubject
from qiongli.plugins.permission import HookModule

#: Hash seeds of the two replays; any two different ones do.
HASH_SEEDS: Final = ("1", "4242")

_TIMEOUT_SECONDS: Final = 300


@attrs.frozen
class DeterminismReport:
    """Fixtures whose answers differ between two processes; `processes` are their ids."""

    differing: tuple[str, ...]
    cases: int
    processes: tuple[int, ...]

    @property
    def deterministic(self) -> bool:
        """Whether all answers agree."""
        return not self.differing


def check_determinism(
    subjects: Sequence[CatalogueSubject],
    slug: str,
    *,
    router: str = "",
    modules: Sequence[HookModule] = (),
    environment: Mapping[str, str] | None = None,
) -> DeterminismReport:
    """Run the pack of `slug` beside the other subjects in two processes and compare every answer.

    `router` names another router as `module:attribute`, for tests; `modules` are those whose hooks take part. Raises
    `EnvironmentBrokenError` when a process fails.
    """
    request = {
        "subjects": [{"root": str(subject.root), "name": subject.listing.distribution} for subject in subjects],
        "slug": slug,
        "router": router,
        "modules": [attrs.asdict(module) for module in modules],
    }
    started = [_start(seed, environment) for seed in HASH_SEEDS]
    try:
        answers = [_finish(process, request, number) for number, process in enumerate(started)]
    finally:
        for process in started:
            # Ends what still runs when another one failed, and closes the pipes of all of them.
            process.kill()
            with suppress(ValueError):
                process.communicate()
    first, second = (answer["answers"] for answer in answers)
    names = sorted({*first, *second})
    return DeterminismReport(
        differing=tuple(name for name in names if first.get(name) != second.get(name)),
        cases=len(names),
        processes=tuple(answer["process"] for answer in answers),
    )


def _start(seed: str, environment: Mapping[str, str] | None) -> subprocess.Popen[str]:
    variables = dict(os.environ if environment is None else environment) | {"PYTHONHASHSEED": seed}
    variables["PYTHONPATH"] = os.pathsep.join(path for path in sys.path if path)
    return subprocess.Popen(
        [sys.executable, "-m", "qiongli.evaluation.determinism"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        env=variables,
    )


def _finish(process: subprocess.Popen[str], request: Mapping[str, Any], number: int) -> dict[str, Any]:
    try:
        output, errors = process.communicate(
            json.dumps({**request, "reverse": number % 2 == 1}), timeout=_TIMEOUT_SECONDS
        )
        if process.returncode == 0:
            answer: dict[str, Any] = json.loads(output)
            return answer
    except (subprocess.TimeoutExpired, ValueError, OSError) as error:
        errors = f"{type(error).__name__}: {error}"
    raise EnvironmentBrokenError(
        "a process that repeats the evaluation failed",
        code="replay_failed",
        expected="an answer for every fixture",
        hint=errors.strip().splitlines()[-1] if errors.strip() else "Run: qiongli doctor",
    )


def replay(request: Mapping[str, Any]) -> dict[str, str]:
    """The digest of the answer to each fixture of a request, by name."""
    from importlib import import_module

    from qiongli.contract.loader import load_contract
    from qiongli.evaluation.catalogue import as_subject, infer_with, measuring_runtime, switched_on
    from qiongli.evaluation.packs import load_subject_pack
    from qiongli.evaluation.runner import run_fixture

    subjects = [
        switched_on(as_subject(load_contract(Path(row["root"])), Path(row["root"]), distribution=row["name"]))
        for row in request["subjects"]
    ]
    candidate = next(subject for subject in subjects if subject.contract.subject == request["slug"])
    if request.get("router"):
        module, _, attribute = str(request["router"]).partition(":")
        infer = getattr(import_module(module), attribute)
    else:
        hooks = None
        if request.get("modules"):
            from qiongli.plugins.hooks import hook_caller

            hooks = hook_caller(Catalogue(), [HookModule(**row) for row in request["modules"]])
        infer = infer_with(measuring_runtime(subjects, hooks=hooks))
    fixtures = load_subject_pack(candidate).fixtures
    if request.get("reverse"):
        fixtures = fixtures[::-1]
    return {fixture.name: sha256(run_fixture(fixture, infer).signature().encode()).hexdigest() for fixture in fixtures}


def main() -> None:
    """Answer one request from standard input; what the child process runs."""
    answers = replay(json.load(sys.stdin))
    sys.stdout.write(json.dumps({"process": os.getpid(), "answers": answers}))


if __name__ == "__main__":
    main()
