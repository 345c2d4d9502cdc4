// Printed on standard error, in one spelling: parsing it gives the same pipeline again.
// RUN: uop-opt %s --dump-pass-pipeline -p 'func.func ( cse ,dce ), canonicalize{}' 2>&1 >%t | filecheck %s
// RUN: uop-opt %s --dump-pass-pipeline --pass-pipeline 'builtin.module(func.func(cse,dce),canonicalize)' 2>&1 >%t | filecheck %s
// RUN: uop-opt %s --dump-pass-pipeline 2>&1 | not grep '(cse'

// CHECK: {{^}}builtin.module(func.func(cse,dce),canonicalize){{$}}
func.func @f() { func.return }

// A named pipeline is shown as what it stands for. Its options may be left out, and it goes on from any stage.
// RUN: uop-opt %s --dump-pass-pipeline --uop-to-cuda='after=torch to=partition' 2>&1 >%t | filecheck %s --check-prefix=NAMED
// RUN: uop-opt --dump-pass-pipeline -p 'uop-to-cuda{after=torch to=uop},uop-to-cuda{after=uop to=partition}' %s 2>&1 >%t | filecheck %s --check-prefix=NAMED
// RUN: uop-opt --dump-pass-pipeline --uop-to-cuda=to=torch %s 2>&1 >%t | filecheck %s --check-prefix=NOTHING
// NAMED: {{^}}builtin.module(convert-torch-to-uop,uop-simplify,uop-expand-scatter,uop-split-scan,uop-factor-rows,uop-fuse-deviations,uop-split-reduce,uop-partition,uop-merge-kernels){{$}}
// NOTHING: {{^}}builtin.module(){{$}}

// RUN: not uop-opt %s --uop-to-cuda=to=cuda 2>&1 | filecheck %s --check-prefix=STAGE
// STAGE: --uop-to-cuda:1:1: error: pipeline 'uop-to-cuda': unknown stage 'cuda' (the stages are torch, uop, partition, range, loop, tile, gpu-kernel)
// RUN: not uop-opt %s --uop-to-cuda=archs=sm_80 2>&1 | filecheck %s --check-prefix=OPTION
// OPTION: --uop-to-cuda:1:13: error: pipeline 'uop-to-cuda' has no option 'archs' (its options: arch, vector-bytes, schedule, cut, join, after, to); did you mean 'arch'?

// RUN: uop-opt %s --dump-pass-pipeline --uop-to-c='vector-bytes=64 after=loop' 2>&1 >%t | filecheck %s --check-prefix=C
// C: {{^}}builtin.module(choose-cpu-schedule{vector_bytes=64},convert-loop-to-tile,tile-drop-masks,tile-pack,uop-simplify,convert-tile-to-cpu-kernel{vector_bytes=64}){{$}}
