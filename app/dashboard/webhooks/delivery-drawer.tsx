'use client'

import { Check, X } from 'lucide-react'
import { useRouter, useSearchParams } from 'next/navigation'
import { useState } from 'react'
import { formatDuration } from '#components/format.ts'
import { LiveRefresh } from '#components/live/live.tsx'
import { Code } from '#components/ui/code-block.tsx'
import { CopyButton } from '#components/ui/copy-button.tsx'
import { CopyableId } from '#components/ui/copyable.tsx'
import { Dialog } from '#components/ui/dialog.tsx'
import { Facts } from '#components/ui/facts.tsx'
import { HeaderList } from '#components/ui/header-list.tsx'
import { JsonView } from '#components/ui/json-view.tsx'
import { REACHABLE } from '#components/ui/reachable.ts'
import { Status } from '#components/ui/status.tsx'
import { Summary } from '#components/ui/summary.tsx'
import { LINK } from '#components/ui/text-link.tsx'
import { Time } from '#components/ui/time.tsx'
import type { WholeDelivery } from '#lib/webhooks/log/delivery.ts'
import { ResendOne } from './resend-forms.tsx'
import { shownState } from './shown-state.ts'

/** Shows a delivery next to the list. Its address is the list's address plus the delivery's id. */
export function DeliveryDrawer({ delivery, seen }: { delivery: WholeDelivery; seen: string }) {
  const router = useRouter()
  const query = useSearchParams()
  const [open, setOpen] = useState(true)

  function close() {
    setOpen(false)
    const next = new URLSearchParams(query)
    next.delete('delivery')
    router.replace(next.size > 0 ? `/dashboard/webhooks?${next}` : '/dashboard/webhooks', { scroll: false })
  }

  const sent = parse(delivery.requestBody)
  const body = sent === undefined ? delivery.requestBody : JSON.stringify(sent, null, 2)
  const batch = batchOf(delivery, sent)
  return (
    <Dialog
      key={delivery.id}
      as="drawer"
      title="Delivery"
      open={open}
      onOpenChange={(next) => !next && close()}
    >
      <LiveRefresh topic={`delivery:${delivery.id}`} seen={seen} />
      <div className="space-y-6">
        <div className="flex flex-wrap items-center justify-between gap-3">
          <span className="flex items-center gap-2">
            <Status state={shownState(delivery)} />
            {delivery.test && <Status state="test" />}
            {delivery.nextAttemptAt && (
              <span className="text-ink-faint text-sm">
                next attempt <Time at={delivery.nextAttemptAt} />
              </span>
            )}
          </span>
          <span className="flex gap-2">
            <JsonView kind="delivery" id={delivery.id} />
            <ResendOne id={delivery.id} />
          </span>
        </div>
        <Facts
          facts={{
            To: <span className="break-all">{delivery.url}</span>,
            Event: (
              <span className="flex flex-wrap items-center gap-2">
                <code className="font-mono text-xs">{delivery.event}</code>
                <CopyableId id={delivery.eventId} what="event id" />
                <JsonView kind="event" id={delivery.eventId} size="sm" />
              </span>
            ),
            Delivery: <CopyableId id={delivery.id} what="delivery id" />,
            Created: <Time at={delivery.createdAt} />,
            File: delivery.fileId ? (
              <a href={`/dashboard/files/${delivery.fileId}`} className={`font-mono text-xs ${LINK}`}>
                {delivery.fileId}
              </a>
            ) : undefined,
            Batch: batch && (
              <a href={`/dashboard/files?batchId=${batch.id}`} className={LINK}>
                {batch.name}
              </a>
            ),
          }}
        />
        <section>
          <h3 id="attempts" className="mb-2 font-semibold text-sm">
            Attempts
          </h3>
          {delivery.attempts.length === 0 ? (
            <p className="text-ink-faint text-sm">The first attempt is in progress.</p>
          ) : (
            <ol className="space-y-2" aria-labelledby="attempts">
              {delivery.attempts.toReversed().map((attempt, index) => (
                <AttemptView key={attempt.id} attempt={attempt} startOpen={index === 0} />
              ))}
            </ol>
          )}
        </section>
        <section>
          <h3 className="mb-2 flex items-center justify-between font-semibold text-sm">
            Body
            <CopyButton text={delivery.requestBody} what="the body as it was sent" />
          </h3>
          <pre
            {...REACHABLE}
            className="overflow-x-auto rounded-md border bg-sunken p-3 font-mono text-xs leading-relaxed"
          >
            <Code code={body} language="json" />
          </pre>
        </section>
      </div>
    </Dialog>
  )
}

function parse(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch {
    return undefined
  }
}

/** The batch that an event reports on. A test of such an event names none that exists. */
function batchOf({ event, test }: WholeDelivery, sent: unknown): { id: string; name: string } | undefined {
  if (event !== 'batch.completed' || test || !sent) return undefined
  const { data } = sent as { data: { batch_id: string; batch: string } }
  return { id: data.batch_id, name: data.batch }
}

type Attempt = WholeDelivery['attempts'][number]

/** An attempt with the full request and response. */
export function AttemptView({ attempt, startOpen }: { attempt: Attempt; startOpen: boolean }) {
  const good = attempt.error === null
  const Icon = good ? Check : X
  return (
    <li>
      <details open={startOpen} className="group rounded-md border">
        <Summary className="flex-wrap gap-x-2.5 gap-y-1 px-3 py-2">
          <Icon className={`size-4 ${good ? 'text-good' : 'text-bad'}`} aria-hidden />
          <span className="font-medium">{attempt.status ?? attempt.error}</span>
          <span className="text-ink-faint">
            <Time at={attempt.at} />
            {attempt.durationMs !== null && `, ${formatDuration(attempt.durationMs)}`}
            {attempt.trigger !== 'auto' && `, ${attempt.trigger}`}
          </span>
        </Summary>
        <div className="space-y-3 border-t px-3 py-3">
          {attempt.errorDetail && <p className="text-bad text-sm">{attempt.errorDetail}</p>}
          <Headers title="Request headers" headers={attempt.requestHeaders} />
          {attempt.responseHeaders && <Headers title="Response headers" headers={attempt.responseHeaders} />}
          {attempt.responseBody !== null && (
            <div>
              <h4 className="mb-1 text-ink-faint text-xs">Response body</h4>
              <pre
                {...REACHABLE}
                className="max-h-56 overflow-auto whitespace-pre-wrap break-all rounded-sm bg-sunken p-2 font-mono text-xs"
              >
                {attempt.responseBody || '(empty)'}
              </pre>
            </div>
          )}
        </div>
      </details>
    </li>
  )
}

function Headers({ title, headers }: { title: string; headers: Record<string, string> }) {
  return (
    <div>
      <h4 className="mb-1 text-ink-faint text-xs">{title}</h4>
      <HeaderList headers={headers} />
    </div>
  )
}
