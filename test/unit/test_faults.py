"""What `--interpret-each` stands on: entries at every level, inputs, noise, and how far results may differ."""

import re
from pathlib import Path

import numpy as np
import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import Builtin, ModuleOp, f32
from xdsl.dialects.func import Func

from uop.dialects.semantics import ALU
from uop.rewriting.diagnostics import PassError
from uop.runtime.interpret import gpu_kernels
from uop.runtime.interpret.arrays import ExecutionError, NotExecutableError
from uop.runtime.interpret.entries import entries, execute, forms
from uop.runtime.interpret.noise import Noise, noisy
from uop.runtime.interpret.random_inputs import KINDS, index_limits, random_inputs
from uop.runtime.nvrtc import NvrtcNotFoundError
from uop.tools.diagnostics import Source
from uop.tools.driver import drive
from uop.tools.faults.checker import Checker
from uop.tools.parsing import parse_source
from uop.tools.pipeline import run_pipeline
from uop.tools.universe import UOP_UNIVERSE

PRODUCT = """\
func.func @f(%x: tensor<40x50xf32>, %y: tensor<50xf32>) -> tensor<40xf32> {
  %0 = uop.reshape %y : tensor<50xf32> -> tensor<1x50xf32>
  %1 = uop.expand %0 : tensor<1x50xf32> -> tensor<40x50xf32>
  %2 = uop.mul %x, %1 : tensor<40x50xf32>
  %3 = uop.reduce_axis add %2 axes [1] : (tensor<40x50xf32>) -> tensor<40x1xf32>
  %4 = uop.reshape %3 : tensor<40x1xf32> -> tensor<40xf32>
  func.return %4 : tensor<40xf32>
}
"""

GATHER = """\
func.func @f(%x: tensor<7xf32>, %i: tensor<3xi64>, %n: tensor<3xi64>) -> (tensor<3xf32>, tensor<3xi64>) {
  %0 = uop.gather %x, %i axis 0 : (tensor<7xf32>, tensor<3xi64>) -> tensor<3xf32>
  func.return %0, %n : tensor<3xf32>, tensor<3xi64>
}
"""

DIVISION = """\
func.func @f(%x: tensor<9xi32>, %y: tensor<9xi32>) -> tensor<9xi32> {
  %0 = uop.floordiv %x, %y : tensor<9xi32>
  func.return %0 : tensor<9xi32>
}
"""


def parse(text: str) -> ModuleOp:
    context = Context()
    for name, factory in UOP_UNIVERSE.all_dialects.items():
        context.register_dialect(name, factory)
    for dialect in (Builtin, Func):
        context.load_dialect(dialect)
    return parse_source(context, Source("test.mlir", text))[0]


@pytest.mark.parametrize(
    ("stage", "form"), [("partition", "tensor"), ("range", "range"), ("loop", "loop"), ("tile", "tile")]
)
def test_kernels_alone_are_entries_at_every_level(stage: str, form: str) -> None:
    module = parse(PRODUCT)
    run_pipeline(module, Context(), f"uop-to-cuda{{to={stage}}}")
    (function,) = entries(module)
    assert set(forms(module, function).values()) == {form}
    inputs = random_inputs(module, function, "integers", 0)
    (expected,) = execute(module, function, inputs).results
    last = module.body.block.last_op
    assert last is not None
    last.detach()
    last.erase()
    (kernel,) = entries(module)
    assert kernel.name == "f_0"
    (result,) = execute(module, kernel, inputs).results
    np.testing.assert_array_equal(result.reshape(-1), expected)


@pytest.mark.parametrize("kind", KINDS)
def test_indices_are_in_range(kind: str) -> None:
    module = parse(GATHER)
    (entry,) = entries(module)
    assert index_limits(module, entry) == [None, 7, None]
    indices = random_inputs(module, entry, kind, 3)[1]
    assert ((indices >= 0) & (indices < 7)).all()
    execute(module, entry, random_inputs(module, entry, kind, 3))


