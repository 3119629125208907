"""Runs programs in sandboxes as another user: started by the tests, asked on its input.

Each line of input is JSON: `programs` (source and where the answer is), `limits`, `options` of the
sandbox. Each line of output: `layers` and `outcomes`, or `error`.
"""

from __future__ import annotations

import ctypes
import dataclasses
import json
import os
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
SET_DUMPABLE = 4
NEW_MOUNTS, PRIVATE, BIND, RECURSIVE = 0x20000, 1 << 18, 4096, 1 << 14


def become(user: int) -> None:
    """Become an ordinary user who can read Python and this repository, wherever they are."""
    libc = ctypes.CDLL(None, use_errno=True)

    def mount(source: str, target: str, kind: bytes | None, flags: int) -> None:
        words = source.encode(), target.encode(), kind, ctypes.c_ulong(flags), None
        if libc.mount(*words) != 0:
            raise SystemExit(f"can't mount {target}: {os.strerror(ctypes.get_errno())}")

    if libc.unshare(NEW_MOUNTS) != 0:
        raise SystemExit("can't have mounts of its own")
    mount("", "/", None, PRIVATE | RECURSIVE)
    for path in dict.fromkeys([sys.base_prefix, sys.prefix, str(ROOT)]):
        if not Path(path).stat().st_mode & 0o001:
            raise SystemExit(f"{path} is closed to other users")
        closed = [p for p in reversed(Path(path).parents) if not p.stat().st_mode & 0o001]
        if closed:
            descriptor = os.open(path, os.O_PATH)
            mount("tmpfs", str(closed[0]), b"tmpfs", 0)
            closed[0].chmod(0o755)
            Path(path).mkdir(parents=True)
            mount(f"/proc/self/fd/{descriptor}", path, None, BIND | RECURSIVE)
            os.close(descriptor)
    os.setgroups([])
    os.setgid(user)
    os.setuid(user)
    # As any process of that user, and not only what has changed its user: readable by the same.
    libc.prctl(SET_DUMPABLE, 1)


def answer(asked: dict[str, Any]) -> dict[str, object]:
    from evalcore.sandbox import Limits, Program, Sandbox
    from ngramscan.errors import SandboxError

    try:
        with Sandbox(Limits(**asked["limits"]), **asked["options"]) as sandbox:
            programs = [Program(*each) for each in asked["programs"]]
            outcomes = []
            for outcome in sandbox.run(programs):
                plain = {**dataclasses.asdict(dataclasses.replace(outcome, layers=None))}
                outcomes.append(plain | {"layers": dict(outcome.layers or {})})
            return {"layers": dict(sandbox.layers), "outcomes": outcomes}
    except SandboxError as error:
        return {"error": str(error)}


def main() -> None:
    if int(sys.argv[1]) != os.getuid():
        become(int(sys.argv[1]))
    sys.path.insert(0, str(ROOT))
    print("ready", flush=True)  # noqa: T201 - the channel to the tests
    for line in sys.stdin:
        print(json.dumps(answer(json.loads(line))), flush=True)  # noqa: T201 - likewise


if __name__ == "__main__":
    main()
