! Heat in a cube over the ranks of an MPI job, a GPU each, from Fortran: the library cuts the grid, and MPI carries the
! halos. Messages go through host memory, so that any MPI will do; on GPUs with NVLink pass an NCCL communicator in place
! of the ranks (nccl_heat.cpp makes one), which is far faster.
!
!     mpirun -n 2 example_mpi_fortran_heat [CELLS_ON_AN_AXIS [STEPS]]      256 and 200 where nothing is given
!
! Its walls are cold, and hold. A product of sines then decays by a factor known exactly, which each rank checks on its
! own cells. The stencil is star3d1r, whose shipped winners fuse steps. Exit status: 0 right, 1 wrong or an error, 2 usage, 77 no GPU.
module mpi_ranks
  use mpi
  use stencil_tune_distributed, only: stencil_tune_transfer
  use, intrinsic :: iso_c_binding
  implicit none
  private
  public :: abort_all, all_gather, exchange

contains

  function exchange(context, sends, send_count, receives, receive_count) bind(c) result(failed)
    type(c_ptr), value :: context
    integer(c_int32_t), value :: send_count, receive_count
    type(stencil_tune_transfer), intent(in) :: sends(send_count), receives(receive_count)
    integer(c_int32_t) :: failed
    integer, allocatable :: requests(:)
    integer :: status

    if (c_associated(context)) continue ! none is needed
    allocate (requests(0))
    call begin_all(receives, .true., requests)
    call begin_all(sends, .false., requests)
    call MPI_Waitall(size(requests), requests, MPI_STATUSES_IGNORE, status)
    failed = merge(0, 1, status == MPI_SUCCESS)
  end function

  ! MPI counts by default integers: longer messages go in several parts, on both sides alike.
  subroutine begin_all(transfers, receive, requests)
    type(stencil_tune_transfer), intent(in) :: transfers(:)
    logical, intent(in) :: receive
    integer, allocatable, intent(inout) :: requests(:)
    integer(c_int64_t), parameter :: most = 2_c_int64_t**30
    integer(c_int8_t), pointer, asynchronous :: cells(:)
    integer(c_int64_t) :: first, bytes
    integer :: i, count, request, status

    do i = 1, size(transfers)
      bytes = int(transfers(i)%bytes, c_int64_t)
      call c_f_pointer(transfers(i)%data, cells, [bytes])
      do first = 1, bytes, most
        count = int(min(most, bytes - first + 1))
        if (receive) then
          call MPI_Irecv(cells(first), count, MPI_BYTE, int(transfers(i)%peer), 0, MPI_COMM_WORLD, request, status)
        else
          call MPI_Isend(cells(first), count, MPI_BYTE, int(transfers(i)%peer), 0, MPI_COMM_WORLD, request, status)
        end if
        requests = [requests, request]
      end do
    end do
  end subroutine

  function all_gather(context, mine, bytes, all) bind(c) result(failed)
    type(c_ptr), value :: context, mine, all
    integer(c_size_t), value :: bytes
    integer(c_int32_t) :: failed
    integer(c_int8_t), pointer :: said(:), heard(:)
    integer :: ranks, status

    if (c_associated(context)) continue
    call MPI_Comm_size(MPI_COMM_WORLD, ranks, status)
    call c_f_pointer(mine, said, [bytes])
    call c_f_pointer(all, heard, [bytes * ranks])
    call MPI_Allgather(said, int(bytes), MPI_BYTE, heard, int(bytes), MPI_BYTE, MPI_COMM_WORLD, status)
    failed = merge(0, 1, status == MPI_SUCCESS)
  end function

  subroutine abort_all(context) bind(c)
    type(c_ptr), value :: context
    integer :: status

    if (c_associated(context)) continue
    call MPI_Abort(MPI_COMM_WORLD, 1, status)
  end subroutine
end module

