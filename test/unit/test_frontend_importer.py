# Lambdas over tensors stand for programs; their parameters have no annotations.
# pyright: reportUnknownLambdaType=false, reportUnknownMemberType=false, reportUnknownArgumentType=false
# pyright: reportUnknownVariableType=false
"""The importer: one torch.aten for each operation of the exported graph, and everything about how it is called."""

import io
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch._higher_order_ops.effects import _register_effectful_op  # pyright: ignore[reportPrivateUsage]
from torch._library.effects import EffectType
from xdsl.context import Context
from xdsl.dialects.builtin import Builtin, FloatAttr, IntegerAttr, ModuleOp, UnknownLoc, f64, i1, i64
from xdsl.dialects.func import Func, FuncOp
from xdsl.ir import Attribute
from xdsl.parser import Parser
from xdsl.printer import Printer

from uop.dialects.torch import AtenOp, Torch
from uop.frontends.argument_names import identifier, readable_name, unique_identifiers
from uop.frontends.capture import capture_expression
from uop.frontends.element_types import ELEMENT_TYPES, dtype_of, tensor_type
from uop.frontends.errors import UnsupportedError, UnsupportedProgramError
from uop.frontends.exporting import export_module
from uop.frontends.imported import ArgumentKind, Imported, ResultKind
from uop.frontends.importer import import_exported, import_program
from uop.frontends.torch_internals import in_tf32
from uop.passes.torch.convert_torch_to_uop import CannotLower, ConvertTorchToUopPass
from uop.rewriting.locations import source_lines
from uop.runtime.interpret.aten import interpret_torch_function
from uop.runtime.interpret.program import interpret_program


