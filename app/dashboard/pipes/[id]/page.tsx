import { Code, FileUp } from 'lucide-react'
import { FiguresSection } from '#app/dashboard/(overview)/figures-section.tsx'
import { NeedsAttention } from '#app/dashboard/(overview)/needs-attention.tsx'
import { rangeOf } from '#app/dashboard/(overview)/ranges.tsx'
import { UploadsUnderWay } from '#app/dashboard/(overview)/uploads-under-way.tsx'
import { LiveRefresh } from '#components/live/live.tsx'
import { ButtonLink } from '#components/ui/button-link.tsx'
import { EmptyState } from '#components/ui/empty-state.tsx'
import { IfMay } from '#components/ui/rights.tsx'
import { listFiles } from '#lib/dashboard/files/list-files.ts'
import { readSnapshot, type Topic } from '#lib/dashboard/live.ts'
import { readAttention } from '#lib/dashboard/overview/read-attention.ts'
import { readFigures } from '#lib/dashboard/overview/read-figures.ts'
import { describeSet } from '#lib/dashboard/pipes/destination-set.ts'
import { readFailingImports } from '#lib/imports/read-imports.ts'
import { listWithLatest } from '#lib/webhooks/log/list-deliveries.ts'
import { readSearch, type Search } from '../../page-query.ts'
import { titledByPipe } from '../../title-of.ts'
import { isBlocked } from '../pipe-state.tsx'
import { currentPipe, type PipeProps } from './current-pipe.ts'
import { LatestFiles } from './latest-files.tsx'
import { PipeEnds } from './pipe-ends.tsx'

export const generateMetadata = titledByPipe('Pipes')

const LATEST = 8

type Props = PipeProps & { searchParams: Search }

export default async function PipePage({ searchParams, ...props }: Props) {
  const range = rangeOf((await readSearch(searchParams)).range)
  const { runtime, actor, id, pipe } = await currentPipe(props, 'see')
  const look = (topic: Topic) => readSnapshot(runtime.db, actor.workspaceId, topic)
  const { mark } = await look('overview')
  const [attention, figures, { data: files }, { uploads = [] }, set, outputs] = await Promise.all([
    readAttention(runtime, actor, id),
    readFigures(runtime, actor, { range, pipeId: id }),
    listFiles(runtime, actor, { pipeId: id, limit: LATEST }),
    look('uploads'),
    describeSet(runtime, pipe.destinations),
    listWithLatest(runtime, actor, { pipeId: id }),
  ])
  const states = new Map(set.members.map(({ store, state }) => [store.id, state]))
  const at = `/dashboard/pipes/${id}`
  return (
    <div className="space-y-5">
      <LiveRefresh topic="overview" seen={mark} />
      <NeedsAttention items={attention} />
      {files.length > 0 && <FiguresSection figures={figures} range={range} pipeId={id} />}
      <div className="grid grid-cols-1 items-start gap-5 lg:grid-cols-[1fr_18rem]">
        {files.length > 0 ? (
          <div className="min-w-0 space-y-5">
            <UploadsUnderWay uploads={uploads} pipeId={id} />
            <LatestFiles
              files={files}
              failing={await readFailingImports(runtime, files)}
              path={`${at}/files`}
              now={runtime.clock.now()}
            />
          </div>
        ) : (
          <EmptyState
            icon={FileUp}
            title="No files yet"
            action={
              <div className="flex flex-wrap justify-center gap-2">
                {pipe.source.http && !isBlocked({ pipe, states }) && (
                  <IfMay right="operate">
                    <ButtonLink href={`${at}/try`} tone="primary" icon={FileUp}>
                      Try it
                    </ButtonLink>
                  </IfMay>
                )}
                <ButtonLink href={`${at}/embed`} icon={Code}>
                  Embed it in your page
                </ButtonLink>
              </div>
            }
          >
            This page shows each upload from the first byte, with its progress and its outcome.
          </EmptyState>
        )}
        <PipeEnds pipe={pipe} set={set} outputs={outputs.map(({ output }) => output)} />
      </div>
    </div>
  )
}
