! stencil-tune from Fortran: the C interface with Fortran's own strings and arrays.
!
! Compile this file with your program and link what find_package(stencil_tune) gives. Fields are device addresses
! (type(c_ptr), e.g. from CUDA Fortran's c_devloc, OpenACC's host_data or stencil_tune_allocate). Arrays are in Fortran
! order as they are: the first index is x. Sizes and steps are integers of 32 or 64 bits, all in one call of one kind.
! Each procedure ends with an optional status; without it, an error stops the program and prints the message. The kinds
! and functions of iso_c_binding that a program needs for its fields come along.

! What the modules for Fortran share: the C interface's request, texts and errors. Programs use stencil_tune.
module stencil_tune_c
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: error_unit
  implicit none
  private

  public :: request_t, request_texts, fill_request, finish, pass, pointer_or_null, c_text, fortran_text
  public :: stencil_tune_message

  integer, parameter, public :: stencil_tune_ok = 0

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
    type(c_ptr) :: parsed
    type(c_ptr) :: gpu
    type(c_ptr) :: objective
    integer(c_int32_t) :: slabs
    integer(c_int32_t) :: reserved
    real(c_double) :: race_s
  end type

  ! What a request points to; of a target.
  type :: request_texts
    character(kind=c_char), allocatable :: stencil(:), element_type(:), boundary(:)
  end type

  interface
    function c_message() bind(c, name="stencil_tune_error_message") result(text)
      import :: c_ptr
      type(c_ptr) :: text
    end function

    function c_strlen(text) bind(c, name="strlen") result(length)
      import :: c_ptr, c_size_t
      type(c_ptr), value :: text
      integer(c_size_t) :: length
    end function
  end interface

contains

  ! stencil: absent where the request has a parsed one. What is absent else is the default of stencil_tune.h.
  subroutine fill_request(request, texts, extents, stencil, element_type, boundary, device, steps)
    type(request_t), intent(out) :: request
    type(request_texts), intent(out), target :: texts
    integer(c_int64_t), intent(in) :: extents(:)
    character(*), intent(in), optional :: stencil, element_type, boundary
    integer, intent(in), optional :: device, steps
    integer :: given

    request = request_t(c_sizeof(request), c_null_ptr, c_null_ptr, c_null_ptr, 1, 0, -1, 1, 0, c_null_ptr, c_null_ptr, &
                        c_null_ptr, 0, 0, 0)
    if (present(stencil)) then
      allocate (texts%stencil, source=c_text(stencil))
      request%stencil = c_loc(texts%stencil)
    end if
    if (present(element_type)) then
      allocate (texts%element_type, source=c_text(element_type))
      request%element_type = c_loc(texts%element_type)
    end if
    if (present(boundary)) then
      allocate (texts%boundary, source=c_text(boundary))
      request%boundary = c_loc(texts%boundary)
    end if
    given = min(size(extents), 3)
    request%extents(:given) = extents(:given)
    if (present(device)) request%device = int(device, c_int32_t)
    if (present(steps)) request%steps = int(steps, c_int32_t)
  end subroutine

  ! What the last error on this thread was.
  function stencil_tune_message() result(text)
    character(:), allocatable :: text

    text = fortran_text(c_message())
  end function

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

  function pointer_or_null(given) result(passed)
    type(c_ptr), intent(in), optional :: given
    type(c_ptr) :: passed

    passed = c_null_ptr
    if (present(given)) passed = given
  end function

  function c_text(text) result(characters)
    character(*), intent(in) :: text
    ! In place of a null character, which would end the text for C: no name, path or definition has it.
    character(kind=c_char), parameter :: no_character = achar(1)
    character(kind=c_char), allocatable :: characters(:)
    integer :: i

    allocate (characters(len_trim(text) + 1))
    do i = 1, len_trim(text)
      characters(i) = text(i:i)
      if (characters(i) == c_null_char) characters(i) = no_character
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
end module stencil_tune_c

