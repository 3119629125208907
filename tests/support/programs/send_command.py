"""Run a command in a child of the command server, as if it ran in this process.

    python -IS send_command.py SOCKET PACKAGE ARGUMENTS ...

It hands over its open files, folder, environment and arguments, passes signals on, and ends as the
command does. Only what starts within milliseconds is imported.
"""

import os
import signal
import socket
import sys

PASSED_ON = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1)


def open_files() -> list[int]:
    """Return the standard streams and what a shell opened besides, as for `<(zcat corpus.gz)`."""
    found = [0, 1, 2]
    for name in os.listdir("/dev/fd"):
        if int(name) > 2 and os.path.exists(f"/dev/fd/{name}"):  # not the listed folder, now closed
            found.append(int(name))
    return found


def send(path: str, arguments: list[str]) -> socket.socket:
    """Hand a command over, and return the connection on which the server answers."""
    files = open_files()
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(path)
    numbers = ",".join(str(file) for file in files)
    environment = [f"{name}={value}" for name, value in os.environ.items()]
    texts = [os.getcwd(), numbers, str(len(arguments)), *arguments, *environment]
    content = b"\0".join(os.fsencode(text) for text in texts)
    socket.send_fds(connection, [len(content).to_bytes(8, "big")], files)
    connection.sendall(content)
    return connection


def main() -> None:
    """Hand the command over, and wait for its end."""
    connection = send(sys.argv[1], sys.argv[2:])
    with connection.makefile("rb") as answers:
        pid = int(answers.readline())

        def pass_on(number: int, _: object) -> None:
            os.kill(pid, number)

        for number in PASSED_ON:
            signal.signal(number, pass_on)
        code = int(answers.readline())
    if code < 0:  # ended by a signal
        if -code in PASSED_ON:
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    sys.exit(code)


if __name__ == "__main__":
    main()
