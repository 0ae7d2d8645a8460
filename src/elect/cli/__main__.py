"""``python -m elect.cli``: the same as ``elect``."""

from elect.cli import script

if __name__ == "__main__":
    script()
