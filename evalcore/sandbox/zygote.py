"""The process that all programs are copies of: it holds Python and libraries, and no secrets.

It starts with an empty environment, reads no program (the copy does) and learns nothing but which
libraries to have ready. A copy, the supervisor, watches each program: a process can enter a new
world of processes only once, and the one who asks may be busy when the time is over.
"""

import contextlib
import gc
import importlib
import json
import os
import re
import select
import signal
import site
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Collection, Iterable, Iterator
from typing import IO, Any

from evalcore.sandbox import kernel, layers, program
from evalcore.sandbox.layers import ProgramLimits, World

SYSTEM = ("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/share/zoneinfo", "/etc/ld.so.cache")
LIBRARIES = ("numpy", "scipy.stats", "scipy.optimize", "sympy", "pandas")
"""Loaded once for all programs that name them: loading SymPy takes longer than running most
programs. At most eight: a request is one byte, with a bit for each."""
SINGLE_THREADED = (
    "OPENBLAS_NUM_THREADS OMP_NUM_THREADS MKL_NUM_THREADS NUMEXPR_NUM_THREADS "
    "VECLIB_MAXIMUM_THREADS OMP_THREAD_LIMIT RAYON_NUM_THREADS"
)
"""Programs may start no threads; libraries must not try."""
LOOK_FOR_PARENT_EVERY_S, LOOK_EVERY_S, SHORT_WAIT_S, GIVE_UP_AFTER_S = 1.0, 0.05, 0.001, 5.0
CHUNK = 1 << 16


def wanted_libraries(source: str) -> int:
    """Return the libraries that a program seems to use, as bits; too many only cost time."""
    words = set(re.findall(r"[A-Za-z_]+", source))
    return sum(1 << bit for bit, name in enumerate(LIBRARIES) if words.issuperset(name.split(".")))


def load(names: Iterable[str]) -> None:
    """Load libraries; one that isn't installed, the program will miss itself."""
    for name in names:
        with contextlib.suppress(ImportError, OSError):
            importlib.import_module(name)


def readable_folders(packages: list[str]) -> list[str]:
    """Return what Python needs, with the folders of packages; none of them is inside another."""
    python = os.path.dirname(os.__file__), os.path.join(sys.base_prefix, "lib")
    chosen: list[str] = []
    for path in sorted({os.path.abspath(p) for p in (*SYSTEM, *python, *packages)}, key=len):
        if os.path.exists(path) and not any(path.startswith(f"{folder}/") for folder in chosen):
            chosen.append(path)
    return chosen


def main(arguments: str) -> None:
    """Tell which layers there are, and run programs until no request comes; see `Zygote`."""
    config = json.loads(arguments)
    control = socket.socket(fileno=config["control"])
    sys.argv = [""]
    sys.path.extend(config["packages"])
    site.setquit()
    os.environ.update(dict.fromkeys(SINGLE_THREADED.split(), "1"), LANG="C.UTF-8", PATH="")
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    readable, leave_out = readable_folders(config["packages"]), config["leave_out"]
    layer_states = {name: layers.probe(name, readable, leave_out) for name in layers.NAMES}
    # Where memory can't be limited, the other limits are still worth having.
    active = {"limits", *(name for name, state in layer_states.items() if state == layers.OK)}
    active.difference_update(leave_out)
    mapped = os.open("/proc/self/statm", os.O_RDONLY) if kernel.LINUX else None
    # A program whose supervisor was killed becomes a child of this process.
    with contextlib.suppress(OSError, AttributeError):
        kernel.control(kernel.ADOPT_ORPHANS, "child subreaper", 1)
    children, supervisors = open_children(), set[int]()
    base: str | None = None
    try:
        if "namespaces" in active:
            kernel.enter_namespaces(readable)
        else:
            base = tempfile.mkdtemp(prefix="evalcore-", dir=config["temporary"])
    except OSError as error:
        control.sendall(json.dumps({"failed": str(error)}).encode() + b"\n")
        return
    load(["cmath", "datetime", "statistics", "string"])
    control.sendall(json.dumps({"layers": layer_states, "base": base}).encode() + b"\n")
    # The children end by themselves and are not waited for one by one.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    try:
        world = World(active, readable, base, mapped)
        for supervisor in serve(control, world, config["parent"]):
            supervisors.add(supervisor)
            kill_children(children, but=supervisors)
    finally:
        os.killpg(0, signal.SIGTERM)
        with contextlib.suppress(ChildProcessError):
            while not os.waitpid(-1, os.WNOHANG)[0]:
                kill_children(children, but=supervisors)
                time.sleep(LOOK_EVERY_S)
        if base is not None:
            remove_tree(base)


