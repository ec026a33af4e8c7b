"""What the kind of a metric asks of a policy: one row a kind. How it is computed: ``gate.estimands``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class KindFacts:
    """One kind.

    tested_as: ``binary``, ``graded`` or ``preference`` where each item has a value of its own and the metric
    is their mean, which then has all tests of that kind; else the kind itself, of the whole set. name: in a
    sentence. labels: ``any`` text or ``yes_no`` where ``items.label`` is needed. needs, takes: keys of the
    rule. direction: the only one it can have. ends: its lowest and highest value, where every such metric has
    the same.
    """

    tested_as: str
    name: str
    labels: str = ""
    needs: frozenset[str] = frozenset()
    takes: frozenset[str] = frozenset()
    direction: str = ""
    ends: tuple[float, float] | None = None

    @property
    def by_item(self) -> bool:
        """Each item has a value of its own."""
        return self.tested_as in {"binary", "graded", "preference"}

    @property
    def keys(self) -> frozenset[str]:
        """Keys that belong to rules of this kind."""
        return self.needs | self.takes


_UNIT = (0.0, 1.0)


def _whole_set(kind: str, name: str, *needs: str, takes: tuple[str, ...] = ()) -> KindFacts:
    ends = {"lift_at_k": None, "matthews": (-1.0, 1.0)}.get(kind, _UNIT)
    return KindFacts(kind, name, "yes_no", frozenset(needs), frozenset(takes), "higher", ends)


KINDS: Mapping[str, KindFacts] = {
    "binary": KindFacts("binary", "pass/fail", ends=_UNIT),
    "graded": KindFacts("graded", "graded"),
    "accuracy": KindFacts("binary", "accuracy", "any", direction="higher", ends=_UNIT),
    "brier": KindFacts("graded", "Brier score", "yes_no", direction="lower", ends=_UNIT),
    "log_loss": KindFacts("graded", "log loss", "yes_no", direction="lower"),
    "auc": _whole_set("auc", "AUC"),
    "average_precision": _whole_set("average_precision", "average precision", takes=("group",)),
    "precision_at_k": _whole_set("precision_at_k", "precision@k", "k", takes=("group",)),
    "recall_at_k": _whole_set("recall_at_k", "recall@k", "k", takes=("group",)),
    "lift_at_k": _whole_set("lift_at_k", "lift@k", "k", takes=("group",)),
    "f1": _whole_set("f1", "F1", takes=("threshold",)),
    "precision": _whole_set("precision", "precision", takes=("threshold",)),
    "recall": _whole_set("recall", "recall", takes=("threshold",)),
    "balanced_accuracy": _whole_set("balanced_accuracy", "balanced accuracy", takes=("threshold",)),
    "matthews": _whole_set("matthews", "Matthews' correlation", takes=("threshold",)),
    "quantile": KindFacts("quantile", "quantile", needs=frozenset({"q"})),
    "ratio": KindFacts("ratio", "ratio of sums", needs=frozenset({"denominator"})),
    "judged": KindFacts("judged", "score by people", needs=frozenset({"human"})),
    "preference": KindFacts(
        "preference",
        "net preference",
        takes=frozenset({"votes", "orders", "order", "max_inconsistent"}),
        direction="higher",
        ends=_UNIT,
    ),
}

KEYS = (
    *("k", "threshold", "group", "q", "denominator", "human"),
    *("votes", "orders", "order", "max_inconsistent"),
)
"""The keys that only some kinds take."""


def metric_words(metric: str, kind: str) -> str:
    """A metric in a sentence: its name, and what is made of the column where it is not its mean."""
    return metric if kind in {"binary", "graded"} else f"{KINDS[kind].name} of {metric}"


def kinds_with(key: str) -> Iterator[str]:
    """The kinds that take a key."""
    return (kind for kind, facts in KINDS.items() if key in facts.keys)
