"""uop-store-in-place: a new value that differs from the old one in some places is written there only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr, SymbolRefAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import BlockArgument
from xdsl.passes import ModulePass

from ...dialects.argument_attributes import mutated_result
from ...dialects.uop import KernelOp, LaunchOp, StoreOp, becomes_result, buffer_of, obstacle
from ...rewriting.builder import Builder
from ...rewriting.dead import erase_unused
from ...rewriting.diagnostics import emit_remark
from .selects import Selects


class UOpStoreInPlacePass(ModulePass):
    """Kernels in range form whose result is `where(condition, new, old at the same place)`, such as the update of a
    cache at a position that is data: the store gets the condition as its mask, the load of the old value goes, and the
    launch says that the result takes the old value's buffer (`reuse`). What is not written is as it was.

    `old` is an intermediate of the program, or an argument whose new value the function gives (`uop.mutated`), where
    that new value then lies. Nobody reads the old value while the kernel runs or later. Several conditions, one inside
    the other, become one: that a new value is chosen.

    Where a mutated argument, or an intermediate, is updated like that but must be copied, a remark says by which fact.
    A kernel is copied where only some of its launches can take a buffer.
    Leaves alone: kernels in another form, stores that have a mask, and all other stores.
    """

    name = "uop-store-in-place"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        functions = [each for each in op.ops if isinstance(each, FuncOp) and len(each.body.blocks) == 1]
        launches = [each for function in functions for each in function.body.block.ops if isinstance(each, LaunchOp)]
        by_kernel: dict[str, list[LaunchOp]] = {}
        for launch in launches:
            by_kernel.setdefault(launch.kernel.root_reference.data, []).append(launch)
        kernels = [each for each in op.ops if isinstance(each, KernelOp) and not each.is_tensor_form]
        found = {kernel: _updates_of(kernel, by_kernel.get(kernel.sym_name.data, ())) for kernel in kernels}
        updates = [update for each in found.values() for update in each]
        while dropped := [update for update in updates if not update.ends_in_argument()]:
            updates = [update for update in updates if update not in dropped]
            for update in dropped:
                update.drop("what the function gives as its new value lies elsewhere")
        symbols = {name.data for each in op.ops if isinstance(name := each.properties.get("sym_name"), StringAttr)}
        for kernel in {update.kernel: None for update in updates}:
            _carry_out(kernel, by_kernel[kernel.sym_name.data], symbols)


@dataclass(frozen=True, eq=False)
class _Update:
    """A launch of a kernel that stores a new value here and there, where the result may take the old one's buffer.

    The launch says so already.
    """

    kernel: KernelOp
    launch: LaunchOp
    result: int
    operand: int

    def ends_in_argument(self) -> bool:
        """Whether the buffer is no argument's, or the argument's new value lies there in the end."""
        buffer = buffer_of(self.launch.results[self.result])
        return not isinstance(buffer, BlockArgument) or becomes_result(buffer)

    def drop(self, reason: str) -> None:
        """Copy what stays as it is."""
        taken = list(self.launch.reused())
        taken[self.result] = None
        self.launch.take(taken)
        buffer = buffer_of(self.launch.operands[self.operand])
        if isinstance(buffer, BlockArgument) and mutated_result(buffer) is None:
            return  # it is no state, and has to be copied
        name = buffer.name_hint or "an intermediate"
        emit_remark(self.launch, f"result {self.result} updates {name}, of which all is copied: {reason}")


def _updates_of(kernel: KernelOp, launches: Sequence[LaunchOp]) -> list[_Update]:
    """The results of launches of a kernel that can take the buffers of what they update."""
    outputs = len(launches[0].results) if launches else 0
    found: list[_Update] = []
    for result in range(outputs):
        selects = _selects_of(kernel, result)
        if selects is None:
            continue
        for launch in launches:
            update = _Update(kernel, launch, result, selects.old.index - outputs)
            taken = list(launch.reused())
            if not selects.are_all_that_reads():
                reason = "the kernel reads the old value for something else too"
            elif update.operand in taken:
                reason = "another result takes its buffer"
            else:
                blocked = obstacle(launch, result, update.operand)
                reason = None if blocked is None else blocked[0]
            if reason is not None:
                update.drop(reason)
                continue
            taken[result] = update.operand
            launch.take(taken)
            found.append(update)
    return found


def _selects_of(kernel: KernelOp, result: int) -> Selects | None:
    """What a kernel stores to a buffer where it chooses between a new value and an old one."""
    uses = list(kernel.body.block.args[result].uses)
    store = uses[0].operation if len(uses) == 1 else None
    return Selects.of(store) if isinstance(store, StoreOp) and store.mask is None else None


def _carry_out(kernel: KernelOp, launches: Sequence[LaunchOp], symbols: set[str]) -> None:
    """Store new values only, in a kernel for those launches that take the same buffers."""
    alike: dict[tuple[int | None, ...], list[LaunchOp]] = {}
    for launch in launches:
        alike.setdefault(launch.reused(), []).append(launch)
    copies = [kernel, *(kernel.clone() for _ in range(len(alike) - 1))]
    for copy, (taken, group) in zip(copies, alike.items(), strict=True):
        if copy is not kernel:
            name = _fresh(kernel.sym_name.data, symbols)
            copy.sym_name = StringAttr(name)
            module = kernel.parent
            assert module is not None
            module.insert_op_after(copy, kernel)
            for launch in group:
                launch.kernel = SymbolRefAttr(name)
        for result, operand in enumerate(taken):
            if operand is not None:
                _store_new_values(copy, result)


def _store_new_values(kernel: KernelOp, result: int) -> None:
    selects = _selects_of(kernel, result)
    assert selects is not None
    store, block = selects.store, kernel.body.block
    builder = Builder(block, before=store)
    with builder.at(store.location):
        condition, value = selects.split(builder)
        builder.insert(StoreOp.of(value, store.buffer, store.indices, condition))
    block.erase_op(store)
    erase_unused(block)


def _fresh(name: str, symbols: set[str]) -> str:
    """A name like `name` that no symbol has; it is taken then."""
    while name in symbols:
        name += "_"
    symbols.add(name)
    return name
