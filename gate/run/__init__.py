"""From policy and files to a report: reading, comparing, deciding and summing up, in this order."""

from gate.run.intake import Files
from gate.run.pipeline import evaluate
from gate.run.request import Request

__all__ = ["Files", "Request", "evaluate"]
