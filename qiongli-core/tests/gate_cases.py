"""Made-up subjects for tests of the gate: a whole package with a pack that passes, from one made-up word."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

#: Things to write about that no installed subject claims; each gives a sentence of its own wording.
TOPICS = (
    "the restoration of harbour lanterns", "letters kept by lighthouse keepers", "the mending of church organs",
    "songs of river pilots", "paper folding in village schools", "the glazing of winter gardens",
    "bread stamps from mountain towns", "the naming of fishing boats", "wooden bridges over small streams",
    "bee houses along the old canal", "the colouring of woollen hats", "maps drawn by postmen",
    "ice cellars below the castle", "puppet plays for harvest week", "the carving of oak pews",
    "signals used by shepherds", "kites flown at the autumn fair", "the repair of stone walls",
    "notebooks of travelling tinkers", "bells cast for mountain chapels", "the weaving of reed baskets",
    "night walks of the town watch", "windows painted with birds", "the storing of apples in straw",
    "rope making near the quay", "sundials on farm houses", "the training of carrier pigeons",
    "masks worn at midwinter", "copper kettles of the valley", "the planting of lime avenues",
    "skating races on flooded meadows", "ink recipes of the scriptorium", "the pruning of old pear trees",
    "toy boats sold at the pier", "weather sayings of millers", "the thatching of boat sheds",
    "embroidery on wedding shirts", "cowbells and their makers", "the lighting of beacon fires",
    "chess tables in public parks", "salt carts on forest roads", "the taming of otters",
    "slate roofs of the upper village", "dances taught by sailors", "the counting of migrating cranes",
    "hand bells rung for the mail", "glass floats washed ashore", "the sorting of heirloom beans",
    "verses cut into ice", "ferries pulled along a cable", "the polishing of telescope mirrors",
    "lace patterns from one convent", "pipes carved from cherry wood", "the drying of alpine hay",
    "stilts for crossing the marsh", "wax seals of the guilds", "the tuning of glass harps",
    "herbs dried under the eaves", "sledges built by carpenters", "the greeting cards of clockmakers",
    "tiles fired in a peat kiln", "the rigging of pleasure boats", "almanacs printed in the valley",
    "fences woven from willow",
)  # fmt: skip

FRAMES = (
    "A report on {topic}, with photographs.",
    "What visitors remember about {topic} after a summer.",
    "An oral history of {topic} told by grandparents.",
    "Drawings and diaries describe {topic}.",
)


def contract_text(word: str, *, slug: str = "", status: str = "eval_ready", **changes: str) -> str:
    """The contract of a subject whose telling terms all begin with the made-up word."""
    slug = slug or word
    text = f"""\
# The contract of a made-up subject.
schema_version: "1.0"
subject: {slug}
display_name: {word.capitalize()}
activation_status: {status}  # the gate moves this line
extends: core
requires_qiongli: ">=0.1,<0.2"
documentation: README.md
domain_profile: domain-profile.yaml
overlay: overlays/{slug}.yaml
subject_skill: skills/{slug}/SKILL.md
signal_groups:
  method:
    - id: {slug}.method.transect-protocol
      value: transect-protocol
      weight: 0.20
      activation: method_only
      patterns: [{word} transect protocol]
      examples: ["Walks follow the {word} transect protocol at dawn."]
      near_misses: ["The transect protocol of the park rangers was changed."]
    - id: {slug}.method.kernel-estimator
      value: kernel-estimator
      weight: 0.20
      activation: subject
      patterns: [{word} kernel estimator]
      examples: ["Smoothing uses the {word} kernel estimator."]
      near_misses: ["A kernel estimator of popcorn was built for fun."]
  data_or_outcome:
    - id: {slug}.data-or-outcome.specimen-ledger
      value: specimen-ledger
      weight: 0.20
      activation: subject
      patterns: [{word} specimen ledger]
      examples: ["Counts come from the {word} specimen ledger."]
      near_misses: ["The specimen ledger of the shop was lost."]
  venue:
    - id: {slug}.venue.annals
      value: annals
      weight: 0.20
      activation: context_only
      patterns: [annals of {word}]
      examples: ["It is meant for the Annals of {word.capitalize()}."]
      near_misses: ["Old {word} annals mention the flood."]
  theory_or_construct:
    - id: {slug}.theory-or-construct.drift-conjecture
      value: drift-conjecture
      weight: 0.20
      activation: subject
      patterns: [{word} drift conjecture]
      examples: ["It speaks to the {word} drift conjecture."]
      near_misses: ["The drift conjecture of the pilots was wrong."]
