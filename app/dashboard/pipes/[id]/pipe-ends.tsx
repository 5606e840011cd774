import Link from 'next/link'
import type { ReactNode } from 'react'
import { DataStoreState } from '#components/data-stores/data-store-state.tsx'
import { Panel } from '#components/ui/panel.tsx'
import { Status } from '#components/ui/status.tsx'
import type { DestinationSet } from '#lib/dashboard/pipes/destination-set.ts'
import type { WebhookOutput } from '#lib/webhooks/outputs/webhook-output.ts'
import type { Pipe } from '#lib/workspace/pipes/pipe.ts'

type Props = { pipe: Pipe; set: DestinationSet; outputs: WebhookOutput[] }
type End = { href: string; name: string; state: ReactNode }

const SOURCES = { http: 'HTTP (TUS)', url: 'URL', sftp: 'SFTP', ftps: 'FTPS', ftp: 'FTP' } as const

/** What files come from and go to, with the state of each and the page where it is changed. */
export function PipeEnds({ pipe: { id, source }, set, outputs }: Props) {
  const at = `/dashboard/pipes/${id}`
  const sources = Object.entries(SOURCES).map(([kind, name]) => ({
    href: `${at}/sources`,
    name,
    state: <Status state={source[kind as keyof typeof SOURCES] ? 'on' : 'off'} />,
  }))
  const stores = set.members.map(({ store, state }) => ({
    href: `/dashboard/data-stores/${store.id}`,
    name: store.name,
    state: <DataStoreState check={store.check} state={state} />,
  }))
  const webhooks = outputs.map(({ id, url, enabled, failingSince }) => ({
    href: `/dashboard/webhooks/outputs/${id}`,
    name: new URL(url).host,
    state: <Status state={enabled ? (failingSince ? 'failing' : 'on') : 'off'} />,
  }))
  const none = { href: `${at}/webhooks`, name: 'Set up a webhook', state: <Status state="off" /> }
  return (
    <Panel title="From and to" flush>
      <Ends title="Sources" ends={sources} />
      <Ends title="Destinations" ends={stores} />
      <Ends title="Signed webhooks" ends={webhooks.length > 0 ? webhooks : [none]} />
    </Panel>
  )
}

function Ends({ title, ends }: { title: string; ends: End[] }) {
  return (
    <section aria-label={title} className="border-t py-2">
      <h3 className="px-4 py-1 text-ink-faint text-xs">{title}</h3>
      <ul>
        {ends.map(({ href, name, state }) => (
          <li key={href + name}>
            <Link
              href={href}
              className="flex items-center justify-between gap-3 px-4 py-1.5 text-sm -outline-offset-2 hover:bg-hover/60"
            >
              <span className="truncate">{name}</span>
              {state}
            </Link>
          </li>
        ))}
      </ul>
    </section>
  )
}
