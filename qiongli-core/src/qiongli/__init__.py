"""Qiongli routes a research task to the discipline whose standards apply to it.

The public door is small: `infer_subject_refinement` answers for one task; everything else is reached through the
modules of this package by name. Names with a leading underscore are internal.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from qiongli.runtime import infer_subject_refinement

    __version__: str

__all__ = ["__version__", "infer_subject_refinement"]


def __getattr__(name: str) -> object:
    if name == "__version__":
        from qiongli._version import VERSION

        return VERSION
    if name == "infer_subject_refinement":
        from qiongli.runtime import infer_subject_refinement

        return infer_subject_refinement
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
