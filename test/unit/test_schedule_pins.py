"""`--schedule`: pinned programs are right in the simulator, and what cannot be carried out is refused in words."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from uop.dialects.schedule import Schedule
from uop.frontends.capture import capture_expression
from uop.passes.loop import choose_schedule
from uop.passes.loop.schedule_pins import parse_pin, parse_pins
from uop.rewriting.diagnostics import PassError
from uop.tools.compilation import compile_stages
from uop.tools.execution import run_captured
from uop.tools.faults.saved_run import save_run
from uop.tools.pipeline_text import PipelineError
from uop.tools.pipelines import CompileOptions
from uop.tools.uop import main
from uop.tools.uop_opt import main as uop_opt

PRODUCT = "torch.relu(torch.randn(37, 50) @ torch.randn(50, 41))"
SOFTMAX = "torch.softmax(torch.randn(5, 301), 1)"


@pytest.mark.parametrize(
    ("code", "schedules", "grid", "block"),
    [
        (
            PRODUCT,
            ["i = 5 block * 4 thread * 2 register, j = 3 block * 16 thread, k = 7 loop * 8 loop, stage = [%x, %y]"],
            (3, 5, 1),
            64,
        ),
        (PRODUCT, ["j = 6 block * 8 thread, i = 37 block, k = 50 loop", "stage = []"], (37, 6, 1), 8),
        (PRODUCT, ["k = 4 loop * 13 loop"], None, None),
        (SOFTMAX, ["i = 5 block, j = 3 register * 128 thread"], (5, 1, 1), 128),
        (SOFTMAX, ["@forward_0: i = 5 block", "i = 1000 loop"], None, None),
    ],
)
def test_pinned_programs_are_right(
    code: str, schedules: list[str], grid: tuple[int, int, int] | None, block: int | None
) -> None:
    result = run_captured(capture_expression(code), CompileOptions(schedule=tuple(schedules)))
    assert result.right
    (kernel,) = result.run.kernels
    if grid is not None:
        assert (kernel.compiled.kernel.grid_shape, kernel.compiled.kernel.threads) == (grid, block)


@pytest.mark.parametrize(
    ("schedule", "message", "help"),
    [
        ("k = 3 loop * 16 loop", "axis k has extent 50, but its factors 3 loop * 16 loop cover 48", "at least"),
        ("i = 2048 thread", "threads in a block; at most 1024 fit", "i = 2048 thread, j = "),
        ("k = 50 block", "axis k is reduced and bound to `50 block`", "loop, unroll, register, thread"),
        (
            "q = 2 loop",
            "the schedule binds axis q, but the kernel's axes are: i (37), j (41), k (50)",
            "`@forward_0: …`",
        ),
        ("stage = [%z]", "the schedule stages %z, but the kernel's buffers are %out, %x, %y", "`@forward_0: …`"),
        ("stage = [%out]", "stages %out, which cannot be staged: nothing reads it", "linear"),
        ("k = 50 register, stage = [%x]", "%x, which cannot be staged: the read is in no serial loop", "loop factor"),
        ("k = 2 loop * 25 loop, stage = [%x buffers 32]", "which cannot be staged: the slab takes", "fewer buffers"),
        ("i = 6 block * 8 thread, group = i 4", "groups the blocks of `i 4`, but that axis has no", "`group` out"),
        ("i = 37 lane", "has 37 lanes; a warp has 32", None),
        ("k = 4 loop * 16 mma", "are those of no matrix instruction", "m16n8k16"),
    ],
)
def test_what_cannot_be_carried_out_is_refused(
    schedule: str, message: str, help: str | None, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["compile", "-c", PRODUCT, "--schedule", schedule]) == 1
    output = capsys.readouterr()
    assert output.out == ""
    assert output.err.startswith("uop: error: kernel @forward_0: ")
    assert message in output.err.splitlines()[0]
    assert "note: from <command>:1" in output.err
    assert f"note: pinned: {schedule}" in output.err
    assert help is None or help in output.err.splitlines()[-1]
    assert "Traceback" not in output.err


@pytest.mark.parametrize(
    "schedule",
    [
        "stage = [%y]",  # read in no serial loop, which a GPU could not stage
        "k = 50 unroll, stage = [%y]",
        "i = 5 loop * 8 register, j = 2 block * 2 register * 16 register, k = 5 loop * 10 loop, stage = [%y pad 3]",
        "i = 3 block * 16 register, j = 41 loop, stage = [%x along 0]",
    ],
)
def test_pins_of_a_cpu_are_right(schedule: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "--device", "cpu", "-c", PRODUCT, "--schedule", schedule]) == 0, capsys.readouterr().err


@pytest.mark.parametrize(
    ("schedule", "message", "help"),
    [
        ("stage = [%out]", "stages %out, which cannot be staged: nothing reads it", "linear"),
        (
            "stage = [%y buffers 2 async]",
            "stages `%y buffers 2 async`, but a CPU copies a panel by loads",
            "shared memory",
        ),
        (
            "i = 37 block, stage = [%x along 0]",
            "%x, which cannot be staged: no read of it has registers along",
            "linear",
        ),
        ("stage = [%x along 2]", "%x, which cannot be staged: a slab of 2 dimensions has no dimension 2", "linear"),
    ],
)
def test_what_a_cpu_cannot_pack_is_refused(
    schedule: str, message: str, help: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["compile", "--target", "c", "-c", PRODUCT, "--schedule", schedule]) == 1
    error = capsys.readouterr().err
    assert error.startswith("uop: error: kernel @forward_0: ")
    assert message in error.splitlines()[0]
    assert help in error.splitlines()[-1]
    assert "Traceback" not in error


def test_more_than_a_task_has_room_for_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    code = "torch.randn(64, 4096) @ torch.randn(4096, 4096)"
    assert main(["compile", "--target", "c", "-c", code, "--schedule", "j = 16 loop * 256 register, stage = [%y]"]) == 1
    assert "which cannot be staged: the slab takes 4194304 bytes, and 0 of the 917504" in capsys.readouterr().err


def test_an_unknown_kernel_lists_the_kernels(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "-c", PRODUCT, "--schedule", "@forward_7: i = 37 block"]) == 1
    error = capsys.readouterr().err
    assert "schedule '@forward_7: i = 37 block': no kernel is called that\nhelp: there are: @forward_0" in error


def test_too_much_shared_memory_names_the_schedule() -> None:
    """What the warps of a block exchange is beside what is staged."""
    options = CompileOptions("sm_80", schedule=("i = 37 register, j = 41 register, k = 1024 thread, stage = []",))
    stages = compile_stages(capture_expression(PRODUCT).imported(), options)
    with pytest.raises(PassError) as caught:
        list(stages)
    assert "bytes of shared memory" in caught.value.message
    assert "i = 37 register, j = 41 register, k = 1024 thread" in (caught.value.help or "")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("i = 8 blok * 2 warp", "column 7: expected an axis kind"),
        ("i = 8 block 2 warp", "column 13: expected `*`, `,` or the end, found '2'"),
        ("@forward_1: i 8", "column 15: expected '=', found '8'"),
        ("@forward_1 i = 8 loop", "column 1: identifier expected, found '@forward_1'"),
        ("k = 4 loop,", "column 12: identifier expected, found the end"),
        ("", "column 1: identifier expected, found the end"),
        ("stage = [x]", "column 10: expected the name of a buffer, as in %x, found 'x'"),
        ("i = 2 'x", "column 7: "),
        ("i = 0 loop", "axis i has a factor of 0"),
        ("i = 2 loop, i = 3 loop", "an axis stands twice"),
        ("i = 2 parallel", "`parallel` is no choice"),
        ("min_blocks = 0", "min_blocks is at least 1"),
        ("group = i 0", "a group has at least 1 block"),
    ],
)
def test_what_cannot_be_read_says_where(text: str, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ValueError, match=re.escape(f"schedule '{text}'")) as caught:
        parse_pin(text)
    assert message in str(caught.value)
    with pytest.raises(SystemExit) as failure:
        main(["compile", "-c", PRODUCT, "--schedule", text])
    assert failure.value.code == 2
    assert message in capsys.readouterr().err


def test_an_axis_is_pinned_once() -> None:
    assert len(parse_pins(["i = 2 loop", "@a: i = 2 loop", "stage = []"])) == 3
    with pytest.raises(ValueError, match="min_blocks is in two schedules"):
        parse_pins(["min_blocks = 2", "i = 4 loop, min_blocks = 3"])
    with pytest.raises(ValueError, match="i is in two schedules, 'i = 2 loop' and 'k = 2 loop, i = 3 loop'"):
        parse_pins(["i = 2 loop", "k = 2 loop, i = 3 loop"])
    options = CompileOptions(schedule=("stage = []", "stage = [%x]"))
    stages = compile_stages(capture_expression(PRODUCT).imported(), options)
    with pytest.raises(PipelineError, match="stage is in two schedules"):
        list(stages)


def test_pinned_axes_stand_where_they_stood_in_the_order_of_the_pin() -> None:
    chosen = parse_pin("i = 2 block, j = 4 thread, k = 8 loop, stage = [%x]").over(Schedule(()))

    def pinned(text: str) -> str:
        return str(parse_pin(text).over(chosen))

    assert pinned("k = 4 loop * 2 loop") == "i = 2 block, j = 4 thread, k = 4 loop * 2 loop, stage = [%x]"
    assert pinned("k = 8 lane, i = 2 warp") == "k = 8 lane, j = 4 thread, i = 2 warp, stage = [%x]"
    assert pinned("min_blocks = 3") == "i = 2 block, j = 4 thread, k = 8 loop, stage = [%x], min_blocks = 3"
    assert pinned("group = i 2") == "i = 2 block, j = 4 thread, k = 8 loop, stage = [%x], group = i 2"
    assert pinned("stage = []") == "i = 2 block, j = 4 thread, k = 8 loop"
    assert pinned("n = 3 loop") == "i = 2 block, j = 4 thread, k = 8 loop, n = 3 loop, stage = [%x]"


def test_a_crash_is_run_again_with_the_schedule(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(shape: object) -> None:
        raise ZeroDivisionError("planted")

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(choose_schedule, "choose", fail)
    schedule = "i = 37 block,\n j = 41 thread, k = 50 loop, stage = [%x, %y]"
    assert (
        main(["compile", "-c", PRODUCT, "--schedule", schedule, "--schedule", "@forward_0: k = 2 loop * 25 loop"]) == 1
    )
    (reproducer,) = tmp_path.glob("*.mlir")
    monkeypatch.undo()
    capsys.readouterr()
    assert uop_opt([str(tmp_path / reproducer), "--run-reproducer"]) == 0
    expected = "#tile.schedule<i = 37 block, j = 41 thread, k = 2 loop * 25 loop, stage = [%x, %y]>"
    assert expected in capsys.readouterr().out


def test_a_saved_run_has_the_schedule(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    captured = capture_expression(PRODUCT)
    options = CompileOptions(arch="sm_80", schedule=("i = 37 block, k = 50 loop", "stage = []"))
    module = captured.imported().module.clone()
    save_run(tmp_path / "saved", captured, module, options, seed=0, loaded=[], each=False, reason="planted")
    repeat = subprocess.run([sys.executable, "saved/repeat.py"], capture_output=True, text=True, check=False)
    assert (repeat.returncode, repeat.stderr) == (0, "")
    assert 'schedule="i = 37 block, k = 50 loop","stage = []"' in (tmp_path / "saved" / "repeat.py").read_text()
    line = next(line for line in (tmp_path / "saved" / "README.md").read_text().splitlines() if "uop-opt" in line)
    assert '--uop-to-cuda=arch=sm_80 schedule="i = 37 block, k = 50 loop","stage = []"' in shlex.split(line)
