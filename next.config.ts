import type { NextConfig } from 'next'

const config: NextConfig = {
  // Set by scripts/build.ts. The dev server has no build id.
  generateBuildId: () => process.env.SLUICE_BUILD_ID ?? null,
  poweredByHeader: false,
  reactStrictMode: true,
  // `npm run check` checks the types of the entire repository.
  typescript: { ignoreBuildErrors: true },
  // Not bundled, since the server already loads these packages.
  serverExternalPackages: [
    '@aws-sdk/credential-provider-node',
    'pg-boss',
    'pino',
    'postgres',
    'prom-client',
    'nodemailer',
  ],
  experimental: {
    turbopackFileSystemCacheForBuild: false,
    // Enables `forbidden()`, for pages that the user's role may not open.
    authInterrupts: true,
  },
  devIndicators: false,
  // Makes Next.js collect the packages that the pages need at run time, for scripts/bring-next.ts.
  output: 'standalone',
  // next-auth computes a path at run time, so Next.js would include the entire project folder, with its data.
  outputFileTracingExcludes: { '/api/auth/**': ['**/*'] },
  // No page needs scaled images, so the server does not offer to scale them.
  images: { unoptimized: true },
}

export default config
