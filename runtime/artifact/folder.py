"""An artifact in a folder: `manifest.json`, `plan.json`, `kernels/…` and, where there are any, `weights.safetensors`.

The manifest says what made the others, how the program is called, and each file's size and SHA-256.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .artifact import Artifact
from .plan import PlanError
from .safetensors import Tensor, read_tensors, write_tensors
from .signature import Signature

FORMAT = 1
MANIFEST, WEIGHTS = "manifest.json", "weights.safetensors"


class ArtifactError(ValueError):
    """A folder that holds no artifact, or not all of one as it was written."""


@dataclass(frozen=True)
class Folder:
    """What a folder holds.

    weights: values of inputs that are not given, by their sources
    made_by: versions of what made it, and the key that it has in the cache
    """

    artifact: Artifact
    signature: Signature
    weights: Mapping[str, Tensor]
    made_by: Mapping[str, str]


def write_folder(path: Path, content: Folder) -> list[Path]:
    """Write an artifact; the files. What an artifact was there before is replaced."""
    path.mkdir(parents=True, exist_ok=True)
    (path / MANIFEST).unlink(missing_ok=True)  # it is written last, so that no other one stands for these files
    files = content.artifact.as_files()
    for name, data in files.items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_bytes(data)
    checksums = {name: _checksum(data) for name, data in files.items()}
    if content.weights:
        write_tensors(path / WEIGHTS, content.weights)
        checksums[WEIGHTS] = _checksum_of_file(path / WEIGHTS)
    else:
        (path / WEIGHTS).unlink(missing_ok=True)
    plan = content.artifact.plan
    manifest = {
        "format": FORMAT,
        "function": plan.function,
        "target": plan.target,
        "arch": plan.arch,
        "made_by": dict(content.made_by),
        "signature": content.signature.as_json(),
        "files": checksums,
    }
    (path / MANIFEST).write_text(json.dumps(manifest, indent=1) + "\n")
    return [path / name for name in (MANIFEST, *checksums)]


def read_folder(path: Path) -> Folder:
    """The artifact in a folder, checked. Raises `ArtifactError`."""
    try:
        manifest = json.loads((path / MANIFEST).read_text())
        if manifest["format"] != FORMAT:
            raise ArtifactError(
                f"{path} has format {manifest['format']}, and this version of uop reads {FORMAT}: compile it anew"
            )
        checksums = dict(manifest["files"])
        files = {name: (path / name).read_bytes() for name in checksums if name != WEIGHTS}
        found = {name: _checksum(data) for name, data in files.items()}
        if WEIGHTS in checksums:
            found[WEIGHTS] = _checksum_of_file(path / WEIGHTS)
        for name, checksum in checksums.items():
            if found[name] != checksum:
                raise ArtifactError(f"{path / name} is not as it was written (its SHA-256 is another): compile it anew")
        artifact = Artifact.of_files(files)
        signature = Signature.of_json(manifest["signature"])
        signature.check(artifact.plan)
        weights = read_tensors(path / WEIGHTS) if WEIGHTS in checksums else {}
        return Folder(artifact, signature, weights, manifest["made_by"])
    except FileNotFoundError as error:
        what = "holds no artifact" if Path(error.filename).name == MANIFEST else "is not complete"
        raise ArtifactError(
            f"{path} {what}: there is no {error.filename} (uop compile … -o {path} writes one)"
        ) from None
    except ArtifactError:
        raise
    except (PlanError, KeyError, TypeError, ValueError, AttributeError) as error:
        raise ArtifactError(f"{path} holds no artifact that can be read: {type(error).__name__} {error}") from error


def _checksum(data: bytes) -> dict[str, Any]:
    return {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}


def _checksum_of_file(path: Path) -> dict[str, Any]:
    with open(path, "rb") as file:
        return {"bytes": path.stat().st_size, "sha256": hashlib.file_digest(file, "sha256").hexdigest()}
