import { Inbox as InboxIcon } from 'lucide-react'
import { LiveTail } from '#components/live/live.tsx'
import { Copyable } from '#components/ui/copyable.tsx'
import { EmptyState } from '#components/ui/empty-state.tsx'
import { showInbox } from '#lib/dashboard/inbox.ts'
import { readSnapshot } from '#lib/dashboard/live.ts'
import { getRuntime } from '#lib/platform/runtime.ts'
import { currentActor } from '../../../session.ts'
import { InboxMessageView } from './inbox-message-view.tsx'

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
            <InboxMessageView key={message.id} message={message} />
          ))}
        </ol>
      )}
    </>
  )
}
