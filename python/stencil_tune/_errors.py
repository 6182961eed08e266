"""What cannot do what was asked raises Error: a code for programs, a message for people."""

import re


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


# What messages call by its name in C++ or on the command line, as Python has it.
_WORDS = ((r"--layer (\w+(?:=\w+)?)", r'with_layer("\1")'), (r"--db\b", "database="),
          (r"\b(?:Kernel|Request|LibraryOptions|DistributedOptions)::", ""))


def error_of(code: str, message: str) -> Error:
    """The exception for an error of the library."""
    for elsewhere, here in _WORDS:
        message = re.sub(elsewhere, here, message)
    return _CLASSES.get(code, Error)(message, code)
