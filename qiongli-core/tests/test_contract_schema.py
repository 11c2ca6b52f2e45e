"""The JSON Schemas for editors agree with the loader as far as a schema can."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from contract_cases import RESOURCES, VALID, changed, summary
from jsonschema import Draft202012Validator

from qiongli.contract.kinds import FORMATS
from qiongli.contract.schema import DOCUMENTS, json_schema
from qiongli.errors import InputError


def fits(document: str, text: str) -> bool:
    value: Any = yaml.safe_load(text)
    return Draft202012Validator(json_schema(document)).is_valid(value)


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_schema_is_a_valid_schema_whose_references_resolve(document: str) -> None:
    schema = json_schema(document)
    Draft202012Validator.check_schema(schema)
    named = {f"#/$defs/{name}" for name in schema.get("$defs", {})}
    assert set(_references(schema)) == named


def _references(value: Any) -> list[str]:
    if isinstance(value, dict):
        own = [value["$ref"]] if "$ref" in value else []
        return own + [reference for item in value.values() for reference in _references(item)]
    return [reference for item in value for reference in _references(item)] if isinstance(value, list) else []


def test_every_key_has_a_description() -> None:
    for document in DOCUMENTS:
        for name, part in json_schema(document)["properties"].items():
            assert part.get("description"), f"{document}: {name}"


def test_a_valid_contract_fits() -> None:
    assert fits("contract", VALID)


@pytest.mark.parametrize("version", ["1.0", '"1.0"'])
def test_the_schema_version_may_stand_without_quotes(version: str) -> None:
    assert fits("contract", changed('"1.0"', version))


@pytest.mark.parametrize(
    ("kind", "file"),
    [
        ("overlay", "overlays/botany.yaml"),
        ("domain_profile", "domain-profile.yaml"),
        ("method_pack", "method-packs/grafting.yaml"),
        ("venue_profile", "venue-profiles/annals.yaml"),
    ],
)
def test_valid_resources_fit_their_kind_and_no_other(kind: str, file: str) -> None:
    assert [name for name in FORMATS if fits(name, RESOURCES[file])] == [kind]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("activation_status: candidate", "activation_status: enabled"),
        ("hooks: null", "hoooks: null"),
        ("subject: botany\ndisplay", "display"),
        ("      weight: 0.20", "      weight: 0.05"),
        ("      weight: 0.20", '      weight: "0.2"'),
        ("      weight: 0.20", "      weight: true"),
        ("      activation: subject", "      activation: always"),
        ("    weight: 0.10\n    examples", "    weight: 0\n    examples"),
        ("subject: botany\ndisplay", "subject: Bot any\ndisplay"),
        ("      patterns: [herbarium sheet]", "      patterns: []"),
        ("- grafting trial", "- {phrase: a, near: [b]}"),
        ("- grafting trial", "- 2008"),
        ("{acronym: GT, near: [graft, scion]}", "{acronym: GT}"),
        ("primary_subject_accuracy: 0.95", "primary_subject_accuracy: 0.9"),
        ("single_dimension: false", 'single_dimension: "no"'),
        ("  venue: []", "  venues: []"),
        ("optional: true", "optional: maybe"),
    ],
)
def test_what_a_schema_can_see_is_refused_by_schema_and_loader_alike(old: str, new: str) -> None:
    text = changed(old, new)
    assert not fits("contract", text)
    assert summary(text) != []


def test_an_unknown_document_names_the_known_ones() -> None:
    with pytest.raises(InputError) as caught:
        json_schema("recipe")
    assert caught.value.available == DOCUMENTS
