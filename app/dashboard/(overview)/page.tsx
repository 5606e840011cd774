import { currentActor } from '#app/session.ts'
import { RejectingBanner } from '#components/data-stores/rejecting-banner.tsx'
import { LiveRefresh } from '#components/live/live.tsx'
import { PageHeader } from '#components/shell/page-header.tsx'
import { QuotaPanel } from '#components/usage/quota-panel.tsx'
import { readSnapshot, type Topic } from '#lib/dashboard/live.ts'
import { readAttention } from '#lib/dashboard/overview/read-attention.ts'
import { readFigures } from '#lib/dashboard/overview/read-figures.ts'
import { readMap } from '#lib/dashboard/overview/read-map.ts'
import { readChecklist } from '#lib/dashboard/overview/read-overview.ts'
import { may } from '#lib/identity/rights.ts'
import { getRuntime } from '#lib/platform/runtime.ts'
import { listDataStores } from '#lib/workspace/data-stores/read-data-stores.ts'
import { listPipes } from '#lib/workspace/pipes/read-pipes.ts'
import { reportUsage } from '#lib/workspace/usage/report-usage.ts'
import { readSearch, type Search } from '../page-query.ts'
import { ChecklistPanel } from './checklist-panel.tsx'
import { FiguresSection } from './figures-section.tsx'
import { LiveMap } from './live-map.tsx'
import { NeedsAttention } from './needs-attention.tsx'
import { rangeOf } from './ranges.tsx'
import { UploadsUnderWay } from './uploads-under-way.tsx'

export const metadata = { title: 'Overview' }

export default async function Overview({ searchParams }: { searchParams: Search }) {
  const query = await readSearch(searchParams)
  const range = rangeOf(query.range)
  const pipeId = query.pipeId || undefined
  const actor = await currentActor('see')
  const runtime = getRuntime()
  const look = (topic: Topic) => readSnapshot(runtime.db, actor.workspaceId, topic)
  const { mark } = await look('overview')
  const [setup, map, attention, figures, usage, dataStores, pipes, { uploads = [] }] = await Promise.all([
    readChecklist(runtime, actor),
    readMap(runtime, actor),
    readAttention(runtime, actor),
    readFigures(runtime, actor, { range, pipeId }),
    reportUsage(runtime, actor, {}),
    listDataStores(runtime, actor, { limit: 1 }),
    listPipes(runtime, actor, { limit: 100 }),
    look('uploads'),
  ])
  const done = Object.values(setup.checklist).every(Boolean)
  return (
    <>
      <PageHeader title="Overview" />
      <RejectingBanner actor={actor} />
      <LiveRefresh topic="overview" seen={mark} />
      <div className="space-y-5">
        {!done && may(actor, 'build') && (
          <ChecklistPanel
            checklist={setup.checklist}
            dataStoreId={dataStores.data[0]?.id}
            pipeId={pipes.data[0]?.id}
          />
        )}
        <NeedsAttention items={attention} />
        {pipes.data.length > 0 && <LiveMap map={map} />}
        {setup.hasFiles && (
          <FiguresSection figures={figures} range={range} pipeId={pipeId} pipes={pipes.data} />
        )}
        <div className="grid items-start gap-5 lg:grid-cols-[1fr_20rem]">
          <UploadsUnderWay uploads={uploads} />
          <QuotaPanel usage={usage} />
        </div>
      </div>
    </>
  )
}
