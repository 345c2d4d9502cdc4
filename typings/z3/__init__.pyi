# z3 has no types: every name in it is Any.
from typing import Any

def __getattr__(name: str) -> Any: ...
