"""``python -m nodewise`` is the command ``nodewise``."""

from nodewise.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
