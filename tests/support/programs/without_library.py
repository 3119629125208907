"""Run a command as if a library were not installed: without_library.py NAME COMMAND …"""

import sys
from importlib.abc import MetaPathFinder

from ngramscan.cli import main


class NotInstalled(MetaPathFinder):
    """Finds no module of one name."""

    def __init__(self, library: str) -> None:
        self.library = library

    def find_spec(self, fullname: str, *_: object) -> None:
        if fullname == self.library:
            raise ModuleNotFoundError(f"No module named {fullname!r}", name=fullname)


if __name__ == "__main__":
    library, *words = sys.argv[1:]
    sys.meta_path.insert(0, NotInstalled(library))
    main(words, prog_name="ngramscan")
