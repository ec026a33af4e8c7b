"""The noise band through the command: what a record keeps, what raises an alarm, and what a hold does."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from tests.black_box import BINARY, GRADED, Answer, command, decide, policy


class Nights:
    """One history, a new pair of files a night."""

    def __init__(self, folder: Path, wanted: dict[str, Any]) -> None:
        self.folder, self.wanted, self.count = folder, wanted, 0
        self.history = folder / "h.jsonl"
        assert command("history", "init", self.history).code == 0

    def night(self, differences: Any, *more: object, **columns: Any) -> Answer:
        """differences: of this night's items; the baseline scores 5 on each."""
        self.count += 1
        place = self.folder / str(self.count)
        place.mkdir()
        metric = self.wanted["gating"]["metric"]
        base = 5.0 if metric == "score" else 0
        sides = [
            [
                {"id": f"{self.count}-{k}", metric: base + side * d, **{c: v[k] for c, v in columns.items()}}
                for k, d in enumerate(differences)
            ]
            for side in (0, 1)
        ]
        cycle = ["--history", self.history, "--cycle", f"night{self.count}"]
        return decide(place, self.wanted, *sides, *cycle, *more)


def outcomes(history: Path) -> list[dict[str, Any]]:
    return [r for r in map(json.loads, history.read_text().splitlines()) if r["kind"] == "outcome"]


def spread(rng: np.random.Generator, sd: float, mean: float = 0.5, n: int = 120) -> list[float]:
    return [round(float(d), 6) for d in rng.normal(mean, sd, n)]


def test_the_limits_are_those_of_students_t_over_earlier_gains(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    nights = Nights(tmp_path, policy(GRADED, gating={"margin": 0.0}))
    drawn = [spread(rng, 1.0) for _ in range(7)]
    bands = [nights.night(d).report["cycles"].get("band") for d in drawn]  # type: ignore[index]
    assert bands[0] is None
    assert bands[4].get("low") is None
    deltas = np.array([np.mean(d) for d in drawn])
    reach = stats.t.ppf(0.995, 5) * deltas[:6].std(ddof=1) * np.sqrt(1 + 1 / 6)
    assert bands[6]["centre"] == pytest.approx(deltas[:6].mean(), abs=1e-6)
    assert bands[6]["low"] == pytest.approx(deltas[:6].mean() - reach, abs=1e-6)
    assert bands[6]["high"] == pytest.approx(deltas[:6].mean() + reach, abs=1e-6)
    assert bands[6]["cycles"] == 6
    reach = stats.t.ppf(0.995, 6) * deltas.std(ddof=1) * np.sqrt(1 + 1 / 7)
    said = f"the next delta in {deltas.mean() - reach:+.4f} .. {deltas.mean() + reach:+.4f} (99 %)"
    assert said in command("history", "show", nights.history).out


def test_a_noisier_night_says_so_and_the_digest_gives_the_test_of_the_old_files(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    nights = Nights(tmp_path, policy(GRADED, gating={"margin": 0.0}))
    first, second = spread(rng, 1.0), spread(rng, 2.0)
    nights.night(first)
    answer = nights.night(second)
    assert "noise_changed" in answer.cautions()
    assert answer.verdict == "promote"
    away = [np.abs(np.array(d) - np.median(d)) for d in (second, first)]
    p = stats.ttest_ind(*away, equal_var=False).pvalue
    band = answer.report["cycles"]["band"]  # type: ignore[index]
    assert band["spread_p"] == pytest.approx(p, rel=1e-4)
    assert band["spread_ratio"] == pytest.approx(np.std(second, ddof=1) / np.std(first, ddof=1), rel=1e-6)


def test_a_hold_adds_no_pass_and_resets_none(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    cycles = {"required": 3, "windows": "fresh", "on_alarm": "hold"}
    nights = Nights(tmp_path, policy(GRADED, gating={"margin": 0.0}, cycles=cycles))
    found = [nights.night(spread(rng, sd)) for sd in (1.0, 1.0, 3.0, 1.0)]
    assert [one.verdict for one in found] == ["hold", "hold", "hold", "promote"]
    passed = [one.report["cycles"]["passed"] for one in found]  # type: ignore[index]
    assert passed == [1, 2, 2, 3]
    assert "noise band" in found[2].report["cycles"]["held"]  # type: ignore[index]


def test_a_loss_outside_the_band_still_blocks_and_resets(tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    cycles = {"required": 3, "windows": "fresh", "on_alarm": "hold"}
    nights = Nights(tmp_path, policy(GRADED, gating={"margin": 0.0}, cycles=cycles))
    nights.night(spread(rng, 1.0))
    assert nights.night(spread(rng, 3.0, mean=-2.0)).verdict == "block"
    assert nights.night(spread(rng, 1.0)).report["cycles"]["passed"] == 1  # type: ignore[index]


def test_another_mix_of_inputs_is_seen(tmp_path: Path) -> None:
    wanted = policy(BINARY, slices={"by": ["lang"], "min_items": 5})
    nights = Nights(tmp_path, wanted)
    flags = [int(k % 4 == 0) for k in range(200)]
    nights.night(flags, lang=["de" if k % 2 else "en" for k in range(200)])
    answer = nights.night(flags, lang=["de" if k % 10 else "en" for k in range(200)])
    assert "inputs_shifted" in answer.cautions()
    assert outcomes(nights.history)[0]["state"]["mix:lang"] == '{"de":100,"en":100}'


def test_withheld_numbers_are_in_no_digest(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    cycles = {"feedback": "verdict", "windows": "reused"}
    nights = Nights(tmp_path, policy(GRADED, gating={"margin": 2.0}, cycles=cycles))
    answer = nights.night(spread(rng, 1.0))
    assert answer.verdict != "promote"
    (record,) = outcomes(nights.history)
    assert "differences" not in record["state"]
    assert answer.report["cycles"].get("band") is None  # type: ignore[index]


def test_the_band_is_reproduced(tmp_path: Path) -> None:
    rng = np.random.default_rng(6)
    nights = Nights(tmp_path, policy(GRADED, gating={"margin": 0.0}))
    for _ in range(3):
        nights.night(spread(rng, 1.0))
    done = command("verify", tmp_path / "3" / "report" / "report.json", "--history", nights.history)
    assert done.code == 0, done.out


def test_holding_needs_a_history(tmp_path: Path) -> None:
    rows = [{"id": str(k), "correct": k % 2} for k in range(60)]
    wanted = policy(BINARY, cycles={"on_alarm": "hold"})
    assert "on_alarm: hold need a history" in decide(tmp_path, wanted, rows, rows[::-1]).error
