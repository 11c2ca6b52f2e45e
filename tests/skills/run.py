"""Run `agentskills validate`, the reference validator of Agent Skills, over every skill that a subject ships.

The table of good and bad heads that holds Qiongli's own check is held to the same validator.

Says clearly that nothing was run where the validator cannot be had. Ends with 1 when a skill is at fault.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))

from skill_heads import FOLDER, HEADS, skill  # noqa: E402 - the folder must be known first


def main() -> None:
    """Validate the folder of each SKILL.md of the workspace."""
    validator = Path(sys.executable).with_name("agentskills")
    if not validator.exists():
        print("SKIPPED: agentskills is not installed; `pip install skills-ref` gives it")
        return
    skills = sorted(path.parent for path in ROOT.glob("subjects/*/src/**/SKILL.md"))
    if not skills:
        sys.exit("no subject ships a skill")
    faults = []
    for folder in skills:
        said = refusal(validator, folder).replace(f"{ROOT}/", "")
        print(said or f"valid: {folder.relative_to(ROOT)}")
        if said:
            faults.append(str(folder))
    print(f"{len(skills) - len(faults)} of {len(skills)} skills valid")
    for what, head, valid in HEADS:
        with tempfile.TemporaryDirectory() as name:
            made = Path(name) / FOLDER
            made.mkdir()
            (made / "SKILL.md").write_text(skill(head), encoding="utf-8")
            if (refusal(validator, made) == "") != valid:
                faults.append(what)
                print(f"the table and the validator disagree: {what}")
    print(f"{len(HEADS)} made-up heads compared")
    sys.exit(1 if faults else 0)


def refusal(validator: Path, folder: Path) -> str:
    """What the validator says against the skill in a folder; nothing when it is valid."""
    done = subprocess.run(
        [str(validator), "validate", str(folder)], capture_output=True, text=True, check=False, encoding="utf-8"
    )
    return f"{done.stdout}{done.stderr}".strip() if done.returncode else ""


if __name__ == "__main__":
    main()
