"""Make computed.json: reference values from scipy, statsmodels and enumerations that share no code with gate.

    python tests/oracles/make_reference.py

published.json beside it holds values taken from R packages and papers; each row names its source. Both files
have rows {id, call, expected, tolerance, source}; what a call means is in tests/stats/test_reference.py.
"""

from __future__ import annotations

import itertools
import json
import math
import warnings
from fractions import Fraction
from pathlib import Path

import numpy as np
import scipy
import statsmodels
from scipy import integrate, optimize, stats
from statsmodels.stats import contingency_tables, multitest, proportion

HERE = Path(__file__).parent
SCIPY, STATSMODELS = f"scipy {scipy.__version__}", f"statsmodels {statsmodels.__version__}"
TABLES = [
    (18, 8, 200),
    (8, 18, 200),
    (121, 69, 2000),
    (53, 40, 500),
    (7, 1, 21),
    (6, 0, 40),
    (16, 3, 220),
    (3, 3, 50),
]
LEVEL = 0.025


def row(name, call, expected, tolerance, source):
    return {"id": name, "call": call, "expected": expected, "tolerance": tolerance, "source": source}


def run(method, field, data, null_value=0.0, level=LEVEL, **more):
    return {"run": method, "field": field, "data": data, "null_value": null_value, "level": level, **more}


def graded_sets():
    rng = np.random.default_rng(20240607)
    return {
        "gauss60": np.round(rng.normal(0.05, 0.2, 60), 4),
        "skew80": np.round(0.6 - rng.gamma(1.3, 0.4, 80), 3),
        "ratings50": rng.choice([-2.0, -1.0, 0.0, 1.0, 2.0], 50, p=[0.05, 0.15, 0.4, 0.3, 0.1]),
        "heavy90": np.round(rng.standard_t(3, 90), 3),
        "twelve": np.array([1.5, -0.5, 2.25, 0.75, -1.25, 3.0, 0.25, 1.0, -0.75, 1.75, 2.0, 0.5]),
    }


def mcnemar_rows():
    for b, c, n in TABLES:
        data, name = {"b": b, "c": c, "n": n}, f"{b}_{c}_{n}"
        square = [[n - b - c, b], [c, 0]]
        exact = contingency_tables.mcnemar(square, exact=True).pvalue
        yield row(
            f"sm_mcnemar_exact_{name}", run("mcnemar_exact", "p_two_sided", data), exact, 1e-10, STATSMODELS
        )
        chi2 = contingency_tables.mcnemar(square, exact=False, correction=False).pvalue
        yield row(
            f"sm_mcnemar_chi2_{name}", run("mcnemar_chi2", "p_two_sided", data), chi2, 1e-10, STATSMODELS
        )
        if b != c:  # at b = c R gives p = 1 and statsmodels the p of (0 - 1)^2 / s
            edwards = contingency_tables.mcnemar(square, exact=False, correction=True).pvalue
            call = run("mcnemar_edwards", "p_two_sided", data)
            yield row(f"sm_mcnemar_edwards_{name}", call, edwards, 1e-10, STATSMODELS)
        greater = stats.binomtest(b, b + c, alternative="greater").pvalue
        yield row(
            f"scipy_binom_greater_{name}", run("mcnemar_exact", "p_greater", data), greater, 1e-10, SCIPY
        )
        mid = greater - 0.5 * stats.binom.pmf(b, b + c, 0.5)
        yield row(f"scipy_midp_greater_{name}", run("mcnemar_midp", "p_greater", data), mid, 1e-10, SCIPY)
    for b, c in [(700, 500), (1100, 1000), (60_000, 59_000)]:
        p = stats.binomtest(b, b + c, alternative="greater").pvalue
        call = run("mcnemar_exact", "p_greater", {"b": b, "c": c, "n": 4 * (b + c)})
        yield row(f"scipy_binom_large_{b}_{c}", call, p, 1e-9 * p + 1e-15, SCIPY)


def fay_lumbard_rows():
    """The melded interval, integrating over the share of wins with scipy's adaptive quadrature."""
    for b, c, n in [(18, 8, 200), (7, 1, 21), (3, 9, 60), (5, 0, 30), (40, 22, 400)]:
        s = b + c
        limits = [melded_limit(b, c, n, s, LEVEL), -melded_limit(c, b, n, s, LEVEL)]
        call = {"interval": "fay_lumbard", "data": {"b": b, "c": c, "n": n}, "level": LEVEL}
        yield row(f"quad_fay_lumbard_{b}_{c}_{n}", call, limits, 2e-7, f"Fay & Lumbard 2020, {SCIPY} quad")


