# One image for every role: ROLES decides what a container does.
# Override these base images to use your own registry.
ARG NODE_IMAGE=node:24-bookworm-slim
ARG BASE_IMAGE=debian:bookworm-slim

FROM ${NODE_IMAGE} AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY packages/node/package.json packages/node/
COPY packages/react/package.json packages/react/
COPY packages/uploader/package.json packages/uploader/
COPY packages/uppy/package.json packages/uppy/
COPY packages/cli/package.json packages/cli/
RUN npm ci --no-audit --no-fund
COPY . .
RUN npm run pack-server

# The server package. With `--build-context release=FOLDER`, the package in that folder is used, and nothing is built.
FROM scratch AS release
COPY --from=build /app/.release/sluice-server-*.tgz /

# Installs the package. The image has its own Node, and needs no type declarations, source maps or READMEs at run time.
# With a compiler, ssh2 builds its native addon, which encrypts with less CPU time than JavaScript does.
FROM ${NODE_IMAGE} AS install
RUN apt-get update && apt-get install -y --no-install-recommends python3 make g++ && rm -rf /var/lib/apt/lists/*
ENV npm_config_nodedir=/usr/local
COPY --from=release sluice-server-*.tgz /
# If set, the package must have this digest. The actual digest is in the image's SHA256SUMS.
ARG SERVER_SHA256
WORKDIR /packed
RUN if [ -n "${SERVER_SHA256}" ]; then echo "${SERVER_SHA256}  $(echo /sluice-server-*.tgz)" | sha256sum --check; fi \
  && tar -xzf /sluice-server-*.tgz --strip-components=1 \
  && (cd / && sha256sum sluice-server-*.tgz) > SHA256SUMS
RUN npm install --omit=dev --no-package-lock --no-audit --no-fund \
  && rm -rf node_modules/node-linux-* node_modules/.bin/node node_modules/.cache \
  && find . -type f \( -name '*.map' -o -name '*.d.ts' -o -name '*.d.mts' -o -name '*.d.cts' -o -path './node_modules/*.md' \) -delete \
  && mkdir -p .next/cache /data

# Contains Node without npm and headers, which take a third of the Node image.
FROM ${BASE_IMAGE}
# Node links to libatomic1 on ARM. PostgreSQL requires that the user it runs as has a name.
RUN apt-get update \
  && apt-get install -y --no-install-recommends libatomic1 \
  && rm -rf /var/lib/apt/lists/* \
  && useradd --uid 1000 --user-group --create-home node
COPY --from=build /usr/local/bin/node /usr/local/bin/
# Without these settings, malloc returns little of the memory that a burst of uploads used
# (docs/decisions/0002-bytes-are-copied-once.md).
ENV MALLOC_ARENA_MAX=2 MALLOC_MMAP_THRESHOLD_=81920 MALLOC_TRIM_THRESHOLD_=131072
ENV NODE_ENV=production NEXT_TELEMETRY_DISABLED=1 DATA_DIR=/data
WORKDIR /app
COPY --from=install /packed ./
COPY --from=install --chown=1000:1000 /data /data
COPY --from=install --chown=1000:1000 /packed/.next/cache .next/cache
USER 1000:1000
EXPOSE 3000 2222
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s \
  CMD ["node", "-e", "const end = (ok) => process.exit(ok ? 0 : 1); require(process.env.TLS_CERT_FILE ? 'https' : 'http').get({ host: '127.0.0.1', port: process.env.PORT ?? 3000, path: '/healthz', rejectUnauthorized: false }, (r) => end(r.statusCode === 200)).on('error', () => end(false))"]
CMD ["node", "--max-semi-space-size=16", "server.js"]
