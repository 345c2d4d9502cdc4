"""The second half of a rule's code: what builds the replacement once the term has matched."""

from __future__ import annotations

from xdsl.ir import Attribute, Operation

from ..dialects.monoids import Number
from ..dialects.uop import AluOp
from .definitions import fixed_arity, operand_fields, property_fields, result_count
from .patterns import AnyOf, AttributeVariable, NumberExpression, Operand, Operands, Term, Variable
from .rule_code import RuleCode


def write_replacement(code: RuleCode) -> None:
    """Write what builds the replacement and returns it with the rule."""
    rule, replacement = code.name_of(code.rule, "Rule"), code.rule.replacement
    assert not isinstance(replacement, AnyOf), "sets hold the alternatives of a rule"
    if isinstance(replacement, Variable):
        code.line(f"return {rule}, {code.known(replacement.name)}")
        return
    code.line(f"builder = rewriter.builder({', '.join(('op', *code.matched))})")
    has_result = result_count(code.shared.op) != 0
    type_ = "op.results[0].type" if has_result else "None"
    if isinstance(replacement, Term):
        value = _build(code, replacement, type_)
    elif isinstance(replacement, NumberExpression | int | float):
        value = _build_number(code, replacement, type_, code.rule.term)
    else:
        value = code.new_name("n")
        code.line(f"{value} = {code.call(replacement, 'builder')}")
        code.test(f"{value} is not None")
    code.line(f"return {rule}, {value}")


def _build(code: RuleCode, term: Term, type_: str) -> str:
    """Build a term as a value of type `type_` where it has none of its own; the expression that holds it."""
    if term.operands is None:
        raise code.error(f"write the operands of {term} by position, or use a function to build it")
    if isinstance(term.type, Variable):
        type_ = f"{code.known(term.type.name)}.type"
    elif isinstance(term.type, Attribute):
        type_ = code.name_of(term.type, "Type")
    op = term.head.op
    if issubclass(op, AluOp):
        operands = _build_operands(code, term, type_, op)
        name = code.new_name("n")
        code.line(f"{name} = builder.alu({op.row().name!r}, {', '.join(operands)})")
        return name
    properties = _properties(code, term)
    arity = fixed_arity(op)
    if arity is not None and len(term.operands) != arity:
        raise code.error(f"{term.head.name} takes {arity} operands")
    if _has_segments(op):
        raise code.error(f"use a function to build {term}")
    operands = _build_operands(code, term, type_, op)
    operation = code.new_name("n")
    has_result = result_count(op) != 0  # where it may have several, it gets one
    types = f"({type_},)" if has_result else "()"
    cls = code.name_of(op, "Op")
    code.line(f"{operation} = builder.any_op({cls}, ({''.join(f'{o}, ' for o in operands)}), {types}, {properties})")
    return f"{operation}.results[0]" if has_result else f"{operation}.results"


def _has_segments(op: type[Operation]) -> bool:
    """Whether its operands come in several parts of any length, which only the op's own constructor can tell
    apart."""
    return fixed_arity(op) is None and len(operand_fields(op)) > 1


def _properties(code: RuleCode, term: Term) -> str:
    """The dictionary of properties that a term is built with."""
    fields = property_fields(term.head.op)
    given: dict[str, str] = {}
    for field, value in term.properties:
        if field not in fields:
            raise code.error(f"{term.head.name} has no property {field}")
        if isinstance(value, AttributeVariable):
            given[fields[field][0]] = code.known(value.name)
        elif isinstance(value, Attribute):
            given[fields[field][0]] = code.name_of(value, "Attribute")
        elif value is not None:
            raise code.error(f"{field} of {term.head.name} must be an attribute, or a variable for one")
    if missing := [field for field, (name, needed) in fields.items() if needed and name not in given]:
        raise code.error(f"{term.head.name} is built without {', '.join(missing)}: add .having({missing[0]}=…)")
    return f"{{{', '.join(f'{name!r}: {value}' for name, value in given.items())}}}"


def _build_operands(code: RuleCode, term: Term, type_: str, op: type[Operation]) -> list[str]:
    """Numbers take the type of a sibling: all operands of an ALU op have one type, but for where's
    condition."""
    operands = term.operands or ()
    built: dict[int, str] = {}
    for i, operand in enumerate(operands):
        if not isinstance(operand, NumberExpression | int | float):
            built[i] = _build_operand(code, operand, type_)
    siblings = [i for i in built if (i > 0 or op.name != "uop.where") and not isinstance(operands[i], Operands)]
    if siblings:
        type_ = f"{built[siblings[-1]]}.type"
    elif issubclass(op, AluOp) and op.row().compares:
        raise code.error(f"of what type are the numbers of {op.name}?")
    for i, operand in enumerate(operands):
        if isinstance(operand, NumberExpression | int | float):
            built[i] = _build_number(code, operand, type_, term)
    return [built[i] for i in range(len(operands))]


def _build_operand(code: RuleCode, operand: Operand, type_: str) -> str:
    if isinstance(operand, Variable):
        return code.known(operand.name)
    if isinstance(operand, Operands):
        return f"*{code.known(operand.name)}"
    if not isinstance(operand, Term):
        raise code.error(f"{operand} stands in terms that match only")
    return _build(code, operand, type_)


def _build_number(code: RuleCode, number: NumberExpression | Number, type_: str, term: Term) -> str:
    """Build a number with the constants of the dialect of the term in which it stands."""
    text = code.render(number) if isinstance(number, NumberExpression) else repr(number)
    name = code.new_name("n")
    constant = term.head.constant
    more = "" if constant is None else f", {code.name_of(constant, 'Op')}"
    code.line(f"{name} = builder.number({text}, {type_}{more})")
    code.test(f"{name} is not None")
    return name
