! Grids over many GPUs from Fortran: the C interface of stencil_tune_distributed.h.
!
! Compile it after stencil_tune.f90, with your program, and link stencil_tune::distributed, or libstencil_tune.so. Each
! rank makes the same calls in the same order, with its own GPU current (stencil_tune_use_device). Cells are in Fortran
! order as they are: the first index is x. Fields, ranks and cells are numbered from 0. Each procedure ends with an
! optional status; without it, an error stops the program and prints the message.
module stencil_tune_distributed
  use, intrinsic :: iso_c_binding
  use stencil_tune, only: stencil_tune_library
  use stencil_tune_c
  implicit none
  private

  public :: stencil_tune_grid, stencil_tune_ranks, stencil_tune_transfer, stencil_tune_make_ranks
  public :: stencil_tune_distribute, stencil_tune_grid_release, stencil_tune_grid_owned, stencil_tune_grid_evidence
  public :: stencil_tune_grid_steps_per_exchange, stencil_tune_grid_write, stencil_tune_grid_read
  public :: stencil_tune_grid_scatter, stencil_tune_grid_gather, stencil_tune_grid_advance, stencil_tune_grid_refresh
  public :: stencil_tune_grid_wait, stencil_tune_grid_save, stencil_tune_grid_load

  ! One rank's part of a grid: its kernel, its fields and the stream that they run on.
  type :: stencil_tune_grid
    private
    type(c_ptr) :: handle = c_null_ptr
  end type

  ! Bytes that go to a rank, or come from it.
  type, bind(c) :: stencil_tune_transfer
    type(c_ptr) :: data
    integer(c_size_t) :: bytes
    integer(c_int32_t) :: peer
    integer(c_int32_t) :: reserved
  end type

  ! Ranks of the program's own, MPI's say: stencil_tune_make_ranks.
  type, bind(c) :: stencil_tune_ranks
    private
    integer(c_size_t) :: struct_size
    type(c_ptr) :: context
    type(c_funptr) :: exchange
    type(c_funptr) :: all_gather
    type(c_funptr) :: abort
    integer(c_int32_t) :: rank
    integer(c_int32_t) :: size
    integer(c_int32_t) :: device_memory
    integer(c_int32_t) :: reserved
  end type

  ! stencil_tune_cut of stencil_tune_distributed.h, member by member.
  type, bind(c) :: cut_t
    integer(c_size_t) :: struct_size
    integer(c_int32_t) :: parts(3)
    integer(c_int32_t) :: steps_per_exchange
    integer(c_int32_t) :: overlap
    integer(c_int32_t) :: reserved
    real(c_double) :: timeout_s
  end type

  abstract interface
    ! All transfers of one exchange; none waits for another. Returns 0 when they are done, another number where it fails.
    function exchange_function(context, sends, send_count, receives, receive_count) bind(c) result(failed)
      import :: c_ptr, c_int32_t, stencil_tune_transfer
      type(c_ptr), value :: context
      integer(c_int32_t), value :: send_count, receive_count
      type(stencil_tune_transfer), intent(in) :: sends(send_count), receives(receive_count)
      integer(c_int32_t) :: failed
    end function

    ! Each rank's bytes to `all` of every rank, in the order of ranks.
    function gather_function(context, mine, bytes, all) bind(c) result(failed)
      import :: c_ptr, c_size_t, c_int32_t
      type(c_ptr), value :: context, mine, all
      integer(c_size_t), value :: bytes
      integer(c_int32_t) :: failed
    end function

    ! Ends the waiting of other ranks for this one.
    subroutine abort_function(context) bind(c)
      import :: c_ptr
      type(c_ptr), value :: context
    end subroutine
  end interface

  ! Over an NCCL communicator (type(c_ptr)), or ranks of the program's own.
  interface stencil_tune_distribute
    module procedure distribute_nccl, distribute_own
  end interface

  interface
    function c_distribute(library, communicator, request, cut, stream, grid) &
        bind(c, name="stencil_tune_distribute") result(status)
      import :: c_ptr, c_int, request_t, cut_t
      type(c_ptr), value :: library, communicator, stream
      type(request_t), intent(in) :: request
      type(cut_t), intent(in) :: cut
      type(c_ptr), intent(out) :: grid
      integer(c_int) :: status
    end function

    function c_distribute_over(library, ranks, request, cut, stream, grid) &
        bind(c, name="stencil_tune_distribute_over") result(status)
      import :: c_ptr, c_int, request_t, cut_t, stencil_tune_ranks
      type(c_ptr), value :: library, stream
      type(stencil_tune_ranks), intent(in) :: ranks
      type(request_t), intent(in) :: request
      type(cut_t), intent(in) :: cut
      type(c_ptr), intent(out) :: grid
      integer(c_int) :: status
    end function

    subroutine c_release(grid) bind(c, name="stencil_tune_grid_release")
      import :: c_ptr
      type(c_ptr), value :: grid
    end subroutine

    subroutine c_owned(grid, low, high) bind(c, name="stencil_tune_grid_owned")
      import :: c_ptr, c_int64_t
      type(c_ptr), value :: grid
      integer(c_int64_t), intent(out) :: low(3), high(3)
    end subroutine

    function c_evidence(grid) bind(c, name="stencil_tune_grid_evidence") result(text)
      import :: c_ptr
      type(c_ptr), value :: grid
      type(c_ptr) :: text
    end function

    function c_steps_per_exchange(grid) bind(c, name="stencil_tune_grid_steps_per_exchange") result(steps)
      import :: c_ptr, c_int32_t
      type(c_ptr), value :: grid
      integer(c_int32_t) :: steps
    end function

    function c_write(grid, field, cells, bytes) bind(c, name="stencil_tune_grid_write") result(status)
      import :: c_ptr, c_int, c_int32_t, c_size_t
      type(c_ptr), value :: grid, cells
      integer(c_int32_t), value :: field
      integer(c_size_t), value :: bytes
      integer(c_int) :: status
    end function

    function c_read(grid, field, cells, bytes) bind(c, name="stencil_tune_grid_read") result(status)
      import :: c_ptr, c_int, c_int32_t, c_size_t
      type(c_ptr), value :: grid, cells
      integer(c_int32_t), value :: field
      integer(c_size_t), value :: bytes
      integer(c_int) :: status
    end function

    function c_scatter(grid, field, root, cells, bytes) bind(c, name="stencil_tune_grid_scatter") result(status)
      import :: c_ptr, c_int, c_int32_t, c_size_t
      type(c_ptr), value :: grid, cells
      integer(c_int32_t), value :: field, root
      integer(c_size_t), value :: bytes
      integer(c_int) :: status
    end function

    function c_gather(grid, field, root, cells, bytes) bind(c, name="stencil_tune_grid_gather") result(status)
      import :: c_ptr, c_int, c_int32_t, c_size_t
      type(c_ptr), value :: grid, cells
      integer(c_int32_t), value :: field, root
      integer(c_size_t), value :: bytes
      integer(c_int) :: status
    end function

    function c_advance(grid, steps, coefficients, coefficient_count, origin, step) &
        bind(c, name="stencil_tune_grid_advance") result(status)
      import :: c_ptr, c_int, c_int32_t, c_int64_t
      type(c_ptr), value :: grid, coefficients, origin
      integer(c_int64_t), value :: steps, step
      integer(c_int32_t), value :: coefficient_count
      integer(c_int) :: status
    end function

    function c_refresh(grid) bind(c, name="stencil_tune_grid_refresh") result(status)
      import :: c_ptr, c_int
      type(c_ptr), value :: grid
      integer(c_int) :: status
    end function

    function c_wait(grid) bind(c, name="stencil_tune_grid_wait") result(status)
      import :: c_ptr, c_int
      type(c_ptr), value :: grid
      integer(c_int) :: status
    end function

    function c_save(grid, path, steps) bind(c, name="stencil_tune_grid_save") result(status)
      import :: c_ptr, c_int, c_int64_t
      type(c_ptr), value :: grid, path
      integer(c_int64_t), value :: steps
      integer(c_int) :: status
    end function

    function c_load(grid, path, steps) bind(c, name="stencil_tune_grid_load") result(status)
      import :: c_ptr, c_int, c_int64_t
      type(c_ptr), value :: grid, path
      integer(c_int64_t), intent(out) :: steps
      integer(c_int) :: status
    end function
  end interface

