"""The cache on disk: keys, entries that prove themselves, processes that share a folder, and disks that refuse."""

from __future__ import annotations

import errno
import os
import random
import signal
import subprocess
import sys
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from uop.runtime.cache import Cache, CacheWarning, EntryError, Key, default_cache, differing_parts, settings, store
from uop.runtime.cache.entry import Entry, decode, encode
from uop.runtime.cache.versions import uop_version

KEY = Key({"kind": "test", "name": "k", "text": "a\nb", "arch": "sm_90"})
FILES = {"image": bytes(range(256)) * 20, "log": b"", "größe.txt": "ü".encode()}
LIMIT = 1 << 20


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    return Cache(tmp_path / "cache", LIMIT)


def path_of(cache: Cache, key: Key = KEY) -> Path:
    return cache.folder / key.digest[:2] / f"{key.digest}.entry"


# -- keys ------------------------------------------------------------------------------------------------------------


def test_keys_differ_in_any_part() -> None:
    changed = [Key({**KEY.parts, name: KEY.parts[name] + " "}) for name in KEY.parts]
    more, fewer = Key({**KEY.parts, "more": ""}), Key({"kind": "test"})
    assert len({key.digest for key in (KEY, *changed, more, fewer)}) == len(KEY.parts) + 3
    assert Key(dict(sorted(KEY.parts.items(), reverse=True))).digest == KEY.digest
    assert differing_parts(KEY, changed[2]) == ["text"]
    assert differing_parts(KEY, Key({"kind": "test", "new": ""})) == ["arch", "name", "new", "text"]
    assert differing_parts(KEY, KEY) == []


@examples(max_examples=50, deadline=None)
@given(st.dictionaries(st.text(), st.text(), max_size=4), st.dictionaries(st.text(), st.text(), max_size=4))
def test_different_keys_have_different_digests(one: dict[str, str], other: dict[str, str]) -> None:
    assert (Key(one).digest == Key(other).digest) == (one == other)


def test_digest_is_the_same_in_another_process() -> None:
    code = "from uop.runtime.cache import Key; print(Key({'b': 'ü', 'a': '1'}).digest)"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert out.strip() == Key({"a": "1", "b": "ü"}).digest


# -- entries ---------------------------------------------------------------------------------------------------------


def test_what_is_put_is_got(cache: Cache) -> None:
    assert cache.get(KEY) is None
    assert cache.put(KEY, FILES)
    assert cache.get(KEY) == FILES
    assert Cache(cache.folder, LIMIT).get(KEY) == FILES
    assert cache.get(Key({**KEY.parts, "arch": "sm_80"})) is None
    (stored,) = cache.entries()
    assert (stored.digest, stored.key(), stored.size) == (KEY.digest, KEY, path_of(cache).stat().st_size)
    assert cache.find(KEY.digest[:6]) == [stored]
    assert os.stat(cache.folder).st_mode & 0o777 == 0o700
    assert cache.clear() == (1, stored.size)
    assert cache.get(KEY) is None


def test_a_flipped_bit_anywhere_is_found() -> None:
    data = encode(Entry(KEY, {"image": b"0123456789", "log": b"abc"}))
    assert decode(data).key == KEY
    for place in range(len(data)):
        for bit in range(8):
            damaged = bytearray(data)
            damaged[place] ^= 1 << bit
            with pytest.raises(EntryError):
                decode(bytes(damaged))


def test_every_truncation_and_extension_is_found() -> None:
    data = encode(Entry(KEY, {"image": b"0123456789"}))
    for length in range(len(data)):
        with pytest.raises(EntryError):
            decode(data[:length])
    with pytest.raises(EntryError):
        decode(data + b"\0")


@pytest.mark.parametrize("content", [b"", b"\0" * 4096, b"uop-cache 1\n", b"uop-cache 2\n" + b"x" * 100])
def test_a_damaged_entry_is_removed_and_rebuilt(cache: Cache, content: bytes) -> None:
    cache.put(KEY, FILES)
    path_of(cache).write_bytes(content)
    assert cache.get(KEY) is None
    assert not path_of(cache).exists()
    assert cache.put(KEY, FILES)
    assert cache.get(KEY) == FILES


def test_an_entry_under_another_name_is_removed(cache: Cache) -> None:
    other = Key({"kind": "test", "name": "other"})
    cache.put(other, {"image": b"another program"})
    path_of(cache).parent.mkdir(exist_ok=True)
    os.replace(path_of(cache, other), path_of(cache))
    assert cache.get(KEY) is None
    assert cache.entries() == []


# -- many processes --------------------------------------------------------------------------------------------------

