"""Link one kernel of a module into a flat program: calls inlined, registers numbered, variables placed.

Device functions that the compiler did not inline (slow paths of the math library, __noinline__ functions) are
expanded at each call, with registers and local variables of their own; their parameters become registers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

from .errors import UnsupportedPtxError
from .memory import BUFFER_SPACING
from .parser import parse_ptx
from .ptx import (
    Address,
    Function,
    Immediate,
    Instruction,
    Module,
    Not,
    Operand,
    Pair,
    Register,
    Special,
    Symbol,
    Variable,
    Vector,
)


@dataclass(frozen=True, slots=True)
class Slot:
    """A numbered register."""

    index: int
    type: str


@dataclass(frozen=True, slots=True)
class Parameter:
    """A position in the kernel's parameter bank."""

    offset: int


@dataclass(slots=True)
class Linked:
    """An instruction whose operands are slots, parameters, immediates and addresses of these.

    guard: the predicate's slot and whether it is negated. targets: where a branch can go.
    """

    instruction: Instruction
    guard: tuple[Slot, bool] | None
    operands: tuple[LinkedOperand, ...]
    targets: list[int] = field(default_factory=list[int])


@dataclass(frozen=True, slots=True)
class LinkedAddress:
    """[base + offset]; base None is zero, for absolute addresses."""

    base: Slot | Parameter | None
    offset: int


@dataclass(frozen=True, slots=True)
class LinkedVector:
    """Several operands in braces; None is the sink."""

    elements: tuple[Slot | Immediate | None, ...]


@dataclass(frozen=True, slots=True)
class LinkedPair:
    """p|q."""

    first: Slot | None
    second: Slot | None


@dataclass(frozen=True, slots=True)
class LinkedNot:
    """!p."""

    slot: Slot


LinkedOperand = Slot | Immediate | LinkedAddress | LinkedVector | LinkedPair | LinkedNot | None


@dataclass(slots=True)
class Program:
    """A kernel, ready to be compiled to steps.

    register_types: by slot. specials: slots of the special registers in use. parameters: the kernel's formal
    parameters, with their offsets in the bank. module_variables: global and constant ones, in the order of
    their addresses. Sizes in bytes; shared memory of `extern` arrays starts at `shared_bytes`.
    """

    name: str
    instructions: list[Linked]
    register_types: list[str]
    specials: dict[str, Slot]
    parameters: list[tuple[Variable, int]]
    parameter_bytes: int
    module_variables: list[Variable]
    shared_variables: list[tuple[Variable, int]]
    shared_bytes: int
    local_bytes: int
    carry: Slot


def _slots(operand: LinkedOperand) -> list[Slot]:
    """The registers in an operand."""
    match operand:
        case Slot():
            return [operand]
        case LinkedAddress(base=Slot() as base):
            return [base]
        case LinkedVector():
            return [element for element in operand.elements if isinstance(element, Slot)]
        case LinkedPair():
            return [slot for slot in (operand.first, operand.second) if slot is not None]
        case LinkedNot():
            return [operand.slot]
        case _:
            return []


def _sink_unread(instructions: Sequence[Linked]) -> None:
    """Let elements of vector loads that nothing reads go nowhere: the compiler widens loads over what the program does
    not ask for, and may not have written."""
    occurrences = Counter(slot for linked in instructions for operand in linked.operands for slot in _slots(operand))
    for linked in instructions:
        target = linked.operands[0] if linked.operands else None
        if linked.instruction.name == "ld" and isinstance(target, LinkedVector):
            elements = [e if isinstance(e, Slot) and occurrences[e] > 1 else None for e in target.elements]
            linked.operands = (LinkedVector(tuple(elements)), *linked.operands[1:])


@lru_cache(maxsize=256)
def link(ptx: str, kernel: str | None = None) -> Program:
    """Parse and link `kernel`, which may be left out when the module has only one."""
    module = parse_ptx(ptx)
    names = module.kernels
    if kernel is None:
        if len(names) != 1:
            raise ValueError(f"the PTX has {len(names)} kernels ({', '.join(names)}): name one")
        kernel = names[0]
    elif kernel not in names:
        raise ValueError(f"the PTX has no kernel {kernel!r}; it has {', '.join(names) or 'none'}")
    return _Linker(module, module.functions[kernel]).link()


