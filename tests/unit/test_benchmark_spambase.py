"""The spambase study: what it says of models that are not the paper's, and its page on data made up here."""

from pathlib import Path

import numpy as np
import pandas as pd
from benchmarks.spambase import page, told
from paper.facts import Size


def test_a_model_of_another_size_is_told() -> None:
    assert told("decision tree", Size(0.925, 166, 331)).endswith("166 leaves, 331 nodes, as in the paper.")
    other = told("decision tree", Size(0.925, 167, 333))
    assert "167 leaves, 333 nodes. **Not the paper's model** (accuracy 0.925, 166 leaves" in other
    assert other.endswith("take scikit-learn 1.6.1 with numpy 2.2.6.")


def test_the_page_has_a_table_per_model_and_one_of_gains(tmp_path: Path) -> None:
    X = np.random.default_rng(0).normal(size=(200, 4))
    frame = pd.DataFrame(X, columns=list("abcd")).assign(target=np.where(X[:, 0] > X[:, 1], "1", "0"))
    frame.to_parquet(tmp_path / "spambase.parquet")
    text = page(data=tmp_path, quick=True)
    assert text.startswith("20 rows. Made with leafgrad")
    assert [line for line in text.splitlines() if line.startswith("#")] == [
        "### decision tree", "### boosted trees", "### Row by row"
    ]  # fmt: skip
    assert text.count("| ADAM (10, 5) |") == 2
    assert text.count("| boosted trees, other class | Del |") == 2