def test_inputs_depend_on_the_seed_alone() -> None:
    module = parse(PRODUCT)
    (entry,) = entries(module)
    for kind in KINDS:
        one, again, other = (random_inputs(module, entry, kind, seed) for seed in (1, 1, 2))
        np.testing.assert_array_equal(one[0], again[0])
        assert not np.array_equal(one[0], other[0])
    special = random_inputs(module, entry, "special", 0)[0]
    assert np.isnan(special).any()
    assert np.isinf(special).any()
    assert ((special != 0) & (np.abs(special) < 1e-38)).any()
    assert (np.signbit(special) & (special == 0)).any()


def test_faults_are_told_from_what_cannot_be_executed() -> None:
    module = parse(GATHER)
    (entry,) = entries(module)
    arrays = random_inputs(module, entry, "normal", 0)
    arrays[1][0] = 9
    with pytest.raises(ExecutionError, match="index 9 is outside axis 0") as fault:
        execute(module, entry, arrays)
    assert not isinstance(fault.value, NotExecutableError)
    module = parse("func.func @f(%x: f32) -> f32 { %0 = func.call @f(%x) : (f32) -> f32 func.return %0 : f32 }")
    with pytest.raises(NotExecutableError, match=r"func\.call has no meaning"):
        execute(module, entries(module)[0], [np.zeros((), np.float32)])


def test_noise_leaves_what_is_exact() -> None:
    noise = Noise(0, rounds=True)
    x = np.arange(1, 9, dtype=np.float32)
    for name, operands in (
        ("add", [x, x]),
        ("mul", [x, x]),
        ("div", [x, np.full(8, 4, np.float32)]),
        ("sqrt", [x * x]),
    ):
        result = ALU[name].numpy(np, *operands)
        np.testing.assert_array_equal(noise.alu(ALU[name], f32, operands, result), result)
    thirds = x / np.float32(3)
    moved = noise.alu(ALU["div"], f32, [x, np.full(8, 3, np.float32)], thirds)
    inexact = x % 3 != 0
    assert (moved[inexact] != thirds[inexact]).all()
    assert (np.abs(moved - thirds) <= 8 * np.spacing(thirds)).all()


def test_noise_gives_any_number_where_there_is_none() -> None:
    module = parse(DIVISION)
    (entry,) = entries(module)
    x, y = np.arange(9, dtype=np.int32), np.arange(9, dtype=np.int32) - 2
    (result,) = execute(module, entry, [x, y]).results
    with noisy(Noise(1, rounds=False)):
        (other,) = execute(module, entry, [x, y]).results
    assert ((result != other) == (y == 0)).all()


def test_what_divides_by_zero_may_change() -> None:
    checker = Checker(parse(DIVISION), 0)
    text = DIVISION.replace("uop.floordiv", "uop.floormod")
    finding = checker.check(parse(text), None)
    assert finding is not None
    # x ÷ y, with 5 where y is 0.
    guarded = """\
func.func @f(%x: tensor<9xi32>, %y: tensor<9xi32>) -> tensor<9xi32> {
  %c0 = uop.const 0 : i32
  %0 = uop.expand %c0 : i32 -> tensor<9xi32>
  %c5 = uop.const 5 : i32
  %5 = uop.expand %c5 : i32 -> tensor<9xi32>
  %1 = uop.eq %y, %0 : tensor<9xi32>
  %2 = uop.floordiv %x, %y : tensor<9xi32>
  %3 = uop.where %1, %5, %2 : tensor<9xi32>
  func.return %3 : tensor<9xi32>
}
"""
    assert Checker(parse(DIVISION), 0).check(parse(guarded), None) is None


def test_within_a_form_bits_count() -> None:
    checker = Checker(parse(PRODUCT), 0)
    assert checker.check(parse(PRODUCT), None) is None
    # y is scaled by the least factor above 1.
    scaled = PRODUCT.replace(
        "%2 = uop.mul %x, %1",
        "%c = uop.const 1.0000001 : f32\n%e = uop.expand %c : f32 -> tensor<40x50xf32>\n"
        "%s = uop.mul %1, %e : tensor<40x50xf32>\n%2 = uop.mul %x, %s",
    )
    assert checker.check(parse(scaled), None) is not None


