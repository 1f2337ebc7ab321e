# syntax=docker/dockerfile:1

# Both can be named by digest for a build that takes the same images every time. What apt installs is the release's newest:
# Debian's mirrors keep no older versions, and security updates are wanted.
ARG BUILD_IMAGE=swift:6.3.1-bookworm
ARG RUN_IMAGE=debian:bookworm-slim

FROM ${BUILD_IMAGE} AS build
RUN apt-get update \
    && apt-get install -y --no-install-recommends \
        libcurl4-openssl-dev libmicrohttpd-dev libnghttp2-dev libpq-dev libsqlite3-dev libssl-dev libtomlplusplus-dev libzstd-dev \
        pkg-config \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /src

# The dependencies are a layer of their own, which a change of sources leaves alone. The package names its tests,
# their helpers and its benchmarks, so their folders must exist; empty ones do, and a change of tests builds nothing anew.
COPY Package.* ./
RUN sed -n 's/.*name: "\([A-Za-z]*Tests\)".*/Tests\/\1/p' Package.swift | xargs mkdir -p Benchmarks/Micro Tests/TestSupport \
    && swift package resolve

COPY openapi.yaml ./
COPY Sources Sources
RUN swift build -c release --static-swift-stdlib --product timerd -Xlinker -s \
    && install -D "$(swift build -c release --show-bin-path)/timerd" /out/timerd


FROM ${RUN_IMAGE}
# What the program is linked with, certificates for https:// webhooks, time zones for cron.
RUN apt-get update \
    && apt-get install -y --no-install-recommends \
        ca-certificates libcurl4 libmicrohttpd12 libnghttp2-14 libpq5 libsqlite3-0 libssl3 libstdc++6 libzstd1 tzdata \
    && rm -rf /var/lib/apt/lists/* \
    && groupadd --gid 10001 timerd \
    && useradd --uid 10001 --gid timerd --home-dir /data --no-create-home --shell /usr/sbin/nologin timerd \
    && install -d -o timerd -g timerd -m 0750 /data
COPY --from=build /out/timerd /usr/local/bin/timerd

ARG VERSION=0.2.0
ARG REVISION=
LABEL org.opencontainers.image.title="timerd" \
    org.opencontainers.image.description="A timer service: timers over HTTP that survive crashes, and streams of their fires" \
    org.opencontainers.image.licenses="Apache-2.0" \
    org.opencontainers.image.version="${VERSION}" \
    org.opencontainers.image.revision="${REVISION}"

# The server writes below /data alone, so the root may be read-only.
# Inside a container all addresses are the container's own; what is reachable from outside is what is published.
ENV TIMERD_LISTEN=0.0.0.0:8080 \
    TIMERD_DATA=/data
USER 10001:10001
VOLUME /data
EXPOSE 8080
STOPSIGNAL SIGTERM
# Finds the listener by itself, wherever TIMERD_LISTEN or --listen put it.
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s --retries=3 CMD ["timerd", "health"]
ENTRYPOINT ["timerd"]
CMD ["serve"]
