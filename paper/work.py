"""What tables and figures share: models trained once, rankings judged once, each kept.

A `case` is a data set, a kind of model and what is explained: a classifier's predicted class or another one,
or a regression's value. Its rows are the first 200 of the test part.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from paper.cache import Cache, key
from paper.data import Data, NotAtHand, load
from paper.facts import DATA, Size
from paper.methods import judge
from paper.models import KINDS, Split, other_class, size, split, train
from paper.scores import Judged

CLASSES = ("predicted class", "other class")
VALUE = "value"


class Case(NamedTuple):
    """What is explained."""

    data: str
    kind: str
    which: str

    def __str__(self) -> str:
        return f"{self.data}, {self.kind}" + ("" if self.which == VALUE else f", {self.which}")


@dataclass
class Work:
    """A run: the data sets asked for, where results go, and what is kept."""

    out: Path
    names: tuple[str, ...] = tuple(DATA)
    where: Path | None = None
    cache: Cache = field(default_factory=Cache)
    quick: bool = False

    def data(self, name: str) -> Data:
        """A data set; `NotAtHand` where it is not."""
        if name not in self.names:
            raise NotAtHand("not asked for")
        return load(name, self.where)

    def missing(self, name: str) -> str | None:
        """Why a data set is not at hand; None where it is."""
        try:
            self.data(name)
        except NotAtHand as error:
            return str(error)
        return None

    def at_hand(self) -> list[str]:
        """The names of the data sets that are, in the paper's order."""
        return [name for name in self.names if self.missing(name) is None]

    def parts(self, name: str) -> Split:
        """A data set's training and test part."""
        return split(self.data(name))

    def model(self, name: str, kind: str, depth: int | None = None) -> Any:
        """A fitted model; of the paper's depth unless another is given."""
        depth = DATA[name].depth if depth is None else depth
        about = key("model", "paper.models", self.data(name).digest, name, kind, depth)
        return self.cache.kept(about, lambda: train(kind, self.parts(name), depth))

    def size(self, name: str, kind: str) -> Size:
        """How good and large the paper's model comes out here."""
        return size(self.model(name, kind), self.parts(name))

    def cases(self, kinds: tuple[str, ...] = KINDS) -> Iterator[Case]:
        """Every case of the data at hand."""
        for name in self.at_hand():
            for kind in kinds:
                for which in (VALUE,) if DATA[name].classes is None else CLASSES:
                    yield Case(name, kind, which)

    def judged(self, case: Case, *, raw: bool = False) -> dict[str, Judged]:
        """The curves of every method; `raw`: of a booster's margin, not of its probability."""
        about = key("judged", __name__, self.data(case.data).digest, *case, raw)
        return self.cache.kept(about, lambda: self._judge(case, raw))

    def _judge(self, case: Case, raw: bool) -> dict[str, Judged]:
        import leafgrad as lg

        model, X = self.model(case.data, case.kind), self.parts(case.data).explained
        return judge(lg.load(model), X, output(model, X, case.which), raw=raw)


def output(model: Any, X: Any, which: str) -> Any:
    """What is explained of each row, as leafgrad is asked for it."""
    if which == VALUE:
        return None
    predicted = model.predict(X)
    return predicted if which == CLASSES[0] else other_class(predicted, model.classes_)
