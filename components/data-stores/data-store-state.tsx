import type { DataStore } from '#lib/workspace/data-stores/data-store.ts'
import { Status } from '../ui/status.tsx'

export function DataStoreState({ store }: { store: DataStore }) {
  if (!store.check) return <Status state="unchecked" />
  return <Status state={store.check.ok ? 'checked' : 'problem'} />
}
