"""PTX text to `ptx.Module`.

Reads what NVRTC, nvcc and Triton emit: scopes in braces with their own registers and labels, `.loc` line
information, module variables with initial values, device functions. Whatever follows the first `.section`
is debug data and is skipped. A statement that is not understood raises UnsupportedPtxError.
"""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass, field, replace
from functools import lru_cache

from .errors import UnsupportedPtxError
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

NAME = r"[A-Za-z_$%][\w$]*"
_SPACE = re.compile(r"\s+")
_LINE_DIRECTIVE = re.compile(
    r"\.(version|target|address_size|file|maxntid|reqntid|minnctapersm|maxnreg|maxnctapersm"
    r"|explicitcluster|reqnctapercluster|maxclusterrank|noreturn|abi_preserve\w*)\b([^\n{;]*)"
)
_LOC = re.compile(r"\.loc\s+(\d+)\s+(\d+)\s+(\d+)([^\n]*)")
_INLINED_AT = re.compile(r"inlined_at\s+(\d+)\s+(\d+)\s+(\d+)")
_LABEL = re.compile(r"([A-Za-z_$][\w$]*)\s*:(?!:)")
_LINKAGE = re.compile(r"\.(visible|weak|extern|common)\b")
_FUNCTION = re.compile(r"\.(entry|func)\b")
_VARIABLE = re.compile(
    r"(?:\.(?:visible|weak|extern|common)\s+)?\.(global|const|shared|local|param)\b(.*?)"
    rf"\.(pred|[bsuf]\d+)(?:\s+\.ptr[^,]*?)?\s+({NAME})\s*((?:\[\d*\]\s*)*)(?:=\s*(.*))?$",
    re.S,
)
_VECTOR_TYPE = re.compile(r"\.v([248])\b")
_ALIGNMENT = re.compile(r"\.align\s+(\d+)")
_REGISTERS = re.compile(r"\.reg\s*\.(\w+)\s+(.*)$", re.S)
_REGISTER_RANGE = re.compile(rf"({NAME})<(\d+)>")
_INSTRUCTION = re.compile(rf"(?:@(!?)\s*({NAME})\s+)?([a-z][\w.:]*)\s*(.*)$", re.S)
_ADDRESS = re.compile(rf"\[\s*({NAME}|-?\w+)\s*(?:([+-])\s*(-?\w+))?\s*\]$")
_INTEGER = re.compile(r"-?(0[xX][0-9a-fA-F]+|0[0-7]*|[1-9]\d*|0[bB][01]+)U?$")
_SYMBOL = re.compile(rf"({NAME})(?:\s*([+-])\s*(\d+))?$")

_SPECIAL_REGISTERS = frozenset(
    ["WARP_SZ", "%laneid", "%warpid", "%clock", "%clock64", "%globaltimer", "%smid", "%nwarpid"]
    + [f"%lanemask_{relation}" for relation in ("eq", "lt", "le", "gt", "ge")]
    + [f"%{name}.{axis}" for name in ("tid", "ntid", "ctaid", "nctaid") for axis in "xyz"]
    + ["%dynamic_smem_size", "%total_smem_size"]
)


@lru_cache(maxsize=256)
def parse_ptx(text: str) -> Module:
    """Parse a PTX module."""
    return _Parser(text).parse()


@dataclass(eq=False)
class _Scope:
    """What one pair of braces declares."""

    parent: _Scope | None
    registers: dict[str, Register] = field(default_factory=dict[str, Register])
    variables: dict[str, Variable] = field(default_factory=dict[str, Variable])
    labels: dict[str, str] = field(default_factory=dict[str, str])

    def register(self, name: str) -> Register | None:
        scope: _Scope | None = self
        while scope is not None:
            if (found := scope.registers.get(name)) is not None:
                return found
            scope = scope.parent
        return None

    def variable(self, name: str) -> Variable | None:
        scope: _Scope | None = self
        while scope is not None:
            if (found := scope.variables.get(name)) is not None:
                return found
            scope = scope.parent
        return None

    def label(self, name: str) -> str | None:
        scope: _Scope | None = self
        while scope is not None:
            if (found := scope.labels.get(name)) is not None:
                return found
            scope = scope.parent
        return None


