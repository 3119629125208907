"""The zygote, seen from the process that asks for programs to be run."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, Self

from evalcore.sandbox import libraries, removal
from evalcore.sandbox.base import Limits, Program
from evalcore.sandbox.folders import package_folders
from ngramscan.errors import SandboxError

START = Path(__file__).with_name("start.py")
FIRST_WORD_WITHIN_S = 60.0
REQUEST_WITHIN_S = 30.0
END_WITHIN_S = 10.0


class Zygote:
    """A running zygote."""

    def __init__(
        self, process: subprocess.Popen[bytes], control: socket.socket, hello: Mapping[str, Any]
    ) -> None:
        self.layers: Mapping[str, str] = hello["layers"]
        self._process = process
        self._control = control
        self._base: str | None = hello["base"]

    @classmethod
    def start(cls, leave_out: Collection[str]) -> Self:
        """Start one, and wait until it knows which layers this machine has.

        Raises SandboxError where it can't be started.
        """
        control, theirs = socket.socketpair()
        config = {
            "control": theirs.fileno(),
            "parent": os.getpid(),
            "packages": package_folders(),
            "temporary": tempfile.gettempdir(),
            "leave_out": sorted(leave_out),
        }
        try:
            with theirs:
                process = launch(config, theirs.fileno())
            hello = first_word(process, control)
        except BaseException:
            control.close()
            raise
        return cls(process, control, hello)

    @property
    def alive(self) -> bool:
        """Whether it can be asked."""
        return self._process.poll() is None

    def ask(self, program: Program, limits: Limits) -> socket.socket:
        """Have a program run.

        Parameters
        ----------
        program : Program
            What to run.
        limits : Limits
            What it may use.

        Returns
        -------
        socket
            Where the reply will come; closing it ends the program.

        Raises
        ------
        OSError
            The zygote is no longer there.
        """
        ours, theirs = socket.socketpair()
        try:
            with theirs:
                wanted = bytes([libraries.wanted(program.source)])
                socket.send_fds(self._control, [wanted], [theirs.fileno()])
            ours.settimeout(REQUEST_WITHIN_S)
            ours.sendall(request(program, limits))
        except BaseException:
            ours.close()
            raise
        return ours

    def kill(self) -> None:
        """End it at once; its supervisors and programs end with it."""
        self._process.kill()
        self._process.wait()

    def close(self) -> None:
        """End it, with all that it started, and remove what it may have left."""
        self._control.close()
        try:
            self._process.wait(END_WITHIN_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
        finally:
            self._process.wait()
            if self._base is not None:
                with contextlib.suppress(OSError):
                    removal.remove_tree(self._base)


def launch(config: Mapping[str, Any], control: int) -> subprocess.Popen[bytes]:
    """Start the process of a zygote.

    Parameters
    ----------
    config : mapping
        As `zygote.main` describes it.
    control : int
        The descriptor that it keeps open.

    Returns
    -------
    Popen
        The process: nothing of this one's environment and descriptors goes into it.

    Raises
    ------
    SandboxError
        Python can't be started.
    """
    options = ("-I", "-S", "-B", "-X", "utf8")
    try:
        return subprocess.Popen(
            [sys.executable, *options, str(START), json.dumps(config)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={},
            cwd="/",
            pass_fds=[control],
            start_new_session=True,
        )
    except OSError as error:
        raise SandboxError(f"{sys.executable}: can't be started: {error.strerror}") from error


def first_word(process: subprocess.Popen[bytes], control: socket.socket) -> Mapping[str, Any]:
    """Return what a new zygote says of itself.

    Parameters
    ----------
    process : Popen
        The zygote; it is ended if it says nothing useful.
    control : socket
        Where it speaks.

    Returns
    -------
    mapping
        `layers`, and `base`: the folder that it made, if any.

    Raises
    ------
    SandboxError
        It ended, or could not make its world.
    """
    control.settimeout(FIRST_WORD_WITHIN_S)
    try:
        with control.makefile("rb") as file:
            hello: dict[str, Any] = json.loads(file.readline() or b"{}")
        if "layers" not in hello:
            reason = hello.get("failed", "it ended at once")
            raise SandboxError(f"sandbox: its first process can't be started: {reason}")
    except BaseException as error:
        process.kill()
        process.wait()
        if isinstance(error, TimeoutError):
            late = f"no answer within {FIRST_WORD_WITHIN_S:.0f} s"
            raise SandboxError(f"sandbox: its first process gave {late}") from error
        raise
    return hello


def request(program: Program, limits: Limits) -> bytes:
    """Return the line that a supervisor reads: the program and its limits, nothing else."""
    bounds = {
        "seconds": limits.seconds,
        "memory_bytes": limits.memory_bytes,
        "files_bytes": limits.files_bytes,
        "result_bytes": limits.result_bytes,
    }
    asked = {"source": program.source, "answer_from": program.answer_from, "bounds": bounds}
    return json.dumps(asked).encode() + b"\n"
