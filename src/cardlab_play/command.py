"""The commands `cardlab play`, which serves a web page for playing against agents, and `cardlab play record`."""

from pathlib import Path

from cardlab.cli.verbs import MissingPlugin, Request
from cardlab.core.exit_status import exit_on_signals
from cardlab.experiments.config.build_parts import group
from cardlab_play.options import PlayOptions, invalid_play

_EXTRA_PACKAGES = ("fastapi", "uvicorn", "limits", "starlette")


def run(request: Request) -> int:
    """Serve until Ctrl-C, or print the record. Raises MissingPlugin without the extra `play`."""
    if request.verb == "play record":
        from cardlab_play.leaderboards import print_record  # noqa: PLC0415 - not needed to serve

        return print_record(request.config, as_json="--json" in request.flags)
    options = PlayOptions(**group("play", request.config["play"]))
    if options.models != PlayOptions.models and not Path(options.models).is_dir():
        raise invalid_play("models", options.models, "a folder of policies")
    exit_on_signals("")  # once the server has closed: torch fails where Python ends while a thread still runs
    try:
        from cardlab_play.server import serve  # noqa: PLC0415 - options are checked before slow imports
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] not in _EXTRA_PACKAGES:
            raise
        raise MissingPlugin(f"play: {error.name} is not installed; run: pip install 'cardlab[play]'") from None
    return serve(options, lambda line: print(line, flush=True))
