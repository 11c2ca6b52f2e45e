"""Activation records, and the verdicts on them that a machine keeps."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import attrs

from qiongli._value import Value
from qiongli.cache import read_cached, write_cached
from qiongli.errors import ContractError
from qiongli.gate.digest import RECORD_FILE, content_digest, core_digest, file_digests
from qiongli.records._units import to_json
from qiongli.records.subjects import Reason

if TYPE_CHECKING:
    from qiongli.records.gate import ActivationRecord

__all__ = [
    "POLICY_VERSION",
    "RECORD_FILE",
    "StoredRecord",
    "Verdict",
    "changed_files",
    "content_digest",
    "core_digest",
    "read_record",
    "read_verdict",
    "remove_record",
    "verdict_key",
    "write_record",
    "write_verdict",
]

#: Version of the gate's rules; a record that was made under other rules does not hold here.
POLICY_VERSION: Final = 1

_MAXIMUM_RECORD: Final = 4_194_304
_VERDICT_FORM: Final = 1


@attrs.frozen(repr=False)
class Verdict(Value):
    """What a verification found: whether a subject's record holds here, and why not.

    Anything but an explicit True lowers the subject. `single_dimension_proved` says that the contract's exemption
    from the rule of two dimensions was proved. A verdict that is not `lasting`, such as "still verifying", is not
    kept.
    """

    holds: bool
    reason: Reason | None = None
    single_dimension_proved: bool = False
    lasting: bool = True


@attrs.frozen(repr=False)
class StoredRecord(Value):
    """A subject's activation record as it lies in its package; `digest` is the SHA-256 of the file's bytes."""

    record: ActivationRecord
    digest: str


def read_record(root: Path) -> StoredRecord | None:
    """The record of the package in `root`, or None when there is none.

    Raises `ContractError` with code `record_malformed` for anything that is no whole record.
    """
    path = root / RECORD_FILE
    try:
        if not path.is_file():
            if path.is_symlink() or path.exists():
                raise _malformed(path, "it is no regular file")
            return None
        if not path.resolve().is_relative_to(root.resolve()):
            raise _malformed(path, "it is a link that leaves the package")
        with path.open("rb") as stream:
            data = stream.read(_MAXIMUM_RECORD + 1)
    except (OSError, RuntimeError) as error:
        raise _malformed(path, f"it cannot be read ({type(error).__name__})") from None
    if len(data) > _MAXIMUM_RECORD:
        raise _malformed(path, f"it has more than {_MAXIMUM_RECORD} bytes")
    try:
        record = _structure(json.loads(data.decode("utf-8"), parse_constant=_refuse))
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise _malformed(path, str(error) or type(error).__name__) from None
    return StoredRecord(record, sha256(data).hexdigest())


def changed_files(record: ActivationRecord, root: Path) -> tuple[str, ...]:
    """Files that differ from those of the record, each as `changed: NAME`, `added: NAME` or `removed: NAME`.

    Empty when the record names no files. Raises `OSError` when a file cannot be read.
    """
    if not record.files:
        return ()
    now = file_digests(root)
    lines = [f"changed: {name}" for name in now if name in record.files and record.files[name] != now[name]]
    lines += [f"added: {name}" for name in now if name not in record.files]
    lines += [f"removed: {name}" for name in record.files if name not in now]
    return tuple(sorted(lines))


def write_record(root: Path, record: ActivationRecord) -> Path:
    """Write the record into the package in `root`, whole or not at all, and return its path."""
    path = root / RECORD_FILE
    temporary = path.with_name(f".{RECORD_FILE}.{os.getpid()}")
    try:
        with temporary.open("w", encoding="utf-8", newline="\n") as stream:
            stream.write(to_json(record.to_packet()) + "\n")
            stream.flush()
            os.fsync(stream.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
    return path


def remove_record(root: Path) -> bool:
    """Remove the record of the package in `root`; whether there was one."""
    path = root / RECORD_FILE
    existed = path.is_symlink() or path.exists()
    path.unlink(missing_ok=True)
    return existed


def verdict_key(*, record: str, content: str, peers: Sequence[tuple[str, str]]) -> str:
    """The name under which a verdict is kept: a digest of all that it depended on.

    `record` is the digest of the record's bytes, `content` that of the package, `peers` the slug and digest of every
    other subject that took part, in order of admission. Core's own bytes and the version of the gate's rules enter.
    """
    parts = [
        str(_VERDICT_FORM),
        str(POLICY_VERSION),
        core_digest(),
        record,
        content,
        *(f"{slug} {digest}" for slug, digest in peers),
    ]
    return sha256("\n".join(parts).encode()).hexdigest()


def read_verdict(key: str) -> Verdict | None:
    """The verdict kept under the key, or None when there is none that can be read."""
    text = read_cached(f"verdict-{key}.json")
    if text is None:
        return None
    try:
        found = json.loads(text)
        if found["form"] != _VERDICT_FORM or found["key"] != key:
            return None
        holds, proved, raw = found["holds"], found["single_dimension_proved"], found["reason"]
        reason = None if raw is None else Reason(_text(raw["code"]), _text(raw["message"]), _text(raw["hint"]))
    except (ValueError, TypeError, KeyError, RecursionError):
        return None
    if type(holds) is not bool or type(proved) is not bool:
        return None
    return Verdict(holds, reason, proved)


def write_verdict(key: str, verdict: Verdict) -> None:
    """Keep a lasting verdict; a cache that cannot be written is done without."""
    if not verdict.lasting:
        return
    reason = None if verdict.reason is None else verdict.reason.to_packet()
    document = {
        "form": _VERDICT_FORM,
        "key": key,
        "holds": verdict.holds is True,
        "single_dimension_proved": verdict.single_dimension_proved is True,
        "reason": reason,
    }
    write_cached(f"verdict-{key}.json", json.dumps(document, ensure_ascii=False))


def _malformed(path: Path, why: str) -> ContractError:
    return ContractError(
        f"the activation record is malformed: {why}",
        code="record_malformed",
        place=str(path),
        hint="Promote the subject again from its sources: qiongli gate promote",
    )


def _refuse(constant: str) -> float:
    raise ValueError(f"{constant} is no JSON number")


def _structure(value: Any) -> ActivationRecord:
    """Build the record from parsed JSON; unknown keys of a later version are ignored, known ones must fit."""
    if not isinstance(value, dict):
        raise TypeError("it is no JSON object")
    from qiongli.records.gate import ActivationRecord

    version = _text(value["schema_version"])
    if version.partition(".")[0] != "1":
        raise ValueError(f"its schema version {version!r} is not known here")
    if type(value["policy_version"]) is not int:
        raise TypeError("policy_version is no whole number")
    counts = _mapping(value["counts"])
    if not all(type(count) is int and count >= 0 for count in counts.values()):
        raise TypeError("counts holds something that is no count")
    peers = _mapping(value["peers"])
    cases = value["cases"]
    if not isinstance(cases, list):
        raise TypeError("cases is no list")
    return ActivationRecord(
        subject=_text(value["subject"]),
        distribution=_text(value["distribution"]),
        version=_text(value["version"]),
        content_digest=_text(value["content_digest"]),
        core_version=_text(value["core_version"]),
        policy_version=value["policy_version"],
        metrics=_mapping(value["metrics"]),
        thresholds=_mapping(value["thresholds"]),
        counts=counts,
        peers={slug: _text(digest) for slug, digest in peers.items()},
        cases=tuple(_text(case) for case in cases),
        files={name: _text(digest) for name, digest in _mapping(value.get("files", {})).items()},
        schema_version=version,
    )


def _text(value: Any) -> str:
    if type(value) is not str:
        raise TypeError("a text is expected where there is none")
    return value


def _mapping(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise TypeError("a mapping is expected where there is none")
    return value
