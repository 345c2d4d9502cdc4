"""Pass pipelines: text, options, named pipelines, and running them as a library."""

from dataclasses import dataclass
from enum import Enum
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from xdsl.context import Context
from xdsl.dialects import arith, builtin, func
from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser
from xdsl.passes import ModulePass

from uop.rewriting.diagnostics import PassError
from uop.tools.arguments import NAMED_PIPELINES as FLAGS
from uop.tools.pass_options import make_from_spec, spec_of
from uop.tools.pass_run import PassRun
from uop.tools.pipeline import build_pipeline, expand_pipeline, pipeline_text, run_pipeline
from uop.tools.pipeline_text import (
    BARE_VALUE,
    NAME,
    Element,
    Nest,
    Option,
    PassSpec,
    PipelineError,
    Value,
    parse_options,
    parse_pipeline,
    print_pipeline,
)
from uop.tools.pipelines import NAMED_PIPELINES, STAGES, CompileOptions, stages_between, uop_to_cuda

NAMES = st.from_regex(NAME, fullmatch=True)
VALUES = st.one_of(
    st.from_regex(BARE_VALUE, fullmatch=True).map(Value),
    st.text().map(lambda text: Value(text, quoted=True)),
)
OPTIONS = st.builds(Option, NAMES, st.lists(VALUES, max_size=3).map(tuple))
PASSES = st.builds(PassSpec, NAMES, st.lists(OPTIONS, max_size=3).map(tuple))
ELEMENTS: st.SearchStrategy[Element] = st.recursive(
    PASSES, lambda inner: st.builds(Nest, NAMES, st.lists(inner, max_size=3).map(tuple)), max_leaves=8
)


@given(st.lists(ELEMENTS, max_size=4).map(tuple))
def test_parsing_what_was_printed_is_the_identity(elements: tuple[Element, ...]) -> None:
    assert parse_pipeline(print_pipeline(elements)) == elements


@given(st.text(alphabet="ab,(){}[]=\"' \n\\-1", max_size=20))
def test_any_text_is_parsed_or_refused_at_a_place(text: str) -> None:
    elements, position = None, 0
    try:
        elements = parse_pipeline(text)
    except PipelineError as error:
        position = error.position
    assert 0 <= position <= len(text)
    assert elements is None or parse_pipeline(print_pipeline(elements)) == elements


def test_white_space_may_stand_between_any_two_tokens() -> None:
    text = " builtin.module\n(\n a ,\tb { x = 1 , 2\n y } , func.func ( c ) )\n"
    assert print_pipeline(parse_pipeline(text)) == "builtin.module(a,b{x=1,2 y},func.func(c))"


@pytest.mark.parametrize("text", ["p{x=1,2}", "p{x=[1,2]}", "p{x={1, 2}}", "p{x = [ 1 , 2 ] }"])
def test_lists_may_stand_in_brackets(text: str) -> None:
    assert parse_pipeline(text) == (PassSpec("p", (Option("x", (Value("1"), Value("2"))),)),)


def test_quoted_values() -> None:
    (option,) = parse_options(r""" s = "a\"b\\ \n}" , 'c"\' """)
    assert option.values == (Value('a"b\\ \n}', quoted=True), Value('c"\\', quoted=True))


@pytest.mark.parametrize(
    ("text", "position", "message"),
    [
        ("a,,b", 2, "expected the name of a pass, found ','"),
        ("a,", 2, "expected the name of a pass, found the end"),
        ("a b", 2, "expected ',' or the end of the pipeline, found 'b'"),
        ("m(a", 1, "'(' is never closed"),
        ("m(a}", 3, "expected ',' or ')', found '}'"),
        ("a{x=1", 1, "'{' is never closed"),
        ("a{x=}", 4, "expected the value of an option, found '}'"),
        ("a{=1}", 2, "expected the name of an option, found '='"),
        ('a{x="b}', 4, "quoted text is never closed"),
        (r'a{x="\q"}', 5, r"unknown escape '\q' in quoted text"),
        ("a{x=[1}", 6, "expected ',' or ']', found '}'"),
        ("a)", 1, "expected ',' or the end of the pipeline, found ')'"),
    ],
)
def test_errors_say_what_and_where(text: str, position: int, message: str) -> None:
    with pytest.raises(PipelineError) as caught:
        parse_pipeline(text)
    assert (caught.value.position, str(caught.value)) == (position, message)


class Colour(Enum):
    RED = "red"
    DARK_BLUE = "dark-blue"


