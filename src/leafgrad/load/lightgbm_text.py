"""LightGBM's text format, of a file or of `model_to_string`: parsed once, nothing believed.

A header of `key=value` lines, a block of such lines per tree, then notes. The same line of all trees is
converted at once. A list must have as many numbers as its tree has splits or leaves, and a number be made of
a number's characters (no locale counts); nothing is allocated that the text does not pay for. A line that is
not known is refused, as it may change what a tree means.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from leafgrad.errors import ModelFormatError, UnsupportedModelError
from leafgrad.load.trees import FloatArray, IntArray

VERSIONS = ("v3", "v4")  # LightGBM 2.3 to 3.3; 4.0 and newer
HEADER = {
    *("version", "num_class", "num_tree_per_iteration", "label_index", "max_feature_idx", "objective"),
    *("average_output", "feature_names", "feature_infos", "monotone_constraints", "tree_sizes"),
}
# Lines of a tree that are checked, and those that are not used.
READ = (
    *(b"num_leaves", b"num_cat", b"split_feature", b"threshold", b"decision_type", b"left_child"),
    *(b"right_child", b"leaf_value", b"leaf_count", b"internal_count", b"cat_boundaries", b"cat_threshold"),
)
UNUSED = (
    *(b"split_gain", b"internal_value", b"internal_weight", b"shrinkage"),
    *(b"leaf_const", b"num_features", b"leaf_features", b"leaf_coeff"),
)
TREE = {*READ, *UNUSED, b"leaf_weight", b"is_linear"}
WHOLE, DECIMAL = b"0123456789- ", b"0123456789-+.eE "
LARGEST = 2**31 - 1  # LightGBM counts in int32

Block = dict[bytes, bytes]


@dataclass(frozen=True)
class Text:
    """What a model's text says: one array over the splits, or over the leaves, of all trees."""

    n_outputs: int
    feature_names: tuple[str, ...]
    objective: str  # "" where the model was trained on a function of the user's own
    averaged: bool  # predictions are means over iterations
    categories: tuple[tuple[Any, ...], ...]  # of a training frame's category columns, in their order
    linear: bool  # leaves are linear functions
    n_leaves: IntArray  # (T,)
    feature: IntArray  # (S,), as all up to `right`
    threshold: FloatArray  # at a categorical split: which of the tree's sets
    decision: IntArray  # bits: 1 categorical, 2 missing values go left, 4 zeros are missing, 8 NaN is
    left: IntArray  # a split of the same tree, or -1 - leaf
    right: IntArray
    value: FloatArray  # (L,)
    split_count: FloatArray | None  # (S,) training rows
    leaf_count: FloatArray | None  # (L,)
    leaf_weight: FloatArray | None  # (L,) sums of second derivatives
    n_sets: IntArray  # (T,) category sets of each tree
    set_bound: IntArray  # words of set i of a tree are bound[i]:bound[i + 1]; n_sets + 1 a tree that has any
    set_words: npt.NDArray[np.uint32]  # bit c % 32 of word c // 32: code c goes left
    blocks: list[Block]

    @property
    def n_trees(self) -> int:
        """Number of trees."""
        return len(self.n_leaves)

    def for_the_library(self) -> str:
        """Give LightGBM the same trees in lines that were checked: its own parser believes what it reads."""
        trees = []
        for t, block in enumerate(self.blocks):
            lines = b"\n".join([b"%s=%s" % (key, block[key]) for key in READ if key in block])
            trees.append(b"Tree=%d\n%s\nis_linear=0\nshrinkage=1\n\n\n" % (t, lines))
        n, k = len(self.feature_names), self.n_outputs
        head = [
            *("tree", "version=v4", f"num_class={k}", f"num_tree_per_iteration={k}", "label_index=0"),
            f"max_feature_idx={n - 1}",
            *(["average_output"] if self.averaged else []),
            "feature_names=" + " ".join([f"Column_{j}" for j in range(n)]),
            "feature_infos=" + " ".join(["none"] * n),
            "tree_sizes=" + " ".join([str(len(tree)) for tree in trees]),
        ]
        return "\n".join(head) + "\n\n" + b"".join(trees).decode() + "end of trees\n"


def parse(content: bytes, name: str) -> Text:
    """Parse a model's text.

    Parameters
    ----------
    content : bytes
        All of it.
    name : str
        What messages call it.
    """
    return _Parser(name).text(content.replace(b"\r\n", b"\n"))


