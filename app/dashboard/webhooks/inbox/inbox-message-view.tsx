import { Code } from '#components/ui/code-block.tsx'
import { HeaderList } from '#components/ui/header-list.tsx'
import { REACHABLE } from '#components/ui/reachable.ts'
import { Status } from '#components/ui/status.tsx'
import { Summary } from '#components/ui/summary.tsx'
import { Time } from '#components/ui/time.tsx'
import type { InboxMessage } from '#lib/dashboard/inbox.ts'

/** Every message in the inbox has a verified signature: the inbox rejects anything else with 403. */
export function InboxMessageView({ message }: { message: InboxMessage }) {
  const body = JSON.parse(message.body) as {
    event?: string
    test?: boolean
    data?: { filename?: string; name?: string; status?: string }
  }
  return (
    <li>
      <details className="group rounded-lg border bg-surface">
        <Summary className="flex-wrap gap-x-3 gap-y-1 px-3.5 py-2.5">
          <span className="font-medium">{body.data?.filename ?? body.data?.name ?? body.event}</span>
          <span className="text-ink-soft">{body.data?.status ?? body.event}</span>
          <Status state="verified" label="signature verified" />
          {body.test && <Status state="test" />}
          <Time at={message.receivedAt} className="ml-auto text-ink-faint" />
        </Summary>
        <div className="space-y-3 border-t p-3.5">
          <HeaderList headers={message.headers} />
          <pre
            {...REACHABLE}
            className="overflow-x-auto rounded-md bg-sunken p-3 font-mono text-xs leading-relaxed"
          >
            <Code code={JSON.stringify(body, null, 2)} language="json" />
          </pre>
        </div>
      </details>
    </li>
  )
}
