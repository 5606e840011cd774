import type { Metadata } from 'next'
import { headers } from 'next/headers'
import type { ReactNode } from 'react'
import './globals.css'

export const metadata: Metadata = {
  title: { default: 'Sluice', template: '%s · Sluice' },
  description: 'Resumable uploads straight into your own object storage.',
}

export default async function RootLayout({ children }: { children: ReactNode }) {
  // The nonce of the policy changes with each request, so every page is rendered for its request.
  await headers()
  return (
    <html lang="en">
      <body>{children}</body>
    </html>
  )
}
