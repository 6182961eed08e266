! Heat between cold walls, from Fortran: the 3D 7-point star in f32, boundary hold, many steps with fused kernels, and
! what fusing them gains over one step a launch.
!
!     example_fortran_heat [CELLS_ON_AN_AXIS [STEPS]]      512 and 100 where nothing is given
!
! A product of sines keeps its shape and decays by 1 - 12 alpha sin^2(k / 2) a step, k radians a cell: every cell is
! compared with that. Exit status: 0 right, 1 wrong or an error, 2 usage, 77 no GPU.
program heat
  use stencil_tune
  implicit none
  real(c_double), parameter :: pi = acos(-1.0_c_double), alpha = 0.1_c_double
  ! The centre, then x-, x+, y-, y+, z-, z+.
  real(c_double), parameter :: weights(7) = [1 - 6 * alpha, alpha, alpha, alpha, alpha, alpha, alpha]
  type(stencil_tune_library) :: library
  type(stencil_tune_kernel) :: kernel, single
  type(c_ptr) :: fields(2)
  real(c_float), allocatable, target :: u(:, :, :)
  real(c_double), allocatable :: sine(:)
  real(c_double) :: decay, fused_rate, single_rate, worst
  integer(c_size_t) :: bytes
  integer :: n, steps, status, x, y, z

  n = argument(1, 512)
  steps = argument(2, 100)
  if (n < 4 .or. steps < 1) then
    print '(a)', "usage: example_fortran_heat [CELLS_ON_AN_AXIS [STEPS]], from 4 cells and 1 step on"
    stop 2
  end if
  call stencil_tune_use_device(0, status)
  if (status /= stencil_tune_ok) then
    print '(a)', stencil_tune_message()
    stop 77
  end if

  allocate (u(n, n, n), sine(n))
  bytes = size(u, kind=c_size_t) * (storage_size(u) / 8)
  sine = [(sin(pi * (x - 1) / (n - 1)), x = 1, n)]
  do concurrent(x = 1:n, y = 1:n, z = 1:n)
    u(x, y, z) = real(sine(x) * sine(y) * sine(z), c_float)
  end do

  ! Index 1 of u is x: Fortran's order in memory is the one that the library takes.
  call stencil_tune_open(library)
  call stencil_tune_lookup(library, "star3d1r", shape(u), kernel, steps=steps)
  call stencil_tune_prepare(kernel)
  print '(2a)', "kernel: ", stencil_tune_evidence(kernel)

  call stencil_tune_allocate(bytes, fields(1))
  call stencil_tune_allocate(bytes, fields(2))
  call stencil_tune_copy_to_device(fields(1), c_loc(u), bytes)
  call stencil_tune_advance(kernel, fields, steps, coefficients=weights)
  call stencil_tune_copy_to_host(c_loc(u), fields(1), bytes) ! fields(1) is the newest state

  decay = (1 - 12 * alpha * sin(pi / (n - 1) / 2)**2)**steps
  worst = 0
  do z = 1, n
    do y = 1, n
      worst = max(worst, maxval(abs(u(:, y, z) - decay * sine * sine(y) * sine(z))))
    end do
  end do
  print '(i0, a, f9.6, a, es9.2)', steps, " steps: decayed to ", decay, "; largest error of a cell ", worst

  call stencil_tune_lookup(library, "star3d1r", shape(u), single)
  call stencil_tune_prepare(single)
  single_rate = rate(single)
  fused_rate = rate(kernel)
  print '(i0, 3(a, f0.1))', stencil_tune_fused_steps(kernel), " steps a launch: ", fused_rate, &
    " GStencil/s; one a launch: ", single_rate, "; times ", fused_rate / single_rate

  call stencil_tune_free(fields(1))
  call stencil_tune_free(fields(2))
  call stencil_tune_release(single)
  call stencil_tune_release(kernel)
  call stencil_tune_close(library)
  ! A few roundings of half a unit a step.
  if (.not. worst < 1.2e-7_c_double * (steps + 1)) error stop "WRONG"

contains

  ! GStencil/s of a whole run.
  real(c_double) function rate(which)
    type(stencil_tune_kernel), intent(in) :: which
    integer(c_int64_t) :: begin, finish, ticks_a_second

    call stencil_tune_synchronize()
    call system_clock(begin, ticks_a_second)
    call stencil_tune_advance(which, fields, steps, coefficients=weights)
    call stencil_tune_synchronize()
    call system_clock(finish)
    rate = (n - 2.0_c_double)**3 * steps / 1e9_c_double * ticks_a_second / (finish - begin)
  end function

  integer function argument(place, otherwise) result(value)
    integer, intent(in) :: place, otherwise
    character(20) :: word

    value = otherwise
    if (command_argument_count() < place) return
    call get_command_argument(place, word)
    read (word, *) value
  end function

end program heat
