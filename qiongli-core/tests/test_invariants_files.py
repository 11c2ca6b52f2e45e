"""Invariants A6 and E7 of the heuristics contract on files: weights that are no numbers, packs that lead elsewhere.

The letters are those of the contract. Each property fails unless it saw what it is about.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import attrs
import pytest
from engine_cases import covering
from hypothesis import strategies as st

from qiongli.contract import load_contract
from qiongli.contract.models import MethodLens, Pattern, Signal, SubjectContract
from qiongli.errors import ContractError
from qiongli.evaluation.catalogue import as_subject, measuring_runtime
from qiongli.records import Ppm
from qiongli.records.evidence import DIMENSIONS
from qiongli.records.project import ManifestState
from qiongli.refinement import infer_subject_refinement

# --- A6: weights --------------------------------------------------------------------------------------------------

#: How YAML writes what is no finite number, or no number, by kind.
NO_NUMBERS = {
    "nan": (".nan", ".NaN", ".NAN"),
    "infinite": (".inf", "-.inf", "+.INF", ".Inf"),
    "huge": ("1e999", "-1e999", "1.0e+999", "1e999999999"),
    "bool": ("true", "True", "false", "yes", "on"),
}
NUMBERS = {"0.06": 60_000, "0.1": 100_000, "0.15": 150_000, "2e-1": 200_000, "0.20": 200_000}


@attrs.frozen
class Written:
    """A contract as text, the weights that it must not have by line and field, and the good ones by id."""

    text: str
    bad: tuple[tuple[int, str], ...]
    good: dict[str, int]
    kinds: frozenset[str]


@st.composite
def contracts(draw: st.DrawFn, kind: str | None) -> Written:
    """Contracts of some signals and suppressors, in block or flow style, with comments and empty lines between."""
    lines = [
        'schema_version: "1.0"',
        "subject: botany",
        "display_name: Botany",
        "activation_status: candidate",
        "signal_groups:",
    ]
    bad: list[tuple[int, str]] = []
    good: dict[str, int] = {}
    kinds: set[str] = set()

    def weigh(field: str, id_: str) -> str:
        if kind is not None and draw(st.booleans()):
            kinds.add(kind)
            bad.append((0, field))
            return draw(st.sampled_from(NO_NUMBERS[kind]))
        written = draw(st.sampled_from(sorted(NUMBERS)))
        good[id_] = NUMBERS[written]
        return written

    def one(field: str, id_: str, *others: str) -> None:
        spoiled_before = len(bad)
        weight = weigh(field, id_)
        lines.extend(draw(st.sampled_from([[], [""], ["# a comment"], ["", "    # .nan", ""]])))
        start = len(lines) + 1
        style = draw(st.sampled_from(["block", "flow", "below", "folded"]))
        if style == "flow":
            lines.append(f"    - {{id: {id_}, weight: {weight}, {', '.join(others)}}}")
            place = start
        elif style == "folded":
            lines.extend([f"    - {{id: {id_},", f"       weight: {weight},", f"       {', '.join(others)}}}"])
            place = start + 1
        else:
            lines.append(f"    - id: {id_}")
            lines.extend(f"      {other}" for other in others)
            lines.extend([f"      weight: {weight}"] if style == "block" else ["      weight:", f"          {weight}"])
            place = len(lines)
        if len(bad) > spoiled_before:
            bad[-1] = (place, field)

    for dimension in draw(st.lists(st.sampled_from(DIMENSIONS[:5]), unique=True, min_size=1, max_size=3)):
        lines.append(f"  {dimension}:")
        for number in range(draw(st.integers(1, 3))):
            slug = dimension.replace("_", "-")
            one(
                f"signal_groups.{dimension}[{number}].weight",
                f"botany.{slug}.n{number}",
                f"value: n{number}",
                "activation: subject",
                f"patterns: [oak {slug} {number}]",
                f"examples: [An oak {slug} {number}.]",
                "near_misses: [An oak.]",
            )
    if draw(st.booleans()):
        lines.append("suppressors:")
        one(
            "suppressors[0].weight",
            "botany.suppressor.skin",
            *(
                "reason: skin is no plant",
                "patterns: [skin graft]",
                "examples: [A skin graft.]",
                "near_misses: [A pear was grafted.]",
            ),
        )
    return Written("\n".join(lines) + "\n", tuple(bad), good, frozenset(kinds))


@covering(
    [contracts(kind) for kind in (*NO_NUMBERS, None)],
    **dict.fromkeys(NO_NUMBERS, 0.1),
    several=0.1,
    sound=0.2,
)
def test_a6_a_weight_that_is_no_finite_number_is_a_load_error_with_file_field_and_line(written: Written) -> set[str]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "runtime-subject.yaml"
        path.write_text(written.text, encoding="utf-8")
        if not written.bad:
            contract = load_contract(path)
            found = {item.id: item.weight for item in contract.signals}
            found |= {item.id: item.weight for item in contract.suppressors}
            assert found == written.good
            return {"sound"}
        with pytest.raises(ContractError) as caught:
            load_contract(path)
    assert [(problem.code, problem.place) for problem in caught.value.problems] == [
        ("invalid_weight", f"{path}:{line}: {field}") for line, field in written.bad
    ]
    return set(written.kinds) | ({"several"} if len(written.bad) > 1 else set())


# --- E7: method packs ---------------------------------------------------------------------------------------------

#: What may stand where a contract says that a pack is, and whether it is a file of the package.
PLACES = {
    "file": True,
    "link_inside": True,
    "folder_link_inside": True,
    "missing": False,
    "folder": False,
    "link_outside": False,
    "folder_link_outside": False,
    "link_above": False,
    "circle": False,
    "dots": False,
    "absolute": False,
    "backslashes": False,
}


def placed(root: Path, outside: Path, slug: str, place: str) -> str:
    """Make one of the places in a package, and give the path that its contract names."""
    path = root / "method-packs" / f"{slug}.yaml"
    path.parent.mkdir(exist_ok=True)
    secret = outside / f"{slug}.yaml"
    secret.write_text("steps: [stolen]", encoding="utf-8")
    if place == "file":
        path.write_text("steps: [cut]", encoding="utf-8")
    elif place == "link_inside":
        (root / f"{slug}-real.yaml").write_text("steps: [cut]", encoding="utf-8")
        path.symlink_to(f"../{slug}-real.yaml")
    elif place in ("folder_link_inside", "folder_link_outside"):
        home = root / f"{slug}-packs" if place == "folder_link_inside" else outside
        home.mkdir(exist_ok=True)
        (home / f"{slug}.yaml").write_text("steps: [cut]", encoding="utf-8")
        (root / f"{slug}-linked").symlink_to(home, target_is_directory=True)
        return f"{slug}-linked/{slug}.yaml"
    elif place == "folder":
        path.mkdir()
    elif place == "link_outside":
        path.symlink_to(secret)
    elif place == "link_above":
        path.symlink_to(f"../../{outside.name}/{slug}.yaml")
    elif place == "circle":
        path.symlink_to(path.name)
    return {
        "dots": f"../{outside.name}/{slug}.yaml",
        "absolute": str(secret),
        "backslashes": f"..\\{outside.name}\\{slug}.yaml",
    }.get(place, f"method-packs/{slug}.yaml")


some_places = st.lists(st.sampled_from(sorted(PLACES)), min_size=1, max_size=5)


@covering(
    [st.builds(lambda place, others: [place, *others], st.just(place), some_places) for place in PLACES],
    lent=0.25,
    withheld=0.3,
    **dict.fromkeys(PLACES, 0.05),
)
def test_e7_only_a_lens_whose_pack_is_a_file_of_its_package_is_lent(places: list[str]) -> set[str]:
    slugs = {f"lens-{number}": place for number, place in enumerate(places)}
    with tempfile.TemporaryDirectory() as folder:
        root, outside = Path(folder) / "package", Path(folder) / "elsewhere"
        root.mkdir()
        outside.mkdir()
        packs = {slug: placed(root, outside, slug, place) for slug, place in slugs.items()}
        signals = tuple(
            Signal(
                f"botany.method.{slug}",
                "botany",
                "method",
                slug,
                Ppm(200_000),
                "method_only",
                (Pattern("phrase", f"grafting {slug}"),),
                (),
                (),
            )
            for slug in slugs
        )
        contract = SubjectContract(
            "1.0",
            "botany",
            "Botany",
            "candidate",
            signals=signals,
            method_lenses=tuple(MethodLens(slug, pack, True) for slug, pack in packs.items()),
        )
        runtime = measuring_runtime([as_subject(contract, root)])
        text = " ".join(f"We use grafting {slug}." for slug in slugs)
        packet = infer_subject_refinement(text, manifest_state=ManifestState(), runtime=runtime)
    expected = {slug for slug, place in slugs.items() if PLACES[place]}
    assert {item.lens for item in packet.borrowed_lenses} == expected
    assert packet.decision == ("borrow_lens" if expected else "no_subject")
    assert set(packet.loaded_resources) == {f"botany/method_pack/{slug}" for slug in expected}
    assert {item["lens"] for item in packet.diagnostics.get("withheld_lenses", ())} == {
        f"botany/{slug}" for slug in set(slugs) - expected
    }
    return {*places, "lent" if expected else "", "withheld" if len(expected) < len(slugs) else ""}
