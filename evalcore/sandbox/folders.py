"""Which folders a program may read: those that Python itself needs, and nothing else."""

from __future__ import annotations

import os
import sys

SYSTEM = ("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/share/zoneinfo", "/etc/ld.so.cache")
"""Shared libraries, time zones, and where the loader finds libraries."""
DEVICES = ("/dev/null", "/dev/urandom")


def package_folders() -> list[str]:
    """Return the folders of installed packages that this Python knows.

    Folders that are on the path for another reason (the current one, those of packages installed
    for development) are left out: they are the user's, and may hold data.
    """
    return [
        path
        for path in sys.path
        if os.path.basename(path) in {"site-packages", "dist-packages"} and os.path.isdir(path)
    ]


def readable_folders(packages: list[str]) -> list[str]:
    """Return what a program may read, given the folders of packages; none lies in another."""
    python = [os.path.dirname(os.__file__)]
    if sys.base_prefix != "/":
        python.append(os.path.join(sys.base_prefix, "lib"))
    chosen: list[str] = []
    for path in sorted({os.path.abspath(p) for p in (*SYSTEM, *python, *packages)}, key=len):
        inside = any(path.startswith(folder + "/") for folder in chosen)
        if not inside and os.path.exists(path):
            chosen.append(path)
    return chosen
