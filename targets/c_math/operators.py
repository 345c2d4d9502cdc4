"""The ops that C writes with its operators, on scalars and on vectors."""

from __future__ import annotations

from .. import c_types

_SIGNS = {"add": "+", "sub": "-", "mul": "*"}
_BITWISE = {"and": "&", "or": "|", "xor": "^"}
_COMPARISONS = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}


def operator(op: str, element: str, lanes: int) -> str | None:
    """The expression of `op` with `{0}`, `{1}`, … for operands; None where it is a function."""
    if element == "i1":
        return _bool(op, lanes)
    if op in _BITWISE:
        return f"{{0}} {_BITWISE[op]} {{1}}"
    if op in _COMPARISONS:
        return _mask(f"{{0}} {_COMPARISONS[op]} {{1}}", element, lanes)
    if op == "where":
        return "{0} ? {1} : {2}" if lanes == 1 else None
    if element in ("f32", "f64"):
        return _float(op, element, lanes)
    return _integer(op, element, lanes)


def _mask(comparison: str, element: str, lanes: int) -> str:
    """A comparison of vectors gives integers as wide as what it compares."""
    if lanes == 1:
        return comparison
    mask = c_types.vector_type("i1", lanes)
    if c_types.lane_bytes(element, lanes) == c_types.lane_bytes("i1", lanes):
        return f"({mask})({comparison})"
    return f"__builtin_convertvector({comparison}, {mask})"


def _bool(op: str, lanes: int) -> str | None:
    """True is 1 in a scalar and −1 in a mask, so masks compare the other way round."""
    if op in ("and", "min"):
        return "{0} & {1}"
    if op in ("or", "max"):
        return "{0} | {1}"
    if op in ("xor", "ne"):
        return "{0} ^ {1}"
    if op == "not":
        return "!{0}" if lanes == 1 else "~{0}"
    if op == "where":
        return "{0} ? {1} : {2}" if lanes == 1 else "({0} & {1}) | (~{0} & {2})"
    if lanes == 1:
        return f"{{0}} {_COMPARISONS[op]} {{1}}"
    first, second = ("{1}", "{0}") if op in ("lt", "le", "gt", "ge") else ("{0}", "{1}")
    return f"{first} {_COMPARISONS[op]} {second}"


def _float(op: str, element: str, lanes: int) -> str | None:
    if op in _SIGNS:
        return f"{{0}} {_SIGNS[op]} {{1}}"
    match op:
        case "neg":
            return "-{0}"
        case "div":
            return "{0} / {1}"
        case "reciprocal" | "rcp":
            return "1.0f / {0}" if element == "f32" else "1.0 / {0}"
        case "isnan":
            return _mask("{0} != {0}", element, lanes)
        case _:
            return None


def _integer(op: str, element: str, lanes: int) -> str | None:
    """C leaves signed overflow undefined, PyTorch wraps: integers go through unsigned. An index never wraps."""
    if op == "not":
        return "~{0}"
    if element == "index":
        return {"neg": "-{0}", **{name: f"{{0}} {sign} {{1}}" for name, sign in _SIGNS.items()}}.get(op)
    type = c_types.vector_type(element, lanes)
    unsigned = c_types.vector_type(c_types.unsigned_type(element, lanes), lanes)
    if op in _SIGNS:
        return f"({type})(({unsigned}){{0}} {_SIGNS[op]} ({unsigned}){{1}})"
    return f"({type})-({unsigned}){{0}}" if op == "neg" else None
