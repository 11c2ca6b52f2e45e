"""The stored index: what it detects, and that nothing but what was stored, whole and for these contracts, is used."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs
import pytest
from packet_cases import contract

from qiongli.cache import read_cached, write_cached
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


def rewritten(change: Callable[[dict[str, Any]], object]) -> Callable[[Path], None]:
    """A forger's hand: change the content, and put the seal on it that fits."""

    def tamper(path: Path) -> None:
        document = json.loads(read_cached(path.name) or "")
        change(document)
        write_cached(path.name, json.dumps(document, ensure_ascii=False))

    return tamper


def edited(change: Callable[[str], str]) -> Callable[[Path], None]:
    """A change of the file's characters and nothing else."""

    def tamper(path: Path) -> None:
        text = path.read_text(encoding="utf-8")
        path.write_text(change(text), encoding="utf-8")

    return tamper


def copied_from_another_name(path: Path) -> None:
    """The same whole content, with the seal of another name."""
    content = read_cached(path.name)
    assert content is not None
    write_cached("other-index.json", content)
    path.write_bytes(path.with_name("other-index.json").read_bytes())


TAMPERED: dict[str, Callable[[Path], None]] = {
    "a raised weight": edited(lambda text: changed(text, ',"subject",200000,', ',"subject",999999,')),
    "a signal of another subject": edited(
        lambda text: changed(text, '"beta","data_or_outcome"', '"alpha","data_or_outcome"')
    ),
    "a suppressor that became a signal": edited(lambda text: changed(text, '"suppressor"]', '"signal"]')),
    "the owner of a phrase is another one": edited(lambda text: changed(text, "ledger|4", "ledger|6")),
    "an owner that does not exist": edited(lambda text: changed(text, "ledger|4", "ledger|444444")),
    "a line of the trie without its numbers": edited(lambda text: changed(text, "ledger|4", "ledger")),
    "a phrase was taken out": edited(lambda text: changed(text, "toy", "tot")),
    "an owner lacks a field": edited(lambda text: changed(text, '"alpha.method.weighting",', "")),
    "the owners are no list": edited(lambda text: changed(text, '"owners":[', '"owners":7,"others":[')),
    "the end is missing": edited(lambda text: text[:-70]),
    "something was added": edited(lambda text: text + " "),
    "something was added before the seal": edited(lambda text: text[:-65] + " " + text[-65:]),
    "the seal is another one": edited(lambda text: text[:-64] + "0" * 64),
    "there is no seal": edited(lambda text: text[:-65]),
    "nothing is left": edited(lambda text: ""),
    "it is something else": edited(lambda text: "[" * 100_000),
    "it was kept under another name": copied_from_another_name,
    "sealed anew, another version": rewritten(lambda document: document.update(version=1)),
    "sealed anew, the owners are no rows": rewritten(lambda document: document.update(owners=[["alpha"]])),
    "sealed anew, a weight is a text": rewritten(lambda document: document["owners"][0].__setitem__(5, "200000")),
    "sealed anew, the checks are nothing": rewritten(lambda document: document.update(checks=None)),
    "sealed anew, the lines are lists": rewritten(lambda document: document.update(trie={"quorl": [1]})),
    "sealed anew, without subjects": rewritten(lambda document: document.pop("subjects")),
    "sealed anew, no object": lambda path: write_cached(path.name, "[]"),
    "sealed anew, too deep": lambda path: write_cached(path.name, "[" * 100_000),
}


@pytest.mark.parametrize("how", TAMPERED)
def test_a_tampered_index_is_compiled_anew_and_gives_the_packet_of_a_fresh_one(folder: Path, how: str) -> None:
    fresh = routed()
    path = stored(folder)
    whole = path.read_bytes()
    TAMPERED[how](path)
    assert path.read_bytes() != whole
    assert routed() == fresh
    # It was replaced, so that the next start is a warm one again.
    assert path.read_bytes() == whole


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
    write_cached(path.name, index_to_json(compile_index(others)))
    assert load_index(CONTRACTS).digest == index_digest(CONTRACTS)
    write_cached(path.name, index_to_json(compile_index(others)))
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
    content, _, seal = path.read_text(encoding="utf-8").rpartition("\n")
    document = json.loads(content)
    document["trie"] = dict.fromkeys(document["trie"], "|x")
    path.write_text(f"{json.dumps(document, ensure_ascii=False)}\n{seal}", encoding="utf-8")
    again = run()
    assert (again.returncode, again.stderr, again.stdout) == (0, "", fresh.stdout)


@pytest.mark.parametrize("kind", ["contract-", "verdict-", "digest-"])
def test_whatever_else_the_cache_keeps_is_sealed_too(folder: Path, kind: str) -> None:
    """One word that became another, in valid JSON, is noticed whatever it is a word of."""
    write_cached(f"{kind}1.json", '{"holds": false}')
    assert read_cached(f"{kind}1.json") == '{"holds": false}'
    path = folder / f"{kind}1.json"
    path.write_bytes(path.read_bytes().replace(b"false", b"true"))
    assert read_cached(f"{kind}1.json") is None


def test_any_text_comes_back_from_the_cache_as_it_was(folder: Path) -> None:
    for text in ("", "\n", "a\r\nb\n", "事件研究", "\x00", '{"a": 1}\n'):
        write_cached("any-1.json", text)
        assert read_cached("any-1.json") == text
    write_cached("any-2.json", "\ud800")  # no text that a file could hold
    assert read_cached("any-2.json") is None
    assert sorted(path.name for path in folder.iterdir()) == ["any-1.json"]