class Call(nn.Module):
    """A function as a module."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.forward = function


def import_function(function: Callable[..., Any], *inputs: torch.Tensor) -> Imported:
    return import_exported(Call(function), inputs)


def text(module: ModuleOp, locations: bool = False) -> str:
    stream = io.StringIO()
    Printer(stream, print_debuginfo=locations).print_op(module)
    return stream.getvalue()


def parse(source: str) -> ModuleOp:
    context = Context()
    for dialect in (Builtin, Func, Torch):
        context.load_dialect(dialect)
    return Parser(context, source).parse_module()


def operations(imported: Imported) -> list[AtenOp]:
    return [op for op in imported.module.walk() if isinstance(op, AtenOp)]


def lines(imported: Imported) -> list[str]:
    """The operations as text, without types."""
    body = text(imported.module).splitlines()
    return [line.strip().partition(" : (")[0] for line in body if "torch.aten" in line]


def randn(*shape: int) -> torch.Tensor:
    return torch.randn(shape)


def test_the_first_program_of_the_design() -> None:
    def forward(x: torch.Tensor, bias: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        return torch.relu(torch.matmul(x + bias, w))

    imported = import_function(forward, randn(16, 64), randn(64), randn(64, 16))
    assert text(imported.module) == (
        "builtin.module {\n"
        "  func.func @forward(%x: tensor<16x64xf32>, %bias: tensor<64xf32>, %w: tensor<64x16xf32>)"
        " -> tensor<16x16xf32> {\n"
        '    %0 = torch.aten "add.Tensor"(%x, %bias) : (tensor<16x64xf32>, tensor<64xf32>) -> tensor<16x64xf32>\n'
        '    %1 = torch.aten "mm"(%0, %w) : (tensor<16x64xf32>, tensor<64x16xf32>) -> tensor<16x16xf32>\n'
        '    %2 = torch.aten "relu"(%1) : (tensor<16x16xf32>) -> tensor<16x16xf32>\n'
        "    func.return %2 : tensor<16x16xf32>\n"
        "  }\n"
        "}"
    )


@pytest.fixture
def high_precision() -> Iterator[None]:
    """PyTorch may use TF32 in products."""
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("high")
    yield
    torch.set_float32_matmul_precision(before)


@pytest.mark.usefixtures("high_precision")
def test_products_say_that_tf32_is_allowed() -> None:
    def forward(x: torch.Tensor, w: torch.Tensor, c: torch.Tensor) -> list[torch.Tensor]:
        return [x @ w, F.linear(x, w.t(), c), torch.relu(x), x.half() @ w.half(), x.double() @ w.double()]

    imported = import_function(forward, randn(4, 8), randn(8, 4), randn(4))
    products = [line for line in lines(imported) if "mm" in line or "linear" in line]
    assert [line.endswith(" allow_tf32") for line in products] == [True, True, False, False]
    assert not any("allow_tf32" in line for line in lines(imported) if line not in products)


@pytest.mark.usefixtures("high_precision")
def test_tf32_is_what_it_is_compared_with() -> None:
    """The interpreter of the torch dialect and the reference in float64 cut what is multiplied, too."""
    x, w = randn(16, 64).abs(), randn(64, 16).abs()
    imported = import_function(lambda x, w: x @ w, x, w)
    function = imported.module.body.block.first_op
    assert isinstance(function, FuncOp)
    (found,) = interpret_torch_function(function, [x, w])
    exact = in_tf32(x).double() @ in_tf32(w).double()
    np.testing.assert_allclose(found.numpy(), exact.numpy(), rtol=1e-6)
    assert ((x.double() @ w.double() - exact) / exact).min() > 2**-11  # a bias: the cut is towards 0
    captured = capture_expression("torch.randn(16, 64) @ torch.randn(64, 16)")
    values = captured.make_inputs()
    (reference,) = captured.reference64(values)
    np.testing.assert_array_equal(reference, in_tf32(values[0]).double() @ in_tf32(values[1]).double())


Q = (2, 2, 8, 4)

ARGUMENTS: list[tuple[str, Callable[..., Any], tuple[torch.Tensor, ...], str]] = [
    ("ints", lambda x: x.permute(1, 0), (randn(2, 3),), '"permute"(%x) {dims = [1 : i64, 0 : i64]}'),
    ("scalar in a tensor's place", lambda x: x * 0.5, (randn(3),), '"mul.Tensor"(%x) {other = 5.000000e-01 : f64}'),
    ("bool", lambda x: x.sum(0, keepdim=True), (randn(3),), '"sum.dim_IntList"(%x) {dim = [0 : i64], keepdim = true}'),
    ("defaults stay out", lambda x: F.gelu(x, approximate="none"), (randn(3),), '"gelu"(%x)'),
    ("string", lambda x: F.gelu(x, approximate="tanh"), (randn(3),), '"gelu"(%x) {approximate = "tanh"}'),
    ("dtype", lambda x: x.to(torch.bfloat16), (randn(3),), '"_to_copy"(%x) {dtype = "bfloat16"}'),
    ("infinity", lambda x: x == float("-inf"), (randn(3),), '"eq.Scalar"(%x) {other = 0xfff0000000000000 : f64}'),
    ("tensor list", lambda x, y: torch.cat([x, y], 0), (randn(3), randn(3)), '"cat"(%x, %y) {tensors = 2 : i64}'),
    (
        "tensor list with absent ones",
        lambda x, i: x[:, i],
        (randn(2, 3), torch.tensor([0, 1])),
        '"index.Tensor"(%x, %i) {indices = [false, true]}',
    ),
    (
        "absent tensors",
        lambda x, b: F.layer_norm(x, (3,), None, b),
        (randn(2, 3), randn(3)),
        '"layer_norm"(%x, %b) {normalized_shape = [3 : i64], weight, cudnn_enable = false}',
    ),
    (
        "layout and device",
        lambda: torch.zeros(3),
        (),
        '"zeros"() {size = [3 : i64], device = "cpu", pin_memory = false}',
    ),
    ("rms_norm whole", lambda x: F.rms_norm(x, (3,)), (randn(2, 3),), '"rms_norm"(%x) {normalized_shape = [3 : i64]}'),
    (
        "softmax whole",
        lambda x: x.softmax(-1),
        (randn(2, 3),),
        '"_softmax"(%x) {dim = -1 : i64, half_to_float = false}',
    ),
    (
        "attention whole",
        lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True),
        (randn(*Q), randn(*Q), randn(*Q)),
        '"scaled_dot_product_attention"(%q, %k, %v) {is_causal = true}',
    ),
    (
        "attention with all it has",
        lambda q, k, m: F.scaled_dot_product_attention(q, k, k, m, scale=0.5, enable_gqa=True),
        (randn(2, 4, 8, 4), randn(*Q), randn(8, 8)),
        '"scaled_dot_product_attention"(%q, %k, %k, %m) {scale = 5.000000e-01 : f64, enable_gqa = true}',
    ),
]


@pytest.mark.parametrize(
    ("function", "inputs", "expected"), [case[1:] for case in ARGUMENTS], ids=[c[0] for c in ARGUMENTS]
)
def test_arguments(function: Callable[..., Any], inputs: tuple[torch.Tensor, ...], expected: str) -> None:
    (line,) = lines(import_function(function, *inputs))
    assert line.partition("torch.aten ")[2] == expected


@pytest.mark.parametrize(("function", "inputs"), [case[1:3] for case in ARGUMENTS], ids=[c[0] for c in ARGUMENTS])
@pytest.mark.parametrize("locations", [False, True])
def test_round_trip(function: Callable[..., Any], inputs: tuple[torch.Tensor, ...], locations: bool) -> None:
    module = import_function(function, *inputs).module
    module.verify()
    printed = text(module, locations)
    assert text(parse(printed), locations) == printed


def test_results_that_nobody_uses_are_kept() -> None:
    imported = import_function(lambda x: x.max(1).values, randn(2, 3))
    (op,) = operations(imported)
    assert [str(type) for type in op.result_types] == ["tensor<2xf32>", "tensor<2xi64>"]


def test_results_of_a_list_are_told_apart() -> None:
    imported = import_function(lambda x: torch.split(x, [1, 2])[1], randn(3))
    (op,) = operations(imported)
    assert [str(type) for type in op.result_types] == ["tensor<1xf32>", "tensor<2xf32>"]
    assert imported.function.get_return_op() is not None
    assert list(imported.function.get_return_op().operands) == [op.results[1]]  # pyright: ignore[reportOptionalMemberAccess]


def test_every_dtype_has_one_element_type() -> None:
    for dtype, element in ELEMENT_TYPES.items():
        assert tensor_type(torch.zeros(2, dtype=dtype)).element_type == element
        assert dtype_of(element) == dtype


@pytest.mark.parametrize("dtype", [torch.complex64, torch.float8_e4m3fn, torch.uint16])
def test_other_dtypes_are_refused(dtype: torch.dtype) -> None:
    with pytest.raises(UnsupportedError, match=str(dtype).removeprefix("torch.")):
        tensor_type(torch.empty(2, dtype=dtype))


def test_all_problems_are_told_at_once_with_their_lines() -> None:
    def forward(x: torch.Tensor) -> torch.Tensor:
        y = torch.fft.fft(x).real
        return y + x.to(torch.float8_e5m2).float()

    with pytest.raises(UnsupportedProgramError) as caught:
        import_function(forward, randn(3))
    first, second = caught.value.problems
    line = forward.__code__.co_firstlineno
    assert first.location.endswith(f"test_frontend_importer.py:{line + 1}")
    assert first.subject == "aten._fft_r2c.default"
    assert "complex64" in first.reason
    assert second.location.endswith(f":{line + 2}")
    assert "float8_e5m2" in second.reason
    assert str(caught.value).splitlines() == [str(first), str(second)]


def test_a_size_without_upper_bound_is_refused_by_name() -> None:
    dynamic = {"x": {0: torch.export.Dim("batch")}}
    exported = torch.export.export(Call(lambda x: x + 1), (randn(4, 3),), dynamic_shapes=dynamic)
    with pytest.raises(UnsupportedProgramError, match=r"batch \(dimension 0 of x\) has no upper bound"):
        import_program(exported)


def test_operations_of_others_are_refused_by_name() -> None:
    with pytest.raises(UnsupportedProgramError, match="cond"):
        import_function(
            lambda x: torch.cond(x.sum() > 0, lambda y: y.sin(), lambda y: y.cos(), (x,)),  # pyright: ignore
            randn(3),
        )


def test_what_follows_from_a_refused_size_is_not_told() -> None:
    """Of the comparisons that bound the number of elements nothing is said."""
    with pytest.raises(UnsupportedProgramError) as caught:
        import_function(lambda x: x.masked_select(x > 0) + 1, randn(3))
    (problem,) = caught.value.problems
    assert problem.subject == "aten.masked_select.default"
    assert "depend on data are not supported; torch.where" in problem.reason


def test_checks_of_linear_algebra_are_left_out() -> None:
    """They come with a token for their order, among the arguments and among the results."""
    imported = import_function(lambda x: torch.linalg.inv(x), randn(3, 3))
    assert [argument.name for argument in imported.arguments] == ["x"]
    assert [op.overload.data for op in operations(imported)] == ["linalg_inv_ex"]
    assert len(imported.results) == 1


def test_effects_are_refused_by_name() -> None:
    with torch.library._scoped_library("importer_test", "DEF") as library:  # pyright: ignore[reportPrivateUsage]
        library.define("log(Tensor x) -> Tensor")
        library.impl("log", lambda x: x + 1, "CompositeExplicitAutograd")
        overload = torch.ops.importer_test.log.default
        handle = _register_effectful_op(overload, EffectType.ORDERED)
        try:
            with pytest.raises(
                UnsupportedProgramError, match=r"importer_test\.log\.default: an operation with an effect"
            ):
                import_function(lambda x: torch.ops.importer_test.log(x), torch.ones(3))
        finally:
            handle.destroy()


@pytest.mark.parametrize(
    ("function", "tensor", "reason"),
    [
        (lambda x: x.as_strided((2, 2), (2, 1)), torch.ones(3, 4).t(), r"strides \(1, 4\)"),
        (lambda x: x.as_strided((2, 2), (2, 1), 1), torch.ones(4, 4)[1:], r"strides \(4, 1\) from 4 on"),
        (lambda x: (x + 1).t().as_strided((2, 2), (2, 1)), torch.ones(3, 4), r"strides \(1, 4\)"),
        (lambda x: torch.as_strided_copy(x, (2, 2), (2, 1)), torch.ones(3, 4).t(), r"strides \(1, 4\)"),
        (
            lambda x: torch.as_strided_scatter(x, torch.ones(2, 2), (2, 2), (2, 1)),
            torch.ones(3, 4)[:, 1:],
            r"strides \(4, 1\)",
        ),
    ],
)
def test_places_in_memory_that_uop_does_not_keep(function: Any, tensor: torch.Tensor, reason: str) -> None:
    with pytest.raises(UnsupportedProgramError, match=rf"{reason}, which uop does not keep; use permute"):
        import_function(function, tensor)


def test_places_in_memory_of_a_contiguous_tensor() -> None:
    module = import_function(lambda x: x.t().contiguous().as_strided((2, 2), (3, 1), 1), torch.ones(3, 4)).module
    ConvertTorchToUopPass().apply(Context(), module)
    (value,) = interpret_program(module, "forward", [np.arange(12.0, dtype=np.float32).reshape(3, 4)])
    np.testing.assert_array_equal(value, [[4, 8], [5, 9]])


def test_places_in_memory_from_the_first_element_on() -> None:
    """Of a view that begins somewhere in a memory, where no offset is given."""
    module = import_function(lambda x: x.as_strided((2, 2), (3, 1)), torch.arange(9.0)[4:]).module
    ConvertTorchToUopPass().apply(Context(), module)
    (value,) = interpret_program(module, "forward", [np.arange(5, dtype=np.float32)])
    np.testing.assert_array_equal(value, [[0, 1], [3, 4]])


def test_out_of_another_dtype() -> None:
    """Of `aminmax`, which only eager PyTorch refuses."""

    def into(dtype: torch.dtype) -> Imported:
        outs = [torch.empty(3, dtype=dtype) for _ in range(2)]
        return import_function(lambda x, low, high: torch.aminmax(x, dim=0, out=(low, high)), randn(2, 3), *outs)

    assert [op.overload.data for op in operations(into(torch.float32))] == ["amin", "amax"]
    with pytest.raises(UnsupportedProgramError, match=r"aminmax\.out: its input and `out` have dtypes float32, float6"):
        into(torch.float64)


class Everything(nn.Module):
    """Parameters, buffers that change, an attribute, a literal, a nested input and a nested output."""

    def __init__(self) -> None:
        super().__init__()
        self.net = nn.Sequential(nn.RMSNorm(4), nn.BatchNorm1d(4))
        self.register_buffer("scale", torch.full((4,), 2.0), persistent=False)
        self.table = torch.arange(4.0)

    def forward(self, batch: dict[str, torch.Tensor], times: int, *, shift: torch.Tensor) -> Any:
        y = self.net(batch["x"]) * self.scale + self.table * torch.tensor(3.0)
        return {"y": y * times, "none": None}, [batch["x"] + shift, times], y


def test_operators_of_other_libraries() -> None:
    """They come in with their namespace, and go no further than a refusal that names them."""
    with torch.library._scoped_library("importer_test", "DEF") as library:  # pyright: ignore[reportPrivateUsage]
        library.define("twice(Tensor x) -> Tensor")
        library.impl("twice", lambda x: x + x, "CompositeExplicitAutograd")
        imported = import_function(lambda x: torch.ops.importer_test.twice(x), torch.ones(3))
    assert [op.overload.data for op in operations(imported)] == ["importer_test::twice"]
    assert text(parse(text(imported.module))) == text(imported.module)
    with pytest.raises(CannotLower, match="`importer_test::twice` on tensor<3xf32>: no lowering for this overload"):
        ConvertTorchToUopPass().apply(Context(), imported.module)


@pytest.mark.parametrize(
    ("constant", "number"),
    [
        (torch.tensor(2.5), FloatAttr(2.5, f64)),
        (torch.tensor(-0.0, dtype=torch.bfloat16), FloatAttr(-0.0, f64)),
        (torch.tensor(float("-inf"), dtype=torch.float16), FloatAttr(float("-inf"), f64)),
        (torch.tensor([[7, 7], [7, 7]]), IntegerAttr(7, i64)),
        (torch.tensor([200], dtype=torch.uint8), IntegerAttr(200, i64)),
        (torch.tensor([True, True]), IntegerAttr(1, i1)),
    ],
    ids=str,
)
def test_a_constant_of_one_number_is_no_argument(constant: torch.Tensor, number: Attribute) -> None:
    imported = import_function(lambda x: x.to(constant.dtype) + constant, torch.ones(2))
    assert [argument.name for argument in imported.arguments] == ["x"]
    full = operations(imported)[0]
    assert full.overload.data == "full"
    assert full.arguments.data["fill_value"] == number
    assert full.results[0].type == tensor_type(constant)
    assert source_lines(full.location) == source_lines(operations(imported)[-1].location)


@pytest.mark.parametrize("constant", [torch.tensor([0.0, -0.0]), torch.arange(3), torch.ones(0)], ids=str)
def test_other_constants_are_arguments(constant: torch.Tensor) -> None:
    imported = import_function(lambda x: x + constant, torch.ones(1))
    assert sorted(argument.kind.value for argument in imported.arguments) == ["constant", "user input"]


def test_arguments_and_results_of_a_module() -> None:
    x, shift = randn(2, 4), randn(4)
    imported = import_exported(Everything(), ({"x": x}, 2), {"shift": shift})
    kinds = {argument.name: (argument.kind, argument.source, argument.leaf) for argument in imported.arguments}
    assert kinds == {
        "net_0_weight": (ArgumentKind.PARAMETER, "net.0.weight", None),
        "net_1_weight": (ArgumentKind.PARAMETER, "net.1.weight", None),
        "net_1_bias": (ArgumentKind.PARAMETER, "net.1.bias", None),
        "net_1_running_mean": (ArgumentKind.BUFFER, "net.1.running_mean", None),
        "net_1_running_var": (ArgumentKind.BUFFER, "net.1.running_var", None),
        "net_1_num_batches_tracked": (ArgumentKind.BUFFER, "net.1.num_batches_tracked", None),
        "scale": (ArgumentKind.BUFFER, "scale", None),
        "table": (ArgumentKind.CONSTANT, "table", None),
        "batch_x": (ArgumentKind.USER_INPUT, "batch_x", 0),
        "shift": (ArgumentKind.USER_INPUT, "shift", 2),
    }
    assert [argument.name_hint for argument in imported.function.body.block.args] == list(
        argument.name for argument in imported.arguments
    )
    values = {argument.name: argument.value for argument in imported.arguments}
    assert values["batch_x"] is None
    assert torch.equal(values["table"], torch.arange(4.0))  # pyright: ignore[reportArgumentType]

    mutated = [result for result in imported.results if result.kind is ResultKind.BUFFER_MUTATION]
    assert [result.target for result in mutated] == [
        "net.1.running_mean",
        "net.1.running_var",
        "net.1.num_batches_tracked",
    ]
    assert [result.index for result in imported.results] == [0, 1, 2, 3, None, 4, None, 5]
    assert imported.user_outputs(["m", "v", "n", "a", "b", "c"]) == ({"y": "a", "none": None}, ["b", 2], "c")


def test_a_mutated_user_input_is_a_result() -> None:
    imported = import_function(lambda x: x.add_(1) * 2, randn(3))
    mutation, output = imported.results
    assert (mutation.kind, mutation.target) == (ResultKind.USER_INPUT_MUTATION, "x")
    assert (output.kind, output.index) == (ResultKind.USER_OUTPUT, 1)


def test_one_value_may_be_returned_twice_and_an_argument_as_it_is() -> None:
    imported = import_function(lambda x: (x, (y := x + 1), y), randn(3))
    returned = imported.function.get_return_op()
    assert returned is not None
    argument, first, second = returned.operands
    assert argument is imported.function.body.block.args[0]
    assert first is second


def test_names_are_unique_identifiers() -> None:
    assert identifier("layers.0.weight") == "layers_0_weight"
    assert identifier("input_1") == "input1"  # xDSL would print it as %input
    assert identifier("0.weight") == "p0_weight"
    assert identifier("...") == "input"
    assert unique_identifiers(["x", "x", "x2", "x"]) == ["x", "x3", "x2", "x4"]
    assert unique_identifiers(["a.b", "a_b"]) == ["a_b", "a_b2"]
    assert readable_name("0.weight", {"0": "RMSNorm"}) == "rmsnorm0.weight"
    assert readable_name("0.1.weight", {"0": "Block", "0.1": "Linear"}) == "block0.1.weight"
    assert readable_name("w", {}) == "w"


def test_names_survive_the_text() -> None:
    model = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 4))
    module = import_exported(model, (randn(2, 4),)).module
    function = parse(text(module)).body.block.first_op
    assert isinstance(function, FuncOp)
    names = ["linear0_weight", "linear0_bias", "linear1_weight", "linear1_bias", "input"]
    assert [argument.name_hint for argument in function.body.block.args] == names


MODEL = """\
import torch
from torch import nn


