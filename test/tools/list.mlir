// RUN: uop-opt --list-passes | filecheck %s --check-prefix=PASSES
// RUN: uop-opt --list-targets | filecheck %s --check-prefix=TARGETS
// RUN: uop-opt --list-dialects | filecheck %s --check-prefix=DIALECTS
// RUN: uop-opt --help | filecheck %s --check-prefix=HELP
// RUN: uop-opt --version | filecheck %s --check-prefix=VERSION
// RUN: not uop-opt --no-such-flag 2>&1 | filecheck %s --check-prefix=UNKNOWN

// PASSES:    {{apply-eqsat-pdl  +A pass that applies PDL patterns using equality saturation}}
// PASSES:    {{^cse$}}
// TARGETS:   {{^}}cuda
// TARGETS:   {{^}}mlir
// DIALECTS:  {{^}}arith
// DIALECTS:  {{^}}uop
// HELP:      usage: uop-opt [FILE] [flags]
// HELP:      --pass-pipeline PIPELINE
// VERSION:   {{^}}uop-opt (xdsl 0.75.0)
// UNKNOWN:   uop-opt: error: unrecognized arguments: --no-such-flag
