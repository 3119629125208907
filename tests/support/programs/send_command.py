"""Run a command in a child of the command server, as if it ran in this process.

    python -IS send_command.py SOCKET PACKAGE ARGUMENTS ...

It hands over its standard streams, folder, environment and arguments, passes signals on, and ends
as the command does. Only what starts within milliseconds is imported.
"""

import os
import signal
import socket
import sys

PASSED_ON = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1)


def send(path: str, arguments: list[str]) -> socket.socket:
    """Hand a command over, and return the connection on which the server answers."""
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(path)
    environment = [f"{name}={value}" for name, value in os.environ.items()]
    texts = [os.getcwd(), str(len(arguments)), *arguments, *environment]
    content = b"\0".join(os.fsencode(text) for text in texts)
    socket.send_fds(connection, [len(content).to_bytes(8, "big")], [0, 1, 2])
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
