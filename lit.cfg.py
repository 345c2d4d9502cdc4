"""lit configuration: `lit .` from the root runs every test below test/ that is text."""

import atexit
import os
import shutil
import sys
import tempfile

import lit.formats

config.name = "uop"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["unit", "inputs"]
config.test_source_root = os.path.join(os.path.dirname(__file__), "test")
# What `%t` names goes here, out of the source tree.
config.test_exec_root = os.path.join(os.path.dirname(__file__), "build", "lit")

# Not the user's; each run has its own.
config.environment["UOP_CACHE_DIR"] = tempfile.mkdtemp(prefix="uop-cache-")
atexit.register(shutil.rmtree, config.environment["UOP_CACHE_DIR"], ignore_errors=True)

bin_dir = os.path.dirname(sys.executable)
config.environment["PATH"] = bin_dir + os.pathsep + os.environ.get("PATH", "")
if shutil.which("uop-opt", path=config.environment["PATH"]) is None:
    lit_config.fatal("uop-opt is not on PATH: run `pip install -e .` first")

# print → parse → print is the identity, in custom and in generic form, then FileCheck sees the text.
generic = "uop-opt %s --print-op-generic --split-input-file"
again = "uop-opt - --split-input-file"
config.substitutions += [
    ("UOP_ROUNDTRIP", f"{generic} | {again} | filecheck %s"),
    ("UOP_GENERIC_ROUNDTRIP", f"{generic} | {again} --print-op-generic | filecheck %s --check-prefix=GENERIC"),
]
