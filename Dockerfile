# The benchmark in a container: docker build --tag cardlab . && docker run --name benchmark cardlab
# Its report afterwards: docker cp benchmark:/home/cardlab/cardlab/report .
FROM python:3.11.7-slim-bookworm

# Debian removes old versions of packages, so that pins would stop the build.
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install --yes --no-install-recommends git make \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --uid 1000 --user-group --create-home cardlab \
    && install --directory --owner=1000 --group=1000 /home/cardlab/.cache /home/cardlab/.cache/pip /home/cardlab/cardlab

USER 1000:1000
WORKDIR /home/cardlab/cardlab
COPY --chown=1000:1000 . .

# An index with torch's builds for CPUs, where the default one has none: --build-arg PIP_EXTRA_INDEX_URL=…
ARG PIP_EXTRA_INDEX_URL=""
RUN --mount=type=cache,target=/home/cardlab/.cache/pip,uid=1000,gid=1000 \
    python tools/make_environment.py .venv .

CMD ["make", "pipeline"]
