'use server'

import { redirect } from 'next/navigation'
import { act } from '#app/actions/act.ts'
import { plural } from '#components/format.ts'
import { parseInput } from '#lib/platform/kernel/parse-input.ts'
import { sendTestEvent } from '#lib/webhooks/log/send-test-event.ts'
import { deleteOutput } from '#lib/webhooks/outputs/end-output.ts'
import { discardMissed, sendMissed } from '#lib/webhooks/outputs/missed-events.ts'
import { changeOutput, createOutput } from '#lib/webhooks/outputs/save-output.ts'
import { revealSecret, rotateSecret } from '#lib/webhooks/outputs/signing-secrets.ts'
import { outputChanges, outputInput } from '#lib/webhooks/outputs/webhook-output.ts'
import { outputFields } from './output-fields.ts'

type Secret = { secret: string }

/** Creates an output for a Pipe or, without one, for the workspace, and returns its secret. */
export async function createWebhook(pipeId: string | null, _previous: unknown, data: FormData) {
  return act<Secret & { id: string }>('build', data, async (runtime, actor) => {
    const input = parseInput(outputInput, { ...outputFields(data), enabled: true })
    const { id, secret } = await createOutput(runtime, actor, { pipeId: pipeId ?? undefined }, input)
    return { message: 'Saved.', data: { id, secret } }
  })
}

export async function saveWebhook(outputId: string, _previous: unknown, data: FormData) {
  return act('build', data, async (runtime, actor) => {
    await changeOutput(runtime, actor, { outputId }, parseInput(outputChanges, outputFields(data)))
    return { message: 'Saved.' }
  })
}

export async function switchWebhook(outputId: string, _previous: unknown, data: FormData) {
  const enabled = data.get('on') === 'on'
  return act('build', data, async (runtime, actor) => {
    await changeOutput(runtime, actor, { outputId }, { enabled })
    return { message: enabled ? 'The webhook is on.' : 'The webhook is off.' }
  })
}

/** Deletes the output, then redirects to the page that listed it. */
export async function deleteWebhook(outputId: string, pipeId: string | null) {
  const answer = await act('build', (runtime, actor) =>
    deleteOutput(runtime, actor, outputId).then(() => undefined),
  )
  if (answer.status !== 'done') return answer
  redirect(pipeId ? `/dashboard/pipes/${encodeURIComponent(pipeId)}/webhooks` : '/dashboard/settings/outputs')
}

export async function reveal(outputId: string) {
  return act<Secret>('build', async (runtime, actor) => ({
    data: { secret: await revealSecret(runtime, actor, { outputId }) },
  }))
}

export async function rotate(outputId: string) {
  return act<Secret>('build', async (runtime, actor) => {
    const { secret } = await rotateSecret(runtime, actor, { outputId })
    return { data: { secret } }
  })
}

export async function sendTest(outputId: string) {
  return act<{ deliveryId: string }>('operate', async (runtime, actor) => {
    const { id } = await sendTestEvent(runtime, actor, { outputId })
    return { data: { deliveryId: id } }
  })
}

export async function sendMissedEvents(outputId: string) {
  return act('operate', async (runtime, actor) => {
    const { sent, more } = await sendMissed(runtime, actor, { outputId }, {})
    const rest = more ? ' There are more; send again to continue.' : ''
    return {
      message: sent === 0 ? 'There is nothing left to send.' : `${plural(sent, 'event')} sent.${rest}`,
    }
  })
}

/** Discards the events that an output missed, or that were not sent because a Pipe had no output. */
export async function discardMissedEvents(outputId: string | null, pipeId: string | null) {
  return act('operate', async (runtime, actor) => {
    await discardMissed(runtime, actor, outputId ? { outputId } : { firstOf: pipeId ?? '' })
    return { message: 'Discarded.' }
  })
}
