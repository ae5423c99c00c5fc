"""The error of a configuration that cannot be composed."""

from cardlab.core.messages import ConfigurationError


class InvalidConfiguration(ConfigurationError):
    """A configuration that cannot be composed; the message is one line, fit for a terminal."""
