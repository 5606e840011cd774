import { z } from 'zod'
import { wholeDeliveryAnswer } from '../../webhooks/log/delivery.ts'
import { sendTestEvent, testEventInput } from '../../webhooks/log/send-test-event.ts'
import { deleteOutput } from '../../webhooks/outputs/end-output.ts'
import { listOutputs, showOutput } from '../../webhooks/outputs/find-output.ts'
import {
  discardMissed,
  missedAnswer,
  sendMissed,
  sendMissedAnswer,
  sendMissedInput,
  showMissed,
} from '../../webhooks/outputs/missed-events.ts'
import { changeOutput, createOutput, saveOutput } from '../../webhooks/outputs/save-output.ts'
import { rotateSecret } from '../../webhooks/outputs/signing-secrets.ts'
import {
  outputChanges,
  outputInput,
  webhookOutputAnswer,
  webhookOutputInput,
} from '../../webhooks/outputs/webhook-output.ts'
import { operationsOf } from '../operation.ts'

const { operation } = operationsOf('Webhook outputs')
const { operation: firstOutput } = operationsOf('Pipe webhook')
const problems = ['pipe_not_found', 'not_found'] as const
const withSecret = webhookOutputAnswer.extend({ secret: z.string() })
const list = z.strictObject({ data: z.array(webhookOutputAnswer) })

/** Operations on outputs of Pipes and of the workspace, which are identified by their own ids. */
export const outputOperations = [
  operation('POST /outputs', {
    id: 'createOutput',
    right: 'build',
    summary:
      'Create a webhook output that receives events from all Pipes. A workspace can have up to five. The response contains its secret.',
    body: outputInput,
    status: 201,
    answer: withSecret,
    problems: ['conflict'],
    run: ({ runtime, who, body }) => createOutput(runtime, who, {}, body),
  }),
  operation('GET /outputs', {
    id: 'listOutputs',
    right: 'see',
    summary: 'List the webhook outputs that receive events from all Pipes, oldest first.',
    answer: list,
    run: async ({ runtime, who }) => ({ data: await listOutputs(runtime, who, {}) }),
  }),
  operation('POST /pipes/{id}/outputs', {
    id: 'createPipeOutput',
    right: 'build',
    summary:
      'Create a webhook output for a Pipe, which can have up to five. The response contains its secret.',
    body: outputInput,
    status: 201,
    answer: withSecret,
    problems: ['pipe_not_found', 'conflict'],
    run: ({ runtime, who, params, body }) => createOutput(runtime, who, { pipeId: params.id! }, body),
  }),
  operation('GET /pipes/{id}/outputs', {
    id: 'listPipeOutputs',
    right: 'see',
    summary:
      "List a Pipe's webhook outputs, oldest first. The first is also available at `/pipes/{id}/webhook`.",
    answer: list,
    problems: ['pipe_not_found'],
    run: async ({ runtime, who, params }) => ({
      data: await listOutputs(runtime, who, { pipeId: params.id! }),
    }),
  }),
  operation('GET /outputs/{id}', {
    id: 'showOutput',
    right: 'see',
    summary: 'Show a webhook output of a Pipe or the workspace.',
    answer: webhookOutputAnswer,
    problems: ['not_found'],
    run: ({ runtime, who, params }) => showOutput(runtime, who, { outputId: params.id! }),
  }),
  operation('PATCH /outputs/{id}', {
    id: 'changeOutput',
    right: 'build',
    summary: 'Change a webhook output. Omitted fields stay unchanged.',
    body: outputChanges,
    answer: webhookOutputAnswer,
    problems: ['not_found'],
    run: ({ runtime, who, params, body }) => changeOutput(runtime, who, { outputId: params.id! }, body),
  }),
  operation('DELETE /outputs/{id}', {
    id: 'deleteOutput',
    right: 'build',
    summary: 'Delete a webhook output. Unsent events are dropped; its log stays.',
    status: 204,
    problems: ['not_found'],
    run: ({ runtime, who, params }) => deleteOutput(runtime, who, params.id!),
  }),
  operation('POST /outputs/{id}/rotate', {
    id: 'rotateOutputSecret',
    right: 'build',
    summary: 'Rotate the signing secret. For 24 hours, webhooks are also signed with the previous one.',
    answer: withSecret,
    problems: ['not_found'],
    run: ({ runtime, who, params }) => rotateSecret(runtime, who, { outputId: params.id! }),
  }),
  operation('POST /outputs/{id}/test', {
    id: 'testOutput',
    right: 'operate',
    summary:
      'Send an event of any kind, marked as a test, even while the output is off. Only one attempt is made.',
    body: testEventInput,
    status: 202,
    answer: wholeDeliveryAnswer,
    problems: ['not_found', 'rate_limited'],
    run: ({ runtime, who, params, body }) => sendTestEvent(runtime, who, { outputId: params.id! }, body),
  }),
  operation('GET /outputs/{id}/missed', {
    id: 'showMissedOfOutput',
    right: 'see',
    summary: 'Count the events from the last 30 days that were not sent to this output because it was off.',
    answer: missedAnswer,
    problems: ['not_found'],
    run: ({ runtime, who, params }) => showMissed(runtime, who, { outputId: params.id! }),
  }),
  operation('POST /outputs/{id}/missed/send', {
    id: 'sendMissedToOutput',
    right: 'operate',
    summary: 'Send this output the events it has missed, oldest first, up to 1,000 per call.',
    body: sendMissedInput,
    status: 202,
    answer: sendMissedAnswer,
    problems: ['not_found', 'conflict', 'rate_limited'],
    run: ({ runtime, who, params, body }) => sendMissed(runtime, who, { outputId: params.id! }, body),
  }),
  operation('DELETE /outputs/{id}/missed', {
    id: 'discardMissedOfOutput',
    right: 'operate',
    summary: 'Discard the events that this output has missed. The files stay.',
    status: 204,
    problems: ['not_found'],
    run: ({ runtime, who, params }) => discardMissed(runtime, who, { outputId: params.id! }),
  }),
]

