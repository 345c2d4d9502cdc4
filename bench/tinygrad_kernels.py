# tinygrad's functions are largely untyped.
# pyright: reportUnknownLambdaType=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportPrivateImportUsage=false
"""The CUDA text of tinygrad's kernels for a case: run in a process of its own by kernels.py.

No GPU is needed: tensors live on tinygrad's NULL device, and its CUDA renderer writes text for sm_80.
Usage: python tinygrad_kernels.py CASE; prints one JSON object: `memory` (bytes of each buffer), the numbers of the
`inputs` among them, the `output` and its numpy `type`, and the `launches`. Launches and the output name a buffer as
[number, first byte, bytes].
"""

import json
import os
import sys
from collections.abc import Callable
from typing import Any

os.environ.update(DEV="NULL", PARALLEL="0", CCACHE="0", CACHELEVEL="0", NO_COLOR="1")
os.environ["ALLOW_TF32"] = "1" if "tf32" in sys.argv[1] else "0"

import torch
from kernel_cases import CASES
from tinygrad import Tensor, dtypes
from tinygrad.codegen import to_program
from tinygrad.device import Compiler
from tinygrad.helpers import Target
from tinygrad.renderer.cstyle import NVCCRenderer
from tinygrad.uop.ops import Ops, UOp

DTYPES = {torch.float32: dtypes.float32, torch.float16: dtypes.float16, torch.bfloat16: dtypes.bfloat16}

STORAGE = {dtypes.float32: "float32", dtypes.float16: "float16", dtypes.bfloat16: "uint16", dtypes.int32: "int32"}
"""How numpy holds the elements of a result."""


class TextOnly(Compiler):
    """Keeps the text instead of compiling it."""

    def __init__(self) -> None:
        super().__init__(None)

    def compile(self, src: str) -> bytes:
        return src.encode()


def silu_add(x: Any, y: Any) -> Any:
    return x * x.sigmoid() + y


def softmax(x: Any) -> Any:
    return x.softmax(-1)


def layer_norm(x: Any, weight: Any, bias: Any) -> Any:
    return x.layernorm(eps=1e-5) * weight + bias


def rms_norm(x: Any, weight: Any) -> Any:
    return x * (x.square().mean(-1, keepdim=True) + 1e-5).rsqrt() * weight


def matmul(a: Any, b: Any) -> Any:
    return a.matmul(b, dtype=dtypes.float32)


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "silu_add": silu_add,
    "softmax": softmax,
    "layer_norm": layer_norm,
    "rms_norm": rms_norm,
    "sum_rows": lambda x: x.sum(1),
    "sum_columns": lambda x: x.sum(0),
    "sum_all": lambda x: x.sum(),
    "argmax": lambda x: x.argmax(1),
    "transpose": lambda x: x.transpose().contiguous(),
    "matmul_bf16_gelu": lambda a, b, bias: (matmul(a, b) + bias.float()).gelu("none").cast(dtypes.bfloat16),
    "matmul": matmul,
    "bmm_scores": lambda query, key: query @ key.transpose(-1, -2),
    "bmm_values": lambda weights, value: weights @ value,
    "attention_decode": lambda query, key, value: query.scaled_dot_product_attention(key, value, enable_gqa=True),
    "attention": lambda query, key, value: query.scaled_dot_product_attention(key, value, is_causal=True),
    "conv2d": lambda x, weight: x.conv2d(weight, padding=1),
    "cumsum": lambda x: x.cumsum(1),
}
"""The beginning of a case's name → the same function of tinygrad's tensors."""


def buffer_of(operand: UOp) -> tuple[UOp, int, int]:
    """The buffer that an operand of a kernel lies in, its first byte, and its bytes."""
    size, start = int(operand.numel()) * operand.dtype.itemsize, 0
    while operand.op is not Ops.BUFFER:
        if operand.op is Ops.SHRINK:
            start += operand.src[1].arg * operand.dtype.itemsize
        operand = operand.src[0]
    return operand, start, size


def main() -> None:
    name = sys.argv[1]
    renderer = NVCCRenderer(Target("CUDA", "NVCC", "sm_80"))
    renderer.compiler = TextOnly()
    inputs = [Tensor.empty(*shape, dtype=DTYPES[dtype]) for shape, dtype in CASES[name].inputs.values()]
    function = next(function for start, function in FUNCTIONS.items() if name.startswith(start))
    result = function(*inputs)
    buffers: list[UOp] = []

    def number(buffer: UOp) -> int:
        if buffer not in buffers:
            buffers.append(buffer)
        return buffers.index(buffer)

    launches: list[dict[str, Any]] = []
    for call in result.schedule_linear().src:
        if call.src[0].op is not Ops.SINK:
            raise NotImplementedError(f"{call.src[0].op} in the schedule of {name}")
        program = to_program(call.src[0], renderer)
        operands = [buffer_of(call.src[1 + index]) for index in program.arg.globals]
        launches.append(
            {
                "name": program.arg.function_name,
                "text": next(part.arg for part in program.src if part.op is Ops.SOURCE),
                "grid": program.arg.global_size,
                "block": program.arg.local_size,
                "buffers": [[number(buffer), start, size] for buffer, start, size in operands],
            }
        )
    output = buffer_of(result.uop)
    numbers = [number(buffer_of(tensor.uop)[0]) for tensor in inputs]
    print(
        json.dumps(
            {
                "memory": [buffer.numel() * buffer.dtype.itemsize for buffer in buffers],
                "inputs": numbers,
                "output": [number(output[0]), *output[1:]],
                "type": STORAGE[result.dtype],
                "launches": launches,
            }
        )
    )


if __name__ == "__main__":
    main()