@dataclass(frozen=True)
class OptionsPass(ModulePass):
    """A pass with an option of each kind."""

    name = "options"

    needed: int
    ratio: float = 0.5
    text: str = "x"
    flag: bool = False
    choice: Literal["a", "b", 3] = "a"
    colour: Colour = Colour.RED
    sizes: tuple[int, ...] = (1,)
    pair: tuple[int, str] = (1, "a")
    maybe: str | None = "x"
    maybe_flag: bool | None = None
    either: int | float | str = 0

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        pass


REGISTRY = {"options": lambda: OptionsPass}


def make(text: str) -> OptionsPass:
    (spec,) = parse_pipeline(text)
    assert isinstance(spec, PassSpec)
    return make_from_spec(OptionsPass, spec, text)


INTEGERS = st.integers(-(2**70), 2**70)
FLOATS = st.floats(allow_nan=False)


@given(
    st.builds(
        OptionsPass,
        needed=INTEGERS,
        ratio=FLOATS,
        text=st.text(),
        flag=st.booleans(),
        choice=st.sampled_from(["a", "b", 3]),
        colour=st.sampled_from(Colour),
        sizes=st.lists(INTEGERS).map(tuple),
        pair=st.tuples(INTEGERS, st.text()),
        maybe=st.none() | st.text() | st.just("none"),
        maybe_flag=st.none() | st.booleans(),
        either=INTEGERS | FLOATS | st.text() | st.sampled_from(["true", "none", "inf", "1", "-1.5"]),
    )
)
def test_a_pass_is_made_again_from_its_text(instance: OptionsPass) -> None:
    again = make(str(spec_of(instance)))
    assert repr(again) == repr(instance)  # 1, 1.0 and True are equal


def test_options_of_each_kind() -> None:
    made = make(
        "options{needed=0x10 ratio=2 text=sm_90 flag choice=3 colour=dark-blue sizes=[4,5] pair=7,b "
        "maybe=none maybe-flag either='12'}"
    )
    assert made == OptionsPass(16, 2.0, "sm_90", True, 3, Colour.DARK_BLUE, (4, 5), (7, "b"), None, True, either="12")
    assert make("options{needed=1 maybe_flag=false text=90 flag=0}") == OptionsPass(1, maybe_flag=False, text="90")


@pytest.mark.parametrize(
    ("text", "position", "message"),
    [
        ("options", 0, "pass 'options' needs the option 'needed' (an integer)"),
        ("options{needed=x}", 8, "option 'needed' of pass 'options' takes an integer, not 'x'"),
        ("options{needed}", 8, "option 'needed' of pass 'options' takes an integer, not nothing"),
        ("options{needed='1'}", 8, "option 'needed' of pass 'options' takes an integer, not '\"1\"'"),
        ("options{needed=1 ratio=x}", 17, "option 'ratio' of pass 'options' takes a number, not 'x'"),
        ("options{needed=1 flag=yes}", 17, "option 'flag' of pass 'options' takes true or false, not 'yes'"),
        ("options{needed=1 choice=c}", 17, "takes one of 'a', 'b', 3, not 'c'"),
        ("options{needed=1 colour=blue}", 17, "takes one of 'red', 'dark-blue', not 'blue'"),
        ("options{needed=1 sizes=1,b}", 17, "takes a list, each an integer, not '1,b'"),
        ("options{needed=1 pair=1}", 17, "takes 2 values (an integer, a string), not '1'"),
        ("options{needed=1 needed=2}", 17, "option 'needed' is given twice"),
        ("options{needed=1 rato=2}", 17, "pass 'options' has no option 'rato' (its options: needed, ratio,"),
        ("options{needed=1 rato=2}", 17, "did you mean 'ratio'?"),
    ],
)
def test_bad_options_say_what_and_where(text: str, position: int, message: str) -> None:
    with pytest.raises(PipelineError) as caught:
        make(text)
    assert message in str(caught.value)
    assert caught.value.position == position


def test_an_unknown_pass_lists_the_near_ones() -> None:
    with pytest.raises(PipelineError, match="unknown pass 'option'; did you mean 'options'") as caught:
        build_pipeline("builtin.module(func.func( option ))", REGISTRY)
    assert caught.value.position == 26


def test_a_pass_that_cannot_be_imported_is_an_error_of_the_pipeline() -> None:
    def broken() -> type[ModulePass]:
        raise ModuleNotFoundError("No module named 'x'")

    with pytest.raises(PipelineError, match="'broken' cannot be loaded: ModuleNotFoundError: No module"):
        build_pipeline("broken", {"broken": broken})


def test_the_text_of_a_pipeline_makes_it_again() -> None:
    text = "builtin.module(options{needed=1 sizes=2,3},func.func(options{needed=2}))"
    pipeline = build_pipeline(text, REGISTRY)
    assert pipeline_text(pipeline) == text
    assert build_pipeline(pipeline_text(pipeline), REGISTRY) == pipeline


