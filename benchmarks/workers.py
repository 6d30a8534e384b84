"""Tasks in this process or in several: the results are the same."""

from __future__ import annotations

import multiprocessing
import os
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor, as_completed
from typing import TypeVar

__all__ = ["run_tasks"]

Task = TypeVar("Task")
Result = TypeVar("Result")


def run_tasks(work: Callable[[Task], Result], tasks: Mapping[str, Task], jobs: int) -> Iterator[tuple[str, Result]]:
    """Names and results of all tasks, as they are finished.

    Args:
        work: a function of a module, called on every task.
        tasks: what to do, by name.
        jobs: processes. With one, the work is done here, in order.
    """
    if jobs == 1 or len(tasks) < 2:
        for name, task in tasks.items():
            yield name, work(task)
        return
    first, *rest = tasks
    yield first, work(tasks[first])  # here, so that what has to be compiled is compiled once and then read from disk
    context = multiprocessing.get_context("spawn")  # the same on every system, and no lock is copied half-held
    with ProcessPoolExecutor(min(jobs, len(rest)), context, _end_with_parent) as pool:
        try:
            futures = {pool.submit(work, tasks[name]): name for name in rest}
            for future in as_completed(futures):
                yield futures[future], future.result()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _end_with_parent() -> None:
    """A worker whose parent was killed would wait for work for ever."""
    parent = multiprocessing.parent_process()
    assert parent is not None

    def watch() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
