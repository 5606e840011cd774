import type { NextConfig } from 'next'

const config: NextConfig = {
  poweredByHeader: false,
  reactStrictMode: true,
  // `npm run check` does this once, over everything.
  typescript: { ignoreBuildErrors: true },
  // The server brings these.
  serverExternalPackages: ['pg-boss', 'pino', 'postgres', 'prom-client', 'nodemailer'],
  experimental: { serverActions: { bodySizeLimit: '1mb' } },
  devIndicators: false,
  // No page scales a picture, so nobody can make the server do it.
  images: { unoptimized: true },
}

export default config
