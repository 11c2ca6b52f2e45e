"""The YAML that a contract may be written in, and what of YAML is refused; the same with and without the C parser."""

from __future__ import annotations

import pytest
import yaml
from contract_cases import FILE, VALID, changed, contract_of, read, summary
from hypothesis import given
from hypothesis import strategies as st

from qiongli.contract.nodes import MAXIMUM_BYTES, parse
from qiongli.contract.problems import Problems
from qiongli.errors import EnvironmentBrokenError


@pytest.fixture(params=["C parser", "Python parser"])
def parser(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "Python parser":
        monkeypatch.delattr(yaml, "CSafeLoader", raising=False)
    elif not hasattr(yaml, "CSafeLoader"):
        pytest.skip("PyYAML has no C extension on this machine")
    return str(request.param)


@pytest.mark.usefixtures("parser")
class TestRefused:
    def test_aliases_and_anchors_are_refused_each_at_its_line(self) -> None:
        text = changed("[herbarium sheet]", "&p [herbarium sheet]")
        text = changed("patterns: [skin graft]", "patterns: *p", text)
        assert summary(text) == [("alias", 33, ""), ("alias", 41, "")]

    def test_an_alias_bomb_is_refused_before_it_grows(self) -> None:
        lines = ["a0: &a0 [x, x]"] + [f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]" for n in range(1, 60)]
        codes = {code for code, _, _ in summary("\n".join(lines))}
        assert "alias" in codes

    @pytest.mark.parametrize("tag", ["!!python/object/apply:os.system ['true']", "!!str Botany", "!local Botany"])
    def test_tags_are_refused(self, tag: str) -> None:
        found = summary(changed("display_name: Botany", f"display_name: {tag}"))
        assert ("tag", 3, "") in found

    def test_a_merge_key_is_an_unknown_key(self) -> None:
        assert summary(VALID + "<<: {a: b}\n") == [("unknown_key", 54, "<<")]

    @pytest.mark.parametrize("opening", ["[", "{a: "])
    def test_deep_nesting_is_refused_and_never_exhausts_the_stack(self, opening: str) -> None:
        for depth in (17, 900, 100_000):
            found = summary(changed("hooks: null", "hooks: " + opening * depth))
            assert [(code, line) for code, line, _ in found] in ([("too_deep", 53)], [("yaml_syntax", 53)])

    def test_duplicate_keys_name_the_line_of_the_first(self) -> None:
        _, problems = read(changed("  venue: []", "  method: []"))
        assert [problem.code for problem in problems] == ["duplicate_key"]
        assert problems[0].line == 36
        assert "line 13" in problems[0].message

    def test_keys_that_are_no_text_are_refused(self) -> None:
        assert summary(VALID + "? [a, b]\n: 1\n") == [("wrong_type", 54, "")]

    def test_a_second_document_is_refused(self) -> None:
        assert summary(VALID + "---\nsubject: zoology\n") == [("several_documents", 54, "")]

    def test_broken_yaml_names_its_line(self) -> None:
        found = summary(changed("extends: core", "extends: core: more"))
        assert [(code, line) for code, line, _ in found] == [("yaml_syntax", 5)]

    def test_bytes_that_are_not_utf8_name_their_line(self) -> None:
        data = VALID.encode().replace(b"display_name: Botany", b"display_name: Bot\xffny")
        assert summary(data) == [("not_utf8", 3, "")]

    @pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-32"])
    def test_other_encodings_are_refused(self, encoding: str) -> None:
        codes = [code for code, _, _ in summary(VALID.encode(encoding))]
        assert codes == ["not_utf8"]

    @pytest.mark.parametrize("character", ["\x00", "\x07", "\x1b", "\ufffe"])
    def test_characters_outside_of_yaml_name_their_line(self, character: str) -> None:
        assert summary(changed("display_name: Botany", f"display_name: Bot{character}any")) == [("not_utf8", 3, "")]

    @pytest.mark.parametrize("text", ["", "\n", "# only a comment\n", "---\n"])
    def test_an_empty_file_is_an_error(self, text: str) -> None:
        assert [code for code, _, _ in summary(text)] == ["wrong_type"]

    @pytest.mark.parametrize("text", ["- a\n", "text\n", "7\n"])
    def test_a_file_whose_top_is_no_mapping_is_an_error(self, text: str) -> None:
        assert [(code, line) for code, line, _ in summary(text)] == [("wrong_type", 1)]


@pytest.mark.usefixtures("parser")
class TestAccepted:
    def test_a_byte_order_mark_and_windows_or_old_mac_line_ends_change_nothing_but_the_digest(self) -> None:
        import attrs

        plain = contract_of()
        for data in (
            b"\xef\xbb\xbf" + VALID.encode(),
            VALID.replace("\n", "\r\n").encode(),
            b"\xef\xbb\xbf" + VALID.replace("\n", "\r\n").encode(),
            VALID.replace("\n", "\r").encode(),
        ):
            contract, problems = read(data)
            assert problems == ()
            assert contract is not None
            assert attrs.evolve(contract, digest=plain.digest) == plain

    def test_windows_line_ends_do_not_shift_the_lines_of_problems(self) -> None:
        text = changed("hooks: null", "hoooks: null").replace("\n", "\r\n")
        assert summary(text) == [("unknown_key", 53, "hoooks")]

    def test_block_folded_and_quoted_texts_are_texts(self) -> None:
        text = changed("display_name: Botany", "display_name: >-\n  Botany\n  of trees")
        assert contract_of(text).display_name == "Botany of trees"
        text = changed("display_name: Botany", "display_name: 'true'")
        assert contract_of(text).display_name == "true"


class TestSizes:
    def test_a_file_of_the_largest_size_loads_and_one_byte_more_does_not(self) -> None:
        padding = "#" * (MAXIMUM_BYTES - len(VALID.encode()))
        assert read(VALID + padding)[1] == ()
        assert summary(VALID + padding + "#") == [("too_large", 0, "")]

    def test_a_file_of_a_hundred_thousand_values_is_bounded(self) -> None:
        text = "a:\n" + "- 1\n" * 262_000
        assert "too_many_nodes" in [code for code, _, _ in summary(text)]

    def test_a_huge_file_is_not_read_whole(self, tmp_path: object) -> None:
        from pathlib import Path

        from qiongli.contract.nodes import read_bytes

        assert isinstance(tmp_path, Path)
        path = tmp_path / FILE
        with path.open("wb") as stream:
            stream.truncate(50 * 2**30)
        problems = Problems(FILE)
        assert read_bytes(path, problems) is None
        assert [problem.code for problem in problems.in_file_order()] == ["too_large"]


def test_both_parsers_give_the_same_contract_and_the_same_problems(monkeypatch: pytest.MonkeyPatch) -> None:
    if not hasattr(yaml, "CSafeLoader"):
        pytest.skip("PyYAML has no C extension on this machine")
    broken = changed("  venue: []", "  venue: [7, {id: 1, weight: .inf}]", changed("hooks: null", "hook: &a 1"))
    with_c = read(VALID)[0], summary(broken)
    monkeypatch.delattr(yaml, "CSafeLoader")
    assert (read(VALID)[0], summary(broken)) == with_c


def test_without_pyyaml_the_error_says_how_to_mend_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "yaml", None)
    with pytest.raises(EnvironmentBrokenError) as caught:
        read(VALID)
    assert "pip install PyYAML" in caught.value.hint


