"""Entry point `xdsl.universe`: makes uop known to stock `xdsl-opt` and to third parties."""

from xdsl.universe import Universe
from xdsl.utils.target import Target

from ..dialects import get_all_dialects
from ..passes import get_all_passes
from ..targets import get_all_targets


def _get_uop_tree() -> type[Target]:
    from .uop_tree import UOpTreeTarget

    return UOpTreeTarget


UOP_UNIVERSE = Universe(
    all_dialects=get_all_dialects(),
    all_passes=get_all_passes(),
    all_targets={**get_all_targets(), "uop-tree": _get_uop_tree},
)
