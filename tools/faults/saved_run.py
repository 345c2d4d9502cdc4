"""What a failing `uop run` leaves behind: a folder from which the failure can be repeated, bisected and reduced."""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from xdsl.dialects.builtin import ModuleOp

from ...frontends.captured import Captured
from ...runtime.storage import Array
from ...runtime.tensors import to_array
from ..compilation import FILE_NAMES, compile_stages, stage_text
from ..pass_options import options_of
from ..pipeline_text import PassSpec
from ..pipelines import CompileOptions

DEFAULT_NAME = "uop-run-failure"
"""In the current folder; where that is there already, with a number behind it."""

SCRIPT = '''\
"""{reason}

Repeats that: `python {script}` exits with 1 as long as it is so. It needs PyTorch, uop and this folder.
{program}
"""

import sys
from pathlib import Path

import numpy as np
import torch

from uop.rewriting.diagnostics import PassError
from uop.runtime.native.compiler import CCompileError
{imports}
from uop.runtime.nvrtc import CompileError
from uop.runtime.simulator import SimulationError
from uop.runtime.tensors import from_array, to_interpreted
from uop.tools.execution import compare_tensors
from uop.tools.faults.interpret_each import InterpretOptions, interpret_pipeline
from uop.tools.faults.outcomes import Inputs
from uop.tools.faults.saved_module import read_module
from uop.tools.pipeline import default_passes
from uop.tools.plugins import load_plugin, register_plugin

HERE = Path(__file__).parent
LOADED = {loaded!r}  # rules and passes that were used besides uop's
PIPELINE = {pipeline!r}
EACH = {each!r}  # whether the program is run after each pass


def load(folder: str) -> list[np.ndarray]:
    return [np.load(file) for file in sorted((HERE / folder).glob("*.npy"))]


def main() -> int:
    passes = default_passes()
    for file in LOADED:
        register_plugin(load_plugin(str(HERE / file)), {{}}, passes)
    context, module = read_module(HERE / "stages" / "torch.mlir")
    function = module.body.block.first_op
    inputs = load("inputs")
    given = [to_interpreted(from_array(x, type)) for x, type in zip(inputs, function.function_type.inputs)]
    try:
        options = InterpretOptions(bisects=True, given=[Inputs("of the program", given)]) if EACH else None
        interpret_pipeline(module, context, PIPELINE, passes, options)
        outputs = {run}
    except (PassError, SimulationError, CompileError, CCompileError) as error:
        print(error, *getattr(error, "__notes__", ()), sep="\\n")
        return 1
    right = True
    for number, (output, eager, exact) in enumerate(zip(outputs, load("eager"), load("float64"))):
        type = function.function_type.outputs.data[number]
        row = compare_tensors(from_array(output, type), from_array(eager, type), torch.from_numpy(exact))
        print(f"result {{number}}: {{'right' if row.right else 'WRONG'}}: {{row}}")
        right = right and row.right
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
'''

RUNS = {
    "cuda": ("from uop.runtime.program import Program", "Program(module).run(inputs).outputs"),
    "c": ("from uop.runtime.native.compilation import load_program", "load_program(module).run(inputs)"),
}
"""Target → what the script imports, and how it runs the module on its arrays."""

COMMANDS = """\
# {reason}

Run these in this folder.

Repeat it:

    python {script}

Find the pass and the rewrite that change what the program computes:

    uop-opt {flags}

Make the program smaller as long as the same rewrite is wrong:

    uop-opt {flags} --reduce -o reduced.mlir

`stages` holds the program in each form that was reached, `inputs` its arguments, `eager` and `float64` what PyTorch
computes. bf16 is held as its bits, bool as bytes.
"""

SCRIPT_NAME = "repeat.py"


def free_directory(chosen: str | None) -> Path:
    """The folder to write to. Raises `FileExistsError` where the one that was chosen is there and not empty."""
    if chosen is not None:
        path = Path(chosen)
        if path.exists() and (not path.is_dir() or any(path.iterdir())):
            raise FileExistsError(f"--save: {chosen} is there already: name another folder")
        return path
    path, number = Path(DEFAULT_NAME), 2
    while path.exists():
        path, number = Path(f"{DEFAULT_NAME}-{number}"), number + 1
    return path


def save_run(
    directory: Path,
    captured: Captured,
    module: ModuleOp,
    options: CompileOptions,
    *,
    target: str = "cuda",
    seed: int,
    loaded: Sequence[str],
    each: bool,
    reason: str,
) -> None:
    """Write the folder.

    module: the program before the first pass. target: what it became, `cuda` for the simulator and GPUs, `c` for the
    CPU. reason: what failed, in a line
    """
    directory.mkdir(parents=True, exist_ok=True)
    inputs = captured.make_inputs(seed)
    imported = captured.imported()
    names = [f"{number:03}_{argument.name}" for number, argument in enumerate(imported.arguments)]
    _save(directory / "inputs", names, [to_array(value) for value in inputs])
    eager = captured.reference(inputs)
    numbers = [f"{number:03}" for number in range(len(eager))]
    _save(directory / "eager", numbers, [to_array(value) for value in eager])
    exact = [value.double() if value.is_floating_point() else value for value in captured.reference64(inputs)]
    _save(directory / "float64", numbers, [value.contiguous().numpy() for value in exact])
    stages = directory / "stages"
    stages.mkdir()
    try:
        for name, form in compile_stages(replace(imported, module=module), options, target=target):
            (stages / FILE_NAMES[name]).write_text(stage_text(name, form))
        (stages / FILE_NAMES[target]).write_text(stage_text(target, module))
    except Exception as error:  # the failure itself, it may be
        (stages / "stopped.txt").write_text(f"{type(error).__name__}: {error}\n")
    copies = [f"loaded_{number}_{Path(file).name}" for number, file in enumerate(loaded)]
    for file, copy in zip(loaded, copies, strict=True):
        shutil.copyfile(file, directory / copy)
    pipeline = PassSpec(f"uop-to-{target}", options_of(options))
    words = {"reason": _plain(reason), "script": SCRIPT_NAME, "pipeline": str(pipeline), "each": each, "loaded": copies}
    program = f"The program is {captured.source_name}, its inputs are those of seed {seed}."
    imports, run = RUNS[target]
    (directory / SCRIPT_NAME).write_text(SCRIPT.format(program=_plain(program), imports=imports, run=run, **words))
    loads = "".join(f" --load {copy}" for copy in copies)
    named = shlex.quote(f"--uop-to-{target}={' '.join(map(str, pipeline.options))}")
    flags = f"stages/torch.mlir{loads} {named} --interpret-each --interpret-inputs inputs --bisect"
    (directory / "README.md").write_text(COMMANDS.format(flags=flags, **words))


def _plain(text: str) -> str:
    """As it may stand in the docstring of a script."""
    return text.replace("\\", "/").replace('"', "'")


def _save(directory: Path, names: Sequence[str], arrays: Sequence[Array]) -> None:
    directory.mkdir()
    for name, array in zip(names, arrays, strict=True):
        np.save(directory / f"{name}.npy", array)
