"""CountResult f1 in local corpora: the formats against each other, and against ripgrep.

    python benchmarks/scan.py [--mixture mathematical|web] [--megabytes 200] [--rounds 3]
                                    [--seed 1] [--keep FOLDER]

Makes a corpus of so many MB of text (seeded; lengths and repeats of web pages: prose, LaTeX, code,
a tenth of it not ASCII; the phrases of f1 in some documents, many in few) and writes it in every
format twice: as one file, and as a folder of 8 files. The alternatives, each once per round:

- `ngramscan count f1`, whole command from start to end, on the file and on the folder, with one
  worker and with two (which share a file only where the format can be split);
- the same on a corpus of one document: what a start costs;
- ripgrep on the same text without any format, once per pattern, and once for all patterns (one sum
  of all, as it can't tell them apart);
- `bytes.count` per pattern in this process, the text being in memory.

Also the largest resident memory of a command with one worker, by format. The smaller the corpus,
the more of all seconds is startup, of the command and of its workers.

Whatever ngramscan counts in a run is compared with counting by the definition, and that with
ripgrep and `bytes.count` where a pattern can't overlap itself; where one differs there are no
figures. Needs `rg`.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import importlib.metadata
import io
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import msgspec
import numpy as np
import numpy.typing as npt
from isal import igzip

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from ngramscan.matching import compile_engine
from ngramscan.patterns.files import load_patterns
from tests.support import corpus_files, oracle

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

PATTERNS = load_patterns("f1").patterns
QUERIES = [pattern.text for pattern in PATTERNS]
SHARDS = 8
ROWS_PER_GROUP = 20_000
LIBRARIES = ("hyperscan", "ahocorasick_rs", "isal", "backports.zstd", "pyarrow", "FastWARC")

Ranks = npt.NDArray[np.int64]
Counts = dict[str, tuple[int, int]]
"""Occurrences and documents per query."""


# Text

COMMON = (
    "the of and to in a is that for it as was with be by on not he this are or his from at which"
    " but have an had they you were their one all we can her has there been if more when will"
    " would who so no out up into do any your what than some could time them like other then its"
    " our two about first may only my now new these me such most people over how after use work"
    " well need find step next solve answer formula equation key code write program variables"
    " start break down therefore using governing target return"
)
COMMON_FRENCH = (
    "de la le et les des en un du une que est pour qui dans a par plus pas au sur ne se ce il sont"
    " être avec été même aussi où après très déjà fait deux leur années pays était français élève"
)
COMMON_CODE = (
    "= ( ) self if return for in x i None not == + def , import from else data value len range 0 1"
    " str int list dict name args print result answer math numpy solve . [] :"
)
SYLLABLES = (
    "a al an ar as at be ber ca ci co com con de den di do ed el en er es ex fi for ge ing in ion"
    " is it ive ko la le li lo ly ma ment mi mo na ne ni no o on or pa per po pre pro ra re ri ro"
    " sa se si so sta str ta te ter th ti to tion tra tu u un ur ver vi wa y"
)
ACCENTED = f"é è té ré ê ç ô œu à {SYLLABLES}"
MATHS = r"+ n y - ( ) a b i 1 2 ^2 _0 , k \cdots \leqslant \sqrt{\frac{a}{b}}"
THAI = [chr(c) + vowel for c in range(0x0E01, 0x0E2F) for vowel in ("", "า", "ิ", "ี", "ุ", "่", "้")]
CHINESE = [chr(c) for c in range(0x4E00, 0x4E00 + 2500)]


def draw_ranks(rng: np.random.Generator, n: int, count: int, power: float = 1) -> Ranks:
    """Draw numbers below n as words come in texts: few of them make up most."""
    cumulated = np.cumsum(1 / (np.arange(n) + 2.7) ** power)
    ranks: Ranks = np.searchsorted(cumulated, rng.random(count) * cumulated[-1])
    return ranks


def make_words(
    rng: np.random.Generator, common: Sequence[str], syllables: Sequence[str], longest: int
) -> list[str]:
    lengths = rng.integers(1, longest + 1, 15_000)
    drawn = iter(draw_ranks(rng, len(syllables), int(lengths.sum())).tolist())
    rare = ("".join(syllables[next(drawn)] for _ in range(length)) for length in lengths)
    return list(dict.fromkeys([*common, *rare]))


def make_sentences(
    rng: np.random.Generator, words: Sequence[str], joint: str, count: int, mean_words: int = 17
) -> list[str]:
    ends = np.cumsum(1 + rng.poisson(mean_words - 1, count)).tolist()
    drawn = [words[rank] for rank in draw_ranks(rng, len(words), ends[-1]).tolist()]
    return [joint.join(drawn[start:end]) for start, end in pairwise([0, *ends])]


def plant(
    rng: np.random.Generator, phrases: Sequence[str], sentences: list[str], share: float
) -> list[str]:
    """Return the sentences, some with a phrase after the first word."""
    chosen = np.flatnonzero(rng.random(len(sentences)) < share).tolist()
    ranks = draw_ranks(rng, len(phrases), len(chosen), power=2).tolist()
    planted = list(sentences)
    for position, rank in zip(chosen, ranks, strict=True):
        before, _, after = planted[position].partition(" ")
        planted[position] = f"{before} {phrases[rank]} {after}"
    return planted


def make_paragraphs(
    rng: np.random.Generator, sentences: Sequence[str], joint: str, mean: int = 4
) -> list[str]:
    lengths = 1 + rng.poisson(mean - 1, len(sentences))
    ends = np.cumsum(lengths)
    bounds = [0, *ends[ends < len(sentences)].tolist(), len(sentences)]
    return [joint.join(sentences[start:end]) for start, end in pairwise(bounds)]


def phrases_of(kind: str) -> list[str]:
    """Return the phrases of f1 of one kind, the short ones, which are the frequent ones, first."""
    return sorted((p.text for p in PATTERNS if p.kind == kind), key=len)


def make_formulas(rng: np.random.Generator, count: int) -> list[str]:
    commands = [text for text in phrases_of("latex") if not text.startswith((r"\begin", r"\end"))]
    closed = [f"{text}n}}" if text.endswith("{") else text for text in commands]
    words = ["x", "=", r"\frac{x}{2}", *closed, *MATHS.split()]
    environments = ["$", "$$", "equation", "align", "equation*", "align*"]
    ranks = draw_ranks(rng, len(environments), count, power=2).tolist()
    insides = make_sentences(rng, words, " ", count, 10)
    return [
        name + inside + name
        if name.startswith("$")
        else f"\\begin{{{name}}}\n{inside}\n\\end{{{name}}}"
        for inside, name in zip(insides, (environments[rank] for rank in ranks), strict=True)
    ]


@dataclass(frozen=True, slots=True)
class Kind:
    """Documents of one kind, and the paragraphs that are theirs alone."""

    share: float
    paragraphs: list[str]
    is_mixed: bool = False
    """With paragraphs of prose too: more of them in most documents, few in some."""


MIXTURES = {
    "mathematical": (0.40, 0.30, 0.20, 0.04, 0.03, 0.03),
    "web": (0.83, 0.02, 0.05, 0.04, 0.03, 0.03),
}
"""Shares of documents: English prose, LaTeX, code, French, Chinese, Thai."""


def make_kinds(rng: np.random.Generator, size: int, mixture: str) -> list[Kind]:
    """Return the kinds, prose first, with paragraphs for documents of so many bytes."""
    # So few paragraphs that popular ones repeat, so many that they compress like text.
    n = max(60_000, size // 1000)
    english = make_words(rng, COMMON.split(), SYLLABLES.split(), 4)
    french = make_words(rng, COMMON_FRENCH.split(), ACCENTED.split(), 4)
    chinese = make_words(rng, (), CHINESE, 2)
    thai = make_words(rng, (), THAI, 4)
    code = make_words(rng, COMMON_CODE.split(), SYLLABLES.split(), 3)
    narrative = [*phrases_of("narrative"), "step by step by step"]
    prose = plant(rng, narrative, make_sentences(rng, english, " ", n), 0.0015)
    solutions = plant(rng, narrative, make_sentences(rng, english, " ", n // 20), 0.05)
    formulas = make_formulas(rng, len(solutions))
    latex = [part for pair in zip(solutions, formulas, strict=True) for part in pair]
    lines = plant(rng, phrases_of("code"), make_sentences(rng, code, " ", n // 10, 7), 0.02)

    def foreign(words: list[str], joint: str, stop: str, mean_words: int) -> list[str]:
        return make_paragraphs(rng, make_sentences(rng, words, joint, n // 20, mean_words), stop)

    shares = iter(MIXTURES[mixture])
    return [
        Kind(next(shares), make_paragraphs(rng, prose, ". ")),
        Kind(next(shares), make_paragraphs(rng, latex, " "), is_mixed=True),
        Kind(next(shares), make_paragraphs(rng, lines, "\n    ", 12), is_mixed=True),
        Kind(next(shares), foreign(french, " ", ". ", 17)),
        Kind(next(shares), foreign(chinese, "", "。", 14)),
        Kind(next(shares), foreign(thai, "", " ", 9)),
    ]


def make_documents(rng: np.random.Generator, size: int, mixture: str) -> list[str]:
    """Return documents of so many bytes in all."""
    kinds = make_kinds(rng, size, mixture)
    shares = [kind.share for kind in kinds]
    documents: list[str] = []
    while size > 0:
        numbers = rng.choice(len(kinds), 1000, p=shares).tolist()
        is_copy = rng.random(1000) < 0.1
        for number, copies in zip(numbers, is_copy.tolist(), strict=True):
            if copies and documents:
                document = make_near_duplicate(rng, documents, kinds[0].paragraphs)
            else:
                document = make_document(rng, kinds[number], kinds[0].paragraphs)
            documents.append(document)
            size -= len(document.encode())
            if size <= 0:
                break
    return documents


def make_document(rng: np.random.Generator, kind: Kind, prose: list[str]) -> str:
    length = 1 + int(rng.lognormal(1.95, 1.1))
    share = rng.beta(0.5, 1) if kind.is_mixed else 1
    is_own = (rng.random(length) < share).tolist()
    # Squares: the first paragraphs are everywhere, as the words around an article are.
    places = (rng.random(length) ** 2).tolist()
    pools = (kind.paragraphs if own else prose for own in is_own)
    return "\n\n".join(
        pool[int(place * len(pool))] for pool, place in zip(pools, places, strict=True)
    )


def make_near_duplicate(
    rng: np.random.Generator, documents: Sequence[str], prose: Sequence[str]
) -> str:
    """Return one of the documents, rather an early one, with another first paragraph."""
    original = documents[int(rng.random() ** 3 * len(documents))]
    _, _, rest = original.partition("\n\n")
    return f"{prose[int(rng.integers(len(prose)))]}\n\n{rest}"


# Files


def to_jsonl(texts: Sequence[str]) -> bytes:
    rows = ({"id": n, "url": corpus_files.url(n), "text": text} for n, text in enumerate(texts))
    return b"".join(msgspec.json.encode(row) + b"\n" for row in rows)


def to_wet(texts: Sequence[str]) -> bytes:
    records = (corpus_files.warc_record(n, text) for n, text in enumerate(texts))
    members = (igzip.compress(record, 3) for record in records)
    return gzip.compress(corpus_files.WARC_INFO) + b"".join(members)


FORMATS: dict[str, Callable[[Sequence[str]], bytes]] = {
    "jsonl": to_jsonl,
    "jsonl.gz": lambda texts: igzip.compress(to_jsonl(texts), 3),
    "jsonl.zst": lambda texts: zstd.compress(to_jsonl(texts), 3),
    "parquet": lambda texts: corpus_files.parquet(texts, rows=ROWS_PER_GROUP),
    "warc.wet.gz": to_wet,
}
SPLITTABLE = ("jsonl", "parquet")


@dataclass(frozen=True, slots=True)
class Corpus:
    """The documents on disk, and what is in them."""

    folder: Path
    documents: int
    size: int
    """Bytes of text."""
    expected: Counts

    def file(self, name: str) -> Path:
        return self.folder / f"corpus.{name}"

    def shards(self, name: str) -> Path:
        return self.folder / f"shards-{name}"

    @property
    def text(self) -> Path:
        return self.file("txt")

    @property
    def one_document(self) -> Path:
        return self.folder / "one-document.jsonl"


def make_corpus(folder: Path, mixture: str, megabytes: float, seed: int) -> Corpus:
    texts = make_documents(np.random.default_rng(seed), int(megabytes * 1e6), mixture)
    tell(f"{len(texts):,} documents made; writing them")
    occurrences, documents = oracle.tally(QUERIES, texts)
    counts = zip(occurrences, documents, strict=True)
    size = sum(len(text.encode()) for text in texts)
    corpus = Corpus(folder, len(texts), size, dict(zip(QUERIES, counts, strict=True)))
    for name, to_bytes in FORMATS.items():
        corpus.file(name).write_bytes(to_bytes(texts))
        corpus.shards(name).mkdir(exist_ok=True)
        for n in range(SHARDS):
            content = to_bytes(texts[n::SHARDS])
            (corpus.shards(name) / f"{n}.{name}").write_bytes(content)
    corpus.text.write_bytes("\n".join(texts).encode())
    corpus.one_document.write_bytes(to_jsonl(texts[:1]))
    return corpus


# Runs


def count_command(location: Path, workers: int, journal: Path) -> list[str]:
    options = ["--index", f"scan:{location}", "--workers", str(workers), "--refresh"]
    options += ["--journal", str(journal), "--format", "csv", "-q"]
    return [sys.executable, "-m", "ngramscan", "count", "f1", *options]


def run_count(location: Path, workers: int, before: Sequence[str] = ()) -> tuple[float, str, str]:
    """Return seconds, rows and stderr of a count with a journal of its own."""
    with tempfile.TemporaryDirectory() as folder:
        command = [*before, *count_command(location, workers, Path(folder) / "journal.sqlite")]
        started_at = time.perf_counter()
        done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
        seconds = time.perf_counter() - started_at
    if done.returncode:
        sys.exit(f"no figures: {' '.join(command)} failed: {done.stderr}")
    return seconds, done.stdout, done.stderr


def check_rows(location: Path, rows: str, expected: Counts) -> None:
    found = {
        row["query"]: (int(row["occurrences"]), int(row["documents"]))
        for row in csv.DictReader(io.StringIO(rows))
    }
    for query in expected.keys() | found.keys():
        if expected.get(query) != found.get(query):
            sys.exit(
                f"no figures: {location}: {query!r}: occurrences and documents are"
                f" {found.get(query)}, by the definition {expected.get(query)}"
            )


def time_count(corpus: Corpus, location: Path, workers: int) -> float:
    seconds, rows, _ = run_count(location, workers)
    check_rows(location, rows, corpus.expected)
    return seconds


# In between, as a child counts the memory of who starts it as its own until it runs.
PEAK = """
import resource, subprocess, sys
code = subprocess.call(sys.argv[1:])
unit = 1 if sys.platform == "darwin" else 1024
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * unit, file=sys.stderr)
sys.exit(code)
"""


def peak_memory(location: Path) -> int:
    """Return the largest resident memory, in bytes, of a count with one worker."""
    _, _, stderr = run_count(location, 1, before=[sys.executable, "-c", PEAK])
    return int(stderr.split()[-1])


def run_rg(text: Path, *patterns: str) -> int:
    """Return how many matches there are in the text."""
    command = ["rg", "--no-config", "--count-matches", "-F", "-a", *patterns, str(text)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode > 1:
        sys.exit(f"no figures: {' '.join(command)} failed: {done.stderr}")
    return int(done.stdout or 0)


def overlaps_itself(query: str) -> bool:
    return any(query.startswith(query[start:]) for start in range(1, len(query)))


def check_others(name: str, found: Sequence[int], expected: Counts) -> None:
    """Compare with what counts no overlapping occurrences."""
    for query, count in zip(QUERIES, found, strict=True):
        occurrences, _ = expected[query]
        if count != occurrences and not overlaps_itself(query):
            sys.exit(f"no figures: {query!r}: {name} counts {count}, the definition {occurrences}")


def time_rg_per_pattern(corpus: Corpus) -> float:
    started_at = time.perf_counter()
    found = [run_rg(corpus.text, "-e", query) for query in QUERIES]
    seconds = time.perf_counter() - started_at
    check_others("rg", found, corpus.expected)
    return seconds


def time_rg_at_once(corpus: Corpus) -> float:
    patterns = corpus.folder / "patterns"
    patterns.write_text("".join(f"{query}\n" for query in QUERIES))
    started_at = time.perf_counter()
    run_rg(corpus.text, "-f", str(patterns))
    return time.perf_counter() - started_at


def time_bytes_count(corpus: Corpus) -> float:
    text = corpus.text.read_bytes()
    started_at = time.perf_counter()
    found = [text.count(query.encode()) for query in QUERIES]
    seconds = time.perf_counter() - started_at
    check_others("bytes.count", found, corpus.expected)
    return seconds


def time_startup(corpus: Corpus) -> float:
    seconds, _, _ = run_count(corpus.one_document, 1)
    return seconds


# Figures

RG, RG_AT_ONCE, BYTES_COUNT = "rg once per pattern", "rg -f, one pass", "bytes.count per pattern"
STARTUP = "one document: startup"


def on_file(name: str, workers: int) -> str:
    return f"{name}, workers: {workers}"


def on_shards(name: str, workers: int) -> str:
    return f"{name}, {SHARDS} files, workers: {workers}"


def alternatives(corpus: Corpus) -> dict[str, Callable[[], float]]:
    """Return what is compared; each returns its seconds."""

    def count(location: Path, workers: int) -> Callable[[], float]:
        return lambda: time_count(corpus, location, workers)

    found = {on_file(name, 1): count(corpus.file(name), 1) for name in FORMATS}
    found |= {on_file(name, 2): count(corpus.file(name), 2) for name in SPLITTABLE}
    for workers in (1, 2):
        for name in FORMATS:
            found[on_shards(name, workers)] = count(corpus.shards(name), workers)
    others = {
        RG: time_rg_per_pattern,
        RG_AT_ONCE: time_rg_at_once,
        BYTES_COUNT: time_bytes_count,
        STARTUP: time_startup,
    }
    return found | {name: (lambda f=measure: f(corpus)) for name, measure in others.items()}


def measure_all(corpus: Corpus, rounds: int) -> dict[str, list[float]]:
    measures = list(alternatives(corpus).items())
    seconds: dict[str, list[float]] = {name: [] for name, _ in measures}
    for number in range(rounds):
        tell(f"round {number + 1} of {rounds}")
        first = number * len(measures) // rounds
        for name, measure in measures[first:] + measures[:first]:
            seconds[name].append(measure())
    return seconds


def tell(what: str) -> None:
    print(what, file=sys.stderr)


def print_machine() -> None:
    print(f"{platform.platform()}, {os.cpu_count()} cores, Python {platform.python_version()}")
    installed = {d.name: d.version for d in importlib.metadata.distributions()}
    versions = [f"{name} {installed[name]}" for name in LIBRARIES if name in installed]
    rg = subprocess.run(["rg", "--version"], capture_output=True, text=True, check=True)
    engine = compile_engine([query.encode() for query in QUERIES]).name
    print(f"engine {engine}; {', '.join(versions)}; {rg.stdout.splitlines()[0]}")


def print_corpus(corpus: Corpus, peaks: dict[str, int]) -> None:
    occurrences = sum(occurrences for occurrences, _ in corpus.expected.values())
    found = sum(documents > 0 for _, documents in corpus.expected.values())
    print(
        f"\n{corpus.size / 1e6:.1f} MB of text, {corpus.documents:,} documents,"
        f" {occurrences:,} occurrences of {found} of {len(QUERIES)} patterns"
    )
    print(f"\n{'format':12} {'MB of file':>10} {'peak MB of one worker':>22}")
    for name, peak in peaks.items():
        size = corpus.file(name).stat().st_size if name in FORMATS else 0
        print(f"{name:12} {size / 1e6:10.1f} {peak / 1e6:22.0f}")


def print_seconds(corpus: Corpus, seconds: dict[str, list[float]]) -> None:
    reference = statistics.median(seconds[on_file("jsonl", 1)])
    print(f"\n{'alternative':34} {'median s':>9} {'MB/s':>8} {'× jsonl, 1':>11}  all")
    for name, values in seconds.items():
        median = statistics.median(values)
        speed = "" if name == STARTUP else f"{corpus.size / 1e6 / median:.1f}"
        every = " ".join(f"{value:.2f}" for value in values)
        print(f"{name:34} {median:9.3f} {speed:>8} {median / reference:11.2f}  {every}")


def print_ratios(seconds: dict[str, list[float]]) -> None:
    pairs = [(on_file("jsonl", 1), RG), (on_file("jsonl", 1), BYTES_COUNT)]
    pairs += [(on_shards(name, 2), on_shards(name, 1)) for name in FORMATS]
    pairs += [(on_file(name, 2), on_file(name, 1)) for name in SPLITTABLE]
    pairs += [(on_file(name, 1), on_file("jsonl", 1)) for name in FORMATS if name != "jsonl"]
    print("\nratios of median seconds; below 1 the first is faster")
    for one, other in pairs:
        ratio = statistics.median(seconds[one]) / statistics.median(seconds[other])
        print(f"{ratio:6.2f}  {one} / {other}")


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mixture", choices=MIXTURES, default="mathematical", help="[%(default)s]")
    parser.add_argument("--megabytes", type=float, default=200, help="of text [200]")
    parser.add_argument("--rounds", type=int, default=3, help="of all alternatives [3]")
    parser.add_argument("--seed", type=int, default=1, help="of the corpus [1]")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="write the corpus there")
    return parser.parse_args()


def compare(corpus: Corpus, rounds: int) -> None:
    tell("measuring memory")
    peaks = {name: peak_memory(corpus.file(name)) for name in FORMATS}
    peaks["one document"] = peak_memory(corpus.one_document)
    seconds = measure_all(corpus, rounds)
    print_machine()
    print_corpus(corpus, peaks)
    print_seconds(corpus, seconds)
    print_ratios(seconds)


def main() -> None:
    arguments = parse_arguments()
    if shutil.which("rg") is None:
        sys.exit("ripgrep is needed to compare with: no `rg` on the path")
    with tempfile.TemporaryDirectory() as temporary:
        folder = (arguments.keep or Path(temporary)).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        corpus = make_corpus(folder, arguments.mixture, arguments.megabytes, arguments.seed)
        compare(corpus, arguments.rounds)


if __name__ == "__main__":
    main()
