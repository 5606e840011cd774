import { pageAnswer } from '../../platform/db/page.ts'
import { deliveryAnswer, wholeDeliveryAnswer } from '../../webhooks/log/delivery.ts'
import { deliveryQuery, listDeliveries } from '../../webhooks/log/list-deliveries.ts'
import {
  resendDelivery,
  resendFailed,
  resendFailedAnswer,
  resendFailedInput,
} from '../../webhooks/log/resend.ts'
import { showDelivery } from '../../webhooks/log/show-delivery.ts'
import { operationsOf } from '../operation.ts'

const { operation } = operationsOf('Deliveries')

export const deliveryOperations = [
  operation('GET /deliveries', {
    id: 'listDeliveries',
    right: 'see',
    summary: 'List deliveries, newest first, each with its latest attempts.',
    query: deliveryQuery,
    answer: pageAnswer(deliveryAnswer),
    run: async ({ runtime, who, query }) => {
      const { data, nextCursor } = await listDeliveries(runtime, who, query)
      return { data, nextCursor }
    },
  }),
  operation('GET /deliveries/{id}', {
    id: 'showDelivery',
    right: 'see',
    summary: "Show a delivery with each attempt's request and response.",
    answer: wholeDeliveryAnswer,
    problems: ['not_found'],
    run: ({ runtime, who, params }) => showDelivery(runtime, who, params.id!),
  }),
  operation('POST /deliveries/{id}/resend', {
    id: 'resendDelivery',
    right: 'operate',
    summary: 'Resend an event immediately. If that fails, the full retry schedule starts over.',
    status: 202,
    answer: wholeDeliveryAnswer,
    problems: ['not_found', 'conflict', 'rate_limited'],
    run: ({ runtime, who, params }) => resendDelivery(runtime, who, params.id!),
  }),
  operation('POST /deliveries/resend-failed', {
    id: 'resendFailed',
    right: 'operate',
    summary: 'Resend every event that failed since a given time, up to 10,000 per call.',
    body: resendFailedInput,
    status: 202,
    answer: resendFailedAnswer,
    problems: ['pipe_not_found', 'rate_limited'],
    run: ({ runtime, who, body }) => resendFailed(runtime, who, body),
  }),
]
