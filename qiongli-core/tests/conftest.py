"""What all tests of the core share: the profiles of Hypothesis, and this folder as a place to import helpers from."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from hypothesis import HealthCheck, Phase, settings

# With importlib mode pytest does not do this; helpers of several test files live beside them.
sys.path.insert(0, str(Path(__file__).parent))

_PATIENT = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
# The same draws at every run, so that a change of the code, and nothing else, turns it red.
settings.register_profile("quick", max_examples=50, derandomize=True, database=None, **_PATIENT)
settings.register_profile("thorough", max_examples=1_000, **_PATIENT)
# For seeded mutants: the same draws for each of them, and no time spent on shrinking what only has to fail.
settings.register_profile(
    "mutants", max_examples=300, derandomize=True, database=None, phases=[Phase.explicit, Phase.generate], **_PATIENT
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))