@given(st.binary(max_size=400))
def test_arbitrary_bytes_are_a_contract_or_problems_and_never_another_exception(data: bytes) -> None:
    contract, problems = read(data)
    assert (contract is None) == bool(problems)


@given(st.integers(0, len(VALID) - 1), st.text(max_size=6))
def test_a_contract_damaged_anywhere_is_a_contract_or_problems(position: int, inserted: str) -> None:
    text = VALID[:position] + inserted + VALID[position + 1 :]
    contract, problems = read(text.encode("utf-8", "surrogatepass"))
    assert (contract is None) == bool(problems)
    assert all(problem.line <= text.count("\n") + text.count("\r") + 2 for problem in problems)


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=12,
)
_KEYS = [line.split(":")[0] for line in VALID.splitlines() if line[0] not in " -"]


@given(st.dictionaries(st.sampled_from(_KEYS), _VALUES, min_size=1))
def test_any_value_in_any_key_is_a_contract_or_problems(values: dict[str, object]) -> None:
    kept = [block for block in _blocks() if block.split(":")[0] not in values]
    text = "\n".join(kept) + "\n" + yaml.safe_dump(values, allow_unicode=True)
    contract, problems = read(text.encode("utf-8", "surrogatepass"))
    assert (contract is None) == bool(problems)


def _blocks() -> list[str]:
    blocks: list[str] = []
    for line in VALID.splitlines():
        if line[0] == " ":
            blocks[-1] += "\n" + line
        else:
            blocks.append(line)
    return blocks


def test_the_tree_knows_which_texts_stood_in_quotes() -> None:
    from qiongli.contract.nodes import Scalar

    root = parse(b"a: 1\nb: '1'\n", Problems(FILE))
    assert root is not None
    assert root.get("a") == Scalar("1", plain=True, line=1)
    assert root.get("b") == Scalar("1", plain=False, line=2)
