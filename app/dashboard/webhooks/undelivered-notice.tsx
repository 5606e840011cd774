import { formatUpTo } from '#components/format.ts'
import { Notice } from '#components/ui/notice.tsx'
import { IfMay } from '#components/ui/rights.tsx'
import { Countdown } from '#components/ui/time.tsx'
import type { Undelivered } from '#lib/webhooks/log/list-deliveries.ts'
import { ResendUndelivered } from './resend-forms.tsx'

type Props = {
  undelivered: Undelivered
  of: { pipeId?: string | undefined; outputId?: string | undefined }
  /** Whether the user opened the page to resend events. */
  asked: boolean
}

/** Also shows events that are being retried: they have not failed yet, but must be visible. */
export function UndeliveredNotice({ undelivered, of, asked }: Props) {
  const { retrying, failed, nextAt, most } = undelivered
  if (retrying + failed === 0) {
    if (!asked) return null
    return (
      <Notice tone="good" className="mb-4">
        Nothing to resend: no events have failed or are being retried.
      </Notice>
    )
  }
  const parts = [
    retrying > 0 && `${formatUpTo(retrying, most)} retrying`,
    failed > 0 && `${formatUpTo(failed, most)} failed`,
  ]
  return (
    <Notice
      tone={retrying > 0 ? 'warn' : 'bad'}
      className="mb-4"
      title={
        <>
          {parts.filter(Boolean).join(', ')}
          {nextAt && (
            <>
              , next attempt <Countdown at={nextAt.toISOString()} />
            </>
          )}
        </>
      }
      action={
        <IfMay right="operate">
          <ResendUndelivered of={of} asked={asked} />
        </IfMay>
      }
    >
      These events were sent but not accepted. The list shows the responses.
    </Notice>
  )
}
