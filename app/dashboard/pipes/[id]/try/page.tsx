import { KeySquare, ToggleLeft } from 'lucide-react'
import { ButtonLink } from '#components/ui/button-link.tsx'
import { EmptyState } from '#components/ui/empty-state.tsx'
import { LazyTryIt } from '#components/uploader/lazy-try-it.tsx'
import { showPipe } from '#lib/pipes/show-pipe.ts'
import { getRuntime } from '#lib/runtime.ts'
import { listSenders } from '#lib/senders/list-senders.ts'
import { currentActor } from '../../../../session.ts'
import { orNotFound } from '../../../or-not-found.ts'

export const metadata = { title: 'Try it' }

export default async function Try({ params }: { params: Promise<{ id: string }> }) {
  const { id } = await params
  const actor = await currentActor()
  const pipe = await orNotFound(showPipe(getRuntime(), actor, id))
  const senders = await listSenders(getRuntime(), actor, { limit: 100 })
  if (!pipe.source.http) {
    return (
      <EmptyState
        icon={ToggleLeft}
        title="The source is off"
        action={
          <ButtonLink href={`/dashboard/pipes/${id}`} tone="primary">
            Inputs and outputs
          </ButtonLink>
        }
      >
        Switch on the HTTP (TUS) source of this Pipe, then upload to it here.
      </EmptyState>
    )
  }
  if (!senders.data.some(({ revokedAt }) => !revokedAt)) {
    return (
      <EmptyState
        icon={KeySquare}
        title="A Sender comes first"
        action={
          <ButtonLink href="/dashboard/senders?new=1" tone="primary">
            Create a Sender
          </ButtonLink>
        }
      >
        Upload tokens are issued in the name of a Sender. Create one, then upload here.
      </EmptyState>
    )
  }
  return <LazyTryIt pipeId={id} endpoint={pipe.uploadUrl} />
}
