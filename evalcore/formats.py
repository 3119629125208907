"""Benchmarks and the formats of their files: one function per format, from files to problems."""

import hashlib
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec

from evalcore.extraction import find_reference
from ngramscan.errors import InputError, some_of
from ngramscan.messages import OptionUse, joined
from ngramscan.reading.row_files import csv_rows, decoded_as, read_table
from ngramscan.reading.streams import read_bytes, read_raw
from ngramscan.reading.yaml_files import as_type, read_text

JsonFields = dict[str, Any]
"""The fields of a JSON object."""
AnswerPlace = Literal["program", "text", "either"]
"""Where a method has its answer: in a program, in the text, or in the text if no program has it."""


def hash_document(*parts: str) -> str:
    """Return the hash of a problem, given as its statement, choices and reference answers."""
    return hashlib.sha256("\0".join(parts).encode(errors="surrogatepass")).hexdigest()


@dataclass(frozen=True, slots=True)
class Problem:
    """One problem. No prompt and no sandbox may see its `gold` and `details`."""

    id: str
    text: str
    """The statement with its tables or context, as the authors give it to models."""
    gold: str | None
    """The reference answer in the notation of the benchmark; None for proofs."""
    subtask: str = ""
    """A topic or subset; macro averages are means over subtasks."""
    fields: Mapping[str, str] = field(default_factory=dict)
    """Placeholders that prompts may use besides `{{problem}}`."""
    details: Mapping[str, Any] = field(default_factory=dict)
    """For scorers and judges: unit, tolerance, points, guidelines, a reference program."""
    place: str = field(default="", compare=False)
    """Its file and line; empty where the format has none."""

    def cluster(self, column: str) -> str:
        """Return the cluster that a column names."""
        fields = {**self.details, "subtask": self.subtask}
        value = fields.get(column)
        if not isinstance(value, str) or not value.strip():
            named = [name for name, text in fields.items() if isinstance(text, str) and text]
            problem = f"problem {self.id} has no {column}"
            cure = f"columns that may name clusters: {some_of(named)}" if named else "leave it out"
            raise InputError(OptionUse("cluster", column), f"{problem}; {cure}")
        return value.strip()

    @property
    def hash(self) -> str:
        """Return the hash of the statement and the reference answer."""
        return hash_document(self.text, self.gold or "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Benchmark:
    """A benchmark as its YAML file (`prompts`) describes it, or a user's own questions."""

    name: str
    prompts: str
    format: str
    columns: Mapping[str, str] = field(default_factory=dict)
    """The columns that are the id, question, answer and subtask; others become details."""
    subset: str = ""
    """The subtask of all problems, if no column has it."""
    folder: str = ""
    """The folder of its project, in the cache and among copies."""
    url: str = ""
    """Address of each file; `{name}` stands for its name."""
    files: Mapping[str, str | None] = field(default_factory=dict)
    """SHA-256 of each file; None means not pinned."""
    is_folder: bool = False
    """Whether all files together are the benchmark; otherwise the first one is."""
    other_names: tuple[str, ...] = ()
    """Names of copies of the first file in other formats or editions."""
    first_version: Mapping[str, str] = field(default_factory=dict)
    """The file that the authors have replaced, and its SHA-256."""
    sizes: tuple[int, ...] = ()
    """Number of problems of each edition, the paper's last; empty means any number."""
    rules: tuple[str, ...] = ()
    """How answers are compared: names in `rules.RULES`, the usual one first. Empty: judged."""
    extraction: tuple[str, ...] = ()
    """How an answer is found in a text: names in `extraction.RULES`, tried in this order."""
    programs: Mapping[AnswerPlace, str] = field(
        default_factory=lambda: {"program": "fenced/1", "either": "fenced/1"}
    )
    """How a program is found, for each kind of answer: names in `extraction.PROGRAM_RULES`."""
    judge: str = ""
    """The judges' prompt: a name in judge_prompts.yaml, by default that of the benchmark."""
    licence: str = ""
    source: str = ""
    note: str = ""


Parsed = tuple[list[Problem], list[str]]
"""The problems in their order, and their known faults, one sentence each."""
NonEmptyText = Annotated[str, msgspec.Meta(min_length=1)]
_OWN = ("id", "question", "answer")
"""Columns of a user's own questions, each with an option for its name."""


def _fault(ids: Sequence[str], what: str) -> list[str]:
    """Return a sentence about the problems with a fault; empty if no problem has it."""
    return [f"{len(ids)} {what}, the first is {ids[0]}"] if ids else []


def _questions(benchmark: Benchmark, path: Path) -> Parsed:
    """Read a table with a column for each part: IMO-ProofBench, and users' own questions."""
    rows = [*read_table(path)]
    if _lacks_ids([values for _, values in rows], benchmark):
        rows = [(place, {**row, "id": number}) for number, (place, row) in enumerate(rows, 1)]
        notices = ["no column id; the problems are numbered in the order of the file"]
    else:
        notices = []
    problems = [_question(place, values, benchmark) for place, values in rows]
    if benchmark.files:
        return problems, []
    with_answers, answer_notices = _with_final_answers(problems)
    return with_answers, notices + answer_notices


def _lacks_ids(rows: Sequence[Mapping[str, Any]], benchmark: Benchmark) -> bool:
    """Tell whether a user's own questions have all columns but any that may be an id."""
    columns = dict(benchmark.columns)
    if benchmark.files or columns.pop("id") != "id":
        return False
    may_be_ids = {"id", *_OTHER_NAMES["id"]}
    has_others = all(column in row for row in rows for column in columns.values())
    return has_others and not any(name in row for row in rows for name in may_be_ids)


def _with_final_answers(problems: Sequence[Problem]) -> Parsed:
    """Replace references that are whole solutions by their final answers, and say so."""
    with_answers = [
        replace(problem, gold=find_reference(problem.gold or "")) for problem in problems
    ]
    changed = [new for new, old in zip(with_answers, problems, strict=True) if new.gold != old.gold]
    notices = []
    if changed:
        example = f"the first is {changed[0].gold!r:.40}, of id {changed[0].id}"
        number = f"references that are solutions: {len(changed)}"
        notices.append(f"{number}; only their final answers are compared, {example}")
    if unmarked := [problem.id for problem in with_answers if "\n" in (problem.gold or "")]:
        number = f"references of several lines without a marked answer: {len(unmarked)}"
        notices.append(f"{number}; they are compared as they are, the first is of id {unmarked[0]}")
    return with_answers, notices


def _question(place: str, values: Mapping[str, Any], benchmark: Benchmark) -> Problem:
    texts, columns = {}, benchmark.columns
    if absent := {name: column for name, column in columns.items() if column not in values}:
        problem = f"no column {', '.join(absent.values())}; the columns are {some_of(values)}"
        if not benchmark.files:
            options = [
                _field_option(name, values) if name in _OWN else OptionUse("cluster")
                for name in absent
            ]
            cure = f"{benchmark.name} is not a shipped benchmark: name the column with "
            raise InputError(place, f"{problem}; {cure}" + joined(options, ", "))
        raise InputError(place, problem)
    for name, column in columns.items():
        value = values[column]
        # A whole number may be longer than any float.
        if type(value) is int or (type(value) is float and math.isfinite(value)):
            value = str(value)
        if not isinstance(value, str) or not value.strip():
            raise InputError(place, f"{column} is {value!r:.40}; expected text")
        texts[name] = value.strip() if name in {"question", "answer"} else value
    return Problem(
        id=texts.pop("id"),
        text=texts.pop("question"),
        gold=texts.pop("answer", None),
        subtask=texts.pop("subtask", benchmark.subset),
        details=texts,
        place=place,
    )


_OTHER_NAMES = {
    "id": ("question_id", "problem_id", "unique_id", "task_id", "idx", "index", "key"),
    "question": ("problem", "prompt", "input", "query", "instruction"),
    "answer": ("final_answer", "solution", "target", "gold", "reference", "ground_truth", "label"),
}
"""Names of these columns in other files; such a column is used only if the user names it."""


def _field_option(name: str, values: Mapping[str, Any]) -> OptionUse:
    """Return the option that names a column, with a column that may be meant."""
    meant = next((other for other in _OTHER_NAMES.get(name, ()) if other in values), None)
    return OptionUse(f"{name}_field", meant)


def _word_sorting(benchmark: Benchmark, path: Path) -> Parsed:
    """Read the file of BIG-Bench Hard, which has no ids."""
    file = decoded_as(JsonFields, path, read_bytes(path))
    rows = as_type(file.get("examples"), list[JsonFields], f"{path}: examples")
    problems = [
        _question(f"{path}: row {number + 1}", {**row, "id": f"word_sorting-{number}"}, benchmark)
        for number, row in enumerate(rows)
    ]
    gone = "the canary that keeps it out of training data is gone"
    return problems, [] if file.get("canary") else [gone]


def _financemath(benchmark: Benchmark, path: Path) -> Parsed:
    """Read questions with tables, and the programs that answer them."""
    problems, noisy = [], []
    for place, values in read_table(path):
        problem = _question(place, values, benchmark)
        gold = as_type(values["ground_truth"], float, f"{place}: ground_truth")
        tables = as_type(values.get("tables"), list[str], f"{place}: tables")
        # Joined as the authors do in their chain-of-thought prompt. Their two prompts introduce
        # tables in different words; here nothing but the method differs between methods.
        above = ("Table:\n" if tables else "") + "".join(f"{table}\n\n" for table in tables)
        text = f"{above}Question: {problem.text}"
        details = {**problem.details, "ground_truth": gold}
        problems.append(replace(problem, text=text, gold=str(gold), details=details))
        if round(gold, 3) != gold:
            noisy.append(problem.id)
    return problems, _fault(noisy, "answers have more than 3 decimals")


def _answerbench(benchmark: Benchmark, path: Path) -> Parsed:
    """Read the table; a row with shifted fields (no Source) comes from its first version."""
    [(first, sha256)] = benchmark.first_version.items()
    replaced, problems, faults = path.with_name(first), [], []
    for place, row in csv_rows(path, absent=""):
        name, whole = row.get("Problem ID"), [row]
        if "Source" in row and not row["Source"].strip():
            broken = f"{name} has no Source: its fields are shifted"
            rows = csv_rows(replaced, absent="") if replaced.is_file() else ()
            namesakes = (other for _, other in rows if other.get("Problem ID") == name)
            whole = [other for other in namesakes if other.get("Source")]
            if not whole:
                cure = f"put a whole {first} of the same project beside this file"
                raise InputError(place, f"{broken}, and its problem has the answer; {cure}")
            faults.append(f"{broken} upstream; it was taken from {first}")
            if hashlib.sha256(b"".join(read_raw(replaced))).hexdigest() != sha256:
                faults.append(f"{first} beside it is not the published file")
        problems.append(_question(place, whole[0], benchmark))
    open_formulas = [problem.id for problem in problems if (problem.gold or "").count("$") % 2]
    return problems, faults + [f"{i}: its answer has a $ without its pair" for i in open_formulas]


class _Olympiad(msgspec.Struct):
    id: int | str
    question: NonEmptyText
    context: str | None = None
    solution: list[str] | None = None


class _OlympiadAnswer(_Olympiad, kw_only=True):
    final_answer: Annotated[list[str], msgspec.Meta(min_length=1)]
    is_multiple_answer: bool
    answer_type: NonEmptyText
    unit: str | None = None
    error: str | None = None


def _olympiadbench(benchmark: Benchmark, path: Path) -> Parsed:
    """Read open-ended or theorem-proving problems, and the required form of their answers."""
    kind = _Olympiad if benchmark.subset.startswith("TP") else _OlympiadAnswer
    problems = []
    for place, values in read_table(path):
        row = as_type(values, kind, place)
        text = f"{row.context}\n{row.question}" if row.context else row.question
        details: JsonFields = {"solution": row.solution or []}
        gold, fields = None, {}
        if isinstance(row, _OlympiadAnswer):
            gold, fields = ", ".join(row.final_answer), _answer_fields(row, place)
            parts = [part.strip() or None for part in (row.error or "").split(",")]
            errors = as_type(parts, list[float | None], f"{place}: error", strict=False)
            details["tolerance"] = tuple(errors) if len(errors) > 1 else errors[0]
            details |= {"unit": row.unit or None, "is_multiple_answer": row.is_multiple_answer}
        problems.append(Problem(str(row.id), text, gold, benchmark.subset, fields, details))
    pictured = [problem.id for problem in problems if "<img_" in problem.text]
    return problems, _fault(pictured, "problems need a picture")


_KINDS = {
    "Numerical": "a numerical value",
    "Expression": "an expression",
    "Equation": "an equation",
    "Interval": "an interval",
    # The authors' prompt has no words for these: what a tuple is depends on the problem.
    "Tuple": "",
    "Need_human_evaluate": "",
}


def _answer_fields(row: _OlympiadAnswer, place: str) -> dict[str, str]:
    """Return the required form of the answer, in the words of the authors' prompt."""
    several = row.is_multiple_answer
    parts = row.answer_type.split(",") if several else [row.answer_type]
    kinds = [_KINDS[name] for part in parts for name in re.findall("|".join(_KINDS), part)[:1]]
    if len(kinds) < len(parts):
        raise InputError(place, f"answer_type is {row.answer_type}; expected {', '.join(_KINDS)}")
    form = f"The answer of The problem should be {kinds[0]}. "
    if several:
        form = f"The problem has multiple answers, each of them should be {kinds[0]}. "
    if len(set(kinds)) > 1:
        order = ", ".join(kinds)
        form = f"The problem has multiple answers, with the answers in order being {order}. "
    boxed = "multiple answers connected with commas" if several else "answer"
    no_unit = ", note that the unit of the answer should not be included in \\boxed{}"
    return {
        "answer_type_text": form if all(kinds) else "",
        "boxed_format": f"\\boxed{{{boxed}}}" + ("(unit)" if row.unit else ""),
        "unit_text": no_unit if row.unit else "",
    }


_HEADING = re.compile(r"(?:\\paragraph\{|\*\*)Problem (\d+) \((\d+) points?\)(?:\}|\*\*)")


def _aicrypto(_benchmark: Benchmark, *paths: Path) -> Parsed:
    """Read the proof problems of three exams, one LaTeX file each, with their points."""
    problems = []
    for path in paths:
        text, number = read_text(path).strip(), path.stem.removeprefix("problem")
        headings = _HEADING.findall(text)
        if [heading[0] for heading in headings] != [number]:
            numbers = " and ".join(heading[0] for heading in headings) or "none"
            expected = f"one \\paragraph{{Problem {number} (P points)}}"
            raise InputError(path, f"problems with points: {numbers}; expected {expected}")
        exam, details = path.parent.name, {"points": int(headings[0][1])}
        problems.append(Problem(f"{exam}/{path.stem}", text, None, exam, details=details))
    points = sum(problem.details["points"] for problem in problems)
    difference = f"the points add up to {points}; the benchmark has 330"
    return problems, [difference] if points != 330 else []


FORMATS: dict[str, Callable[..., Parsed]] = {
    "questions": _questions,
    "financemath": _financemath,
    "answerbench": _answerbench,
    "olympiadbench": _olympiadbench,
    "word-sorting": _word_sorting,
    "aicrypto": _aicrypto,
}
"""By the name in a benchmark's YAML; each takes the benchmark and its file or files."""
