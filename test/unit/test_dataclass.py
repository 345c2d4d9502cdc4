"""`dialects/dataclass.py` makes what the standard library makes."""

import copy
import dataclasses
import pickle
from collections.abc import Callable
from dataclasses import FrozenInstanceError, asdict, field, fields, replace
from functools import cached_property
from typing import Any, ClassVar

import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from uop.dialects.dataclass import dataclass

Maker = Callable[..., Any]
STANDARD: Maker = dataclasses.dataclass
OURS: Maker = dataclass
NAN = float("nan")


def classes(make: Maker, **options: Any) -> dict[str, Any]:
    """Classes of all kinds that the tree has, made by one of the two."""

    @make(**options)
    class Empty:
        """No fields."""

    @make(**options)
    class One:
        """One field."""

        a: Any

    @make(**options)
    class Many:
        """Defaults, factories, and fields that are not compared, shown or given."""

        shared: ClassVar[int] = 3
        a: int
        b: str = "b"
        c: list[int] = field(default_factory=lambda: [1])
        d: int = field(default=4, compare=False)
        e: bytes = field(default=b"", repr=False)
        f: dict[str, int] = field(default_factory=dict[str, int], init=False, compare=False)

    @make(**options)
    class Derived(One):
        """A field more."""

        b: int = 2

    @make(**options)
    class Own:
        """Methods of its own."""

        a: int

        def __eq__(self, other: object) -> bool:
            return isinstance(other, Own)

        def __hash__(self) -> int:
            return 7

        def __repr__(self) -> str:
            return "own"

    return {cls.__name__: cls for cls in (Empty, One, Many, Derived, Own)}


def values(found: dict[str, Any]) -> list[Any]:
    nan = NAN  # whose hash is of its identity
    one, many, derived = found["One"], found["Many"], found["Derived"]
    made = [found["Empty"](), found["Empty"](), *(one(a) for a in (1, True, 1.5, nan, nan, "x")), one(a=1)]
    made += [many(1), many(1, "b", [1]), many(1, c=[2]), many(1, d=5), many(2), many(1, e=b"e")]
    return [*made, derived(1), derived(1, 2), derived(1, b=3), found["Own"](1), found["Own"](2)]


OPTIONS: list[dict[str, bool]] = [
    *({}, {"frozen": True}, {"eq": False}, {"frozen": True, "eq": False}),
    *({"slots": True}, {"frozen": True, "slots": True}, {"eq": False, "slots": True}),
]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_they_show_and_compare_alike(options: dict[str, bool]) -> None:
    expected, given = values(classes(STANDARD, **options)), values(classes(OURS, **options))
    assert [repr(value).rpartition(">.")[2] for value in given] == [
        repr(value).rpartition(">.")[2] for value in expected
    ]
    for i in range(len(given)):
        assert [given[i] == other for other in given] == [expected[i] == other for other in expected]
        assert given[i] != expected[i] or repr(given[i]) == "own"
        assert given[i].__match_args__ == expected[i].__match_args__
        assert asdict(given[i]).keys() == asdict(expected[i]).keys()
        assert [each.name for each in fields(given[i])] == [each.name for each in fields(expected[i])]
        assert hasattr(given[i], "__dict__") is hasattr(expected[i], "__dict__")


def hashed(value: Any) -> object:
    try:
        return hash(value)
    except TypeError as error:
        return str(error).rpartition(".")[2]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_they_hash_alike(options: dict[str, bool]) -> None:
    pairs = zip(values(classes(STANDARD, **options)), values(classes(OURS, **options)), strict=True)
    for expected, given in pairs:
        if options.get("eq", True):
            assert hashed(given) == hashed(expected)
        assert (type(given).__hash__ is object.__hash__) is (type(expected).__hash__ is object.__hash__)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_they_are_changed_alike(options: dict[str, bool]) -> None:
    for make in (STANDARD, OURS):
        value: Any = classes(make, **options)["Many"](1)
        assert replace(value, b="c").b == "c"
        assert value.c is not classes(make, **options)["Many"](1).c
        assert value.f == {}
        if options.get("frozen"):
            with pytest.raises(FrozenInstanceError, match="cannot assign to field 'a'"):
                value.a = 2
            with pytest.raises(FrozenInstanceError, match="cannot delete field 'a'"):
                del value.a
        else:
            value.a = 2
            assert value.a == 2


CALLS: list[tuple[tuple[Any, ...], dict[str, Any]]] = [
    ((), {}),
    ((1, "b", [1], 4, b"", {}), {}),
    ((1,), {"f": {}}),
    ((1,), {"g": 1}),
]


@pytest.mark.parametrize(("args", "kwargs"), CALLS)
def test_they_refuse_alike(args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    for make in (STANDARD, OURS):
        many = classes(make)["Many"]
        for _ in range(2):  # the first call compiles `__init__`
            with pytest.raises(TypeError, match=r"__init__\(\)"):
                many(*args, **kwargs)


@dataclass(frozen=True, slots=True)
class Slotted:
    a: int
    b: str = "b"


@dataclass(frozen=True)
class Checked:
    a: int

    def __post_init__(self) -> None:
        if self.a < 0:
            raise ValueError("negative")

    @cached_property
    def double(self) -> int:
        return 2 * self.a


@dataclass(frozen=True)
class SomePass(ModulePass):
    """A pass inherits from a frozen class of the standard library's."""

    name = "some"
    limit: int = 4

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        raise NotImplementedError


@pytest.mark.parametrize("value", [Slotted(1), Checked(2), SomePass(5)], ids=repr)
def test_they_are_copied_and_pickled(value: Any) -> None:
    for other in (copy.copy(value), copy.deepcopy(value), pickle.loads(pickle.dumps(value))):
        assert other == value
        assert hash(other) == hash(value)


def test_code_after_the_fields() -> None:
    assert Checked(3).double == 6
    with pytest.raises(ValueError, match="negative"):
        Checked(-1)


def test_a_pass() -> None:
    assert SomePass() == SomePass(4) != SomePass(5)
    assert repr(SomePass()) == "SomePass(limit=4)"
    with pytest.raises(FrozenInstanceError):
        SomePass().limit = 5  # pyright: ignore[reportAttributeAccessIssue]  # what is tested
