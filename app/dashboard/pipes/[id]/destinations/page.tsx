import Link from 'next/link'
import { DataStoreState } from '#components/data-stores/data-store-state.tsx'
import { storeOptions } from '#components/data-stores/store-options.ts'
import { formatBytes, formatCount } from '#components/format.ts'
import { largestInWords, partsInWords, repairInWords } from '#components/pipes/limits-in-words.ts'
import { ActionForm } from '#components/ui/action-form.tsx'
import { Facts } from '#components/ui/facts.tsx'
import { CheckField, SelectField } from '#components/ui/field.tsx'
import { IfMay } from '#components/ui/rights.tsx'
import { Status } from '#components/ui/status.tsx'
import { Summary } from '#components/ui/summary.tsx'
import { TextLink } from '#components/ui/text-link.tsx'
import { type DestinationSet, describeSet } from '#lib/dashboard/pipes/destination-set.ts'
import { PRESETS, unfinishedLimit } from '#lib/workspace/data-stores/presets.ts'
import { listDataStores } from '#lib/workspace/data-stores/read-data-stores.ts'
import { listRejecting } from '#lib/workspace/data-stores/rejections.ts'
import { titledByPipe } from '../../../title-of.ts'
import { addDestination } from '../actions.ts'
import { currentPipe, type PipeProps } from '../current-pipe.ts'
import { DestinationButtons } from './destination-buttons.tsx'

const MOST = 5
const EXAMPLE_BYTES = 1e9

export const generateMetadata = titledByPipe('Destinations')

/** A Pipe's destinations in order, with the cost of each and their combined limits. */
export default async function Destinations(props: PipeProps) {
  const { runtime, actor, pipe } = await currentPipe(props, 'see')
  const [set, stores, rejecting] = await Promise.all([
    describeSet(runtime, pipe.destinations),
    listDataStores(runtime, actor, { limit: 100 }),
    listRejecting(runtime, actor),
  ])
  const { members } = set
  const others = storeOptions(stores.data, rejecting).filter(
    ({ id }) => !members.some(({ store }) => store.id === id),
  )
  const required = members.filter((member) => member.required).length
  return (
    <div className="max-w-3xl rounded-lg border bg-surface">
      <ol aria-label="Destinations" className="divide-y">
        {members.map((member, n) => (
          <li key={member.store.id} className="space-y-3 p-4">
            <Destination member={member} number={n + 1} alone={members.length === 1} />
            {members.length > 1 && (
              <IfMay right="build">
                <DestinationButtons
                  pipeId={pipe.id}
                  store={{ id: member.store.id, name: member.store.name }}
                  required={member.required}
                  position={n}
                  isFirst={n === 0}
                  isLast={n === members.length - 1}
                  isNeeded={member.required && required === 1}
                />
              </IfMay>
            )}
          </li>
        ))}
      </ol>
      <div className="space-y-4 border-t p-4">
        <p className="text-ink-soft text-sm">{costOf(set)}</p>
        {members.length > 1 && <InCommon set={set} />}
        {members.length < MOST && (
          <IfMay right="build">
            <Add pipeId={pipe.id} others={others} />
          </IfMay>
        )}
      </div>
    </div>
  )
}

type DestinationProps = { member: DestinationSet['members'][number]; number: number; alone: boolean }

function Destination({ member: { store, required, state }, number, alone }: DestinationProps) {
  const limit = unfinishedLimit(store.provider)
  return (
    <div className="flex gap-3">
      {!alone && (
        <span className="tnum mt-0.5 w-4 text-ink-faint text-sm" aria-hidden>
          {number}
        </span>
      )}
      <div className="min-w-0 flex-1">
        <p className="flex flex-wrap items-center gap-2 font-medium text-sm">
          <Link href={`/dashboard/data-stores/${store.id}`} className="break-words hover:underline">
            {store.name}
          </Link>
          <DataStoreState check={store.check} state={state} />
          {!alone && <Status state={required ? 'required' : 'best_effort'} />}
        </p>
        <p className="mt-0.5 truncate text-ink-faint text-sm">
          {PRESETS[store.provider].label}, bucket <span className="font-mono text-xs">{store.bucket}</span>
        </p>
        {limit && <p className="mt-2 text-ink-soft text-sm">{limit}</p>}
      </div>
    </div>
  )
}

function costOf({ members, requestsFor }: DestinationSet): string {
  const each = requestsFor(EXAMPLE_BYTES)
  const example = formatBytes(EXAMPLE_BYTES)
  if (members.length === 1)
    return `A ${example} file needs ${formatCount(each)} requests to the bucket; a small file needs one.`
  return `A ${example} file needs ${formatCount(each)} requests to each destination, ${formatCount(
    each * members.length,
  )} in all; a small file needs one to each.`
}

function InCommon({ set }: { set: DestinationSet }) {
  const isBestEffort = set.members.some(({ required }) => !required)
  return (
    <Facts
      facts={{
        'Largest file': largestInWords(set),
        Parts: partsInWords(set),
        Repair: isBestEffort ? repairInWords(set) : undefined,
      }}
    />
  )
}

type AddProps = { pipeId: string; others: { id: string; label: string }[] }

function Add({ pipeId, others }: AddProps) {
  return (
    <details className="group">
      <Summary>Add a destination</Summary>
      {others.length === 0 ? (
        <p className="mt-3 text-ink-soft text-sm">
          Each destination is a Data Store.{' '}
          <TextLink href="/dashboard/data-stores/new">Connect another bucket</TextLink> first.
        </p>
      ) : (
        <ActionForm
          action={addDestination.bind(null, pipeId)}
          submit="Add"
          submitTone="plain"
          className="mt-3 flex max-w-md flex-col gap-3"
        >
          <SelectField
            name="dataStoreId"
            label="Data Store"
            options={others.map(({ id, label }) => [id, label])}
          />
          <CheckField
            name="required"
            label="Required"
            hint="If this is selected, uploads are only as fast as the slowest required bucket, and fail if this bucket rejects them. Otherwise, the destination is best effort: it never delays or fails an upload, and missing objects are copied to it later."
          />
        </ActionForm>
      )}
    </details>
  )
}
