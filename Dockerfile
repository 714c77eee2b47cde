# The host and its page in a container; docs/installing-toolcrib.md says how to use it.
FROM python:3.13-slim-bookworm AS build

# The page is built here too, with Node from PyPI, and the documentation.
WORKDIR /source
COPY pyproject.toml hatch_build.py README.md LICENSE CHANGELOG.md CONTRIBUTING.md ./
COPY scripts/build_page.py scripts/build_docs.py scripts/
COPY docs docs
COPY frontend frontend
COPY src src
RUN python -m venv /opt/toolcrib \
    && /opt/toolcrib/bin/pip install --no-cache-dir ".[postgres]"


FROM python:3.13-slim-bookworm

RUN apt-get update \
    && apt-get install --yes --no-install-recommends socat \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --uid 1000 --create-home --shell /usr/sbin/nologin toolcrib \
    && install --directory --owner=toolcrib --group=toolcrib --mode=0700 /home/toolcrib/crib
COPY --from=build /opt/toolcrib /opt/toolcrib
COPY --chmod=0755 scripts/container.sh /usr/local/bin/toolcrib-container

# A container has no keyring: secrets are in a file of the volume that only this user can read.
ENV PATH=/opt/toolcrib/bin:$PATH \
    TOOLCRIB_HOME=/home/toolcrib/crib \
    TOOLCRIB_KEYRING=off
USER toolcrib
WORKDIR /home/toolcrib
VOLUME /home/toolcrib/crib
EXPOSE 4180
HEALTHCHECK --interval=30s --timeout=10s --start-period=60s CMD ["toolcrib-container", "health"]
CMD ["toolcrib-container"]
