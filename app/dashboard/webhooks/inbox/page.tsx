import { Inbox as InboxIcon } from 'lucide-react'
import { LiveTail } from '#components/live/live.tsx'
import { Code } from '#components/ui/code-block.tsx'
import { Copyable } from '#components/ui/copyable.tsx'
import { EmptyState } from '#components/ui/empty-state.tsx'
import { HeaderList } from '#components/ui/header-list.tsx'
import { REACHABLE } from '#components/ui/reachable.ts'
import { Status } from '#components/ui/status.tsx'
import { Summary } from '#components/ui/summary.tsx'
import { Time } from '#components/ui/time.tsx'
import { type InboxMessage, showInbox } from '#lib/dashboard/inbox.ts'
import { readSnapshot } from '#lib/dashboard/live.ts'
import { getRuntime } from '#lib/platform/runtime.ts'
import { currentActor } from '../../../session.ts'

export const metadata = { title: 'Webhook inbox' }

export default async function Inbox() {
  const runtime = getRuntime()
  const actor = await currentActor('see')
  const { mark } = await readSnapshot(runtime.db, actor.workspaceId, 'inbox')
  const { url, messages } = await showInbox(runtime, actor)
  return (
    <>
      <div className="mb-5 flex flex-wrap items-end gap-3">
        <div className="min-w-0 flex-1 basis-80">
          <p className="mb-1.5 text-ink-soft text-sm">
            A temporary receiver for webhooks until yours is running. It only accepts webhooks that your own
            Pipes have signed.
          </p>
          <Copyable text={url} what="inbox address" />
        </div>
        <LiveTail topic="inbox" seen={mark} />
      </div>
      {messages.length === 0 ? (
        <EmptyState icon={InboxIcon} title="Nothing here yet">
          Webhooks to this address appear here once a file has ended, or once you send a test. Set it as a
          Pipe's webhook output.
        </EmptyState>
      ) : (
        <ol className="space-y-2">
          {messages.map((message) => (
            <Message key={message.id} message={message} />
          ))}
        </ol>
      )}
    </>
  )
}

/** Every message in the inbox has a verified signature: the inbox rejects anything else with 403. */
function Message({ message }: { message: InboxMessage }) {
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
