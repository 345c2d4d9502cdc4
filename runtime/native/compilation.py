"""From kernels in `cpu_kernel` form to programs on the CPU: C text, built by the machine's compiler."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp

from ...dialects.uop import LaunchOp
from ...targets.c import Translation, translate
from ...targets.c_declarations import program_name
from ..artifact.artifact import Artifact
from ..artifact.plan import Kernel, Plan
from ..planning import Sources, find_function, plan_of
from .compiler import CCompileError, Compiler, build
from .cpu import core_count, host
from .program import LIBRARY, TARGET, TEXT, CpuProgram


def compile_program(
    module: ModuleOp, name: str = "forward", *, compiler: Compiler | None = None, processes: int | None = None
) -> Artifact:
    """The program of a function whose kernels are in `cpu_kernel` form: its plan, C text and library.

    compiler: by default this machine's. processes: so many of it at a time at most, by default one a core
    Raises `PassError` where a kernel is at another level, `CCompileError`, and `CompilerNotFoundError`.
    """
    translation = translate(module)
    plan = _plan(module, name, translation)
    try:
        units = translation.units(processes or core_count())
        library = build(translation.text, units=units, name=name, compiler=compiler)
    except CCompileError as error:
        sources = dict.fromkeys(source for line in error.lines for source in translation.lines[line - 1].sources)
        message = "\n  from ".join([str(error), *sources])
        raise CCompileError(message, error.log, error.source, error.path) from None
    return Artifact(plan, {TEXT: translation.text.encode(), LIBRARY: library})


def load_program(module: ModuleOp, name: str = "forward", *, compiler: Compiler | None = None) -> CpuProgram:
    """`compile_program`, ready to run."""
    return CpuProgram(compile_program(module, name, compiler=compiler))


def load_guarded(module: ModuleOp, name: str = "forward", *, compiler: Compiler | None = None) -> CpuProgram:
    """A program for `run_guarded`: no value shares memory with another, so each has guards around it. Built by one
    process, which takes the least time in all: who checks programs runs several at once."""
    module = module.clone()
    for op in module.walk():
        if isinstance(op, LaunchOp):
            op.arena = None
    return CpuProgram(compile_program(module, name, compiler=compiler, processes=1))


def _plan(module: ModuleOp, name: str, translation: Translation) -> Plan:
    function = find_function(module, name)
    sources = Sources()
    kernels: dict[str, Kernel] = {}
    for symbol, (entry, places) in translation.kernels.items():
        runs = sources.runs((place + 1, translation.lines[place].sources) for place in places)
        kernels[symbol] = Kernel(entry, files={TEXT: TEXT, LIBRARY: LIBRARY}, lines=runs)
    entry = f"{program_name(name)}_run"
    return plan_of(function, kernels, target=TARGET, arch=host().arch, sources=sources.lines, entry=entry)