def scaled(x):
    return (x *
            2)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x):
        with torch.no_grad():
            y = self.linear(x)
            y = torch.sin(y)
        with torch.autocast("cpu", enabled=False):
            y = y @ y
        return scaled(
            y)
"""


def load(path: Path) -> Any:
    scope: dict[str, Any] = {"__name__": "model"}
    exec(compile(path.read_text(), str(path), "exec"), scope)
    return scope["Model"]()


def test_locations_are_the_users_innermost_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "model.py"
    path.write_text(MODEL)
    model = load(path)
    monkeypatch.chdir(tmp_path)
    found = {op.overload.data: source_lines(op.location) for op in operations(import_exported(model, (randn(4, 4),)))}
    assert found == {
        "permute": ["model.py:17"],
        "addmm": ["model.py:17"],
        "sin": ["model.py:18"],
        "mm": ["model.py:20"],
        "mul.Tensor": ["model.py:6"],
    }


def test_a_file_elsewhere_keeps_its_path(tmp_path: Path) -> None:
    path = tmp_path / "model.py"
    path.write_text(MODEL)
    *_, last = operations(import_exported(load(path), (randn(4, 4),)))
    assert source_lines(last.location) == [f"{path}:6"]


def test_pytorchs_own_line_when_the_user_has_none() -> None:
    (op,) = operations(import_exported(nn.RMSNorm(4), (randn(2, 4),)))
    (line,) = source_lines(op.location)
    assert "torch/nn/modules/normalization.py:" in line


def test_no_operation_is_without_a_location() -> None:
    model = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True).eval()
    imported = import_exported(model, (randn(1, 4, 8),))
    assert len(operations(imported)) > 20
    assert not [op for op in imported.function.body.walk() if isinstance(op.location, UnknownLoc)]


def test_importing_leaves_the_exported_program_as_it_was() -> None:
    x = randn(2, 4)
    exported = export_module(Everything(), ({"x": x}, 2), {"shift": randn(4)})
    before = exported.graph_module.code
    first, second = (text(import_program(exported).module) for _ in range(2))
    assert first == second
    assert exported.graph_module.code == before


def test_nothing_is_printed(capfd: pytest.CaptureFixture[str]) -> None:
    import_exported(nn.MultiheadAttention(8, 2), (randn(3, 1, 8), randn(3, 1, 8), randn(3, 1, 8)))
    with pytest.raises(Exception, match=r"data-dependent|data dependent"):
        import_function(lambda x: x if x.sum() > 0 else -x, randn(3))
    assert capfd.readouterr() == ("", "")
