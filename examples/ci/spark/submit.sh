#!/usr/bin/env bash
# The gate as a Spark job: $1 and $2 are paths of Parquet or names of tables. The exit code is that of `gate run`.
# Executors need `pip install 'paired-gate[spark]'` too. Keep client mode: in cluster mode the code is lost.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
spark-submit --deploy-mode client "$here/gate_job.py" run --engine spark \
  --policy "${GATE_POLICY:-gate.yaml}" --baseline "$1" --candidate "$2" --report-dir "${GATE_REPORT:-report}"
