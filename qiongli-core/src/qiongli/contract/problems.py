"""Collecting every fault of a file at once, each with its file, line and dotted field."""

from __future__ import annotations

from difflib import get_close_matches
from types import MappingProxyType
from typing import Final

from qiongli.errors import ContractError, QiongliError

#: Code to what it means; the codes are stable, and every fault of a contract or resource has one of them.
PROBLEM_CODES: Final = MappingProxyType(
    {
        "unreadable": "The file cannot be read, or is no regular file.",
        "too_large": "The file is larger than its limit.",
        "too_deep": "Lists and mappings are nested deeper than the limit.",
        "too_many_nodes": "The file holds more values than the limit.",
        "not_utf8": "The bytes are not UTF-8, or hold characters that YAML forbids.",
        "yaml_syntax": "The text is not YAML.",
        "alias": "An alias or anchor is used; both are refused.",
        "tag": "An explicit YAML tag is used; tags are refused.",
        "several_documents": "The file holds more than one YAML document.",
        "duplicate_key": "A key stands twice in one mapping.",
        "unknown_key": "A key that the format does not know.",
        "missing_key": "A required key is absent.",
        "wrong_type": "The value has the wrong type.",
        "invalid_value": "The value has the right type and is not allowed.",
        "newer_schema": "The file follows a newer schema than this core reads.",
        "invalid_status": "`activation_status` is none of the four statuses.",
        "unknown_dimension": "No such dimension of signals.",
        "invalid_id": "An id does not have the form `<subject>.<dimension>.<name>`.",
        "duplicate_id": "Two signals or suppressors have one id.",
        "invalid_weight": "A weight is no finite number, or lies outside its range.",
        "threshold_loosened": "A metric is asked for less strictly than the gate's floor.",
        "invalid_pattern": "A pattern has none of the documented forms.",
        "regex_refused": "RE2 does not accept the regular expression, or it matches the empty text.",
        "invalid_path": "A path is absolute, not portable, or leads out of the package.",
        "path_escapes": "A path leads out of the package, through `..` or a symbolic link.",
        "missing_reference": "The declared status demands a reference that the contract does not have.",
        "missing_resource": "A file that the contract names does not exist in the package.",
        "invalid_resource": "A resource exists and does not follow the format of its kind.",
        "invalid_composite": "`composes` does not name two other subjects.",
        "invalid_specifier": "`requires_qiongli` is no version specifier.",
    }
)

#: A file with more faults than this is reported by its first ones and a count.
MAXIMUM_PROBLEMS: Final = 200


class ContractProblem(QiongliError):  # noqa: N818  # it is collected; what is raised is a ContractError
    """One fault: `place` is `file:line: field`; `line` is 0 when the fault belongs to the whole file."""

    default_code = "invalid_value"

    def __init__(
        self,
        message: str,
        *,
        code: str,
        file: str,
        line: int = 0,
        field: str = "",
        expected: str = "",
        hint: str = "",
        available: tuple[str, ...] = (),
    ) -> None:
        place = f"{file}:{line}" if line else file
        super().__init__(
            message,
            code=code,
            place=f"{place}: {field}" if field else place,
            expected=expected,
            hint=hint,
            available=available,
        )
        self.file: Final = file
        self.line: Final = line
        self.field: Final = field


class Problems:
    """The faults of one file so far, and the line of every field that was read."""

    def __init__(self, file: str) -> None:
        self.file: Final = file
        self.lines: Final[dict[str, int]] = {}
        self._found: list[ContractProblem] = []

    def __bool__(self) -> bool:
        return bool(self._found)

    def report(
        self,
        code: str,
        message: str,
        *,
        line: int = 0,
        field: str = "",
        expected: str = "",
        hint: str = "",
        available: tuple[str, ...] = (),
    ) -> None:
        """Note a fault; without a line, that of the field, or of the nearest field around it, is used."""
        assert code in PROBLEM_CODES, code
        self._found.append(
            ContractProblem(
                message,
                code=code,
                file=self.file,
                line=line or self.line_of(field),
                field=field,
                expected=expected,
                hint=hint,
                available=available,
            )
        )

    def line_of(self, field: str) -> int:
        """The line of a dotted field, of the nearest field that contains it, or 0."""
        while field:
            if field in self.lines:
                return self.lines[field]
            field = field[: max(field.rfind("."), field.rfind("["), 0)]
        return self.lines.get("", 0)

    def in_file_order(self) -> tuple[ContractProblem, ...]:
        """All faults by line, then in the order of finding; at most `MAXIMUM_PROBLEMS` and one that counts the rest."""
        ordered = sorted(self._found, key=lambda problem: problem.line)
        if len(ordered) <= MAXIMUM_PROBLEMS:
            return tuple(ordered)
        rest = ContractProblem(
            f"{len(ordered) - MAXIMUM_PROBLEMS} further problems are not listed",
            code=ordered[MAXIMUM_PROBLEMS].code,
            file=self.file,
        )
        return (*ordered[:MAXIMUM_PROBLEMS], rest)

    def raise_if_any(self, what: str) -> None:
        """Raise one `ContractError` that holds every fault; its code is that of a sole fault, else the general one."""
        problems = self.in_file_order()
        if not problems:
            return
        sole = problems[0] if len(problems) == 1 else None
        raise ContractError(
            f"{what} has {len(problems)} problems" if sole is None else f"{what} has a problem: {sole.message}",
            problems=problems,
            code=ContractError.default_code if sole is None else sole.code,
            place=self.file if sole is None else sole.place,
            hint=(sole.hint if sole else "") or f"Run: qiongli contract validate {self.file}",
        )


def nearest(name: str, known: tuple[str, ...]) -> str:
    """`did you mean X?` for a misspelt name, or an empty text."""
    near = get_close_matches(name, known, n=1)
    return f"did you mean {near[0]!r}?" if near else ""
