"""Before a run: what a policy can see on these items, what it would catch, and how many items it needs."""
