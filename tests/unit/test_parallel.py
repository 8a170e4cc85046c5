"""Threads of the core, as a user meets them: Ctrl-C ends any call soon, and a fork is no special case."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

# A call would take hours: many points, many rows, or many steps.
PROGRAM = """
import sys
import numpy as np
import leafgrad as lg

rng = np.random.default_rng(0)
depth, features = 12, 200
n = 2 ** (depth + 1) - 1
inner = np.arange(2**depth - 1)
left, right, feature = (np.full(n, -1) for _ in range(3))
left[inner], right[inner], feature[inner] = 2 * inner + 1, 2 * inner + 2, inner * 7 % features
forest = lg.Forest.from_arrays(
    tree_start=[0, n], left=left, right=right, feature=feature, threshold=rng.normal(size=n),
    cover=rng.uniform(1, 2, n), value=rng.normal(size=n), n_features=features)
X = rng.normal(size=(20_000, features))
points = 200_000
many = lg.Semivalue(np.linspace(0, 1, points), np.full(points, 1 / points))
call, threads = sys.argv[1], int(sys.argv[2])
how = {"threads": threads, "progress": False}
calls = {
    "explain": lambda: lg.explain(forest, X, many, **how),
    "one row": lambda: [lg.explain(forest, X[:1], many, **how) for _ in range(10_000)],
    "gradient": lambda: [lg.gradient(forest, X, rng.random(X.shape), **how) for _ in range(10_000)],
    "rank": lambda: lg.rank(forest, X, optimizer=lg.GradientAscent(1e-9, 10**7), **how),
    "greedy": lambda: lg.greedy(forest, X, **how),
    "curves": lambda: [lg.curves(forest, X, np.arange(features), **how) for _ in range(10_000)],
}
print("ready", flush=True)
calls[call]()
"""


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("call", ["explain", "one row", "gradient", "rank", "greedy", "curves"])
def test_ctrl_c_ends_a_call(call: str, threads: int) -> None:
    command = [sys.executable, "-c", PROGRAM, call, str(threads)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(0.5)  # it is at work
        process.send_signal(signal.SIGINT)
        try:
            _, errors = process.communicate(timeout=30)  # a tenth of a second, on a machine that is free
        finally:
            process.kill()
    assert process.returncode in {-signal.SIGINT, 1}
    assert errors.rstrip().endswith("KeyboardInterrupt")


FORK = """
import os
import numpy as np
import leafgrad as lg

rng = np.random.default_rng(0)
forest = lg.Forest.from_arrays(
    tree_start=[0, 3], left=[1, -1, -1], right=[2, -1, -1], feature=[0, -1, -1],
    threshold=[0.5, 0, 0], cover=[4, 3, 1], value=[0, 0, 1], n_features=2)
X = rng.random((2_000_000, 2))  # enough for two threads
values = lg.explain(forest, X, threads=2).values
child = os.fork()
if child == 0:
    same = np.array_equal(lg.explain(forest, X, threads=2).values, values)
    os._exit(0 if same else 1)
assert os.waitpid(child, 0)[1] == 0
"""


def test_threads_work_after_a_fork() -> None:
    # OpenBLAS's own threads would make Python 3.12 warn of the fork.
    quiet = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, "-W", "error", "-c", FORK]
    done = subprocess.run(command, env=quiet, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
