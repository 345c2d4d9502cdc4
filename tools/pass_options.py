"""The options of a pass: from the text of a pipeline to the fields of its dataclass, and back."""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from functools import cache
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from .pipeline_text import BARE_VALUE, Option, PassSpec, PipelineError, Value

if TYPE_CHECKING:
    from _typeshed import DataclassInstance
    from xdsl.utils.arg_spec import ArgSpecConvertible

OptionsT = TypeVar("OptionsT", bound="DataclassInstance")


def near_names(name: str, names: Sequence[str]) -> str:
    """`; did you mean 'a' or 'b'?` for the names most like `name`, '' if none is."""
    from difflib import get_close_matches  # slow to import, and wanted only in errors

    near = get_close_matches(name, names, n=3, cutoff=0.6)
    return f"; did you mean {' or '.join(map(repr, near))}?" if near else ""


def load(factory: Callable[[], type[OptionsT]], kind: str, spec: PassSpec, text: str) -> type[OptionsT]:
    """The class that `factory` imports. Raises `PipelineError` if it cannot be imported."""
    try:
        return factory()
    except Exception as error:
        message = f"{kind} '{spec.name}' cannot be loaded: {type(error).__name__}: {error}"
        raise PipelineError(message, text, spec.position) from error


def make_from_spec(cls: type[OptionsT], spec: PassSpec, text: str, kind: str = "pass") -> OptionsT:
    """An instance of the dataclass `cls` (a pass, a target) with the options of `spec`, read from `text`.

    Raises `PipelineError` at the option that is unknown, given twice, missing or of the wrong type.
    """
    fields = {field.name: field for field in dataclasses.fields(cls) if field.init and field.name != "name"}
    arguments: dict[str, Any] = {}
    for option in spec.options:
        key = option.name.replace("-", "_")
        if key not in fields:
            known = [name.replace("_", "-") for name in fields]
            has = f"its options: {', '.join(known)}" if known else "it takes none"
            near = near_names(option.name.replace("_", "-"), known)
            raise PipelineError(
                f"{kind} '{spec.name}' has no option '{option.name}' ({has}){near}", text, option.position
            )
        if key in arguments:
            raise PipelineError(f"option '{option.name}' is given twice", text, option.position)
        try:
            arguments[key] = convert(option.values, _hints(cls)[key])
        except ValueError as error:
            raise PipelineError(
                f"option '{option.name}' of {kind} '{spec.name}' takes {error}, not {_quote(option)}",
                text,
                option.position,
            ) from None
    for name, field in fields.items():
        if name in arguments or _has_default(field):
            continue
        if NoneType in get_args(_hints(cls)[name]):
            arguments[name] = None  # as in xDSL, an optional field needs no default
            continue
        option_name = name.replace("_", "-")
        raise PipelineError(
            f"{kind} '{spec.name}' needs the option '{option_name}' ({_describe(_hints(cls)[name])})",
            text,
            spec.position,
        )
    try:
        return cls(**arguments)
    except ValueError as error:  # the __post_init__ of a pass that checks its options
        raise PipelineError(f"{kind} '{spec.name}': {error}", text, spec.position) from error


@cache
def _hints(cls: type[Any]) -> Mapping[str, Any]:
    """The types of the fields, for those that are given: to evaluate them takes longer than to make most passes."""
    return get_type_hints(cls)


def spec_of(instance: "ArgSpecConvertible") -> PassSpec:
    """The spec that makes `instance`, without the options that have their default value."""
    return PassSpec(instance.name, options_of(instance))


def options_of(instance: "DataclassInstance") -> tuple[Option, ...]:
    """The options that `make_from_spec` makes `instance` of, without those that have their default value."""
    options: list[Option] = []
    for field in dataclasses.fields(instance):
        if not field.init or field.name == "name":
            continue
        value = getattr(instance, field.name)
        if _has_default(field) and repr(value) == repr(_default(field)):  # 1, 1.0 and True are equal
            continue
        options.append(Option(field.name.replace("_", "-"), print_values(value)))
    return tuple(options)


