"""A small valid contract and package that the tests of the contract change in one place at a time."""

from __future__ import annotations

from pathlib import Path

from qiongli.contract.loader import parse_contract
from qiongli.contract.models import SubjectContract
from qiongli.contract.problems import ContractProblem, Problems

#: Line numbers matter to the tests: they are counted here, not taken from what the loader says.
VALID = """\
schema_version: "1.0"
subject: botany
display_name: Botany
activation_status: candidate
extends: core
requires_qiongli: ">=0.1,<0.2"
documentation: README.md
domain_profile: domain-profile.yaml
overlay: overlays/botany.yaml
subject_skill: skills/botany/SKILL.md
venue_profiles: {annals: venue-profiles/annals.yaml}
signal_groups:
  method:
    - id: botany.method.grafting
      subject: botany
      dimension: method
      value: grafting
      weight: 0.10
      activation: method_only
      patterns:
        - grafting trial
        - {acronym: GT, near: [graft, scion]}
        - {regex: "graft(ed|ing) onto"}
        - {phrase: 嫁接, lang: zh}
        - {phrase: scion, justification: "no everyday sense"}
      examples: ["A grafting trial of forty pears."]
      near_misses: ["A trial of two lawyers."]
  data_or_outcome:
    - id: botany.data-or-outcome.herbarium
      value: herbarium
      weight: 0.20
      activation: subject
      patterns: [herbarium sheet]
      examples: ["Forty herbarium sheets were read."]
      near_misses: ["A sheet of paper."]
  venue: []
  theory_or_construct: []
  classification: []
suppressors:
  - id: botany.suppressor.skin
    patterns: [skin graft]
    weight: 0.10
    examples: ["The skin graft healed."]
    near_misses: ["A pear was grafted."]
method_lenses:
  grafting: {pack: method-packs/grafting.yaml, optional: true}
evaluation_pack: evaluation/
near_miss_policy: {forbidden_subjects: [zoology]}
activation_gate:
  required_metrics: {primary_subject_accuracy: 0.95, suggest_subject_precision: 0.95, near_miss_false_positives: 0}
  single_dimension: false
composes: []
hooks: null
"""

SOURCES = 'sources: [{author: "A, B.", year: 2001, title: "T", venue: "V"}]\n'

RESOURCES = {
    "README.md": "# Botany\n\nActivation status: `candidate`\n",
    "domain-profile.yaml": (
        'kind: domain_profile\nschema_version: "1.0"\nsubject: botany\ndisplay_name: Botany\nscope: Plants.\n'
        "subfields: [Systematics]\ndata_sources: [{name: Herbaria, note: Gaps.}]\noutcomes: [Yield]\n"
        "classifications: []\n" + SOURCES
    ),
    "overlays/botany.yaml": (
        'kind: overlay\nschema_version: "1.0"\nsubject: botany\ntitle: Botany\n'
        "standards: [{id: vouchers, title: Vouchers, guidance: Deposit one., sources: []}]\n"
        'review_questions: ["Where are the vouchers?"]\n' + SOURCES
    ),
    "skills/botany/SKILL.md": (
        "---\nname: botany\ndescription: Plan work on plants.\n---\n\n# Botany\n\nLook at plants.\n"
    ),
    "method-packs/grafting.yaml": (
        'kind: method_pack\nschema_version: "1.0"\nslug: grafting\ntitle: Grafting\nsubject: botany\n'
        "purpose: Joining.\nwhen_to_use: [Trees]\nassumptions: [Kinship]\nsteps: [Cut]\ndiagnostics: [Callus]\n"
        "pitfalls: [Rot]\nreporting: [Dates]\n" + SOURCES
    ),
    "venue-profiles/annals.yaml": (
        'kind: venue_profile\nschema_version: "1.0"\nslug: annals\nname: Annals\n'
        "aims: Plants.\nexpectations: [Vouchers]\n" + SOURCES
    ),
    "evaluation/one.json": "{}\n",
}

FILE = "runtime-subject.yaml"


def changed(old: str, new: str, text: str = VALID) -> str:
    """The text with the one place `old` replaced."""
    assert text.count(old) == 1, f"{old!r} stands {text.count(old)} times"
    return text.replace(old, new)


def read(text: str | bytes) -> tuple[SubjectContract | None, tuple[ContractProblem, ...]]:
    """Read a contract from its text, without a file."""
    problems = Problems(FILE)
    contract = parse_contract(text.encode("utf-8") if isinstance(text, str) else text, problems)
    return contract, problems.in_file_order()


def contract_of(text: str = VALID) -> SubjectContract:
    """The contract in a text that must be valid."""
    contract, problems = read(text)
    assert contract is not None, [str(problem) for problem in problems]
    return contract


def summary(text: str | bytes) -> list[tuple[str, int, str]]:
    """Code, line and field of every problem."""
    return [(problem.code, problem.line, problem.field) for problem in read(text)[1]]


def write_package(root: Path, contract: str = VALID, **files: str | None) -> Path:
    """Write a package; `files` replaces (or with None leaves out) resources by their path."""
    for path, text in {**RESOURCES, FILE: contract, **files}.items():
        if text is not None:
            target = root / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8")
    return root
