"""What Qiongli writes around its own block in a project's guidance, for who writes it and who must not read it."""

from __future__ import annotations

from typing import Final

#: How every marker begins, after the signs of a comment.
GUIDANCE_MARKER: Final = "qiongli:managed:"
#: The line above the managed block and the one below it.
GUIDANCE_BEGIN: Final = f"<!-- {GUIDANCE_MARKER}begin subject-runtime -->"
GUIDANCE_END: Final = f"<!-- {GUIDANCE_MARKER}end subject-runtime -->"
#: Most bytes of the block, markers included.
GUIDANCE_BLOCK_LIMIT: Final = 4096
