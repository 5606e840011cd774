'use client'

import { clsx } from 'clsx'
import { Check, Copy } from 'lucide-react'
import { useEffect, useState } from 'react'

type Props = { text: string; what: string; label?: string; className?: string }

export function CopyButton({ text, what, label, className }: Props) {
  const [copied, setCopied] = useState(false)
  useEffect(() => {
    if (!copied) return
    const timer = setTimeout(() => setCopied(false), 1600)
    return () => clearTimeout(timer)
  }, [copied])
  const Icon = copied ? Check : Copy
  return (
    <button
      type="button"
      aria-label={label ? undefined : `Copy ${what}`}
      onClick={() => void navigator.clipboard.writeText(text).then(() => setCopied(true))}
      className={clsx(
        'inline-flex shrink-0 items-center justify-center gap-1.5 rounded-md font-medium text-ink-faint text-sm hover:bg-hover hover:text-ink',
        label ? 'h-7 px-2' : 'size-7',
        className,
      )}
    >
      <Icon className={clsx('size-3.5', copied && 'text-good')} aria-hidden />
      {label}
      <span role="status" className="sr-only">
        {copied ? `Copied ${what}` : ''}
      </span>
    </button>
  )
}
