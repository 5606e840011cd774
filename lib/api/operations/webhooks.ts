import { z } from 'zod'
import { pageAnswer } from '../../platform/db/page.ts'
import { deliveryAnswer, wholeDeliveryAnswer } from '../../webhooks/log/delivery.ts'
import { deliveryQuery, listDeliveries } from '../../webhooks/log/list-deliveries.ts'
import {
  resendDelivery,
  resendFailed,
  resendFailedAnswer,
  resendFailedInput,
} from '../../webhooks/log/resend.ts'
import { sendTestEvent } from '../../webhooks/log/send-test-event.ts'
import { showDelivery } from '../../webhooks/log/show-delivery.ts'
import { showOutput } from '../../webhooks/outputs/find-output.ts'
import {
  discardMissed,
  missedAnswer,
  sendMissed,
  sendMissedAnswer,
  sendMissedInput,
  showMissed,
} from '../../webhooks/outputs/missed-events.ts'
import { saveOutput } from '../../webhooks/outputs/save-output.ts'
import { rotateSecret } from '../../webhooks/outputs/signing-secrets.ts'
import { webhookOutputAnswer, webhookOutputInput } from '../../webhooks/outputs/webhook-output.ts'
import { operation } from '../operation.ts'

const outputs = { tag: 'Webhook outputs', problems: ['pipe_not_found', 'not_found'] as const }
const deliveries = { tag: 'Deliveries' }

export const webhookOperations = [
  operation({
    id: 'saveWebhookOutput',
    right: 'build',
    method: 'PUT',
    path: '/pipes/{id}/webhook',
    tag: outputs.tag,
    summary: 'Create or change the webhook output of a Pipe. Its secret is in the answer that creates it.',
    body: webhookOutputInput,
    status: 200,
    answer: webhookOutputAnswer.extend({ secret: z.string().optional() }),
    problems: ['pipe_not_found'],
    run: ({ runtime, who, params, body }) => saveOutput(runtime, who, params.id!, body),
  }),
  operation({
    id: 'showWebhookOutput',
    right: 'see',
    method: 'GET',
    path: '/pipes/{id}/webhook',
    tag: outputs.tag,
    summary: 'Show the webhook output of a Pipe.',
    status: 200,
    answer: webhookOutputAnswer,
    problems: [...outputs.problems],
    run: ({ runtime, who, params }) => showOutput(runtime, who, params.id!),
  }),
  operation({
    id: 'rotateWebhookSecret',
    right: 'build',
    method: 'POST',
    path: '/pipes/{id}/webhook/rotate',
    tag: outputs.tag,
    summary: 'Make a new signing secret. The one of before signs beside it for 24 hours.',
    status: 200,
    answer: webhookOutputAnswer.extend({ secret: z.string() }),
    problems: [...outputs.problems],
    run: ({ runtime, who, params }) => rotateSecret(runtime, who, params.id!),
  }),
  operation({
    id: 'sendTestEvent',
    right: 'operate',
    method: 'POST',
    path: '/pipes/{id}/webhook/test',
    tag: outputs.tag,
    summary: 'Send an event marked as a test. It goes out even while the output is off, and is tried once.',
    status: 202,
    answer: wholeDeliveryAnswer,
    problems: [...outputs.problems, 'rate_limited'],
    run: ({ runtime, who, params }) => sendTestEvent(runtime, who, params.id!),
  }),
  operation({
    id: 'showMissedEvents',
    right: 'see',
    method: 'GET',
    path: '/pipes/{id}/webhook/missed',
    tag: outputs.tag,
    summary:
      'Count the events of the last 30 days that were not sent because the output was off or did not exist.',
    status: 200,
    answer: missedAnswer,
    problems: ['pipe_not_found'],
    run: ({ runtime, who, params }) => showMissed(runtime, who, params.id!),
  }),
  operation({
    id: 'sendMissedEvents',
    right: 'operate',
    method: 'POST',
    path: '/pipes/{id}/webhook/missed/send',
    tag: outputs.tag,
    summary: 'Send the events that were not sent, the oldest first, up to 1,000 in one call.',
    body: sendMissedInput,
    status: 202,
    answer: sendMissedAnswer,
    problems: [...outputs.problems, 'conflict', 'rate_limited'],
    run: ({ runtime, who, params, body }) => sendMissed(runtime, who, params.id!, body),
  }),
  operation({
    id: 'discardMissedEvents',
    right: 'operate',
    method: 'DELETE',
    path: '/pipes/{id}/webhook/missed',
    tag: outputs.tag,
    summary: 'Discard the events that were not sent. They can no longer be sent; the files stay.',
    status: 204,
    problems: ['pipe_not_found'],
    run: ({ runtime, who, params }) => discardMissed(runtime, who, params.id!),
  }),
  operation({
    id: 'listDeliveries',
    right: 'see',
    method: 'GET',
    path: '/deliveries',
    tag: deliveries.tag,
    summary: 'List deliveries, newest first, each with its latest attempts.',
    query: deliveryQuery,
    status: 200,
    answer: pageAnswer(deliveryAnswer),
    run: async ({ runtime, who, query }) => {
      const { data, nextCursor } = await listDeliveries(runtime, who, query)
      return { data, nextCursor }
    },
  }),
  operation({
    id: 'showDelivery',
    right: 'see',
    method: 'GET',
    path: '/deliveries/{id}',
    tag: deliveries.tag,
    summary: 'Show a delivery with what was sent and answered in each attempt.',
    status: 200,
    answer: wholeDeliveryAnswer,
    problems: ['not_found'],
    run: ({ runtime, who, params }) => showDelivery(runtime, who, params.id!),
  }),
  operation({
    id: 'resendDelivery',
    right: 'operate',
    method: 'POST',
    path: '/deliveries/{id}/resend',
    tag: deliveries.tag,
    summary: 'Send an event again, at once and then on the schedule from its start.',
    status: 202,
    answer: wholeDeliveryAnswer,
    problems: ['not_found', 'conflict', 'rate_limited'],
    run: ({ runtime, who, params }) => resendDelivery(runtime, who, params.id!),
  }),
  operation({
    id: 'resendFailed',
    right: 'operate',
    method: 'POST',
    path: '/deliveries/resend-failed',
    tag: deliveries.tag,
    summary: 'Send all events again that were given up since a time, up to 10,000 in one call.',
    body: resendFailedInput,
    status: 202,
    answer: resendFailedAnswer,
    problems: ['pipe_not_found', 'rate_limited'],
    run: ({ runtime, who, body }) => resendFailed(runtime, who, body),
  }),
]
