import { Check, Minus, X } from 'lucide-react'

const LOOKS = {
  good: { icon: Check, className: 'text-good' },
  bad: { icon: X, className: 'text-bad' },
  calm: { icon: Minus, className: 'text-ink-faint' },
} as const

export type Finding = { name: string; tone: keyof typeof LOOKS; said: string; text: string | undefined }

/** What a check found, part by part. `said` is the icon's meaning, for screen readers. */
export function Findings({ findings }: { findings: Finding[] }) {
  return (
    <ul className="divide-y rounded-md border">
      {findings.map(({ name, tone, said, text }) => {
        const { icon: Icon, className } = LOOKS[tone]
        return (
          <li key={name} className="flex gap-2.5 px-3 py-2 text-sm">
            <Icon className={`mt-0.5 size-4 shrink-0 ${className}`} aria-hidden />
            <div className="min-w-0">
              <p className="font-medium">
                {name}
                <span className="sr-only">: {said}</span>
              </p>
              {text && <p className="break-words text-ink-soft">{text}</p>}
            </div>
          </li>
        )
      })}
    </ul>
  )
}
