"""`uop check`: each verdict, what survives a crash, how reasons are counted, and that wrong results are found."""

import json
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest
import torch
from torch.testing._internal.opinfo.core import SampleInput
from xdsl.dialects.builtin import ModuleOp, i64
from xdsl.ir import Attribute

from uop.dialects.monoids import Number
from uop.frontends.capture import capture_function
from uop.passes.torch.lowerings import LOWERINGS
from uop.passes.torch.lowerings.lowering import Lowering
from uop.passes.torch.lowerings.registry import Rule
from uop.passes.torch.lowerings.tensor import Tensor
from uop.runtime.interpret import tensors
from uop.runtime.nvrtc import Resources
from uop.runtime.program import CompiledKernel, Program
from uop.tools import check_command, uop
from uop.tools.checking import batches, levels, opinfo
from uop.tools.checking.batches import run_in_batches
from uop.tools.checking.cases import BadCaseFile, CaseSuite, ExpressionCase, StatedCase, read_cases
from uop.tools.checking.judging import by_eager
from uop.tools.checking.models import MODELS, ModelSuite
from uop.tools.checking.opinfo import DTYPES, ERRORS, OpCase, OpInfoSuite
from uop.tools.checking.outcomes import Batch, Outcome, Suite, Verdict, cases_of
from uop.tools.checking.summary import JsonFile, reasons_by_verdict
from uop.tools.checking.workers import run_suite
from uop.tools.uop import CHECK_LEVELS, EXECUTED_LEVELS, main

CASES = Path(__file__).parents[1] / "cases"

ALL_LEVELS = ("tensors", "loops", "cuda")


def verdicts(suite: Suite[Any], case: Any) -> list[str]:
    return [outcome.verdict.value for outcome in suite.check(case)]


def expression(code: str, at: Sequence[str] = ALL_LEVELS) -> list[str]:
    return verdicts(CaseSuite("", at), ExpressionCase(code))


def test_command_line_names_what_there_is() -> None:
    assert tuple(levels.LEVELS) == CHECK_LEVELS
    assert levels.EXECUTED == EXECUTED_LEVELS
    assert tuple(DTYPES) == uop.DTYPES


def test_right_at_every_level() -> None:
    code = "torch.softmax(torch.randn(3, 5), 1), torch.randn(4).bfloat16() * 2, torch.randn(4) > 0"
    assert expression(code) == ["right"] * 3


@pytest.mark.parametrize(("error", "right"), [(0.0, True), (3e-8, True), (1e-5, False), (float("nan"), False)])
def test_a_mean_that_cancels_is_judged_by_its_terms(error: float, right: bool) -> None:
    """The mean of numbers near 1 is 2⁻²³: eager PyTorch has it exactly, and 3e-8 is a quarter of it."""
    x = torch.tensor([1.0, -1.0, 1.0 + 2**-21, -1.0])

    def mean(x: torch.Tensor) -> torch.Tensor:
        return x.mean()

    captured = capture_function(mean, lambda: [x], "mean")
    judge = by_eager(captured)([x])
    assert (judge([torch.tensor(2**-23 + error)]) is None) == right


def test_a_result_that_rounding_does_not_move_is_judged_by_itself() -> None:
    x = torch.tensor([3.0, 4.0])

    def exp(x: torch.Tensor) -> torch.Tensor:
        return x.exp()

    judge = by_eager(capture_function(exp, lambda: [x], "exp"))([x])
    assert judge([torch.exp(x)]) is None
    assert judge([torch.exp(x) * (1 + 2e-5)]) is not None


def test_refused_by_name() -> None:
    (outcome,) = CaseSuite("", ["tensors"]).check(ExpressionCase("torch.linalg.svd(torch.randn(3, 3))[1]"))
    assert outcome.verdict is Verdict.REFUSED
    assert "svd" in outcome.reasons[0]


def test_not_exported() -> None:
    assert expression("torch.nonzero(torch.randn(4))", ["tensors"]) == ["not exported"]


def test_too_much_work() -> None:
    assert expression("torch.randn(3000, 3000) @ torch.randn(3000, 300)") == ["too slow"] * 3


