"""Random and hostile documents, contracts and sessions, for as long as `FUZZ_SECONDS` says (ten minutes by default).

Every round routes texts in this process and in two others with other hash seeds and locales. It fails on a crash, on
bytes that differ, and on a packet that does not fit its schema; the seed that it prints replays the round.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from hashlib import sha256
from pathlib import Path

import attrs
import jsonschema

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from hostile_pieces import hostile_text  # beside the tests, not installed

from qiongli.contract.loader import load_contract
from qiongli.errors import ContractError, QiongliError
from qiongli.limits import DEFAULT_LIMITS
from qiongli.plugins import Catalogue
from qiongli.records.project import ManifestState
from qiongli.runtime import Runtime, default_runtime, infer_subject_refinement
from qiongli.schemas import schema_text
from qiongli.session import EVENT_KINDS, Identifier, SessionContext, SessionEvent, SessionState, fold
from qiongli.signals import compile_index


def session(generator: random.Random, fingerprint: str) -> SessionState:
    events = [
        SessionEvent(
            generator.choice(EVENT_KINDS),
            Identifier(generator.choice(["economics", "finance", "ambiguous:economics+finance"])),
            SessionContext(Identifier("s"), Identifier(fingerprint or "none"), Identifier("policy:1"), turn),
        )
        for turn in range(generator.randint(0, 30))
    ]
    return fold(events, "s")


def routed(seed: int) -> str:
    """One digest of forty packets; the same in every process."""
    generator = random.Random(seed)
    runtime = default_runtime()
    validator = jsonschema.Draft202012Validator(json.loads(schema_text("packet")))
    digest = sha256()
    for number in range(40):
        given = hostile_text(generator)
        first = infer_subject_refinement(given, runtime=runtime)
        state = generator.choice(
            [
                ManifestState(),
                ManifestState("finance", "locked"),
                ManifestState("economics", "confirmed"),
                ManifestState("alchemy", "locked"),
                ManifestState(strictness="strict"),
            ]
        )
        packet = infer_subject_refinement(
            given, manifest_state=state, session=session(generator, first.fingerprint), runtime=runtime
        ).to_packet()
        if number % 8 == 0:
            validator.validate(packet)
        digest.update(json.dumps(packet, allow_nan=False).encode("utf-8", "backslashreplace"))
    return digest.hexdigest()


def broken_contracts(seed: int, folder: str) -> None:
    """A real contract with random bytes changed is refused with places, or loads and can be used."""
    generator = random.Random(seed)
    subject = generator.choice(default_runtime().catalogue.subjects)
    data = bytearray((subject.root / "runtime-subject.yaml").read_bytes())
    for _ in range(generator.randint(1, 8)):
        where = generator.randrange(len(data))
        junk = bytes(generator.randrange(256) for _ in range(generator.randint(0, 3)))
        data[where : where + generator.randint(0, 3)] = junk
    path = Path(folder) / "runtime-subject.yaml"
    path.write_bytes(data)
    try:
        contract = load_contract(path)
    except QiongliError as error:
        if isinstance(error, ContractError) and not error.problems:
            raise
        return
    mutated = attrs.evolve(subject, contract=contract)
    runtime = Runtime(Catalogue((mutated,), (mutated.listing,)), compile_index([contract]), None, DEFAULT_LIMITS)
    infer_subject_refinement(hostile_text(generator), runtime=runtime).to_packet()


def elsewhere(seed: int, hash_seed: str, locale: str) -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONHASHSEED": hash_seed, "LC_ALL": locale}
    command = [sys.executable, __file__, "--one", str(seed)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment, encoding="utf-8")


def main() -> None:
    import tempfile

    seconds = float(os.environ.get("FUZZ_SECONDS", "600"))
    seed = int(os.environ.get("FUZZ_SEED", str(time.time_ns() % 1_000_000_000)))
    stop = time.monotonic() + seconds
    rounds = 0
    with tempfile.TemporaryDirectory() as folder:
        while time.monotonic() < stop:
            seed += 1
            rounds += 1
            here = routed(seed)
            for _ in range(5):
                seed += 1
                broken_contracts(seed, folder)
            if rounds % 25 == 1:
                others = [elsewhere(seed, "1", "C"), elsewhere(seed, "77", "tr_TR.UTF-8")]
                answers = {other.communicate()[0].strip() for other in others} | {routed(seed)}
                assert len(answers) == 1, f"seed {seed}: processes disagree"
            assert here
    print(f"{rounds} rounds, {rounds * 80} packets, {rounds * 5} broken contracts, last seed {seed}: nothing found")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        print(routed(int(sys.argv[2])))
    else:
        main()
