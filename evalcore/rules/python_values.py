r"""Values as Python, NumPy and SymPy print them: `[3, -2]`, `Fraction(1, 2)`, `sqrt(2)*I`.

They are read from Python's syntax tree and never evaluated, so that a printed text can do nothing.
"""

import ast
import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

GroupKind = Literal["several", "list", "tuple", "set"]


class ValueGroup(NamedTuple):
    """The values in one container; `several` are separated by commas, without brackets."""

    kind: GroupKind
    items: "tuple[str | ValueGroup, ...]"
    """Formulas in the notation of LaTeX, or containers."""
    names: tuple[str, ...] = ()
    """The keys of a dictionary or the fields of a named tuple; other containers have none."""


class UnreadableValueError(Exception):
    """A text is not a value that Python prints."""


def read_value(text: str) -> str | ValueGroup | None:
    """Read what Python prints for a value.

    Parameters
    ----------
    text : str
        The text that `str` or `print` makes of a number, a container or a SymPy expression.

    Returns
    -------
    str or Group or None
        A formula, a container, or None for any other text, such as a sentence.
    """
    one_line = " ".join(text.split())
    if matrix := _MATRIX.fullmatch(one_line):
        rows = [[cell.strip() for cell in row.split("&")] for row in matrix[1].split(r"\\")]
        return ValueGroup("list", tuple(ValueGroup("list", tuple(row)) for row in rows))
    if _ARRAY.fullmatch(one_line) or _NUMBERS_IN_A_ROW.fullmatch(one_line):
        one_line = _BETWEEN_ITEMS.sub(", ", one_line)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about escapes in strings that are never run
            tree = ast.parse(one_line, mode="eval")
        return _PythonReader(one_line).value(tree.body)
    except (SyntaxError, ValueError, RecursionError, MemoryError, UnreadableValueError):
        return None


def float_text(text: str) -> str:
    r"""Return a float as Python prints it in the notation of LaTeX: `1e-05` is `1\cdot 10^{-5}`."""
    if re.fullmatch(r"[-+]?nan", text.lower()):
        raise UnreadableValueError
    if infinite := re.fullmatch(r"([-+]?)inf(?:inity)?", text.lower()):
        return rf"{infinite[1]}\infty"
    mantissa, _, exponent = text.lower().replace("_", "").partition("e")
    return rf"{mantissa}\cdot 10^{{{int(exponent)}}}" if exponent else mantissa


_MATRIX = re.compile(
    r"\\left\[\\begin\{(?:matrix|array\}\{c+)\}(.*)\\end\{(?:matrix|array)\}\\right\]"
)
_NUMBERS_IN_A_ROW = re.compile(r"[-+]?[\d.][\d.eE+-]*(?: [-+]?[\d.][\d.eE+-]*)+")
"""As `print(3, -2)` writes them."""
# NumPy separates the items of an array by spaces only.
_ARRAY = re.compile(r"\[(?:[-+\d.eEj\[\]\s]|nan|inf|True|False)+\]")
_BETWEEN_ITEMS = re.compile(r"(?<=[\d.\]jfne])\s+(?=[-+\d.\[niTF])")

_NAMES: Mapping[str, str] = {
    "pi": r"\pi ",
    "E": "e",
    "e": "e",
    "I": "i",
    "oo": r"\infty ",
    "inf": r"\infty ",
    "EmptySet": r"\emptyset ",
    "Reals": r"\mathbb{R}",
    "True": r"\text{True}",
    "False": r"\text{False}",
}
_GREEK = re.compile(
    "alpha|beta|gamma|delta|epsilon|zeta|eta|theta|iota|kappa|lamda|lambda|mu|nu|xi|rho|sigma|tau"
    "|phi|chi|psi|omega"
)
_SYMBOL = re.compile(r"([A-Za-z]|[a-z]{2,})(?:_?(\d+)|_([A-Za-z]\w*))?")

