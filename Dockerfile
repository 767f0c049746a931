# The service as a container; docs/service.md says how to run it.
FROM python:3.13-slim-trixie AS packages
WORKDIR /src
COPY requirements.lock requirements-dev.lock ./
# The locks are complete and carry hashes, so nothing is left to resolve. Only wheels, since what is built from source
# would fetch the tools for that by itself.
RUN python -m venv /opt/domsieve \
 && /opt/domsieve/bin/pip install --no-cache-dir --no-deps --only-binary :all: --require-hashes \
    -r requirements.lock \
 && python -m venv /opt/build \
 && sed -n '/^setuptools==/,/^[^ ]/{/^setuptools==/p;/^ /p}' requirements-dev.lock >build.lock \
 && /opt/build/bin/pip install --no-cache-dir --no-deps --only-binary :all: --require-hashes \
    -r build.lock
COPY . .
# Both without a look at any index: an isolated build would fetch setuptools anew, whatever its hash.
RUN /opt/build/bin/pip wheel --no-cache-dir --no-index --no-deps --no-build-isolation --wheel-dir /wheels . \
 && /opt/domsieve/bin/pip install --no-cache-dir --no-index --no-deps /wheels/*.whl

FROM python:3.13-slim-trixie
# Chrome gets security fixes by its package, so its newest version is wanted, not a pinned one.
# hadolint ignore=DL3008
RUN apt-get update \
 && apt-get install --yes --no-install-recommends \
    chromium-headless-shell tini \
    fonts-dejavu-core fonts-liberation fonts-noto-cjk fonts-noto-color-emoji \
 && rm -rf /var/lib/apt/lists/* \
 && useradd --system --uid 10001 --create-home domsieve \
 && install -d -o domsieve -g domsieve /data
COPY --from=packages /opt/domsieve /opt/domsieve
ENV PATH=/opt/domsieve/bin:$PATH PYTHONUNBUFFERED=1
USER 10001
WORKDIR /home/domsieve
VOLUME /data
EXPOSE 8090
HEALTHCHECK --interval=30s --timeout=20s --start-period=30s CMD \
    ["python", "-c", "from urllib.request import urlopen; urlopen('http://127.0.0.1:8090/v1/health', timeout=15)"]
# The init process collects what a browser leaves behind.
ENTRYPOINT ["tini", "--", "domsieve", "serve", "--data", "/data", "--host", "0.0.0.0", "--port", "8090"]
CMD ["--token-file", "/run/secrets/domsieve-tokens"]
