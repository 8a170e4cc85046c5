"""Measurements anyone can repeat: `python -m benchmarks` (needs the `bench` extra).

Every number in README.md and docs/ comes from here. A suite is a module with `run(quick) -> Report` and
`summary(report) -> str`, the table for README.md. Results go to benchmarks/results/, named after the suite.
"""
