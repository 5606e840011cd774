'use client'

import Link from 'next/link'
import { useState } from 'react'
import { formatBytes, formatPercent, plural } from '#components/format.ts'
import { useLive } from '#components/live/live.tsx'
import { Panel } from '#components/ui/panel.tsx'
import { Progress } from '#components/ui/progress.tsx'
import { Status } from '#components/ui/status.tsx'
import { TextLink } from '#components/ui/text-link.tsx'
import type { LiveUpload } from '#lib/dashboard/live.ts'

const SHOWN = 8

/** Shows the confirmed offsets live: those of one Pipe, or of all. Files that await a decision need a person instead. */
export function UploadsUnderWay({ uploads: first, pipeId }: { uploads: LiveUpload[]; pipeId?: string }) {
  const [all, setAll] = useState(first)
  useLive('uploads', false, (told) => told.uploads && setAll(told.uploads))
  const uploads = all.filter((one) => !one.awaiting && (!pipeId || one.pipeId === pipeId))
  return (
    <Panel title="In progress" flush>
      <p className="sr-only" role="status">
        {plural(uploads.length, 'upload')} in progress
      </p>
      {uploads.length === 0 ? (
        <p className="px-4 pb-4 text-ink-faint text-sm">No uploads in progress.</p>
      ) : (
        <ul className="divide-y border-t">
          {uploads
            .slice(0, SHOWN)
            .map(({ id, filename, offsetBytes, lengthBytes, status, waiting, retrying }) => (
              <li key={id}>
                <Link
                  href={`/dashboard/files/${id}`}
                  className="block px-4 py-2.5 -outline-offset-2 hover:bg-hover/60"
                >
                  <span className="flex justify-between gap-3 text-sm">
                    <span className="truncate font-medium">{filename}</span>
                    <span className="tnum flex shrink-0 items-center gap-2 text-ink-soft">
                      {retrying ? <Status state="retrying" /> : waiting && <Status state="waiting" />}
                      {status === 'transferring'
                        ? 'completing'
                        : lengthBytes === null
                          ? formatBytes(offsetBytes)
                          : `${formatPercent(offsetBytes, lengthBytes)} of ${formatBytes(lengthBytes)}`}
                    </span>
                  </span>
                  <Progress
                    value={offsetBytes}
                    max={lengthBytes ?? 0}
                    label={`Progress of ${filename}`}
                    className="mt-2"
                  />
                </Link>
              </li>
            ))}
          {uploads.length > SHOWN && (
            <li className="px-4 py-2.5 text-sm">
              <TextLink
                href={`${pipeId ? `/dashboard/pipes/${pipeId}` : '/dashboard'}/files?status=uploading`}
              >
                View all
              </TextLink>
            </li>
          )}
        </ul>
      )}
    </Panel>
  )
}
