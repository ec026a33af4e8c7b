"""Paired Gate: decides whether a candidate may replace its baseline."""

__version__ = "0.1.0"
