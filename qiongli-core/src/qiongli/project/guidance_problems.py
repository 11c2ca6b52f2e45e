"""What can be wrong with the managed guidance block; apart, because a sound project needs none of it."""

from __future__ import annotations

import attrs


@attrs.frozen
class GuidanceProblem:
    """One thing wrong with the file or the block, and how to mend it; `line` counts from 1, 0 for no line."""

    line: int
    code: str
    message: str
    fix: str