program heat
  use mpi
  use mpi_ranks
  use stencil_tune
  use stencil_tune_distributed
  implicit none
  real(c_double), parameter :: pi = acos(-1.0_c_double), alpha = 0.1_c_double
  type(stencil_tune_library) :: library
  type(stencil_tune_grid) :: grid
  real(c_float), allocatable, target :: u(:, :, :)
  real(c_double), allocatable :: sine(:)
  real(c_double) :: decay, worst, worst_of_all
  integer(c_int64_t) :: low(3), high(3)
  integer(c_size_t) :: bytes
  integer :: n, steps, rank, ranks, status, mine, all, x, y, z

  call MPI_Init(status)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, status)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, status)
  n = argument(1, 256)
  steps = argument(2, 200)
  if (n < 3 .or. steps < 1) call quit(2, "usage: example_mpi_fortran_heat [CELLS_ON_AN_AXIS [STEPS]]")
  call use_gpu_of_rank(status)
  mine = merge(1, 0, status == stencil_tune_ok)
  call MPI_Allreduce(mine, all, 1, MPI_INTEGER, MPI_MIN, MPI_COMM_WORLD, status)
  if (all == 0) call quit(77, "no GPU, or none that each rank could use")

  call stencil_tune_open(library)
  call stencil_tune_distribute(library, stencil_tune_make_ranks(rank, ranks, exchange, all_gather, abort_all), &
                               "star3d1r", [n, n, n], grid, steps=steps)
  if (rank == 0) print '(2a)', "rank 0 runs ", stencil_tune_grid_evidence(grid)
  call stencil_tune_grid_owned(grid, low, high)
  allocate (u(low(1):high(1) - 1, low(2):high(2) - 1, low(3):high(3) - 1), sine(0:n - 1))
  bytes = size(u, kind=c_size_t) * (storage_size(u) / 8)
  sine = [(sin(pi * x / (n - 1)), x = 0, n - 1)]
  do z = lbound(u, 3), ubound(u, 3)
    do y = lbound(u, 2), ubound(u, 2)
      u(:, y, z) = real(sine(lbound(u, 1):ubound(u, 1)) * sine(y) * sine(z), c_float)
    end do
  end do

  call stencil_tune_grid_write(grid, 0, c_loc(u), bytes)
  call stencil_tune_grid_advance(grid, steps, coefficients=[1 - 6 * alpha, (alpha, x = 1, 6)]) ! the centre, then its neighbours
  call stencil_tune_grid_wait(grid)
  call stencil_tune_grid_read(grid, 0, c_loc(u), bytes)

  decay = (1 - 6 * alpha * (1 - cos(pi / (n - 1))))**steps
  worst = 0
  do z = lbound(u, 3), ubound(u, 3)
    do y = lbound(u, 2), ubound(u, 2)
      worst = max(worst, maxval(abs(u(:, y, z) - decay * sine(lbound(u, 1):ubound(u, 1)) * sine(y) * sine(z))))
    end do
  end do
  call MPI_Allreduce(worst, worst_of_all, 1, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, status)
  if (rank == 0) print '(a, i0, a, i0, a, es9.2)', "largest error after ", steps, " steps on ", ranks, " ranks: ", &
    worst_of_all
  call stencil_tune_grid_release(grid)
  call stencil_tune_close(library)
  if (.not. worst_of_all < 1e-4_c_double) call quit(1, "WRONG")
  call MPI_Finalize(status)

contains

  ! Ranks take turns where they see fewer GPUs than there are ranks on a node, as where each sees its own alone.
  subroutine use_gpu_of_rank(status)
    integer, intent(out) :: status
    integer :: mine, gpus

    mine = rank_on_node()
    call stencil_tune_use_device(mine, status)
    do gpus = mine, 1, -1
      if (status == stencil_tune_ok) return
      call stencil_tune_use_device(mod(mine, gpus), status)
    end do
  end subroutine

  integer function rank_on_node()
    integer :: node

    call MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, node, status)
    call MPI_Comm_rank(node, rank_on_node, status)
    call MPI_Comm_free(node, status)
  end function

  integer function argument(number, otherwise)
    integer, intent(in) :: number, otherwise
    character(32) :: text
    integer :: failed

    argument = otherwise
    if (command_argument_count() < number) return
    call get_command_argument(number, text)
    read (text, *, iostat=failed) argument
    if (failed /= 0) argument = 0
  end function

  ! On all ranks alike.
  subroutine quit(exit_status, words)
    integer, intent(in) :: exit_status
    character(*), intent(in) :: words

    if (rank == 0) print '(a)', words
    call MPI_Finalize(status)
    stop exit_status
  end subroutine
end program
