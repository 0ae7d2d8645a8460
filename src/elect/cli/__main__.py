"""``python -m elect.cli``: the same as ``elect``."""

from elect.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
