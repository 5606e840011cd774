'use server'

import { plural } from '#components/format.ts'
import { hours, timeAgo } from '#lib/platform/kernel/clock.ts'
import { parseInput } from '#lib/platform/kernel/parse-input.ts'
import {
  resendDeliveries,
  resendDelivery,
  resendFailed,
  resendFailedInput,
} from '#lib/webhooks/log/resend.ts'
import { sendTestEvent } from '#lib/webhooks/log/send-test-event.ts'
import { discardMissed, sendMissed } from '#lib/webhooks/outputs/missed-events.ts'
import { saveOutput } from '#lib/webhooks/outputs/save-output.ts'
import { revealSecret, rotateSecret } from '#lib/webhooks/outputs/signing-secrets.ts'
import { webhookOutputInput } from '#lib/webhooks/outputs/webhook-output.ts'
import { act } from '../../actions/act.ts'
import { textOf } from '../../actions/form-fields.ts'

type Secret = { secret: string }

/** The first saving makes the output, and answers its secret. */
export async function saveWebhook(pipeId: string, _previous: unknown, data: FormData) {
  return act<Partial<Secret>>('build', async (runtime, actor) => {
    const given = {
      url: textOf(data, 'url') ?? '',
      enabled: data.get('enabled') !== 'off',
      statuses: data.getAll('statuses').map(String),
    }
    const { secret } = await saveOutput(runtime, actor, pipeId, parseInput(webhookOutputInput, given))
    return { message: 'Saved.', data: secret ? { secret } : {} }
  })
}

export async function switchWebhook(
  pipeId: string,
  url: string,
  statuses: string[],
  _previous: unknown,
  data: FormData,
) {
  const enabled = data.get('on') === 'on'
  return act('build', async (runtime, actor) => {
    await saveOutput(runtime, actor, pipeId, parseInput(webhookOutputInput, { url, statuses, enabled }))
    return { message: enabled ? 'The webhook is on.' : 'The webhook is off.' }
  })
}

export async function reveal(pipeId: string) {
  return act<Secret>('build', async (runtime, actor) => ({
    data: { secret: await revealSecret(runtime, actor, pipeId) },
  }))
}

export async function rotate(pipeId: string) {
  return act<Secret>('build', async (runtime, actor) => {
    const { secret } = await rotateSecret(runtime, actor, pipeId)
    return { data: { secret } }
  })
}

export async function sendTest(pipeId: string) {
  return act<{ deliveryId: string }>('operate', async (runtime, actor) => {
    const { id } = await sendTestEvent(runtime, actor, pipeId)
    return { data: { deliveryId: id } }
  })
}

export async function sendMissedEvents(pipeId: string) {
  return act('operate', async (runtime, actor) => {
    const { sent, more } = await sendMissed(runtime, actor, pipeId, {})
    const rest = more ? ' There are more: send them, too.' : ''
    return {
      message: sent === 0 ? 'There is nothing left to send.' : `${plural(sent, 'event')} sent.${rest}`,
    }
  })
}

export async function discardMissedEvents(pipeId: string) {
  return act('operate', async (runtime, actor) => {
    await discardMissed(runtime, actor, pipeId)
    return { message: 'Discarded.' }
  })
}

export async function resend(deliveryId: string) {
  return act('operate', async (runtime, actor) => {
    await resendDelivery(runtime, actor, deliveryId)
    return { message: 'It is being sent now.' }
  })
}

export async function resendAll(ids: string[]) {
  return act('operate', async (runtime, actor) => {
    const { resent, refused } = await resendDeliveries(runtime, actor, ids)
    const rest = refused.length > 0 ? ` ${plural(refused.length, 'event')} not: ${refused[0]}` : ''
    return { message: `${plural(resent, 'event')} sent again.${rest}` }
  })
}

export async function resendUndelivered(pipeId: string | undefined, _previous: unknown, data: FormData) {
  return act('operate', async (runtime, actor) => {
    const since = timeAgo(runtime.clock.now(), hours(Number(textOf(data, 'hours')) || 0))
    const input = parseInput(resendFailedInput, { since, retrying: true, ...(pipeId && { pipeId }) })
    const { resent, more } = await resendFailed(runtime, actor, input)
    const rest = more ? ' There are more: resend again.' : ''
    return {
      message:
        resent === 0
          ? 'Everything since then was delivered.'
          : `${plural(resent, 'event')} sent again.${rest}`,
    }
  })
}
