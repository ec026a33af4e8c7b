"""Make set_level.json: metrics of a whole set from scikit-learn, statsmodels, scipy and enumerations.

    pip install scikit-learn && python tests/oracles/make_set_level.py

published_set_level.json beside it holds values taken from pROC's own tests and from papers; each row names
its source. Both files have {data: name -> columns, rows: [{id, call, expected, tolerance, source}]}; what a
call means is in tests/stats/test_set_level_reference.py. scikit-learn is not needed to run the tests.
"""

from __future__ import annotations

import itertools
import json
import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import scipy
import sklearn
from scipy import optimize, stats
from sklearn import metrics

HERE = Path(__file__).parent
SKLEARN, SCIPY = f"scikit-learn {sklearn.__version__}", f"scipy {scipy.__version__}"


def data_sets():
    rng = np.random.default_rng(20260607)
    found = {}
    for name, n, share, decimals in (
        ("smooth80", 80, 0.4, 3),
        ("tied90", 90, 0.3, 1),
        ("coarse200", 200, 0.2, 0),
        ("rare120", 120, 0.1, 2),
    ):
        label = (rng.random(n) < share).astype(int)
        label[:3] = (1, 0, 1)
        base = rng.normal(size=n) + label
        found[name] = {
            "labels": label.tolist(),
            "baseline": np.round(base + 0.4 * rng.normal(size=n), decimals).tolist(),
            "candidate": np.round(1.2 * base + 0.3 * rng.normal(size=n), decimals).tolist(),
        }
    return found


def row(name, call, expected, tolerance, source):
    return {"id": name, "call": call, "expected": expected, "tolerance": tolerance, "source": source}


def columns(data):
    return np.array(data["labels"]), np.array(data["baseline"]), np.array(data["candidate"])


def auc_rows(data):
    for name, columns_of in data.items():
        label, old, new = columns(columns_of)
        both = [metrics.roc_auc_score(label, side) for side in (old, new)]
        yield row(f"sk_auc_{name}", {"metric": "auc", "data": name}, both, 1e-12, SKLEARN)
        both = [metrics.average_precision_score(label, side) for side in (old, new)]
        yield row(f"sk_ap_{name}", {"metric": "average_precision", "data": name}, both, 1e-12, SKLEARN)
        times = np.random.default_rng(3).integers(0, 4, label.size)
        for metric, score in (
            ("auc", metrics.roc_auc_score),
            ("average_precision", metrics.average_precision_score),
        ):
            both = [score(label, side, sample_weight=times) for side in (old, new)]
            call = {"metric": metric, "data": name, "times": times.tolist()}
            yield row(f"sk_{metric}_weighted_{name}", call, both, 1e-12, SKLEARN)


def delong_rows(data):
    """DeLong's structural components from all m * n pairs, and Student's law from scipy."""
    for name, columns_of in data.items():
        label, old, new = columns(columns_of)
        v10, v01 = ([components(label, side)[which] for side in (old, new)] for which in (0, 1))
        delta = v10[1].mean() - v10[0].mean()
        se = math.sqrt(np.cov(v10[1] - v10[0]) / v10[0].size + np.cov(v01[1] - v01[0]) / v01[0].size)
        df = min(v10[0].size, v01[0].size) - 1
        for m in (0.0, 0.02, -0.05):
            expected = [delta, se, stats.t.sf((delta - m) / se, df), stats.t.cdf((delta - m) / se, df)]
            call = {"delong": name, "null_value": m}
            yield row(f"all_pairs_delong_{name}_{m}", call, expected, 1e-10, f"all m*n pairs, {SCIPY}")
        half = stats.t.ppf(0.975, df) * se
        call = {"delong_interval": name, "level": 0.025}
        yield row(
            f"all_pairs_delong_ci_{name}", call, [delta - half, delta + half], 1e-10, f"all pairs, {SCIPY}"
        )


def components(label, score):
    wins = (score[label == 1][:, None] > score[label == 0]) + 0.5 * (
        score[label == 1][:, None] == score[label == 0]
    )
    return wins.mean(axis=1), wins.mean(axis=0)


def cut_rows(data):
    """precision, recall and lift at k as the mean over every order of the rows tied at the cut."""
    for name in ("tied90", "coarse200", "smooth80"):
        label, old, new = columns(data[name])
        for k, deep in ((8, 8), (25, 25), (0.1, max(1, math.floor(0.1 * label.size + 0.5)))):
            hits = [expected_hits(label, side, deep) for side in (old, new)]
            positives = int(label.sum())
            for metric, values in (
                ("precision_at_k", [h / deep for h in hits]),
                ("recall_at_k", [h / positives for h in hits]),
                ("lift_at_k", [h / deep * label.size / positives for h in hits]),
            ):
                call = {"metric": metric, "k": k, "data": name}
                expected = [float(value) for value in values]
                yield row(f"orders_{metric}_{k}_{name}", call, expected, 1e-12, "mean over all tie orders")