def test_named_pipelines_expand_to_their_text() -> None:
    assert [*FLAGS] == [*NAMED_PIPELINES]
    expansion = uop_to_cuda(CompileOptions(arch="sm_80"))
    assert expansion.startswith(
        "convert-torch-to-uop,uop-simplify,uop-expand-scatter,uop-split-scan,uop-factor-rows,uop-fuse-deviations,"
        "uop-split-reduce,uop-partition,"
    )
    assert "{arch=sm_80}" in expansion
    text, elements = expand_pipeline("builtin.module(uop-to-cuda{arch=sm_80},cse)")
    assert text == print_pipeline(elements) == f"{expansion},cse"


def test_a_pipeline_goes_on_from_any_stage() -> None:
    everything = uop_to_cuda(CompileOptions())
    for stage in STAGES:
        first = uop_to_cuda(CompileOptions(to=stage.name))
        rest = uop_to_cuda(CompileOptions(after=stage.name))
        assert ",".join(part for part in (first, rest) if part) == everything
    assert [stage.name for stage in stages_between("range", "tile")] == ["loop", "tile"]
    with pytest.raises(ValueError, match="stage 'loop' comes before 'tile'"):
        stages_between("tile", "loop")


def test_an_unknown_stage_lists_the_stages() -> None:
    with pytest.raises(PipelineError, match="unknown stage 'tiles' \\(the stages are torch, uop, ") as caught:
        expand_pipeline("cse,uop-to-cuda{after=tiles}")
    assert caught.value.position == 4


def parse(text: str) -> tuple[Context, ModuleOp]:
    context = Context()
    for dialect in (builtin.Builtin, func.Func, arith.Arith):
        context.load_dialect(dialect)
    return context, Parser(context, text).parse_module()


TWICE = """
func.func @f() -> i32 {
  %a = arith.constant 1 : i32
  %b = arith.constant 1 : i32
  %c = arith.addi %a, %b : i32
  func.return %c : i32
}
"""


def test_run_pipeline_reports_each_pass() -> None:
    context, module = parse(TWICE)
    timing: dict[str, float] = {}
    runs: list[PassRun] = []
    run_pipeline(module, context, "cse,func.func(dce,cse)", verify=True, timing=timing, on_pass=runs.append)
    assert [(run.name, run.nested) for run in runs] == [("cse", False), ("dce", True), ("cse", True)]
    assert all(run.cpu_seconds >= 0 for run in runs)
    assert timing.keys() == {"cse", "dce"}
    assert str(module).count("arith.constant") == 1


def test_run_pipeline_takes_text_and_passes() -> None:
    class Count(ModulePass):
        name = "count"

        def apply(self, ctx: Context, op: ModuleOp) -> None:
            counts.append(str(op).count("arith.constant"))

    counts: list[int] = []
    context, module = parse(TWICE)
    run_pipeline(module, context, [Count(), "cse", Count()])
    assert counts == [2, 1]


def test_a_nested_pass_may_replace_its_operation() -> None:
    class Twin(ModulePass):
        """Puts a copy of the last function behind it."""

        name = "twin"

        def apply(self, ctx: Context, op: ModuleOp) -> None:
            seen.append(str(op))
            function = op.body.block.last_op
            assert isinstance(function, func.FuncOp)
            twin = function.clone()
            twin.sym_name = builtin.StringAttr(f"{function.sym_name.data}_twin")
            op.body.block.insert_op_after(twin, function)

    class Drop(ModulePass):
        name = "drop"

        def apply(self, ctx: Context, op: ModuleOp) -> None:
            for function in [*op.ops]:
                function.detach()

    seen: list[str] = []
    context, module = parse("module attributes {a} { func.func @f() { return } func.func @g() { return } }")
    registry = {"twin": lambda: Twin, "drop": lambda: Drop}
    run_pipeline(module, context, "func.func(twin,twin)", passes=registry, verify=True)
    names = [op.sym_name.data for op in module.ops if isinstance(op, func.FuncOp)]
    assert names == ["f", "f_twin", "f_twin_twin", "g", "g_twin", "g_twin_twin"]
    assert "attributes {a}" in seen[0]
    assert "@g" not in seen[0]
    run_pipeline(module, context, "func.func(drop,twin)", passes=registry)
    assert [*module.ops] == []


def test_a_failing_nested_pass_leaves_its_operation_in_place() -> None:
    class Fail(ModulePass):
        name = "fail"

        def apply(self, ctx: Context, op: ModuleOp) -> None:
            raise PassError("no", op.body.block.first_op)

    context, module = parse("func.func @f() { return } func.func @g() { return }")
    before = str(module)
    with pytest.raises(PassError, match="no"):
        run_pipeline(module, context, "func.func(fail)", passes={"fail": lambda: Fail})
    assert str(module) == before
