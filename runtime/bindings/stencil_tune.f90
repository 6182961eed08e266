! stencil-tune from Fortran: the C interface with Fortran's own strings and arrays.
!
! Compile this file with your program and link what find_package(stencil_tune) gives. Fields are device addresses
! (type(c_ptr), e.g. from CUDA Fortran's c_devloc, OpenACC's host_data or stencil_tune_allocate). Arrays are in Fortran
! order as they are: the first index is x. Each procedure ends with an optional status; without it, an error stops the
! program and prints the message.
module stencil_tune
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: error_unit
  implicit none
  private

  public :: stencil_tune_library, stencil_tune_kernel
  public :: stencil_tune_open, stencil_tune_close, stencil_tune_lookup, stencil_tune_release
  public :: stencil_tune_prepare, stencil_tune_ready, stencil_tune_wait, stencil_tune_launch, stencil_tune_advance
  public :: stencil_tune_padded_pitch, stencil_tune_use_device, stencil_tune_allocate, stencil_tune_free
  public :: stencil_tune_copy_to_device, stencil_tune_copy_to_host
  public :: stencil_tune_message, stencil_tune_match, stencil_tune_evidence, stencil_tune_gstencils

  integer, parameter, public :: stencil_tune_ok = 0

  ! How well a kernel fits, best first.
  integer, parameter, public :: stencil_tune_exact = 0, stencil_tune_stale = 1, stencil_tune_nearest_size = 2, &
    stencil_tune_same_architecture = 3, stencil_tune_predicted = 4, stencil_tune_default = 5

  type :: stencil_tune_library
    private
    type(c_ptr) :: handle = c_null_ptr
  end type

  type :: stencil_tune_kernel
    private
    type(c_ptr) :: handle = c_null_ptr
  end type

  ! stencil_tune_request of stencil_tune.h, member by member.
  type, bind(c) :: request_t
    integer(c_size_t) :: struct_size
    type(c_ptr) :: stencil
    type(c_ptr) :: element_type
    type(c_ptr) :: boundary
    integer(c_int64_t) :: extents(3)
    integer(c_int64_t) :: pitch
    integer(c_int32_t) :: device
    integer(c_int32_t) :: steps
    integer(c_size_t) :: alignment
  end type

  ! stencil_tune_options of stencil_tune.h.
  type, bind(c) :: options_t
    integer(c_size_t) :: struct_size
    type(c_ptr) :: database
    real(c_double) :: tune_on_miss_s
    integer(c_int32_t) :: compile_in_background
    integer(c_int32_t) :: reserved
  end type

  interface
    function c_open(options, library) bind(c, name="stencil_tune_open_with") result(status)
      import :: c_ptr, c_int, options_t
      type(options_t), intent(in) :: options
      type(c_ptr), intent(out) :: library
      integer(c_int) :: status
    end function

    subroutine c_close(library) bind(c, name="stencil_tune_close")
      import :: c_ptr
      type(c_ptr), value :: library
    end subroutine

    function c_lookup(library, request, kernel) bind(c, name="stencil_tune_lookup") result(status)
      import :: c_ptr, c_int, request_t
      type(c_ptr), value :: library
      type(request_t), intent(in) :: request
      type(c_ptr), intent(out) :: kernel
      integer(c_int) :: status
    end function

    subroutine c_release(kernel) bind(c, name="stencil_tune_release")
      import :: c_ptr
      type(c_ptr), value :: kernel
    end subroutine

    function c_prepare(kernel) bind(c, name="stencil_tune_prepare") result(status)
      import :: c_ptr, c_int
      type(c_ptr), value :: kernel
      integer(c_int) :: status
    end function

    function c_ready(kernel) bind(c, name="stencil_tune_kernel_ready") result(ready)
      import :: c_ptr, c_int32_t
      type(c_ptr), value :: kernel
      integer(c_int32_t) :: ready
    end function

    function c_wait(kernel) bind(c, name="stencil_tune_wait") result(status)
      import :: c_ptr, c_int
      type(c_ptr), value :: kernel
      integer(c_int) :: status
    end function

    function c_launch(kernel, stream, fields, field_count, coefficients, coefficient_count, low, high) &
        bind(c, name="stencil_tune_launch") result(status)
      import :: c_ptr, c_int, c_int32_t
      type(c_ptr), value :: kernel, stream
      type(c_ptr), intent(in) :: fields(*)
      integer(c_int32_t), value :: field_count, coefficient_count
      type(c_ptr), value :: coefficients, low, high
      integer(c_int) :: status
    end function

    function c_advance(kernel, stream, fields, field_count, steps, coefficients, coefficient_count) &
        bind(c, name="stencil_tune_advance") result(status)
      import :: c_ptr, c_int, c_int32_t, c_int64_t
      type(c_ptr), value :: kernel, stream
      type(c_ptr), intent(inout) :: fields(*)
      integer(c_int32_t), value :: field_count, coefficient_count
      integer(c_int64_t), value :: steps
      type(c_ptr), value :: coefficients
      integer(c_int) :: status
    end function

    function c_padded_pitch(nx, element_type) bind(c, name="stencil_tune_padded_pitch") result(pitch)
      import :: c_ptr, c_int64_t
      integer(c_int64_t), value :: nx
      type(c_ptr), value :: element_type
      integer(c_int64_t) :: pitch
    end function

    function c_use_device(device) bind(c, name="stencil_tune_use_device") result(status)
      import :: c_int, c_int32_t
      integer(c_int32_t), value :: device
      integer(c_int) :: status
    end function

    function c_copy_to_device(to, from, bytes, stream) bind(c, name="stencil_tune_copy_to_device") result(status)
      import :: c_ptr, c_int, c_size_t
      type(c_ptr), value :: to, from, stream
      integer(c_size_t), value :: bytes
      integer(c_int) :: status
    end function

    function c_copy_to_host(to, from, bytes, stream) bind(c, name="stencil_tune_copy_to_host") result(status)
      import :: c_ptr, c_int, c_size_t
      type(c_ptr), value :: to, from, stream
      integer(c_size_t), value :: bytes
      integer(c_int) :: status
    end function

    function c_allocate(bytes, address) bind(c, name="stencil_tune_allocate") result(status)
      import :: c_ptr, c_int, c_size_t
      integer(c_size_t), value :: bytes
      type(c_ptr), intent(out) :: address
      integer(c_int) :: status
    end function

    subroutine c_free(address) bind(c, name="stencil_tune_free")
      import :: c_ptr
      type(c_ptr), value :: address
    end subroutine

    function c_message() bind(c, name="stencil_tune_error_message") result(text)
      import :: c_ptr
      type(c_ptr) :: text
    end function

    function c_match(kernel) bind(c, name="stencil_tune_kernel_match") result(match)
      import :: c_ptr, c_int
      type(c_ptr), value :: kernel
      integer(c_int) :: match
    end function

    function c_evidence(kernel) bind(c, name="stencil_tune_kernel_evidence") result(text)
      import :: c_ptr
      type(c_ptr), value :: kernel
      type(c_ptr) :: text
    end function

    function c_gstencils(kernel) bind(c, name="stencil_tune_kernel_gstencils") result(rate)
      import :: c_ptr, c_double
      type(c_ptr), value :: kernel
      real(c_double) :: rate
    end function

    function c_strlen(text) bind(c, name="strlen") result(length)
      import :: c_ptr, c_size_t
      type(c_ptr), value :: text
      integer(c_size_t) :: length
    end function
  end interface

