"""Which benchmarks are known: their files, where they are published, and what they must hold."""

from __future__ import annotations

from dataclasses import dataclass

from ngramscan.errors import InputError

_GITHUB = "https://raw.githubusercontent.com"
_IMO_BENCH = (
    f"{_GITHUB}/google-deepmind/superhuman/80b2527a0b4e4bfc6a8b28825fadbdcfdd6048a1/imobench"
)
_OLYMPIAD = "https://huggingface.co/datasets/Hothan/OlympiadBench/resolve/main/OlympiadBench"
_AICRYPTO = (
    f"{_GITHUB}/wangyu-ovo/aicrypto-agent/a49b8e926e975018349fde601529da1cebac84a3"
    "/data/proof_problems"
)


@dataclass(frozen=True, slots=True)
class PublishedFile:
    """One file of a benchmark."""

    name: str
    """Under which it is kept, relative to the folder of its project."""
    url: str
    sha256: str | None
    """In hexadecimal; None: nobody could tell it from a copy, so it is not pinned."""


@dataclass(frozen=True, slots=True)
class Benchmark:
    """What is known of a benchmark before any file of it is read."""

    name: str
    folder: str
    """Of its project, in the cache and in a folder of copies."""
    files: tuple[PublishedFile, ...]
    """What is fetched; the first is the one that is read, unless all are one benchmark."""
    sizes: tuple[int, ...]
    """The numbers of problems that its editions have; the paper's comes last."""
    licence: str
    source: str
    other_names: tuple[str, ...] = ()
    """Of copies of the first file in other formats or editions."""
    first_version: PublishedFile | None = None
    """One that its authors have replaced, which is recognised."""
    note: str = ""


FIRST_ANSWERBENCH = PublishedFile(
    "answerbench.csv",
    f"{_IMO_BENCH}/answerbench.csv",
    "37aeca686ce677f93580821cfe16a0c0e45872479a502df43272e099da37d8fa",
)
"""It has whole the row that is broken in the second version."""


def _olympiad(subset: str, size: int) -> Benchmark:
    kind, subject = subset.split("-")
    stem = f"{kind.upper()}_TO_{subject}_en_COMP"
    file = PublishedFile(f"{stem}.parquet", f"{_OLYMPIAD}/{stem}/{stem}.parquet", None)
    return Benchmark(
        name=f"olympiadbench-{subset}",
        folder="olympiadbench",
        files=(file,),
        sizes=(size,),
        licence="Apache-2.0",
        source="https://huggingface.co/datasets/Hothan/OlympiadBench",
        other_names=(f"{stem}.jsonl", f"{stem}.json"),
        note="not pinned: no copy was at hand; the address is a branch",
    )


_BENCHMARKS = (
    Benchmark(
        name="financemath",
        folder="financemath",
        files=(
            PublishedFile(
                "validation.json",
                f"{_GITHUB}/yale-nlp/FinanceMath/bdddc58655947475da852e241b96a7dbd1478742"
                "/data/validation.json",
                "e22fd12cfcc75098a2636ae34def1369dd6500c78e5c24724bed71ac84f1a711",
            ),
        ),
        sizes=(200,),
        licence="MIT",
        source="https://github.com/yale-nlp/FinanceMath",
    ),
    Benchmark(
        name="imo-answerbench",
        folder="imobench",
        files=(
            PublishedFile(
                "answerbench_v2.csv",
                f"{_IMO_BENCH}/answerbench_v2.csv",
                "275877a9d988d85278fad3a5f8a41d7f83393a60bf259531ec0a5161e6b21cf9",
            ),
            FIRST_ANSWERBENCH,
        ),
        sizes=(400,),
        licence="CC-BY-4.0",
        source="https://github.com/google-deepmind/superhuman",
        other_names=(FIRST_ANSWERBENCH.name,),
        first_version=FIRST_ANSWERBENCH,
        note="the first version is fetched too: it has a row that is broken in the second",
    ),
    Benchmark(
        name="imo-proofbench",
        folder="imobench",
        files=(
            PublishedFile(
                "proofbench_v2.csv",
                f"{_IMO_BENCH}/proofbench_v2.csv",
                "aa8b813dbd4068137e3d165e5da228f6e0e1cc85a91c37883e1791b954e43af0",
            ),
        ),
        sizes=(60,),
        licence="CC-BY-4.0",
        source="https://github.com/google-deepmind/superhuman",
        other_names=("proofbench.csv",),
        first_version=PublishedFile(
            "proofbench.csv",
            f"{_IMO_BENCH}/proofbench.csv",
            "c03ad2d9788ba147022031d90ecf192d16c038939eb432759914902598a87d6d",
        ),
    ),
    Benchmark(
        name="olympiadbench-oe-maths",
        folder="olympiadbench",
        files=(
            PublishedFile(
                "OE_TO_maths_en_COMP.jsonl",
                f"{_GITHUB}/QwenLM/Qwen2.5-Math/main/evaluation/data/olympiadbench/test.jsonl",
                "bb8c1e38a16ea9eacb77530315a674d883f267fbff79183effc53681b4fcc416",
            ),
        ),
        sizes=(675, 674),
        licence="Apache-2.0",
        source="https://github.com/QwenLM/Qwen2.5-Math",
        other_names=("OE_TO_maths_en_COMP.json", "OE_TO_maths_en_COMP.parquet"),
        note="the address is a branch; a copy on the Hugging Face hub has the 674 of the paper",
    ),
    _olympiad("oe-physics", 236),
    _olympiad("tp-maths", 503),
    _olympiad("tp-physics", 25),
    Benchmark(
        name="aicrypto",
        folder="aicrypto",
        files=tuple(
            PublishedFile(name, f"{_AICRYPTO}/{name}", None)
            for exam in (1, 2, 3)
            for name in (f"exam{exam}/problem{number}.tex" for number in range(1, 7))
        ),
        sizes=(18,),
        licence="none stated",
        source="https://github.com/wangyu-ovo/aicrypto-agent",
        note="not pinned: no exact copies were at hand; the address is of one commit",
    ),
    Benchmark(
        name="bbh-word-sorting",
        folder="bbh",
        files=(
            PublishedFile(
                "word_sorting.json",
                f"{_GITHUB}/suzgunmirac/BIG-Bench-Hard/main/bbh/word_sorting.json",
                "2a6132d2c99f00d0d2eb1113ac6b4a918bd969d863c48749210d969713db8d43",
            ),
        ),
        sizes=(250,),
        licence="MIT",
        source="https://github.com/suzgunmirac/BIG-Bench-Hard",
        note="the address is a branch",
    ),
)
BENCHMARKS = {each.name: each for each in _BENCHMARKS}


def find_benchmark(name: str) -> Benchmark:
    """Return what is known of a benchmark, or raise InputError with the names that there are."""
    if name not in BENCHMARKS:
        raise InputError(f"dataset {name}", f"unknown; known are {', '.join(BENCHMARKS)}")
    return BENCHMARKS[name]
