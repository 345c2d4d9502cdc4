"""Kernels that compute for themselves what they read of another, where that costs less than to store it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from xdsl.ir import Operation, SSAValue

from ...dialects.types import byte_count, element_count, shape_of
from ...dialects.uop import GatherOp, ReshapeOp
from ...rewriting.diagnostics import PassError, emit_remark
from .accesses import UnorderedScanError
from .cones import Combination, Cone, part_of
from .fusion_judge import Judge
from .value_names import named


class KernelJoins:
    """The kernels of a function, by their last op, and who reads what they write.

    position: of the ops. judge: of kernels. returned: what the function returns.
    """

    def __init__(
        self,
        cones: Iterable[Cone],
        position: Mapping[Operation, int],
        judge: Judge,
        returned: frozenset[SSAValue],
    ):
        self.cones = {cone.ops[-1]: cone for cone in cones}
        self._position = position
        self._judge = judge
        self._returned = returned
        self._readers: dict[SSAValue, dict[Operation, None]] = {}
        for cone in self.cones.values():
            self._add(cone)

    def in_order(self) -> list[Cone]:
        """The kernels, each behind those that it reads."""
        return sorted(self.cones.values(), key=lambda cone: self._position[cone.ops[-1]])

    def cheaper(self, kept: Collection[Operation]) -> None:
        """Join each kernel to all that read it where the function does not return what it writes, they break no
        criterion then, and cost less. kept: ends of kernels that stay.

        A kernel that others were joined to stays: from layer to layer, sums would become longer.
        """
        grown = set(kept)
        for end in sorted(self.cones, key=self._position.__getitem__):
            cone = self.cones[end]
            if end in grown or not self._returned.isdisjoint(cone.roots):
                continue
            joined = self.absorbed(cone)
            if not joined or not self._may_be_cheaper(cone, [reader for reader, _ in joined]):
                continue
            if any(self._judge.find_impossible(whole) for _, whole in joined):
                continue
            apart = self._judge.cost([cone, *(reader for reader, _ in joined)])
            together = self._judge.cost(whole for _, whole in joined)
            if together < apart:
                self._replace(cone, joined)
                grown.update(reader.ops[-1] for reader, _ in joined)
                emit_remark(end, f"{place_of(end)} in no kernel of its own: joined {together}; cut {apart}")

    def by_name(self, name: str, ops: Iterable[Operation]) -> None:
        """Join the kernels that end at values of this name. Raises `PassError` where that cannot be."""
        for op in named(ops, name):
            if op not in self.cones:
                continue
            cone = self.cones[op]
            if not self._returned.isdisjoint(op.results):
                raise PassError(f"join '{name}': the function returns it", op, "join what is only used inside of it")
            joined = self.absorbed(cone)
            for reader, whole in joined:
                reason = self.why_not(reader, cone, whole)
                if reason is not None:
                    raise PassError(f"join '{name}': {reason}", op, "leave the join out")
            self._replace(cone, joined)
            emit_remark(op, f"{place_of(op)} in no kernel of its own: '{name}' is joined")

    def absorbed(self, cone: Cone) -> list[tuple[Cone, Cone]]:
        """Each kernel that reads what this one writes, and that which computes it instead."""
        ends = dict.fromkeys(end for root in cone.roots for end in self._readers.get(root, ()))
        readers = [self.cones[end] for end in sorted(ends, key=self._position.__getitem__)]
        return [(reader, self._whole(reader, cone)) for reader in readers]

    def why_not(self, reader: Cone, cone: Cone, whole: Cone) -> str | None:
        """Why a kernel cannot compute for itself what it reads of another, at any cost; None if it can."""
        if any(isinstance(op, GatherOp) and _source(op.input, whole) in cone.roots for op in reader.ops):
            return "it is read at places that data chooses"
        try:
            self._judge.work(whole)
        except UnorderedScanError:
            return "a scan would be read elsewhere than at one step of its axis after the other"
        return None

    def _may_be_cheaper(self, cone: Cone, readers: Collection[Cone]) -> bool:
        """Whether it may be worth to look at the kernels together: products feed no reductions, and all readers compute
        what this kernel does."""
        if has_product(cone) and any(isinstance(op, Combination) for reader in readers for op in reader.ops):
            return False
        if any(isinstance(op, Combination) for op in cone.ops) and any(_chooses_places(cone, each) for each in readers):
            return False  # nothing would bound the places
        machine = self._judge.machine
        stored = (len(readers) + 1) * sum(byte_count(root.type) for root in cone.roots)
        return (len(readers) - 1) * self._judge.work(cone).cost.operations < machine.launch + machine.byte * stored

    def _whole(self, reader: Cone, cone: Cone) -> Cone:
        ops = sorted({*reader.ops, *cone.ops}, key=self._position.__getitem__)
        leaves = [leaf for leaf in (*cone.leaves, *reader.leaves) if leaf not in cone.roots]
        return Cone(ops, reader.roots, dict.fromkeys(leaves), reader.parts)

    def _add(self, cone: Cone) -> None:
        for leaf in cone.leaves:
            self._readers.setdefault(leaf, {})[cone.ops[-1]] = None

    def _replace(self, cone: Cone, joined: Iterable[tuple[Cone, Cone]]) -> None:
        """Let each kernel that reads what this one writes compute it."""
        end = cone.ops[-1]
        del self.cones[end]
        for leaf in cone.leaves:
            del self._readers[leaf][end]
        for reader, whole in joined:
            self.cones[reader.ops[-1]] = whole
            self._add(whole)


def _chooses_places(cone: Cone, reader: Cone) -> bool:
    """Whether the reader gathers where values of the kernel say."""
    places = [op.indices for op in reader.ops if isinstance(op, GatherOp)]
    return not part_of(reader, places, reader.leaves).leaves.keys().isdisjoint(cone.roots)


def has_product(cone: Cone) -> bool:
    """Whether the kernel reduces more elements than it reads of anything."""
    most = max((element_count(shape_of(leaf.type)) for leaf in cone.leaves), default=0)
    combined = [op.operands[0] for op in cone.ops if isinstance(op, Combination)]
    return any(element_count(shape_of(value.type)) > most for value in combined)


def place_of(op: Operation) -> str:
    """The end of a kernel, for remarks."""
    return f"{op.name}, which writes {sum(byte_count(result.type) for result in op.results)} bytes"


def source_of_view(value: SSAValue) -> SSAValue:
    """The value that this one reshapes; itself if it is no reshape."""
    while isinstance(value.owner, ReshapeOp):
        value = value.owner.input
    return value


def _source(value: SSAValue, cone: Cone) -> SSAValue:
    """The value that movement shows."""
    while value not in cone.leaves and isinstance(value.owner, Operation) and len(value.owner.operands) == 1:
        value = value.owner.operands[0]
    return value
