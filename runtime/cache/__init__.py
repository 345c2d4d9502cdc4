"""What compilers made, on disk: entries of named files under keys that say all that they depend on.

`default_cache()` is the user's, in `$UOP_CACHE_DIR`, `$XDG_CACHE_HOME/uop` or `~/.cache/uop`; None with `UOP_CACHE=0`.
"""

from .entry import Entry, EntryError
from .key import Key, differing_parts
from .settings import default_cache, default_folder
from .store import Cache, CacheWarning, Stored

__all__ = [
    "Cache",
    "CacheWarning",
    "Entry",
    "EntryError",
    "Key",
    "Stored",
    "default_cache",
    "default_folder",
    "differing_parts",
]
