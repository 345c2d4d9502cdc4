"""All sets of rewrite rules of the project, for those who list and prove them."""

from __future__ import annotations

from ..rewriting.rules import Rules
from .gpu_kernel.gpu_kernel_strength_reduce import STRENGTH
from .tile.tile_drop_masks import DROPPED
from .uop.rules import FAMILIES
from .uop.rules.deviations import DEVIATIONS
from .uop.rules.fast_math import FAST_MATH
from .uop.uop_approximate import APPROXIMATE
from .uop.uop_fuse_reductions import FUSED_REDUCTIONS

RULE_FAMILIES: dict[str, Rules] = {
    **FAMILIES,
    "fast math": FAST_MATH,
    "uop-fuse-deviations": DEVIATIONS,
    "uop-fuse-reductions": FUSED_REDUCTIONS,
    "uop-approximate": APPROXIMATE,
    "tile-drop-masks": DROPPED,
    "gpu-kernel-strength-reduce": STRENGTH,
}
"""Family, or the pass that uses the rules → the rules."""
