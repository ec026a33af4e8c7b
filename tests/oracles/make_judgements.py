"""Make judgements.json: preferences, tails, pass^k, judged scores, skewed clusters, by other code.

    pip install ppi-python && python tests/oracles/make_judgements.py

Sources: scipy's binomial tests, enumerations, rationals, ppi-python, matrix formulas of CR2. Rows under
"published" come from papers' formulas by two implementations each and are kept as they are. ppi-python is not
needed to run the tests. What a call means is in tests/stats/test_judgements_reference.py.
"""

from __future__ import annotations

import itertools
import json
import math
from fractions import Fraction
from importlib.metadata import version
from pathlib import Path

import numpy as np
import ppi_py
import scipy
from scipy import optimize, stats

HERE = Path(__file__).parent
SCIPY, PPI = f"scipy {scipy.__version__}", f"ppi-python {version('ppi-python')}"


def row(name, call, expected, tolerance, source):
    return {"id": name, "call": call, "expected": expected, "tolerance": tolerance, "source": source}


def preference_rows():
    for wins, losses, ties in [(24, 11, 40), (5, 9, 0), (70, 41, 12)]:
        p = stats.binomtest(wins, wins + losses, alternative="greater").pvalue
        net = (wins - losses) / (wins + losses + ties)
        call = {"preferences": {"wins": wins, "losses": losses, "ties": ties}}
        yield row(f"scipy_sign_{wins}_{losses}_{ties}", call, [net, p], 1e-12, SCIPY)
    for first, second in [(17, 6), (4, 4), (0, 7), (1, 0)]:
        p = stats.binomtest(first, first + second).pvalue
        yield row(f"scipy_position_{first}_{second}", {"position": [first, second]}, p, 1e-12, SCIPY)


def pass_rows():
    for runs, passes, k in [(6, 4, 3), (7, 2, 3), (5, 5, 5), (9, 0, 2), (8, 7, 1)]:
        outcomes = [1] * passes + [0] * (runs - passes)
        picks = list(itertools.combinations(outcomes, k))
        every = Fraction(sum(all(pick) for pick in picks), len(picks))
        some = Fraction(sum(any(pick) for pick in picks), len(picks))
        call = {"pass_k": [runs, passes, k]}
        expected = [float(every), float(some)]
        yield row(f"subsets_pass_{runs}_{passes}_{k}", call, expected, 1e-13, "every subset of k runs")


def tail_rows():
    """The mean of the worst q under the edge of the band, by moving its mass from one end to the other."""
    rng = np.random.default_rng(12)
    for n, share, level, scale in [
        (400, 0.2, 0.025, (0, 1)),
        (900, 0.1, 0.05, (-1, 1)),
        (60, 0.3, 0.1, (0, 2)),
    ]:
        loss = np.round(scale[0] + (scale[1] - scale[0]) * rng.beta(0.5, 3, n), 3)
        eps = math.sqrt(math.log(1 / level) / (2 * n))
        expected = [
            worst_mean([(x, 1 / n) for x in loss], share),
            worst_mean(moved(loss, eps, scale[0], from_top=True), share),
            worst_mean(moved(loss, eps, scale[1], from_top=False), share),
        ]
        call = {"tail": loss.tolist(), "share": share, "level": level, "scale": scale}
        yield row(f"moved_mass_{n}_{share}", call, expected, 1e-9, "mass moved by hand; Massart 1990")


def moved(loss, eps, end, *, from_top):
    left, mass = eps, [(end, eps)]
    for x in sorted(loss, reverse=from_top):
        gone = min(left, 1 / len(loss))
        left -= gone
        mass.append((x, 1 / len(loss) - gone))
    return mass


def worst_mean(mass, share):
    left, total = share, 0.0
    for x, weight in sorted(mass, reverse=True):
        taken = min(left, weight)
        left -= taken
        total += taken * x
    return total / share


