"""Where this user's files are: configuration, and caches that may be deleted at any time."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def cache_folder() -> Path:
    """`QIONGLI_CACHE_DIR`, else the system's place for caches; it need not exist."""
    return _folder("QIONGLI_CACHE_DIR", "XDG_CACHE_HOME", ".cache")


def config_folder() -> Path:
    """`QIONGLI_CONFIG_DIR`, else the system's place for configuration; it need not exist."""
    return _folder("QIONGLI_CONFIG_DIR", "XDG_CONFIG_HOME", ".config")


def _folder(variable: str, base_variable: str, usual: str) -> Path:
    configured = os.environ.get(variable)
    if configured:
        return Path(configured)
    if sys.platform.startswith("linux") and "ANDROID_ROOT" not in os.environ:
        # What platformdirs answers here; importing it costs every start more than the answer is worth.
        base = os.environ.get(base_variable, "").strip()
        return Path(base if os.path.isabs(base) else Path.home() / usual, "qiongli")  # noqa: PTH117  # "" is relative
    from platformdirs import user_cache_path, user_config_path

    return (user_cache_path if usual == ".cache" else user_config_path)("qiongli", appauthor=False)
