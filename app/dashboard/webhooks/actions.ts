'use server'

import { act } from '#app/actions/act.ts'
import { textOf } from '#app/actions/form-fields.ts'
import { plural } from '#components/format.ts'
import { hours, timeAgo } from '#lib/platform/kernel/clock.ts'
import { parseInput } from '#lib/platform/kernel/parse-input.ts'
import {
  resendDeliveries,
  resendDelivery,
  resendFailed,
  resendFailedInput,
} from '#lib/webhooks/log/resend.ts'

export async function resend(deliveryId: string) {
  return act('operate', async (runtime, actor) => {
    await resendDelivery(runtime, actor, deliveryId)
    return { message: 'The event is being sent again.' }
  })
}

export async function resendAll(ids: string[]) {
  return act('operate', async (runtime, actor) => {
    const { resent, refused } = await resendDeliveries(runtime, actor, ids)
    const rest = refused.length > 0 ? ` ${plural(refused.length, 'event')} not sent: ${refused[0]}` : ''
    return { message: `${plural(resent, 'event')} sent again.${rest}` }
  })
}

export async function resendUndelivered(
  of: { pipeId?: string | undefined; outputId?: string | undefined },
  _previous: unknown,
  data: FormData,
) {
  return act('operate', data, async (runtime, actor) => {
    const since = timeAgo(runtime.clock.now(), hours(Number(textOf(data, 'hours')) || 0))
    const input = parseInput(resendFailedInput, { ...of, since, retrying: true })
    const { resent, more } = await resendFailed(runtime, actor, input)
    const rest = more ? ' There are more; resend again to continue.' : ''
    return {
      message:
        resent === 0
          ? 'Everything since then has been delivered.'
          : `${plural(resent, 'event')} sent again.${rest}`,
    }
  })
}
