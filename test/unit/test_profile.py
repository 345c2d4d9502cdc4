"""`uop run --profile`: counters beside the lines that they belong to, in text and as JSON."""

import json
from typing import Any

import pytest

from uop.frontends.capture import capture_expression
from uop.runtime.profile import LaunchProfile, profile_launch
from uop.runtime.program import KernelRun
from uop.runtime.simulator import Counters
from uop.targets.cuda import kernel_lines
from uop.tools.execution import run_captured
from uop.tools.pipelines import CompileOptions
from uop.tools.profile import WIDTH, profile_text
from uop.tools.uop import main

CODE = "x, w = torch.randn(64, 64), torch.randn(64, 64)\ny = torch.relu(x @ w)\n(y + 1).sum(1)"


@pytest.fixture(scope="module")
def profiles() -> list[LaunchProfile]:
    """Of a product and of a sum of rows."""
    result = run_captured(capture_expression(CODE), CompileOptions())
    return [profile_launch(launch) for launch in result.run.kernels]


def test_lines_add_up_to_the_launch(profiles: list[LaunchProfile]) -> None:
    for profile in profiles:
        for counter, total in vars(profile.total).items():
            assert sum(getattr(line.traffic, counter) for line in profile.lines) == total
        assert profile.total.instructions == sum(sum(line.opcodes.values()) for line in profile.lines)
        assert profile.total.instructions > 0


def test_lines_are_those_of_the_text(profiles: list[LaunchProfile]) -> None:
    for profile in profiles:
        text = profile.compiled.text.splitlines()
        assert len(text) == len(kernel_lines(profile.compiled.kernel)) == len(profile.lines)
        for line, written in zip(profile.lines, text, strict=True):
            assert written.startswith(line.code)
            comment = written[len(line.code) :].strip().removeprefix("// ")
            assert comment in ("", ", ".join(line.sources))


def test_counters_stand_beside_their_lines(profiles: list[LaunchProfile]) -> None:
    """16 floats a thread are stored by 4 instructions, and each warp fills 16 sectors with each."""
    product, rows = profiles
    (store,) = [line for line in product.lines if line.traffic.store_requests]
    assert "&out[" in store.code
    assert store.traffic.store_requests == 8 * 4
    assert store.traffic.sectors == store.traffic.store_sectors == 64 * 64 * 4 // 32
    (relu,) = [line for line in product.lines if "max_nan" in line.code and line.sources]
    assert relu.sources == ("<command>:2",)
    assert relu.opcodes["max.NaN.f32"] == 8 * 16
    assert product.sources == ["<command>:2", "<command>:3"]
    assert rows.sources == ["<command>:3"]
    assert sum(line.traffic.load_sectors for line in rows.lines) == 64 * 64 * 4 // 32


def test_residency_is_that_of_each_gpu(profiles: list[LaunchProfile]) -> None:
    rows = profiles[1]
    assert [residency.gpu for residency in rows.residencies] == ["A100", "H100", "B200"]
    blocks, threads = rows.counters.blocks, rows.compiled.kernel.threads
    for residency, multiprocessors in zip(rows.residencies, (108, 132, 148), strict=True):
        assert residency.resources.registers <= 32
        assert residency.occupancy.blocks == min(32, 2048 // threads)
        assert residency.waves == blocks / (multiprocessors * residency.occupancy.blocks)


@pytest.mark.parametrize("with_opcodes", [False, True])
def test_text_is_aligned_and_fits(profiles: list[LaunchProfile], with_opcodes: bool) -> None:
    for profile in profiles:
        lines = profile_text(profile, with_opcodes=with_opcodes).splitlines()
        assert max(map(len, lines)) <= WIDTH
        head = next(index for index, line in enumerate(lines) if line.endswith("line  CUDA"))
        column = lines[head].index("CUDA")
        for line in profile.lines:
            row = next(row for row in lines[head:] if row[:column].split()[-1:] == [str(line.number)])
            assert row[column:].split() == line.code.split()[: len(row[column:].split())]
        total, end = lines[-1].split()[0], lines[-1].split()[-1]
        assert (total, end) == (f"{profile.total.instructions:,}", "total")
        assert any(line.endswith("| (y + 1).sum(1)") for line in lines)


def test_a_launch_without_blocks_has_a_profile(profiles: list[LaunchProfile]) -> None:
    profile = profile_launch(KernelRun(profiles[0].compiled, Counters()))
    assert profile.total.instructions == 0
    assert profile_text(profile).endswith("total")


def test_the_command_prints_text(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "--profile", "-c", "torch.randn(5, 7).relu()"]) == 0
    output = capsys.readouterr().out
    assert "Kernels in the simulator" in output
    assert "blocks per multiprocessor" in output
    assert "<command>:1 | torch.randn(5, 7).relu()" in output


def test_the_command_prints_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "--profile", "--json", "-c", "torch.randn(5, 7).relu()"]) == 0
    data: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert data["right"]
    assert [output["shape"] for output in data["outputs"]] == [[5, 7]]
    (launch,) = data["launches"]
    assert launch["total"]["instructions"] == sum(line["traffic"]["instructions"] for line in launch["lines"])
    assert launch["total"]["least_store_sectors"] == 5
    assert {line["sources"][0] for line in launch["lines"] if line["sources"]} == {"<command>:1"}
    assert [residency["arch"] for residency in launch["residency"]] == ["sm_80", "sm_90", "sm_100"]


def test_json_needs_a_profile(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["run", "--json", "-c", "torch.randn(5)"])
    assert caught.value.code == 2
    assert "--profile" in capsys.readouterr().err
