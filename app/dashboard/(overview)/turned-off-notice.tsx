import { ButtonLink } from '#components/ui/button-link.tsx'
import { Notice } from '#components/ui/notice.tsx'
import { Time } from '#components/ui/time.tsx'
import { listTurnedOff } from '#lib/identity/accounts/turned-off.ts'
import type { Actor } from '#lib/identity/audit/record-audit.ts'
import { days } from '#lib/platform/kernel/clock.ts'
import { getRuntime } from '#lib/platform/runtime.ts'

/** Anything that is still off after this time is assumed to be off on purpose. */
const SHOWN_MS = days(30)

export async function TurnedOffNotice({ actor }: { actor: Actor }) {
  const runtime = getRuntime()
  const [newest] = await listTurnedOff(runtime, actor)
  if (!newest || Date.parse(newest.turnedOffAt) < runtime.clock.now() - SHOWN_MS) return null
  return (
    <div className="mb-5">
      <Notice
        tone="warn"
        title={
          <>
            Keys, Senders, webhooks and Data Stores were turned off <Time at={newest.turnedOffAt} />
          </>
        }
        action={
          <ButtonLink href="/dashboard/settings/turned-off" size="sm">
            Review them
          </ButtonLink>
        }
      >
        <p>Someone used this account before you verified its address. Switch on only what you recognize.</p>
      </Notice>
    </div>
  )
}
