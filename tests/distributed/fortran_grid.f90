! A grid of one rank, whose exchange the program brings, on a GPU that is made of the CPU: heat between walls that hold,
! as a loop of Fortran has it. Exit status: 0 right, 1 wrong or an error.
module own_ranks
  use stencil_tune_distributed, only: stencil_tune_transfer
  use, intrinsic :: iso_c_binding
  implicit none

contains

  function exchange(context, sends, send_count, receives, receive_count) bind(c) result(failed)
    type(c_ptr), value :: context
    integer(c_int32_t), value :: send_count, receive_count
    type(stencil_tune_transfer), intent(in) :: sends(send_count), receives(receive_count)
    integer(c_int32_t) :: failed

    failed = merge(0, 1, send_count == 0 .and. receive_count == 0)
  end function

  function all_gather(context, mine, bytes, all) bind(c) result(failed)
    type(c_ptr), value :: context, mine, all
    integer(c_size_t), value :: bytes
    integer(c_int32_t) :: failed
    character(kind=c_char), pointer :: from(:), to(:)

    call c_f_pointer(mine, from, [bytes])
    call c_f_pointer(all, to, [bytes])
    to = from
    failed = 0
  end function

  ! The run that measures ends once the mass is below the caller's.
  function is_below(user, steps, numbers, count) bind(c) result(stops)
    type(c_ptr), value :: user
    integer(c_int64_t), value :: steps
    integer(c_int32_t), value :: count
    real(c_double), intent(in) :: numbers(count)
    integer(c_int32_t) :: stops
    real(c_double), pointer :: least

    call c_f_pointer(user, least)
    stops = merge(1, 0, steps > 0 .and. count == 1 .and. numbers(1) < least)
  end function
end module

program fortran_grid
  use own_ranks, only: all_gather, exchange, is_below
  use stencil_tune
  use stencil_tune_distributed
  implicit none
  integer, parameter :: nx = 20, ny = 9, nz = 12, steps = 3
  real(c_double), parameter :: alpha = 0.05_c_double
  type(stencil_tune_library) :: library
  type(stencil_tune_grid) :: grid
  real(c_double), target :: u(nx, ny, nz), found(nx, ny, nz), after(nx, ny, nz)
  integer(c_int64_t) :: low(3), high(3), saved
  integer :: status, step, x, y, z

  call random_number(u)
  call stencil_tune_use_device(0)
  call stencil_tune_open(library)
  call stencil_tune_distribute(library, stencil_tune_make_ranks(0, 1, exchange, all_gather), "heat3d", [nx, ny, nz], &
                               grid, element_type="f64", boundary="hold", steps=steps, cut=[1, 1, 1])
  call stencil_tune_grid_owned(grid, low, high)
  call expect(all(low == 0) .and. all(high == [nx, ny, nz]), "the rank owns all cells")
  call expect(stencil_tune_grid_steps_per_exchange(grid) >= 1 .and. len(stencil_tune_grid_evidence(grid)) > 0, "evidence")

  call stencil_tune_grid_scatter(grid, 0, 0, c_loc(u), c_sizeof(u))
  call stencil_tune_grid_refresh(grid)
  call stencil_tune_grid_advance(grid, steps, coefficients=[alpha])
  call stencil_tune_grid_wait(grid)
  call stencil_tune_grid_save(grid, "fortran_grid", int(steps, c_int64_t))
  call stencil_tune_grid_gather(grid, 0, 0, c_loc(found), c_sizeof(found))
  do step = 1, steps
    after = u
    do z = 2, nz - 1
      do y = 2, ny - 1
        do x = 2, nx - 1
          after(x, y, z) = u(x, y, z) + alpha * (u(x - 1, y, z) + u(x + 1, y, z) + u(x, y - 1, z) + u(x, y + 1, z) + &
                                                 u(x, y, z - 1) + u(x, y, z + 1) - 6 * u(x, y, z))
        end do
      end do
    end do
    u = after
  end do
  call expect(maxval(abs(found - u)) < 1e-13_c_double, "the steps are those of a loop")

  call stencil_tune_grid_write(grid, 0, c_loc(after), c_sizeof(after))
  found = 0
  call stencil_tune_grid_read(grid, 0, c_loc(found), c_sizeof(found))
  call expect(all(abs(found - after) <= 0), "cells come back")
  call stencil_tune_grid_load(grid, "fortran_grid", saved)
  call expect(saved == steps, "so does the number of steps")
  call stencil_tune_grid_read(grid, 7, c_loc(found), c_sizeof(found), status)
  call expect(status /= stencil_tune_ok .and. index(stencil_tune_message(), "field 7") > 0, "errors have words")
  call stencil_tune_grid_release(grid)
  call decay_until_little_is_left()
  call stencil_tune_close(library)

contains

  ! Half of it is left after each step: below 100 of 2160 after six, and the run has two more to do when it hears of it.
  subroutine decay_until_little_is_left()
    type(stencil_tune_stencil) :: decay
    type(stencil_tune_kernel) :: kernel
    type(c_ptr) :: fields(2)
    real(c_double), target :: least
    integer(c_int64_t) :: made

    least = 100
    u = 1
    call stencil_tune_parse(decay, "u_next = 0.5*u; measure mass = sum(u)")
    call stencil_tune_lookup(library, decay, [nx, ny, nz], kernel, element_type="f64", steps=2)
    call stencil_tune_allocate(c_sizeof(u), fields(1))
    call stencil_tune_allocate(c_sizeof(u), fields(2))
    call stencil_tune_copy_to_device(fields(1), c_loc(u), c_sizeof(u))
    call stencil_tune_advance_until(kernel, fields, 100_c_int64_t, 2_c_int64_t, is_below, made, user=c_loc(least))
    call stencil_tune_copy_to_host(c_loc(found), fields(1), c_sizeof(found))
    call expect(made == 8 .and. all(abs(found - 0.5_c_double**8) <= 0), "a run ends where what it measures says so")
    call stencil_tune_free(fields(1))
    call stencil_tune_free(fields(2))
    call stencil_tune_release(kernel)
    call stencil_tune_release(decay)
  end subroutine

  subroutine expect(right, what)
    logical, intent(in) :: right
    character(*), intent(in) :: what

    if (right) return
    print '(2a)', "WRONG: ", what
    stop 1
  end subroutine
end program
