import type { DataStore } from '#lib/workspace/data-stores/data-store.ts'
import type { DataStoreState as State } from '#lib/workspace/data-stores/sealed-data-store.ts'
import { Status } from '../ui/status.tsx'

type Props = { check: DataStore['check']; state: State }

/** A bucket that was never checked is ready if an upload has succeeded there, or if Sluice itself runs it. */
export function DataStoreState({ check, state }: Props) {
  if (state === 'off') return <Status state="off" />
  if (check) return <Status state={check.ok ? 'checked' : 'problem'} />
  return <Status state={state} />
}
