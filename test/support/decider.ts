import type { ServerResponse } from 'node:http'
import { type Received, startReceiver } from './receiver.ts'

/** The request body that a decision hook receives. */
type Question = { id: string; hook: string; timestamp: string; data: Record<string, unknown> }
type Decide = (question: Question, res: ServerResponse, received: Received) => unknown

const ALLOW: Decide = () => ({ allow: true })

/**
 * A customer backend that serves decision hooks. The return value of `answer` is sent as JSON; if it is undefined,
 * `answer` sends the response itself.
 */
export async function openDecider() {
  const receiver = await startReceiver()
  const decider = {
    url: receiver.url,
    answer: ALLOW,
    asked: receiver.received,
    questions: () => receiver.received.map(({ body }): Question => JSON.parse(body)),
    gets: receiver.gets,
    reset() {
      decider.answer = ALLOW
      receiver.received.length = 0
    },
    close: receiver.stop,
  }
  receiver.answerWith(async (received, res) => {
    const answer = await decider.answer(JSON.parse(received.body), res, received)
    if (answer !== undefined) res.end(JSON.stringify(answer))
  })
  return decider
}

export type Decider = Awaited<ReturnType<typeof openDecider>>