contains

  ! Opens the database of winners: a path, or the user's own. compile_in_background: stencil_tune_prepare does not wait
  ! for the compiler; linear stencils run on a slower kernel until theirs is there. tune_on_miss_s: seconds to tune for
  ! when a lookup finds no exact match; a stale one serves meanwhile.
  subroutine stencil_tune_open(library, database, compile_in_background, tune_on_miss_s, status)
    type(stencil_tune_library), intent(out) :: library
    character(*), intent(in), optional :: database
    logical, intent(in), optional :: compile_in_background
    real(c_double), intent(in), optional :: tune_on_miss_s
    integer, intent(out), optional :: status
    character(kind=c_char), allocatable, target :: path(:)
    type(options_t) :: options

    options = options_t(c_sizeof(options), c_null_ptr, 0, 0, 0)
    if (present(database)) then
      path = c_text(database)
      options%database = c_loc(path)
    end if
    if (present(compile_in_background)) options%compile_in_background = merge(1, 0, compile_in_background)
    if (present(tune_on_miss_s)) options%tune_on_miss_s = tune_on_miss_s
    call finish(c_open(options, library%handle), status)
  end subroutine

  subroutine stencil_tune_close(library)
    type(stencil_tune_library), intent(inout) :: library

    call c_close(library%handle)
    library%handle = c_null_ptr
  end subroutine

  ! stencil: a built-in's name or a definition file. extents: as many as the stencil has axes, x first. steps: of a
  ! typical stencil_tune_advance, which may fuse as many in one launch. element_type: where it is absent, what the
  ! definition asks for, else "f32".
  subroutine stencil_tune_lookup(library, stencil, extents, kernel, element_type, boundary, pitch, device, alignment, &
      steps, status)
    type(stencil_tune_library), intent(in) :: library
    character(*), intent(in) :: stencil
    integer(c_int64_t), intent(in) :: extents(:)
    type(stencil_tune_kernel), intent(out) :: kernel
    character(*), intent(in), optional :: element_type, boundary
    integer(c_int64_t), intent(in), optional :: pitch
    integer, intent(in), optional :: device
    integer(c_size_t), intent(in), optional :: alignment
    integer, intent(in), optional :: steps
    integer, intent(out), optional :: status
    character(kind=c_char), allocatable, target :: stencil_text(:), type_text(:), boundary_text(:)
    type(request_t) :: request
    integer :: given

    stencil_text = c_text(stencil)
    request%element_type = c_null_ptr
    if (present(element_type)) then
      type_text = c_text(element_type)
      request%element_type = c_loc(type_text)
    end if
    boundary_text = c_text("hold")
    if (present(boundary)) boundary_text = c_text(boundary)

    request%struct_size = c_sizeof(request)
    request%stencil = c_loc(stencil_text)
    request%boundary = c_loc(boundary_text)
    request%extents = 1
    given = min(size(extents), 3)
    request%extents(1:given) = extents(1:given)
    request%pitch = 0
    if (present(pitch)) request%pitch = pitch
    request%device = -1
    if (present(device)) request%device = int(device, c_int32_t)
    request%steps = 1
    if (present(steps)) request%steps = int(steps, c_int32_t)
    request%alignment = 0
    if (present(alignment)) request%alignment = alignment
    call finish(c_lookup(library%handle, request, kernel%handle), status)
  end subroutine

  subroutine stencil_tune_release(kernel)
    type(stencil_tune_kernel), intent(inout) :: kernel

    call c_release(kernel%handle)
    kernel%handle = c_null_ptr
  end subroutine

  subroutine stencil_tune_prepare(kernel, status)
    type(stencil_tune_kernel), intent(in) :: kernel
    integer, intent(out), optional :: status

    call finish(c_prepare(kernel%handle), status)
  end subroutine

  ! True once the kernel that was looked up is loaded; before, another may stand in for it.
  function stencil_tune_ready(kernel) result(ready)
    type(stencil_tune_kernel), intent(in) :: kernel
    logical :: ready

    ready = c_ready(kernel%handle) /= 0
  end function

  subroutine stencil_tune_wait(kernel, status)
    type(stencil_tune_kernel), intent(in) :: kernel
    integer, intent(out), optional :: status

    call finish(c_wait(kernel%handle), status)
  end subroutine

  ! One step. low and high limit it to cells low <= cell < high, counted from 0.
  subroutine stencil_tune_launch(kernel, fields, stream, coefficients, low, high, status)
    type(stencil_tune_kernel), intent(in) :: kernel
    type(c_ptr), intent(in) :: fields(:)
    type(c_ptr), intent(in), optional :: stream
    real(c_double), intent(in), contiguous, optional, target :: coefficients(:)
    integer(c_int64_t), intent(in), contiguous, optional, target :: low(:), high(:)
    integer, intent(out), optional :: status
    type(c_ptr) :: values, first, last
    integer(c_int32_t) :: value_count

    call pass(coefficients, values, value_count)
    first = c_null_ptr
    if (present(low)) first = c_loc(low)
    last = c_null_ptr
    if (present(high)) last = c_loc(high)
    call finish(c_launch(kernel%handle, stream_or_default(stream), fields, size(fields, kind=c_int32_t), values, &
                         value_count, first, last), status)
  end subroutine

  ! Several steps; afterwards fields(i) is the buffer that will hold field i.
  subroutine stencil_tune_advance(kernel, fields, steps, stream, coefficients, status)
    type(stencil_tune_kernel), intent(in) :: kernel
    type(c_ptr), intent(inout) :: fields(:)
    integer(c_int64_t), intent(in) :: steps
    type(c_ptr), intent(in), optional :: stream
    real(c_double), intent(in), contiguous, optional, target :: coefficients(:)
    integer, intent(out), optional :: status
    type(c_ptr) :: values
    integer(c_int32_t) :: value_count

    call pass(coefficients, values, value_count)
    call finish(c_advance(kernel%handle, stream_or_default(stream), fields, size(fields, kind=c_int32_t), steps, values, &
                          value_count), status)
  end subroutine

  ! The smallest pitch of at least nx cells whose rows start on 128-byte lines; 0 on error.
  function stencil_tune_padded_pitch(nx, element_type) result(pitch)
    integer(c_int64_t), intent(in) :: nx
    character(*), intent(in) :: element_type
    integer(c_int64_t) :: pitch
    character(kind=c_char), allocatable, target :: type_text(:)

    allocate (type_text, source=c_text(element_type))
    pitch = c_padded_pitch(nx, c_loc(type_text))
  end function

  ! Makes the GPU's primary context current on this thread, for programs that have none.
  subroutine stencil_tune_use_device(device, status)
    integer, intent(in) :: device
    integer, intent(out), optional :: status

    call finish(c_use_device(int(device, c_int32_t)), status)
  end subroutine

  ! Copies after what is on the stream, and waits for it. host: c_loc of an array.
  subroutine stencil_tune_copy_to_device(field, host, bytes, stream, status)
    type(c_ptr), intent(in) :: field, host
    integer(c_size_t), intent(in) :: bytes
    type(c_ptr), intent(in), optional :: stream
    integer, intent(out), optional :: status

    call finish(c_copy_to_device(field, host, bytes, stream_or_default(stream)), status)
  end subroutine

  subroutine stencil_tune_copy_to_host(host, field, bytes, stream, status)
    type(c_ptr), intent(in) :: host, field
    integer(c_size_t), intent(in) :: bytes
    type(c_ptr), intent(in), optional :: stream
    integer, intent(out), optional :: status

    call finish(c_copy_to_host(host, field, bytes, stream_or_default(stream)), status)
  end subroutine

  subroutine stencil_tune_allocate(bytes, address, status)
    integer(c_size_t), intent(in) :: bytes
    type(c_ptr), intent(out) :: address
    integer, intent(out), optional :: status

    call finish(c_allocate(bytes, address), status)
  end subroutine

  subroutine stencil_tune_free(address)
    type(c_ptr), intent(inout) :: address

    call c_free(address)
    address = c_null_ptr
  end subroutine

  ! What the last error on this thread was.
  function stencil_tune_message() result(text)
    character(:), allocatable :: text

    text = fortran_text(c_message())
  end function

  function stencil_tune_match(kernel) result(match)
    type(stencil_tune_kernel), intent(in) :: kernel
    integer :: match

    match = c_match(kernel%handle)
  end function

  function stencil_tune_evidence(kernel) result(text)
    type(stencil_tune_kernel), intent(in) :: kernel
    character(:), allocatable :: text

    text = fortran_text(c_evidence(kernel%handle))
  end function

  function stencil_tune_gstencils(kernel) result(rate)
    type(stencil_tune_kernel), intent(in) :: kernel
    real(c_double) :: rate

    rate = c_gstencils(kernel%handle)
  end function

  ! ---- helpers ----

  subroutine finish(c_status, status)
    integer(c_int), intent(in) :: c_status
    integer, intent(out), optional :: status

    if (present(status)) then
      status = c_status
    else if (c_status /= stencil_tune_ok) then
      write (error_unit, '(2a)') "stencil_tune: ", stencil_tune_message()
      error stop 1
    end if
  end subroutine

  subroutine pass(coefficients, values, value_count)
    real(c_double), intent(in), contiguous, optional, target :: coefficients(:)
    type(c_ptr), intent(out) :: values
    integer(c_int32_t), intent(out) :: value_count

    values = c_null_ptr
    value_count = 0
    if (present(coefficients)) then
      values = c_loc(coefficients)
      value_count = size(coefficients, kind=c_int32_t)
    end if
  end subroutine

  function stream_or_default(stream) result(passed)
    type(c_ptr), intent(in), optional :: stream
    type(c_ptr) :: passed

    passed = c_null_ptr
    if (present(stream)) passed = stream
  end function

  function c_text(text) result(characters)
    character(*), intent(in) :: text
    character(kind=c_char), allocatable :: characters(:)
    integer :: i

    allocate (characters(len_trim(text) + 1))
    do i = 1, len_trim(text)
      characters(i) = text(i:i)
    end do
    characters(len_trim(text) + 1) = c_null_char
  end function

  function fortran_text(text) result(copy)
    type(c_ptr), intent(in) :: text
    character(:), allocatable :: copy
    character(kind=c_char), pointer :: characters(:)
    integer :: i

    call c_f_pointer(text, characters, [c_strlen(text)])
    allocate (character(size(characters)) :: copy)
    do i = 1, size(characters)
      copy(i:i) = characters(i)
    end do
  end function

end module stencil_tune