_CONTAINERS: Mapping[str, GroupKind] = {
    "list": "list",
    "array": "list",
    "Array": "list",
    "deque": "list",
    "dict_keys": "list",
    "dict_values": "list",
    "Matrix": "list",
    "ImmutableMatrix": "list",
    "matrix": "list",
    "tuple": "tuple",
    "Tuple": "tuple",
    "set": "set",
    "frozenset": "set",
}
_NUMBERS = re.compile(
    r"(?:float|int|uint|complex|longdouble|clongdouble|bool|str)\d*_?|Integer|Float|Decimal|mpf|mpc"
)
_INTERVALS = {
    "Interval": "[]",
    "Interval.open": "()",
    "Interval.Lopen": "(]",
    "Interval.Ropen": "[)",
}
_FUNCTIONS: Mapping[tuple[str, int], str] = {
    ("Rational", 1): "{0}",
    ("Fraction", 1): "{0}",
    ("Rational", 2): r"\frac{{{0}}}{{{1}}}",
    ("Fraction", 2): r"\frac{{{0}}}{{{1}}}",
    ("sqrt", 1): r"\sqrt{{{0}}}",
    ("cbrt", 1): r"\sqrt[3]{{{0}}}",
    ("root", 2): r"\sqrt[{1}]{{{0}}}",
    ("exp", 1): "e^{{{0}}}",
    ("Abs", 1): r"\left|{0}\right|",
    ("factorial", 1): "({0})!",
    ("binomial", 2): r"\binom{{{0}}}{{{1}}}",
    ("floor", 1): r"\lfloor {0} \rfloor ",
    ("ceiling", 1): r"\lceil {0} \rceil ",
    ("Max", 2): r"\max({0},{1})",
    ("Min", 2): r"\min({0},{1})",
    ("log", 1): r"\ln({0})",
    ("log", 2): r"\log_{{{1}}}({0})",
    ("ln", 1): r"\ln({0})",
    ("asin", 1): r"\arcsin({0})",
    ("acos", 1): r"\arccos({0})",
    ("atan", 1): r"\arctan({0})",
    ("sin", 1): r"\sin({0})",
    ("cos", 1): r"\cos({0})",
    ("tan", 1): r"\tan({0})",
    ("cot", 1): r"\cot({0})",
    ("sec", 1): r"\sec({0})",
    ("csc", 1): r"\csc({0})",
    ("sinh", 1): r"\sinh({0})",
    ("cosh", 1): r"\cosh({0})",
    ("tanh", 1): r"\tanh({0})",
    ("Eq", 2): "{0}={1}",
    ("Ne", 2): "{0}≠{1}",
}
"""By name and number of arguments, since `log(x, b)` is another function than `log(x)`."""
_RELATIONS: Mapping[type[ast.cmpop], str] = {
    ast.Eq: "=",
    ast.NotEq: "≠",
    ast.Lt: "<",
    ast.LtE: "≤",
    ast.Gt: ">",
    ast.GtE: "≥",
}
_OPERATIONS: Mapping[type[ast.operator], str] = {
    ast.Add: "{left}+{right_factor}",
    ast.Sub: "{left}-{right_factor}",
    ast.Mult: r"{left_factor}\cdot {right_factor}",
    ast.Div: r"\frac{{{left}}}{{{right}}}",
    ast.Pow: "({left})^{{{right}}}",
}
_TURNED = {
    "<": "<",
    "≤": "≤",
    ">": "<",
    "≥": "≤",
}
"""Signs with the smaller side first."""
_ATOMS = (ast.Constant, ast.Name, ast.Call, ast.Attribute)


class _Inequality(NamedTuple):
    """Two sides of `<` or `≤`."""

    smaller: str
    sign: str
    larger: str


class _Bounds(NamedTuple):
    """The values that a real variable may have: `low < name ≤ high`."""

    low: str
    low_sign: str
    name: str
    high_sign: str
    high: str

    def interval(self) -> str:
        opening = "[" if self.low_sign == "≤" else "("
        closing = "]" if self.high_sign == "≤" else ")"
        return f"{opening}{self.low},{self.high}{closing}"


