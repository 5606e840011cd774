import type { Sender } from '#lib/workspace/senders/sender.ts'
import { Status } from '../ui/status.tsx'

export function SenderState({ sender }: { sender: Sender }) {
  if (sender.revokedAt) return <Status state="revoked" />
  if (sender.exposedAt) return <Status state="exposed" label="seen in a browser" />
  return <Status state="active" />
}
