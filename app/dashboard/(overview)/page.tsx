import { currentActor } from '#app/session.ts'
import { RejectingBanner } from '#components/data-stores/rejecting-banner.tsx'
import { PageHeader } from '#components/shell/page-header.tsx'
import { QuotaPanel } from '#components/usage/quota-panel.tsx'
import { readSnapshot, type Topic } from '#lib/dashboard/live.ts'
import { readFigures } from '#lib/dashboard/overview/read-figures.ts'
import { readMissingCopies } from '#lib/dashboard/overview/read-missing-copies.ts'
import { listFailures, readChecklist } from '#lib/dashboard/overview/read-overview.ts'
import { may } from '#lib/identity/rights.ts'
import { getRuntime } from '#lib/platform/runtime.ts'
import { listDataStores } from '#lib/workspace/data-stores/read-data-stores.ts'
import { listPipes } from '#lib/workspace/pipes/read-pipes.ts'
import { reportUsage } from '#lib/workspace/usage/report-usage.ts'
import { readSearch, type Search } from '../page-query.ts'
import { AlertNotices } from './alert-notices.tsx'
import { ChecklistPanel } from './checklist-panel.tsx'
import { FailuresPanel } from './failures-panel.tsx'
import { FiguresSection } from './figures-section.tsx'
import { MissingCopiesPanel } from './missing-copies-panel.tsx'
import { rangeOf } from './ranges.tsx'
import { TurnedOffNotice } from './turned-off-notice.tsx'
import { UploadsUnderWay } from './uploads-under-way.tsx'

export const metadata = { title: 'Overview' }

export default async function Overview({ searchParams }: { searchParams: Search }) {
  const query = await readSearch(searchParams)
  const range = rangeOf(query.range)
  const pipeId = query.pipeId || undefined
  const actor = await currentActor('see')
  const runtime = getRuntime()
  const look = (topic: Topic) => readSnapshot(runtime.db, actor.workspaceId, topic)
  const [files, deliveries] = await Promise.all([look('files'), look('deliveries')])
  const [checklist, figures, usage, failures, missing, dataStores, pipes, { uploads = [] }] =
    await Promise.all([
      readChecklist(runtime, actor),
      readFigures(runtime, actor, { range, pipeId }),
      reportUsage(runtime, actor, {}),
      listFailures(runtime, actor),
      readMissingCopies(runtime, actor),
      listDataStores(runtime, actor, { limit: 1 }),
      listPipes(runtime, actor, { limit: 100 }),
      look('uploads'),
    ])
  const done = Object.values(checklist).every(Boolean)
  return (
    <>
      <PageHeader title="Overview" />
      <TurnedOffNotice actor={actor} />
      <RejectingBanner actor={actor} />
      <AlertNotices actor={actor} />
      <div className="space-y-5">
        {!done && may(actor, 'build') && (
          <ChecklistPanel
            checklist={checklist}
            dataStoreId={dataStores.data[0]?.id}
            pipeId={pipes.data[0]?.id}
            seen={{ files: files.mark, deliveries: deliveries.mark }}
          />
        )}
        {checklist.firstByte && (
          <FiguresSection figures={figures} range={range} pipeId={pipeId} pipes={pipes.data} />
        )}
        <div className="grid items-start gap-5 lg:grid-cols-[1fr_20rem]">
          <div className="min-w-0 space-y-5">
            <UploadsUnderWay uploads={uploads} />
            <FailuresPanel failures={failures} />
            <MissingCopiesPanel missing={missing} />
          </div>
          <QuotaPanel usage={usage} />
        </div>
      </div>
    </>
  )
}
