"""A real Jupyter kernel: progress, sizes and a summary before the frame."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

import ngramscan
from tests.support.command import invoke
from tests.support.outputs import write_lines
from tests.support.places import REPLAY
from tests.support.service import ApiServer

pytest.importorskip("ipykernel")
DOCS = REPLAY / "docs" / "a.jsonl"
TEXTS = ("step by step", "let us do it step by step")


@dataclass
class Cell:
    """What a cell has shown: its output, and each state of its line of progress."""

    stdout: str = ""
    stderr: str = ""
    result: str = ""
    shown: list[str] = field(default_factory=list)
    updates: list[str] = field(default_factory=list)


class Kernel:
    """A kernel in a process of its own."""

    def __init__(self, client: Any) -> None:
        self._client = client

    def run(self, code: str) -> Cell:
        cell, errors = Cell(), list[str]()

        def take(message: dict[str, Any]) -> None:
            content = message["content"]
            match message["msg_type"]:
                case "stream":
                    name = content["name"]
                    setattr(cell, name, getattr(cell, name) + content["text"])
                case "display_data":
                    cell.shown.append(content["data"]["text/plain"])
                case "update_display_data":
                    cell.updates.append(content["data"]["text/plain"])
                case "execute_result":
                    cell.result = content["data"]["text/plain"]
                case "error":
                    errors.extend(content["traceback"])

        self._client.execute_interactive(code, output_hook=take, timeout=120, allow_stdin=False)
        assert not errors, "\n".join(errors)
        return cell


@pytest.fixture(scope="module")
def kernel() -> Iterator[Kernel]:
    from jupyter_client.manager import start_new_kernel

    manager, client = start_new_kernel(kernel_name="python3")
    try:
        yield Kernel(client)
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


def test_a_notebook_shows_progress_then_sizes_and_what_was_found(
    kernel: Kernel, tmp_path: Path
) -> None:
    spec = f"scan:{write_lines(tmp_path / 'c.jsonl', *({'text': text} for text in TEXTS))}"
    call = f"ngramscan.count('step by step', index={spec!r})"
    cell = kernel.run(f"import ngramscan\nframe = {call}\nframe")
    size = sum(map(len, TEXTS))
    frame = ngramscan.count("step by step", index=spec)
    summary = frame.attrs["summary"]
    assert summary
    assert cell.stdout.splitlines() == [f"{spec}: {size} B of text, 2 documents", *summary]
    assert len(cell.shown) == 1
    assert " B of " in [*cell.shown, *cell.updates][-1]
    assert "step by step" in cell.result
    assert cell.stderr == ""
    again = kernel.run(call)
    assert again.shown == []
    assert "using cached results" in again.stderr
    assert "\x1b" not in again.stdout


def test_the_threads_of_requests_report_to_the_cell_that_runs(
    kernel: Kernel, tmp_path: Path
) -> None:
    with ApiServer({"v2_dclm_all": DOCS}, delay=0.15) as server:
        where = f"index='dclm', api_url={server.url!r}, journal={str(tmp_path / 'j')!r}"
        cell = kernel.run(f"import ngramscan\nframe = ngramscan.count('f1', {where})")
    assert len(cell.shown) == 1
    assert len(cell.updates) > 2
    assert all(" answers; " in line for line in [*cell.shown, *cell.updates])
    done, total = cell.updates[-1].split(" answers")[0].split(" of ")
    assert done == total
    shown = cell.stdout.splitlines()
    assert any(line.split()[:3] == ["tier", "method", "occurrences"] for line in shown)
    assert "doesn't tell the size of its indexes" in cell.stderr


def test_a_notebook_shows_the_first_screen_of_the_terminal(
    kernel: Kernel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    corpus = write_lines(tmp_path / "c.jsonl", *({"text": text} for text in TEXTS))
    cell = kernel.run(f"import ngramscan\nframe = ngramscan.count('f1', index='scan:{corpus}')")
    screen = invoke("count", "f1", "--index", f"scan:{corpus}", "--quiet").stdout
    *tables, options = screen.splitlines()
    assert options.startswith("--all: ")
    assert tables
    assert cell.stdout.splitlines() == tables


def test_a_given_progress_or_no_notebook_is_as_before(
    kernel: Kernel, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    spec = f"scan:{write_lines(tmp_path / 'c.jsonl', *({'text': text} for text in TEXTS))}"
    silent = "from ngramscan.progress import SILENT\nimport ngramscan\n"
    cell = kernel.run(f"{silent}frame = ngramscan.count('a b', index={spec!r}, progress=SILENT)")
    assert cell == Cell()
    ngramscan.count("a b", index=spec)
    assert capfd.readouterr() == ("", "")
