"""A nightly retrain in Airflow: score, decide, promote. The gate's task never retries.

A retry would score or decide again until it passes. Exit 99 means "skip" to BashOperator, and the gate never
uses it.
"""

from __future__ import annotations

import datetime as dt

from airflow.decorators import dag, task
from airflow.operators.bash import BashOperator

STORE = "/srv/gate"


@dag(
    schedule="17 2 * * *", start_date=dt.datetime(2026, 1, 1, tzinfo=dt.UTC), catchup=False, max_active_runs=1
)
def retrain_gate() -> None:
    """One cycle a night; the history counts them."""
    score = BashOperator(
        task_id="score",
        bash_command="./train/run.sh && ./eval/run.sh $STORE/baseline.jsonl $STORE/candidate.jsonl",
        cwd=STORE,
        env={"STORE": STORE},
        append_env=True,
        retries=2,
    )
    decide = BashOperator(
        task_id="decide",
        bash_command=(
            "gate run --policy gate.yaml --baseline baseline.jsonl --candidate candidate.jsonl "
            "--history history.jsonl --cycle {{ ds }} --json report.json --exit-zero-on hold,inconclusive"
        ),
        cwd=STORE,
        append_env=True,
        retries=0,
    )

    @task.short_circuit(retries=0)
    def promoted() -> bool:
        """Only the verdict promotes, not an exit code."""
        import json
        from pathlib import Path

        return json.loads(Path(STORE, "report.json").read_text())["verdict"] == "promote"

    deploy = BashOperator(task_id="deploy", bash_command="./deploy/run.sh", cwd=STORE, append_env=True)
    score >> decide >> promoted() >> deploy


retrain_gate()