module stencil_tune
  use, intrinsic :: iso_c_binding
  use stencil_tune_c
  implicit none
  private

  public :: c_associated, c_f_pointer, c_loc, c_null_ptr, c_ptr, c_sizeof
  public :: c_double, c_float, c_int, c_int32_t, c_int64_t, c_size_t

  public :: stencil_tune_library, stencil_tune_stencil, stencil_tune_kernel
  public :: stencil_tune_open, stencil_tune_close, stencil_tune_lookup, stencil_tune_release
  public :: stencil_tune_load, stencil_tune_parse, stencil_tune_define, stencil_tune_field_array
  public :: stencil_tune_prepare, stencil_tune_ready, stencil_tune_wait, stencil_tune_launch, stencil_tune_advance
  public :: stencil_tune_advance_until, stencil_tune_stop
  public :: stencil_tune_points, stencil_tune_point_cell, stencil_tune_spread, stencil_tune_place_points
  public :: stencil_tune_advance_with_points, stencil_tune_point_notes
  public :: stencil_tune_padded_pitch, stencil_tune_use_device, stencil_tune_allocate, stencil_tune_free
  public :: stencil_tune_copy_to_device, stencil_tune_copy_to_host, stencil_tune_synchronize
  public :: stencil_tune_message, stencil_tune_match, stencil_tune_evidence, stencil_tune_gstencils
  public :: stencil_tune_code, stencil_tune_fused_steps, stencil_tune_source, stencil_tune_export

  public :: stencil_tune_ok

  ! How well a kernel fits, best first.
  integer, parameter, public :: stencil_tune_exact = 0, stencil_tune_stale = 1, stencil_tune_nearest_size = 2, &
    stencil_tune_same_architecture = 3, stencil_tune_predicted = 4, stencil_tune_default = 5

  type :: stencil_tune_library
    ! The C interface's: for modules that go on from here, such as stencil_tune_distributed.
    type(c_ptr) :: handle = c_null_ptr
  end type

  type :: stencil_tune_stencil
    private
    type(c_ptr) :: handle = c_null_ptr
  end type

  type :: stencil_tune_kernel
    private
    type(c_ptr) :: handle = c_null_ptr
  end type

  ! Sources and receivers that were placed for a kernel.
  type :: stencil_tune_points
    private
    type(c_ptr) :: handle = c_null_ptr
  end type

  ! One cell of a source or receiver. All is numbered from 0: the point, its field in the order of a launch's addresses,
  ! and the cell, x first; 0 beyond the stencil's rank.
  type, bind(c) :: stencil_tune_point_cell
    integer(c_int32_t) :: point = 0
    integer(c_int32_t) :: field = 0
    integer(c_int64_t) :: cell(3) = 0
    real(c_double) :: weight = 1
  end type

  ! stencil_tune_point_list of stencil_tune.h.
  type, bind(c) :: point_list_t
    integer(c_size_t) :: struct_size
    type(c_ptr) :: source_cells
    type(c_ptr) :: receiver_cells
    integer(c_int64_t) :: source_cell_count
    integer(c_int64_t) :: receiver_cell_count
    integer(c_int32_t) :: sources
    integer(c_int32_t) :: receivers
    integer(c_int32_t) :: every
    integer(c_int32_t) :: reserved
  end type

  ! stencil_tune_export_options of stencil_tune.h.
  type, bind(c) :: export_options_t
    integer(c_size_t) :: struct_size
    type(c_ptr) :: name
    type(c_ptr) :: architecture
    integer(c_int32_t) :: stage
    integer(c_int32_t) :: with_main
    integer(c_int32_t) :: split_header
    integer(c_int32_t) :: reserved
  end type

  ! stencil_tune_options of stencil_tune.h.
  type, bind(c) :: options_t
    integer(c_size_t) :: struct_size
    type(c_ptr) :: database
    real(c_double) :: tune_on_miss_s
    integer(c_int32_t) :: compile_in_background
    integer(c_int32_t) :: reserved
    type(c_ptr) :: program
  end type

  ! A stencil by name, file or handle; extents, pitch and alignment of one kind. slabs: arrays of fields in layers hold these
  ! alone, of the extents that stencil_tune_field_array says.
  interface stencil_tune_lookup
    module procedure lookup_named_32, lookup_named_64, lookup_parsed_32, lookup_parsed_64
  end interface

  interface stencil_tune_release
    module procedure release_kernel, release_stencil, release_points
  end interface

  interface stencil_tune_launch
    module procedure launch_64, launch_box_32
  end interface

  interface stencil_tune_advance
    module procedure advance_32, advance_64
  end interface

  interface stencil_tune_advance_with_points
    module procedure advance_with_points_32, advance_with_points_64
  end interface

  ! Is given what a run has measured after so many of its steps, one of `count` numbers for each measure of the definition.
  ! Other than 0 ends the run.
  abstract interface
    function stencil_tune_stop(user, steps, numbers, count) bind(c) result(stops)
      import :: c_ptr, c_int32_t, c_int64_t, c_double
      type(c_ptr), value :: user
      integer(c_int64_t), value :: steps
      integer(c_int32_t), value :: count
      real(c_double), intent(in) :: numbers(count)
      integer(c_int32_t) :: stops
    end function
  end interface

  interface stencil_tune_padded_pitch
    module procedure padded_pitch_32, padded_pitch_64
  end interface

  interface stencil_tune_allocate
    module procedure allocate_32, allocate_64
  end interface

  interface stencil_tune_copy_to_device
    module procedure copy_to_device_32, copy_to_device_64
  end interface

  interface stencil_tune_copy_to_host
    module procedure copy_to_host_32, copy_to_host_64
  end interface

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

    function c_field_array(request, field, extents, strides) bind(c, name="stencil_tune_field_array") result(status)
      import :: c_int, c_int32_t, c_int64_t, request_t
      type(request_t), intent(in) :: request
      integer(c_int32_t), value :: field
      integer(c_int64_t), intent(out) :: extents(3), strides(3)
      integer(c_int) :: status
    end function

    function c_load(text, stencil) bind(c, name="stencil_tune_stencil_load") result(status)
      import :: c_ptr, c_int
      type(c_ptr), value :: text
      type(c_ptr), intent(out) :: stencil
      integer(c_int) :: status
    end function

    function c_parse(text, rank, stencil) bind(c, name="stencil_tune_stencil_parse") result(status)
      import :: c_ptr, c_int, c_int32_t
      type(c_ptr), value :: text
      integer(c_int32_t), value :: rank
      type(c_ptr), intent(out) :: stencil
      integer(c_int) :: status
    end function

    function c_define(text, source, stencil) bind(c, name="stencil_tune_stencil_define") result(status)
      import :: c_ptr, c_int
      type(c_ptr), value :: text, source
      type(c_ptr), intent(out) :: stencil
      integer(c_int) :: status
    end function

    subroutine c_release_stencil(stencil) bind(c, name="stencil_tune_stencil_release")
      import :: c_ptr
      type(c_ptr), value :: stencil
    end subroutine

    function c_source(kernel, stage, text) bind(c, name="stencil_tune_kernel_source") result(status)
      import :: c_ptr, c_int, c_int32_t
      type(c_ptr), value :: kernel
      integer(c_int32_t), value :: stage
      type(c_ptr), intent(out) :: text
      integer(c_int) :: status
    end function

    function c_export(kernel, options, path) bind(c, name="stencil_tune_export_file") result(status)
      import :: c_ptr, c_int, export_options_t
      type(c_ptr), value :: kernel, path
      type(export_options_t), intent(in) :: options
      integer(c_int) :: status
    end function

    subroutine c_free_text(text) bind(c, name="stencil_tune_free_text")
      import :: c_ptr
      type(c_ptr), value :: text
    end subroutine

    function c_code(kernel) bind(c, name="stencil_tune_kernel_code") result(text)
      import :: c_ptr
      type(c_ptr), value :: kernel
      type(c_ptr) :: text
    end function

    function c_fused_steps(kernel) bind(c, name="stencil_tune_kernel_fused_steps") result(steps)
      import :: c_ptr, c_int32_t
      type(c_ptr), value :: kernel
      integer(c_int32_t) :: steps
    end function

    function c_synchronize(stream) bind(c, name="stencil_tune_synchronize") result(status)
      import :: c_ptr, c_int
      type(c_ptr), value :: stream
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

    function c_launch(kernel, origin, step, stream, fields, field_count, coefficients, coefficient_count, low, high) &
        bind(c, name="stencil_tune_launch_at") result(status)
      import :: c_ptr, c_int, c_int32_t, c_int64_t
      type(c_ptr), value :: kernel, origin, stream
      integer(c_int64_t), value :: step
      type(c_ptr), intent(in) :: fields(*)
      integer(c_int32_t), value :: field_count, coefficient_count
      type(c_ptr), value :: coefficients, low, high
      integer(c_int) :: status
    end function

    function c_advance(kernel, origin, step, stream, fields, field_count, steps, coefficients, coefficient_count) &
        bind(c, name="stencil_tune_advance_at") result(status)
      import :: c_ptr, c_int, c_int32_t, c_int64_t
      type(c_ptr), value :: kernel, origin, stream
      integer(c_int64_t), value :: step
      type(c_ptr), intent(inout) :: fields(*)
      integer(c_int32_t), value :: field_count, coefficient_count
      integer(c_int64_t), value :: steps
      type(c_ptr), value :: coefficients
      integer(c_int) :: status
    end function

    function c_advance_until(kernel, origin, step, stream, fields, field_count, steps, coefficients, coefficient_count, &
        every, stop, user, made) bind(c, name="stencil_tune_advance_until_on_device") result(status)
      import :: c_ptr, c_funptr, c_int, c_int32_t, c_int64_t
      type(c_ptr), value :: kernel, origin, stream
      integer(c_int64_t), value :: step
      type(c_ptr), intent(inout) :: fields(*)
      integer(c_int32_t), value :: field_count, coefficient_count
      integer(c_int64_t), value :: steps, every
      type(c_ptr), value :: coefficients, user
      type(c_funptr), value :: stop
      integer(c_int64_t), intent(out) :: made
      integer(c_int) :: status
    end function

    function c_spread(point, field, position, cells) bind(c, name="stencil_tune_spread") result(count)
      import :: c_int32_t, c_double, stencil_tune_point_cell
      integer(c_int32_t), value :: point, field
      real(c_double), intent(in) :: position(3)
      type(stencil_tune_point_cell), intent(out) :: cells(8)
      integer(c_int32_t) :: count
    end function

    function c_place_points(kernel, list, points) bind(c, name="stencil_tune_place_points") result(status)
      import :: c_ptr, c_int, point_list_t
      type(c_ptr), value :: kernel
      type(point_list_t), intent(in) :: list
      type(c_ptr), intent(out) :: points
      integer(c_int) :: status
    end function

    subroutine c_release_points(points) bind(c, name="stencil_tune_release_points")
      import :: c_ptr
      type(c_ptr), value :: points
    end subroutine

    function c_points_notes(points) bind(c, name="stencil_tune_points_notes") result(text)
      import :: c_ptr
      type(c_ptr), value :: points
      type(c_ptr) :: text
    end function

    function c_advance_with_points(kernel, points, series, records, origin, step, stream, fields, field_count, steps, &
        coefficients, coefficient_count) bind(c, name="stencil_tune_advance_with_points") result(status)
      import :: c_ptr, c_int, c_int32_t, c_int64_t
      type(c_ptr), value :: kernel, points, series, records, origin, stream
      integer(c_int64_t), value :: step
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

    options = options_t(c_sizeof(options), c_null_ptr, 0, 0, 0, c_null_ptr)
    if (present(database)) then
      allocate (path, source=c_text(database))
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

  ! A stencil from a built-in's name or a definition file (*.toml), to be released in the end.
  subroutine stencil_tune_load(stencil, name_or_file, status)
    type(stencil_tune_stencil), intent(out) :: stencil
    character(*), intent(in) :: name_or_file
    integer, intent(out), optional :: status
    character(kind=c_char), allocatable, target :: text(:)

    allocate (text, source=c_text(name_or_file))
    call finish(c_load(c_loc(text), stencil%handle), status)
  end subroutine

  ! A stencil from a one-liner: "u_next = u + alpha * laplacian(u); alpha = 0.1". Its fields: what is read in the order of
  ! the text, arrays along axes or time before others, then what is written: u, u_next. rank: axes, 3 where it is absent.
  subroutine stencil_tune_parse(stencil, expression, rank, status)
    type(stencil_tune_stencil), intent(out) :: stencil
    character(*), intent(in) :: expression
    integer, intent(in), optional :: rank
    integer, intent(out), optional :: status
    character(kind=c_char), allocatable, target :: text(:)
    integer(c_int32_t) :: axes

    axes = 3
    if (present(rank)) axes = int(rank, c_int32_t)
    allocate (text, source=c_text(expression))
    call finish(c_parse(c_loc(text), axes, stencil%handle), status)
  end subroutine

  ! A stencil from the text of a TOML definition.
  subroutine stencil_tune_define(stencil, toml, status)
    type(stencil_tune_stencil), intent(out) :: stencil
    character(*), intent(in) :: toml
    integer, intent(out), optional :: status
    character(kind=c_char), allocatable, target :: text(:)

    allocate (text, source=c_text(toml))
    call finish(c_define(c_loc(text), c_null_ptr, stencil%handle), status)
  end subroutine

  subroutine release_stencil(stencil)
    type(stencil_tune_stencil), intent(inout) :: stencil

    call c_release_stencil(stencil%handle)
    stencil%handle = c_null_ptr
  end subroutine

  ! What is not given is 0.
  pure integer(c_int64_t) function or_0_32(value)
    integer(c_int32_t), intent(in), optional :: value

    or_0_32 = 0
    if (present(value)) or_0_32 = value
  end function

  pure integer(c_int64_t) function or_0_64(value)
    integer(c_int64_t), intent(in), optional :: value

    or_0_64 = 0
    if (present(value)) or_0_64 = value
  end function

  ! stencil: a built-in's name, a definition file, or what stencil_tune_parse gave. extents: as many as the stencil has
  ! axes, x first. steps: of a typical stencil_tune_advance, which may fuse as many in one launch. element_type: where
  ! it is absent, what the definition asks for, else "f32". gpu: in place of one that is here, one by name ("h200",
  ! "sm_90"); its kernel can be read and exported, not launched. race_s: seconds for which the GPU first times the best few
  ! candidates where nobody tuned just this (stencil_tune_request of stencil_tune.h).
  subroutine lookup_named_32(library, stencil, extents, kernel, element_type, boundary, pitch, device, alignment, &
      steps, gpu, status, slabs, race_s)
    type(stencil_tune_library), intent(in) :: library
    character(*), intent(in) :: stencil
    integer(c_int32_t), intent(in) :: extents(:)
    type(stencil_tune_kernel), intent(out) :: kernel
    character(*), intent(in), optional :: element_type, boundary, gpu
    integer(c_int32_t), intent(in), optional :: pitch, alignment
    integer, intent(in), optional :: device, steps
    integer, intent(out), optional :: status
    logical, intent(in), optional :: slabs
    real(c_double), intent(in), optional :: race_s

    call lookup(library, stencil, c_null_ptr, int(extents, c_int64_t), kernel, or_0_32(pitch), or_0_32(alignment), &
                element_type, boundary, device, steps, gpu, status, slabs, race_s)
  end subroutine

  subroutine lookup_named_64(library, stencil, extents, kernel, element_type, boundary, pitch, device, alignment, &
      steps, gpu, status, slabs, race_s)
    type(stencil_tune_library), intent(in) :: library
    character(*), intent(in) :: stencil
    integer(c_int64_t), intent(in) :: extents(:)
    type(stencil_tune_kernel), intent(out) :: kernel
    character(*), intent(in), optional :: element_type, boundary, gpu
    integer(c_int64_t), intent(in), optional :: pitch, alignment
    integer, intent(in), optional :: device, steps
    integer, intent(out), optional :: status
    logical, intent(in), optional :: slabs
    real(c_double), intent(in), optional :: race_s

    call lookup(library, stencil, c_null_ptr, int(extents, c_int64_t), kernel, or_0_64(pitch), or_0_64(alignment), &
                element_type, boundary, device, steps, gpu, status, slabs, race_s)
  end subroutine

  subroutine lookup_parsed_32(library, stencil, extents, kernel, element_type, boundary, pitch, device, alignment, &
      steps, gpu, status, slabs, race_s)
    type(stencil_tune_library), intent(in) :: library
    type(stencil_tune_stencil), intent(in) :: stencil
    integer(c_int32_t), intent(in) :: extents(:)
    type(stencil_tune_kernel), intent(out) :: kernel
    character(*), intent(in), optional :: element_type, boundary, gpu
    integer(c_int32_t), intent(in), optional :: pitch, alignment
    integer, intent(in), optional :: device, steps
    integer, intent(out), optional :: status
    logical, intent(in), optional :: slabs
    real(c_double), intent(in), optional :: race_s

    call lookup(library, "", stencil%handle, int(extents, c_int64_t), kernel, or_0_32(pitch), or_0_32(alignment), &
                element_type, boundary, device, steps, gpu, status, slabs, race_s)
  end subroutine

  subroutine lookup_parsed_64(library, stencil, extents, kernel, element_type, boundary, pitch, device, alignment, &
      steps, gpu, status, slabs, race_s)
    type(stencil_tune_library), intent(in) :: library
    type(stencil_tune_stencil), intent(in) :: stencil
    integer(c_int64_t), intent(in) :: extents(:)
    type(stencil_tune_kernel), intent(out) :: kernel
    character(*), intent(in), optional :: element_type, boundary, gpu
    integer(c_int64_t), intent(in), optional :: pitch, alignment
    integer, intent(in), optional :: device, steps
    integer, intent(out), optional :: status
    logical, intent(in), optional :: slabs
    real(c_double), intent(in), optional :: race_s

    call lookup(library, "", stencil%handle, int(extents, c_int64_t), kernel, or_0_64(pitch), or_0_64(alignment), &
                element_type, boundary, device, steps, gpu, status, slabs, race_s)
  end subroutine

  subroutine lookup(library, stencil, parsed, extents, kernel, pitch, alignment, element_type, boundary, device, &
      steps, gpu, status, slabs, race_s)
    type(stencil_tune_library), intent(in) :: library
    character(*), intent(in) :: stencil
    type(c_ptr), intent(in) :: parsed
    integer(c_int64_t), intent(in) :: extents(:), pitch, alignment
    type(stencil_tune_kernel), intent(inout) :: kernel
    character(*), intent(in), optional :: element_type, boundary, gpu
    integer, intent(in), optional :: device, steps
    integer, intent(out), optional :: status
    logical, intent(in), optional :: slabs
    real(c_double), intent(in), optional :: race_s
    character(kind=c_char), allocatable, target :: gpu_text(:)
    type(request_texts), target :: texts
    type(request_t) :: request

    if (c_associated(parsed)) then
      call fill_request(request, texts, extents, element_type=element_type, boundary=boundary, device=device, &
                        steps=steps)
    else
      call fill_request(request, texts, extents, stencil, element_type, boundary, device, steps)
    end if
    request%parsed = parsed
    request%pitch = pitch
    request%alignment = alignment
    if (present(gpu)) then
      allocate (gpu_text, source=c_text(gpu))
      request%gpu = c_loc(gpu_text)
    end if
    if (present(slabs)) request%slabs = merge(1, 0, slabs)
    if (present(race_s)) request%race_s = race_s
    call finish(c_lookup(library%handle, request, kernel%handle), status)
  end subroutine

  ! The extents of the array of a field, numbered from 1 on, for a lookup with slabs on a grid of dense rows.
  subroutine stencil_tune_field_array(stencil, grid, field, extents, element_type, boundary, status)
    type(stencil_tune_stencil), intent(in) :: stencil
    integer, intent(in) :: grid(:), field
    integer(c_int64_t), intent(out) :: extents(3)
    character(*), intent(in), optional :: element_type, boundary
    integer, intent(out), optional :: status
    integer(c_int64_t) :: strides(3)
    type(request_texts), target :: texts
    type(request_t) :: request

    call fill_request(request, texts, int(grid, c_int64_t), element_type=element_type, boundary=boundary)
    request%parsed = stencil%handle
    request%slabs = 1
    call finish(c_field_array(request, int(field - 1, c_int32_t), extents, strides), status)
  end subroutine

  subroutine release_kernel(kernel)
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

  ! One step. low and high limit it to cells low <= cell < high, counted from 0. origin, step: the coordinates of the
  ! grid's first cell (three numbers) and the number of the step, for definitions that use them; 0 where they are absent.
  subroutine launch_64(kernel, fields, stream, coefficients, low, high, status, origin, step)
    type(stencil_tune_kernel), intent(in) :: kernel
    type(c_ptr), intent(in) :: fields(:)
    type(c_ptr), intent(in), optional :: stream
    real(c_double), intent(in), contiguous, optional, target :: coefficients(:)
    integer(c_int64_t), intent(in), contiguous, optional, target :: low(:), high(:)
    integer, intent(out), optional :: status
    integer(c_int64_t), intent(in), contiguous, optional, target :: origin(:)
    integer(c_int64_t), intent(in), optional :: step
    type(c_ptr) :: values, first, last, from
    integer(c_int32_t) :: value_count

    call pass(coefficients, values, value_count)
    first = c_null_ptr
    if (present(low)) first = c_loc(low)
    last = c_null_ptr
    if (present(high)) last = c_loc(high)
    from = c_null_ptr
    if (present(origin)) from = c_loc(origin)
    call finish(c_launch(kernel%handle, from, or_0_64(step), pointer_or_null(stream), fields, &
                         size(fields, kind=c_int32_t), values, value_count, first, last), status)
  end subroutine

  subroutine launch_box_32(kernel, fields, stream, coefficients, low, high, status, origin, step)
    type(stencil_tune_kernel), intent(in) :: kernel
    type(c_ptr), intent(in) :: fields(:)
    type(c_ptr), intent(in), optional :: stream
    real(c_double), intent(in), contiguous, optional, target :: coefficients(:)
    integer(c_int32_t), intent(in) :: low(:), high(:)
    integer, intent(out), optional :: status
    integer(c_int64_t), intent(in), contiguous, optional, target :: origin(:)
    integer(c_int64_t), intent(in), optional :: step

    call launch_64(kernel, fields, stream, coefficients, int(low, c_int64_t), int(high, c_int64_t), status, origin, step)
  end subroutine

  ! Several steps; afterwards fields(i) is the buffer that will hold field i. origin: as for one step; step: the number
  ! of the first of them.
  subroutine advance_64(kernel, fields, steps, stream, coefficients, status, origin, step)
    type(stencil_tune_kernel), intent(in) :: kernel
    type(c_ptr), intent(inout) :: fields(:)
    integer(c_int64_t), intent(in) :: steps
    type(c_ptr), intent(in), optional :: stream
    real(c_double), intent(in), contiguous, optional, target :: coefficients(:)
    integer, intent(out), optional :: status
    integer(c_int64_t), intent(in), contiguous, optional, target :: origin(:)
    integer(c_int64_t), intent(in), optional :: step
    type(c_ptr) :: values, from
    integer(c_int32_t) :: value_count

    call pass(coefficients, values, value_count)
    from = c_null_ptr
    if (present(origin)) from = c_loc(origin)
    call finish(c_advance(kernel%handle, from, or_0_64(step), pointer_or_null(stream), fields, &
                          size(fields, kind=c_int32_t), steps, values, value_count), status)
  end subroutine

  subroutine advance_32(kernel, fields, steps, stream, coefficients, status, origin, step)
    type(stencil_tune_kernel), intent(in) :: kernel
    type(c_ptr), intent(inout) :: fields(:)
    integer(c_int32_t), intent(in) :: steps
    type(c_ptr), intent(in), optional :: stream
    real(c_double), intent(in), contiguous, optional, target :: coefficients(:)
    integer, intent(out), optional :: status
    integer(c_int64_t), intent(in), contiguous, optional, target :: origin(:)
    integer(c_int64_t), intent(in), optional :: step

    call advance_64(kernel, fields, int(steps, c_int64_t), stream, coefficients, status, origin, step)
  end subroutine

  ! Steps that measure after each `every` of them, and after the last, and end when `stop` says so. The GPU has the next
  ! `every` to do when it is asked, so that the run ends so many later. made: how many were made. user: what `stop` is given.
  subroutine stencil_tune_advance_until(kernel, fields, steps, every, stop, made, stream, coefficients, status, origin, &
      step, user)
    type(stencil_tune_kernel), intent(in) :: kernel
    type(c_ptr), intent(inout) :: fields(:)
    integer(c_int64_t), intent(in) :: steps, every
    procedure(stencil_tune_stop) :: stop
    integer(c_int64_t), intent(out) :: made
    type(c_ptr), intent(in), optional :: stream, user
    real(c_double), intent(in), contiguous, optional, target :: coefficients(:)
    integer, intent(out), optional :: status
    integer(c_int64_t), intent(in), contiguous, optional, target :: origin(:)
    integer(c_int64_t), intent(in), optional :: step
    type(c_ptr) :: values, from
    integer(c_int32_t) :: value_count

    call pass(coefficients, values, value_count)
    from = c_null_ptr
    if (present(origin)) from = c_loc(origin)
    call finish(c_advance_until(kernel%handle, from, or_0_64(step), pointer_or_null(stream), fields, &
                                size(fields, kind=c_int32_t), steps, values, value_count, every, c_funloc(stop), &
                                pointer_or_null(user), made), status)
  end subroutine

  ! The cells around a position between them, weighted linearly along each axis; position: in cells, where 0 is the
  ! middle of the first one on each axis.
  function stencil_tune_spread(point, field, position) result(cells)
    integer, intent(in) :: point, field
    real(c_double), intent(in) :: position(3)
    type(stencil_tune_point_cell), allocatable :: cells(:)
    type(stencil_tune_point_cell) :: all(8)
    integer(c_int32_t) :: count

    count = c_spread(int(point, c_int32_t), int(field, c_int32_t), position, all)
    allocate (cells, source=all(:count))
  end function

  ! Checks the points and copies them to the device, to be released in the end. Sources: at step s of a call, from 0 on,
  ! field(cell) = field(cell) + weight * series(point, s), right after the stage that writes the field. Receivers: after
  ! each every-th step, records(point, record) is the sum of weight * field(cell). stencil_tune.h says more.
  subroutine stencil_tune_place_points(kernel, points, sources, source_cells, receivers, receiver_cells, every, status)
    type(stencil_tune_kernel), intent(in) :: kernel
    type(stencil_tune_points), intent(out) :: points
    integer, intent(in), optional :: sources, receivers, every
    type(stencil_tune_point_cell), intent(in), contiguous, optional, target :: source_cells(:), receiver_cells(:)
    integer, intent(out), optional :: status
    type(point_list_t) :: list

    list = point_list_t(c_sizeof(list), c_null_ptr, c_null_ptr, 0, 0, 0, 0, 0, 0)
    if (present(sources)) list%sources = int(sources, c_int32_t)
    if (present(receivers)) list%receivers = int(receivers, c_int32_t)
    if (present(every)) list%every = int(every, c_int32_t)
    if (present(source_cells)) then
      list%source_cells = c_loc(source_cells)
      list%source_cell_count = size(source_cells, kind=c_int64_t)
    end if
    if (present(receiver_cells)) then
      list%receiver_cells = c_loc(receiver_cells)
      list%receiver_cell_count = size(receiver_cells, kind=c_int64_t)
    end if
    call finish(c_place_points(kernel%handle, list, points%handle), status)
  end subroutine

  subroutine release_points(points)
    type(stencil_tune_points), intent(inout) :: points

    call c_release_points(points%handle)
    points%handle = c_null_ptr
  end subroutine

  ! What runs with the points go without, and why; empty where they run what all others do.
  function stencil_tune_point_notes(points) result(text)
    type(stencil_tune_points), intent(in) :: points
    character(:), allocatable :: text

    text = fortran_text(c_points_notes(points%handle))
  end function

  ! stencil_tune_advance with points. series, records: device addresses of arrays (source, step of the call) and
  ! (receiver, record), of reals of 8 bytes for "f64", else of 4; absent where there are none.
  subroutine advance_with_points_64(kernel, points, fields, steps, series, records, stream, coefficients, status, &
      origin, step)
    type(stencil_tune_kernel), intent(in) :: kernel
    type(stencil_tune_points), intent(in) :: points
    type(c_ptr), intent(inout) :: fields(:)
    integer(c_int64_t), intent(in) :: steps
    type(c_ptr), intent(in), optional :: series, records, stream
    real(c_double), intent(in), contiguous, optional, target :: coefficients(:)
    integer, intent(out), optional :: status
    integer(c_int64_t), intent(in), contiguous, optional, target :: origin(:)
    integer(c_int64_t), intent(in), optional :: step
    type(c_ptr) :: values, from
    integer(c_int32_t) :: value_count

    call pass(coefficients, values, value_count)
    from = c_null_ptr
    if (present(origin)) from = c_loc(origin)
    call finish(c_advance_with_points(kernel%handle, points%handle, pointer_or_null(series), &
                                      pointer_or_null(records), from, or_0_64(step), pointer_or_null(stream), &
                                      fields, size(fields, kind=c_int32_t), steps, values, value_count), status)
  end subroutine

  subroutine advance_with_points_32(kernel, points, fields, steps, series, records, stream, coefficients, status, &
      origin, step)
    type(stencil_tune_kernel), intent(in) :: kernel
    type(stencil_tune_points), intent(in) :: points
    type(c_ptr), intent(inout) :: fields(:)
    integer(c_int32_t), intent(in) :: steps
    type(c_ptr), intent(in), optional :: series, records, stream
    real(c_double), intent(in), contiguous, optional, target :: coefficients(:)
    integer, intent(out), optional :: status
    integer(c_int64_t), intent(in), contiguous, optional, target :: origin(:)
    integer(c_int64_t), intent(in), optional :: step

    call advance_with_points_64(kernel, points, fields, int(steps, c_int64_t), series, records, stream, coefficients, &
                                status, origin, step)
  end subroutine

  ! The smallest pitch of at least nx cells whose rows start on 128-byte lines; 0 on error.
  function padded_pitch_64(nx, element_type) result(pitch)
    integer(c_int64_t), intent(in) :: nx
    character(*), intent(in) :: element_type
    integer(c_int64_t) :: pitch
    character(kind=c_char), allocatable, target :: type_text(:)

    allocate (type_text, source=c_text(element_type))
    pitch = c_padded_pitch(nx, c_loc(type_text))
  end function

  function padded_pitch_32(nx, element_type) result(pitch)
    integer(c_int32_t), intent(in) :: nx
    character(*), intent(in) :: element_type
    integer(c_int32_t) :: pitch

    pitch = int(padded_pitch_64(int(nx, c_int64_t), element_type), c_int32_t)
  end function

  ! Makes the GPU's primary context current on this thread, for programs that have none.
  subroutine stencil_tune_use_device(device, status)
    integer, intent(in) :: device
    integer, intent(out), optional :: status

    call finish(c_use_device(int(device, c_int32_t)), status)
  end subroutine

  ! Waits for all work on the stream.
  subroutine stencil_tune_synchronize(stream, status)
    type(c_ptr), intent(in), optional :: stream
    integer, intent(out), optional :: status

    call finish(c_synchronize(pointer_or_null(stream)), status)
  end subroutine

  ! Copies after what is on the stream, and waits for it. host: c_loc of an array.
  subroutine copy_to_device_64(field, host, bytes, stream, status)
    type(c_ptr), intent(in) :: field, host
    integer(c_size_t), intent(in) :: bytes
    type(c_ptr), intent(in), optional :: stream
    integer, intent(out), optional :: status

    call finish(c_copy_to_device(field, host, bytes, pointer_or_null(stream)), status)
  end subroutine

  subroutine copy_to_device_32(field, host, bytes, stream, status)
    type(c_ptr), intent(in) :: field, host
    integer(c_int32_t), intent(in) :: bytes
    type(c_ptr), intent(in), optional :: stream
    integer, intent(out), optional :: status

    call copy_to_device_64(field, host, int(bytes, c_size_t), stream, status)
  end subroutine

  subroutine copy_to_host_64(host, field, bytes, stream, status)
    type(c_ptr), intent(in) :: host, field
    integer(c_size_t), intent(in) :: bytes
    type(c_ptr), intent(in), optional :: stream
    integer, intent(out), optional :: status

    call finish(c_copy_to_host(host, field, bytes, pointer_or_null(stream)), status)
  end subroutine

  subroutine copy_to_host_32(host, field, bytes, stream, status)
    type(c_ptr), intent(in) :: host, field
    integer(c_int32_t), intent(in) :: bytes
    type(c_ptr), intent(in), optional :: stream
    integer, intent(out), optional :: status

    call copy_to_host_64(host, field, int(bytes, c_size_t), stream, status)
  end subroutine

  subroutine allocate_64(bytes, address, status)
    integer(c_size_t), intent(in) :: bytes
    type(c_ptr), intent(out) :: address
    integer, intent(out), optional :: status

    call finish(c_allocate(bytes, address), status)
  end subroutine

  subroutine allocate_32(bytes, address, status)
    integer(c_int32_t), intent(in) :: bytes
    type(c_ptr), intent(out) :: address
    integer, intent(out), optional :: status

    call allocate_64(int(bytes, c_size_t), address, status)
  end subroutine

  subroutine stencil_tune_free(address)
    type(c_ptr), intent(inout) :: address

    call c_free(address)
    address = c_null_ptr
  end subroutine

  ! 0: exact. The others are in stencil_tune.h; their numbers are no ranks.
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

  function stencil_tune_code(kernel) result(text)
    type(stencil_tune_kernel), intent(in) :: kernel
    character(:), allocatable :: text

    text = fortran_text(c_code(kernel%handle))
  end function

  ! Steps that one launch of stencil_tune_advance makes; 1 where none are fused.
  function stencil_tune_fused_steps(kernel) result(steps)
    type(stencil_tune_kernel), intent(in) :: kernel
    integer :: steps

    steps = int(c_fused_steps(kernel%handle))
  end function

  ! CUDA source of one stage, counted from 0, as NVRTC is given it; empty on error.
  function stencil_tune_source(kernel, stage) result(text)
    type(stencil_tune_kernel), intent(in) :: kernel
    integer, intent(in), optional :: stage
    character(:), allocatable :: text
    type(c_ptr) :: copy
    integer(c_int32_t) :: which

    which = 0
    if (present(stage)) which = int(stage, c_int32_t)
    text = ""
    if (c_source(kernel%handle, which, copy) /= stencil_tune_ok) return
    text = fortran_text(copy)
    call c_free_text(copy)
  end function

  ! Writes a CUDA file that nvcc alone builds. name: of its launcher, else the file's.
  subroutine stencil_tune_export(kernel, path, name, stage, with_main, split_header, status)
    type(stencil_tune_kernel), intent(in) :: kernel
    character(*), intent(in) :: path
    character(*), intent(in), optional :: name
    integer, intent(in), optional :: stage
    logical, intent(in), optional :: with_main, split_header
    integer, intent(out), optional :: status
    character(kind=c_char), allocatable, target :: path_text(:), name_text(:)
    type(export_options_t) :: options

    options = export_options_t(c_sizeof(options), c_null_ptr, c_null_ptr, 0, 0, 0, 0)
    if (present(name)) then
      allocate (name_text, source=c_text(name))
      options%name = c_loc(name_text)
    end if
    if (present(stage)) options%stage = int(stage, c_int32_t)
    if (present(with_main)) options%with_main = merge(1, 0, with_main)
    if (present(split_header)) options%split_header = merge(1, 0, split_header)
    allocate (path_text, source=c_text(path))
    call finish(c_export(kernel%handle, options, c_loc(path_text)), status)
  end subroutine

end module stencil_tune
