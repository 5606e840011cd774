import type { IncomingMessage, ServerResponse } from 'node:http'
import { expect, it, vi } from 'vitest'
import { runRequest } from '../../lib/platform/kernel/request-context.ts'
import { createFixedResponses, type FixedResponses } from './fixed-responses.ts'

/** Requests the page for a client; `onSent` is called once it is sent. */
function request(respond: FixedResponses, client: string, onSent: () => void): Promise<void> {
  const listeners: (() => void)[] = []
  const res = {
    statusCode: 200,
    writableFinished: true,
    getHeaders: () => ({}),
    once: (_: string, listener: () => void) => listeners.push(listener),
    write: () => true,
    writeHead: () => res,
    end() {
      onSent()
      for (const listener of listeners) listener()
    },
  } as unknown as ServerResponse
  const req = { url: '/docs', method: 'GET', headers: {} } as IncomingMessage
  const context = { id: 'r', traceparent: undefined, client, notes: {} }
  return runRequest(context, () => respond(req, res, async () => void res.end('page')))
}

it('sends kept responses to a client while another one has requested hundreds', async () => {
  vi.useFakeTimers()
  const respond = createFixedResponses()
  await request(respond, '192.0.2.1', () => {})
  const sent: string[] = []
  const all = Array.from({ length: 200 }, () => request(respond, '192.0.2.1', () => sent.push('many')))
  all.push(request(respond, '198.51.100.1', () => sent.push('one')))
  await vi.advanceTimersByTimeAsync(0)
  expect(sent).toEqual(['many', 'one'])
  await vi.runAllTimersAsync()
  await Promise.all(all)
  expect(sent).toHaveLength(201)
  vi.useRealTimers()
})
