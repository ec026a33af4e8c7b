#!/bin/sh
# crontab:  17 2 * * *  GATE_STORE=/srv/gate /srv/gate/nightly.sh
# One cycle a night on one machine. flock keeps two nights apart; a night that is cut off leaves a gap, no pass.
set -eu
cd "${GATE_STORE:?the folder with gate.yaml, eval/, deploy/ and the history}"
exec 9> .gate.lock
flock --nonblock 9 || { echo "gate: the last night is still running" >&2; exit 75; }

./eval/run.sh baseline.jsonl candidate.jsonl # yours: the same items for both

code=0
gate run --policy gate.yaml --baseline baseline.jsonl --candidate candidate.jsonl \
  --history history.jsonl --cycle "$(date -u +%F)" --report-dir reports || code=$?
case $code in
  0) exec ./deploy/run.sh ;; # yours; promote
  3 | 4) exit 0 ;;           # inconclusive, hold: nothing to do tonight
  *) exit "$code" ;;         # block, or nothing could be decided: cron mails the text
esac
