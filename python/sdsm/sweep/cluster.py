"""Simulates on the workers of a Dask cluster, where files have the same paths as here."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Iterator
from typing import Any

from sdsm.base import places
from sdsm.base.children import CommandFailed
from sdsm.base.command_line import BadInput
from sdsm.base.tracing import sha256
from sdsm.sweep import on_worker
from sdsm.sweep.points import Point
from sdsm.sweep.spec import TIME_LIMIT_S

ANSWER_LIMIT_S = 30


class Cluster:
    """Simulates on a client's workers; several threads call it."""

    def __init__(self, client: Any) -> None:
        self._client = client

    @property
    def threads(self) -> int:
        return sum(self._client.nthreads().values())

    def compute(self, point: Point) -> str:
        """The point's result as JSON. Raises CommandFailed."""
        files = {str(path): sha256(path) for path in (places.PROGRAMS / "sdsm-simulate", point.trace, *point.files())}
        future = self._client.submit(on_worker.simulate, point.command(), files, TIME_LIMIT_S, pure=False, retries=2)
        try:
            status, printed, said = future.result()
        except (Exception, asyncio.CancelledError) as error:
            raise CommandFailed(f"its worker failed: {type(error).__name__}: {error}".splitlines()[0]) from None
        if status != 0:
            raise CommandFailed(f"exit status {status}: {said}", status, said)
        return str(printed)

    def stop(self) -> None:
        self._client.close()


@contextlib.contextmanager
def cluster(address: str) -> Iterator[Cluster]:
    """address: the scheduler's. Raises BadInput if there is none, or it has no workers, and ModuleNotFoundError without the
    package distributed."""
    import cloudpickle
    import distributed

    # The failed points report a lost worker, so its log is dropped.
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    # Workers have Python and sdsm, but not its modules.
    cloudpickle.register_pickle_by_value(on_worker)
    try:
        client = distributed.Client(address, timeout=ANSWER_LIMIT_S, set_as_default=False)
    except (OSError, ValueError) as error:
        why = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise BadInput(f"--dask {address}: no scheduler answers ({why}). Start one: dask scheduler, dask worker") from None
    with client:
        found = Cluster(client)
        try:
            client.wait_for_workers(1, timeout=ANSWER_LIMIT_S)
        except TimeoutError:
            raise BadInput(f"--dask {address}: the scheduler has no workers. Start some: dask worker {address}") from None
        yield found
