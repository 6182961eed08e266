"""The ranks of a distributed grid, and how cells travel between them."""

from __future__ import annotations

import abc
import ctypes as c
import dataclasses
from typing import Any, Callable, Sequence

from .. import _native, _values
from .._errors import ArgumentError

Message = tuple[int, memoryview]  # the other rank, and its bytes in host memory
_MOST = 1 << 30  # bytes of an MPI message, whose length many an MPI counts in 31 bits


class Ranks(abc.ABC):
    """One rank's end of a group, by functions of your own. Every rank makes the same calls in the same order.

    Attributes:
        rank: this one, from 0.
        size: how many there are.
    """

    rank: int
    size: int

    @abc.abstractmethod
    def exchange(self, sends: Sequence[Message], receives: Sequence[Message]) -> None:
        """All messages of one exchange; none waits for another. Returns when they are done. From one rank to another,
        the first send meets the first receive, the second the second."""

    @abc.abstractmethod
    def all_gather(self, mine: bytes) -> bytes:
        """Each rank's bytes, in the order of ranks; equally many from each."""

    def abort(self) -> None:
        """Ends the waiting of other ranks for this one."""


class MpiRanks(Ranks):
    """Over a communicator of mpi4py. Messages go through host memory, so that any MPI will do."""

    def __init__(self, communicator: Any):
        self._communicator = communicator
        self.rank, self.size = communicator.Get_rank(), communicator.Get_size()

    def exchange(self, sends: Sequence[Message], receives: Sequence[Message]) -> None:
        requests = [self._communicator.Irecv(part, source=peer) for peer, data in receives for part in _parts(data)]
        requests += [self._communicator.Isend(part, dest=peer) for peer, data in sends for part in _parts(data)]
        for request in requests:
            request.Wait()

    def all_gather(self, mine: bytes) -> bytes:
        return b"".join(self._communicator.allgather(mine))

    def abort(self) -> None:
        self._communicator.Abort(1)


def _parts(data: memoryview) -> list[memoryview]:
    return [data[start:start + _MOST] for start in range(0, len(data), _MOST)]


def mpi(communicator: Any) -> Ranks:
    """Ranks over a communicator of mpi4py, which outlives the grid: for a group of its own, pass a Dup()."""
    if not _is_mpi(communicator):
        _values.refuse(communicator, "communicator", "one of mpi4py is needed")
    return MpiRanks(communicator)


def _is_mpi(given: Any) -> bool:
    return all(hasattr(given, name) for name in ("Get_rank", "Get_size", "Isend", "Irecv", "allgather"))


@dataclasses.dataclass(frozen=True)
class Nccl:
    """An NCCL communicator of the caller's."""

    address: int  #: its ncclComm_t
    owner: Any = None  #: what keeps it alive


def nccl(communicator: Any) -> Nccl:
    """The communicator that halos travel by: its address, CuPy's cupy.cuda.nccl.NcclCommunicator, or the process group
    of torch.distributed with backend "nccl". A GPU each; after an error it may have been aborted, and must not be
    destroyed. libnccl has to be the one that made it: where a wheel brought it, set STENCIL_TUNE_NCCL to its file."""
    if isinstance(communicator, int):
        return Nccl(_values.address(communicator, "communicator"))
    if isinstance(getattr(communicator, "comm", None), int):  # CuPy
        return Nccl(communicator.comm, communicator)
    if hasattr(communicator, "_get_backend"):  # PyTorch, a group of several backends
        import torch

        backend = communicator._get_backend(torch.device("cuda"))
        if hasattr(backend, "_comm_ptr"):
            address = backend._comm_ptr()
            if address:
                return Nccl(address, communicator)
            raise ArgumentError("this process group has no NCCL communicator yet: call torch.distributed.barrier() or "
                                "another collective first")
    raise ArgumentError(f"{type(communicator).__name__} is no NCCL communicator: give an address, CuPy's "
                        "NcclCommunicator or a process group of torch.distributed with backend nccl (PyTorch 2.6 on)")


def as_ranks(given: Any) -> Ranks | Nccl:
    """What Grid takes. Raises ArgumentError for what no halo can travel by."""
    if isinstance(given, (Ranks, Nccl)):
        return given
    if _is_mpi(given):
        return mpi(given)
    return nccl(given)


class Callbacks:
    """Ranks as the C interface takes them. Exceptions stay here until raise_failure()."""

    def __init__(self, ranks: Ranks):
        self._ranks = ranks
        self._failure: BaseException | None = None
        native = _native.Ranks(struct_size=c.sizeof(_native.Ranks), rank=ranks.rank, size=ranks.size)
        native.exchange = _native.EXCHANGE(self._exchange)
        native.all_gather = _native.ALL_GATHER(self._all_gather)
        native.abort = _native.ABORT(self._abort)
        self.native = native

    def raise_failure(self) -> None:
        """What a function raised since the last call."""
        failure, self._failure = self._failure, None
        if failure is not None:
            raise failure

    def _guarded(self, work: Callable[[], None]) -> int:
        try:
            work()
        except BaseException as failure:
            self._failure = failure
            return 1
        return 0

    def _exchange(self, _: Any, sends: Any, send_count: int, receives: Any, receive_count: int) -> int:
        return self._guarded(lambda: self._ranks.exchange(_messages(sends, send_count),
                                                          _messages(receives, receive_count)))

    def _all_gather(self, _: Any, mine: Any, count: int, everything: Any) -> int:
        def gather() -> None:
            said = self._ranks.all_gather(c.string_at(mine, count))
            if len(said) != count * self._ranks.size:
                raise ArgumentError(f"all_gather returned {len(said)} bytes: {count} of each of {self._ranks.size} ranks "
                                    "are needed")
            c.memmove(everything, said, len(said))

        return self._guarded(gather)

    def _abort(self, _: Any) -> None:
        self._guarded(self._ranks.abort)


def _messages(transfers: Any, count: int) -> list[Message]:
    return [(transfers[i].peer, memoryview((c.c_char * transfers[i].bytes).from_address(transfers[i].data)).cast("B"))
            for i in range(count)]
