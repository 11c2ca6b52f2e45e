"""The example tasks of `qiongli demo`."""
