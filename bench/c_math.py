"""How exact and how fast the functions of targets/c_math/float32.py are.

python bench/c_math.py                    a sample of some million floats of every function, and the time it takes
python bench/c_math.py exp tanh --every   all 2³² floats of these: minutes a function

Errors are in units in the last place of the exact result, taken to be what libm gives in double precision.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from uop.targets import c_math, c_types
from uop.targets.c_math.float32 import FUSED

LANES = 16

REFERENCES = {"rsqrt": "1 / sqrt(x)"}
"""What a function is in C's doubles, where it is not libm's of the same name."""

PROGRAM = """\
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BLOCK = 4096, LANES = %(lanes)d };

typedef struct { const char *name; void (*computed)(float *, const float *); double (*exact)(double); } Function;

%(functions)s

static const Function functions[] = {
%(rows)s
};

/* Units in the last place; infinite where NaN, an infinity or the sign of a zero is wrong. */
static double error_of(float got, double exact) {
  if (isnan(exact) || isnan(got)) return isnan(exact) && isnan(got) ? 0 : INFINITY;
  if (exact == 0 && got == 0) return !signbit(exact) == !signbit(got) ? 0 : INFINITY;
  if (isinf((float)exact) && (float)exact == got) return 0;
  if (isinf(exact) || (got > 0 && exact < 0) || (got < 0 && exact > 0)) return INFINITY;
  union { double value; long long bits; } e = {exact}, unit;
  long long exponent = ((e.bits >> 52) & 0x7ff) - 1023;
  unit.bits = ((exponent < -126 ? -126 : exponent) - 23 + 1023) << 52;
  double finite = isinf(got) ? copysign(0x1p128, got) : got;
  return fabs(finite - exact) / unit.value;
}

static double worst;
static float where;

static void check(const Function *f, const float *x) {
  float y[BLOCK];
  f->computed(y, x);
  for (int i = 0; i < BLOCK; i++) {
    double error = error_of(y[i], f->exact(x[i]));
    if (error > worst) worst = error, where = x[i];
  }
}

static unsigned pattern(unsigned long long i, unsigned long long stride, unsigned long long count) {
  if (i < count) return (unsigned)(i * stride);
  i -= count; /* around every power of two */
  return (unsigned)((i / 16) << 23) + (unsigned)(i %% 16) - 8;
}

/* name stride part parts: the error of every stride-th float, of this part of them; name: nanoseconds an element;
   nothing: whether the machine multiplies and adds in one instruction */
int main(int argc, char **argv) {
#if %(fused)s
  const char *multiplication = "fused";
#else
  const char *multiplication = "not fused";
#endif
  if (argc == 1) return puts(multiplication) < 0;
  const Function *f = functions;
  while (strcmp(f->name, argv[1])) f++;
  float x[BLOCK], y[BLOCK];
  if (argc == 2) {
    for (int i = 0; i < BLOCK; i++) x[i] = (i + 0.5f) / (BLOCK / 8);
    double best = INFINITY;
    for (int round = 0; round < 400; round++) {
      struct timespec start, end;
      clock_gettime(CLOCK_MONOTONIC, &start);
      for (int again = 0; again < 8; again++) f->computed(y, x);
      clock_gettime(CLOCK_MONOTONIC, &end);
      double time = (end.tv_sec - start.tv_sec) * 1e9 + (end.tv_nsec - start.tv_nsec);
      if (time < best) best = time;
    }
    printf("%%.3f\\n", best / (8 * BLOCK));
    return 0;
  }
  unsigned long long stride = atoll(argv[2]), part = atoll(argv[3]), parts = atoll(argv[4]);
  unsigned long long count = (1ull << 32) / stride, all = count + 512 * 16, blocks = (all + BLOCK - 1) / BLOCK;
  for (unsigned long long block = part; block < blocks; block += parts) {
    for (int i = 0; i < BLOCK; i++) {
      unsigned bits = pattern((block * BLOCK + i) %% all, stride, count);
      memcpy(x + i, &bits, 4);
    }
    check(f, x);
  }
  printf("%%.17g %%.9g\\n", worst, where);
}
"""

FUNCTION = """\
static void {name}_computed(float *y, const float *x) {{
  for (int i = 0; i < BLOCK; i += LANES) *(f32x{lanes}_at *)(y + i) = {call}(*(const f32x{lanes}_at *)(x + i));
}}
static double {name}_exact(double x) {{ return {exact}; }}"""


def program_text(names: Sequence[str], lanes: int) -> str:
    """C of a program that measures functions."""
    vectors = [("f32", lanes)]
    definitions = c_math.definitions([(name, "f32", lanes) for name in names], vectors)
    functions = [definitions, c_types.memory_typedefs(vectors)]
    functions += [
        FUNCTION.format(
            name=name, call=c_math.call(name, "f32", lanes), exact=REFERENCES.get(name, f"{name}(x)"), lanes=lanes
        )
        for name in names
    ]
    rows = [f'  {{"{name}", {name}_computed, {name}_exact}},' for name in names]
    return PROGRAM % {"functions": "\n\n".join(functions), "rows": "\n".join(rows), "lanes": lanes, "fused": FUSED}


def build(compiler: Sequence[str], folder: Path, names: Sequence[str], lanes: int = LANES) -> Path:
    """The program that measures functions."""
    source, program = folder / "measure.c", folder / "measure"
    source.write_text(program_text(names, lanes))
    command = [*compiler, "-std=gnu11", "-O3", "-march=native", *c_math.COMPILER_FLAGS, "-Wno-psabi"]
    subprocess.run([*command, str(source), "-o", str(program), "-lm"], check=True)
    return program


def is_fused(program: Path) -> bool:
    """Whether the machine multiplies and adds in one instruction, on which errors depend."""
    return subprocess.run([program], capture_output=True, text=True, check=True).stdout == "fused\n"


def error(program: Path, name: str, stride: int) -> tuple[float, float]:
    """The largest error over every `stride`-th float, and where it is."""
    parts = os.cpu_count() or 1
    processes = [
        subprocess.Popen([program, name, str(stride), str(part), str(parts)], stdout=subprocess.PIPE, text=True)
        for part in range(parts)
    ]
    worst, where = max(tuple(map(float, process.communicate()[0].split())) for process in processes)
    return worst, where


def nanoseconds(program: Path, name: str) -> float:
    """Time that an element takes, in the first cache."""
    return float(subprocess.run([program, name], capture_output=True, text=True, check=True).stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="functions; all of them where there are none")
    parser.add_argument("--every", action="store_true", help="all 2³² floats")
    parser.add_argument("--compiler", default=shutil.which("cc"), help="a command, such as `zig cc`")
    parser.add_argument("--lanes", type=int, default=LANES)
    options = parser.parse_args()
    names = options.names or list(c_math.ERRORS)
    with tempfile.TemporaryDirectory() as folder:
        program = build(options.compiler.split(), Path(folder), names, options.lanes)
        for name in names:
            worst, where = error(program, name, 1 if options.every else 4093)
            print(
                f"{name:8} {worst:6.3f} ulp at {where:.9g}, {nanoseconds(program, name):.3f} ns an element", flush=True
            )


if __name__ == "__main__":
    main()