def expected_hits(label, score, deep):
    """Positives among the `deep` best, each row tied at the cut being as likely inside as any other."""
    at = sorted(score, reverse=True)[deep - 1]
    sure = [int(y) for y, s in zip(label, score, strict=True) if s > at]
    tied = [int(y) for y, s in zip(label, score, strict=True) if s == at]
    left = deep - len(sure)
    if math.comb(len(tied), left) <= 20_000:
        picks = [sum(pick) for pick in itertools.combinations(tied, left)]
        return sum(sure) + Fraction(sum(picks), len(picks))
    return sum(sure) + Fraction(left * sum(tied), len(tied))  # hypergeometric mean


def prediction_rows(data):
    """Scores of 0.3 and more (already on the scale of the data sets) count as positive predictions."""
    measures = {
        "f1": metrics.f1_score,
        "precision": metrics.precision_score,
        "recall": metrics.recall_score,
        "balanced_accuracy": metrics.balanced_accuracy_score,
        "matthews": metrics.matthews_corrcoef,
    }
    for name in ("smooth80", "tied90", "coarse200"):
        label, old, new = columns(data[name])
        for measure, score in measures.items():
            both = [float(score(label, side >= 0.3)) for side in (old, new)]
            call = {"measure": measure, "data": name, "threshold": 0.3}
            yield row(f"sk_{measure}_{name}", call, both, 1e-12, SKLEARN)
        chance = [np.round(1 / (1 + np.exp(-side)), 6) for side in (old, new)]
        for metric, score in (("log_loss", metrics.log_loss), ("brier", metrics.brier_score_loss)):
            both = [float(score(label, side)) for side in chance]
            yield row(f"sk_{metric}_{name}", {"items": metric, "data": name}, both, 1e-12, SKLEARN)
        both = [float(metrics.accuracy_score(label, side >= 0.3)) for side in (old, new)]
        call = {"items": "accuracy", "data": name, "threshold": 0.3}
        yield row(f"sk_accuracy_{name}", call, both, 1e-12, SKLEARN)


def quantile_rows(data):
    for name in ("smooth80", "tied90", "rare120"):
        _, old, new = columns(data[name])
        for q in (0.05, 0.5, 0.9, 0.95, 0.99):
            both = [float(stats.mstats.mquantiles(side, q, alphap=1, betap=1)[0]) for side in (old, new)]
            call = {"quantile": q, "data": name}
            yield row(f"mquantiles_{q}_{name}", call, both, 1e-12, f"{SCIPY} mstats")


def ratio_rows():
    """Delta method from the covariance and a numerical gradient; Fieller by inverting scipy's t test."""
    rng = np.random.default_rng(8)
    for n in (60, 150):
        cost = np.round(rng.gamma(2, 1, n), 3)
        cheaper = np.round(cost * rng.uniform(0.6, 1.2, n), 3)
        table = [cost, rng.integers(1, 5, n) * 1.0, cheaper, rng.integers(1, 6, n) * 1.0]
        values = np.array(table)
        means, covariance = values.mean(axis=1), np.cov(values) / n
        for log in (False, True):

            def gain(m, log=log):
                old, new = m[0] / m[1], m[2] / m[3]
                return math.log(new / old) if log else new - old

            step = 1e-6
            slope = np.array(
                [(gain(means + step * e) - gain(means - step * e)) / (2 * step) for e in np.eye(4)]
            )
            se = math.sqrt(slope @ covariance @ slope)
            for m in (0.0, -0.1):
                p = stats.t.sf((gain(means) - m) / se, n - 1)
                call = {"ratio": [column.tolist() for column in table], "log": log, "null_value": m}
                expected = [gain(means), se, p]
                yield row(
                    f"gradient_ratio_{n}_{log}_{m}", call, expected, 1e-7, f"numerical gradient, {SCIPY}"
                )

        def p_two(r, values=values):
            return stats.ttest_1samp(values[2] - r * values[3], 0).pvalue - 0.05

        at = means[2] / means[3]
        limits = [optimize.brentq(p_two, *ends, xtol=1e-13) for ends in ((0.0, at), (at, 10 * at))]
        call = {"fieller": [table[2].tolist(), table[3].tolist()], "level": 0.025}
        yield row(f"inverted_fieller_{n}", call, limits, 1e-9, f"inverted t test, {SCIPY}")


def main():
    data = data_sets()
    makers = (auc_rows, delong_rows, cut_rows, prediction_rows, quantile_rows)
    rows = [found for maker in makers for found in maker(data)]
    rows += ratio_rows()
    write(HERE / "set_level.json", data, rows)
    print(f"{len(rows)} rows")


def write(path, data, rows):
    sets = ",\n".join(f'  "{name}": {json.dumps(columns)}' for name, columns in data.items())
    lines = ",\n".join("  " + json.dumps(found) for found in rows)
    path.write_text(f'{{"data": {{\n{sets}\n }},\n "rows": [\n{lines}\n ]}}\n', encoding="utf-8")


if __name__ == "__main__":
    main()
