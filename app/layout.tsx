import type { Metadata, Viewport } from 'next'
import localFont from 'next/font/local'
import { cookies } from 'next/headers'
import type { ReactNode } from 'react'
import { Toaster } from '#components/ui/toaster.tsx'
import { addressesHere } from '#lib/platform/kernel/request-context.ts'
import { getRuntime } from '#lib/platform/runtime.ts'
import { readTexts } from './texts.ts'
import './globals.css'

// `optional` means that a font that loads late does not shift text that is already being read. Fonts are preloaded, so
// that is rare.
const text = localFont({
  src: './fonts/hanken-grotesk.woff2',
  variable: '--font-text',
  weight: '100 900',
  display: 'optional',
})
const code = localFont({
  src: './fonts/jetbrains-mono.woff2',
  variable: '--font-code',
  weight: '100 800',
  display: 'optional',
  adjustFontFallback: false,
})

const DESCRIPTION =
  'A TUS endpoint for resumable uploads that streams every byte straight into your own S3 bucket and sends a signed webhook once the file is there.'

export function generateMetadata(): Metadata {
  return {
    metadataBase: new URL(addressesHere(getRuntime().config).baseUrl),
    title: { default: 'Sluice: resumable uploads into your own bucket', template: '%s · Sluice' },
    description: DESCRIPTION,
    openGraph: { siteName: 'Sluice', type: 'website', images: ['/share.png'] },
    twitter: { card: 'summary_large_image' },
    icons: { icon: [{ url: '/favicon.svg', type: 'image/svg+xml' }], apple: '/apple-touch-icon.png' },
  }
}

export const viewport: Viewport = {
  themeColor: [
    { media: '(prefers-color-scheme: light)', color: '#f9fbfb' },
    { media: '(prefers-color-scheme: dark)', color: '#0b1012' },
  ],
}

export default async function RootLayout({ children }: { children: ReactNode }) {
  // This reads the request's headers, so every page is rendered per request, as the nonce in its security policy needs.
  const { words, linkPage } = await readTexts()
  const theme = (await cookies()).get('theme')?.value
  return (
    <html
      lang={words.lang}
      data-theme={theme === 'light' || theme === 'dark' ? theme : undefined}
      className={`${text.variable} ${code.variable}`}
      suppressHydrationWarning
    >
      <body>
        <a
          href="#main"
          className="fixed start-2 top-2 z-50 -translate-y-16 rounded-md bg-water px-3 py-1.5 font-medium text-on-water text-sm focus:translate-y-0"
        >
          {linkPage.skip}
        </a>
        {children}
        <Toaster />
      </body>
    </html>
  )
}
