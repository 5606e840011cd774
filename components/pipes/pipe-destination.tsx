import { ArrowRight } from 'lucide-react'
import Link from 'next/link'
import type { DataStore } from '#lib/workspace/data-stores/data-store.ts'
import { PRESETS, unfinishedLimit } from '#lib/workspace/data-stores/presets.ts'
import { DataStoreState } from '../data-stores/data-store-state.tsx'

export function PipeDestination({ store }: { store: DataStore }) {
  const limit = unfinishedLimit(store.provider)
  return (
    <>
      <Link
        href={`/dashboard/data-stores/${store.id}`}
        className="flex items-center gap-3 rounded-lg border bg-surface p-4 hover:bg-hover/60"
      >
        <span className="min-w-0 flex-1">
          <span className="flex flex-wrap items-center gap-2 font-medium text-sm">
            {store.name}
            <DataStoreState store={store} />
          </span>
          <span className="mt-0.5 block truncate text-ink-faint text-sm">
            {PRESETS[store.provider].label}, bucket <span className="font-mono text-xs">{store.bucket}</span>
          </span>
        </span>
        <ArrowRight className="size-4 text-ink-faint" aria-hidden />
      </Link>
      {limit && <p className="mt-2 text-ink-soft text-sm">{limit}</p>}
    </>
  )
}
