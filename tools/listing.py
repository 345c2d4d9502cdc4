"""`--list-passes`, `--list-targets`, `--list-dialects`."""

import inspect
from collections.abc import Callable, Iterable, Mapping

from xdsl.utils.arg_spec import ArgSpecConvertible


def list_classes(factories: Mapping[str, Callable[[], type[ArgSpecConvertible]]]) -> Iterable[str]:
    """A line for each pass or target: its name and the first line of its docstring."""
    width = max(map(len, factories))
    for name in sorted(factories):
        yield f"{name:<{width}}  {_summary(factories[name])}".rstrip()


def _summary(factory: Callable[[], type[ArgSpecConvertible]]) -> str:
    try:
        cls = factory()
    except ImportError as error:
        return f"(not available: {error})"
    documentation = cls.__dict__.get("__doc__") or ""
    # A dataclass without a docstring gets its signature as one.
    if documentation.startswith(f"{cls.__name__}("):
        return ""
    return inspect.cleandoc(documentation).split("\n", 1)[0]
