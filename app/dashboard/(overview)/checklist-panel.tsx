import { clsx } from 'clsx'
import { Check } from 'lucide-react'
import Link from 'next/link'
import { Panel } from '#components/ui/panel.tsx'
import type { Checklist } from '#lib/dashboard/overview/read-overview.ts'

type Step = { done: boolean; title: string; text: string; href: string }

type Props = {
  checklist: Checklist
  /** The newest Data Store, if any. */
  dataStoreId: string | undefined
  pipeId: string | undefined
}

/** The steps to the first file, checked off by what has actually happened. Each links to the page for that step. */
export function ChecklistPanel({ checklist, dataStoreId, pipeId }: Props) {
  const pipe = pipeId ? `/dashboard/pipes/${pipeId}` : '/dashboard/pipes/new'
  const steps: Step[] = [
    {
      done: checklist.bucketTakesFiles,
      title: dataStoreId ? 'Check your bucket' : 'Connect a bucket',
      text: 'A Data Store that has passed its check or received a file.',
      href: `/dashboard/data-stores/${dataStoreId ?? 'new'}`,
    },
    {
      done: checklist.pipeOn,
      title: 'Create a Pipe',
      text: 'With its HTTP (TUS) source switched on, it has an upload endpoint.',
      href: pipe,
    },
    {
      done: checklist.senderCreated,
      title: 'Create a Sender',
      text: 'Your backend uses it to request upload tokens.',
      href: '/dashboard/senders?new=1',
    },
    {
      done: checklist.fileArrived,
      title: 'Upload a file',
      text: 'From your page, or here with “Try it”.',
      href: pipeId ? `${pipe}/try` : pipe,
    },
    {
      done: checklist.webhookDelivered,
      title: 'Receive a webhook',
      text: 'In your backend, or in the built-in inbox.',
      href: pipe,
    },
  ]
  const next = steps.findIndex(({ done }) => !done)
  return (
    <Panel
      title="Your first file"
      aside={
        <p className="tnum text-ink-faint text-sm">
          {steps.filter(({ done }) => done).length} of {steps.length} done
        </p>
      }
      flush
    >
      <ol className="grid gap-px border-t bg-line md:grid-cols-5">
        {steps.map(({ done, title, text, href }, index) => (
          <li key={title} className={index === next ? 'bg-water-soft' : 'bg-surface'}>
            <Link href={href} className="block h-full px-4 py-3 text-sm -outline-offset-2 hover:bg-hover/60">
              <span className={clsx('flex items-center gap-1.5 font-medium', done && 'text-ink-faint')}>
                {done && <Check className="size-4 text-good" aria-label="Done:" />}
                {title}
              </span>
              {!done && <span className="block text-ink-soft">{text}</span>}
            </Link>
          </li>
        ))}
      </ol>
    </Panel>
  )
}
