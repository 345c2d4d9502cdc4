"""Law 1: print → parse → print is the identity, on generated programs of every form."""

import math
import struct
from collections.abc import Callable, Iterator
from io import StringIO

import pytest
from generators.modules import FORMS, Sample, modules
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from module_text import parse
from xdsl.dialects.builtin import LocationAttr, ModuleOp
from xdsl.ir import Attribute, Operation
from xdsl.utils.exceptions import VerifyException

from uop.dialects import get_all_dialects
from uop.dialects.axes import AxisAttr, AxisKind
from uop.dialects.monoids import MONOIDS, MonoidAttr
from uop.dialects.schedule import Factor, Schedule, ScheduleAttr, Staging
from uop.dialects.types import ELEMENT_TYPES, is_memref
from uop.dialects.uop import ConstOp
from uop.tools.printing import TextPrinter
from uop.tools.verifier import verify_ir

EXAMPLES = settings(
    max_examples=50,
    deadline=None,
    derandomize=True,
    database=None,
    report_multiple_bugs=False,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)

STYLES: dict[str, dict[str, bool]] = {
    "custom": {},
    "generic": {"print_generic_format": True},
    "custom, locations": {"print_debuginfo": True},
    "custom, known locations": {"print_debuginfo": True, "unknown_locations": False},
    "generic, locations": {"print_generic_format": True, "print_debuginfo": True},
}


def text_of(module: ModuleOp, style: str) -> str:
    stream = StringIO()
    TextPrinter(stream, **STYLES[style]).print_op(module)
    return stream.getvalue()


def all_locations(module: ModuleOp) -> Iterator[LocationAttr]:
    for op in module.walk():
        yield op.location
        for region in op.regions:
            for block in region.blocks:
                yield from (argument.location for argument in block.args)


def check(module: ModuleOp) -> None:
    """Print, parse and print again in every style."""
    verify_ir(module)
    for style, options in STYLES.items():
        text = text_of(module, style)
        read = parse(text)
        verify_ir(read)
        assert text_of(read, style) == text
        assert module.is_structurally_equivalent(read), text
        if options.get("print_debuginfo"):
            assert list(all_locations(read)) == list(all_locations(module)), text


@pytest.mark.parametrize("form", FORMS)
def test_text_reads_back_as_the_program(form: str) -> None:
    @EXAMPLES
    @given(modules(form))
    def run(sample: Sample) -> None:
        check(sample.module)

    run()


def test_everything_is_generated() -> None:
    """No op, attribute or monoid can be added without a generator."""
    operations: set[type[Operation]] = set()
    attributes: set[type[Attribute]] = set()
    monoids: set[str] = set()
    constants: set[Attribute] = set()

    def collect(sample: Sample) -> None:
        for op in sample.module.walk():
            operations.add(type(op))
            held = [*op.properties.values(), *op.attributes.values()]
            held += [value.type.layout for value in op.operands if is_memref(value.type)]
            attributes.update(map(type, held))
            monoids.update(attribute.data for attribute in held if isinstance(attribute, MonoidAttr))
            if isinstance(op, ConstOp):
                constants.add(op.result.type)

    for form in FORMS:
        settings(EXAMPLES, max_examples=150, phases=[Phase.generate])(given(modules(form))(collect))()
    for name, factory in get_all_dialects().items():
        dialect = factory()
        assert {op.name for op in dialect.operations if op not in operations} == set(), name
        assert {attribute.name for attribute in dialect.attributes if attribute not in attributes} == set(), name
    assert monoids == {*MONOIDS}
    assert constants == {*ELEMENT_TYPES.values()}


@settings(EXAMPLES, max_examples=300)
@given(st.data())
def test_constants_are_exact(data: st.DataObject) -> None:
    """Text of any bits gives that number; of a NaN, a NaN of the same sign."""
    width, type, unpack = data.draw(st.sampled_from(((64, "f64", "<Qd"), (32, "f32", "<If"), (16, "f16", "<He"))))
    bits = data.draw(st.integers(0, (1 << width) - 1))
    if data.draw(st.booleans()):
        bits |= {64: 0x7FF << 52, 32: 0xFF << 23, 16: 0x1F << 10}[width]  # infinite, or NaN
    (op,) = parse(f"uop.const 0x{bits:0{width // 4}x} : {type}").ops
    assert isinstance(op, ConstOp)
    (expected,) = struct.unpack(f"<{unpack[2]}", struct.pack(unpack[:2], bits))
    assert math.copysign(1, op.number) == math.copysign(1, expected)
    assert op.number == expected or (math.isnan(op.number) and math.isnan(expected))


@pytest.mark.parametrize(
    "make",
    [
        lambda: AxisAttr("1st", 4),
        lambda: AxisAttr("", 4),
        lambda: ScheduleAttr(Schedule((("a b", (Factor(2, AxisKind.LOOP),)),))),
        lambda: ScheduleAttr(Schedule((("stage", (Factor(2, AxisKind.LOOP),)),))),
        lambda: ScheduleAttr(Schedule((("min_blocks", (Factor(2, AxisKind.LOOP),)),))),
        lambda: ScheduleAttr(Schedule((("i", ()),))),
        lambda: ScheduleAttr(Schedule((), (Staging("a b"),))),
    ],
)
def test_names_that_cannot_be_read_back_are_refused(make: Callable[[], Attribute]) -> None:
    with pytest.raises(VerifyException):
        make()


def test_names_that_xdsl_would_give_twice() -> None:
    """xDSL's printer calls the second and the third value `%x_1`."""
    text = "%x = uop.const 1 : i32\n%x_1 = uop.const 2 : i32\n%x_1_2 = uop.const 3 : i32\n"
    check(parse(text))
