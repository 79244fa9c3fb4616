"""Getting data sets: a download that goes on where it was interrupted, and is only kept when it is what it should be.

What has arrived is in ``.NAME.csv.part`` beside its place, and stays there after a failure, so that the next attempt
asks for the rest only. It is renamed into its place after its checksum has been found right; when that is wrong it is
thrown away. So there is never half a file, nor a wrong one.
"""

from __future__ import annotations

import urllib.error
import urllib.request
from collections.abc import Sequence
from http.client import HTTPException
from pathlib import Path
from typing import Any, TextIO

from tqdm import tqdm

from splitlab.kinds.data_sets.catalogue import Dataset, cache, located, verify_checksum
from splitlab.text import counted

CHUNK = 1 << 16
STALLED = 30.0  # seconds without anything arriving


def fetch(dataset: Dataset, folder: Path | None = None, say: TextIO | None = None, stalled: float = STALLED) -> Path:
    """Download a data set into a folder, by default the cache; what is there already is only verified.

    Parameters
    ----------
    dataset : Dataset
    folder : Path, optional
    say : TextIO, optional
        Where a progress bar is shown.
    stalled : float
        Seconds without anything arriving after which the download is given up.

    Returns
    -------
    Path
        The csv.

    Raises
    ------
    ValueError
        There is no address, the connection fails, or what comes is not the file described.
    """
    target = (folder or cache()) / f"{dataset.name}.csv"
    if target.is_file():
        verify_checksum(dataset, target.read_bytes(), target)
        return target
    if not dataset.url:
        raise ValueError(f"{dataset.name}: the catalogue has no url to get it from")
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_name(f".{target.name}.part")
    try:
        _download(dataset.url, part, dataset.name, say, stalled)
    except (OSError, HTTPException) as error:
        reason = getattr(error, "reason", None) or error
        raise ValueError(
            f"{dataset.name}: {dataset.url} could not be downloaded ({reason}); the same command tries again"
        ) from None
    try:
        verify_checksum(dataset, part.read_bytes(), part)
    except ValueError:
        part.unlink()
        raise ValueError(
            f"{dataset.name}: {dataset.url} sent another file than described (wrong sha256); nothing is kept"
        ) from None
    part.replace(target)
    return target


def _download(url: str, part: Path, name: str, say: TextIO | None, stalled: float) -> None:
    """Append to ``part`` what it lacks; OSError when less comes than was announced."""
    have = part.stat().st_size if part.exists() else 0
    request = urllib.request.Request(url, headers={"Range": f"bytes={have}-"} if have else {})
    try:
        answer: Any = urllib.request.urlopen(request, timeout=stalled)
    except urllib.error.HTTPError as error:
        if error.code == 416 and have:  # nothing is left, so all of it must be there
            return
        raise
    with answer:
        resumed = answer.status == 206
        length = answer.headers.get("Content-Length")
        arrived, whole = (have if resumed else 0), None if length is None else int(length) + (have if resumed else 0)
        bar = tqdm(desc=name, total=whole, initial=arrived, unit="B", unit_scale=True, file=say, disable=say is None)
        with part.open("ab" if resumed else "wb") as file, bar:
            while block := answer.read1(CHUNK):  # what is there, so that a stall loses nothing
                file.write(block)
                arrived += len(block)
                bar.update(len(block))
    if whole is not None and arrived < whole:
        raise OSError(f"the connection ended after {arrived} of {whole} bytes")


def list_text(known: dict[str, Dataset], places: Sequence[Path]) -> str:
    """A text of the data sets of a catalogue: rows, origin, licence, and where the file is."""
    lines = []
    for dataset in known.values():
        path = located(dataset, places)
        rows = counted(dataset.rows_used, "row") if dataset.rows_used else ""
        lines.append(f"{dataset.name:28}{dataset.title:44}{rows:16}{path or 'missing'}")
        if dataset.origin:
            lines.append(f"{'':28}{dataset.origin}{f'; licence: {dataset.licence}' if dataset.licence else ''}")
    return "\n".join(lines)
