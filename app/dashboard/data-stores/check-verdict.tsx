import { ButtonLink } from '#components/ui/button-link.tsx'
import { Notice } from '#components/ui/notice.tsx'
import { IfMay } from '#components/ui/rights.tsx'
import { Time } from '#components/ui/time.tsx'
import { days } from '#lib/platform/kernel/clock.ts'
import type { DataStore } from '#lib/workspace/data-stores/data-store.ts'
import type { DataStoreState } from '#lib/workspace/data-stores/sealed-data-store.ts'

/** A bucket that was ready stays so if a later check fails, since its uploads may still succeed. */
export function CheckVerdict({ id, ok, state }: { id: string; ok: boolean; state: DataStoreState }) {
  if (state === 'off') return <TurnedOff />
  if (!ok)
    return (
      <Notice
        tone="bad"
        title={
          state === 'ready'
            ? 'Uploads still go to this bucket, but are likely to fail.'
            : 'Uploads cannot go to this bucket yet.'
        }
      >
        Fix the refused operations listed below, then check again.
      </Notice>
    )
  return (
    <Notice
      tone="good"
      title="Uploads can go to this bucket."
      action={
        <IfMay right="build">
          <ButtonLink href={`/dashboard/pipes/new?dataStore=${id}`} size="sm">
            Create a Pipe for this bucket
          </ButtonLink>
        </IfMay>
      }
    />
  )
}

export function TurnedOff() {
  return (
    <Notice
      tone="warn"
      title="Uploads cannot go to this bucket, because it is turned off."
      action={
        <ButtonLink href="/dashboard/settings/turned-off" size="sm">
          See what is turned off
        </ButtonLink>
      }
    />
  )
}

const WARN_BEFORE_MS = days(14)

/** Warns of a SAS that has expired or soon will, because uploads then fail until there is another one. */
export function SasExpiry({ sas, nowMs }: Pick<DataStore, 'sas'> & { nowMs: number }) {
  if (!sas?.expiresAt) return null
  const leftMs = Date.parse(sas.expiresAt) - nowMs
  if (leftMs > WARN_BEFORE_MS) return null
  const [tone, verb] = leftMs > 0 ? (['warn', 'expires'] as const) : (['bad', 'expired'] as const)
  return (
    <Notice
      tone={tone}
      title={
        <>
          The SAS {verb} <Time at={sas.expiresAt} />.
        </>
      }
    >
      Create another one and enter it below. Uploads in progress continue with the new one.
    </Notice>
  )
}
