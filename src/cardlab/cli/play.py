"""`cardlab play`: a page on which a person plays against agents."""

from cardlab.assembly.options import build_options
from cardlab.assembly.parts import group
from cardlab.cli.verbs import Request
from cardlab.serving.options import PlayOptions


def run(request: Request) -> int:
    """Serve until Ctrl-C, with the address printed."""
    options = build_options(PlayOptions, group("play", request.config["play"]), "play")
    from cardlab.serving.server import serve  # noqa: PLC0415 - the options are checked before the imports take their time

    return serve(options, lambda line: print(line, flush=True))
