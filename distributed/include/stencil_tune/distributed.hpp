// A grid over many GPUs: each rank of a communicator owns a part, and halos travel between them.
//
//     std::shared_ptr<Communicator> ranks = nccl_communicator(comm);     // the caller's ncclComm_t, a GPU each
//     DistributedKernel kernel(library, ranks, request);                 // request.extents: of the whole grid
//     DistributedFields fields(kernel);                                  // this rank's part, with its halo
//     fields.write(0, own_cells);                                        // those of kernel.owned()
//     kernel.advance(stream, fields, 1000);                              // asynchronous
//     fields.read(0, own_cells);
//
// What several fused steps read beyond a part is exchanged before them, all layers at once. A rank makes them on its
// part and the halo alike. What is computed wrongly near the halo's end is never used: the next exchange overwrites it.
// C++17 or newer.
#pragma once

#include "stencil_tune/communicator.hpp"
#include "stencil_tune/decomposition.hpp"
#include "stencil_tune/kernel.hpp"
#include "stencil_tune/library.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>

namespace stencil_tune {

class DistributedFields;

/// How a grid is cut, and when halos travel.
struct DistributedOptions {
  Cut cut{0, 0, 0};  ///< parts along each axis; all 0: those for which least is sent
  /// Cells that need nothing of the halo are updated while it travels on a stream of its own, and those around them
  /// after it. A launch becomes up to seven then, and fused steps are made more than once near the cuts: worth it where
  /// links are slow. Runs with points wait for their halos.
  bool overlap = false;
  /// Halos are as deep as these need. 0: as many as the kernel fuses, if parts allow it, or a number that is clearly
  /// faster by the known rates of kernels and by what an exchange takes, which the constructor then measures.
  int steps_per_exchange = 0;
};

/// One rank's kernel, and what it exchanges with others. Every rank makes the same calls in the same order, each from
/// one thread at a time, with its own GPU's context current. What fails on one rank before anything is launched throws
/// on all.
class DistributedKernel {
 public:
  /// Collective. Cuts the grid, looks up each rank's kernel for its own extents, halo included, and allocates what
  /// messages need. Waits for exchanges that it measures; so not while a stream is being captured. Request::extents and
  /// boundaries are the whole grid's, Request::device this rank's; pitch must be 0, since each rank pads its own rows.
  /// Beyond an edge that is cut a periodic axis is no boundary any more: its kernels are those for boundary hold.
  /// Throws Error(invalid_argument) for requests that differ between ranks, cuts that leave parts thinner than their
  /// halo, and stencils that ask for coordinates across a periodic cut; what Library::lookup throws;
  /// Error(exceeds_device_memory).
  DistributedKernel(Library& library, std::shared_ptr<Communicator> ranks, const Request& request,
                    const DistributedOptions& options = {});
  DistributedKernel(DistributedKernel&&) noexcept;
  DistributedKernel& operator=(DistributedKernel&&) noexcept;
  ~DistributedKernel();

  const Decomposition& decomposition() const noexcept;  ///< how the whole grid is cut
  int rank() const noexcept;                            ///< this one
  Box owned() const;                                    ///< cells of the grid that this rank owns
  const Kernel& kernel() const noexcept;                ///< the rank's own, for its part with the halo
  int steps_per_exchange() const noexcept;              ///< the same on all ranks
  std::size_t bytes_received() const;                   ///< by this rank, in one exchange of a run

  /// Collective. Compiles and loads what advance() launches; needed once for a stream.
  void prepare(CUstream_st* stream);

  /// Kernel::advance_at() of the whole grid: `place` is the place of the grid's first cell. The fields must have been
  /// made for this kernel. Asynchronous; errors of other ranks show in wait(), and in later calls.
  ///
  /// Can be captured into a CUDA graph, on all ranks alike: after prepare() and refresh(), with so many steps that
  /// every field is back where it stood (DistributedFields::data). The graph makes these steps each time it is
  /// launched.
  void advance(CUstream_st* stream, DistributedFields& fields, std::int64_t steps, Span<const double> coefficients = {},
               const Place& place = {});

