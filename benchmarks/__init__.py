"""Measurements anyone can repeat: `python -m benchmarks` (needs the `bench` extra).

Every number in README.md and docs/ comes from here. A suite is a module with `run(quick) -> Report`; its
results are written to benchmarks/results/, named after it.
"""
