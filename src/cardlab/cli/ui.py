"""`cardlab ui`: the MLflow UI on the project's store."""

import os
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import partial
from typing import Any
from warnings import catch_warnings, simplefilter

import uvicorn
from starlette.requests import Request as HttpRequest
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

from cardlab.agents.specs import CHAMPIONS
from cardlab.cli.verbs import Request
from cardlab.core.options import Text, Whole, check_whole, checked
from cardlab.core.parts import conf_folders
from cardlab.core.sockets import is_loopback, open_listener, url_host
from cardlab.games.make_game import game_names
from cardlab.tracking import Store
from cardlab.tracking.connection import SERVERS
from cardlab.tracking.experiment_tags import VIEW, update_experiments
from cardlab.tracking.lineage import RESTORED
from cardlab.tracking.policy_lookup import RUN_PATH, find_origin, run_page
from cardlab.tracking.registry import Registry

_COMPARE = f"#/experiments/{{id}}/runs?workflowType=machine_learning&compareRunsMode=CHART&viewStateShareKey={VIEW}"
_TRAININGS = "tags.kind = 'training'"
_NEWEST = ["start_time DESC"]
_SHUTDOWN_SECONDS = 3


def run(request: Request) -> int:
    """Serve until Ctrl-C or SIGTERM."""
    config = request.config
    host, port = checked("host", config["host"], Text), checked("port", config["port"], Whole)
    serve(Store(), host, port, allowed_hosts=checked("allowed_hosts", config["allowed_hosts"], tuple[Text, ...]))
    return 0


def serve(
    store: Store,
    host: str = "127.0.0.1",
    port: int = 5000,
    allowed_hosts: Sequence[str] = (),
) -> None:
    """Print the links that compare runs, and serve the UI until Ctrl-C or SIGTERM.

    MLflow accepts loopback and the names `allowed_hosts`, with any port; without names, also private addresses.

    If the store is an MLflow server, which has its own UI, only print the links. Raises InvalidOption for a host or
    port that cannot be used, and TrackingUnavailable.
    """
    if store.address.startswith(SERVERS):
        print(_overview(store, store.address.rstrip("/")))
        return
    check_whole("port", port, 1, 65535)
    with open_listener(host, port) as listener, suppress(KeyboardInterrupt):
        if not is_loopback(host):
            text = "all who reach this port can read and delete the runs: it has no passwords"
            print(f"warning: host={host}: {text}", file=sys.stderr)
        if allowed_hosts:
            names = [*allowed_hosts, "localhost", "127.0.0.1", "[[]::1]"]  # patterns of fnmatch
            os.environ["MLFLOW_SERVER_ALLOWED_HOSTS"] = ",".join(f"{name},{name}:*" for name in names)
        application = _application(store)
        print(_overview(store, f"http://{url_host(host)}:{port}", " (Ctrl-C stops the server)"))
        options = uvicorn.Config(application, log_level="warning", timeout_graceful_shutdown=_SHUTDOWN_SECONDS)
        uvicorn.Server(options).run(sockets=[listener])


def compare_links(store: Store, base: str) -> Iterator[tuple[str, str]]:
    """(experiment, address of the view that compares its last trainings); that with the newest training comes first.

    An experiment that has those of its champion alone is shown where no other has more.
    """
    used: list[tuple[bool, int, str, str]] = []
    with store.wrap_errors():
        for one in store.client.search_experiments():
            runs = store.client.search_runs([one.experiment_id], _TRAININGS, max_results=100, order_by=_NEWEST)
            own = [run for run in runs if RESTORED not in run.data.tags]
            used.extend((bool(own), run.info.start_time, one.name, one.experiment_id) for run in (own or runs)[:1])
    shown = [page for page in used if page[0]] or used
    for _, _, name, number in sorted(shown, reverse=True):
        yield name, f"{base}/{_COMPARE.format(id=number)}"


def sweep_link(store: Store, base: str) -> tuple[str, str] | None:
    """(study, address of the page) of the newest sweep; None without one."""
    for _, run in store.search_runs("tags.kind = 'sweep'", limit=1):
        return run.info.run_name or run.info.run_id, run_page(run.info, base)
    return None


def _overview(store: Store, base: str, hint: str = "") -> str:
    store.mark_killed()
    with store.wrap_errors():
        update_experiments(store.client, is_own=store.file is not None)
    games = {path.parent.name for path in CHAMPIONS.glob("*/decision.json")}
    is_own_project = len(conf_folders()) > 1  # where the champions of games that nobody trains are noise
    games |= {*game_names()} & {*dict(compare_links(store, base))} if is_own_project else {*game_names()}
    added = [game for game in sorted(games) if Registry(store).register_champion(game)]
    lines = [f"registered the champions of {', '.join(added)}"] if added else []
    pages = [f"compare the trainings of {name}: {link}" for name, link in compare_links(store, base)]
    if newest := sweep_link(store, base):
        pages.append(f"newest sweep, {newest[0]}: {newest[1]}")
    advice = ["open one of these pages; the address above alone opens MLflow's welcome page"] if pages else []
    return "\n".join([f"MLflow UI on {base}{hint}", *lines, *advice, *pages])


def _application(store: Store) -> Any:
    """MLflow's web application for the store, as `mlflow server` starts it, but in this process."""
    os.environ |= {"MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false", "MLFLOW_LOGGING_LEVEL": "ERROR"}
    store.check()
    from mlflow.server import constants  # noqa: PLC0415  slow import; reads the environment

    artifacts = str(store.root / "mlartifacts")
    os.environ |= {
        constants.BACKEND_STORE_URI_ENV_VAR: store.address,
        constants.REGISTRY_STORE_URI_ENV_VAR: store.address,
        constants.ARTIFACT_ROOT_ENV_VAR: "mlflow-artifacts:/",
        constants.ARTIFACTS_DESTINATION_ENV_VAR: artifacts,
        constants.SERVE_ARTIFACTS_ENV_VAR: "true",
    }
    with catch_warnings():
        simplefilter("ignore")  # MLflow uses a deprecated part of Starlette
        from mlflow.server.fastapi_app import app  # noqa: PLC0415
    route = Route(f"{RUN_PATH}{{digest}}", partial(_open_run, store))
    app.router.routes.insert(0, route)  # before MLflow's own, which match every path
    return app


def _open_run(store: Store, request: HttpRequest) -> Response:
    """Redirect to the run that made the policy with the digest in the path; 404 without one."""
    digest = request.path_params["digest"]
    origin = find_origin(store, digest) if re.fullmatch("[0-9a-f]{8,64}", digest) else None
    if origin is None:
        return PlainTextResponse(f"the store has no training run of the policy {digest}\n", 404)
    return RedirectResponse(run_page(store.client.get_run(origin.run_id).info))
