import subprocess
from dataclasses import dataclass
from pathlib import Path
from shutil import which

import pytest

from ngramscan.reporting import choose_target, to_text, write_rows
from ngramscan.reporting.latex import to_latex
from ngramscan.rows import HolmP, PValue


@dataclass(frozen=True)
class Row:
    model: str
    n: int
    difference: float | None
    p: PValue | None
    p_holm: HolmP | None = None
    significant: bool = False


ROWS = [
    Row("a_b 5% \\y ~^", 1200, -2.345, 0.0004),
    Row("c", 5, None, 0.25, significant=True),
    Row("d", -3, 0.00012, 1.0),
]

EXPECTED = r"""% needs \usepackage{booktabs}
\begin{tabular}{@{}lrrrr@{}}
\toprule
model & n & difference & p & significant \\
\midrule
a\_b 5\% \textbackslash{}y \textasciitilde{}\textasciicircum{} & 1{,}200 & $-2.35$ & $<$.001 & no \\
c & 5 & -- & .250 & yes \\
d & $-3$ & $1.2 \cdot 10^{-4}$ & 1 & no \\
\bottomrule
\end{tabular}
"""


def test_rows_become_a_tabular_without_empty_columns() -> None:
    assert to_latex(ROWS, Row) == EXPECTED
    assert "model & n & difference & p & p holm & significant" in to_latex([], Row)


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0.0, "0"),
        (123.4, "123"),
        (12.34, "12.3"),
        (1.234, "1.23"),
        (0.1234, "0.123"),
    ],
)
def test_numbers_have_three_digits(value: float, shown: str) -> None:
    assert f"a b & 1 & {shown} & " in to_latex([Row("a\n b", 1, value, 0.5)], Row)


@pytest.mark.parametrize(
    ("model", "cell"),
    [
        pytest.param("[9cm]x", "{}[9cm]x", id="a length after the end of a line"),
        pytest.param("*x", "{}*x", id="a star after the end of a line"),
        pytest.param("a[1]*", "a[1]*", id="neither at the start"),
        pytest.param("a\0b\x08c", r"a\textbackslash{}x00b\textbackslash{}x08c", id="controls"),
        pytest.param("a\ud800", r"a\textbackslash{}ud800", id="half of a character"),
        pytest.param("<a|b>", "$<$a$|$b$>$", id="signs that the default fonts lack"),
        pytest.param("\\input{x}%", r"\textbackslash{}input\{x\}\%", id="a command"),
    ],
)
def test_texts_are_printed_and_never_obeyed(model: str, cell: str) -> None:
    _, after_rule = to_latex([Row(model, 1, 1.0, 0.5)], Row).split("\\midrule\n")
    assert after_rule.startswith(f"{cell} & 1 & ")


def test_a_file_for_latex_is_known_by_its_name(tmp_path: Path) -> None:
    target = choose_target(None, tmp_path / "rows.tex")
    write_rows(ROWS, Row, target)
    assert (tmp_path / "rows.tex").read_text() == to_text(ROWS, Row, "latex")


@pytest.mark.skipif(which("pdflatex") is None, reason="no LaTeX on this machine")
def test_latex_takes_it(tmp_path: Path) -> None:
    document = "\\documentclass{article}\\usepackage{booktabs}\\begin{document}\n"
    (tmp_path / "rows.tex").write_text(document + to_latex(ROWS, Row) + "\\end{document}")
    done = subprocess.run(
        ["pdflatex", "-halt-on-error", "rows.tex"], cwd=tmp_path, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stdout[-500:]
