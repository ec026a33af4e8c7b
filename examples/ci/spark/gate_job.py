"""What spark-submit starts: the gate's own command line."""

from gate.cli.main import console

if __name__ == "__main__":
    console()
