import { clsx } from 'clsx'
import Link from 'next/link'

/** The logo: a raised sluice gate between high and low water. `public/favicon.svg` is the same drawing. */
export function Mark({ className = 'size-6' }: { className?: string }) {
  return (
    <svg viewBox="0 0 24 24" className={className} aria-hidden="true">
      <rect width="24" height="24" rx="6" fill="var(--water)" />
      <path d="M4 8.2h5.2v7.3h5.6v-1.6H20V20H4z" fill="var(--on-water)" />
      <path d="M10.9 3.6h2.2v9.4h-2.2z" fill="var(--on-water)" />
    </svg>
  )
}

export function Wordmark() {
  return (
    <span className="flex w-fit items-center gap-2 font-semibold text-[1.0625rem] tracking-[-0.02em]">
      <Mark />
      Sluice
    </span>
  )
}

/** The wordmark, as a link to the landing page or the Overview. */
export function HomeLink({ href, className }: { href: '/' | '/dashboard'; className?: string }) {
  const place = href === '/' ? 'home' : 'overview'
  return (
    <Link href={href} aria-label={`Sluice, ${place}`} className={clsx('rounded-md', className)}>
      <Wordmark />
    </Link>
  )
}
