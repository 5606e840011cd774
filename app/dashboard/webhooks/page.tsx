import { Webhook } from 'lucide-react'
import { choiceFilter, DAY_FILTERS, pipeFilter, SPAN_FILTER } from '#components/lists/filters.ts'
import { ExportLinks, ListBar } from '#components/lists/list-bar.tsx'
import { LiveTail } from '#components/live/live.tsx'
import { Pager } from '#components/shell/pager.tsx'
import { ButtonLink } from '#components/ui/button-link.tsx'
import { EmptyState } from '#components/ui/empty-state.tsx'
import { type Filter, FilterBar } from '#components/ui/filter-bar.tsx'
import { readFiles } from '#lib/dashboard/files/list-files.ts'
import { readSnapshot } from '#lib/dashboard/live.ts'
import type { Actor } from '#lib/identity/audit/record-audit.ts'
import { isUuid } from '#lib/platform/kernel/ids.ts'
import { parseInput } from '#lib/platform/kernel/parse-input.ts'
import { getRuntime } from '#lib/platform/runtime.ts'
import type { Delivery } from '#lib/webhooks/log/delivery.ts'
import { countUndelivered, deliveryQuery, listDeliveries } from '#lib/webhooks/log/list-deliveries.ts'
import { showDelivery } from '#lib/webhooks/log/show-delivery.ts'
import { fullName, nameOutputs } from '#lib/webhooks/outputs/find-output.ts'
import { listPipes } from '#lib/workspace/pipes/read-pipes.ts'
import { currentActor } from '../../session.ts'
import { orNothing, orProblem } from '../or-not-found.ts'
import { readSearch, type Search } from '../page-query.ts'
import { DeliveryDrawer } from './delivery-drawer.tsx'
import { DeliveryTable } from './delivery-table.tsx'
import { UndeliveredNotice } from './undelivered-notice.tsx'
import { wantedDeliveries } from './wanted-deliveries.ts'

export const metadata = { title: 'Webhooks' }

export default async function Deliveries({ searchParams }: { searchParams: Search }) {
  const query = await readSearch(searchParams)
  const actor = await currentActor('see')
  const of = { pipeId: query.pipeId, outputId: isUuid(query.outputId ?? '') ? query.outputId : undefined }
  const runtime = getRuntime()
  const wanted = wantedDeliveries(query, runtime.clock.now())
  const { mark } = await readSnapshot(runtime.db, actor.workspaceId, 'deliveries')
  const [page, pipes, outputs, undelivered, chosen] = await Promise.all([
    orProblem(async () => listDeliveries(runtime, actor, parseInput(deliveryQuery, wanted))),
    listPipes(runtime, actor, { limit: 100 }),
    nameOutputs(runtime, actor),
    countUndelivered(runtime, actor, of),
    query.delivery ? openDelivery(actor, query.delivery) : undefined,
  ])
  const filters: Filter[] = [
    { kind: 'text', name: 'search', label: 'File, event or delivery id' },
    choiceFilter(
      'state',
      'State',
      ['pending', 'delivered', 'failed'].map((state) => [state, state]),
    ),
    pipeFilter(pipes.data),
    choiceFilter(
      'outputId',
      'Output',
      outputs.map((output) => [output.id, fullName(output)]),
    ),
    SPAN_FILTER,
    ...DAY_FILTERS,
  ]
  const filtered = filters.some(({ name }) => query[name]) || Boolean(query.cursor)
  return (
    <>
      <UndeliveredNotice undelivered={undelivered} of={of} asked={query.resend === '1'} />
      <FilterBar filters={filters} />
      <ListBar>
        <LiveTail topic="deliveries" seen={mark} />
        {page.data.length > 0 && <ExportLinks path="/dashboard/webhooks/export" query={query} />}
      </ListBar>
      {page.data.length > 0 ? (
        <DeliveryTable deliveries={page.data} filenames={await filenamesOf(page.data)} query={query} />
      ) : filtered ? (
        <EmptyState icon={Webhook} title="Nothing matches these filters">
          {page.problem ?? 'Deliveries are kept for 30 days.'}
        </EmptyState>
      ) : (
        <EmptyState
          icon={Webhook}
          title="No webhook has been sent yet"
          action={
            <ButtonLink href="/dashboard/pipes" tone="primary">
              Choose a Pipe
            </ButtonLink>
          }
        >
          A Pipe whose webhook output is on sends one once a file has ended. Each is listed here with every
          attempt, the request and the response.
        </EmptyState>
      )}
      <Pager
        path="/dashboard/webhooks"
        query={{ ...query, delivery: undefined }}
        nextCursor={page.nextCursor}
        previousCursor={page.previousCursor}
      />
      {chosen && <DeliveryDrawer delivery={chosen.delivery} seen={chosen.mark} />}
    </>
  )
}

/** File names help users recognize deliveries. An erased file has none. */
async function filenamesOf(deliveries: Delivery[]): Promise<Map<string, string>> {
  const ids = new Set(deliveries.flatMap(({ fileId }) => fileId ?? []))
  const files = await readFiles(getRuntime().db, [...ids])
  return new Map(files.map(({ id, filename }) => [id, filename]))
}

/** Watches the delivery by its own id, because the list only follows the newest ones. */
async function openDelivery(actor: Actor, id: string) {
  const runtime = getRuntime()
  const { mark } = await readSnapshot(runtime.db, actor.workspaceId, `delivery:${id}`)
  const delivery = await showDelivery(runtime, actor, id).catch(orNothing)
  return delivery && { delivery, mark }
}
