import Link from 'next/link'
import type { Delivery } from '#lib/webhooks/log/delivery.ts'
import { formatDuration } from '../format.ts'
import { SelectAll, Selection, SelectRow } from '../lists/selection.tsx'
import { SortHead } from '../lists/sort-head.tsx'
import { hrefOf } from '../shell/pager.tsx'
import { RowId } from '../ui/row-id.tsx'
import { Status } from '../ui/status.tsx'
import { Row, Table, Td, Th } from '../ui/table.tsx'
import { Time } from '../ui/time.tsx'
import { SelectedDeliveries } from './selected-deliveries.tsx'

type Props = {
  deliveries: Delivery[]
  filenames: Map<string, string>
  query: Record<string, string | undefined>
}

export function DeliveryTable({ deliveries, filenames, query }: Props) {
  const head = (
    <>
      <Th className="w-8 pr-0">
        <SelectAll />
      </Th>
      <Th>File</Th>
      <Th>State</Th>
      <Th>Answer</Th>
      <Th>To</Th>
      <Th className="text-right">Attempts</Th>
      <SortHead
        title="Created"
        path="/dashboard/webhooks"
        query={{ ...query, delivery: undefined }}
        down="newest"
        up="oldest"
        usual="newest"
      />
    </>
  )
  return (
    <Selection ids={deliveries.map(({ id }) => id)}>
      <Table caption="Deliveries" head={head}>
        {deliveries.map((delivery) => (
          <Row key={delivery.id}>
            <Td className="select-cell pr-0">
              <SelectRow id={delivery.id} name={filenames.get(delivery.fileId ?? '') ?? delivery.id} />
            </Td>
            <Td long className="font-medium">
              <RowId id={delivery.eventId} what="the id of its event">
                <Link
                  href={hrefOf('/dashboard/webhooks', { ...query, delivery: delivery.id })}
                  scroll={false}
                  className="row-link"
                >
                  {delivery.test ? <Status state="test" /> : nameOf(delivery, filenames)}
                </Link>
              </RowId>
            </Td>
            <Td label="State">
              <Status
                state={
                  delivery.state === 'pending' && delivery.attempts.length > 0 ? 'retrying' : delivery.state
                }
              />
            </Td>
            <Td label="Answer" className="font-mono text-xs">
              <LastAnswer delivery={delivery} />
            </Td>
            <Td long label="To" className="text-ink-soft" title={delivery.url}>
              {new URL(delivery.url).host}
              <span className="text-ink-faint">{new URL(delivery.url).pathname}</span>
            </Td>
            <Td label="Attempts" number>
              {delivery.attempts.length}
              {delivery.underWay ? (
                <span className="text-ink-faint">, now</span>
              ) : (
                delivery.nextAttemptAt && (
                  <span className="text-ink-faint">
                    , next <Time at={delivery.nextAttemptAt} />
                  </span>
                )
              )}
            </Td>
            <Td label="Created" number className="text-ink-soft">
              <Time at={delivery.createdAt} />
            </Td>
          </Row>
        ))}
      </Table>
      <SelectedDeliveries />
    </Selection>
  )
}

function nameOf({ fileId, event }: Delivery, filenames: Map<string, string>) {
  if (!fileId) return event
  const name = fileId && filenames.get(fileId)
  return name ?? <span className="font-mono text-ink-soft text-xs">{fileId ?? '–'}</span>
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