suppressors:
  - id: {slug}.suppressor.board-game
    patterns: [{word} specimen ledger board game]
    weight: 0.10
    examples: ["They play the {word} specimen ledger board game."]
    near_misses: ["The board met twice."]
method_lenses:
  transect-protocol: {{pack: method-packs/transect-protocol.yaml, optional: true}}
  kernel-estimator: {{pack: method-packs/kernel-estimator.yaml, optional: true}}
evaluation_pack: evaluation/
near_miss_policy: {{forbidden_subjects: []}}
"""
    for old, new in changes.items():
        assert old in text, old
        text = text.replace(old, new)
    return text


def fixture(name: str, category: str, subject: str, context: str, decision: str, **expected: Any) -> dict[str, Any]:
    """A fixture in the shape of the subject packs."""
    manifest = expected.pop("manifest", {"active_subject": "auto", "subject_mode": "auto"})
    raw: dict[str, Any] = {
        "id": name,
        "subject_under_test": subject,
        "category": category,
        "description": expected.pop("description", f"{category} case"),
        "task_packet": {"task_id": name, "context": context},
        "manifest": manifest,
        "expected": {
            "decision": decision,
            "primary_subject": subject if decision == "recommend" else "auto",
            **expected,
        },
        "tags": [subject, category.replace("_", "-")],
    }
    memory = raw["expected"].pop("memory", None)
    if memory is not None:
        raw["memory"] = memory
    return raw


def sentences() -> Iterator[str]:
    """Harmless sentences, each of its own wording."""
    while True:
        for round_, frame in enumerate(FRAMES):
            for place in range(len(TOPICS)):
                yield frame.format(topic=TOPICS[(place + 7 * round_) % len(TOPICS)])


def pack(word: str, *, slug: str = "") -> list[dict[str, Any]]:
    """A pack that passes the gate: 60 near misses, and 45 others over all categories."""
    slug = slug or word
    filler = sentences()
    ledger, conjecture = f"the {word} specimen ledger", f"the {word} drift conjecture"
    kernel, transect, annals = f"the {word} kernel estimator", f"the {word} transect protocol", f"the Annals of {word}"
    found: list[dict[str, Any]] = []

    def add(category: str, context: str, decision: str, **expected: Any) -> None:
        name = f"{slug}-{category.replace('_', '-')}-{sum(item['category'] == category for item in found) + 1}"
        found.append(fixture(name, category, slug, f"{next(filler)} {context}", decision, **expected))

    pairs = ((ledger, conjecture), (kernel, ledger), (conjecture, kernel))
    for number in range(27):
        first, second = pairs[number % 3]
        lenses = ["kernel-estimator"] if kernel in (first, second) else []
        add(
            "clear_positive",
            f"We use {first} and {second}.",
            "recommend",
            method_lenses=lenses,
            suggest_subjects=[slug],
        )
    for _ in range(4):
        add("method_only_borrow", f"Walkers follow {transect}.", "borrow_lens", method_lenses=["transect-protocol"])
    for _ in range(3):
        text = f"Sailors and cooks help; still {ledger} decides between readings of {conjecture}."
        add("mixed_subject", text, "recommend", allowed_neighbor_subjects=[])
    for mode, decision in (("locked", "keep_locked"), ("confirmed", "confirm_subject")):
        for _ in range(3):
            manifest = {"active_subject": slug, "subject_mode": mode}
            add(f"{mode}_subject", "Shorten it.", decision, manifest=manifest, primary_subject=slug)
    for _ in range(3):
        memory = {
            "suggestions": {slug: {"suggestion_count": 1}},
            "dismissed_subjects": {slug: {"dismissal_count": 1, "last_suggestion_count": 2}},
        }
        add("dismissed_subject", f"We use {ledger} and {conjecture}.", "recommend", memory=memory, prompt=False)
    for _ in range(3):
        add("legacy_regression", "Nothing else is meant.", "core_only")
    near = (
        (f"We do not use {ledger} or {conjecture}.", "Both signals, denied."),
        (f"A page of {ledger} was framed.", "One dimension only."),
        (f"They play the {word} specimen ledger board game and quote {conjecture}.", "The ledger of a game."),
        (f"It is meant for {annals} and mentions {ledger}.", "A venue and one dimension."),
        (f"Walkers follow {transect} and sign {ledger}.", "A method that is lent, and one dimension."),
        ("The specimen ledger and a drift conjecture of the pilots are shown.", "The words without the field's name."),
    )
    for number in range(60):
        text, why = near[number % len(near)]
        decision = "borrow_lens" if transect in text else "core_only"
        add("near_miss", text, decision, description=why, forbidden_subjects=[slug])
    return found


def write_resources(root: Path, slug: str, *, status: str = "eval_ready") -> None:
    """The files that the contract names, beside the pack."""
    source = "sources: [{author: 'Nobody, N.', year: 2001, title: 'On Nothing', venue: 'Annals of Nothing'}]\n"
    files = {
        "README.md": f"# {slug}\n\nActivation status: {status}\n",
        "domain-profile.yaml": (
            f"kind: domain_profile\nschema_version: '1.0'\nsubject: {slug}\ndisplay_name: {slug.capitalize()}\n"
            "scope: Made up for tests.\nsubfields: [a, b]\n"
            f"data_sources: [{{name: ledger, note: none}}]\noutcomes: [drift]\nclassifications: []\n{source}"
        ),
        f"overlays/{slug}.yaml": (
            f"kind: overlay\nschema_version: '1.0'\nsubject: {slug}\ntitle: Standards\n"
            "standards: [{id: one, title: One, guidance: Do it well., sources: []}]\n"
            f"review_questions: [Why?]\n{source}"
        ),
        f"skills/{slug}/SKILL.md": f"---\nname: {slug}\ndescription: A made-up skill.\n---\n\n# Skill\n\nDo it well.\n",
    }
    for lens in ("transect-protocol", "kernel-estimator"):
        files[f"method-packs/{lens}.yaml"] = (
            f"kind: method_pack\nschema_version: '1.0'\nslug: {lens}\ntitle: {lens}\nsubject: {slug}\n"
            "purpose: Made up.\nwhen_to_use: [always]\nassumptions: [none]\nsteps: [walk]\ndiagnostics: [look]\n"
            f"pitfalls: [none]\nreporting: [all]\n{source}"
        )
    for name, text in files.items():
        path = root.joinpath(*name.split("/"))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def write_pack(root: Path, fixtures: list[dict[str, Any]]) -> None:
    """One JSONL file a category."""
    folder = root / "evaluation"
    folder.mkdir(exist_ok=True)
    for path in folder.glob("*.jsonl"):
        path.unlink()
    for category in {item["category"] for item in fixtures}:
        lines = [json.dumps(item, ensure_ascii=False) for item in fixtures if item["category"] == category]
        (folder / f"{category}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")


def write_package(
    root: Path,
    word: str,
    *,
    slug: str = "",
    status: str = "eval_ready",
    changes: Mapping[str, str] | None = None,
    change_pack: Callable[[list[dict[str, Any]]], list[dict[str, Any]]] | None = None,
) -> Path:
    """A whole import package in `root`, which passes the gate unless something is changed; returns `root`."""
    slug = slug or word
    root.mkdir(parents=True, exist_ok=True)
    (root / "__init__.py").write_text('"""Made up."""\n', encoding="utf-8")
    text = contract_text(word, slug=slug, status=status, **(changes or {}))
    (root / "runtime-subject.yaml").write_text(text, encoding="utf-8")
    write_resources(root, slug, status=status)
    fixtures = pack(word, slug=slug)
    write_pack(root, change_pack(fixtures) if change_pack else fixtures)
    return root


def write_source_tree(folder: Path, word: str, *, slug: str = "", **options: Any) -> Path:
    """A source tree with a pyproject.toml around the package; returns the tree."""
    slug = slug or word
    tree = folder / f"qiongli-subject-{slug}"
    write_package(tree / "src" / f"qiongli_subject_{slug.replace('-', '_')}", word, slug=slug, **options)
    package = f"qiongli_subject_{slug.replace('-', '_')}"
    (tree / "pyproject.toml").write_text(
        f'[project]\nname = "qiongli-subject-{slug}"\nversion = "1.0"\n'
        f'[project.entry-points."qiongli.subjects"]\n{slug} = "{package}"\n',
        encoding="utf-8",
    )
    return tree
