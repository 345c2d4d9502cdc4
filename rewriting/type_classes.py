"""Classes of element types, for which the variables of rules stand."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.ir import Attribute

from .values import kind_of_type


@dataclass(frozen=True)
class TypeClass:
    """Element types that a variable stands for.

    kinds: `float`, `signed`, `unsigned`, `index`, `bool`
    elements: the element types themselves, where not all of these kinds are meant
    """

    name: str
    kinds: frozenset[str]
    elements: frozenset[Attribute] | None = None


def exactly(*elements: Attribute) -> TypeClass:
    """These element types only: `variables("h", exactly(f16, bf16))`."""
    names = " or ".join(map(str, elements))
    return TypeClass(names, frozenset(map(kind_of_type, elements)), frozenset(elements))


ANY = TypeClass("any", frozenset(("float", "signed", "unsigned", "index", "bool")))
FLOAT = TypeClass("float", frozenset(("float",)))
INTEGER = TypeClass("integer", frozenset(("signed", "unsigned", "index")))
SIGNED = TypeClass("signed", frozenset(("signed", "index")))
INDEX = TypeClass("index", frozenset(("index",)))
BOOL = TypeClass("bool", frozenset(("bool",)))
BITS = TypeClass("bits", INTEGER.kinds | BOOL.kinds)
