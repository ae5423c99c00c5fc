"""The command `cardlab play`: serves a web page for playing against agents."""

from cardlab.cli.verbs import MissingPlugin, Request
from cardlab.experiments.config.build_parts import group
from cardlab.experiments.config.options import build_options
from cardlab_play.options import PlayOptions

_EXTRA_PACKAGES = ("fastapi", "uvicorn", "limits", "starlette")


def run(request: Request) -> int:
    """Print the address and serve until Ctrl-C. Raises MissingPlugin without the extra `play`."""
    options = build_options(PlayOptions, group("play", request.config["play"]))
    try:
        from cardlab_play.server import serve  # noqa: PLC0415 - options are checked before slow imports
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] not in _EXTRA_PACKAGES:
            raise
        raise MissingPlugin(f"play: {error.name} is not installed; run: pip install 'cardlab[play]'") from None
    return serve(options, lambda line: print(line, flush=True))