def unchanged(lowering: Lowering, self: Tensor) -> Tensor:
    """A wrong lowering of whatever it is planted for."""
    return self


def test_wrong_lowering_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(LOWERINGS, "sin", Rule(unchanged))
    assert expression("torch.sin(torch.randn(4))") == ["wrong"] * 3


def squared_above_1(lowering: Lowering, self: Tensor, exponent: Number) -> Tensor:
    """A wrong lowering of squares: 0 where the operand is less than 1."""
    return (self < 1.0).where(0.0, self * self)


def test_small_elements_beside_great_ones_are_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(LOWERINGS, "pow.Tensor_Scalar", Rule(squared_above_1))
    (outcome,) = CaseSuite("", ["tensors"]).check(ExpressionCase("(torch.rand(5) + torch.arange(5) * 1e4) ** 2"))
    assert (outcome.verdict, outcome.reasons) == (Verdict.WRONG, ("1 of 5 elements are not close",))


def test_broken_interpreter_is_a_crash(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise KeyError("x")

    monkeypatch.setattr(tensors, "_check_arguments", broken)
    outcome, other = CaseSuite("", ["tensors", "loops"]).check(ExpressionCase("torch.randn(3) + 1"))
    assert (outcome.verdict, outcome.reasons) == (Verdict.CRASH, ("KeyError: 'x'",))
    assert "Traceback" in outcome.detail
    assert other.verdict is Verdict.RIGHT


def test_stated_values() -> None:
    code = "import torch\ndef inputs(): return (torch.arange(3.),)\ndef fn(x): return x + 1, None"
    suite = CaseSuite("", ["tensors"])
    assert verdicts(suite, StatedCase("a", code, "def expect(x): return x + 1, None", 0)) == ["right"]
    assert verdicts(suite, StatedCase("b", code, "def expect(x): return x + 1.001, None", 1e-2)) == ["right"]
    assert verdicts(suite, StatedCase("c", code, "def expect(x): return x + 1.001, None", 1e-5)) == ["wrong"]
    assert verdicts(suite, StatedCase("d", code, "def expect(x): return (x + 1)[None], None", 1)) == ["wrong"]
    assert verdicts(suite, StatedCase("e", code, "def expect(x): return x + 1, x", 1)) == ["wrong"]
    assert verdicts(suite, StatedCase("f", code, "def expect(x): return None, x + 1", 1)) == ["wrong"]
    assert verdicts(suite, StatedCase("g", code, "def expect(x): return x + 1", 1)) == ["wrong"]


def test_operations() -> None:
    suite = OpInfoSuite(["tensors"])
    assert verdicts(suite, OpCase("nn.functional.gelu", "f32", 0)) == ["right"]
    assert verdicts(suite, OpCase("cat", "f16", 0)) == ["right"]
    for less_exact_in_pytorch in ("polygamma.polygamma_n_1", "special.bessel_y1"):
        assert verdicts(suite, OpCase(less_exact_in_pytorch, "f64", 0)) == ["right"]
    assert verdicts(suite, OpCase("polygamma.polygamma_n_1", "i8", 0)) == ["unspecified"]  # at poles
    # The program holds new statistics in f32, which eager PyTorch makes in bf16.
    assert verdicts(suite, OpCase("native_batch_norm", "bf16", 0)) == ["right"]
    assert verdicts(suite, OpCase("linalg.svd", "f32", 0)) == ["refused"]
    assert verdicts(suite, OpCase("bernoulli", "f32", 0)) == ["refused"]


def zeros(lowering: Lowering, size: list[int], *, dtype: Attribute | None = None) -> Tensor:
    """A wrong lowering of random numbers."""
    return lowering.full(size, 0.0)


def test_what_is_not_determined_is_not_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(LOWERINGS, "rand", Rule(zeros))
    (outcome,) = OpInfoSuite(["tensors"]).check(OpCase("bernoulli", "f32", 0))
    assert (outcome.verdict, outcome.reasons) == (Verdict.UNSPECIFIED, ("it draws random numbers",))


def last_of_equals(lowering: Lowering, self: Tensor, k: int, dim: int = -1, keepdim: bool = False) -> list[Tensor]:
    """Of what is equal throughout, the last place."""
    return [lowering.full((), 0.0), lowering.full((), self.shape[dim] - 1, i64)]


def test_places_of_equal_elements_are_not_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    suite = OpInfoSuite(["tensors"])
    samples = [SampleInput(torch.zeros(4), args=(2,)), SampleInput(torch.arange(4.0), args=(1,))]

    def two_samples(*_: object) -> list[SampleInput]:
        return samples

    monkeypatch.setattr(opinfo, "_samples", two_samples)
    monkeypatch.setitem(LOWERINGS, "kthvalue", Rule(last_of_equals))
    assert [verdicts(suite, OpCase("kthvalue", "f32", number)) for number in range(2)] == [["right"], ["wrong"]]


def zero_places(lowering: Lowering, self: Tensor, boundaries: Tensor) -> Tensor:
    """A wrong lowering of places in a sequence."""
    return lowering.full(self.shape, 0)


def test_what_eager_refuses_must_be_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    suite = OpInfoSuite(["tensors"])
    assert verdicts(suite, OpCase("gather", ERRORS, 0)) == ["right"]
    assert verdicts(suite, OpCase("bucketize", ERRORS, 0)) == ["right"]  # which only eager PyTorch refuses
    assert verdicts(suite, OpCase("index_add", ERRORS, 0)) == ["right"]
    monkeypatch.setitem(LOWERINGS, "bucketize.Tensor", Rule(zero_places))
    (outcome,) = suite.check(OpCase("bucketize", ERRORS, 0))
    assert (outcome.verdict, outcome.reasons) == (Verdict.WRONG, ("gives numbers where PyTorch raises RuntimeError",))


def test_operations_are_chosen() -> None:
    suite = OpInfoSuite(["tensors"], ("f32", "i64"), match="floor_divide")
    assert [str(case) for case in suite.cases()] == ["floor_divide f32 #0", "floor_divide i64 #0"]
    every = OpInfoSuite(["tensors"], ("f32",), samples=None, match="floor_divide").cases()
    assert len(every) > 3
    some = OpInfoSuite(["tensors"], ("f32",), samples=3, match="floor_divide").cases()
    assert [case.number for case in some] == [0, (len(every) - 1) // 2, len(every) - 1]
    assert len(OpInfoSuite(["tensors"], limit=7).cases()) <= 7


def test_models() -> None:
    assert len(MODELS) >= 25
    outcomes = list(ModelSuite(("tensors", "loops")).check("t5"))
    assert [outcome.verdict for outcome in outcomes] == [Verdict.RIGHT] * 2


class SpillingKernel(CompiledKernel):
    """A kernel of which the compiler says that it spills."""

    @property
    def resources(self) -> Resources:
        return replace(super().resources, spill_store_bytes=8)


class Spilling(Program):
    """Of such kernels."""

    def __init__(self, module: ModuleOp) -> None:
        super().__init__(module)
        self.kernels |= {name: SpillingKernel(each.kernel, each.lines) for name, each in self.kernels.items()}


@pytest.mark.parametrize("arch", ["sm_80", "sm_100"])
def test_compiled_for_an_architecture(arch: str, monkeypatch: pytest.MonkeyPatch) -> None:
    code = "torch.randn(4) + 1"
    assert expression(code, [arch]) == ["right"]
    monkeypatch.setattr(levels, "Program", Spilling)
    (outcome,) = CaseSuite("", [arch]).check(ExpressionCase(code))
    assert (outcome.verdict, outcome.reasons) == (Verdict.WRONG, ("a kernel spills registers",))


def test_crash_and_endless_loop_end_one_case_only() -> None:
    codes = [
        "torch.randn(3) + 1",
        "import os\nos._exit(3)\ntorch.randn(3)",
        "while True: pass\ntorch.randn(3)",
        "torch.randn(4) + 1",
    ]
    suite = CaseSuite("", ("tensors", "loops"))
    outcomes = list(run_suite(suite, [ExpressionCase(code) for code in codes], time_limit=8))
    by_case = {code: [o for o in outcomes if o.case == code] for code in codes}
    expected = (Verdict.RIGHT, Verdict.CRASH, Verdict.TOO_SLOW, Verdict.RIGHT)
    for code, verdict in zip(codes, expected, strict=True):
        assert [outcome.verdict for outcome in by_case[code]] == [verdict] * 2
    assert by_case[codes[1]][0].reasons == ("the process ended with status 3",)
    assert by_case[codes[2]][0].reasons == ("ran past 8 s of CPU time",)


def test_sleeping_ends() -> None:
    case = ExpressionCase("import time\ntime.sleep(1000)\ntorch.randn(3)")
    (outcome,) = run_suite(CaseSuite("", ["tensors"]), [case], time_limit=4, patience=0.5)
    assert (outcome.verdict, outcome.reasons) == (Verdict.TOO_SLOW, ("took more than 2 s",))


def test_interrupted_run_leaves_what_it_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> Iterator[Outcome]:
        yield Outcome("torch.ones(3)", "tensors", Verdict.RIGHT)
        assert json.loads((tmp_path / "o.json").read_text())["totals"] == {"tensors: right": 1}
        raise KeyboardInterrupt

    monkeypatch.setattr(check_command, "run_suite", interrupted)
    monkeypatch.setattr(JsonFile, "EVERY", 0.0)
    (tmp_path / "cases.txt").write_text("torch.ones(3)\ntorch.ones(4)\n")
    arguments = ["--level", "tensors", "--json", str(tmp_path / "o.json")]
    assert main(["check", "cases", str(tmp_path / "cases.txt"), *arguments]) == 130
    assert len(json.loads((tmp_path / "o.json").read_text())["outcomes"]) == 1


def test_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A wrong result is told in a table and in JSON, and makes the exit status 1."""
    code = "import torch\ndef inputs(): return (torch.arange(3.),)\ndef fn(x): return "
    results = {"good": "x + 1", "bad": "x + 1.5", "ugly": "torch.linalg.svd(x[None])[1]"}
    rows = [
        {"id": name, "torch_code": code + result, "expected_code": "def expect(x): return x + 1", "tol": 0}
        for name, result in results.items()
    ]
    (tmp_path / "cases.jsonl").write_text("# a comment\n\n" + "".join(json.dumps(row) + "\n" for row in rows))
    command = [
        "check",
        "cases",
        str(tmp_path / "cases.jsonl"),
        "--level",
        "tensors",
        "--json",
        str(tmp_path / "o.json"),
    ]
    assert main(command) == 1
    text = capsys.readouterr().out
    assert "3 of 3 elements are not as expected" in text
    assert "svd" in text
    written = json.loads((tmp_path / "o.json").read_text())
    assert written["totals"] == {"tensors: right": 1, "tensors: wrong": 1, "tensors: refused": 1}
    assert [outcome["case"] for outcome in written["outcomes"]] == [*results]


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.csv", "", "ends in .jsonl"),
        ("a.jsonl", "{", "a.jsonl:1:"),
        ("a.jsonl", '{"id": "x"}', "no torch_code, expected_code, tol"),
        (
            "a.jsonl",
            '{"id": "x", "torch_code": "", "expected_code": "", "tol": 0, "mode": "y"}',
            "mode 'y' is not known",
        ),
    ],
)
def test_bad_files(name: str, text: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(BadCaseFile, match=message.replace(".", r"\.")):
        read_cases(tmp_path / name)
    assert main(["check", "cases", str(tmp_path / name)]) == 1
    assert message in capsys.readouterr().err


def test_no_case_of_that_name(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "models", "--match", "no such model"]) == 1
    assert "no case has such a name" in capsys.readouterr().err


def test_missing_package_is_named(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setitem(sys.modules, "transformers", None)
    assert main(["check", "models"]) == 1
    assert capsys.readouterr().err == "uop: error: transformers is not installed: pip install 'uop[models]'\n"


@pytest.mark.parametrize("arguments", [["--jobs", "0"], ["--limit", "-1"], ["--dtype", "c64"], ["--level", "torch"]])
def test_bad_arguments(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as error:
        main(["check", "opinfo", *arguments])
    assert error.value.code == 2
    assert f"argument {arguments[0]}" in capsys.readouterr().err


def test_reasons_are_counted_once_a_case() -> None:
    outcomes = [
        Outcome("a", "tensors", Verdict.REFUSED, ("x", "y")),
        Outcome("a", "loops", Verdict.REFUSED, ("x", "y")),
        Outcome("b", "tensors", Verdict.REFUSED, ("y",)),
        Outcome("c", "loops", Verdict.WRONG, ("z",)),
        Outcome("d", "loops", Verdict.RIGHT),
    ]
    found = reasons_by_verdict(outcomes)
    assert found == {Verdict.WRONG: {"z": ["c"]}, Verdict.REFUSED: {"y": ["a", "b"], "x": ["a"]}}
    assert [*found] == [Verdict.WRONG, Verdict.REFUSED]


def test_cases_in_the_repository_can_be_read() -> None:
    assert len(read_cases(CASES / "public.jsonl")) == 44
    assert len(read_cases(CASES / "one-liners.txt")) == 67
    assert len(read_cases(CASES / "edges.txt")) == 138


def check_none_wrong(suite: Suite[Any], at_least: float) -> list[Outcome]:
    """None is wrong or crashes, and of all outcomes at least that share is right."""
    outcomes = list(run_suite(suite, suite.cases(), time_limit=300))
    assert [outcome.case for outcome in outcomes if outcome.verdict.is_failure] == []
    assert sum(outcome.verdict is Verdict.RIGHT for outcome in outcomes) >= at_least * len(outcomes)
    return outcomes


def other_than_right(suite: Suite[Any]) -> list[tuple[str, str, Verdict]]:
    """Case, level and verdict of the outcomes that are not right."""
    outcomes = list(run_suite(suite, suite.cases(), time_limit=600))
    assert len(outcomes) == len(suite.cases()) * len(suite.levels)
    return [(o.case, o.level, o.verdict) for o in outcomes if o.verdict is not Verdict.RIGHT]


@pytest.mark.slow
@pytest.mark.parametrize("file", ["public.jsonl", "edges.txt"])
def test_all_cases(file: str) -> None:
    assert other_than_right(CaseSuite(str(CASES / file), ALL_LEVELS)) == []


@pytest.mark.slow
def test_one_liners() -> None:
    """The Fourier transform is computed in complex numbers, which are refused by name."""
    fft = "torch.fft.fft(torch.randn(8)).real"
    suite = CaseSuite(str(CASES / "one-liners.txt"), ALL_LEVELS)
    assert other_than_right(suite) == [(fft, level, Verdict.REFUSED) for level in ALL_LEVELS]
    (outcome,) = CaseSuite("", ["tensors"]).check(ExpressionCase(fft))
    assert outcome.reasons == ("aten._fft_r2c.default: dtype complex64 is not supported",)


@pytest.mark.slow
def test_all_models() -> None:
    """Whole, without spills; the simulator may take too long for a few."""
    others = other_than_right(ModelSuite(CHECK_LEVELS))
    assert {(level, verdict) for _, level, verdict in others} <= {("cuda", Verdict.TOO_SLOW)}
    assert len(others) <= len(MODELS) - 20


@pytest.mark.parametrize("code", [str(case) for case in read_cases(CASES / "edges.txt")[::23]])
def test_some_programs_at_the_edges(code: str) -> None:
    assert expression(code) == ["right"] * 3


@pytest.mark.slow
@pytest.mark.parametrize("dtype", DTYPES)
def test_all_operations(dtype: str) -> None:
    check_none_wrong(OpInfoSuite(("tensors",), (dtype,)), 0.75)


@pytest.mark.slow
def test_all_operations_in_the_simulator() -> None:
    """Of 677 operations of float32 the others are complex, random, of a size that is data, or factorizations."""
    outcomes = check_none_wrong(OpInfoSuite(ALL_LEVELS), 0.8)
    right = Counter(outcome.level for outcome in outcomes if outcome.verdict is Verdict.RIGHT)
    assert min(right[level] for level in ALL_LEVELS) >= 560


@pytest.mark.slow
def test_all_error_inputs() -> None:
    check_none_wrong(OpInfoSuite(("tensors",), (ERRORS,), samples=None), 0.9)


def test_batches_say_the_same_of_each_sample() -> None:
    suite = OpInfoSuite(("tensors",), samples=5, match="nn.functional.softplus")
    found = {(o.case, o.level): o.verdict for o in run_in_batches(suite, 3, time_limit=300)}
    assert found == {(str(case), "tensors"): Verdict.RIGHT for case in suite.cases()}


@pytest.mark.parametrize("op", ["nn.functional.embedding", "narrow", "nn.functional.dropout3d"])
def test_a_batch_says_of_each_sample_what_it_is_by_itself(op: str) -> None:
    """Some of the samples are refused, cannot be exported, or are random."""
    suite = OpInfoSuite(("tensors",), samples=9, match=op)
    (batch,) = [batch for batch in suite.batches(9) if batch.cases[0].op == op]
    found = {outcome.case: (outcome.verdict, outcome.reasons) for outcome in suite.check(batch)}
    alone = {outcome.case: (outcome.verdict, outcome.reasons) for case in batch.cases for outcome in suite.check(case)}
    assert found == alone
    assert len({verdict for verdict, _ in found.values()}) == 2


def test_reasons_name_no_symbols() -> None:
    """The sizes of all samples of a batch that depend on data are numbered through."""
    suite = OpInfoSuite(("tensors",), samples=3, match="masked_select")
    (batch,) = suite.batches(3)
    assert {outcome.verdict for outcome in suite.check(batch)} == {Verdict.REFUSED}
    assert len({outcome.reasons for outcome in suite.check(batch)}) == 1


def test_the_wrong_samples_of_a_batch_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    suite = OpInfoSuite(("tensors", "loops"), samples=None, match="nn.functional.softsign")
    (batch,) = suite.batches(24)
    interpret = levels.interpret_program

    def wrong_scalars(*arguments: Any) -> list[Any]:
        return [result + 1 if result.ndim == 0 else result for result in interpret(*arguments)]

    monkeypatch.setattr(levels, "interpret_program", wrong_scalars)
    found = [(outcome.case, outcome.level) for outcome in suite.check(batch) if outcome.verdict is Verdict.WRONG]
    scalars = [str(case) for case in batch.cases if cast(torch.Tensor, opinfo.sample_of(case).input).ndim == 0]
    assert 0 < len(scalars) < len(batch.cases)
    assert sorted(found) == sorted((case, level) for case in scalars for level in suite.levels)


def test_what_a_batch_fails_is_checked_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    suite = OpInfoSuite(("tensors", "loops"), samples=2, match="nn.functional.softsign")
    first, second = suite.cases()

    def checked(_: object, cases: Sequence[object], **__: object) -> Iterator[Outcome]:
        for case in cases:
            for each in cases_of(case):
                yield Outcome(str(each), "tensors", Verdict.RIGHT)
                fails = case is not each and each == second
                yield Outcome(str(each), "loops", Verdict.CRASH if fails else Verdict.REFUSED)

    monkeypatch.setattr(batches, "run_suite", checked)
    found = [(outcome.case, outcome.level, outcome.verdict.value) for outcome in run_in_batches(suite, 2)]
    assert found == [
        (str(case), *of) for case in (first, second) for of in (("tensors", "right"), ("loops", "refused"))
    ]


def test_each_case_of_a_batch_whose_process_fails_is_told() -> None:
    # Which this suite cannot check.
    batch: Batch[Any] = Batch((ExpressionCase("torch.ones(2)"), ExpressionCase("torch.ones(3)")))
    suite: Suite[Any] = CaseSuite("", ["tensors", "loops"])
    found = [(outcome.case, outcome.level, outcome.verdict.value) for outcome in run_suite(suite, cast(Any, [batch]))]
    assert found == [(str(case), level, "crash") for case in batch.cases for level in suite.levels]
