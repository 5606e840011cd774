import { ButtonLink } from '#components/ui/button-link.tsx'
import { Notice } from '#components/ui/notice.tsx'
import { Status } from '#components/ui/status.tsx'
import type { DataStoreState } from '#lib/workspace/data-stores/sealed-data-store.ts'
import type { Pipe } from '#lib/workspace/pipes/pipe.ts'

type Props = { pipe: Pick<Pipe, 'source' | 'destinations'>; states: ReadonlyMap<string, DataStoreState> }

const isOpen = ({ source }: Props['pipe']) => Object.values(source).includes(true)

/** The first required Data Store that accepts no uploads. One that is off comes first, because uploads name it first. */
function findBlocking({ pipe, states }: Props): { id: string; state: 'unchecked' | 'off' } | undefined {
  const required = pipe.destinations.filter((destination) => destination.required)
  for (const state of ['off', 'unchecked'] as const) {
    const found = required.find(({ dataStoreId }) => states.get(dataStoreId) === state)
    if (found) return { id: found.dataStoreId, state }
  }
  return undefined
}

/** Whether a bucket keeps the Pipe from accepting uploads. */
export const isBlocked = (props: Props): boolean => findBlocking(props) !== undefined

/** Whether new uploads are accepted, as decided by the Pipe's sources and its required buckets. */
export function PipeState(props: Props) {
  if (!isOpen(props.pipe)) return <Status state="off" label="source off" />
  return findBlocking(props) ? <Status state="unready" /> : <Status state="on" label="accepts uploads" />
}

/** Says which bucket blocks uploads, and where to change that. */
export function BlockedNotice(props: Props) {
  const blocking = isOpen(props.pipe) && findBlocking(props)
  if (!blocking) return null
  const { id, state } = blocking
  const [title, link, href] =
    state === 'off'
      ? [
          'This Pipe rejects uploads because its Data Store is turned off.',
          'See what is turned off',
          '/dashboard/settings/turned-off',
        ]
      : [
          'This Pipe rejects uploads until its bucket passes a check.',
          'Check the bucket',
          `/dashboard/data-stores/${id}`,
        ]
  const action = (
    <ButtonLink href={href} size="sm">
      {link}
    </ButtonLink>
  )
  return <Notice tone="warn" title={title} action={action} className="mb-5" />
}