def excess_rows():
    """Gaffke's upper limit of the mean excess, from the hypoexponential law."""
    loss = [0.12, 0.31, 0.47, 0.15, 0.62, 0.38, 0.21, 0.29, 0.55]
    start, share, level = 0.1, 0.4, 0.1

    def p_less(m):
        return hypoexponential([m - (x - start) for x in loss] + [m - (1 - start)])

    limit = optimize.brentq(lambda m: p_less(m) - level, 0.2001, 0.8, xtol=1e-13)
    call = {"tail_from": loss, "share": share, "level": level, "scale": [0, 1], "start": start}
    yield row("hypoexponential_excess", call, min(1.0, start + limit / share), 1e-6, "hypoexponential law")


def hypoexponential(y):
    """P(sum E_j y_j <= 0) for distinct y, E iid exponential."""
    return 1 - sum(
        math.prod(yj / (yj - yk) for k, yk in enumerate(y) if k != j) for j, yj in enumerate(y) if yj > 0
    )


def judged_rows():
    """ppi-python divides by n, so its standard error is compared where both parts have the same size."""
    rng = np.random.default_rng(99)
    for n, many in [(80, 80), (60, 240)]:
        truth = rng.normal(0.1, 1, n + many)
        table = np.round([
            rng.normal(size=n + many), np.zeros(n + many), rng.normal(size=n + many), np.zeros(n + many)
        ], 3)  # fmt: skip
        table[1] = np.round(table[0] + truth + 0.5 * rng.normal(size=n + many), 3)
        table[3] = np.round(table[2] + truth, 3)
        human, judge = (table[3] - table[2])[:n], table[1] - table[0]
        for weight in (1.0, 0.0, 0.6):
            point = ppi_py.ppi_mean_pointestimate(human, judge[:n], judge[n:], lam=weight)
            low, high = ppi_py.ppi_mean_ci(human, judge[:n], judge[n:], alpha=0.05, lam=weight)
            half = float((high - low).item()) / 2 / stats.norm.ppf(0.975)
            welch = stats.ttest_ind(
                weight * judge[n:], weight * judge[:n] - human, equal_var=False, alternative="greater"
            )
            columns = [column.tolist() for column in table[:2]]
            columns += [[*column[:n], *([None] * many)] for column in table[2:].tolist()]
            expected = [float(point.item()), half, float(welch.statistic), float(welch.pvalue)]
            call = {"judged": columns, "weight": weight}
            if n != many:
                expected[1] = None
            yield row(f"ppi_{n}_{many}_{weight}", call, expected, 1e-9, f"{PPI}; Welch's test, {SCIPY}")


CLUSTERS = {
    "equal": ([4, 3, -2, 6, 1, 5, 2, -3, 4], [8] * 9),
    "uneven": ([7, -2, 3, 9, 0.5, 4, -6, 2, 5, 3], [12, 5, 9, 14, 3, 7, 10, 4, 8, 6]),
    "dominant": ([30, 2, 1, 3, -2, 1, 2, 4], [70, 6, 5, 8, 7, 4, 6, 9]),
}


def cluster_rows():
    for name, (totals, sizes) in CLUSTERS.items():
        for m in (0.0, 0.05, -0.1):
            g, big_g, hall = hall_by_hand(totals, sizes, m)
            cr2, flip = cr2_by_matrices(totals, sizes, m), flip_by_hand(totals, sizes, m)
            call = {"clusters": [totals, sizes], "null_value": m}
            expected = [g, big_g, hall, max(cr2, flip, hall)]
            yield row(f"by_hand_hall_{name}_{m}", call, expected, 1e-9, "matrices of CR2, all signs, loops")
    totals, sizes, most = [4, 3, -2, 6.5, 1, 5, 2], [8, 7, 8, 9, 6, 8, 5], 10
    for m in (0.0, 0.1):
        y = [total - m * size for total, size in zip(totals, sizes, strict=True)] + [(-1 - m) * most]
        call = {"cluster_gaffke": [totals, sizes], "null_value": m, "max_cluster": most, "bounds": [-1, 1]}
        yield row(f"hypoexponential_clusters_{m}", call, hypoexponential(y), 1e-9, "hypoexponential law")


