"""From what was measured to a verdict."""