class _Linker:
    def __init__(self, module: Module, kernel: Function):
        self.module = module
        self.kernel = kernel
        self.out: list[Linked] = []
        self.types: list[str] = []
        self.specials: dict[str, Slot] = {}
        self.addresses: dict[Variable, int] = {}
        self.parameters: dict[Variable, int] = {}
        self.parameter_bytes = 0
        self.local_bytes = 0
        self.shared_bytes = 0
        self.module_variables: list[Variable] = []
        self.call_parameters: dict[tuple[Variable, int, int], Slot] = {}

    def link(self) -> Program:
        for variable in self.kernel.parameters:
            self.parameters[variable] = _align(self.parameter_bytes, variable.alignment)
            self.parameter_bytes = self.parameters[variable] + variable.size
        for variable in self.module.variables:
            if variable.space in ("global", "const"):
                self.module_variables.append(variable)
                self.addresses[variable] = BUFFER_SPACING * len(self.module_variables)
        self._place_shared()
        carry = self.new_slot("pred")
        self._emit(self.kernel, {}, ())
        _sink_unread(self.out)
        return Program(
            self.kernel.name,
            self.out,
            self.types,
            self.specials,
            list(self.parameters.items()),
            self.parameter_bytes,
            self.module_variables,
            [(variable, at) for variable, at in self.addresses.items() if variable.space == "shared"],
            self.shared_bytes,
            self.local_bytes,
            carry,
        )

    def _place_shared(self) -> None:
        """Shared variables of the module and of every function in reach; extern ones share what follows."""
        variables = [*self.module.variables]
        for function in self._reachable():
            variables += function.variables
        shared = [variable for variable in variables if variable.space == "shared"]
        for variable in shared:
            if not variable.is_dynamic:
                self.addresses[variable] = _align(self.shared_bytes, variable.alignment)
                self.shared_bytes = self.addresses[variable] + variable.size
        if any(variable.is_dynamic for variable in shared):
            self.shared_bytes = _align(self.shared_bytes, 128)
        for variable in shared:
            if variable.is_dynamic:
                self.addresses[variable] = self.shared_bytes

    def _reachable(self) -> list[Function]:
        found = [self.kernel]
        for function in found:
            for instruction in function.body:
                if instruction.name == "call" and not _is_assertion(instruction):
                    callee = self._call(instruction)[0]
                    if callee not in found:
                        found.append(callee)
        return found

    def _call(self, instruction: Instruction) -> tuple[Function, list[Variable], list[Variable]]:
        """The function that is called, and the variables for its results and its parameters."""
        names = [operand for operand in instruction.operands if isinstance(operand, Symbol)]
        function = self.module.functions.get(names[0].name) if names else None
        if function is None:
            what = names[0].name if names else "a function pointer"
            raise UnsupportedPtxError(_at(instruction, f"call of {what}, whose body is not in the PTX"))
        groups: list[list[Variable]] = []
        for operand in instruction.operands:
            if isinstance(operand, Vector):
                symbols = [element for element in operand.elements if isinstance(element, Symbol)]
                variables = [symbol.variable for symbol in symbols if symbol.variable is not None]
                if len(variables) != len(operand.elements):
                    raise UnsupportedPtxError(_at(instruction, "call with operands that are not .param variables"))
                groups.append(variables)
        results = groups.pop(0) if function.returns and groups else []
        arguments = groups.pop(0) if groups else []
        if len(results) != len(function.returns) or len(arguments) != len(function.parameters):
            raise UnsupportedPtxError(_at(instruction, "call that does not match the function's parameters"))
        return function, results, arguments

    def new_slot(self, type_: str) -> Slot:
        """A further register of the program."""
        self.types.append(type_)
        return Slot(len(self.types) - 1, type_)

    def _emit(self, function: Function, aliases: dict[Variable, Variable], callers: tuple[str, ...]) -> None:
        """Append a function's body. aliases: its parameters to the variables that the caller passes."""
        if function.name in callers:
            raise UnsupportedPtxError(f"recursive call of {function.name}: the simulator expands every call")
        for variable in function.variables:
            if variable.space == "local":
                self.addresses[variable] = _align(self.local_bytes, variable.alignment)
                self.local_bytes = self.addresses[variable] + variable.size
        expansion = _Expansion(self, aliases)
        positions: list[int] = []
        branches: list[tuple[Linked, tuple[str, ...]]] = []
        returns: list[Linked] = []
        for instruction in function.body:
            positions.append(len(self.out))
            if instruction.name == "call" and _is_assertion(instruction):
                trap = replace(instruction, name="trap", modifiers=(), operands=(), guard=None)
                self.out.append(Linked(trap, None, ()))
                continue
            if instruction.name == "call":
                if instruction.guard is not None:
                    raise UnsupportedPtxError(_at(instruction, "predicated call"))
                callee, results, arguments = self._call(instruction)
                passed = [*results, *arguments]
                formals = [*callee.returns, *callee.parameters]
                inner = {formal: aliases.get(actual, actual) for formal, actual in zip(formals, passed, strict=True)}
                self._emit(callee, inner, (*callers, function.name))
                continue
            linked = expansion.link(instruction)
            self.out += linked
            if instruction.name in ("bra", "brx"):
                branches.append((linked[0], _label_names(instruction, function)))
            elif instruction.name == "ret" and callers:
                returns.append(linked[0])
        positions.append(len(self.out))
        for linked_branch, names in branches:
            linked_branch.targets = [positions[function.labels[name]] for name in names]
        for linked_return in returns:
            linked_return.targets = [len(self.out)]


