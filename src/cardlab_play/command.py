"""`cardlab play`: a page on which a person plays against agents."""

from cardlab.cli.verbs import MissingPlugin, Request
from cardlab.experiments.config.groups import group
from cardlab.experiments.config.options import build_options
from cardlab_play.options import PlayOptions

_EXTRA = ("fastapi", "uvicorn", "limits", "starlette")


def run(request: Request) -> int:
    """Serve until Ctrl-C, with the address printed. Raises MissingPlugin where the extra `play` is not installed."""
    options = build_options(PlayOptions, group("play", request.config["play"]), "play")
    try:
        from cardlab_play.server import serve  # noqa: PLC0415 - the options are checked before the imports take their time
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] not in _EXTRA:
            raise
        raise MissingPlugin(f"play: {error.name} is not installed; pip install 'cardlab[play]'") from None
    return serve(options, lambda line: print(line, flush=True))
