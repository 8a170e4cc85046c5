"""Beside the model, X and the output, a call takes less than 64 MB a thread, however long or wide or deep.

Asked of a process of its own: the peak of its resident memory over a call, less what there was before and
what came back. The model is as large as the promise goes: depth 1,000, 10 outputs, 10,000 features.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

LIMIT = 64  # MB

PROGRAM = """
import json, re, sys
from pathlib import Path
import numpy as np, pandas as pd, scipy.sparse
import leafgrad as lg

DEPTH, OUTPUTS, FEATURES, TREES = 1_000, 10, 10_000, 10
rng = np.random.default_rng(0)
n = 2 * DEPTH + 1
inner = np.arange(0, n - 1, 2)  # chains: nodes 0, 2, 4, ... split; 1, 3, 5, ... and the last are leaves
left, right = np.full(n, -1), np.full(n, -1)
left[inner], right[inner] = inner + 1, inner + 2
cover = np.ones(n)
cover[inner] = np.arange(DEPTH, 0, -1) + 1.0

def chains(features, outputs):
    feature = np.full((len(features), n), -1)
    feature[:, inner] = features
    tile = lambda a: np.tile(a, len(features))
    return lg.Forest.from_arrays(
        tree_start=n * np.arange(len(features) + 1), left=tile(left), right=tile(right),
        feature=feature.ravel(), threshold=np.full(feature.size, 2.0), cover=tile(cover),
        value=rng.normal(size=(feature.size, outputs)), n_features=FEATURES,
        classes=tuple(range(outputs)) if outputs > 1 else None)

players = rng.permutation(FEATURES).reshape(TREES, DEPTH)
one = chains(players[:1], OUTPUTS)
wide = chains(players, 1)  # every feature is split on

X = rng.normal(size=(600, FEATURES))
frame, cells = pd.DataFrame(X), scipy.sparse.csr_array(np.where(rng.random(X.shape) < 0.01, X, 0.0))
z, known = rng.random(X.shape), rng.random(X.shape) < 0.5
labels, order = (np.arange(len(X)) % OUTPUTS), np.arange(FEATURES)
few = lg.Adam(steps=2)
CALLS = {
    "explain": lambda: lg.explain(one, X[:64], threads=1).values,
    "explain a frame": lambda: lg.explain(one, frame[:256], threads=1).values,
    "explain sparse rows": lambda: lg.explain(one, cells[:256], threads=1).values,
    "explain an output per row": lambda: lg.explain(one, X, output=labels, threads=1).values,
    "gradient": lambda: lg.gradient(one, frame, z, output=3, threads=1),
    "predict_known": lambda: lg.predict_known(wide, X, known, threads=1),
    "objective": lambda: lg.objective(wide, X, known, threads=1),
    "rank": lambda: lg.rank(one, X, optimizer=few, output=3, threads=1).values,
    "curves": lambda: lg.curves(wide, X[:8], order, threads=1),
}

def memory(key):
    return int(re.search(key + r":\\s+(\\d+) kB", Path("/proc/self/status").read_text())[1]) / 1024

def size(result):
    arrays = [result] if isinstance(result, np.ndarray) else [
        result.insertion, result.deletion, result.joint, result.order]
    return sum(array.nbytes for array in arrays) / 2**20

call = CALLS[sys.argv[1]]
lg.explain(one, X[:1]), lg.extension(wide, X[:1], z[0])  # what is kept with a model
Path("/proc/self/clear_refs").write_text("5")  # the peak starts anew
before = memory("VmRSS")
result = call()
print(json.dumps([memory("VmHWM") - before, size(result)]))
"""

CALLS = [
    "explain", "explain a frame", "explain sparse rows", "explain an output per row", "gradient",
    "predict_known", "objective", "rank", "curves",
]  # fmt: skip


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="needs Linux's /proc")
@pytest.mark.parametrize("call", CALLS)
def test_beside_the_model_x_and_the_output(call: str) -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM, call], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    peak, output = json.loads(done.stdout)
    assert peak - output < LIMIT
