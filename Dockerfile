# The gate for GitLab, Kubernetes, Airflow and hand-made pipelines. (The GitHub action needs no image.)
#   docker run --rm --network none --read-only -v "$PWD:/data" paired-gate run --policy gate.yaml ...
# A release passes PYTHON_IMAGE with its digest; the packages are pinned by hash in gate/ci/requirements.txt.
ARG PYTHON_IMAGE=docker.io/library/python:3.12-slim

FROM ${PYTHON_IMAGE} AS build
COPY gate/ci/requirements.txt /build/requirements.txt
# Tests and type stubs of the packages are a quarter of their size, and the gate never imports them.
RUN python3 -I -m venv /opt/gate \
 && /opt/gate/bin/python -I -m pip install --disable-pip-version-check --no-cache-dir --no-compile \
      --require-hashes --only-binary :all: --no-deps --requirement /build/requirements.txt \
 && /opt/gate/bin/python -I -m pip uninstall --yes --quiet pip setuptools \
 && find /opt/gate -depth \( -name tests -o -name "*.pyi" -o -name "*.pxd" \) -exec rm -rf {} +
COPY gate /build/gate
RUN site="$(/opt/gate/bin/python -I -c 'import sysconfig; print(sysconfig.get_path("purelib"))')" \
 && cp -R /build/gate "$site/gate" \
 && printf '#!/bin/sh\nexec /opt/gate/bin/python -I -m gate "$@"\n' > /opt/gate/bin/gate \
 && chmod 755 /opt/gate/bin/gate \
 && /opt/gate/bin/python -I -m compileall -q "$site/gate" "$site/numpy" "$site/pydantic" "$site/yaml" \
 && /opt/gate/bin/gate --version

FROM ${PYTHON_IMAGE}
# git reads the policy from the base side of a merge request, and holds histories in a branch.
# hadolint ignore=DL3008
RUN command -v git || { apt-get update && apt-get install --yes --no-install-recommends git \
 && rm -rf /var/lib/apt/lists/*; }
COPY --from=build /opt/gate /opt/gate
ENV PATH=/opt/gate/bin:/usr/local/bin:/usr/bin:/bin PYTHONDONTWRITEBYTECODE=1
USER 10001:10001
WORKDIR /data
ENTRYPOINT ["/opt/gate/bin/gate"]
CMD ["--help"]