def serve(control: socket.socket, world: World, parent: int) -> Iterator[int]:
    """Start a supervisor for each request, until no client is left; yield its number.

    Without a request, 0 is yielded from time to time.

    `control` brings, for each program, a byte that names libraries, and a connection. Copies of
    the process `parent`, which makes the requests, may hold it open when that is dead.
    """
    zygote = os.getpid()
    while os.getppid() == parent:
        if not select.select([control], [], [], LOOK_FOR_PARENT_EVERY_S)[0]:
            yield 0
            continue
        wanted, descriptors, _, _ = socket.recv_fds(control, 1, 1)
        if not wanted:
            return
        load(name for bit, name in enumerate(LIBRARIES) if wanted[0] >> bit & 1)
        gc.freeze()
        with socket.socket(fileno=descriptors[0]) as connection:
            if (child := os.fork()) != 0:
                yield child
                continue
            try:
                kernel.control(kernel.DEATH_SIGNAL, "parent death signal", signal.SIGKILL)
                if os.getppid() == zygote:
                    control.close()
                    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                    supervise(connection, world)
            finally:
                os._exit(0)


def supervise(connection: socket.socket, world: World) -> None:
    """Run the program that is asked for on a connection, and answer there.

    The request is a line of JSON: `source`, `answer_from`, `limits`. The answer is two lines: the
    number of this process, from which on the program counts as started; and as JSON the outcome,
    or `failed`: why the sandbox itself failed. After that, the program's folder is removed.
    """
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    with contextlib.ExitStack() as afterwards:
        try:
            with connection.makefile("rb") as file:
                request = json.loads(file.readline())
            connection.sendall(b"%d\n" % os.getpid())
            reply = attend(request, connection, world, afterwards)
        except (OSError, ValueError, MemoryError) as error:
            reply = {"failed": f"{type(error).__name__}: {error}"}
        with contextlib.suppress(OSError):
            # Without halves of characters, which no file takes.
            text = json.dumps(reply, ensure_ascii=False) + "\n"
            connection.sendall(text.encode(errors="replace"))


def attend(
    request: dict[str, Any],
    connection: socket.socket,
    world: World,
    afterwards: contextlib.ExitStack,
) -> program.ProgramReport:
    """Run a program to its end, and return its outcome; put aside what is left to do then."""
    limits = ProgramLimits(**request["limits"])
    if world.base is None:
        kernel.enter_for_program(limits.files_bytes)
        work = kernel.WORK
    else:
        kernel.control(kernel.ADOPT_ORPHANS, "child subreaper", 1)
        work = tempfile.mkdtemp(dir=world.base)
        afterwards.callback(remove_tree, work)
    pid, output, result = start(request, limits, world, work)
    started = time.monotonic()
    code: int | None = None
    try:
        code, reported, printed = follow(pid, output, result, limits, connection)
        seconds = time.monotonic() - started
    finally:
        end(pid, has_ended=code is not None)
    if code is None:
        report = program.failure("timeout", f"not done within {limits.seconds:g} s")
    elif code < 0 and not reported:
        signal_names = {number.value: number.name for number in signal.Signals}
        report = program.failure("killed", f"ended by the signal {signal_names.get(-code, -code)}")
    else:
        report = program.read_report(reported, printed, limits.result_bytes)
    return report | {"seconds": seconds}


