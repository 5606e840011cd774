import type { NextConfig } from 'next'

const config: NextConfig = {
  // By scripts/build.ts; the dev server has none.
  generateBuildId: () => process.env.SLUICE_BUILD_ID ?? null,
  poweredByHeader: false,
  reactStrictMode: true,
  // `npm run check` does this once, over everything.
  typescript: { ignoreBuildErrors: true },
  // The server brings these.
  serverExternalPackages: ['pg-boss', 'pino', 'postgres', 'prom-client', 'nodemailer'],
  experimental: {
    serverActions: { bodySizeLimit: '1mb' },
    turbopackFileSystemCacheForBuild: false,
    // `forbidden()`, for a page that the role of its visitor does not allow.
    authInterrupts: true,
  },
  devIndicators: false,
  // Has Next put together what runs the pages, for scripts/bring-next.ts. Of ours all is there anyway.
  output: 'standalone',
  // A path that next-auth computes would take the whole folder along, and with it the data.
  outputFileTracingExcludes: { '/api/auth/**': ['**/*'] },
  // No page scales a picture, so nobody can make the server do it.
  images: { unoptimized: true },
}

export default config
