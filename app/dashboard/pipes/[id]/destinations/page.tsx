import { storeOptions } from '#components/data-stores/store-options.ts'
import { describeSet } from '#lib/dashboard/pipes/destination-set.ts'
import { listDataStores } from '#lib/workspace/data-stores/read-data-stores.ts'
import { listRejecting } from '#lib/workspace/data-stores/rejections.ts'
import { titledByPipe } from '../../../title-of.ts'
import { currentPipe, type PipeProps } from '../current-pipe.ts'
import { PipeDestinations } from './pipe-destinations.tsx'

export const generateMetadata = titledByPipe('Destinations')

export default async function Destinations(props: PipeProps) {
  const { runtime, actor, pipe } = await currentPipe(props, 'see')
  const [set, stores, rejecting] = await Promise.all([
    describeSet(runtime, pipe.destinations),
    listDataStores(runtime, actor, { limit: 100 }),
    listRejecting(runtime, actor),
  ])
  const others = storeOptions(stores.data, rejecting).filter(
    ({ id }) => !set.members.some(({ store }) => store.id === id),
  )
  return (
    <div className="max-w-3xl">
      <PipeDestinations pipeId={pipe.id} set={set} others={others} />
    </div>
  )
}