def start(
    request: dict[str, Any], limits: ProgramLimits, world: World, work: str
) -> tuple[int, int, int]:
    """Start a program; return its number, and where its output and its result can be read.

    OSError where a layer of the sandbox can't be put up; the program is not run then.
    """
    output, output_end = os.pipe()
    result, result_end = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.setsid()
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            kernel.control(kernel.DEATH_SIGNAL, "parent death signal", signal.SIGKILL)
            # If the supervisor died before the kernel knew of the tie, nobody reads the first word.
            layers.confine(world, limits, work, output_end, result_end)
            program.run(request["source"], request["answer_from"])
        finally:
            os._exit(1)
    os.close(output_end)
    os.close(result_end)
    first = os.read(result, 1)
    if first != layers.CONFINED:
        reason = (first + os.read(result, CHUNK)).decode(errors="replace")
        os.waitpid(pid, 0)
        raise OSError(reason or "its process ended while being confined")
    return pid, output, result


def follow(
    pid: int, output: int, result: int, limits: ProgramLimits, connection: socket.socket
) -> tuple[int | None, bytes, bytes]:
    """Read until a program ends or its time is over; return its exit code, if it ended in time.

    Returns also what `program.read_report` needs.
    """
    deadline, most = time.monotonic() + limits.seconds, limits.result_bytes + 1
    connection_fd, open_ends = connection.fileno(), {output, result}
    code: int | None = None
    reported = printed = b""
    while (remaining_s := deadline - time.monotonic()) > 0:
        # When it has ended, what is there is read; others may still write, but not for ever.
        wait = (
            0 if code is not None else min(LOOK_EVERY_S if open_ends else SHORT_WAIT_S, remaining_s)
        )
        ready, _, _ = select.select([connection_fd, *open_ends], [], [], wait)
        if connection_fd in ready:
            sys.exit(1)  # nobody waits for the outcome any more
        if code is not None and not ready:
            break
        for descriptor in ready:
            piece = os.read(descriptor, CHUNK)
            if not piece:
                open_ends.discard(descriptor)
            elif descriptor == output:
                printed = (printed + piece)[-most:]
            else:
                reported = (reported + piece)[:most]
        if code is None and (ended := os.waitpid(pid, os.WNOHANG))[0]:
            code = os.waitstatus_to_exitcode(ended[1])
    return code, reported, printed


def end(pid: int, has_ended: bool) -> None:
    """Kill a program and all that it started, and wait for it.

    On Linux, a process whose parent has ended becomes a child of this one, so that nothing gets
    away; elsewhere only the group is known. Processes that are started faster than they are found
    here can't be stopped: the filter of system calls forbids to start any.
    """
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if not has_ended:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    if not kernel.LINUX:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(pid, signal.SIGKILL)
    children, until = open_children(), time.monotonic() + GIVE_UP_AFTER_S
    while time.monotonic() < until:
        try:
            ended, _ = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if not ended:
            kill_children(children)
            time.sleep(SHORT_WAIT_S)


def open_children() -> IO[bytes] | None:
    """Return a file that lists the children of this process, where the system has such files."""
    with contextlib.suppress(OSError):
        # Without a buffer, so that each reading is a new one.
        return open(f"/proc/{os.getpid()}/task/{os.getpid()}/children", "rb", buffering=0)
    return None


def kill_children(listed: IO[bytes] | None, but: Collection[int] = ()) -> None:
    """Kill the children that a file lists, except some; it may miss one that has just come."""
    if listed is None:
        return
    listed.seek(0)
    for child in map(int, listed.read().split()):
        if child not in but:
            with contextlib.suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)


def remove_tree(path: str) -> None:
    """Remove a folder with what a program left in it, of any depth, rights and names, if possible.

    The system's tools do so where `shutil.rmtree` ends early: in folders of a thousand levels.
    """
    for tool, options in (("/bin/chmod", ("-R", "u+rwx")), ("/bin/rm", ("-rf",))):
        with contextlib.suppress(OSError):
            subprocess.run([tool, *options, "--", path], stderr=subprocess.DEVNULL, check=False)
