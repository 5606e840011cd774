import Link from 'next/link'
import { largestInWords, partsInWords } from '#components/pipes/limits-in-words.ts'
import { Facts } from '#components/ui/facts.tsx'
import { Panel } from '#components/ui/panel.tsx'
import { describeSet } from '#lib/dashboard/pipes/destination-set.ts'
import type { Actor } from '#lib/identity/audit/record-audit.ts'
import { getRuntime } from '#lib/platform/runtime.ts'
import { listPipes } from '#lib/workspace/pipes/read-pipes.ts'

const MAX_PIPES = 10

/** The combined limits of this Data Store and the other destinations of each Pipe that has several. */
export async function SharedLimits({ actor, id }: { actor: Actor; id: string }) {
  const runtime = getRuntime()
  const { data } = await listPipes(runtime, actor, { limit: 100 })
  const shared = data
    .filter(({ destinations }) => destinations.length > 1)
    .filter(({ destinations }) => destinations.some(({ dataStoreId }) => dataStoreId === id))
    .slice(0, MAX_PIPES)
  if (shared.length === 0) return null
  const described = await Promise.all(
    shared.map(async (pipe) => ({ pipe, set: await describeSet(runtime, pipe.destinations) })),
  )
  return (
    <Panel
      title="Combined limits"
      description="A file must fit the limits of every destination of its Pipe. These are the combined limits:"
    >
      <ul className="divide-y rounded-md border">
        {described.map(({ pipe, set }) => (
          <li key={pipe.id} className="space-y-2 px-3 py-2.5">
            <Link href={`/dashboard/pipes/${pipe.id}`} className="font-medium text-sm hover:underline">
              {pipe.name}
            </Link>
            <Facts facts={{ 'Largest file': largestInWords(set), Parts: partsInWords(set) }} />
          </li>
        ))}
      </ul>
    </Panel>
  )
}
