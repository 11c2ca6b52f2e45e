"""The activation gate: records and digests on the left of the engine, checks on its right."""
