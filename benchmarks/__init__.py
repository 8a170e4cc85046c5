"""Measurements anyone can repeat: `python -m benchmarks` (`--here` wants the `bench` extra).

Every number in README.md and docs/ comes from here. A suite is a module with `run(quick) -> Report`, and
perhaps `summary(report) -> str`, the table for README.md or its page in docs/, `tables(report) -> str`, those
of docs/speed.md, and `draw(report, folder)`. Results go to benchmarks/results/, named after the suite.
"""
