import { ShieldCheck } from 'lucide-react'
import { ButtonLink } from '#components/ui/button-link.tsx'
import { EmptyState } from '#components/ui/empty-state.tsx'
import { getRuntime } from '#lib/platform/runtime.ts'
import { fullName, nameOutputs } from '#lib/webhooks/outputs/find-output.ts'
import { currentActor } from '../../../session.ts'
import { VerifyForm } from './form.tsx'

export const metadata = { title: 'Verify a signature' }

export default async function Verify() {
  const outputs = await nameOutputs(getRuntime(), await currentActor('see'))
  if (outputs.length === 0) {
    return (
      <EmptyState
        icon={ShieldCheck}
        title="No webhook outputs yet"
        action={
          <ButtonLink href="/dashboard/pipes" tone="primary">
            Choose a Pipe
          </ButtonLink>
        }
      >
        Each webhook output has its own signing secret. Once you have an output, you can check here which part
        of a request differs if your receiver rejects it.
      </EmptyState>
    )
  }
  return <VerifyForm outputs={outputs.map((output) => ({ id: output.id, name: fullName(output) }))} />
}
