"""What the definition of an op class says of its operands and results."""

from functools import cache

from xdsl.ir import Operation
from xdsl.irdl import IRDLOperation, OptOperandDef, OptPropertyDef, OptResultDef, VarOperandDef, VarResultDef

from ..dialects.uop import AluOp


@cache
def fixed_arity(op: type[Operation]) -> int | None:
    """How many operands every op of this class has; None where that differs."""
    if issubclass(op, AluOp):
        return op.row().arity
    if not issubclass(op, IRDLOperation):
        return None
    operands = [definition for _, definition in op.get_irdl_definition().operands]
    variable = any(isinstance(definition, VarOperandDef | OptOperandDef) for definition in operands)
    return None if variable else len(operands)


@cache
def result_count(op: type[Operation]) -> int | None:
    """How many results every op of this class has; None where that differs."""
    if not issubclass(op, IRDLOperation):
        return None
    results = [definition for _, definition in op.get_irdl_definition().results]
    variable = any(isinstance(definition, VarResultDef | OptResultDef) for definition in results)
    return None if variable else len(results)


def operand_fields(op: type[Operation]) -> dict[str, bool | None]:
    """The operands by the name of their field: whether the op always has one there; None for any number of them."""
    if not issubclass(op, IRDLOperation):
        return {}
    return {
        name: False
        if isinstance(definition, OptOperandDef)
        else None
        if isinstance(definition, VarOperandDef)
        else True
        for name, definition in op.get_irdl_definition().operands
    }


def property_fields(op: type[Operation]) -> dict[str, tuple[str, bool]]:
    """The properties by the name of their field: the property's own name, and whether it must be given."""
    if not issubclass(op, IRDLOperation):
        return {}
    definition = op.get_irdl_definition()
    fields: dict[str, tuple[str, bool]] = {}
    for field, (name, kind) in definition.accessor_names.items():
        if kind == "property":
            property = definition.properties[name]
            needed = not isinstance(property, OptPropertyDef) and property.default_value is None
            fields[field] = name, needed
    return fields