class _PythonReader:
    """Writes the nodes of one syntax tree as formulas and containers."""

    def __init__(self, text: str) -> None:
        self._source = text.encode()  # the places of nodes are in bytes

    def value(self, node: ast.expr) -> str | ValueGroup:
        """Return a formula or a container."""
        match node:
            case ast.List(elts=items):
                return self._group("list", items)
            case ast.Tuple(elts=items):
                return self._group("tuple" if _has_brackets(node) else "several", items)
            case ast.Set(elts=items):
                return self._group("set", items)
            case ast.Dict(keys=keys, values=items):
                return self._group("list", items)._replace(names=tuple(map(_key, keys)))
            case ast.Call():
                return self._call(node)
        return self.formula(node)

    def formula(self, node: ast.expr) -> str:
        """Return a formula, or raise for a container."""
        writers: Mapping[type[ast.expr], Callable[[Any], str]] = {
            ast.Constant: self._constant,
            ast.Name: lambda name: _symbol(name.id),
            ast.Attribute: lambda name: _symbol(name.attr.rstrip("_")),  # `np.True_`, `S.Reals`
            ast.UnaryOp: self._signed,
            ast.BinOp: self._operation,
            ast.Compare: self._comparison,
            ast.Call: lambda call: _only_formula(self._call(call)),
        }
        if type(node) not in writers:
            raise UnreadableValueError
        return writers[type(node)](node)

    def _group(self, kind: GroupKind, items: Sequence[ast.expr]) -> ValueGroup:
        return ValueGroup(kind, tuple(self.value(item) for item in items))

    def _constant(self, node: ast.Constant) -> str:
        match node.value:
            case bool() as truth:
                return _NAMES[str(truth)]
            case complex():
                return rf"{float_text(self._text(node)[:-1])}\cdot i"
            case int() | float():
                return float_text(self._text(node))
            case str() as text if text.strip():
                return text
        raise UnreadableValueError

    def _text(self, node: ast.expr) -> str:
        """Return a number with all the digits it is written with; a float may have fewer."""
        return self._source[node.col_offset : node.end_col_offset].decode()

    def _signed(self, node: ast.UnaryOp) -> str:
        if isinstance(node.op, ast.USub):
            return f"-{_factor(node.operand, self.formula(node.operand))}"
        raise UnreadableValueError

    def _operation(self, node: ast.BinOp) -> str:
        if isinstance(node.op, ast.BitAnd):
            return "".join(self._bounds(node))
        if isinstance(node.op, ast.BitOr):
            return rf"{self._part(node.left)}\cup {self._part(node.right)}"
        if type(node.op) not in _OPERATIONS:
            raise UnreadableValueError
        left, right = self.formula(node.left), self.formula(node.right)
        return _OPERATIONS[type(node.op)].format(
            left=left,
            right=right,
            left_factor=_factor(node.left, left),
            right_factor=_factor(node.right, right),
        )

    def _part(self, node: ast.expr) -> str:
        is_union = isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr)
        return self.formula(node) if is_union else self._bounds(node).interval()

    def _bounds(self, node: ast.expr) -> _Bounds:
        """Return the bounds in `(-1 < x) & (x < 3)`, as SymPy writes them, or in one half of it."""
        match node:
            case ast.BinOp(left=left, op=ast.BitAnd(), right=right):
                lower, upper = self._inequality(left), self._inequality(right)
                if lower.smaller == upper.larger:
                    lower, upper = upper, lower
                if lower.larger == upper.smaller:
                    name = lower.larger
                    return _Bounds(lower.smaller, lower.sign, name, upper.sign, upper.larger)
            case ast.Compare():
                smaller, sign, larger = self._inequality(node)
                if smaller.isalpha():
                    return _Bounds(r"-\infty ", "<", smaller, sign, larger)
                return _Bounds(smaller, sign, larger, "<", r"\infty ")
        raise UnreadableValueError

    def _inequality(self, node: ast.expr) -> _Inequality:
        match node:
            case ast.Compare(left=left, ops=[operator], comparators=[right]):
                sign = _RELATIONS.get(type(operator), "")
                if sign in _TURNED:
                    smaller, larger = (left, right) if sign in {"<", "≤"} else (right, left)
                    return _Inequality(self.formula(smaller), _TURNED[sign], self.formula(larger))
        raise UnreadableValueError

    def _comparison(self, node: ast.Compare) -> str:
        text = self.formula(node.left)
        for operator, side in zip(node.ops, node.comparators, strict=True):
            if type(operator) not in _RELATIONS:
                raise UnreadableValueError
            text += f"{_RELATIONS[type(operator)]}{self.formula(side)}"
        return text

    def _call(self, node: ast.Call) -> str | ValueGroup:
        name, _ = _function_names(node.func)
        if node.keywords and not node.args:  # a named tuple or a dataclass
            fields = tuple(keyword.arg or "" for keyword in node.keywords)
            values = [keyword.value for keyword in node.keywords]
            return self._group("tuple", values)._replace(names=fields)
        if name in {"FiniteSet", "Point", "Point2D", "Point3D"}:
            return self._group("set" if name == "FiniteSet" else "tuple", node.args)
        if name in _CONTAINERS:
            return self._container(_CONTAINERS[name], node.args)
        return self._function(node)

    def _function(self, node: ast.Call) -> str:
        name, qualified = _function_names(node.func)
        if qualified in _INTERVALS:
            return self._interval(_INTERVALS[qualified], node.args)
        if node.args and (name == "Poly" or _NUMBERS.fullmatch(name)):
            return self._number(node.args[0])
        if name == "Union":
            return r"\cup ".join(self._member(argument) for argument in node.args)
        formulas = [self.formula(argument) for argument in node.args]
        if (name, len(formulas)) not in _FUNCTIONS:
            raise UnreadableValueError
        return _FUNCTIONS[name, len(formulas)].format(*formulas)

    def _member(self, node: ast.expr) -> str:
        """Return one of the sets of a union as a formula, `{1}` too."""
        value = self.value(node)
        if isinstance(value, ValueGroup) and value.kind == "set":
            value = rf"\{{{','.join(map(_only_formula, value.items))}\}}"
        return _only_formula(value)

    def _container(self, kind: GroupKind, arguments: Sequence[ast.expr]) -> ValueGroup:
        content = self.value(arguments[0]) if arguments else ValueGroup(kind, ())
        if isinstance(content, ValueGroup):
            return content._replace(kind=kind)
        raise UnreadableValueError

    def _interval(self, brackets: str, ends: Sequence[ast.expr]) -> str:
        if len(ends) < 2:
            raise UnreadableValueError
        low, high, *flags = (self.formula(end) for end in ends)
        is_left_open = flags[:1] == [_NAMES["True"]] or "infty" in low
        is_right_open = flags[1:] == [_NAMES["True"]] or "infty" in high
        opening = "(" if is_left_open else brackets[0]
        closing = ")" if is_right_open else brackets[1]
        return f"{opening}{low},{high}{closing}"

    def _number(self, node: ast.expr) -> str:
        """Return what is in `np.float64(0.5)`, `Decimal('0.5')` or `Poly(x + 1, x)`."""
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            return float_text(node.value)
        return self.formula(node)


