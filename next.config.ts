import type { NextConfig } from 'next'

const config: NextConfig = {
  // Set by scripts/build.ts; the dev server has none.
  generateBuildId: () => process.env.SLUICE_BUILD_ID ?? null,
  poweredByHeader: false,
  reactStrictMode: true,
  // `npm run check` does this once for everything.
  typescript: { ignoreBuildErrors: true },
  // The server provides these.
  serverExternalPackages: ['pg-boss', 'pino', 'postgres', 'prom-client', 'nodemailer'],
  experimental: {
    serverActions: { bodySizeLimit: '1mb' },
    turbopackFileSystemCacheForBuild: false,
    // `forbidden()`, for a page that its visitor's role does not allow.
    authInterrupts: true,
  },
  devIndicators: false,
  // Has Next collect everything that runs the pages, for scripts/bring-next.ts. Our own files are there anyway.
  output: 'standalone',
  // A path computed by next-auth would include the entire folder, and with it the data.
  outputFileTracingExcludes: { '/api/auth/**': ['**/*'] },
  // No page scales images, so nobody can make the server do it.
  images: { unoptimized: true },
}

export default config
