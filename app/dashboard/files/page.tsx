import type { Metadata } from 'next'
import { PageHeader } from '#components/shell/page-header.tsx'
import { showBatch } from '#lib/batches/batch.ts'
import { getRuntime } from '#lib/platform/runtime.ts'
import { showPipe } from '#lib/workspace/pipes/read-pipes.ts'
import { currentActor } from '../../session.ts'
import { orNothing } from '../or-not-found.ts'
import { readSearch, type Search } from '../page-query.ts'
import { BatchPanel } from './batch-panel.tsx'
import { FileList } from './file-list.tsx'

export async function generateMetadata({ searchParams }: { searchParams: Search }): Promise<Metadata> {
  const { batchId } = await readSearch(searchParams)
  const batch =
    batchId && (await showBatch(getRuntime(), await currentActor('see'), batchId).catch(orNothing))
  return { title: batch ? `${batch.name} · Batches` : 'Files' }
}

export default async function Files({ searchParams }: { searchParams: Search }) {
  const query = await readSearch(searchParams)
  const actor = await currentActor('see')
  const runtime = getRuntime()
  const batch = query.batchId ? await showBatch(runtime, actor, query.batchId).catch(orNothing) : undefined
  const pipe = batch && (await showPipe(runtime, actor, batch.pipeId).catch(orNothing))
  return (
    <>
      {batch ? (
        <BatchPanel batch={batch} pipeName={pipe?.name} />
      ) : (
        <PageHeader
          title="Files"
          description="Every upload, from the first byte to the object in your bucket."
        />
      )}
      <FileList actor={actor} path="/dashboard/files" query={query} batchName={batch?.name} />
    </>
  )
}
