"""Files that hold what was learned: safe to open, whole or not at all."""
