"""The errors that tracetui raises; each message says what was found and what to do next."""


class TraceTuiError(Exception):
    """Anything tracetui reports to its user in one line."""


class TraceFormatError(TraceTuiError):
    """The input is not a trace that can be read."""


class UsageError(TraceTuiError):
    """The command line asks for something that cannot be done."""


class LoadCancelledError(TraceTuiError):
    """The user stopped a load before anything could be shown."""


class CaptureError(TraceTuiError):
    """A recording could not be made, or was lost; nothing that was finished before is."""
