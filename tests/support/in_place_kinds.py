"""Kinds of indexes that are queried in place, for tests that hold for each of them.

Rows of the local folder are what those of an index in place are compared with.
"""

import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ngramscan.index_files.tokens.tokenizers import open_tokenizer
from tests.support.command import Ran, invoke
from tests.support.fm9_shards import write_shard
from tests.support.places import FM9, REPLAY, TOKENS
from tests.support.token_folders import write_folder

OF_A_RUN = ("index", "source", "asked_at")
"""Columns that differ between runs, or between places."""
LLAMA = TOKENS / "llamalike.model"


@dataclass(frozen=True, kw_only=True)
class InPlaceKind:
    """A kind of index, with the literals and options that tests give to commands."""

    prefix: str
    source: str
    """The column of counts that were not in the journal."""
    literals: tuple[str, ...]
    """Texts to count; the third one occurs nowhere."""
    options: tuple[str, ...] = ()
    """What every command needs."""
    lean_options: tuple[str, ...]
    """Options with which little is read in advance."""
    draw_options: tuple[str, ...] = ()
    """Options with which less is read for each draw."""
    write_shards: Callable[[Path], Path]
    """Writes an index of four shards."""
    swap_shards: Callable[[Path], None]
    """Replaces the second shard of four by a sound one with other documents."""
    link_shards: Callable[[Path, int], None]
    """Makes an index of many equal shards."""
    words: tuple[str, str]
    """Two words for which files of texts have the same sizes."""
    write_texts: Callable[[Path, Sequence[str]], Path]
    """Writes an index of texts in one shard."""

    def spec(self, place: object) -> str:
        """Return the spec of a folder, or of an address."""
        return f"{self.prefix}{place}"

    def run(self, command: str, place: object, *options: str | Path) -> Ran:
        """Run a command on the literals."""
        given = [part for literal in self.literals for part in ("-e", literal)]
        return self.run_on(command, place, *given, *options)

    def run_on(self, command: str, place: object, *arguments: str | Path) -> Ran:
        """Run a command with what is given."""
        index = ("--index", self.spec(place), *self.options)
        return invoke(command, *arguments, *index, "--format", "csv")


def write_four_fm9(folder: Path) -> Path:
    """Copy four shards, of which the first two are the documents of the tests."""
    replay = REPLAY / "index"
    sources = [replay / "replay2" / "0", replay / "replay2" / "1"]
    sources += [replay / "replay", FM9 / "dlit" / "index"]
    for number, source in enumerate(sources):
        shutil.copytree(source, folder / str(number))
    return folder


def swap_fm9(folder: Path) -> None:
    """Replace the second shard."""
    shutil.rmtree(folder / "1")
    shutil.copytree(FM9 / "d5" / "index", folder / "1")


def link_fm9(folder: Path, shards: int) -> None:
    """Make an index of many links to one shard."""
    folder.mkdir()
    for number in range(shards):
        (folder / str(number)).symlink_to(REPLAY / "index" / "replay2" / "0")


def write_fm9_texts(folder: Path, texts: Sequence[str]) -> Path:
    """Write an index of texts with the slow writer."""
    return write_shard(folder, [text.encode() for text in texts], [b"{}"] * len(texts))


def write_four_tokens(folder: Path) -> Path:
    """Copy the three shards of infini-gram's own tools, and the second one of them once more."""
    source = TOKENS / "v4_pysmall_llama_s3"
    shutil.copytree(source, folder, dirs_exist_ok=True)
    copy_token_shard(source, 1, folder, 3)
    return folder


def copy_token_shard(source: Path, number: int, folder: Path, target: int) -> None:
    """Copy the files of a shard, which has another number then."""
    for path in sorted(source.glob(f"*.{number}")):
        shutil.copyfile(path, folder / f"{path.stem}.{target}")


def swap_tokens(folder: Path) -> None:
    """Replace the second shard."""
    copy_token_shard(TOKENS / "v4_pysmall_llama_s3", 0, folder, 1)


def link_tokens(folder: Path, shards: int) -> None:
    """Make an index of many links to the files of one shard."""
    folder.mkdir()
    for number in range(shards):
        for path in (TOKENS / "v4_pysmall_llama_s3").glob("*.1"):
            (folder / f"{path.stem}.{number}").symlink_to(path)


def write_token_texts(folder: Path, texts: Sequence[str]) -> Path:
    """Write an index of texts by sorting slices."""
    tokenizer = open_tokenizer(LLAMA, 2)
    return write_folder(folder, [[tokenizer.of_document(text) for text in texts]], 2)


FM9_KIND = InPlaceKind(
    prefix="fm9:",
    source="fm9",
    literals=("step by step", "the answer is", "no such words at all", "formula"),
    lean_options=("--index-memory", "240KB"),
    draw_options=("--context", "100"),
    write_shards=write_four_fm9,
    swap_shards=swap_fm9,
    link_shards=link_fm9,
    words=("step", "pest"),
    write_texts=write_fm9_texts,
)
TOKEN_KIND = InPlaceKind(
    prefix="tokens:",
    source="tokens",
    literals=("of the", "Return the", "no such words at all", "command"),
    options=("--tokenizer", str(LLAMA)),
    lean_options=("--index-memory", "2KB"),
    write_shards=write_four_tokens,
    swap_shards=swap_tokens,
    link_shards=link_tokens,
    words=("name", "list"),
    write_texts=write_token_texts,
)
KINDS = {"fm9": FM9_KIND, "tokens": TOKEN_KIND}
