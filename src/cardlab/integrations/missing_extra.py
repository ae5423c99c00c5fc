"""What is raised where a library of the extra `adapters` is asked for and not there."""


class MissingExtra(ImportError):
    """A library of `cardlab[integrations]` is not installed; the message is one line that says how to get it."""

    def __init__(self, asked: str, library: str) -> None:
        super().__init__(f"{asked}: needs {library}: pip install 'cardlab[integrations]'")