class _Parser:
    """What parses, and the name under which it complains."""

    def __init__(self, name: str) -> None:
        self.name = name

    def wrong(self, what: str) -> NoReturn:
        raise ModelFormatError(f"{self.name} is damaged: {what}")

    def unknown(self, where: str, what: str) -> NoReturn:
        raise UnsupportedModelError(
            f"{where} of {self.name} has a line {what[:40]!r}, which is not known here. Is its LightGBM "
            "newer than this leafgrad?"
        )

    def text(self, content: bytes) -> Text:
        end = content.find(b"\nend of trees\n")
        if end < 0:
            self.wrong("it has no line 'end of trees'. Was it cut off? Save the model again")
        head, *trees = content[:end].split(b"\nTree=")
        header = self.header(head)
        sizes = header.get("tree_sizes")
        if sizes is not None and self.integers(sizes, "tree_sizes") != [len(tree) + 6 for tree in trees]:
            self.wrong(
                f"the {len(trees)} trees that came do not have the sizes that tree_sizes tells. Was it cut "
                "off or edited? Save the model again"
            )
        n_outputs = self.integer(header, "num_tree_per_iteration")
        n_classes = self.integer(header, "num_class")
        if not trees or n_outputs < 1 or len(trees) % n_outputs or n_classes != n_outputs:
            self.wrong(
                f"it has {len(trees)} trees, {n_outputs} an iteration, for {n_classes} classes; wanted one "
                "or more iterations of a tree a class"
            )
        return self.trees(
            [self.block(tree, t) for t, tree in enumerate(trees)],
            n_outputs=n_outputs,
            feature_names=self.feature_names(header),
            objective=header.get("objective", ""),
            averaged="average_output" in header,
            categories=self.categories(content[end:]),
        )

    # The header, and the notes at the end

    def header(self, head: bytes) -> dict[str, str]:
        try:
            first, *lines = head.decode().split("\n")
        except UnicodeDecodeError as error:
            self.wrong(f"its header is no UTF-8 text ({error.reason})")
        if first != "tree":
            self.wrong(f"its first line is {first[:40]!r}, wanted 'tree'")
        header: dict[str, str] = {}
        for line in filter(None, lines):
            key, _, value = line.partition("=")
            if key in header:
                self.wrong(f"its header has two lines {key[:40]!r}")
            header[key] = value
        if header.get("version") not in VERSIONS:
            raise UnsupportedModelError(
                f"{self.name} is of the format {header.get('version')}, wanted {' or '.join(VERSIONS)}. Load "
                "it in LightGBM 4.0 or newer, and save it again."
            )
        for key in header.keys() - HEADER:
            self.unknown("the header", key)
        return header

    def integers(self, text: str, key: str) -> list[int]:
        if not text:
            return []
        try:
            numbers: list[int] = self.numbers(text.encode(), whole=True).tolist()
        except ValueError:
            self.wrong(f"{key} in its header is {text[:40]!r}, wanted whole numbers")
        return numbers

    def integer(self, header: dict[str, str], key: str) -> int:
        numbers = self.integers(header.get(key, ""), key)
        if len(numbers) != 1 or not -1 <= numbers[0] < LARGEST:
            self.wrong(f"{key} in its header is {header.get(key, '')[:40]!r}, wanted a whole number")
        return numbers[0]

    def feature_names(self, header: dict[str, str]) -> tuple[str, ...]:
        n = self.integer(header, "max_feature_idx") + 1
        found = [header.get(key, "").split(" ") for key in ("feature_names", "feature_infos")]
        if n < 1 or any(len(each) != n or "" in each for each in found):
            self.wrong(
                f"it has {len(found[0])} feature_names and {len(found[1])} feature_infos for {n} features"
            )
        return tuple(found[0])

    def categories(self, notes: bytes) -> tuple[tuple[Any, ...], ...]:
        before, mark, last = notes.rpartition(b"\npandas_categorical:")
        if not mark:
            before, last = notes, b"null"
        body, _, behind = before.partition(b"\nend of parameters")
        if (b"\nparameters:" in body) != (b"\nend of parameters" in before) or behind.strip():
            self.wrong("its parameters do not end. Was it cut off? Save the model again")
        try:
            lists = json.loads(last) or []
            good = all(isinstance(value, str | int | float) for values in lists for value in values)
            categories = tuple(tuple(values) for values in lists)
        except (ValueError, TypeError, RecursionError):
            good, categories = False, ()
        if not good or any(len(set(values)) < len(values) for values in categories):
            self.wrong("its last line, pandas_categorical, is no list of lists of different texts or numbers")
        return categories

    # The trees

    def block(self, tree: bytes, t: int) -> Block:
        number, *lines = tree.split(b"\n")
        block: Block = {}
        for line in lines:
            if line:
                key, _, value = line.partition(b"=")
                if key in block:
                    self.wrong(f"tree {t} has two lines {key[:40].decode(errors='replace')!r}")
                block[key] = value
        if number != b"%d" % t:
            self.wrong(f"tree {t} has the number {number[:40].decode(errors='replace')!r}")
        return block

    def trees(self, blocks: list[Block], **header: Any) -> Text:
        for key in set().union(*blocks) - TREE:
            self.unknown("a tree", key.decode(errors="replace"))
        one = np.ones(len(blocks), dtype=np.int64)
        n_leaves = self.column(blocks, b"num_leaves", one)
        n_sets = self.column(blocks, b"num_cat", one, default=b"0")
        for key, numbers, least in ((b"num_leaves", n_leaves, 1), (b"num_cat", n_sets, 0)):
            for t in np.flatnonzero((numbers < least) | (numbers > LARGEST)).tolist():
                self.wrong(f"{key.decode()} of tree {t} is {numbers[t]}")
        n_splits = n_leaves - 1
        n_bounds = np.where(n_sets > 0, n_sets + 1, 0)
        bound = self.column(blocks, b"cat_boundaries", n_bounds)
        last = np.cumsum(n_bounds)[n_sets > 0] - 1
        rise = np.diff(bound, prepend=0)
        rise[last[:-1] + 1] = 0  # from tree to tree
        if (rise < 0).any() or bound[last - n_sets[n_sets > 0]].any():
            self.wrong("the cat_boundaries of a tree do not rise from 0")
        n_words = np.zeros(len(blocks), dtype=np.int64)
        n_words[n_sets > 0] = bound[last]
        words = self.column(blocks, b"cat_threshold", n_words)
        if ((words < 0) | (words >= 2**32)).any():
            self.wrong("the cat_threshold of a tree has a number beyond 32 bits")
        counted = all(b"internal_count" in block and b"leaf_count" in block for block in blocks)
        weighted = all(b"leaf_weight" in block for block in blocks)
        return Text(
            **header,
            linear=bool(self.column(blocks, b"is_linear", one, default=b"0").any()),
            n_leaves=n_leaves,
            feature=self.column(blocks, b"split_feature", n_splits),
            threshold=self.column(blocks, b"threshold", n_splits, whole=False),
            decision=self.column(blocks, b"decision_type", n_splits),
            left=self.column(blocks, b"left_child", n_splits),
            right=self.column(blocks, b"right_child", n_splits),
            value=self.column(blocks, b"leaf_value", n_leaves, whole=False),
            # A tree without splits may leave these out.
            split_count=self.column(blocks, b"internal_count", n_splits).astype(float) if counted else None,
            leaf_count=self.column(blocks, b"leaf_count", n_leaves, default=b"0").astype(float)
            if counted
            else None,
            leaf_weight=self.column(blocks, b"leaf_weight", n_leaves, whole=False, default=b"0")
            if weighted
            else None,
            n_sets=n_sets,
            set_bound=bound,
            set_words=words.astype(np.uint32),
            blocks=blocks,
        )

    def column(
        self, blocks: list[Block], key: bytes, counts: IntArray, *, whole: bool = True, default: bytes = b""
    ) -> Any:
        """One line of every tree, as one array; `default` stands for one number that is not there."""
        texts = [block.get(key, b"") for block in blocks]
        if default:
            texts = [
                text if text or n > 1 else default for text, n in zip(texts, counts.tolist(), strict=True)
            ]
        found = [text.count(b" ") + 1 if text else 0 for text in texts]
        for t, (n, wanted) in enumerate(zip(found, counts.tolist(), strict=True)):
            if n != wanted:
                self.wrong(f"{key.decode()} of tree {t} has {n} numbers, wanted {wanted}")
        try:
            return self.numbers(b" ".join(filter(None, texts)), whole=whole)
        except ValueError:
            for t, text in enumerate(texts):
                try:
                    self.numbers(text, whole=whole)
                except ValueError:
                    kind = "whole" if whole else "finite"
                    shown = text[:60].decode(errors="replace")
                    self.wrong(f"{key.decode()} of tree {t} is {shown!r}, wanted {kind} numbers")
            raise

    @staticmethod
    def numbers(text: bytes, *, whole: bool) -> Any:
        """Numbers between single spaces, in a number's own characters; a `ValueError` for any other."""
        if not text:
            return np.zeros(0, dtype=np.int64 if whole else np.float64)
        if text.translate(None, WHOLE if whole else DECIMAL):
            raise ValueError("other characters than a number's")
        if whole:
            # numpy reads these five times as fast as Python, but for "1-2" and a lone "-", which it misreads.
            signed = b" " + text + b" "
            if signed.count(b"-") != signed.count(b" -") or b"- " in signed or b"  " in signed:
                raise ValueError("no whole numbers")
            return np.fromstring(text, dtype=np.int64, sep=" ")
        numbers = np.array(list(map(float, text.split(b" "))), dtype=np.float64)
        if not np.isfinite(numbers).all():
            raise ValueError("a number beyond float64")
        return numbers