def melded_limit(b, c, n, s, level):
    if b == 0:
        return -stats.beta.ppf(1 - level, s + 1, n - s)
    wins = stats.beta(b, c + 1)

    def quantile(rate):
        def excess(x):
            def inner(u):
                tilt = 2 * u - 1
                if tilt == 0:
                    return float(x >= 0) * wins.pdf(u)
                below = rate.cdf(x / tilt) if tilt > 0 else rate.sf(x / tilt)
                return below * wins.pdf(u)

            cuts = sorted({0.0, 0.5, min(1, max(0, 0.5 + x / 2)), min(1, max(0, 0.5 - x / 2)), 1.0})
            total = sum(
                integrate.quad(inner, lo, hi, limit=400, epsabs=1e-12)[0]
                for lo, hi in itertools.pairwise(cuts)
            )
            return total - level

        return optimize.brentq(excess, -0.999999, 0.999999, xtol=1e-12)

    return min(quantile(stats.beta(s, n - s + 1)), quantile(stats.beta(s + 1, n - s)))


def tango_rows():
    """The score statistic at the constrained maximum-likelihood estimate, found numerically."""
    cases = [(18, 8, 200, 0.02), (5, 9, 200, -0.05), (30, 12, 1000, 0.01), (0, 0, 60, -0.03), (7, 1, 21, 0.1)]
    for b, c, n, m in cases:
        z = (b - c - n * m) / math.sqrt(n * constrained_variance(b, c, n, m))
        call = run("tango", "p_greater", {"b": b, "c": c, "n": n}, m)
        yield row(
            f"mle_tango_{b}_{c}_{n}_{m}", call, stats.norm.sf(z), 1e-6, f"numerical MLE, {SCIPY} optimize"
        )


def constrained_variance(b, c, n, m):
    def loss(q):  # q = P(only the baseline passes); P(only the candidate passes) = q + m
        up, rest = q + m, 1 - 2 * q - m
        terms = [(b, up), (c, q), (n - b - c, rest)]
        return -sum(k * math.log(max(p, 1e-300)) for k, p in terms if k)

    low, high = max(0.0, -m), (1 - m) / 2
    q = optimize.minimize_scalar(loss, bounds=(low, high), method="bounded", options={"xatol": 1e-14}).x
    q = min((low, q, high), key=loss)
    return 2 * q + m - m * m


def unconditional_rows():
    """Every table of n items, every psi on a fine grid, no restriction by Tango's shape."""
    for b, c, n, m in [
        (6, 1, 20, 0.0),
        (6, 1, 20, 0.1),
        (2, 2, 25, -0.15),
        (1, 3, 30, -0.2),
        (9, 2, 24, 0.05),
    ]:
        p = enumerated_unconditional(b, c, n, m, 1e-4)
        call = run("exact_unconditional", "p_greater", {"b": b, "c": c, "n": n}, m)
        yield row(
            f"enum_unconditional_{b}_{c}_{n}_{m}", call, p, 2e-5, "enumeration of all tables, grid of 4,000"
        )


def enumerated_unconditional(b, c, n, m, g):
    def tango(up, down):
        variance = n * constrained_variance(up, down, n, m)
        top = up - down - n * m
        return (
            0.0
            if abs(top) < 1e-12
            else math.copysign(math.inf, top)
            if variance < 1e-12
            else top / math.sqrt(variance)
        )

    observed = tango(b, c)
    tables = [(i, j) for i in range(n + 1) for j in range(n + 1 - i)]
    inside = [(i, j) for i, j in tables if tango(i, j) >= observed - 1e-6]
    s = b + c
    low = stats.beta.ppf(g / 2, s, n - s + 1) if s else 0.0
    high = stats.beta.ppf(1 - g / 2, s + 1, n - s) if s < n else 1.0
    up, down = np.array([i for i, _ in inside]), np.array([j for _, j in inside])
    best = 0.0
    for psi in np.linspace(max(low, abs(m)), max(high, abs(m)), 4000):
        p = np.array([(psi + m) / 2, (psi - m) / 2, 1 - psi])
        with np.errstate(divide="ignore"):
            best = max(
                best, float(stats.multinomial.pmf(np.column_stack([up, down, n - up - down]), n, p).sum())
            )
    return min(1.0, best + g)


