import { VerifyForm } from '#components/webhooks/verify-form.tsx'
import { listPipes } from '#lib/pipes/list-pipes.ts'
import { getRuntime } from '#lib/runtime.ts'
import { currentActor } from '../../../session.ts'

export const metadata = { title: 'Verify a signature' }

export default async function Verify() {
  const pipes = await listPipes(getRuntime(), await currentActor(), { limit: 100 })
  return <VerifyForm pipes={pipes.data.map(({ id, name }) => ({ id, name }))} />
}
