"""What cannot do what was asked raises Error: a code for programs, a message for people."""


class Error(RuntimeError):
    """What was asked, what was found and what to do.

    Attributes:
        code: the library's name of the error: "invalid_argument", "no_device", "compile_failed", ...
    """

    def __init__(self, message: str, code: str = "internal"):
        super().__init__(message)
        self.code = code


class ArgumentError(Error, ValueError):
    """An argument that does not fit: an unknown name, an array of another type, shape, layout or device."""

    def __init__(self, message: str, code: str = "invalid_argument"):
        super().__init__(message, code)


class DefinitionError(Error, ValueError):
    """Text that is no stencil; the message shows the place."""


_CLASSES = {
    "invalid_argument": ArgumentError,
    "unknown_name": ArgumentError,
    "malformed_code": ArgumentError,
    "nothing_to_update": ArgumentError,
    "malformed_definition": DefinitionError,
}


def error_of(code: str, message: str) -> Error:
    """The exception for an error of the library."""
    return _CLASSES.get(code, Error)(message, code)