HAMMER = """
import random, sys
from pathlib import Path
from uop.runtime.cache import Cache, Key

draw = random.Random(int(sys.argv[2]))
cache = Cache(Path(sys.argv[1]), int(sys.argv[3]))
print("ready", flush=True)
for _ in range(int(sys.argv[4])):
    number = draw.randrange(3)
    key, files = Key({"name": str(number)}), {"a": bytes([number]) * 50_000, "b": b"end"}
    found = cache.get(key)
    if found is not None and found != files:
        sys.exit(f"a wrong entry: {[(name, len(data)) for name, data in found.items()]}")
    if found is None or draw.random() < 0.5:
        cache.put(key, files)
    if draw.random() < 0.02:
        cache.clear()
"""


def hammer(folder: Path, seed: int, limit: int, rounds: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-W", "error", "-c", HAMMER, str(folder), str(seed), str(limit), str(rounds)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@pytest.mark.parametrize("limit", [LIMIT, 120_000])  # all fit, or each second one evicts
def test_processes_share_keys(cache: Cache, limit: int) -> None:
    writers = [hammer(cache.folder, seed, limit, 200) for seed in range(4)]
    for writer in writers:
        _, errors = writer.communicate(timeout=60)
        assert (writer.returncode, errors) == (0, "")
    assert not list(cache.folder.rglob("*.tmp"))


def test_threads_share_a_key(cache: Cache) -> None:
    def write(_: int) -> bool:
        return cache.put(KEY, FILES) and cache.get(KEY) == FILES

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with ThreadPoolExecutor(8) as pool:
            assert all(pool.map(write, range(64)))
    assert [path.name for path in cache.folder.rglob("*") if path.is_file()] == [path_of(cache).name]


def test_killed_writers_leave_no_wrong_entry(cache: Cache) -> None:
    draw = random.Random(0)
    for seed in range(8):
        writer = hammer(cache.folder, seed, LIMIT, 10**9)
        assert writer.stdout is not None
        assert writer.stdout.readline() == "ready\n"
        time.sleep(draw.random() * 0.05)
        writer.send_signal(signal.SIGKILL)
        _, errors = writer.communicate(timeout=60)
        assert (writer.returncode, errors) == (-signal.SIGKILL, "")
        for number in range(3):
            found = cache.get(Key({"name": str(number)}))
            assert found in (None, {"a": bytes([number]) * 50_000, "b": b"end"})


def test_what_killed_writers_leave_is_removed_in_time(cache: Cache) -> None:
    cache.put(KEY, FILES)
    old, new = (path_of(cache).with_name(f"{KEY.digest}.{number}.1.tmp") for number in (1, 2))
    for path in (old, new):
        path.write_bytes(b"half")
    os.utime(old, (0, 0))
    Cache(cache.folder, LIMIT).put(KEY, FILES)
    assert (old.exists(), new.exists()) == (False, True)
    cache.clear()
    assert not new.exists()


# -- disks that refuse -----------------------------------------------------------------------------------------------


@pytest.fixture
def full_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every write ends as on a full disk, after half of the data."""

    def write(path: Path, data: bytes) -> None:
        path.write_bytes(data[: len(data) // 2])
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(store, "_write", write)


@pytest.mark.usefixtures("full_disk")
def test_a_full_disk(cache: Cache) -> None:
    with pytest.warns(CacheWarning, match=r"cannot be written: No space left on device.*UOP_CACHE_DIR"):
        assert not cache.put(KEY, FILES)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # it is said once
        assert not cache.put(KEY, FILES)
        assert cache.get(KEY) is None
    assert [path for path in cache.folder.rglob("*") if path.is_file()] == []


def test_a_device_that_is_full(cache: Cache, monkeypatch: pytest.MonkeyPatch) -> None:
    def to_full_device(path: Path, data: bytes) -> None:
        with open("/dev/full", "wb", buffering=0) as file:
            file.write(data)

    monkeypatch.setattr(store, "_write", to_full_device)
    with pytest.warns(CacheWarning, match="No space left on device"):
        assert not cache.put(KEY, FILES)
    assert cache.entries() == []


def test_a_file_size_limit_of_the_system(cache: Cache) -> None:
    code = f"""
import resource, warnings
from pathlib import Path
from uop.runtime.cache import Cache, Key
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
warnings.simplefilter("always")
print(Cache(Path({str(cache.folder)!r}), {LIMIT}).put(Key({{}}), {{"a": bytes(5000)}}))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
    assert "cannot be written: File too large" in done.stderr
    assert [path for path in cache.folder.rglob("*") if path.is_file()] == []


@pytest.fixture
def unwritable(tmp_path: Path) -> Cache:
    (tmp_path / "file").write_text("")
    return Cache(tmp_path / "file" / "cache", LIMIT)


def test_a_folder_that_cannot_be_made(unwritable: Cache) -> None:
    with pytest.warns(CacheWarning, match="Not a directory"):
        assert unwritable.get(KEY) is None
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # it is said once
        assert not unwritable.put(KEY, FILES)
        assert unwritable.get(KEY) is None
    with pytest.warns(CacheWarning, match="No such file or directory"):
        assert not Cache(Path("/proc/uop"), LIMIT).put(KEY, FILES)
    assert unwritable.entries() == []
    assert unwritable.clear() == (0, 0)


def test_a_folder_that_may_not_be_written(cache: Cache, monkeypatch: pytest.MonkeyPatch) -> None:
    cache.put(KEY, FILES)

    def refuse(*_: object) -> None:  # the tests may run as root, whom modes do not stop
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.setattr(store, "_write", refuse)
    monkeypatch.setattr(os, "utime", refuse)
    assert cache.get(KEY) == FILES
    with pytest.warns(CacheWarning, match="Permission denied"):
        assert not cache.put(Key({}), FILES)


# -- size ------------------------------------------------------------------------------------------------------------


def numbered(number: int) -> Key:
    return Key({"name": str(number)})


@pytest.fixture
def crowded(tmp_path: Path) -> Cache:
    """Ten entries of 10 kB, the first used longest ago, where 125 kB may be."""
    cache = Cache(tmp_path, 125_000)
    for number in range(10):
        cache.put(numbered(number), {"a": bytes(10_000)})
        os.utime(path_of(cache, numbered(number)), (number, number))
    return cache


def test_those_not_used_for_longest_go(crowded: Cache) -> None:
    assert crowded.get(numbered(0)) is not None  # and is used last now
    crowded.put(numbered(10), {"a": bytes(30_000)})
    left = [number for number in range(11) if path_of(crowded, numbered(number)).exists()]
    assert left == [0, 3, 4, 5, 6, 7, 8, 9, 10]
    assert sum(stored.size for stored in crowded.entries()) <= 0.9 * 125_000


def test_what_is_too_large_is_not_stored(crowded: Cache) -> None:
    assert not crowded.put(numbered(10), {"a": bytes(200_000)})
    assert len(crowded.entries()) == 10


def test_entries_of_other_processes_count(crowded: Cache, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "PUTS_BETWEEN_SCANS", 3)
    other = Cache(crowded.folder, 125_000)
    for number in range(10, 20):
        other.put(numbered(number), {"a": bytes(10_000)})
    for number in range(20, 23):
        crowded.put(numbered(number), {"a": bytes(10_000)})
    assert sum(stored.size for stored in crowded.entries()) <= 125_000


# -- settings --------------------------------------------------------------------------------------------------------


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    for name in (settings.SWITCH, settings.FOLDER, settings.SIZE, "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", "/home/user")
    return monkeypatch


def folder() -> str:
    cache = default_cache()
    assert cache is not None
    return str(cache.folder)


def test_where_the_cache_is(environment: pytest.MonkeyPatch) -> None:
    assert folder() == "/home/user/.cache/uop"
    environment.setenv("XDG_CACHE_HOME", "/xdg")
    assert folder() == "/xdg/uop"
    environment.setenv("UOP_CACHE_DIR", "/mine")
    assert folder() == "/mine"
    environment.setenv("UOP_CACHE_DIR", "mine")
    assert folder() == str(Path.cwd() / "mine")
    environment.setenv("UOP_CACHE", "0")
    assert default_cache() is None


@pytest.mark.parametrize(
    ("text", "size"),
    [("", 2 << 30), ("1000", 1000), ("1.5k", 1536), ("500M", 500 << 20), ("2 GiB", 2 << 30), ("1tb", 1 << 40)],
)
def test_size(environment: pytest.MonkeyPatch, text: str, size: int) -> None:
    environment.setenv("UOP_CACHE_SIZE", text)
    cache = default_cache()
    assert cache is not None
    assert cache.limit == size
    assert default_cache() is cache


def test_a_size_that_is_none(environment: pytest.MonkeyPatch) -> None:
    environment.setenv("UOP_CACHE_SIZE", "big")
    with pytest.warns(CacheWarning, match="UOP_CACHE_SIZE='big' is no size such as 500M"):
        cache = default_cache()
    assert cache is not None
    assert cache.limit == 2 << 30


def test_version_of_uop_follows_its_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from uop.runtime.cache import versions

    monkeypatch.setattr(versions, "_ROOT", tmp_path)
    (tmp_path / "passes").mkdir()
    file = tmp_path / "passes" / "a.py"

    def version(text: str, time: int) -> str:
        file.write_text(text)
        os.utime(file, (time, time))
        uop_version.cache_clear()
        return uop_version()

    try:
        assert version("x = 1", 1000) == version("x = 1", 1000)
        assert version("x = 1", 1000) != version("x = 2", 2000)
        now = int(time.time()) + 1
        # It may be read before or after it has changed.
        assert version("x = 3", now) != version("x = 3", now)
    finally:
        uop_version.cache_clear()


def test_import_loads_nothing() -> None:
    code = "import sys, uop.runtime.cache; print([m for m in ('numpy', 'torch', 'xdsl') if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "[]\n"
