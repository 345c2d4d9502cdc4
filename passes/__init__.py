"""The passes of uop by name; a pass's file is imported when the pass is asked for."""

from collections.abc import Callable
from importlib import import_module

from xdsl.passes import ModulePass

# Pass name → the folder that its file lies in and its class. The file's name is the pass's name.
PASSES: dict[str, tuple[str, str]] = {
    "choose-cpu-schedule": ("loop", "ChooseCPUSchedulePass"),
    "choose-schedule": ("loop", "ChooseSchedulePass"),
    "convert-loop-to-tile": ("loop", "ConvertLoopToTilePass"),
    "convert-tile-to-cpu-kernel": ("tile", "ConvertTileToCPUKernelPass"),
    "convert-tile-to-gpu-kernel": ("tile", "ConvertTileToGPUKernelPass"),
    "convert-torch-to-uop": ("torch", "ConvertTorchToUopPass"),
    "convert-uop-to-loop": ("uop", "ConvertUOpToLoopPass"),
    "gpu-kernel-check": ("gpu_kernel", "GPUKernelCheckPass"),
    "gpu-kernel-strength-reduce": ("gpu_kernel", "GPUKernelStrengthReducePass"),
    "tile-drop-masks": ("tile", "TileDropMasksPass"),
    "tile-mma": ("tile", "TileMmaPass"),
    "tile-pack": ("tile", "TilePackPass"),
    "tile-prepare": ("tile", "TilePreparePass"),
    "tile-stage": ("tile", "TileStagePass"),
    "tile-vectorize": ("tile", "TileVectorizePass"),
    "uop-approximate": ("uop", "UOpApproximatePass"),
    "uop-expand-scatter": ("uop", "UOpExpandScatterPass"),
    "uop-fuse-deviations": ("uop", "UOpFuseDeviationsPass"),
    "uop-fuse-reductions": ("uop", "UOpFuseReductionsPass"),
    "uop-merge-kernels": ("uop", "UOpMergeKernelsPass"),
    "uop-limit-ranges": ("uop", "UOpLimitRangesPass"),
    "uop-partition": ("uop", "UOpPartitionPass"),
    "uop-plan-buffers": ("uop", "UOpPlanBuffersPass"),
    "uop-rangeify": ("uop", "UOpRangeifyPass"),
    "uop-separate-statistics": ("uop", "UOpSeparateStatisticsPass"),
    "uop-simplify": ("uop", "UOpSimplifyPass"),
    "uop-split-attention": ("uop", "UOpSplitAttentionPass"),
    "uop-split-groups": ("uop", "UOpSplitGroupsPass"),
    "uop-factor-rows": ("uop", "UOpFactorRowsPass"),
    "uop-split-reduce": ("uop", "UOpSplitReducePass"),
    "uop-split-scan": ("uop", "UOpSplitScanPass"),
    "uop-store-in-place": ("uop", "UOpStoreInPlacePass"),
}


def get_all_passes() -> dict[str, Callable[[], type[ModulePass]]]:
    """Pass name → factory."""

    def factory(name: str, folder: str, cls: str) -> Callable[[], type[ModulePass]]:
        def get() -> type[ModulePass]:
            return getattr(import_module(f".{folder}.{name.replace('-', '_')}", __name__), cls)

        return get

    return {name: factory(name, folder, cls) for name, (folder, cls) in PASSES.items()}
