r"""Matrices and vectors in LaTeX as lists in brackets, which are compared entry by entry.

A column is `⟦1,2⟧` and a row `⟪1,2⟫`; any other matrix is a list of rows: `[[1,2],[3,4]]`.
"""

import re

_ENVIRONMENT = re.compile(
    r"\\begin\s*\{((?:small|[pbBv])?matrix|array)\}(?:\s*\{[lcr|\s]*\})?"
    r"((?:(?!\\begin).)*?)\\end\s*\{\1\}",
    re.DOTALL,
)
_SYSTEM = re.compile(
    r"\\begin\s*\{(cases|align(?:ed)?\*?|gathered|equation\*?)\}((?:(?!\\begin).)*?)\\end\s*\{\1\}",
    re.DOTALL,
)
_ROW_END = re.compile(r"\\\\\s*(?:\[[^\]]*\])?|\\cr(?![A-Za-z])")
_BRACKETS = re.compile(r"\\left\s*[(\[]\s*(?=[\[⟦⟪])|(?<=[\]⟧⟫])\s*\\right\s*[)\]]")


def as_lists(text: str) -> str:
    """Return a text in which matrices are lists, and systems of equations are listed."""
    if r"\begin" not in text:
        return text
    text = _SYSTEM.sub(_equations, text)
    is_bare = r"{array}" in text or r"{matrix}" in text or r"{smallmatrix}" in text
    text = _ENVIRONMENT.sub(_rows, text)
    return _BRACKETS.sub("", text) if is_bare else text


def _rows(environment: re.Match[str]) -> str:
    if environment[1] == "vmatrix":  # a determinant, which is a number
        return environment[0]
    content = re.sub(r"\\hline(?![A-Za-z])", "", environment[2])
    rows = [
        [entry.strip() for entry in row.split("&")]
        for row in _ROW_END.split(content)
        if row.strip()
    ]
    if not rows or not all(entry for row in rows for entry in row):
        return environment[0]
    if len(rows) > 1 and all(len(row) == 1 for row in rows):
        return f"⟦{','.join(entry for row in rows for entry in row)}⟧"
    if len(rows) == 1:
        return f"⟪{','.join(rows[0])}⟫"
    return f"[{','.join('[' + ','.join(row) + ']' for row in rows)}]"


def _equations(environment: re.Match[str]) -> str:
    """Return the equations of a system with commas between them; conditions stay as they are."""
    name, content = environment[1], environment[2]
    if name == "cases" and "&" in content:
        return environment[0]
    lines = [line.replace("&", "").strip() for line in _ROW_END.split(content)]
    return ",".join(line.rstrip(",;") for line in lines if line)