def cr2_by_matrices(totals, sizes, m):
    """CR2 and Satterthwaite's df from the projection matrices, as in Pustejovsky & Tipton 2018."""
    n, mean = sum(sizes), sum(totals) / sum(sizes)
    meat, omegas, start = 0.0, [], 0
    for total, size in zip(totals, sizes, strict=True):
        hat = np.full((size, size), 1 / n)
        values, vectors = np.linalg.eigh(np.eye(size) - hat)
        root = vectors @ np.diag(values**-0.5) @ vectors.T
        residual_sum = root.sum(axis=0) @ np.full(size, total / size - mean)
        meat += residual_sum**2
        own = np.zeros(n)
        own[start : start + size] = 1
        lift = np.zeros(n)
        lift[start : start + size] = root.sum(axis=0)
        omegas.append((np.eye(n) - np.full((n, n), 1 / n)) @ lift / n)
        start += size
    cross = np.array(omegas) @ np.array(omegas).T
    df = np.trace(cross) ** 2 / np.sum(cross**2)
    return stats.t.sf((mean - m) / (math.sqrt(meat) / n), df)


def flip_by_hand(totals, sizes, m):
    y = [total - m * size for total, size in zip(totals, sizes, strict=True)]
    sums = [
        sum(s * x for s, x in zip(signs, y, strict=True))
        for signs in itertools.product((1, -1), repeat=len(y))
    ]
    return float(np.mean(np.array(sums) >= sums[0] - 1e-9))


def hall_by_hand(totals, sizes, m):
    n, j = sum(sizes), len(sizes)
    mean = sum(totals) / n
    r = [(s - k * mean) / math.sqrt(1 - k / n) for s, k in zip(totals, sizes, strict=True)]
    if len(set(sizes)) == 1:
        v = [sum(x * x for x in r) / j] * j
    else:
        slope, base = np.polyfit(sizes, [x * x / k for x, k in zip(r, sizes, strict=True)], 1)
        if slope <= 0:
            slope, base = 0.0, float(np.mean([x * x / k for x, k in zip(r, sizes, strict=True)]))
        v = [max(base, 0) * k + slope * k * k for k in sizes]
    q = [x / math.sqrt(w) for x, w in zip(r, v, strict=True)]
    g = (sum(x**3 for x in q) / j) / (sum(x * x for x in q) / j) ** 1.5 * math.sqrt(j * (j - 1)) / (j - 2)
    big_g = (g - math.sqrt(6 / j)) * sum(w**1.5 for w in v) / sum(v) ** 1.5 * math.sqrt(j)
    se = math.sqrt(sum(x * x for x in r)) / n
    k = np.array(sizes, dtype=float)
    a = 1 / np.sqrt(1 - k / n)
    cross = np.outer(a, a) * (np.diag(k) - np.outer(k, k) / n)
    df = np.trace(cross) ** 2 / np.sum(cross**2)
    x = (mean - m) / se / math.sqrt(j)
    return (
        g,
        big_g,
        stats.t.sf(math.sqrt(j) * (x + big_g * x**2 / 3 + big_g**2 * x**3 / 27 + big_g / (6 * j)), df),
    )


def main():
    makers = (preference_rows, pass_rows, tail_rows, excess_rows, judged_rows, cluster_rows)
    rows = [found for maker in makers for found in maker()]
    path = HERE / "judgements.json"
    known = json.loads(path.read_text(encoding="utf-8"))["published"] if path.exists() else []
    parts = {"published": known, "computed": rows}
    texts = [
        f' "{name}": [\n' + ",\n".join("  " + json.dumps(r) for r in part) + "\n ]"
        for name, part in parts.items()
    ]
    path.write_text("{\n" + ",\n".join(texts) + "\n}\n", encoding="utf-8")
    print(f"{len(rows)} rows")


if __name__ == "__main__":
    main()
