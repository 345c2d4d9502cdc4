"""What C writes with its operators, on scalars and on vectors; texts of text.py with `{0}`, `{1}`, … for operands."""

from __future__ import annotations

from .. import c_types

_SIGNS = {"add": "+", "sub": "-", "mul": "*"}
_BITWISE = {"and": "&", "or": "|", "xor": "^"}
_COMPARISONS = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}


def operator(op: str, element: str, lanes: int) -> str | None:
    """The expression of `op`; None where it is a function. Not for 16-bit floats, but for `where`."""
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
    return _integer(op, element)


def _mask(comparison: str, element: str, lanes: int) -> str:
    """A comparison of vectors gives integers as wide as what it compares."""
    if lanes == 1:
        return comparison
    return resized(f"(C)({comparison})", c_types.integer_type(element, lanes), c_types.integer_type("i1", lanes))


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


def _integer(op: str, element: str) -> str | None:
    """C leaves signed overflow undefined, PyTorch wraps: integers go through unsigned. An index never wraps."""
    if op == "not":
        return "~{0}"
    if element == "index":
        return {"neg": "-{0}", **{name: f"{{0}} {sign} {{1}}" for name, sign in _SIGNS.items()}}.get(op)
    if op in _SIGNS:
        return f"(T)((U){{0}} {_SIGNS[op]} (U){{1}})"
    return "(T)-(U){0}" if op == "neg" else None


def conversion(source: str, target: str, lanes: int) -> str:
    """Between types that C has; the text's type is `source`.

    Between floats and integers of fewer than 32 bits by way of i32, for which machines have instructions.
    """
    if lanes == 1:
        return "{0} != 0" if target == "i1" else f"(<{target}>){{0}}"
    if target == "i1":
        return _mask("{0} != 0", source, lanes)
    text = "{0}"
    if source == "i1":
        text, source = "-{0}", c_types.integer_type("i1", lanes)
    narrow = {source, target} - {"f32", "f64"}
    if len(narrow) == 1 and c_types.element_bytes(*narrow) < 4:
        text, source = resized(text, source, "i32"), "i32"
    return resized(text, source, target)


def resized(text: str, source: str, target: str) -> str:
    """Vectors of one element type as vectors of another. GCC 12 makes of `__builtin_convertvector` two halves where the
    widths are in the ratio of two; of a list of the lanes, one instruction."""
    if source == target:
        return text
    ratio = c_types.element_bytes(source) / c_types.element_bytes(target)
    if ratio in (0.5, 2):
        return f"${target}_from:{source}({text})"
    return f"__builtin_convertvector({text}, <{target}>)"
