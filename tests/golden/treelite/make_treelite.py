"""Small treelite models, one a feature, and what treelite makes of them.

`python tests/golden/treelite/make_treelite.py` writes them. A tree is a leaf, a number or a list of numbers,
or a split: (operator, feature, threshold, left, right), or (categories, feature, whether they go right, left,
right); a True behind says that a missing value goes left. Run it with treelite 4.1, so that every later one
reads the files.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import treelite
from treelite.model_builder import Metadata, ModelBuilder, PostProcessorFunc, TreeAnnotation

HERE = Path(__file__).parent
Tree = Any  # see above


def model(
    trees: Sequence[Tree],
    *,
    width: str = "float32",
    task: str = "kRegressor",
    classes: Sequence[int] = (1,),
    shape: tuple[int, int] = (1, 1),
    targets: Sequence[int] | None = None,
    labels: Sequence[int] | None = None,
    average: bool = False,
    link: str = "identity",
    base: Sequence[float] | None = None,
    counts: bool = True,
    hessian: bool = False,
    **how: Any,
) -> Any:
    n = len(trees)
    builder = ModelBuilder(
        threshold_type=width,
        leaf_output_type=width,
        metadata=Metadata(
            num_feature=3,
            task_type=task,
            average_tree_output=average,
            num_target=len(classes),
            num_class=list(classes),
            leaf_vector_shape=shape,
        ),
        tree_annotation=TreeAnnotation(
            num_tree=n, target_id=list(targets or [0] * n), class_id=list(labels or [0] * n)
        ),
        postprocessor=PostProcessorFunc(name=link, **how),
        base_scores=list(base or [0.0] * (len(classes) * max(classes))),
    )
    counted = []
    for tree in trees:
        builder.start_tree()
        rows: list[int] = []
        _put(builder, tree, rows, 64)
        builder.end_tree()
        counted.append(rows)
    made = builder.commit()
    # By hand: builders of before 4.5 drop the counts.
    for t, rows in enumerate(counted):
        fields = made.get_tree_accessor(t)
        if counts:
            fields.set_field("data_count", np.array(rows, dtype=np.uint64))
            fields.set_field("data_count_present", np.ones(len(rows), dtype=np.uint8))
        if hessian:
            fields.set_field("sum_hess", np.sqrt(rows))
            fields.set_field("sum_hess_present", np.ones(len(rows), dtype=np.uint8))
    return made


def _put(builder: Any, tree: Tree, rows: list[int], count: int) -> None:
    """Add a tree, parents before children; `rows` gets the count of every node in that order."""
    key = len(rows)
    rows.append(count)
    builder.start_node(key)
    if isinstance(tree, tuple):
        left = key + 1
        right = left + _size(tree[3])
        common = {"default_left": len(tree) > 5, "left_child_key": left, "right_child_key": right}
        if isinstance(tree[0], str):
            builder.numerical_test(feature_id=tree[1], threshold=tree[2], opname=tree[0], **common)
        else:
            builder.categorical_test(
                feature_id=tree[1], category_list=tree[0], category_list_right_child=tree[2], **common
            )
        builder.end_node()
        _put(builder, tree[3], rows, count * 3 // 4)
        _put(builder, tree[4], rows, count - count * 3 // 4)
    else:
        builder.leaf(tree)
        builder.end_node()


def _size(tree: Tree) -> int:
    return 1 + _size(tree[3]) + _size(tree[4]) if isinstance(tree, tuple) else 1


DEEP = ("<", 0, 0.5, ("<=", 1, 2.0, 1.0, (">", 2, -1.5, 2.5, -3.0, True), True), (">=", 2, 0.25, 4.0, -0.5))
CATEGORIES = ([2, 5, 7, 40], 1, False, ("<=", 0, 0.5, 1.0, 2.0), ([0, 3], 1, True, -4.0, 9.0, True), True)


def stump(a: Any, b: Any, feature: int = 0, value: float = 0.5) -> Tree:
    return ("<=", feature, value, a, b)


MODELS: dict[str, Callable[[], Any]] = {
    "less": lambda: model([("<", 0, 0.5, 1.0, 2.0), ("<", 0, 0.5, 1.0, 4.0, True)]),
    "at_most": lambda: model([("<=", 0, 0.5, 1.0, 2.0), ("<=", 0, 0.5, 1.0, 4.0, True)]),
    "greater": lambda: model([(">", 0, 0.5, 1.0, 2.0), (">", 0, 0.5, 1.0, 4.0, True)]),
    "at_least": lambda: model([(">=", 0, 0.5, 1.0, 2.0), (">=", 0, 0.5, 1.0, 4.0, True)]),
    "mixed": lambda: model([DEEP, stump(1.0, 2.0)]),
    "double": lambda: model([DEEP, stump(0.1, 0.2, 2, 0.1)], width="float64"),
    "infinite_thresholds": lambda: model(
        [(op, 0, sign * np.inf, 1.0, 2.0) for op in ("<", "<=", ">", ">=") for sign in (1, -1)]
    ),
    "categories": lambda: model([CATEGORIES]),
    "categories_double": lambda: model([CATEGORIES], width="float64"),
    "one_leaf": lambda: model([2.5, stump(1.0, 2.0)], base=[0.25]),
    "average": lambda: model([DEEP, stump(1.0, 2.0)], average=True, base=[10.0]),
    "binary": lambda: model([DEEP], task="kBinaryClf", link="sigmoid", sigmoid_alpha=2.0, base=[0.5]),
    "three_classes": lambda: model(
        [stump(1.0, -1.0, k) for k in (0, 1, 2)] * 2,
        task="kMultiClf",
        classes=[3],
        labels=[0, 1, 2] * 2,
        link="softmax",
        base=[0.5, 0.25, -1.0],
    ),
    "one_against_all": lambda: model(
        [stump(1.0, -1.0, k) for k in (0, 1, 2)],
        task="kMultiClf",
        classes=[3],
        labels=[0, 1, 2],
        link="multiclass_ova",
        sigmoid_alpha=0.5,
    ),
    "probabilities": lambda: model(
        [stump([0.25, 0.75, 0.0], [0.5, 0.25, 0.25]), stump([1.0, 0.0, 0.0], [0.0, 0.5, 0.5], 1, 2.0)],
        task="kMultiClf",
        classes=[3],
        shape=(1, 3),
        targets=[-1, -1],
        labels=[-1, -1],
        average=True,
        link="identity_multiclass",
    ),
    "two_targets": lambda: model(
        [DEEP, stump(1.0, 2.0), stump(3.0, 5.0, 1)],
        classes=[1, 1],
        targets=[0, 1, 0],
        average=True,
        base=[1.0, 2.0],
    ),
    "target_vectors": lambda: model(
        [stump([1.0, 2.0], [3.0, 5.0]), stump([1.0, -2.0], [0.5, 0.25], 1)],
        classes=[1, 1],
        shape=(2, 1),
        targets=[-1, -1],
    ),
    "targets_and_classes": lambda: model(
        [stump([0.25, 0.75, 0.0, 0.1, 0.2, 0.7], [0.5, 0.5, 0.0, 0.3, 0.3, 0.4])] * 2,
        task="kMultiClf",
        classes=[2, 3],
        shape=(2, 3),
        targets=[-1, -1],
        labels=[-1, -1],
        average=True,
        link="identity_multiclass",
    ),
    "exponential": lambda: model([DEEP], link="exponential"),
    "hinge": lambda: model([DEEP], task="kBinaryClf", link="hinge"),
    "isolation": lambda: model(
        [stump(3.0, 2.0), stump(1.0, 4.5, 1)],
        task="kIsolationForest",
        link="exponential_standard_ratio",
        ratio_c=2.5,
        average=True,
    ),
    "hessians": lambda: model([DEEP], hessian=True),
    "no_covers": lambda: model([DEEP], counts=False),
}
NEXT = np.float32(0.5)
GRID = [0.5, float(np.nextafter(NEXT, np.float32(1))), float(np.nextafter(NEXT, np.float32(0)))]
ROWS = np.array(
    [
        [x, y, z]
        for x in (*GRID, np.nextafter(0.5, 1), np.nan, np.inf, -np.inf, 0.1)
        for y in (2.0, 2.5, 5.0, 40.0, 0.0, 3.0, np.nan, -1.0, 1e9, np.inf)
        for z in (0.25, 0.1, -1.5, np.nan, 0.5)
    ]
)


def scores(made: Any, rows: np.ndarray) -> np.ndarray:
    out = treelite.gtil.predict(made, rows, pred_margin=True, nthread=1)
    return np.asarray(out, dtype=np.float64).reshape(len(rows), -1)


def main() -> None:
    expected = {}
    for name, make in MODELS.items():
        made = make()
        made.serialize(HERE / f"{name}.tl")
        expected[name] = scores(made, ROWS).tolist()
    (HERE / "scores.json").write_text(json.dumps(expected) + "\n")


if __name__ == "__main__":
    main()
