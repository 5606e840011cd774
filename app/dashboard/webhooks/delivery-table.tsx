import { formatDuration } from '#components/format.ts'
import { createdColumn, selectColumn } from '#components/lists/columns.tsx'
import { Selection } from '#components/lists/selection.tsx'
import { hrefOf } from '#components/shell/pager.tsx'
import { RowId } from '#components/ui/copyable.tsx'
import { Status } from '#components/ui/status.tsx'
import { LONG, NAME, NUMBER, RowLink, Table } from '#components/ui/table.tsx'
import { Time } from '#components/ui/time.tsx'
import type { Delivery } from '#lib/webhooks/log/delivery.ts'
import { SelectedDeliveries } from './resend-forms.tsx'
import { shownState } from './shown-state.ts'

type Props = {
  deliveries: Delivery[]
  filenames: Map<string, string>
  query: Record<string, string | undefined>
}

export function DeliveryTable({ deliveries, filenames, query }: Props) {
  const nameOf = ({ fileId }: Delivery) => (fileId ? filenames.get(fileId) : undefined)
  return (
    <Selection ids={deliveries.map(({ id }) => id)}>
      <Table
        caption="Deliveries"
        rows={deliveries}
        columns={[
          selectColumn((delivery: Delivery) => nameOf(delivery) ?? delivery.id),
          [
            'File',
            (delivery) => <EventLink delivery={delivery} name={nameOf(delivery)} query={query} />,
            NAME,
          ],
          ['State', (delivery) => <Status state={shownState(delivery)} />],
          ['Response', (delivery) => <LastAnswer delivery={delivery} />, { className: 'font-mono text-xs' }],
          [
            'To',
            ({ url }) => <Receiver url={new URL(url)} />,
            { ...LONG, className: 'py-1 text-ink-soft', hint: ({ url }) => url },
          ],
          ['Attempts', (delivery) => <Attempts delivery={delivery} />, NUMBER],
          createdColumn({ path: '/dashboard/webhooks', query: { ...query, delivery: undefined } }),
        ]}
      />
      <SelectedDeliveries />
    </Selection>
  )
}

type LinkProps = { delivery: Delivery; name: string | undefined; query: Props['query'] }

function EventLink({ delivery: { id, eventId, fileId, event, test }, name, query }: LinkProps) {
  return (
    <RowId id={eventId} what="the event id">
      <RowLink href={hrefOf('/dashboard/webhooks', { ...query, delivery: id })} scroll={false}>
        {test ? (
          <Status state="test" />
        ) : (
          (name ?? (fileId ? <span className="font-mono text-ink-soft text-xs">{fileId}</span> : event))
        )}
      </RowLink>
    </RowId>
  )
}

/** The path tells receivers at one host apart, so it has its own line. */
function Receiver({ url }: { url: URL }) {
  return (
    <>
      {url.host}
      <span
        title={url.href}
        className="text-ink-faint @min-[44rem]:line-clamp-1 @min-[44rem]:whitespace-normal @min-[44rem]:break-all @min-[44rem]:text-xs"
      >
        {url.pathname}
      </span>
    </>
  )
}

function Attempts({ delivery: { attempts, underWay, nextAttemptAt } }: { delivery: Delivery }) {
  return (
    <>
      {attempts.length}
      <span className="@min-[44rem]:hidden"> {attempts.length === 1 ? 'attempt' : 'attempts'}</span>
      {underWay && <span className="text-ink-faint">, now</span>}
      {!underWay && nextAttemptAt && (
        <span className="text-ink-faint @min-[44rem]:block @min-[44rem]:text-xs">
          <span className="@min-[44rem]:hidden">, </span>
          next <Time at={nextAttemptAt} />
        </span>
      )}
    </>
  )
}

function LastAnswer({ delivery }: { delivery: Delivery }) {
  const last = delivery.attempts.at(-1)
  if (!last) return <span className="text-ink-faint">–</span>
  return (
    <>
      {last.status ?? last.error}
      {last.durationMs !== null && (
        <span className="text-ink-faint @max-4xl:hidden"> · {formatDuration(last.durationMs)}</span>
      )}
    </>
  )
}
