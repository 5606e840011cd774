import { ButtonLink } from '#components/ui/button-link.tsx'
import { Notice } from '#components/ui/notice.tsx'
import { Time } from '#components/ui/time.tsx'
import type { Actor } from '#lib/identity/audit/record-audit.ts'
import { getRuntime } from '#lib/platform/runtime.ts'
import { ALERT_WORDS, listOpenAlerts } from '#lib/workspace/notices/alerts.ts'

const CALM = ['quota_80', 'token_unused']

/** Alerts an owner should see and has not muted. A Data Store that rejects uploads has its own banner. */
export async function AlertNotices({ actor }: { actor: Actor }) {
  const alerts = (await listOpenAlerts(getRuntime(), actor)).filter(({ kind }) => kind !== 'bucket_rejects')
  if (alerts.length === 0) return null
  return (
    <section aria-label="Alerts" className="mb-5 space-y-3">
      {alerts.map((alert) => (
        <Notice
          key={alert.id}
          tone={CALM.includes(alert.kind) ? 'warn' : 'bad'}
          title={
            <>
              {ALERT_WORDS[alert.kind].raised(alert)}, <Time at={alert.raisedAt} />
            </>
          }
          action={
            <ButtonLink href={ALERT_WORDS[alert.kind].path(alert)} size="sm">
              Open
            </ButtonLink>
          }
        >
          {alert.detail && <p className="break-words">{alert.detail}</p>}
          <p>{ALERT_WORDS[alert.kind].advice}</p>
        </Notice>
      ))}
    </section>
  )
}