@pytest.mark.parametrize("term", [0, 49])
def test_between_forms_one_wrong_element_counts(term: int) -> None:
    """One of 50 terms is left out of one sum of 40: everything else is as it was."""
    checker = Checker(parse(PRODUCT), 0)
    module = parse(PRODUCT)
    run_pipeline(module, Context(), "uop-to-cuda{to=range}")
    assert checker.check(module.clone(), None) is None
    wrong = str(module)
    product = next(line for line in wrong.split("\n") if "uop.mul" in line)
    name = product.split("=")[0].strip()
    guard = (
        f"%ci = uop.const 17 : index\n%ck = uop.const {term} : index\n%z = uop.const 0.0 : f32\n"
        f"%a = uop.eq %i, %ci : index\n%b = uop.eq %k, %ck : index\n%ab = uop.and %a, %b : i1\n"
        f"%left = uop.where %ab, %z, {name} : f32"
    )
    wrong = wrong.replace(product, f"{product}\n{guard}").replace(f"uop.reduce add {name}", "uop.reduce add %left")
    finding = Checker(parse(PRODUCT), 0).check(parse(wrong), None)
    assert finding is not None
    assert "element [17]" in finding.difference.what
    assert "1 of 40 elements differ" in finding.difference.what


def test_inputs_may_be_given(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A rule that is wrong for one number alone; bf16 is held as its bits, bool as bytes."""
    program = tmp_path / "program.mlir"
    program.write_text(
        "func.func @f(%x: tensor<2xbf16>, %b: tensor<2xi1>) -> tensor<2xbf16> {\n"
        "%0 = uop.neg %x : tensor<2xbf16>\n%1 = uop.where %b, %x, %0 : tensor<2xbf16>\n"
        "func.return %1 : tensor<2xbf16>\n}"
    )
    plugin = tmp_path / "wrong.py"
    plugin.write_text(
        "from uop.passes.rules_pass import rules_pass\nfrom uop.rewriting.patterns import FLOAT, variables\n"
        "from uop.rewriting.rules import Rules\nfrom uop.rewriting.vocabulary import eq, neg, where\n"
        '(x,) = variables("x", FLOAT)\n'
        "from uop.rewriting.driver import Order\n"
        'PASSES = [rules_pass("wrong", Rules(neg[x] >> where[eq[x, 1232.0], x, neg[x]]), Order.ONE_SWEEP)]\n'
    )
    inputs = tmp_path / "inputs"
    inputs.mkdir()
    bits = np.array([1232.0, 2.0], np.float32).view(np.uint32) >> 16
    np.save(inputs / "000_x.npy", bits.astype(np.uint16))
    np.save(inputs / "001_b.npy", np.array([0, 1], np.uint8))
    flags = [str(program), "--load", str(plugin), "-p", "wrong", "--interpret-each"]
    assert drive(flags) == 0
    capsys.readouterr()
    assert drive([*flags, "--interpret-inputs", str(inputs)]) == 1
    assert f"on inputs {inputs}: result 0, element [0], is 1232.0, not -1232.0" in capsys.readouterr().err


def test_another_signature_is_a_difference() -> None:
    finding = Checker(parse(PRODUCT), 0).check(parse(GATHER), None)
    assert finding is not None
    assert "values of other types" in finding.difference.what
    finding = Checker(parse(PRODUCT), 0).check(parse(PRODUCT.replace("@f", "@g")), None)
    assert finding is not None
    assert finding.difference.what == "it is gone"


def test_a_program_that_always_fails_is_refused() -> None:
    text = """\
func.func @f(%x: tensor<3xf32>) -> tensor<1xf32> {
  %0 = uop.const 5 : i64
  %1 = uop.expand %0 : i64 -> tensor<1xi64>
  %2 = uop.gather %x, %1 axis 0 : (tensor<3xf32>, tensor<1xi64>) -> tensor<1xf32>
  func.return %2 : tensor<1xf32>
}
"""
    with pytest.raises(PassError, match=r"fails whatever it is given: .*index 5 is outside axis 0"):
        Checker(parse(text), 0)


@pytest.mark.parametrize(
    ("text", "flags", "messages"),
    [
        (PRODUCT, "--interpret-each", ["uop-opt: error: --interpret-each needs passes"]),
        (PRODUCT, "--bisect -p cse", ["uop-opt: error: --bisect looks into the pass that --interpret-each names"]),
        (PRODUCT, "--interpret-inputs=. -p cse", ["--interpret-inputs is for --interpret-each: give that too"]),
        (PRODUCT, "--interpret-each --interpret-inputs=. -p cse", ["--interpret-inputs: there are no .npy files in ."]),
        (PRODUCT, "--interpret-each=abc -p cse", ["--interpret-each: the seed is a number such as 1, not 'abc'"]),
        (
            "func.func private @f()",
            "--interpret-each -p cse",
            ["error: there is nothing to run: the input has no"],
        ),
        (
            "func.func @f(%x: tensor<?xf32>) { func.return }",
            "--interpret-each -p cse",
            ["error: the input cannot be executed: @f: an argument of type tensor<?xf32> cannot be made up"],
        ),
        (
            'func.func @f(%x: tensor<3xf32>) -> tensor<3xf32> { %0 = torch.aten "relu"(%x) : (tensor<3xf32>) -> '
            "tensor<3xf32> %1 = uop.neg %0 : tensor<3xf32> func.return %1 : tensor<3xf32> }",
            "--interpret-each -p cse",
            ["error: the input cannot be executed: @f: uop.neg is not of the torch dialect"],
        ),
        ("func.func @f(", "--reduce=true", [":1:14: error: "]),
        (PRODUCT, "--reduce=/nowhere/command", ["the command does not fail on the input: it exits with 127"]),
        (
            PRODUCT,
            "--reduce -p uop-simplify",
            [
                "error: the passes do not fail on the input, so there is nothing to keep",
                "help: --interpret-each also looks for wrong results",
            ],
        ),
        (PRODUCT, "--reduce", ["uop-opt: error: --reduce needs a command, or passes that fail"]),
        (PRODUCT, "--reduce=true -p cse", ["uop-opt: error: --reduce: the command runs the passes"]),
        (PRODUCT, "--reduce=true --split-input-file", ["--reduce takes one program: leave out --split-input-file"]),
        (PRODUCT, "--reduce=true --reduce-seconds=soon", ["--reduce-seconds: a number is needed, not 'soon'"]),
        (PRODUCT, "--reduce=true -o program.mlir", ["--reduce: the output would replace the input"]),
    ],
)
def test_what_makes_no_sense_is_refused_in_words(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    text: str,
    flags: str,
    messages: list[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "program.mlir").write_text(text)
    assert drive(["program.mlir", *flags.split()]) in (1, 2)
    output = capsys.readouterr()
    for message in messages:
        assert message in output.err
    assert "Traceback" not in output.err
    assert output.out == ""
    assert (tmp_path / "program.mlir").read_text() == text


def test_without_nvrtc_gpu_kernels_are_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def missing(*arguments: object, **options: object) -> None:
        raise NvrtcNotFoundError("no NVRTC")

    monkeypatch.setattr(gpu_kernels, "compile_cuda", missing)
    program = tmp_path / "program.mlir"
    program.write_text(PRODUCT)
    assert drive([str(program), "--uop-to-cuda", "--interpret-each", "-t", "cuda"]) == 0
    output = capsys.readouterr()
    assert "what 'convert-tile-to-gpu-kernel' leaves is not checked: @f: NVRTC is not installed: pip" in output.err
    assert re.search(r"interpret-each: \d+ passes that change the program agree, 2 not executed", output.err)
    assert "__global__" in output.out


def test_in_gpu_kernel_form_the_simulator_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Products that it fuses with sums count as the same; a lost store does not."""
    program = tmp_path / "program.mlir"
    program.write_text(PRODUCT)
    assert drive([str(program), "--uop-to-cuda", "--interpret-each", "-o", str(tmp_path / "gpu.mlir")]) == 0
    assert re.search(
        r"interpret-each: \d+ passes that change the program agree$", capsys.readouterr().err, re.MULTILINE
    )
    module = parse((tmp_path / "gpu.mlir").read_text())
    checker = Checker(module.clone(), 0)
    assert checker.check(module.clone(), None) is None
    store = [op for op in module.walk() if op.name == "gpu_kernel.store"][-1]
    store.detach()
    store.erase()
    finding = checker.check(module, None)
    assert finding is not None
    assert finding.difference.kernel == "f_0"
    assert "is nan, not" in finding.difference.what