  /// Exchanges the halos of fields that their owners changed; asynchronous, the same call on all ranks. advance() does
  /// it by itself. A captured graph does not: call it before the capture, and before a launch after such a change.
  void refresh(CUstream_st* stream, DistributedFields& fields);

  /// Collective: Kernel::place_points() for points of the whole grid, whose cells are counted from its first. Each rank
  /// runs the sources of all cells that it computes, its halo included, and records the cells that it owns. Columns of
  /// series and records are those of the whole.
  Points place_points(const PointList& points);

  /// Kernel::advance_with_points() of the whole grid. Every rank passes the whole series, and room for all records, of
  /// which it writes its own share: 0 for receivers elsewhere.
  void advance_with_points(const Points& points, const PointData& data, CUstream_st* stream, DistributedFields& fields,
                           std::int64_t steps, Span<const double> coefficients = {}, const Place& place = {});

  /// Collective: the sum of all ranks' shares of records, on the host of `root`, as raw bytes of the type that kernels
  /// compute in: bytes = Points::records() of the run * receivers * its size. Other ranks pass nothing. Waits.
  void gather_records(const Points& points, const void* records, std::int64_t steps, int root, Span<std::byte> sums,
                      CUstream_st* stream) const;

  /// Until the stream's work is done. Throws Error(launch_failed) and Error(timeout) where another rank is lost.
  void wait(CUstream_st* stream);

  struct Impl;

 private:
  friend class DistributedFields;
  std::shared_ptr<Impl> impl_;
};

/// One rank's arrays for all fields of a stencil, zero at first. An array has the cells that the rank owns and its
/// halo: Decomposition::array(). Cells are passed as raw bytes of the element type, dense, x fastest; the functions
/// wait. Every rank makes the same calls in the same order. Throws Error(invalid_argument) for wrong sizes and fields.
class DistributedFields {
 public:
  /// Throws Error(exceeds_device_memory).
  explicit DistributedFields(const DistributedKernel& kernel);
  DistributedFields(DistributedFields&&) noexcept;
  DistributedFields& operator=(DistributedFields&&) noexcept;
  ~DistributedFields();

  /// Sets the rank's own cells. A profile (Stencil::profiles) is set as a whole, on every rank; one of time has as many
  /// entries as it is given, one for each step's number up to the last that is made.
  void write(int field, Span<const std::byte> cells, CUstream_st* stream = nullptr);
  /// The way back; not for profiles.
  void read(int field, Span<std::byte> cells, CUstream_st* stream = nullptr) const;

  /// Collective: from `root`, which has all cells of the grid, to their owners. Other ranks pass nothing.
  void scatter(int field, int root, Span<const std::byte> cells, CUstream_st* stream = nullptr);
  /// The way back.
  void gather(int field, int root, Span<std::byte> cells, CUstream_st* stream = nullptr) const;

  /// Collective: own cells of all fields to a file for each rank, `path`.RANK, and back; `steps` is the caller's number
  /// of steps made so far, which load() returns. Fields of time are left out. Files are written under other names,
  /// which they lose when all are whole. Throws Error(file_io) where they cannot be written, are missing or damaged,
  /// Error(invalid_argument) where they are of another stencil, type, grid, boundary or cut, or not all of the same
  /// steps.
  void save(const std::filesystem::path& path, std::int64_t steps, CUstream_st* stream = nullptr) const;
  /// The way back.
  std::int64_t load(const std::filesystem::path& path, CUstream_st* stream = nullptr);

  /// Device address of the field's array; advance() moves fields to other buffers.
  void* data(int field) const;
  Box inner() const;                    ///< the rank's own cells, counted from the array's first
  Extents extents() const;              ///< extents of the arrays
  std::int64_t pitch() const noexcept;  ///< cells from one row to the next

  /// Says on all ranks that own cells of the field were changed by address; write() and scatter() say so themselves.
  void changed(int field);

  struct Impl;

 private:
  friend class DistributedKernel;
  std::unique_ptr<Impl> impl_;
};

}  // namespace stencil_tune
