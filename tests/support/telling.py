"""What a program tells the test that started it: a line, which is there at once."""

import sys


def tell(*values: object) -> None:
    """Write values in one line of standard output."""
    sys.stdout.write(" ".join(str(value) for value in values) + "\n")
    sys.stdout.flush()
