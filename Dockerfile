# One image for every role: ROLES decides what a container does.
FROM node:24-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY packages/node/package.json packages/node/
COPY packages/react/package.json packages/react/
COPY packages/cli/package.json packages/cli/
RUN npm ci --no-audit --no-fund
COPY . .
# The image brings Node, so the npm package that carries it elsewhere goes.
RUN npm run build \
  && npm prune --omit=dev --no-audit --no-fund \
  && rm -rf .next/cache node_modules/node-linux-* node_modules/.bin/node

FROM node:24-bookworm-slim
ENV NODE_ENV=production NEXT_TELEMETRY_DISABLED=1 DATA_DIR=/data
WORKDIR /app
COPY --from=build /app ./
RUN mkdir -p /data .next/cache && chown node:node /data .next/cache
USER 1000:1000
EXPOSE 3000
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT ?? 3000}/healthz`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "--max-semi-space-size=16", "server.ts"]
