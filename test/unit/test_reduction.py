"""`uop-opt --reduce`: a large program that shows a wrong rule comes out small, the same each time."""

import time
from pathlib import Path

import pytest
from xdsl.dialects.builtin import ModuleOp

from uop.passes.uop.rules import plugins as rule_plugins
from uop.tools.driver import drive
from uop.tools.faults import shrinking
from uop.tools.faults.reduction import Limits, Reducer

ROOT = Path(__file__).parents[2]
WRONG_RULES = str(ROOT / "test" / "tools" / "inputs" / "wrong_rules.py")
TENSOR = "tensor<16x32xf32>"


@pytest.fixture(autouse=True)
def _own_rules(monkeypatch: pytest.MonkeyPatch) -> None:  # pyright: ignore[reportUnusedFunction]  # pytest calls it
    """Rules that a test loads are gone after it."""
    monkeypatch.setattr(rule_plugins, "_rules", rule_plugins.simplify_rules())


def large_program() -> str:
    """200 ops, two of which are √(x · x)."""
    steps = ("uop.add {}, %y", "uop.sin {}", "uop.mul {}, %we", "uop.sub {}, %x", "uop.tanh {}")
    last = "%x"
    lines = [
        f"func.func @forward(%x: {TENSOR}, %y: {TENSOR}, %w: tensor<32xf32>) -> ({TENSOR}, tensor<16x1xf32>) {{",
        "%wr = uop.reshape %w : tensor<32xf32> -> tensor<1x32xf32>",
        f"%we = uop.expand %wr : tensor<1x32xf32> -> {TENSOR}",
    ]
    for i in range(193):
        lines.append(f"%v{i} = {steps[i % 5].format(last)} : {TENSOR}")
        last = f"%v{i}"
        if i == 120:
            lines += [f"%square = uop.mul {last}, {last} : {TENSOR}", f"%root = uop.sqrt %square : {TENSOR}"]
            last = "%root"
        if i == 40:
            lines += [
                f"%s = uop.reduce_axis add {last} axes [1] : ({TENSOR}) -> tensor<16x1xf32>",
                f"%e = uop.expand %s : tensor<16x1xf32> -> {TENSOR}",
            ]
            last = "%e"
    lines += [
        f"%r = uop.reduce_axis add {last} axes [1] : ({TENSOR}) -> tensor<16x1xf32>",
        f"func.return {last}, %r : {TENSOR}, tensor<16x1xf32>",
        "}",
    ]
    return "\n".join(lines)


def test_a_large_program_comes_out_small(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = tmp_path / "large.mlir"
    source.write_text(large_program())
    flags = ["--load", WRONG_RULES, "-p", "uop-simplify", "--interpret-each", "--bisect"]
    assert drive([str(source), *flags]) == 1
    error = capsys.readouterr().err
    assert "'uop-simplify' changes what @forward computes" in error
    assert "sqrt[mul[x, x]] >> x" in error
    outputs: list[str] = []
    for name in ("one.mlir", "again.mlir"):
        assert drive([str(source), *flags, "--reduce", "-o", str(tmp_path / name)]) == 0
        assert "reduce: 200 ops to 2 in" in capsys.readouterr().err
        outputs.append((tmp_path / name).read_text())
    assert outputs[0] == outputs[1]
    assert source.read_text() == large_program()
    assert drive([str(tmp_path / "one.mlir"), *flags]) == 1  # it still shows the same
    assert "sqrt[mul[x, x]] >> x" in capsys.readouterr().err


def test_a_command_that_hangs_is_ended(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Candidates without the reduction sleep; they are given up after about a second each."""
    source = tmp_path / "input.mlir"
    source.write_text(large_program())
    start = time.monotonic()
    command = "grep -q reduce_axis %s || sleep 100"
    assert drive([str(source), f"--reduce={command}", "--reduce-seconds=2"]) == 0
    assert time.monotonic() - start < 20
    output = capsys.readouterr()
    assert "stopped before the end" in output.err
    assert "reduce_axis" in output.out


def make_reducer(module: ModuleOp, interrupts: bool) -> Reducer:
    def interesting(candidate: ModuleOp) -> bool:
        if interrupts:
            raise KeyboardInterrupt
        return True

    return Reducer(
        module,
        interesting,
        limits=Limits(1000, 60),
        text=str,
        parse=lambda text: None,
        on_try=lambda reducer: None,
    )


def test_an_interrupted_reduction_gives_what_it_has() -> None:
    module = ModuleOp([])
    reducer = make_reducer(module, True)
    assert reducer.reduce() is module


@pytest.mark.parametrize(
    ("text", "extents", "expected"),
    [
        ("tensor<64x16xf32>", {64: 2}, "tensor<2x16xf32>"),
        ("%64 = uop.range i = 64", {64: 2}, "%64 = uop.range i = 2"),
        ("shape [64, 640]", {64: 2, 640: 20}, "shape [2, 20]"),
        ('uop.const 64.0 : f64 loc("a64.py":64:64)', {64: 2}, 'uop.const 64.0 : f64 loc("a64.py":64:64)'),
        ("memref<64xf32, strided<[64, 1]>>", {64: 1}, "memref<1xf32, strided<[1, 1]>>"),
    ],
)
def test_extents_are_replaced_where_they_stand_alone(text: str, extents: dict[int, int], expected: str) -> None:
    assert shrinking.with_extents(text, extents) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("%f16 = uop.cast %x : tensor<4xf16> -> f16", "%f16 = uop.cast %x : tensor<4xf32> -> f32"),
        ("@f16 bf16", "@f16 bf16"),
    ],
)
def test_types_are_replaced_where_they_are_types(text: str, expected: str) -> None:
    assert shrinking.with_type(text, "f16", "f32") == expected
