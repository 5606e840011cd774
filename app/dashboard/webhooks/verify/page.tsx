import { ShieldCheck } from 'lucide-react'
import { ButtonLink } from '#components/ui/button-link.tsx'
import { EmptyState } from '#components/ui/empty-state.tsx'
import { VerifyForm } from '#components/webhooks/verify-form.tsx'
import { getRuntime } from '#lib/platform/runtime.ts'
import { listPipes } from '#lib/workspace/pipes/read-pipes.ts'
import { currentActor } from '../../../session.ts'

export const metadata = { title: 'Verify a signature' }

export default async function Verify() {
  const { data } = await listPipes(getRuntime(), await currentActor('see'), { limit: 100 })
  if (data.length === 0) {
    return (
      <EmptyState
        icon={ShieldCheck}
        title="Create a Pipe first"
        action={
          <ButtonLink href="/dashboard/pipes/new" tone="primary">
            Create a Pipe
          </ButtonLink>
        }
      >
        Each Pipe signs its webhooks with a secret of its own. Paste one here to see which part of it differs.
      </EmptyState>
    )
  }
  return <VerifyForm pipes={data.map(({ id, name }) => ({ id, name }))} />
}
