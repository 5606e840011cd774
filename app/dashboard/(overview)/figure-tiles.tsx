import { clsx } from 'clsx'
import Link from 'next/link'
import { formatBytes, formatCount, formatDuration, formatPercent, formatUpTo } from '#components/format.ts'
import { hrefOf } from '#components/shell/pager.tsx'
import type { Figures, Range, Totals } from '#lib/dashboard/overview/read-figures.ts'
import { RANGES } from './ranges.tsx'

type Props = { figures: Figures; range: Range; pipeId: string | undefined }
type Tile = { title: string; value: string; text: string; href: string; tone?: 'bad' | 'warn' }

/** Shows at a glance whether everything works. Each figure links to the items that it counts. */
export function FigureTiles({ figures, range, pipeId }: Props) {
  return (
    <ul className="grid grid-cols-2 gap-px overflow-hidden rounded-lg border bg-line md:grid-cols-4">
      {tilesOf({ figures, range, pipeId }).map(({ title, value, text, href, tone }) => (
        <li key={title} className="bg-surface">
          <Link href={href} className="block h-full px-4 py-3 -outline-offset-2 hover:bg-hover/60">
            <span className="block text-ink-soft text-sm">{title}</span>
            <span
              className={clsx('tnum block font-semibold text-xl tracking-[-0.02em]', TONES[tone ?? 'plain'])}
            >
              {value}
            </span>
            <span className="block text-ink-faint text-xs">{text}</span>
          </Link>
        </li>
      ))}
    </ul>
  )
}

const TONES = { plain: '', bad: 'text-bad', warn: 'text-warn' } as const

function tilesOf({ figures: { total, before, medianMs, open }, range, pipeId }: Props): Tile[] {
  const within = RANGES[range].minutes
  const files = (query: Record<string, string>) => hrefOf('/dashboard/files', { ...query, pipeId })
  const webhooks = (state: string) => hrefOf('/dashboard/webhooks', { state, pipeId, within })
  const ended = total.transferred + total.lost
  const sent = total.delivered + total.undelivered
  return [
    {
      title: 'Transferred files',
      value: formatCount(total.transferred),
      text: change('transferred', total, before, range),
      href: files({ status: 'transferred', within }),
    },
    {
      title: 'Bytes of these files',
      value: formatBytes(total.bytes),
      text: change('bytes', total, before, range),
      href: files({ status: 'transferred', within, order: 'largest' }),
    },
    {
      title: 'Success rate',
      value: ended === 0 ? '–' : formatPercent(total.transferred, ended),
      text: ended === 0 ? 'no uploads ended' : `${formatCount(total.lost)} failed or expired`,
      href: files({ status: 'failed', within }),
      ...(total.lost > 0 && { tone: total.lost * 20 > ended ? 'bad' : 'warn' }),
    },
    {
      title: 'Median time',
      value: medianMs === undefined ? '–' : `≈ ${formatDuration(medianMs)}`,
      text: 'from creation to transfer',
      href: files({ status: 'transferred', within }),
    },
    {
      title: 'Webhooks delivered',
      value: formatCount(total.delivered),
      text:
        open.retrying > 0
          ? `${formatUpTo(open.retrying, open.most)} failing, will be retried`
          : sent === 0
            ? 'none were sent'
            : `${formatPercent(total.delivered, sent)} of finished deliveries`,
      href: webhooks(open.retrying > 0 ? 'pending' : 'delivered'),
      ...(open.retrying > 0 && { tone: 'warn' }),
    },
    {
      title: 'Abandoned webhooks',
      value: formatCount(total.undelivered),
      text: total.undelivered === 0 ? 'nothing to resend' : 'can be resent for 30 days',
      href: webhooks('failed'),
      ...(total.undelivered > 0 && { tone: 'bad' }),
    },
    {
      title: 'Open uploads',
      value: formatUpTo(open.uploading, open.most),
      text: 'now',
      href: files({ status: 'uploading' }),
    },
    {
      title: 'Waiting',
      value: formatUpTo(open.waiting, open.most),
      text: 'no bytes for five minutes',
      href: files({ status: 'waiting' }),
      ...(open.waiting > 0 && { tone: 'warn' }),
    },
  ]
}

function change(of: keyof Totals, total: Totals, before: Totals, range: Range): string {
  const than = range === '24h' ? 'a week ago' : 'in the previous period'
  if (before[of] === 0) return total[of] === 0 ? `none ${than} either` : `none ${than}`
  const ratio = total[of] / before[of] - 1
  if (Math.abs(ratio) < 0.005) return `as many as ${than}`
  if (ratio > 9) return `${formatCount(Math.round(ratio + 1))} times as many as ${than}`
  return `${formatCount(Math.round(Math.abs(ratio) * 100))}% ${ratio > 0 ? 'more' : 'less'} than ${than}`
}
