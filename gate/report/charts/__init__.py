"""Plots as inline SVG. Where a number stands on the paper is worked out here; the number itself is not."""