/** Operations on a Pipe's first output. They date from when a Pipe could only have one. */
export const firstOutputOperations = [
  firstOutput('PUT /pipes/{id}/webhook', {
    id: 'saveWebhookOutput',
    right: 'build',
    summary:
      "Create or change a Pipe's first webhook output. The response that creates it contains its secret. `name`, `events` and `headers` stay unchanged if omitted.",
    body: webhookOutputInput,
    answer: webhookOutputAnswer.extend({ secret: z.string().optional() }),
    problems: ['pipe_not_found'],
    run: ({ runtime, who, params, body }) => saveOutput(runtime, who, params.id!, body),
  }),
  firstOutput('GET /pipes/{id}/webhook', {
    id: 'showWebhookOutput',
    right: 'see',
    summary: "Show a Pipe's first webhook output.",
    answer: webhookOutputAnswer,
    problems: [...problems],
    run: ({ runtime, who, params }) => showOutput(runtime, who, { firstOf: params.id! }),
  }),
  firstOutput('POST /pipes/{id}/webhook/rotate', {
    id: 'rotateWebhookSecret',
    right: 'build',
    summary: 'Rotate the signing secret. For 24 hours, webhooks are also signed with the previous one.',
    answer: webhookOutputAnswer.extend({ secret: z.string() }),
    problems: [...problems],
    run: ({ runtime, who, params }) => rotateSecret(runtime, who, { firstOf: params.id! }),
  }),
  firstOutput('POST /pipes/{id}/webhook/test', {
    id: 'sendTestEvent',
    right: 'operate',
    summary: 'Send an event marked as a test, even while the output is off. Only one attempt is made.',
    status: 202,
    answer: wholeDeliveryAnswer,
    problems: [...problems, 'rate_limited'],
    run: ({ runtime, who, params }) => sendTestEvent(runtime, who, { firstOf: params.id! }),
  }),
  firstOutput('GET /pipes/{id}/webhook/missed', {
    id: 'showMissedEvents',
    right: 'see',
    summary:
      'Count the events from the last 30 days that were not sent because the output was off or did not exist.',
    answer: missedAnswer,
    problems: ['pipe_not_found'],
    run: ({ runtime, who, params }) => showMissed(runtime, who, { firstOf: params.id! }),
  }),
  firstOutput('POST /pipes/{id}/webhook/missed/send', {
    id: 'sendMissedEvents',
    right: 'operate',
    summary: 'Send the missed events, oldest first, up to 1,000 per call.',
    body: sendMissedInput,
    status: 202,
    answer: sendMissedAnswer,
    problems: [...problems, 'conflict', 'rate_limited'],
    run: ({ runtime, who, params, body }) => sendMissed(runtime, who, { firstOf: params.id! }, body),
  }),
  firstOutput('DELETE /pipes/{id}/webhook/missed', {
    id: 'discardMissedEvents',
    right: 'operate',
    summary: 'Discard the missed events. They can no longer be sent; the files stay.',
    status: 204,
    problems: ['pipe_not_found'],
    run: ({ runtime, who, params }) => discardMissed(runtime, who, { firstOf: params.id! }),
  }),
]
