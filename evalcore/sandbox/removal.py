"""Removes what a program left behind: folders of any depth, of any rights, with any names."""

from __future__ import annotations

import os
import secrets
import stat

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW


def remove_tree(path: str) -> None:
    """Remove a folder and all that is in it; nothing where there is none.

    Folders within folders are moved up until none is deep: a path of thousands of names is longer
    than the system takes, and recursion ends early.

    Raises
    ------
    OSError
        Something could not be removed; the rest may still be there.
    """
    try:
        os.chmod(path, stat.S_IRWXU)
    except FileNotFoundError:
        return
    top = os.open(path, _FOLDER)
    try:
        while names := os.listdir(top):
            for name in names:
                if _is_folder(name, top):
                    _empty(name, top)
                else:
                    os.unlink(name, dir_fd=top)
    finally:
        os.close(top)
    os.rmdir(path)


def _is_folder(name: str, parent: int) -> bool:
    return stat.S_ISDIR(os.stat(name, dir_fd=parent, follow_symlinks=False).st_mode)


def _empty(name: str, top: int) -> None:
    """Remove a folder in the topmost one; the folders in it move up beside it."""
    os.chmod(name, stat.S_IRWXU, dir_fd=top)
    folder = os.open(name, _FOLDER, dir_fd=top)
    try:
        for inner in os.listdir(folder):
            if _is_folder(inner, folder):
                os.chmod(inner, stat.S_IRWXU, dir_fd=folder)
                os.rename(inner, secrets.token_hex(16), src_dir_fd=folder, dst_dir_fd=top)
            else:
                os.unlink(inner, dir_fd=folder)
    finally:
        os.close(folder)
    os.rmdir(name, dir_fd=top)
