import { FileX, Webhook } from 'lucide-react'
import Link from 'next/link'
import { Panel } from '#components/ui/panel.tsx'
import { Time } from '#components/ui/time.tsx'
import type { Failure } from '#lib/dashboard/overview/read-overview.ts'

const KINDS = {
  upload: { icon: FileX, href: (id: string) => `/dashboard/files/${id}` },
  webhook: { icon: Webhook, href: (id: string) => `/dashboard/webhooks?delivery=${id}` },
} as const

export function FailuresPanel({ failures }: { failures: Failure[] }) {
  return (
    <Panel title="Latest failures" flush>
      {failures.length === 0 ? (
        <p className="px-4 pb-4 text-ink-faint text-sm">No failed uploads or webhooks.</p>
      ) : (
        <ul className="divide-y border-t">
          {failures.map(({ kind, id, title, reason, at }) => {
            const { icon: Icon, href } = KINDS[kind]
            return (
              <li key={id}>
                <Link href={href(id)} className="flex gap-3 px-4 py-2.5 -outline-offset-2 hover:bg-hover/60">
                  <Icon className="mt-0.5 size-4 shrink-0 text-bad" aria-label={`Failed ${kind}`} />
                  <span className="min-w-0 flex-1 text-sm">
                    <span className="block truncate font-medium">{title}</span>
                    <span className="block text-ink-soft">{reason}</span>
                  </span>
                  <Time at={at} className="shrink-0 text-ink-faint text-xs" />
                </Link>
              </li>
            )
          })}
        </ul>
      )}
    </Panel>
  )
}