def t_rows():
    for name, d in graded_sets().items():
        data = {"differences": d.tolist()}
        for m in (0.0, 0.02, -0.1):
            p = stats.ttest_1samp(d, m, alternative="greater").pvalue
            yield row(f"scipy_t_{name}_{m}", run("paired_t", "p_greater", data, m), p, 1e-10, SCIPY)
            yield row(
                f"hall_{name}_{m}",
                run("t_guarded", "p_greater", data, m),
                guarded(d, m),
                1e-10,
                "Hall 1992, expanded",
            )
        low, high = stats.ttest_1samp(d, 0).confidence_interval(0.95)
        yield row(f"scipy_t_ci_{name}", run("paired_t", "interval", data), [low, high], 1e-9, SCIPY)
        old = np.linspace(-1, 1, d.size)
        welch = stats.ttest_ind(old + d, old, equal_var=False).pvalue
        paired = {"baseline": old.tolist(), "candidate": (old + d).tolist()}
        yield row(f"scipy_welch_{name}", {"reference": "unpaired_p", "data": paired}, welch, 1e-9, SCIPY)
        pearson = stats.pearsonr(old, old + d).statistic
        yield row(
            f"scipy_pearson_{name}", {"reference": "correlation", "data": paired}, pearson, 1e-10, SCIPY
        )


def guarded(d, m):
    n, centred = d.size, d - d.mean()
    sd = math.sqrt((centred**2).sum() / (n - 1))
    t, g = (d.mean() - m) / sd, (centred**3).mean() / sd**3
    hall = math.sqrt(n) * (t + g * t**2 / 3 + g**2 * t**3 / 27 + g / (6 * n))
    return max(stats.t.sf(math.sqrt(n) * t, n - 1), stats.t.sf(hall, n - 1))


def z_rows():
    for b, c, n, both in [(18, 8, 200, 113), (121, 69, 2000, 1105), (16, 3, 220, 129)]:
        p = proportion.proportions_ztest([both + b, both + c], [n, n])[1]
        call = {"reference": "unpaired_p", "data": {"b": b, "c": c, "n": n, "both_pass": both}}
        yield row(f"sm_unpaired_z_{b}_{c}_{n}", call, p, 1e-9, STATSMODELS)


def sign_flip_rows():
    for name in ("twelve",):
        d = graded_sets()[name]
        for m in (0.0, 0.3, -0.5):
            sums = [
                sum(s * x for s, x in zip(signs, d - m, strict=True))
                for signs in itertools.product((1, -1), repeat=d.size)
            ]
            p = np.mean(np.array(sums) >= sums[0] - 1e-9)
            call = run("sign_flip", "p_greater", {"differences": d.tolist()}, m)
            yield row(f"enum_sign_flip_{name}_{m}", call, float(p), 1e-12, "all 2^12 sign patterns")
    d = graded_sets()["ratings50"][:14]
    found = stats.permutation_test(
        (d,), np.mean, permutation_type="samples", n_resamples=np.inf, alternative="greater"
    )
    call = run("sign_flip", "p_greater", {"differences": d.tolist()})
    yield row("scipy_permutation_ratings14", call, found.pvalue, 1e-12, SCIPY)


def rank_rows():
    sets = graded_sets()
    untied = np.round(np.random.default_rng(5).normal(0.05, 0.2, 40), 9)  # scipy's exact law knows no ties
    p = stats.wilcoxon(untied, alternative="greater", method="exact").pvalue
    yield row(
        "scipy_wilcoxon_exact",
        run("wilcoxon", "p_greater", {"differences": untied.tolist()}),
        p,
        1e-10,
        SCIPY,
    )
    for zero in ("wilcox", "pratt"):
        method = "wilcoxon" if zero == "wilcox" else "wilcoxon_pratt"
        for name in ("ratings50", "skew80", "twelve"):
            d = sets[name]
            p = stats.wilcoxon(d, zero_method=zero, alternative="greater", method="asymptotic").pvalue
            call = run(method, "normal_tail", {"differences": d.tolist()})
            yield row(f"scipy_{method}_{name}", call, p, 1e-9, SCIPY)
        d = sets["ratings50"][:16]
        call = run(method, "p_greater", {"differences": d.tolist()})
        yield row(f"enum_{method}_ratings16", call, enumerated_ranks(d, zero), 1e-12, "all sign patterns")
    for name, d in sets.items():
        p = stats.binomtest(int((d > 0).sum()), int((d != 0).sum()), alternative="greater").pvalue
        yield row(
            f"scipy_sign_{name}", run("sign", "p_greater", {"differences": d.tolist()}), p, 1e-10, SCIPY
        )
    for name in ("twelve", "ratings50"):
        d = sets[name][sets[name] != 0]
        walsh = [0.5 * (d[i] + d[j]) for i in range(d.size) for j in range(i, d.size)]
        call = run("wilcoxon", "estimand_value", {"differences": sets[name].tolist()})
        yield row(f"walsh_{name}", call, float(np.median(walsh)), 1e-12, "all pair means")


