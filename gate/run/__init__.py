"""From policy and files to a decided run: reading, comparing, deciding and summing up, in this order."""
