"""`cardlab ui`: the MLflow UI on this project's store."""

from cardlab.cli.verbs import Request
from cardlab.core.options import Text, Whole
from cardlab.experiments.config.options import convert
from cardlab.tracking import Store
from cardlab.tracking.ui import serve


def run(request: Request) -> int:
    """Serve until Ctrl-C, with the link to the compare view printed."""
    host = convert("host", request.config["host"], Text)
    return serve(Store(), host, convert("port", request.config["port"], Whole))
