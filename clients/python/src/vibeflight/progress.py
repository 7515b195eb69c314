"""A progress bar that counts rows."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Generator

import pyarrow as pa

NAME_LETTERS = 40  # of a long name or query in front of a bar
LONG_SECONDS = 1.0  # shorter transfers have no bar by default


def watched(batches: Generator[pa.RecordBatch, None, None], name: str, rows: int | None, wanted: bool | None) -> Generator[pa.RecordBatch, None, None]:
    """The batches, with a bar of tqdm's on stderr. wanted None: only on a terminal, where tqdm is installed, and for what takes long.

    rows is how many there are, None where that is not known: then the bar has no end.
    """
    if wanted is False or (wanted is None and not sys.stderr.isatty()):
        yield from batches
        return
    try:
        from tqdm.auto import tqdm
    except ImportError:
        if wanted:
            raise ImportError("progress=True wants tqdm: pip install 'vibeflight[tqdm]'") from None
        yield from batches
        return
    with (
        contextlib.closing(batches),
        tqdm(
            total=rows,
            desc=name if len(name) <= NAME_LETTERS else name[: NAME_LETTERS - 1] + "…",
            unit=" rows",
            unit_scale=True,
            delay=0 if wanted else LONG_SECONDS,
        ) as bar,
    ):
        for batch in batches:
            bar.update(batch.num_rows)
            yield batch
