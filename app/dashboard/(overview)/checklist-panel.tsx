import { Check, ChevronRight } from 'lucide-react'
import Link from 'next/link'
import { LiveRefresh } from '#components/live/live.tsx'
import type { Checklist } from '#lib/dashboard/overview/read-overview.ts'

type Step = { done: boolean; title: string; text: string; href: string }

type Props = {
  checklist: Checklist
  /** The newest Data Store, if any. */
  dataStoreId: string | undefined
  pipeId: string | undefined
  /** Marks read before the checklist, so that any later change refreshes the page. */
  seen: { files: string; deliveries: string }
}

/** The steps to the first file, checked off by what has actually happened. Each links to the page for that step. */
export function ChecklistPanel({ checklist, dataStoreId, pipeId, seen }: Props) {
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
      done: checklist.firstByte,
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
    <section aria-labelledby="checklist" className="overflow-hidden rounded-lg border bg-surface">
      <LiveRefresh topic="files" seen={seen.files} />
      <LiveRefresh topic="deliveries" seen={seen.deliveries} />
      <div className="flex items-center justify-between px-4 py-3.5">
        <h2 id="checklist" className="font-semibold text-base">
          Your first file
        </h2>
        <p className="tnum text-ink-faint text-sm">
          {steps.filter(({ done }) => done).length} of {steps.length} done
        </p>
      </div>
      <ol className="divide-y border-t">
        {steps.map(({ done, title, text, href }, index) => (
          <li key={title}>
            <Link
              href={href}
              className={`flex items-center gap-3.5 px-4 py-3 -outline-offset-2 hover:bg-hover/60 ${index === next ? 'bg-water-soft' : ''}`}
            >
              <span
                className={`grid size-6 shrink-0 place-items-center rounded-full font-medium text-xs ${done ? 'bg-good-soft text-good' : index === next ? 'bg-water text-on-water' : 'border border-line-strong text-ink-faint'}`}
              >
                {done ? <Check className="size-3.5" aria-hidden /> : index + 1}
              </span>
              <span className="min-w-0 flex-1">
                <span className={`block font-medium text-sm ${done ? 'text-ink-faint' : ''}`}>
                  {title}
                  {done && <span className="sr-only"> (done)</span>}
                </span>
                <span className="block text-ink-soft text-sm">{text}</span>
              </span>
              {!done && <ChevronRight className="size-4 text-ink-faint" aria-hidden />}
            </Link>
          </li>
        ))}
      </ol>
    </section>
  )
}
