"""Starts the zygote in a new Python, without loading anything else of this package.

Run as a file: `python -I -S start.py CONFIG`. The packages around it appear as empty ones, so that
their modules can be imported by their names while what the packages load for others is not.
"""

from __future__ import annotations

import os
import sys
from types import ModuleType


def main() -> None:
    """Make the packages known, and become the zygote."""
    here = os.path.dirname(os.path.abspath(__file__))
    for name, folder in (("evalcore", os.path.dirname(here)), ("evalcore.sandbox", here)):
        package = ModuleType(name)
        package.__path__ = [folder]
        sys.modules[name] = package
    from evalcore.sandbox import zygote

    zygote.main(sys.argv[1:])


if __name__ == "__main__":
    main()
