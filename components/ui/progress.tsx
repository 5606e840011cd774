import { clsx } from 'clsx'

type Props = {
  value: number
  max: number
  second?: number
  label: string
  tone?: 'water' | 'warn' | 'bad'
  className?: string
}

const TONES = { water: 'bg-water', warn: 'bg-warn', bad: 'bg-bad' } as const

/** `second` is drawn after `value`, such as reserved bytes after used ones. */
export function Progress({ value, max, second = 0, label, tone = 'water', className }: Props) {
  const share = (part: number) => (max > 0 ? Math.min(100, (part / max) * 100) : 0)
  return (
    <div
      role="progressbar"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={Math.round(share(value))}
      className={clsx('flex h-1.5 overflow-hidden rounded-full bg-hover', className)}
    >
      <div
        className={clsx('h-full transition-[width] duration-300', TONES[tone])}
        style={{ width: `${share(value)}%` }}
      />
      <div
        className={clsx('h-full opacity-35 transition-[width] duration-300', TONES[tone])}
        style={{ width: `${Math.min(share(second), 100 - share(value))}%` }}
      />
    </div>
  )
}
