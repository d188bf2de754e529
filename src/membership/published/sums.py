"""What a declared test asks of rows: a sum of them, each times a number, as text."""

import ast
import math
import operator
from collections.abc import Mapping

from membership.published.contrasts import Contrast

Number = Contrast | float

_ARITHMETIC = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}


def total(text: str, rows: Mapping[str, Number]) -> Number:
    """A sum's number: of different rows as if they shared nothing.

    ``exact(row)`` is a row's number without its error, ``log(number)`` a natural logarithm;
    ValueError where the text is anything else.
    """
    try:
        return _total(ast.parse(text.strip(), mode="eval").body, rows)
    except SyntaxError:
        raise ValueError(f"{text!r} is no sum of rows") from None


def _total(node: ast.expr, rows: Mapping[str, Number]) -> Number:
    match node:
        case ast.Constant(value=int() | float() as constant):
            return float(constant)
        case ast.Name(id=name) if name in rows:
            return rows[name]
        case ast.UnaryOp(op=ast.USub(), operand=inner):
            return _made(ast.Mult, _total(inner, rows), -1.0)
        case ast.Call(func=ast.Name(id="exact"), args=[inner], keywords=[]):
            row = _total(inner, rows)
            return row.difference if isinstance(row, Contrast) else row
        case ast.Call(func=ast.Name(id="log"), args=[ast.Constant(value=constant)], keywords=[]):
            return math.log(constant)
        case ast.BinOp(left=left, op=sign, right=right) if type(sign) in _ARITHMETIC:
            return _made(type(sign), _total(left, rows), _total(right, rows))
        case ast.Name(id=name):
            raise ValueError(f"{name!r} is no row; there are {', '.join(rows) or 'none'}")
    raise ValueError(f"{ast.unparse(node)!r}: a test adds rows, each times a number")


def _made(sign: type, left: Number, right: Number) -> Number:
    if not isinstance(left, Contrast) and not isinstance(right, Contrast):
        return _ARITHMETIC[sign](left, right)
    if sign in (ast.Add, ast.Sub):
        right = right if sign is ast.Sub else _made(ast.Mult, right, -1.0)
        if isinstance(left, Contrast):
            return left.less(right) if isinstance(right, Contrast) else left.minus(right)
        return _made(ast.Mult, right, -1.0).minus(-left)
    if isinstance(left, Contrast) and not isinstance(right, Contrast):
        return left.scaled(_ARITHMETIC[sign](1.0, right))
    if sign is ast.Mult and isinstance(right, Contrast) and not isinstance(left, Contrast):
        return right.scaled(left)
    raise ValueError("a test multiplies rows by numbers, and divides them by numbers")
