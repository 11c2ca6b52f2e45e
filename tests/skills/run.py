"""Run `agentskills validate`, the reference validator of Agent Skills, over every skill that a subject ships.

Says clearly that nothing was run where the validator cannot be had. Ends with 1 when a skill is at fault.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def main() -> None:
    """Validate the folder of each SKILL.md of the workspace."""
    validator = Path(sys.executable).with_name("agentskills")
    if not validator.exists():
        print("SKIPPED: agentskills is not installed; `pip install skills-ref` gives it")
        return
    skills = sorted(path.parent for path in ROOT.glob("subjects/*/src/**/SKILL.md"))
    if not skills:
        sys.exit("no subject ships a skill")
    failed = 0
    for skill in skills:
        done = subprocess.run(
            [str(validator), "validate", str(skill)], capture_output=True, text=True, check=False, encoding="utf-8"
        )
        failed += done.returncode != 0
        said = f"{done.stdout}{done.stderr}".replace(f"{ROOT}/", "").strip()
        print(said)
    print(f"{len(skills) - failed} of {len(skills)} skills valid")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
