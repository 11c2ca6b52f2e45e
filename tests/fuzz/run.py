"""Random and hostile documents, contracts and sessions, for as long as `FUZZ_SECONDS` says (ten minutes by default).

Every round routes texts, and one in 25 does so in two other processes too, with other hash seeds and locales. It fails
on a crash, on bytes that differ, and on a packet that does not fit its schema; `FUZZ_SEED` with the number that it then
prints replays the round.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import attrs
import jsonschema

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from hostile_pieces import hostile_text  # beside the tests, not installed

from qiongli.contract.loader import load_contract
from qiongli.errors import ContractError, QiongliError
from qiongli.limits import DEFAULT_LIMITS
from qiongli.plugins import Catalogue
from qiongli.records.packet import RefinementPacket
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


@lru_cache(maxsize=1)
def validator() -> jsonschema.Draft202012Validator:
    """The validator of the published packet schema."""
    return jsonschema.Draft202012Validator(json.loads(schema_text("packet")))


def checked(packet: RefinementPacket) -> dict[str, Any]:
    """The packet as JSON values; raises unless it fits the schema."""
    shown = packet.to_packet()
    validator().validate(shown)
    return shown


def routed(seed: int, *, checking: bool = True) -> str:
    """One digest of eighty packets; the same in every process. The bytes of one process need one check."""
    generator = random.Random(seed)
    runtime = default_runtime()
    show = checked if checking else RefinementPacket.to_packet
    digest = sha256()
    for _ in range(40):
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
        second = infer_subject_refinement(
            given, manifest_state=state, session=session(generator, first.fingerprint), runtime=runtime
        )
        for packet in (first, second):
            digest.update(json.dumps(show(packet), allow_nan=False).encode("utf-8", "backslashreplace"))
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
    checked(infer_subject_refinement(hostile_text(generator), runtime=runtime))


def elsewhere(seed: int, hash_seed: str, locale: str) -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONHASHSEED": hash_seed, "LC_ALL": locale}
    command = [sys.executable, __file__, "--one", str(seed)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment, encoding="utf-8")


def one_round(seed: int, folder: str, *, elsewhere_too: bool) -> int:
    """Route the texts of the next seed and break contracts with the five after it; gives the last seed."""
    seed += 1
    here = routed(seed)
    if elsewhere_too:
        others = [elsewhere(seed, "1", "C"), elsewhere(seed, "77", "tr_TR.UTF-8")]
        answers = {other.communicate()[0].strip() for other in others} | {here}
        assert len(answers) == 1, f"seed {seed}: processes disagree"
    for _ in range(5):
        seed += 1
        broken_contracts(seed, folder)
    return seed


def main() -> None:
    import tempfile

    seconds = float(os.environ.get("FUZZ_SECONDS", "600"))
    seed = int(os.environ.get("FUZZ_SEED", str(time.time_ns() % 1_000_000_000)))
    stop = time.monotonic() + seconds
    rounds = 0
    with tempfile.TemporaryDirectory() as folder:
        while time.monotonic() < stop:
            before = seed
            rounds += 1
            try:
                seed = one_round(seed, folder, elsewhere_too=rounds % 25 == 1)
            except BaseException:
                print(f"FUZZ_SEED={before} replays this round", file=sys.stderr)
                raise
    print(f"{rounds} rounds, {rounds * 80} packets, {rounds * 5} broken contracts, last seed {seed}: nothing found")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        print(routed(int(sys.argv[2]), checking=False))
    else:
        main()
