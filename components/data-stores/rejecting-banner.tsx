import type { Actor } from '#lib/identity/audit/record-audit.ts'
import { getRuntime } from '#lib/platform/runtime.ts'
import { listRejecting } from '#lib/workspace/data-stores/rejections.ts'
import { ButtonLink } from '../ui/button-link.tsx'
import { Notice } from '../ui/notice.tsx'
import { Time } from '../ui/time.tsx'

type Props = {
  actor: Actor
  /** Limits the banner to these Data Stores. */
  only?: readonly string[]
  /** Whether the banner is on the Data Store's own page, which shows the check. */
  here?: boolean
}

/** Shows which Data Stores reject uploads, since when, the bucket's error, and how to fix it. */
export async function RejectingBanner({ actor, only, here = false }: Props) {
  const rejecting = (await listRejecting(getRuntime(), actor)).filter(({ id }) => !only || only.includes(id))
  if (rejecting.length === 0) return null
  return (
    <div className="mb-5 space-y-3" role="alert">
      {rejecting.map(({ id, name, since, reason }) => (
        <Notice
          key={id}
          tone="bad"
          title={
            <>
              {name} started rejecting uploads <Time at={since} />
            </>
          }
          action={
            here ? undefined : (
              <ButtonLink href={`/dashboard/data-stores/${id}`} size="sm">
                Check the bucket
              </ButtonLink>
            )
          }
        >
          <p className="break-words">{reason}</p>
          <p>
            Uploads wait and keep the bytes that have arrived. Fix the bucket or its keys, then run the check.
            This notice also disappears within a minute of a successful upload.
          </p>
        </Notice>
      ))}
    </div>
  )
}