class _Expansion:
    """One copy of a function's body."""

    def __init__(self, linker: _Linker, aliases: dict[Variable, Variable]):
        self.linker = linker
        self.aliases = aliases
        self.slots: dict[Register, Slot] = {}

    def slot(self, register: Register) -> Slot:
        if register not in self.slots:
            self.slots[register] = self.linker.new_slot(register.type)
        return self.slots[register]

    def link(self, instruction: Instruction) -> list[Linked]:
        guard = None
        if instruction.guard is not None:
            guard = (self.slot(instruction.guard[0]), instruction.guard[1])
        if instruction.has("param") and instruction.name in ("ld", "st"):
            return self._parameter_moves(instruction, guard)
        if instruction.name in ("bra", "brx", "ret"):
            operands = tuple(self._operand(o, instruction) for o in instruction.operands if isinstance(o, Register))
        else:
            operands = tuple(self._operand(operand, instruction) for operand in instruction.operands)
        return [Linked(instruction, guard, operands)]

    def _parameter_moves(self, instruction: Instruction, guard: tuple[Slot, bool] | None) -> list[Linked]:
        """ld.param and st.param, one element each: from the bank, or between registers for a call."""
        is_load = instruction.name == "ld"
        address, value = instruction.operands if not is_load else instruction.operands[::-1]
        if not isinstance(address, Address) or not isinstance(address.base, Symbol) or address.base.variable is None:
            raise UnsupportedPtxError(_at(instruction, "parameter addressed through a register"))
        variable = self.aliases.get(address.base.variable, address.base.variable)
        values = value.elements if isinstance(value, Vector) else (value,)
        size = _type_bits(instruction.type)
        moves: list[Linked] = []
        for index, element in enumerate(values):
            offset = address.base.offset + address.offset + index * size // 8
            if variable in self.linker.parameters:
                where: LinkedOperand = LinkedAddress(Parameter(self.linker.parameters[variable] + offset), 0)
            else:
                where = self._call_parameter(instruction, variable, offset, size, is_load)
            operand = self._operand(element, instruction)
            moves.append(Linked(instruction, guard, (operand, where) if is_load else (where, operand)))
        return moves

    def _call_parameter(
        self, instruction: Instruction, variable: Variable, offset: int, size: int, is_load: bool
    ) -> Slot:
        key = (variable, offset, size)
        slots = self.linker.call_parameters
        if key not in slots:
            if is_load:
                raise UnsupportedPtxError(_at(instruction, "parameter read in another width than it was written"))
            slots[key] = self.linker.new_slot(f"b{size}")
        return slots[key]

    def _operand(self, operand: Operand | None, instruction: Instruction) -> LinkedOperand:
        match operand:
            case None | Immediate():
                return operand
            case Register():
                return self.slot(operand)
            case Special():
                specials = self.linker.specials
                if operand.name not in specials:
                    type_ = "b64" if operand.name in ("%clock64", "%globaltimer") else "b32"
                    specials[operand.name] = self.linker.new_slot(type_)
                return specials[operand.name]
            case Not():
                return LinkedNot(self.slot(operand.register))
            case Pair():
                return LinkedPair(*(self._destination(o, instruction) for o in (operand.first, operand.second)))
            case Vector():
                return LinkedVector(tuple(self._element(element, instruction) for element in operand.elements))
            case Symbol():
                return Immediate(self._address_of(operand, instruction))
            case Address():
                return self._address(operand, instruction)

    def _address(self, address: Address, instruction: Instruction) -> LinkedAddress:
        match address.base:
            case Register():
                return LinkedAddress(self.slot(address.base), address.offset)
            case Immediate():
                return LinkedAddress(None, address.base.value + address.offset)
            case Symbol():
                return LinkedAddress(None, self._address_of(address.base, instruction) + address.offset)

    def _destination(self, operand: Operand | None, instruction: Instruction) -> Slot | None:
        linked = self._operand(operand, instruction)
        if linked is None or isinstance(linked, Slot):
            return linked
        raise UnsupportedPtxError(_at(instruction, "destination that is not a register"))

    def _element(self, operand: Operand | None, instruction: Instruction) -> Slot | Immediate | None:
        linked = self._operand(operand, instruction)
        if linked is None or isinstance(linked, Slot | Immediate):
            return linked
        raise UnsupportedPtxError(_at(instruction, "vector of operands that are not registers"))

    def _address_of(self, symbol: Symbol, instruction: Instruction) -> int:
        variable = symbol.variable
        if variable is None or variable not in self.linker.addresses:
            raise UnsupportedPtxError(_at(instruction, f"address of {symbol.name}"))
        return self.linker.addresses[variable] + symbol.offset


def _is_assertion(instruction: Instruction) -> bool:
    """A call of the runtime's function that reports a failed assert()."""
    return any(isinstance(operand, Symbol) and operand.name == "__assertfail" for operand in instruction.operands)


def _label_names(instruction: Instruction, function: Function) -> tuple[str, ...]:
    last = instruction.operands[-1]
    assert isinstance(last, Symbol)
    return function.tables[last.name] if instruction.name == "brx" else (last.name,)


def _type_bits(type_: str) -> int:
    return int("".join(character for character in type_ if character.isdigit()))


def _align(offset: int, alignment: int) -> int:
    return -(-offset // alignment) * alignment


def _at(instruction: Instruction, what: str) -> str:
    line = f"line {instruction.line}: " if instruction.line else ""
    return f"{line}the simulator does not execute this PTX: {instruction.text} ({what})"
