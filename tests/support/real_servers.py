"""Web servers of Debian on a loopback address, each in a folder of its own."""

import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest

SBIN = "/usr/sbin:/usr/bin:/usr/local/sbin:/usr/local/bin"
_START_S = 10.0


def free_port() -> int:
    """Return a port that nothing listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def program(name: str) -> str:
    """Return the path of a server; a test that needs one that is absent is skipped."""
    found = shutil.which(name, path=SBIN)
    if found is None:
        # These are system packages, which a test environment can't install for itself.
        pytest.skip(f"this needs the web server {name}, a package of the system")
    return found


@contextmanager
def running(command: list[str], port: int) -> Iterator[None]:
    """Run a server in the foreground until the end of the `with` block."""
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as server:
        try:
            _wait_for(server, port)
            yield
        finally:
            server.terminate()
            try:
                server.wait(timeout=5)
            except subprocess.TimeoutExpired:
                server.kill()


def _wait_for(server: subprocess.Popen[bytes], port: int) -> None:
    until = time.monotonic() + _START_S
    while time.monotonic() < until and server.poll() is None:
        try:
            with socket.create_connection(("127.0.0.1", port), 1):
                return
        except OSError:
            time.sleep(0.05)
    server.terminate()
    _, problem = server.communicate()
    raise AssertionError(f"the server does not start: {problem.decode()[-500:]}")


@contextmanager
def nginx(root: Path, state: Path, rules: str = "", zone: str = "") -> Iterator[str]:
    """Serve a folder by nginx; `rules` belong to its server, `zone` to all of HTTP."""
    port, path = free_port(), program("nginx")
    state.mkdir(exist_ok=True)
    temporary = "".join(
        f"{kind}_temp_path {state}/{kind};\n"
        for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    config = state / "nginx.conf"
    config.write_text(
        f"daemon off; master_process off; pid {state}/pid; error_log stderr;\n"
        "events {}\n"
        f"http {{ access_log {state}/access.log; {temporary} {zone}\n"
        f"server {{ listen 127.0.0.1:{port}; root {root}; {rules} }} }}\n"
    )
    command = [path, "-c", str(config), "-p", str(state), "-e", str(state / "error.log")]
    with running(command, port):
        yield f"http://127.0.0.1:{port}/"


@contextmanager
def apache(root: Path, state: Path) -> Iterator[str]:
    """Serve a folder by Apache."""
    port, path = free_port(), program("apache2")
    state.mkdir(exist_ok=True)
    modules = "/usr/lib/apache2/modules"
    names = ("mpm_event", "authz_core", "dir", "autoindex")
    loads = "".join(f"LoadModule {name}_module {modules}/mod_{name}.so\n" for name in names)
    config = state / "apache.conf"
    config.write_text(
        f"{loads}ServerRoot {state}\nPidFile {state}/pid\nListen 127.0.0.1:{port}\n"
        f"ServerName localhost\nErrorLog {state}/error.log\nDocumentRoot {root}\n"
        f"DefaultRuntimeDir {state}\nMutex file:{state}\n"
        f"<Directory {root}>\nRequire all granted\nOptions +Indexes\n</Directory>\n"
    )
    with running([path, "-X", "-f", str(config)], port):
        yield f"http://127.0.0.1:{port}/"


@contextmanager
def lighttpd(root: Path, state: Path) -> Iterator[str]:
    """Serve a folder by lighttpd."""
    port, path = free_port(), program("lighttpd")
    state.mkdir(exist_ok=True)
    config = state / "lighttpd.conf"
    config.write_text(
        f'server.document-root = "{root}"\nserver.bind = "127.0.0.1"\nserver.port = {port}\n'
        'server.modules = ("mod_dirlisting")\ndir-listing.activate = "enable"\n'
        'mimetype.assign = ("" => "application/octet-stream")\n'
    )
    with running([path, "-D", "-f", str(config)], port):
        yield f"http://127.0.0.1:{port}/"


@contextmanager
def tinyproxy(state: Path, login: str = "") -> Iterator[tuple[str, Path]]:
    """Run a proxy; yields its address, and the file in which it logs every request."""
    port, path = free_port(), program("tinyproxy")
    state.mkdir(exist_ok=True)
    config, log = state / "tinyproxy.conf", state / "log"
    name, _, password = login.partition(":")
    config.write_text(
        f'Port {port}\nListen 127.0.0.1\nTimeout 60\nLogFile "{log}"\nLogLevel Connect\n'
        f"MaxClients 100\nAllow 127.0.0.1\n" + (f"BasicAuth {name} {password}\n" if name else "")
    )
    with running([path, "-d", "-c", str(config)], port):
        yield f"http://{f'{login}@' if login else ''}127.0.0.1:{port}", log


SERVERS: dict[str, Callable[..., AbstractContextManager[str]]] = {
    "nginx": nginx,
    "apache": apache,
    "lighttpd": lighttpd,
}
