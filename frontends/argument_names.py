"""Names of a function's arguments, out of the names that PyTorch gives: identifiers, unique, readable."""

import re
from collections.abc import Mapping, Sequence

_TRAILING_NUMBER = re.compile(r"_(\d+)$")


def identifier(name: str) -> str:
    """`layers.0.weight` → `layers_0_weight`, `input_1` → `input1` (xDSL drops `_1` at the end of a name)."""
    words = [word for word in re.split(r"[\W_]+", name) if word]
    joined = _TRAILING_NUMBER.sub(r"\1", "_".join(words))
    return f"p{joined}" if joined[:1].isdigit() else joined or "input"


def unique_identifiers(names: Sequence[str]) -> list[str]:
    """An identifier for each of `names`; where two are equal, the second gets a 2, and so on."""
    wanted = [identifier(name) for name in names]
    taken: set[str] = set()
    for position, name in enumerate(wanted):
        number = 1
        while wanted[position] in taken:
            number += 1
            if f"{name}{number}" not in wanted:
                wanted[position] = f"{name}{number}"
        taken.add(wanted[position])
    return wanted


def readable_name(qualified: str, classes: Mapping[str, str]) -> str:
    """`0.weight` → `rmsnorm0.weight`: a module that has only a number is called by its class as well.

    `lifted_tensor_0`, which is what `torch.export` calls the literal `torch.tensor(2.0)`, becomes `constant_0`.

    classes: name of the class of a module (`RMSNorm`) by its qualified name (`0`)
    """
    *owner, name = qualified.split(".")
    name = name.replace("lifted_tensor_", "constant_")
    if owner and owner[0].isdigit() and owner[0] in classes:
        owner[0] = classes[owner[0]].lower() + owner[0]
    return ".".join([*owner, name])