def enumerated_ranks(d, zero):
    ranks = stats.rankdata(np.abs(d if zero == "pratt" else d[d != 0]))
    ranks = ranks[d != 0] if zero == "pratt" else ranks
    observed = ranks[d[d != 0] > 0].sum()
    sums = [
        sum(r for r, s in zip(ranks, signs, strict=True) if s)
        for signs in itertools.product((0, 1), repeat=ranks.size)
    ]
    return float(np.mean(np.array(sums) >= observed - 1e-9))


def gaffke_rows():
    """Hypoexponential law in exact rational arithmetic: P(sum E_j y_j > 0) for distinct y."""
    cases = {
        "five": (["1/10", "-1/20", "1/5", "3/20", "1/4"], "0", "-1"),
        "five_tolerance": (["1/10", "-1/20", "1/5", "3/20", "1/4"], "-3/10", "-1"),
        "eight": (["3/10", "2/5", "1/2", "11/20", "3/5", "7/10", "4/5", "9/10"], "0", "-1"),
        "lost": (["-3/10", "-2/5", "-1/10", "1/20"], "0", "-1"),
    }
    for name, (values, m, least) in cases.items():
        y = [Fraction(v) - Fraction(m) for v in values] + [Fraction(least) - Fraction(m)]
        upper = sum(
            (
                math.prod((yj / (yj - yk) for k, yk in enumerate(y) if k != j), start=Fraction(1))
                for j, yj in enumerate(y)
                if yj > 0
            ),
            Fraction(0),
        )
        call = {
            "bounded_p": {"values": [float(Fraction(v)) for v in values], "counts": [1] * len(values)},
            "null_value": float(Fraction(m)),
            "least": float(Fraction(least)),
        }
        yield row(
            f"hypoexponential_{name}", call, float(1 - upper), 1e-11, "hypoexponential law in rationals"
        )


def interval_rows():
    """One-sample limits."""
    for k, n in [(0, 40), (3, 200), (40, 40), (17, 120)]:
        low, high = proportion.proportion_confint(k, n, 0.05, "beta")
        call = {"proportion": [k, n], "level": LEVEL}
        yield row(f"sm_clopper_pearson_{k}_{n}", call, [float(low), float(high)], 1e-10, STATSMODELS)


def correction_rows():
    p = [0.0004, 0.013, 0.013, 0.021, 0.04, 0.31, 0.77]
    names = {
        "bonferroni": "bonferroni",
        "holm": "holm",
        "hochberg": "simes-hochberg",
        "bh": "fdr_bh",
        "by": "fdr_by",
    }
    for ours, theirs in names.items():
        adjusted = multitest.multipletests(p, method=theirs)[1]
        yield row(f"sm_{ours}", {"adjust": ours, "p_values": p}, adjusted.tolist(), 1e-12, STATSMODELS)


def power_rows():
    for n, psi, delta in [(50, 0.2, 0.1), (120, 0.0927, 0.03), (30, 0.4, 0.2)]:
        total = 0.0
        for s in range(n + 1):
            wins = [b for b in range(s + 1) if stats.binom.sf(b - 1, s, 0.5) < LEVEL]
            if wins:
                total += stats.binom.pmf(s, n, psi) * stats.binom.sf(
                    wins[0] - 1, s, (psi + delta) / (2 * psi)
                )
        call = {"mcnemar_power": {"n": n, "discordant": psi, "delta": delta, "level": LEVEL}}
        yield row(f"enum_power_{n}_{psi}_{delta}", call, float(total), 1e-10, SCIPY)


def main():
    makers = [
        mcnemar_rows, fay_lumbard_rows, tango_rows, unconditional_rows, t_rows, z_rows, sign_flip_rows,
        rank_rows, gaffke_rows, interval_rows, correction_rows, power_rows,
    ]  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rows = [found for maker in makers for found in maker()]
    lines = ",\n".join(" " + json.dumps(found) for found in rows)
    (HERE / "computed.json").write_text(f"[\n{lines}\n]\n", encoding="utf-8")
    print(f"{len(rows)} rows")


if __name__ == "__main__":
    main()
