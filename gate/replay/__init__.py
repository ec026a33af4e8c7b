"""Replay: two systems answer the same recorded cases, and the answers become two artifacts of the gate."""
