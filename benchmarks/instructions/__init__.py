"""Instruction counts: `python -m benchmarks.instructions` counts and writes, with `--check` it compares.

Time on a shared machine tells a tenth at best; the instructions of one program are the same to the last one,
run after run. So they are what CI holds the kernels to. `main.cpp` runs one workload, `callgrind` counts it,
`counts` compares. docs/decisions/instructions.md says what this cannot see.
"""
