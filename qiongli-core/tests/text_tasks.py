"""Whole tasks with the subjects of `packet_cases`: texts built for every kind of decision, and who answers for them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from hypothesis import strategies as st
from packet_cases import Desk

from qiongli.records.packet import RefinementPacket
from qiongli.records.project import ManifestState
from qiongli.runtime import Runtime, infer_subject_refinement

#: Phrases that suggest alone, by subject; what lends a lens only; what decides nothing.
STRONG = {
    "alpha": ("quorl kriging", "quorl ledger", "Journal of Quorl", "quorl conjecture"),
    "beta": ("brindle splicing", "brindle register"),
    "gamma": ("gnarl gauging", "gnarl gazette"),
}
LENDING = ("quorl loaner", "gnarl tool")
WEAK = ("quorl world", "quorl sketch", "quorl absentee", "quorl ledger cake", "toy quorl", "the weather", "阔尔加权")
SENTENCES = ("We study {}.", "Our appendix describes {} at length.", "本文使用{}。")
DENIALS = ("We do not use {}.", "This is rather about trees than about {}.", 'The word "{}" is quoted.')
DIRECTIVES = ("Do not treat this as alpha.", "Keep this in beta.", "不要当作beta处理。")

KINDS = ("core", "borrow", "suggest", "ambiguous", "confirm", "lock", "blocked", "mixed")
Task = tuple[Mapping[str, object] | str, ManifestState]


@st.composite
def tasks(draw: st.DrawFn, kind: str) -> Task:
    """A task whose text was built for one kind of decision, and the state of its project."""
    phrases: list[str] = []
    excluded = False
    if kind in ("suggest", "ambiguous", "confirm", "lock"):
        first = draw(st.sampled_from(["alpha", "beta"]))
        phrases += STRONG[first][:2]
        if kind == "ambiguous":
            phrases += STRONG["beta" if first == "alpha" else "alpha"][:2]
    elif kind == "borrow":
        phrases.append(draw(st.sampled_from(LENDING)))
    elif kind == "blocked":
        phrases += STRONG["gamma"]
        # Beside the one behind its gate, one that the user excludes.
        excluded = draw(st.booleans())
        phrases += STRONG["alpha"][:2] if excluded else ()
    elif kind == "mixed":
        everything = [phrase for found in STRONG.values() for phrase in found]
        phrases += draw(st.lists(st.sampled_from([*everything, *LENDING]), max_size=5))
    lines = [draw(st.sampled_from(SENTENCES)).format(phrase) for phrase in phrases]
    forms = (*SENTENCES, *DENIALS) if kind != "ambiguous" else DENIALS
    lines += [
        draw(st.sampled_from(forms)).format(phrase) for phrase in draw(st.lists(st.sampled_from(WEAK), max_size=2))
    ]
    if excluded:
        lines.append(DIRECTIVES[0])
    if kind == "mixed":
        lines += draw(st.lists(st.sampled_from(DIRECTIVES), max_size=1))
    lines = draw(st.permutations(lines))
    cut = draw(st.integers(0, len(lines)))
    task: Mapping[str, object] | str = "\n".join(lines)
    if draw(st.booleans()):
        task = {"abstract": " ".join(lines[cut:]), "title": " ".join(lines[:cut]), "keywords": ["forests", "rain"]}
    settled = {"confirm": "confirmed", "lock": "locked"}.get(kind)
    subject = draw(st.sampled_from(["alpha", "beta", "gamma"])) if settled else "auto"
    strict = "strict" if kind == "mixed" and draw(st.booleans()) else "standard"
    return task, ManifestState(subject, settled or "auto", strictness=strict)  # type: ignore[arg-type]


def for_each_kind(*others: st.SearchStrategy[Any], kinds: Sequence[str] = KINDS) -> list[st.SearchStrategy[Any]]:
    return [st.tuples(tasks(kind), *others) for kind in kinds]


def labels_of(packet: RefinementPacket) -> set[str]:
    labels: set[str] = {packet.decision}
    if packet.clarification is not None:
        labels.add(packet.clarification.id.partition(":")[0])
    return labels | ({"blocked"} if packet.blocked_candidates else set())


@lru_cache
def runtime_in(folder: Path, *, composite: bool = False) -> Runtime:
    """The subjects whose packages `packet_cases.write_packages` wrote there, with or without their composite."""
    found = Desk(
        folder, ("alpha", "beta", "gamma", "alpha-beta") if composite else ("alpha", "beta", "gamma")
    ).runtime()
    return Runtime(found.catalogue, found.index)


def answer(runtime: Runtime, task: Task, **more: Any) -> RefinementPacket:
    """The packet of a task for its project."""
    return infer_subject_refinement(task[0], manifest_state=task[1], runtime=runtime, **more)
