"""The stored index: what it detects, and that nothing but what was stored, whole and for these contracts, is used."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import attrs
import pytest
from packet_cases import contract

from qiongli.evaluation.catalogue import as_subject, measuring_runtime, switched_on
from qiongli.records.project import ManifestState
from qiongli.refinement import infer_subject_refinement
from qiongli.runtime import Runtime
from qiongli.signals import compile_index
from qiongli.signals.cache import load_index
from qiongli.signals.index import index_digest, index_to_json

CONTRACTS = tuple(contract(slug) for slug in ("alpha", "beta", "gamma"))

#: One full signal of alpha, and a denied one: 0.30 + 0.20, which is not enough unless somebody raises a weight.
TEXT = "We read the quorl ledger. We do not use quorl weighting. A toy quorl, and the brindle register."


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("QIONGLI_CACHE_DIR", str(tmp_path))
    return tmp_path


def routed() -> dict[str, Any]:
    """The packet of the text, with the index as the cache gives it."""
    rows = [switched_on(as_subject(item, Path("nowhere") / item.subject)) for item in CONTRACTS]
    runtime = Runtime(measuring_runtime(rows).catalogue, load_index(CONTRACTS))
    return infer_subject_refinement(TEXT, manifest_state=ManifestState(), runtime=runtime).to_packet()


def stored(folder: Path) -> Path:
    """The one file of an index in the cache."""
    (path,) = folder.glob("index-*.json")
    return path


def changed(text: str, old: str, new: str) -> str:
    assert old in text, "the case no longer fits what is stored"
    return text.replace(old, new)


def sealed_anew(change: Callable[[dict[str, Any]], object]) -> Callable[[str], str]:
    """A forger's hand: change the content, and put the seal on it that fits."""

    def tamper(text: str) -> str:
        body = json.loads(text)["index"]
        change(body)
        inner = json.dumps(body, ensure_ascii=False, separators=(",", ":"))
        return f'{{"seal":"{sha256(inner.encode()).hexdigest()}","index":{inner}}}'

    return tamper


TAMPERED: dict[str, Callable[[str], str]] = {
    "a raised weight": lambda text: changed(text, ',"subject",200000,', ',"subject",999999,'),
    "a signal of another subject": lambda text: changed(text, '"beta","data_or_outcome"', '"alpha","data_or_outcome"'),
    "a suppressor that became a signal": lambda text: changed(text, '"suppressor"]', '"signal"]'),
    "the owner of a phrase is another one": lambda text: changed(text, "ledger|4", "ledger|6"),
    "an owner that does not exist": lambda text: changed(text, "ledger|4", "ledger|444444"),
    "a line of the trie without its numbers": lambda text: changed(text, "ledger|4", "ledger"),
    "a phrase was taken out": lambda text: changed(text, "toy", "tot"),
    "an owner lacks a field": lambda text: changed(text, '"alpha.method.weighting",', ""),
    "the owners are no list": lambda text: changed(text, '"owners":[', '"owners":7,"others":['),
    "the end is missing": lambda text: text[:-40],
    "something was added": lambda text: text + " ",
    "the seal is another one": lambda text: text[:9] + "0" * 64 + text[73:],
    "there is no seal": lambda text: json.dumps(json.loads(text)["index"], ensure_ascii=False, separators=(",", ":")),
    "nothing is left": lambda text: "",
    "it is something else": lambda text: "[" * 100_000,
    "sealed anew, another version": sealed_anew(lambda body: body.update(version=1)),
    "sealed anew, the owners are no rows": sealed_anew(lambda body: body.update(owners=[["alpha"]])),
    "sealed anew, a weight is a text": sealed_anew(lambda body: body["owners"][0].__setitem__(5, "200000")),
    "sealed anew, the checks are nothing": sealed_anew(lambda body: body.update(checks=None)),
    "sealed anew, the lines are lists": sealed_anew(lambda body: body.update(trie={"quorl": [1]})),
    "sealed anew, without subjects": sealed_anew(lambda body: body.pop("subjects")),
    "sealed anew, no object": lambda text: f'{{"seal":"{sha256(b"[]").hexdigest()}","index":[]}}',
}


@pytest.mark.parametrize("how", TAMPERED)
def test_a_tampered_index_is_compiled_anew_and_gives_the_packet_of_a_fresh_one(folder: Path, how: str) -> None:
    fresh = routed()
    path = stored(folder)
    whole = path.read_text(encoding="utf-8")
    damaged = TAMPERED[how](whole)
    assert damaged != whole
    path.write_text(damaged, encoding="utf-8")
    assert routed() == fresh
    # It was replaced, so that the next start is a warm one again.
    assert path.read_text(encoding="utf-8") == whole


@pytest.mark.parametrize("data", [b"\xff\xfe\x00", b"\xed\xa0\x80"], ids=["no UTF-8", "half a pair"])
def test_bytes_that_are_no_text_are_compiled_anew(folder: Path, data: bytes) -> None:
    fresh = routed()
    stored(folder).write_bytes(data)
    assert routed() == fresh


def test_a_folder_where_the_index_would_be_is_done_without(folder: Path) -> None:
    fresh = routed()
    path = stored(folder)
    path.unlink()
    path.mkdir()
    assert routed() == fresh


def test_the_whole_index_of_other_contracts_is_not_used(folder: Path) -> None:
    """It is sealed and whole; only the digest of its contracts says that it belongs elsewhere."""
    heavier = attrs.evolve(CONTRACTS[0], signals=(), digest="another")
    others = (heavier, *CONTRACTS[1:])
    fresh = routed()
    path = stored(folder)
    path.write_text(index_to_json(compile_index(others)), encoding="utf-8")
    assert load_index(CONTRACTS).digest == index_digest(CONTRACTS)
    path.write_text(index_to_json(compile_index(others)), encoding="utf-8")
    assert routed() == fresh


def test_a_whole_index_is_read_and_not_compiled_again(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fresh = routed()

    def compiled(_contracts: object) -> None:
        raise AssertionError("it was compiled again")

    monkeypatch.setattr("qiongli.signals.cache.compile_index", compiled)
    assert routed() == fresh


def test_a_damaged_index_shows_nowhere_on_the_command_line(tmp_path: Path) -> None:
    """The audited case: valid JSON with a damaged trie, with the subjects that are installed here."""
    environment = {**os.environ, "QIONGLI_CACHE_DIR": str(tmp_path / "cache"), "QIONGLI_CONFIG_DIR": str(tmp_path)}
    command = [sys.executable, "-m", "qiongli", "route", "--json", "--text", "We run an event study of stock prices."]

    def run() -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command, capture_output=True, text=True, encoding="utf-8", env=environment, check=False, timeout=60
        )

    fresh = run()
    assert fresh.returncode == 0
    path = stored(tmp_path / "cache")
    document = json.loads(path.read_text(encoding="utf-8"))
    document["index"]["trie"] = dict.fromkeys(document["index"]["trie"], "|x")
    path.write_text(json.dumps(document, ensure_ascii=False, separators=(",", ":")), encoding="utf-8")
    again = run()
    assert (again.returncode, again.stderr, again.stdout) == (0, "", fresh.stdout)
