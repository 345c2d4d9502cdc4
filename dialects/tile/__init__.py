"""tile: the first stage that knows the machine. Register tiles are vectors; slabs of buffers are staged in shared
memory."""

from xdsl.ir import Dialect

from ..layouts import SwizzleAttr
from ..schedule import ScheduleAttr
from .exchanges import ReduceAcrossOp, ScanAcrossOp, TakeAcrossOp
from .matrices import MatrixOp, MmaOp
from .memory import ReadOp, StageOp, WriteOp
from .positions import AxisOp, LeaveUnlessOp

Tile = Dialect(
    "tile",
    [AxisOp, LeaveUnlessOp, ReadOp, WriteOp, StageOp, ReduceAcrossOp, ScanAcrossOp, TakeAcrossOp, MmaOp],
    [ScheduleAttr, SwizzleAttr],
)

__all__ = [
    "AxisOp",
    "LeaveUnlessOp",
    "MatrixOp",
    "MmaOp",
    "ReadOp",
    "ReduceAcrossOp",
    "ScanAcrossOp",
    "StageOp",
    "TakeAcrossOp",
    "Tile",
    "WriteOp",
]
