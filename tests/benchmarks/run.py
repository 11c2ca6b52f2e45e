"""Benchmarks, printed as ratios measured in one run; they judge nothing.

Whole processes are compared with `python -c pass`, an inference with a plain split of the same text into words. CPU
time is user plus system time of the child; the median of several runs, taken in turns, is what counts.
"""

from __future__ import annotations

import os
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import attrs
from abstracts import ABSTRACTS
from actions import actions
from servers import servers

from qiongli.contract.models import Pattern, Signal, SubjectContract
from qiongli.document import read_document
from qiongli.project import apply_action
from qiongli.records._units import Ppm
from qiongli.runtime import default_runtime, infer_subject_refinement
from qiongli.signals import compile_index
from qiongli.task import run_task

#: What is aimed at, for the reader to compare with: name to ratio.
AIMS = {"--version": 2, "subject list": 12, "route of one abstract": 15, "subject status": 12}

#: The densest of the abstracts, for what asks for one.
ABSTRACT = ABSTRACTS["capital structure"]


def cpu_of(command: Sequence[str], environment: dict[str, str]) -> float:
    # os.times counts in ticks of 10 ms, which is what the base itself takes; getrusage counts in microseconds.
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime - before.ru_utime) + (after.ru_stime - before.ru_stime)


def processes(runs: int = 9) -> None:
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "QIONGLI_CACHE_DIR": f"{folder}/cache", "QIONGLI_CONFIG_DIR": f"{folder}/config"}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        command = str(Path(sys.executable).with_name("qiongli"))
        commands = {
            "python -c pass": [sys.executable, "-c", "pass"],
            "--version": [command, "--version"],
            "subject list": [command, "subject", "list"],
            "subject status": [command, "subject", "status", "--cwd", folder],
            "route of one abstract": [command, "route", "--text", ABSTRACT],
        }
        times: dict[str, list[float]] = {name: [] for name in commands}
        for run in range(runs + 1):
            for name, arguments in commands.items():
                used = cpu_of(arguments, environment)
                if run:  # the first one warms the caches
                    times[name].append(used)
    base = statistics.median(times.pop("python -c pass"))
    print(f"whole processes, CPU relative to `python -c pass` ({base * 1000:.0f} ms), median of {runs}:")
    for name, spent in times.items():
        print(f"  {name:<24} {statistics.median(spent) / base:5.1f}x   (aim: at most {AIMS[name]}x)")


def median_of(function: Callable[[], object], runs: int) -> float:
    spent = []
    for _ in range(runs):
        start = time.perf_counter()
        function()
        spent.append(time.perf_counter() - start)
    return statistics.median(spent)


def inference() -> None:
    runtime = default_runtime()
    print("\none inference of an abstract of about 1,200 characters, and how often a plain split into words fits in:")
    times, ratios = [], []
    for name, text in ABSTRACTS.items():
        found = len(infer_subject_refinement(text, runtime=runtime).signals)
        one = median_of(lambda text=text: infer_subject_refinement(text, runtime=runtime), 200)  # type: ignore[misc]
        base = median_of(lambda text=text: re.findall(r"\w+", text.casefold()), 200)  # type: ignore[misc]
        times.append(one * 1000)
        ratios.append(one / base)
        print(f"  {name:<24} {one / base:5.1f}x   ({one * 1000:.2f} ms, {found} pieces of evidence)")
    print(f"  {'median':<24} {statistics.median(ratios):5.1f}x   ({statistics.median(times):.2f} ms; aim: 20x, 1 ms)")

    print("\nlinear in the size of the text (plain words and some signals):")
    for factor in (1, 16, 256):
        long = ((ABSTRACT + " ") * 4 * factor)[: 4_000 * factor]
        spent = median_of(lambda long=long: infer_subject_refinement(long, runtime=runtime), 5)  # type: ignore[misc]
        print(f"  {len(long):>9} characters: {spent * 1e9 / len(long):8.0f} ns a character")


def previews() -> None:
    text = ABSTRACT
    with tempfile.TemporaryDirectory() as folder:
        project = Path(folder)
        apply_action("confirm", project, "finance")
        base = median_of(lambda: infer_subject_refinement(text), 200)
        print(
            f"\na preview of the same text, with its context bundle, relative to one inference ({base * 1000:.2f} ms):"
        )
        for label, cwd in (("without a project", None), ("in a project", project)):
            run_task(text, cwd=cwd)
            one = median_of(lambda cwd=cwd: run_task(text, cwd=cwd), 100)  # type: ignore[misc]
            print(f"  {label:<24} {one / base:5.1f}x   ({one * 1000:.2f} ms; aim: at most 50 ms)")


def patterns() -> None:
    words = sorted({word for word in re.findall(r"[a-z]+", ABSTRACT.casefold()) if len(word) > 3})
    document = read_document(ABSTRACT)
    print("\ndetection with more patterns (aim: at most 4x from 1,000 to 100,000):")
    first = 0.0
    for number in (1_000, 10_000, 100_000):
        texts = (
            f"{words[index % len(words)]} {words[(index // len(words)) % len(words)]} term{index}"
            for index in range(number)
        )
        signal = Signal(
            "many.method.all",
            "many",
            "method",
            "all",
            Ppm(100_000),
            "subject",
            tuple(Pattern("phrase", text) for text in texts),
            (),
            (),
        )
        contract = SubjectContract("1.0", "many", "Many", "candidate", signals=(signal,))
        index = compile_index([attrs.evolve(contract, digest=str(number))])
        spent = median_of(lambda index=index: index.detect(document), 50)  # type: ignore[misc]
        first = first or spent
        print(f"  {number:>7} patterns: {spent * 1e6:6.0f} µs, {spent / first:.1f}x")


if __name__ == "__main__":
    processes()
    inference()
    previews()
    patterns()
    actions()
    servers(ABSTRACT)
