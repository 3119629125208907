"""A remote file that is read from one end to the other is one version of it."""

from pathlib import Path

import pytest

from ngramscan.errors import IndexChangedError
from ngramscan.remote.ranges import RangeOptions, Ranges
from tests.support.range_server import Faults, RangeServer


def replaced_after(chunks: int, kind: str, root: Path) -> list[bytes]:
    """Read a file through, which is replaced after some chunks while the connection drops."""
    old, new = b"a" * 3_000_000, b"b" * 3_000_000
    (root / kind).mkdir(parents=True)
    file = root / kind / "f"
    file.write_bytes(old)
    with (
        RangeServer(root, faults=Faults(always={f"{kind}/": kind})) as server,
        Ranges(RangeOptions()) as ranges,
    ):
        reading = ranges.read_through(f"{server.url}{kind}/f")
        got = [next(reading) for _ in range(chunks)]
        file.write_bytes(new)
        return got + list(reading)


@pytest.mark.parametrize("kind", ["no_etag", "cut"])
def test_no_file_is_half_of_one_version_and_half_of_another(kind: str, tmp_path: Path) -> None:
    if kind == "cut":
        with pytest.raises(IndexChangedError, match="it changed while it was read"):
            replaced_after(1, kind, tmp_path)
    else:
        assert set(b"".join(replaced_after(1, kind, tmp_path))) == {ord("a")}