class _Parser:
    def __init__(self, text: str):
        text = re.sub(r"/\*.*?\*/", " ", text.rstrip("\0"), flags=re.S)
        self.text = re.sub(r"//[^\n]*", "", text)
        self.position = 0
        self.scope = _Scope(None)
        self.module = Module("", [], {}, {})
        self.function: Function | None = None
        self.instruction_scopes: list[_Scope] = []
        self.label_count = 0
        self.location = (0, 0)
        self.inlined_at: dict[tuple[int, int, int], tuple[int, int, int] | None] = {}

    def parse(self) -> Module:
        while self._skip_space():
            if self.text.startswith(".section", self.position):
                break
            self._statement()
        return self.module

    def _skip_space(self) -> bool:
        if match := _SPACE.match(self.text, self.position):
            self.position = match.end()
        return self.position < len(self.text)

    def _take(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        match = pattern.match(self.text, self.position)
        if match:
            self.position = match.end()
        return match

    def _statement(self) -> None:
        character = self.text[self.position]
        if character == ";":
            self.position += 1
        elif character == "{":
            self.position += 1
            self.scope = _Scope(self.scope)
        elif character == "}":
            self.position += 1
            self._close_scope()
        elif character == "." and (match := self._take(_LOC)):
            self._locate(match)
        elif character == "." and (match := self._take(_LINE_DIRECTIVE)):
            self._directive(match[1], match[2].strip())
        elif character == "." and (match := self._function_header()):
            self._open_function(*match)
        elif character != "." and (match := self._take(_LABEL)):
            self._label(match[1])
        else:
            self._until_semicolon()

    def _close_scope(self) -> None:
        if self.scope.parent is None:
            raise UnsupportedPtxError("PTX: a closing brace without an opening one")
        self.scope = self.scope.parent
        if self.scope.parent is None and self.function is not None:
            self._resolve_labels(self.function)
            self.function = None

    def _locate(self, match: re.Match[str]) -> None:
        """Follow the chain of inlined calls to the line in the kernel itself."""
        here = (int(match[1]), int(match[2]), int(match[3]))
        call = _INLINED_AT.search(match[4])
        self.inlined_at[here] = (int(call[1]), int(call[2]), int(call[3])) if call else None
        for _ in range(64):
            outer = self.inlined_at.get(here)
            if outer is None:
                break
            here = outer
        if here[1] != 0:
            self.location = here[:2]

    def _directive(self, name: str, rest: str) -> None:
        if name == "target":
            self.module.target = rest.split(",")[0].strip()
        elif name == "file" and (match := re.match(r'(\d+)\s+"([^"]*)"', rest)):
            self.module.files[int(match[1])] = match[2]

    def _function_header(self) -> tuple[bool, str] | None:
        """(is it a kernel, the text between the keyword and the body or semicolon), if a function starts here."""
        position = self.position
        while self._take(_LINKAGE):
            self._skip_space()
        keyword = self._take(_FUNCTION)
        if keyword is None:
            self.position = position
            return None
        end = re.compile(r"[{;]").search(self.text, self.position)
        if end is None:
            raise UnsupportedPtxError("PTX: a function header that does not end")
        header = self.text[self.position : end.start()]
        self.position = end.start()
        return keyword[1] == "entry", header

    def _open_function(self, is_entry: bool, header: str) -> None:
        match = re.match(rf"\s*(?:\(([^)]*)\))?\s*({NAME})\s*(?:\(([^)]*)\))?(.*)$", header, re.S)
        if match is None:
            raise UnsupportedPtxError(f"PTX: function header {_one_line(header)!r}")
        is_declaration = self.text[self.position] == ";"
        self.position += 1
        if is_declaration:
            return
        self.scope = _Scope(self.scope)
        function = Function(match[2], is_entry)
        function.returns = [self._declare(text) for text in _split(match[1] or "")]
        function.parameters = [self._declare(text) for text in _split(match[3] or "")]
        self.function = self.module.functions[function.name] = function
        self.instruction_scopes = []
        self.location = (0, 0)

    def _label(self, name: str) -> None:
        if self.function is None:
            raise UnsupportedPtxError(f"PTX: label {name} outside a function")
        match = re.compile(r"\s*\.branchtargets\s+([^;]*);").match(self.text, self.position)
        if match:
            self.position = match.end()
            self.function.tables[name] = tuple(_split(match[1]))
            return
        unique = f"{name}@{self.label_count}"
        self.label_count += 1
        self.scope.labels[name] = unique
        self.function.labels[unique] = len(self.function.body)

    def _resolve_labels(self, function: Function) -> None:
        """Replace the labels in branches by unique ones: a scope may reuse a name."""
        for index, scope in enumerate(self.instruction_scopes):
            instruction = function.body[index]
            if instruction.name == "bra":
                function.body[index] = replace(
                    instruction, operands=(Symbol(self._find_label(scope, instruction), None),)
                )
            elif instruction.name == "brx":
                table = instruction.operands[1]
                assert isinstance(table, Symbol)
                names = function.tables[table.name]
                function.tables[table.name] = tuple(scope.label(name) or name for name in names)

    def _find_label(self, scope: _Scope, instruction: Instruction) -> str:
        target = instruction.operands[0]
        label = scope.label(target.name) if isinstance(target, Symbol) else None
        if label is None:
            raise UnsupportedPtxError(f"PTX: no such label: {instruction.text}")
        return label

    def _until_semicolon(self) -> None:
        end = self.text.find(";", self.position)
        if end < 0:
            raise UnsupportedPtxError(f"PTX: {_one_line(self.text[self.position :])!r} does not end")
        text = self.text[self.position : end].strip()
        self.position = end + 1
        if text.startswith((".pragma", ".alias", ".callprototype")):
            return
        if match := _REGISTERS.match(text):
            self._registers(match[1], match[2])
        elif text.startswith("."):
            variable = self._declare(text)
            if self.function is None:
                self.module.variables.append(variable)
            else:
                self.function.variables.append(variable)
        else:
            self._instruction(text)

    def _registers(self, type_: str, names: str) -> None:
        for name in _split(names):
            if match := _REGISTER_RANGE.fullmatch(name):
                prefix = match[1]
                for number in range(int(match[2])):
                    self.scope.registers[f"{prefix}{number}"] = Register(f"{prefix}{number}", type_)
            else:
                self.scope.registers[name] = Register(name, type_)

    def _declare(self, text: str) -> Variable:
        match = _VARIABLE.match(text.strip())
        if match is None:
            raise UnsupportedPtxError(f"PTX declaration not understood: {_one_line(text)}")
        space, attributes, type_, name, dimensions, initial = match.groups()
        lanes = int(vector[1]) if (vector := _VECTOR_TYPE.search(attributes)) else 1
        element = max(1, int(re.sub(r"\D", "", type_) or 8) // 8) * lanes
        count, is_dynamic = 1, False
        for extent in re.findall(r"\[(\d*)\]", dimensions):
            is_dynamic |= extent == ""
            count *= int(extent or 0)
        alignment = int(given[1]) if (given := _ALIGNMENT.search(attributes)) else element
        data = _initial_bytes(initial, type_, text) if initial else b""
        variable = Variable(name, space, count * element, alignment, type_, data, is_dynamic)
        self.scope.variables[name] = variable
        return variable

    def _instruction(self, text: str) -> None:
        text = _one_line(text)
        match = _INSTRUCTION.match(text)
        if match is None or self.function is None:
            raise UnsupportedPtxError(f"PTX statement not understood: {text}")
        negated, guard_name, opcode, rest = match.groups()
        guard = None
        if guard_name:
            register = self.scope.register(guard_name)
            if register is None:
                raise UnsupportedPtxError(f"PTX: undeclared predicate {guard_name}: {text}")
            guard = (register, negated == "!")
        name, *modifiers = opcode.replace("::", "__").split(".")
        modifiers = [modifier.replace("__", "::") for modifier in modifiers]
        operands = tuple(self._operand(operand, text) for operand in _split(rest))
        file, line = self.location
        self.function.body.append(Instruction(text, line, file, guard, name, tuple(modifiers), operands))
        self.instruction_scopes.append(self.scope)

    def _operand(self, text: str, where: str) -> Operand | None:
        if text == "_":
            return None
        first = text[0]
        if first in "{(":
            return Vector(tuple(self._operand(part, where) for part in _split(text[1:-1])))
        if first == "[":
            return self._address(text, where)
        if "|" in text:
            left, right = text.split("|")
            return Pair(self._operand(left.strip(), where), self._operand(right.strip(), where))
        if first == "!":
            register = self.scope.register(text[1:].strip())
            if register is None:
                raise UnsupportedPtxError(f"PTX: undeclared register {text}: {where}")
            return Not(register)
        if (register := self.scope.register(text)) is not None:
            return register
        if text in _SPECIAL_REGISTERS:
            return Special(text)
        if (immediate := _immediate(text)) is not None:
            return immediate
        if first != "%" and (match := _SYMBOL.match(text)):
            offset = int(match[3] or 0) * (-1 if match[2] == "-" else 1)
            return Symbol(match[1], self.scope.variable(match[1]), offset)
        raise UnsupportedPtxError(f"PTX operand {text!r} not understood: {where}")

    def _address(self, text: str, where: str) -> Address:
        match = _ADDRESS.match(text)
        if match is None:
            raise UnsupportedPtxError(f"PTX address {text!r} not understood: {where}")
        base = self._operand(match[1], where)
        offset = int(match[3], 0) * (-1 if match[2] == "-" else 1) if match[3] else 0
        if isinstance(base, Symbol) and base.variable is None:
            raise UnsupportedPtxError(f"PTX: undeclared variable {base.name}: {where}")
        if not isinstance(base, Register | Symbol | Immediate):
            raise UnsupportedPtxError(f"PTX address {text!r} not understood: {where}")
        return Address(base, offset)


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _split(text: str) -> list[str]:
    """Split at the commas that are in no brackets."""
    if not text.strip():
        return []
    if "{" not in text and "[" not in text and "(" not in text:
        return [part.strip() for part in text.split(",")]
    parts, depth, start = list[str](), 0, 0
    for index, character in enumerate(text):
        if character in "{[(":
            depth += 1
        elif character in "}])":
            depth -= 1
        elif character == "," and depth == 0:
            parts.append(text[start:index].strip())
            start = index + 1
    return [*parts, text[start:].strip()]


def _immediate(text: str) -> Immediate | None:
    if text[:2] in ("0f", "0F") and len(text) == 10:
        return Immediate(int(text[2:], 16), 32)
    if text[:2] in ("0d", "0D") and len(text) == 18:
        return Immediate(int(text[2:], 16), 64)
    if _INTEGER.match(text):
        return Immediate(_integer(text))
    return None


def _integer(text: str) -> int:
    negative = text.startswith("-")
    digits = text.lstrip("-").rstrip("U")
    is_octal = len(digits) > 1 and digits[0] == "0" and digits[1] not in "xXbB"
    value = int(digits, 8 if is_octal else 0)
    return -value if negative else value


def _initial_bytes(text: str, type_: str, where: str) -> bytes:
    """The initial value of a module variable as bytes; missing elements are zeros."""
    size = max(1, int(re.sub(r"\D", "", type_)) // 8)
    data = bytearray()
    for item in re.split(r"[{},\s]+", text):
        if not item:
            continue
        immediate = _immediate(item)
        if immediate is None:
            if type_[0] != "f" or not re.fullmatch(r"-?[\d.]+(?:[eE][+-]?\d+)?", item):
                raise UnsupportedPtxError(f"PTX initial value {item!r} not understood: {_one_line(where)[:80]}")
            data += struct.pack("<f" if size == 4 else "<d", float(item))
        else:
            data += (immediate.value & (1 << 8 * size) - 1).to_bytes(size, "little")
    return bytes(data)
