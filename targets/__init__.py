"""The printers of the last dialect, by the name that `-t` takes."""

from collections.abc import Callable

from xdsl.utils.target import Target


def get_all_targets() -> dict[str, Callable[[], type[Target]]]:
    """Target name → factory."""

    def get_cuda() -> type[Target]:
        from .cuda import CUDATarget

        return CUDATarget

    def get_c() -> type[Target]:
        from .c import CTarget

        return CTarget

    return {"c": get_c, "cuda": get_cuda}
