"""Grids over many ranks, which are threads here: GPUs are made of the CPU."""

import queue
import threading

import numpy
import pytest

import stencil_tune as st
from stencil_tune import distributed

SHAPE = (12, 9, 20)
HEAT = "u_next = u + alpha*laplacian(u); alpha = 0.1"
WAIT = 100  # seconds, of waits that end at once where all is well


class ThreadRanks(distributed.Ranks):
    def __init__(self, group, rank, size):
        self._group, self.rank, self.size = group, rank, size

    def exchange(self, sends, receives):
        for peer, data in sends:
            self._group.between[self.rank, peer].put(bytes(data))
        for peer, data in receives:
            data[:] = self._group.between[peer, self.rank].get(timeout=WAIT)

    def all_gather(self, mine):
        for peer in range(self.size):
            self._group.said[self.rank, peer].put(mine)
        return b"".join(self._group.said[peer, self.rank].get(timeout=WAIT) for peer in range(self.size))


class Group:
    def __init__(self, size):
        pairs = [(a, b) for a in range(size) for b in range(size)]
        self.size = size
        self.between = {pair: queue.Queue() for pair in pairs}
        self.said = {pair: queue.Queue() for pair in pairs}

    def run(self, body):
        """What the body returns on each rank; raises what the first that failed raised."""
        results, failures = [None] * self.size, [None] * self.size

        def work(rank):
            try:
                results[rank] = body(ThreadRanks(self, rank, self.size))
            except BaseException as failure:
                failures[rank] = failure

        threads = [threading.Thread(target=work, args=(rank,)) for rank in range(self.size)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for failure in failures:
            if failure is not None:
                raise failure
        return results


def heat(u, steps):
    """Walls hold."""
    for _ in range(steps):
        inside = u[1:-1, 1:-1, 1:-1]
        around = sum(numpy.roll(u, shift, axis)[1:-1, 1:-1, 1:-1] for axis in range(3) for shift in (1, -1))
        after = u.copy()
        after[1:-1, 1:-1, 1:-1] = inside + 0.1 * (around - 6 * inside)
        u = after
    return u


def test_parts_of_a_grid_are_as_the_whole():
    start = numpy.random.default_rng(1).random(SHAPE)

    def body(ranks):
        grid = distributed.Grid(st.stencil(HEAT, rank=3), shape=SHAPE, dtype="f64", ranks=ranks, cut=(2, 1, 2))
        assert grid.steps_per_exchange == 1 and grid.evidence
        grid.scatter("u", start if ranks.rank == 0 else None)
        grid.advance(3)
        whole = grid.gather("u", numpy.zeros(SHAPE) if ranks.rank == 0 else None)
        mine = grid.read("u", numpy.zeros([part.stop - part.start for part in grid.owned]))
        grid.write("u", 2 * mine)
        grid.refresh()
        grid.wait()
        return grid.owned, whole, mine

    expected = heat(start, 3)
    results = Group(4).run(body)
    numpy.testing.assert_allclose(results[0][1], expected, rtol=1e-13)
    covered = numpy.zeros(SHAPE, int)
    for owned, _, mine in results:
        covered[owned] += 1
        numpy.testing.assert_array_equal(mine, results[0][1][owned])
    assert (covered == 1).all()


def test_checkpoints_come_back(tmp_path):
    start = numpy.random.default_rng(2).random(SHAPE)

    def body(ranks):
        grid = distributed.Grid(st.stencil(HEAT, rank=3), shape=SHAPE, dtype="f64", ranks=ranks)
        grid.scatter("u", start if ranks.rank == 0 else None)
        grid.save(tmp_path / "heat", 7)
        grid.advance(2)
        steps = grid.load(tmp_path / "heat")
        return steps, grid.gather("u", numpy.zeros(SHAPE) if ranks.rank == 0 else None)

    results = Group(2).run(body)
    assert [steps for steps, _ in results] == [7, 7]
    numpy.testing.assert_array_equal(results[0][1], start)


def test_sources_and_receivers_are_those_of_the_whole(gpus):
    series = gpus.own(numpy.arange(1.0, 5.0).reshape(4, 1))

    def body(ranks):
        grid = distributed.Grid(st.stencil(HEAT, rank=3), shape=SHAPE, dtype="f64", ranks=ranks, cut=(2, 1, 1))
        points = grid.place_points({"u_next": [(6, 4, 8)]}, {"u": [(6, 4, 8), (2, 2, 2)]})
        records = gpus.own(numpy.zeros((4, 2)))
        grid.advance(4, points=points, series=series.ctypes.data, records=records.ctypes.data)
        return grid.gather_records(points, records.ctypes.data, 4, numpy.zeros((4, 2)) if ranks.rank == 0 else None)

    u, expected = numpy.zeros(SHAPE), []
    for value in series[:, 0]:
        u = heat(u, 1)
        u[6, 4, 8] += value
        expected.append([u[6, 4, 8], u[2, 2, 2]])
    numpy.testing.assert_allclose(Group(2).run(body)[0], expected, rtol=1e-13)


def test_what_a_function_of_ranks_raises_is_raised():
    class Lost(ThreadRanks):
        aborted = 0

        def exchange(self, sends, receives):
            raise ConnectionError("the cable is out")

        def abort(self):
            Lost.aborted += 1

    def body(ranks):
        ranks = Lost(ranks._group, ranks.rank, ranks.size)
        grid = distributed.Grid(st.stencil(HEAT, rank=3), shape=SHAPE, dtype="f64", ranks=ranks)
        with pytest.raises(ConnectionError, match="the cable is out"):
            grid.advance(1)
        with pytest.raises(st.Error, match="gave its group up"):
            grid.advance(1)

    Group(2).run(body)
    assert Lost.aborted == 2


def test_what_does_not_fit_is_refused():
    with pytest.raises(st.ArgumentError, match="is no NCCL communicator"):
        distributed.nccl(object())

    def body(ranks):
        with pytest.raises(st.ArgumentError, match=r"cut \(1, 2\): the grid has 3 axes"):
            distributed.Grid(HEAT, shape=SHAPE, ranks=ranks, cut=(1, 2))
        grid = distributed.Grid(HEAT, shape=SHAPE, dtype="f64", ranks=ranks)
        with pytest.raises(st.ArgumentError, match="'v' is no field"):
            grid.read("v", numpy.zeros(SHAPE))
        with pytest.raises(st.ArgumentError, match="a dense array of shape"):
            grid.write("u", numpy.zeros(SHAPE))
        with pytest.raises(st.ArgumentError, match="type f64 is needed"):
            grid.write("u", numpy.zeros([part.stop - part.start for part in grid.owned], numpy.float32))

    Group(2).run(body)


class FakeMpi:
    """An mpi4py communicator of threads, as far as halos need one."""

    class Request:
        def __init__(self, wait):
            self.Wait = wait

    def __init__(self, ranks):
        self._ranks = ranks

    def Get_rank(self):
        return self._ranks.rank

    def Get_size(self):
        return self._ranks.size

    def Isend(self, data, dest):
        self._ranks._group.between[self._ranks.rank, dest].put(bytes(data))
        return self.Request(lambda: None)

    def Irecv(self, data, source):
        def wait():
            data[:] = self._ranks._group.between[source, self._ranks.rank].get(timeout=WAIT)

        return self.Request(wait)

    def allgather(self, mine):
        everything = self._ranks.all_gather(mine)
        return [everything[i * len(mine):(i + 1) * len(mine)] for i in range(self._ranks.size)]


@pytest.mark.parametrize("most", [1 << 30, 100])
def test_a_communicator_of_mpi4py_serves(monkeypatch, most):
    monkeypatch.setattr("stencil_tune.distributed._ranks._MOST", most)  # longer messages go in parts
    start = numpy.random.default_rng(3).random(SHAPE).astype(numpy.float32)

    def body(ranks):
        grid = distributed.Grid(HEAT, shape=SHAPE, ranks=FakeMpi(ranks))
        grid.scatter("u", start if ranks.rank == 0 else None)
        grid.advance(2)
        return grid.gather("u", numpy.zeros(SHAPE, numpy.float32) if ranks.rank == 0 else None)

    numpy.testing.assert_allclose(Group(3).run(body)[0], heat(start.astype(float), 2), rtol=2e-6)


def test_addresses_of_nccl_communicators_are_found():
    class OfCuPy:
        comm = 0x1234

    assert distributed.nccl(0x77).address == 0x77
    assert distributed.nccl(OfCuPy()).address == 0x1234
