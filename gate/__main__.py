"""``python -m gate``."""

from gate.cli.main import console

if __name__ == "__main__":
    console()