contains

  ! Ranks over functions of the program's own, which are called from the thread that calls those of the grid. `context`
  ! is handed to each. device_memory: exchange takes device addresses; otherwise the library copies to the host and back.
  function stencil_tune_make_ranks(rank, ranks, exchange, all_gather, abort, context, device_memory) result(made)
    integer, intent(in) :: rank, ranks
    procedure(exchange_function) :: exchange
    procedure(gather_function) :: all_gather
    procedure(abort_function), optional :: abort
    type(c_ptr), intent(in), optional :: context
    logical, intent(in), optional :: device_memory
    type(stencil_tune_ranks) :: made

    made%struct_size = c_sizeof(made)
    made%context = c_null_ptr
    if (present(context)) made%context = context
    made%exchange = c_funloc(exchange)
    made%all_gather = c_funloc(all_gather)
    made%abort = c_null_funptr
    if (present(abort)) made%abort = c_funloc(abort)
    made%rank = int(rank, c_int32_t)
    made%size = int(ranks, c_int32_t)
    made%device_memory = 0
    if (present(device_memory)) made%device_memory = merge(1, 0, device_memory)
    made%reserved = 0
  end function

  ! Collective. Cuts a grid of `extents` cells, looks up and compiles this rank's kernel, and makes its fields, zero at
  ! first. stencil: a built-in's name, one of the corpus or a definition file. cut: parts along x, y, z; without it those
  ! for which least is sent. steps_per_exchange: without it as many as the kernel fuses, or what is faster as measured.
  ! The NCCL communicator outlives the grid; after an error it may have been aborted, and must not be destroyed then.
  subroutine distribute_nccl(library, communicator, stencil, extents, grid, element_type, boundary, device, steps, cut, &
      steps_per_exchange, overlap, timeout_s, stream, status)
    type(stencil_tune_library), intent(in) :: library
    type(c_ptr), intent(in) :: communicator
    character(*), intent(in) :: stencil
    integer, intent(in) :: extents(:)
    type(stencil_tune_grid), intent(out) :: grid
    character(*), intent(in), optional :: element_type, boundary
    integer, intent(in), optional :: device, steps, cut(:), steps_per_exchange
    logical, intent(in), optional :: overlap
    real(c_double), intent(in), optional :: timeout_s
    type(c_ptr), intent(in), optional :: stream
    integer, intent(out), optional :: status
    type(request_texts), target :: texts
    type(request_t) :: request

    call fill_request(request, texts, int(extents, c_int64_t), stencil, element_type, boundary, device, steps)
    call finish(c_distribute(library%handle, communicator, request, &
                             as_cut(cut, steps_per_exchange, overlap, timeout_s), pointer_or_null(stream), &
                             grid%handle), status)
  end subroutine

  subroutine distribute_own(library, ranks, stencil, extents, grid, element_type, boundary, device, steps, cut, &
      steps_per_exchange, stream, status)
    type(stencil_tune_library), intent(in) :: library
    type(stencil_tune_ranks), intent(in) :: ranks
    character(*), intent(in) :: stencil
    integer, intent(in) :: extents(:)
    type(stencil_tune_grid), intent(out) :: grid
    character(*), intent(in), optional :: element_type, boundary
    integer, intent(in), optional :: device, steps, cut(:), steps_per_exchange
    type(c_ptr), intent(in), optional :: stream
    integer, intent(out), optional :: status
    type(request_texts), target :: texts
    type(request_t) :: request

    call fill_request(request, texts, int(extents, c_int64_t), stencil, element_type, boundary, device, steps)
    call finish(c_distribute_over(library%handle, ranks, request, as_cut(cut, steps_per_exchange), &
                                  pointer_or_null(stream), grid%handle), status)
  end subroutine

  subroutine stencil_tune_grid_release(grid)
    type(stencil_tune_grid), intent(inout) :: grid

    call c_release(grid%handle)
    grid%handle = c_null_ptr
  end subroutine

  ! Cells of the grid that this rank owns: low(a) <= i < high(a), counted from 0.
  subroutine stencil_tune_grid_owned(grid, low, high)
    type(stencil_tune_grid), intent(in) :: grid
    integer(c_int64_t), intent(out) :: low(3), high(3)

    call c_owned(grid%handle, low, high)
  end subroutine

  ! Why this rank's kernel.
  function stencil_tune_grid_evidence(grid) result(text)
    type(stencil_tune_grid), intent(in) :: grid
    character(:), allocatable :: text

    text = fortran_text(c_evidence(grid%handle))
  end function

  integer function stencil_tune_grid_steps_per_exchange(grid)
    type(stencil_tune_grid), intent(in) :: grid

    stencil_tune_grid_steps_per_exchange = c_steps_per_exchange(grid%handle)
  end function

  ! This rank's own cells of a field, to its array and back: c_loc of the first, and how many bytes they have.
  subroutine stencil_tune_grid_write(grid, field, cells, bytes, status)
    type(stencil_tune_grid), intent(in) :: grid
    integer, intent(in) :: field
    type(c_ptr), intent(in) :: cells
    integer(c_size_t), intent(in) :: bytes
    integer, intent(out), optional :: status

    call finish(c_write(grid%handle, int(field, c_int32_t), cells, bytes), status)
  end subroutine

  subroutine stencil_tune_grid_read(grid, field, cells, bytes, status)
    type(stencil_tune_grid), intent(in) :: grid
    integer, intent(in) :: field
    type(c_ptr), intent(in) :: cells
    integer(c_size_t), intent(in) :: bytes
    integer, intent(out), optional :: status

    call finish(c_read(grid%handle, int(field, c_int32_t), cells, bytes), status)
  end subroutine

  ! Collective: all cells of the grid, on `root`, to their owners and back. Other ranks pass c_null_ptr and 0.
  subroutine stencil_tune_grid_scatter(grid, field, root, cells, bytes, status)
    type(stencil_tune_grid), intent(in) :: grid
    integer, intent(in) :: field, root
    type(c_ptr), intent(in) :: cells
    integer(c_size_t), intent(in) :: bytes
    integer, intent(out), optional :: status

    call finish(c_scatter(grid%handle, int(field, c_int32_t), int(root, c_int32_t), cells, bytes), status)
  end subroutine

  subroutine stencil_tune_grid_gather(grid, field, root, cells, bytes, status)
    type(stencil_tune_grid), intent(in) :: grid
    integer, intent(in) :: field, root
    type(c_ptr), intent(in) :: cells
    integer(c_size_t), intent(in) :: bytes
    integer, intent(out), optional :: status

    call finish(c_gather(grid%handle, int(field, c_int32_t), int(root, c_int32_t), cells, bytes), status)
  end subroutine

  ! Asynchronous on the grid's stream. origin, step: as for stencil_tune_advance, of the whole grid.
  subroutine stencil_tune_grid_advance(grid, steps, coefficients, status, origin, step)
    type(stencil_tune_grid), intent(in) :: grid
    integer, intent(in) :: steps
    real(c_double), intent(in), contiguous, optional, target :: coefficients(:)
    integer, intent(out), optional :: status
    integer(c_int64_t), intent(in), contiguous, optional, target :: origin(:)
    integer(c_int64_t), intent(in), optional :: step
    type(c_ptr) :: values, from
    integer(c_int32_t) :: value_count
    integer(c_int64_t) :: first

    call pass(coefficients, values, value_count)
    from = c_null_ptr
    if (present(origin)) from = c_loc(origin)
    first = 0
    if (present(step)) first = step
    call finish(c_advance(grid%handle, int(steps, c_int64_t), values, value_count, from, first), status)
  end subroutine

  ! Exchanges the halos of fields that were written: before the stream is captured in a CUDA graph.
  subroutine stencil_tune_grid_refresh(grid, status)
    type(stencil_tune_grid), intent(in) :: grid
    integer, intent(out), optional :: status

    call finish(c_refresh(grid%handle), status)
  end subroutine

  ! Until all work is done.
  subroutine stencil_tune_grid_wait(grid, status)
    type(stencil_tune_grid), intent(in) :: grid
    integer, intent(out), optional :: status

    call finish(c_wait(grid%handle), status)
  end subroutine

  ! Collective: own cells of all fields to the file `path`.RANK of each rank, and back, with the number of steps made.
  subroutine stencil_tune_grid_save(grid, path, steps, status)
    type(stencil_tune_grid), intent(in) :: grid
    character(*), intent(in) :: path
    integer(c_int64_t), intent(in) :: steps
    integer, intent(out), optional :: status
    character(kind=c_char), allocatable, target :: text(:)

    allocate (text, source=c_text(path))
    call finish(c_save(grid%handle, c_loc(text), steps), status)
  end subroutine

  subroutine stencil_tune_grid_load(grid, path, steps, status)
    type(stencil_tune_grid), intent(in) :: grid
    character(*), intent(in) :: path
    integer(c_int64_t), intent(out) :: steps
    integer, intent(out), optional :: status
    character(kind=c_char), allocatable, target :: text(:)

    allocate (text, source=c_text(path))
    call finish(c_load(grid%handle, c_loc(text), steps), status)
  end subroutine

  function as_cut(cut, steps_per_exchange, overlap, timeout_s) result(made)
    integer, intent(in), optional :: cut(:), steps_per_exchange
    logical, intent(in), optional :: overlap
    real(c_double), intent(in), optional :: timeout_s
    type(cut_t) :: made

    made = cut_t(c_sizeof(made), 0, 0, 0, 0, 0)
    if (present(cut)) then
      made%parts = 1
      made%parts(:size(cut)) = int(cut, c_int32_t)
    end if
    if (present(steps_per_exchange)) made%steps_per_exchange = int(steps_per_exchange, c_int32_t)
    if (present(overlap)) made%overlap = merge(1, 0, overlap)
    if (present(timeout_s)) made%timeout_s = timeout_s
  end function
end module stencil_tune_distributed
