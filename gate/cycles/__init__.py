"""What a history means: looks, streaks, claims. Pure: records in, values out, no file, no clock."""
