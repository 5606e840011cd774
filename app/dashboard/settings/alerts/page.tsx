import Link from 'next/link'
import { Panel } from '#components/ui/panel.tsx'
import { Status } from '#components/ui/status.tsx'
import { Time } from '#components/ui/time.tsx'
import { getRuntime } from '#lib/platform/runtime.ts'
import { ALERT_KINDS, ALERT_WORDS, listAlerts, readAlertSettings } from '#lib/workspace/notices/alerts.ts'
import { currentActor } from '../../../session.ts'
import { AlertsForm } from './form.tsx'

export const metadata = { title: 'Alerts' }

export default async function Alerts() {
  const actor = await currentActor('see')
  const [settings, latest] = await Promise.all([
    readAlertSettings(getRuntime(), actor),
    listAlerts(getRuntime(), actor),
  ])
  const kinds = ALERT_KINDS.map((kind) => ({ kind, name: ALERT_WORDS[kind].name, ...settings[kind] }))
  return (
    <>
      <p className="mb-3 max-w-2xl text-ink-soft text-sm">
        Each alert is reported once when it starts and once when it is resolved: by email to the workspace's
        members, and as a notice on the Overview.
      </p>
      <AlertsForm kinds={kinds} />
      <Panel title="Latest alerts" className="mt-5" flush>
        {latest.length === 0 ? (
          <p className="px-4 pb-4 text-ink-faint text-sm">No alerts yet.</p>
        ) : (
          <ul className="divide-y border-t">
            {latest.map((alert) => (
              <li key={alert.id}>
                <Link
                  href={ALERT_WORDS[alert.kind].path(alert)}
                  className="flex flex-wrap items-center gap-x-3 gap-y-1 px-4 py-2.5 text-sm -outline-offset-2 hover:bg-hover/60"
                >
                  <Status state={alert.clearedAt ? 'cleared' : 'problem'} />
                  <span className="min-w-0 flex-1 font-medium max-sm:basis-full max-sm:order-first sm:truncate">
                    {ALERT_WORDS[alert.kind].raised(alert)}
                  </span>
                  <span className="text-ink-faint text-xs">
                    <Time at={alert.raisedAt} />
                    {alert.clearedAt && (
                      <>
                        , resolved <Time at={alert.clearedAt} />
                      </>
                    )}
                  </span>
                </Link>
              </li>
            ))}
          </ul>
        )}
      </Panel>
    </>
  )
}
