# The CPU server: one static binary, no shell, no root.
FROM golang:1.26 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN CGO_ENABLED=0 go build -trimpath -ldflags='-s -w' -o /vibeflight ./cmd/vibeflight && mkdir /cache

FROM scratch
COPY --from=build /vibeflight /vibeflight
COPY LICENSE /LICENSE
# A new volume that is mounted here gets this owner.
COPY --from=build --chown=65532:65532 /cache /cache
USER 65532:65532
EXPOSE 8815
ENTRYPOINT ["/vibeflight"]
# All of the container's addresses, since loopback cannot be reached from outside of it. The server requires
# --insecure for that: the published port decides which clients can connect. docker-compose.yml publishes it on loopback only.
CMD ["serve", "--data", "/data", "--cache-dir", "/cache", "--listen", "0.0.0.0:8815", "--insecure"]
