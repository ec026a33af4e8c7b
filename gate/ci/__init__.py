"""The gate inside a CI job: inputs, the policy of the base side, outputs, annotations, summary."""