def print_values(value: Any) -> tuple[Value, ...]:
    """The text of an option's value; `convert` gives the value back."""
    return tuple(map(_print_value, value if isinstance(value, tuple) else (value,)))  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]  # any tuple


def convert(values: tuple[Value, ...], hint: Any) -> Any:
    """The Python value of type `hint` that `values` spell. Raises `ValueError` saying what `hint` accepts."""
    # `x=none` is None where a string is accepted too (`x="none"` is not); the flag `x` is True rather than None.
    alternatives = sorted(_alternatives(hint), key=lambda arm: (arm is NoneType) is not bool(values))
    for alternative in alternatives:
        try:
            return _convert_to(values, alternative)
        except ValueError:
            continue
    raise ValueError(_describe(hint))


def _alternatives(hint: Any) -> tuple[Any, ...]:
    return get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)


def _convert_to(values: tuple[Value, ...], hint: Any) -> Any:
    if get_origin(hint) is tuple:
        items = get_args(hint)
        if len(items) == 2 and items[1] is Ellipsis:
            return tuple(convert((value,), items[0]) for value in values)
        if len(items) != len(values):
            raise ValueError
        return tuple(convert((value,), item) for value, item in zip(values, items, strict=True))
    if hint is bool and not values:
        return True
    if hint is NoneType and not values:
        return None
    if len(values) != 1:
        raise ValueError
    (value,) = values
    if get_origin(hint) is Literal:
        return _choose({str(choice): choice for choice in get_args(hint)}, value)
    if (enum := _enum(hint)) is not None:
        return _choose({str(member.value): member for member in enum}, value)
    if hint is str:
        return value.text
    if value.quoted:
        raise ValueError
    if hint is int:
        return int(value.text, 0)
    if hint is float:
        return float(value.text)
    if hint is bool:
        return _choose({"true": True, "false": False, "1": True, "0": False}, value)
    if hint is NoneType:
        return _choose({"none": None}, value)
    raise TypeError(f"a pass option cannot have the type {hint}")


def _enum(hint: Any) -> type[Enum] | None:
    return hint if isinstance(hint, type) and issubclass(hint, Enum) else None


def _choose(choices: Mapping[str, Any], value: Value) -> Any:
    if value.text not in choices:
        raise ValueError
    return choices[value.text]


def _describe(hint: Any) -> str:
    """What an option of type `hint` accepts, for people: `an integer`, `one of 'a', 'b'`."""
    if get_origin(hint) in (Union, UnionType):
        return " or ".join(_describe(alternative) for alternative in get_args(hint))
    if get_origin(hint) is Literal:
        return f"one of {', '.join(repr(choice) for choice in get_args(hint))}"
    if get_origin(hint) is tuple:
        items = get_args(hint)
        if len(items) == 2 and items[1] is Ellipsis:
            return f"a list, each {_describe(items[0])}"
        return f"{len(items)} values ({', '.join(map(_describe, items))})"
    if (enum := _enum(hint)) is not None:
        return f"one of {', '.join(repr(member.value) for member in enum)}"
    names = {int: "an integer", float: "a number", bool: "true or false", str: "a string", NoneType: "none"}
    return names.get(hint, str(hint))


def _quote(option: Option) -> str:
    return f"'{','.join(map(str, option.values))}'" if option.values else "nothing"


def _print_value(value: Any) -> Value:
    match value:
        case None:
            return Value("none")
        case bool():
            return Value(str(value).lower())
        case Enum():
            return _print_value(value.value)
        case str():
            return Value(value, quoted=BARE_VALUE.fullmatch(value) is None or _is_keyword(value))
        case _:
            return Value(str(value))


def _is_keyword(text: str) -> bool:
    """Whether bare `text` could be read as something else than a string."""
    try:
        float(text)
    except ValueError:
        return not text[0].isalpha() or text in ("true", "false", "none")
    return True


def _has_default(field: "dataclasses.Field[Any]") -> bool:
    return field.default is not dataclasses.MISSING or field.default_factory is not dataclasses.MISSING


def _default(field: "dataclasses.Field[Any]") -> Any:
    return field.default if field.default_factory is dataclasses.MISSING else field.default_factory()
