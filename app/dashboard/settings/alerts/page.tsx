import Link from 'next/link'
import { ActionForm } from '#components/ui/action-form.tsx'
import { Panel } from '#components/ui/panel.tsx'
import { Status } from '#components/ui/status.tsx'
import { type Column, Table, Th } from '#components/ui/table.tsx'
import { Time } from '#components/ui/time.tsx'
import { getRuntime } from '#lib/platform/runtime.ts'
import { ALERT_KINDS, ALERT_WORDS, listAlerts, readAlertSettings } from '#lib/workspace/notices/alerts.ts'
import { currentActor } from '../../../session.ts'
import { saveAlerts } from './actions.ts'

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
      <ActionForm right="build" action={saveAlerts} submit="Save" submitTone="plain">
        <Table
          caption="Alerts"
          rows={kinds}
          rowKey={({ kind }) => kind}
          columns={[
            ['Alert', ({ name }) => name, { className: 'whitespace-normal py-1.5 font-medium' }],
            wayColumn('mail', 'Email'),
            wayColumn('notice', 'Notice'),
          ]}
        />
      </ActionForm>
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

type Kind = { kind: string; name: string; mail: boolean; notice: boolean }

function wayColumn(way: 'mail' | 'notice', title: string): Column<Kind> {
  return [
    title,
    ({ kind, name, [way]: wanted }) => (
      <input
        type="checkbox"
        name="wanted"
        value={`${way}:${kind}`}
        defaultChecked={wanted}
        aria-label={`${title}: ${name}`}
        className="size-4 accent-water align-middle"
      />
    ),
    { head: <Th className="w-20">{title}</Th> },
  ]
}
