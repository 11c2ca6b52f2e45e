"""The page of errors names every code that the source can raise, and the reader that finds them misses none."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path
from types import ModuleType

import attrs
import pytest
from contract_cases import changed, contract_of, write_package

from qiongli.cli import run
from qiongli.contract.models import Pattern
from qiongli.contract.problems import PROBLEM_CODES
from qiongli.errors import ContractError, QiongliError
from qiongli.limits import DEFAULT_LIMITS, broken_rules
from qiongli.records.packet import REFUSAL_CODES
from qiongli.signals.auditing import audit_contract

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "reference" / "errors.md").read_text(encoding="utf-8")
SOURCES = [
    path
    for folder in (ROOT / "qiongli-core" / "src", *(ROOT / "plugins").glob("*/src"), *(ROOT / "subjects").glob("*/src"))
    for path in sorted(folder.rglob("*.py"))
]


@pytest.fixture(scope="module")
def reader() -> ModuleType:
    """`tools/error_codes.py`, which is no part of a package."""
    name = "qiongli_tools_error_codes"
    specification = importlib.util.spec_from_file_location(name, ROOT / "tools" / "error_codes.py")
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    sys.modules[name] = module
    specification.loader.exec_module(module)
    return module


def row(code: str) -> str:
    """The line of a code on the page."""
    rows = [line for line in PAGE.split("\n") if line.startswith(f"| `{code}` |")]
    assert rows, f"docs/reference/errors.md lacks {code}; run: python tools/generate_docs.py"
    return rows[0]


def test_every_code_that_the_reader_finds_is_on_the_page(reader: ModuleType) -> None:
    folders = [ROOT / "qiongli-core" / "src", *(ROOT / "plugins").glob("*/src"), *(ROOT / "subjects").glob("*/src")]
    codes = {item.code for item in reader.error_codes(folders)}
    assert len(codes) > 150
    for code in codes:
        assert len(row(code).split("|")[3].strip()) > 1


def test_every_code_that_stands_as_such_in_the_source_is_on_the_page() -> None:
    """Independently of the reader: whatever is written `code="..."` in a call that raises."""
    found = set()
    for path in SOURCES:
        text = path.read_text(encoding="utf-8")
        found |= set(re.findall(r"raise \w+Error\((?:[^()]|\([^()]*\))*?\bcode=\"(\w+)\"", text))
        found |= set(re.findall(r"^    default_code = \"(\w+)\"", text, re.MULTILINE))
    assert len(found) > 80
    for code in (*found, *PROBLEM_CODES, *REFUSAL_CODES):
        row(code)


@pytest.mark.parametrize(
    ("patterns", "code"),
    [
        ("[the]", "pattern_too_common"),
        ("[ab]", "pattern_too_short"),
        ("[grafting trial]", "pattern_collides"),
        ("[herbaria alone]", "example_misses"),
    ],
)
def test_what_an_audit_of_a_contract_finds_is_on_the_page(patterns: str, code: str) -> None:
    contract = contract_of(changed("[herbarium sheet]", patterns))
    assert code in {problem.code for problem in audit_contract(contract)}
    row(code)


def test_a_pattern_without_any_word_is_on_the_page() -> None:
    contract = contract_of()
    signal = attrs.evolve(contract.signals[0], patterns=(Pattern("phrase", "!!"),))
    audited = audit_contract(attrs.evolve(contract, signals=(signal,)))
    assert "pattern_empty" in {problem.code for problem in audited}
    row("pattern_empty")


def test_the_code_of_several_faults_together_is_on_the_page(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    write_package(tmp_path, **{"overlays/botany.yaml": None, "domain-profile.yaml": None})
    assert run(["contract", "validate", str(tmp_path), "--json"]) == 2
    assert '"code": "invalid_contract"' in capsys.readouterr().out
    row("invalid_contract")


def test_every_broken_inequality_is_on_the_page() -> None:
    broken = attrs.evolve(DEFAULT_LIMITS, margin=0, lens_threshold=999_999, session_cap=900_000)
    codes = {problem.code for problem in broken_rules(broken)}
    assert len(codes) > 2
    for code in codes:
        row(code)


def test_every_kind_of_error_is_told_with_its_exit_code() -> None:
    for kind in (QiongliError, ContractError, *QiongliError.__subclasses__()):
        if kind.__module__ == "qiongli.errors":
            assert f"| `{kind.__name__}` | {int(kind.exit_code)} |" in PAGE


@pytest.mark.parametrize(
    ("source", "codes"),
    [
        ('raise InputError("no", code="direct")', {"direct"}),
        ('raise InputError("no", code="one" if there else "two")', {"one", "two"}),
        ('def f(): code = "named" if x else "other"\n  raise InputError("no", code=code)', None),
        (
            'def fail(code: str) -> None:\n    raise InputError("no", code=code)\nfail("given")\nfail(code="by_name")',
            {"given", "by_name"},
        ),
        (
            'def fail(message: str, *, code: str = "usual") -> InputError:\n    return InputError(message, code=code)\n'
            'fail("no")\nfail("no", code="unusual")',
            {"usual", "unusual"},
        ),
        (
            "def fail(number: int) -> None:\n"
            '    code, hint = {1: ("first", "x"), 2: ("second", "y")}.get(number, ("third", "z"))\n'
            '    raise InputError("no", code=code, hint=hint)',
            {"first", "second", "third"},
        ),
        (
            "def rule(line: str) -> InputError:\n"
            '    return InputError("no", code=f"rule_{line}")\n'
            "def rules() -> list[InputError]:\n"
            '    every = (("a", 1), ("b", 2))\n'
            "    return [rule(line) for line, _ in every]",
            {"rule_a", "rule_b"},
        ),
        (
            'TABLE = {"fault": "What it means."}\n'
            "def note(code: str) -> None:\n"
            "    assert code in TABLE\n"
            '    found.append(InputError("no", code=code))\n'
            "note(whatever)",
            {"fault"},
        ),
        ('class OwnError(InputError):\n    default_code = "own"', {"own"}),
        ("raise InputError(again.message, code=again.code)", set()),
        ('raise ValueError("no", code="of_another_kind")', set()),
    ],
)
def test_the_reader_finds_every_way_to_make_a_code(
    reader: ModuleType, tmp_path: Path, source: str, codes: set[str] | None
) -> None:
    base = 'class QiongliError(Exception):\n    """Base."""\nclass InputError(QiongliError):\n    """Input."""\n'
    if codes is None:
        source, codes = source.replace(": code", ":\n  code"), {"named", "other"}
    (tmp_path / "module.py").write_text(base + source, encoding="utf-8")
    assert {item.code for item in reader.error_codes([tmp_path])} == codes


@pytest.mark.parametrize(
    "source",
    [
        'raise InputError("no", code=CODES[0])',
        'def f(x): raise InputError("no", code=made_of(x))',
        'def f(): raise InputError("no", code=nowhere)',
    ],
)
def test_a_code_that_the_reader_cannot_tell_is_an_error(reader: ModuleType, tmp_path: Path, source: str) -> None:
    base = "class QiongliError(Exception): pass\nclass InputError(QiongliError): pass\n"
    (tmp_path / "module.py").write_text(base + source, encoding="utf-8")
    with pytest.raises(ValueError, match=r"module\.py:3: the code of this error cannot be told"):
        reader.error_codes([tmp_path])
