"""`dataclass` as the standard library's, made in a tenth of the time.

Up to Python 3.12 the standard library compiles a text for each method of each class, half a millisecond for a frozen
one: of a first compilation, which loads a hundred of them, it was a third. Here only `__init__` is compiled, with the
first object, and what is the same for all classes is written once. `fields`, `replace`, `asdict` and `field` are the
standard library's.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import MISSING, FrozenInstanceError, field, fields
from operator import attrgetter
from reprlib import recursive_repr
from typing import Any, TypeVar, dataclass_transform, overload

T = TypeVar("T")


@overload
def dataclass(cls: type[T], /) -> type[T]: ...
@overload
def dataclass(*, eq: bool = True, frozen: bool = False, slots: bool = False) -> Callable[[type[T]], type[T]]: ...
@dataclass_transform(field_specifiers=(field,))
def dataclass(
    cls: type[T] | None = None, /, *, eq: bool = True, frozen: bool = False, slots: bool = False
) -> type[T] | Callable[[type[T]], type[T]]:
    """As `dataclasses.dataclass`. One difference: a frozen class cannot be the base of one by the standard library."""

    def make(cls: type[T]) -> type[T]:
        return _make(cls, eq, frozen, slots)

    return make if cls is None else make(cls)


def _make(cls: type[T], eq: bool, frozen: bool, slots: bool) -> type[T]:
    # The standard library wants what inherits from a frozen class to be frozen by itself.
    bases = (getattr(base, "__dataclass_params__", None) for base in cls.__mro__[1:])
    inherits = any(params is not None and params.frozen for params in bases)
    made: Any = dataclasses.dataclass(init=False, repr=False, eq=False, frozen=inherits, slots=slots)(cls)
    methods: dict[str, Callable[..., Any]] = {"__init__": _late_init(made, frozen), "__repr__": _repr}
    if eq:
        values = _values([each.name for each in fields(made) if each.compare])
        methods["__eq__"] = _eq(values)
        if frozen:
            methods["__hash__"] = _hash(values)
    if frozen and not inherits:
        methods |= {"__setattr__": _refuse_set, "__delattr__": _refuse_delete}
    if frozen and slots:
        methods |= {"__getstate__": _get_state, "__setstate__": _set_state}
    own: dict[str, Any] = made.__dict__
    if eq and not frozen and "__hash__" not in own:
        made.__hash__ = None
    for name, method in methods.items():
        if own.get(name) is None:  # Python sets `__hash__` to None beside an `__eq__`
            setattr(made, name, method)
    return made


def _late_init(cls: Any, frozen: bool) -> Callable[..., None]:
    """An `__init__` that is compiled when it is first called: most classes of a process are never used."""

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        cls.__init__ = _init(cls, frozen)
        cls.__init__(self, *args, **kwargs)

    return __init__


def _init(cls: Any, frozen: bool) -> Callable[..., None]:
    """`def __init__(self, a, b=__default_b): self.a = a; self.b = b`, as text that is compiled."""
    names: dict[str, Any] = {"__missing": MISSING, "__set": object.__setattr__}
    parameters = ["self"]
    body: list[str] = []
    for each in fields(cls):
        name = value = each.name
        default = ""
        if each.default_factory is not MISSING:
            names[f"__make_{name}"] = each.default_factory
            value = f"__make_{name}() if {name} is __missing else {name}" if each.init else f"__make_{name}()"
            default = "=__missing"
        elif each.default is not MISSING:
            names[f"__default_{name}"] = each.default
            default = f"=__default_{name}"
        if each.init:
            parameters.append(name + default)
        elif each.default_factory is MISSING:
            continue  # a default is found in the class
        body.append(f"__set(self, {name!r}, {value})" if frozen else f"self.{name} = {value}")
    if hasattr(cls, "__post_init__"):
        body.append("self.__post_init__()")
    exec(f"def __init__({', '.join(parameters)}):\n {'; '.join(body) or 'pass'}", names)
    init = names["__init__"]
    init.__qualname__ = f"{cls.__qualname__}.__init__"
    init.__module__ = cls.__module__
    return init


def _values(names: list[str]) -> Callable[[Any], tuple[Any, ...]]:
    """What gets the fields of these names."""
    if len(names) > 1:
        return attrgetter(*names)
    if not names:
        return lambda self: ()
    get = attrgetter(*names)
    return lambda self: (get(self),)


def _eq(values: Callable[[Any], tuple[Any, ...]]) -> Callable[[Any, object], Any]:
    def __eq__(self: Any, other: object) -> Any:
        return values(self) == values(other) if other.__class__ is self.__class__ else NotImplemented

    return __eq__


def _hash(values: Callable[[Any], tuple[Any, ...]]) -> Callable[[Any], int]:
    def __hash__(self: Any) -> int:
        return hash(values(self))

    return __hash__


@recursive_repr()
def _repr(self: Any) -> str:
    shown = (f"{each.name}={getattr(self, each.name)!r}" for each in fields(self) if each.repr)
    return f"{self.__class__.__qualname__}({', '.join(shown)})"


def _refuse_set(self: Any, name: str, value: object) -> None:
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_delete(self: Any, name: str) -> None:
    raise FrozenInstanceError(f"cannot delete field {name!r}")


def _get_state(self: Any) -> list[Any]:
    return [getattr(self, each.name) for each in fields(self)]


def _set_state(self: Any, state: list[Any]) -> None:
    for each, value in zip(fields(self), state, strict=True):
        object.__setattr__(self, each.name, value)
