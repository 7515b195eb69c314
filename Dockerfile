# Container images of the server, a target for each. docs/how-to/containers.md says how to run them.
#
#   docker build -t vibeflight .                             SQL with its ST_ functions: the target sql
#   docker build -t vibeflight:cuda --target cuda .          the same, and kernels for NVIDIA's GPUs
#   docker build -t vibeflight:minimal --target minimal .    without SQL: one static program
#
# None has a shell. All run as any user, without capabilities, on a root that is read-only.

# The settings that the images have in common.
FROM scratch AS base
LABEL org.opencontainers.image.title="vibeflight" \
      org.opencontainers.image.description="Serves geospatial files as GeoArrow tables over Arrow Flight" \
      org.opencontainers.image.source="https://github.com/vibeflight/vibeflight" \
      org.opencontainers.image.licenses="Apache-2.0"
# Below it are parsed tables, in /cache/vibeflight. Every user may write there, so that a new volume may be mounted for any.
ENV XDG_CACHE_HOME=/cache
USER 65532:65532
EXPOSE 8815 8080
HEALTHCHECK --interval=10s --timeout=6s --start-period=5m CMD ["/vibeflight", "health"]
ENTRYPOINT ["/vibeflight"]
# All of the container's addresses, since loopback cannot be reached from outside of it. The server requires
# --insecure for that: the published port decides which clients can connect. docker-compose.yml publishes it on loopback only.
CMD ["serve", "--data", "/data", "--listen", "0.0.0.0:8815", "--insecure"]

# The spatial extension of the DuckDB that is in the program, by its checksum.
FROM python:3.13-slim-bookworm AS spatial
WORKDIR /src
COPY .ci/duckdb .ci/duckdb
COPY integration/duckdb.lock integration/duckdb.lock
RUN .ci/duckdb && test -e .duckdb/spatial.duckdb_extension

# CUDA's header and run-time compiler, by their checksums.
FROM python:3.13-slim-bookworm AS nvrtc
WORKDIR /src
COPY .ci/cuda .ci/cuda
COPY gpu/cuda.txt gpu/cuda.txt
RUN .ci/cuda headers && .ci/cuda nvrtc && test -e .cuda/include/cuda.h -a -e .cuda/lib/libnvrtc.so.12

FROM golang:1.26-bookworm AS source
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .

FROM source AS build-sql
# More build tags, as nocloud.
ARG TAGS=
RUN go build -trimpath -tags "$TAGS" -ldflags='-s -w' -o /image/vibeflight ./cmd/vibeflight
COPY --from=spatial /src/.duckdb/spatial.duckdb_extension /image/usr/lib/vibeflight/spatial.duckdb_extension
RUN .ci/image /image

FROM base AS sql
ENV VIBEFLIGHT_DUCKDB_EXTENSIONS=/usr/lib/vibeflight
COPY --from=build-sql /image /

FROM source AS build-minimal
ARG TAGS=
RUN CGO_ENABLED=0 go build -trimpath -tags "$TAGS" -ldflags='-s -w' -o /image/vibeflight ./cmd/vibeflight
RUN .ci/image /image

FROM base AS minimal
COPY --from=build-minimal /image /

FROM source AS build-cuda
ARG TAGS=
COPY --from=nvrtc /src/.cuda .cuda
# The kernels for every architecture.
RUN make images
RUN CGO_CFLAGS="-O2 -g -I/src/.cuda/include" \
    go build -trimpath -tags "cuda,images,$TAGS" -ldflags='-s -w' -o /image/vibeflight ./cmd/vibeflight
COPY --from=spatial /src/.duckdb/spatial.duckdb_extension /image/usr/lib/vibeflight/spatial.duckdb_extension
RUN .ci/image /image

FROM base AS cuda
ENV VIBEFLIGHT_DUCKDB_EXTENSIONS=/usr/lib/vibeflight
# What the NVIDIA Container Toolkit mounts from the host: all GPUs, and the driver's libraries for computing.
ENV NVIDIA_VISIBLE_DEVICES=all NVIDIA_DRIVER_CAPABILITIES=compute,utility
COPY --from=build-cuda /image /

# Without --target.
FROM sql