def _factor(node: ast.expr, text: str) -> str:
    return text if isinstance(node, _ATOMS) else f"({text})"


def _has_brackets(node: ast.Tuple) -> bool:
    """Tell whether a tuple has brackets of its own; `(1, 2), (3, 4)` has none."""
    return not node.elts or node.col_offset < node.elts[0].col_offset


def _key(node: ast.expr | None) -> str:
    match node:
        case ast.Constant(value=str() as name) if name.isidentifier():
            return name
        case ast.Name(id=name):
            return _symbol(name)
    raise UnreadableValueError


def _symbol(name: str) -> str:
    r"""Return a variable as a formula: `x_1` is `x_{1}`, `alpha` is `\alpha`."""
    if name in _NAMES:
        return _NAMES[name]
    parts = _SYMBOL.fullmatch(name)
    if parts is None:
        raise UnreadableValueError
    letter, index = parts[1], parts[2] or parts[3]
    if len(letter) > 1:
        if not _GREEK.fullmatch(letter):
            raise UnreadableValueError
        letter = rf"\{letter.replace('lamda', 'lambda')} "
    return f"{letter.strip()}_{{{index}}}" if index else letter


def _function_names(node: ast.expr) -> tuple[str, str]:
    """Return the last part of a function's name, and the name with what precedes it."""
    match node:
        case ast.Name(id=name):
            return name, name
        case ast.Attribute(value=ast.Name(id=owner), attr=name):
            return name, f"{owner}.{name}"
    raise UnreadableValueError


def _only_formula(value: str | ValueGroup) -> str:
    if isinstance(value, ValueGroup):
        raise UnreadableValueError
    return value
