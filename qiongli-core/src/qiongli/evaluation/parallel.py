"""Work in several processes whose results come back in order, so that a report never depends on their number."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")

#: Chunks that wait for a process beyond those at work; bounds the memory of a stream.
_AHEAD: Final = 2


def default_jobs() -> int:
    """How many processes this machine is good for."""
    return max(1, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)


class Progress:
    """Counts what is done and tells whoever wants to know."""

    def __init__(self, tell: Callable[[int, int], None] | None, total: int) -> None:
        self._tell = tell
        self.total = total
        self.done = 0

    def advance(self, count: int) -> None:
        """Note that `count` more are done."""
        self.done += count
        if self._tell is not None:
            self._tell(self.done, self.total)


def map_in_order(
    work: Callable[[Item], Result],
    items: Iterable[Item],
    jobs: int,
    *,
    initializer: Callable[..., None] | None = None,
    arguments: tuple[Any, ...] = (),
) -> Iterator[Result]:
    """Results in the order of the items; at most a few items beyond the processes at work are held.

    With one job everything happens here. `initializer` prepares each process, or this one.
    """
    if jobs <= 1:
        if initializer is not None:
            initializer(*arguments)
        for item in items:
            yield work(item)
        return
    from concurrent.futures import Future, ProcessPoolExecutor
    from multiprocessing import get_context

    # A new interpreter, not a copy of this one: a copy would inherit the threads and locks of whoever embeds us.
    context = get_context("spawn")
    with ProcessPoolExecutor(jobs, context, initializer, arguments) as pool:
        waiting: deque[Future[Result]] = deque()
        try:
            for item in items:
                waiting.append(pool.submit(work, item))
                if len(waiting) > jobs + _AHEAD:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()
