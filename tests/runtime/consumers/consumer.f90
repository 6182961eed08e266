! A Fortran program on the Fortran module: three Jacobi steps on the GPU where there is one, errors where there is none.
program consumer
  use stencil_tune
  implicit none
  type(stencil_tune_library) :: library
  integer :: status

  call stencil_tune_open(library, "/no/such/folder/winners.db", status=status)
  call expect(status /= stencil_tune_ok, "a missing database is an error")
  call expect(index(stencil_tune_message(), "/no/such/folder/winners.db") > 0, "the message names the file")
  call expect(stencil_tune_padded_pitch(509_c_int64_t, "f64") == 512_c_int64_t, "padded pitch")
  call expect(stencil_tune_padded_pitch(509, "f64") == 512, "padded pitch of a default integer")
  call write_for_a_named_gpu()

  call stencil_tune_use_device(0, status)
  if (status == stencil_tune_ok) then
    call steps_on_the_gpu()
  else
    print '(2a)', "no GPU: ", stencil_tune_message()
  end if

contains

  ! A one-liner for an H200, which need not be here: its kernel is read, not launched.
  subroutine write_for_a_named_gpu()
    type(stencil_tune_stencil) :: heat, absorbed
    type(stencil_tune_kernel) :: kernel, same
    type(c_ptr) :: fields(2)
    integer(c_int64_t) :: extents(3)

    call stencil_tune_parse(heat, "u_next = u +", status=status)
    call expect(status /= stencil_tune_ok, "half an expression is an error")
    call stencil_tune_parse(heat, "u_next = u" // achar(0) // " + 1", status=status)
    call expect(status /= stencil_tune_ok, "a null character ends no expression")
    call stencil_tune_parse(heat, "u_next = u + alpha * laplacian(u); alpha = 0.1")
    call stencil_tune_open(library)
    call stencil_tune_lookup(library, heat, [64, 64, 64], kernel, steps=10, gpu="h200")
    call stencil_tune_lookup(library, heat, [64_c_int64_t, 64_c_int64_t, 64_c_int64_t], same, steps=10, gpu="h200")
    call stencil_tune_release(heat)
    call expect(stencil_tune_code(kernel) == stencil_tune_code(same), "one kernel for extents of either kind")
    call expect(stencil_tune_fused_steps(kernel) >= 1, "fused steps")
    call expect(index(stencil_tune_source(kernel), "__global__") > 0, "the source of a kernel")
    call stencil_tune_export(kernel, "/no/such/folder/heat.cu", status=status)
    call expect(status /= stencil_tune_ok, "a folder that is not there")
    fields = c_null_ptr
    call stencil_tune_advance(kernel, fields, 10, status=status)
    call expect(index(stencil_tune_message(), "NVIDIA H200") > 0, "a GPU by its name launches nothing")
    call stencil_tune_launch(kernel, fields, low=[1, 1, 1], high=[2, 2, 2], status=status)
    call expect(status /= stencil_tune_ok, "nor some cells")
    call stencil_tune_release(kernel)
    call stencil_tune_release(same)

    call stencil_tune_load(absorbed, "acoustic3d_o2_cpml")
    call stencil_tune_field_array(absorbed, [200, 48, 40], 4, extents)
    call expect(all(extents == [40, 48, 40]), "two slabs of 20 cells along x")
    call stencil_tune_lookup(library, absorbed, [200, 48, 40], kernel, gpu="h200", slabs=.true.)
    call stencil_tune_export(kernel, "/no/such/folder/wave.cu", status=status)
    call expect(index(stencil_tune_message(), "without slabs") > 0, "exports take whole arrays")
    call stencil_tune_release(kernel)
    call stencil_tune_release(absorbed)
    call stencil_tune_close(library)
  end subroutine

  ! The average of a linear function over a symmetric star is its value at the centre.
  subroutine steps_on_the_gpu()
    integer, parameter :: n = 40
    real(c_double), target :: host(n, n), res(n, n)
    real(c_double) :: weights(5)
    type(stencil_tune_kernel) :: kernel
    type(c_ptr) :: fields(2)
    integer :: i, j

    do j = 1, n
      do i = 1, n
        host(i, j) = i + 2 * j
      end do
    end do
    weights = 0.2_c_double
    call stencil_tune_open(library, compile_in_background=.true.)
    call stencil_tune_lookup(library, "star2d1r", [n, n], kernel, element_type="f64")
    call stencil_tune_prepare(kernel)
    call stencil_tune_allocate(c_sizeof(host), fields(1))
    call stencil_tune_allocate(c_sizeof(host), fields(2))
    call stencil_tune_copy_to_device(fields(1), c_loc(host), c_sizeof(host))
    call stencil_tune_advance(kernel, fields, 3, coefficients=weights)
    call stencil_tune_wait(kernel)
    call expect(stencil_tune_ready(kernel), "the kernel is there once it was waited for")
    call stencil_tune_copy_to_host(c_loc(res), fields(1), c_sizeof(host))
    call expect(maxval(abs(res - host)) < 1e-12_c_double, "linear functions are kept")
    print '(2a)', "one GPU: ", stencil_tune_evidence(kernel)
    call stencil_tune_free(fields(1))
    call stencil_tune_free(fields(2))
    call stencil_tune_release(kernel)
    call stencil_tune_close(library)
  end subroutine

  subroutine expect(truth, what)
    logical, intent(in) :: truth
    character(*), intent(in) :: what

    if (truth) return
    print '(2a)', "failed: ", what
    error stop 1
  end subroutine

end program consumer
